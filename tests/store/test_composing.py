"""Artifacts that are made of others (`Store.compose`)."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path, PurePath

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.store import Artifact, Store, files
from strata_core.store.bucket import BucketPath
from strata_core.store.composing import MOST_IN_GROUP, in_groups
from strata_core.store.document import JSON
from strata_core.store.environments import EMPTY, Pointer
from strata_core.store.files import LocalFiles, sha256_of
from strata_core.store.orphans import collect
from strata_core.store.verifying import verify_artifacts
from tests.buckets import folder_as_bucket

SCHEMA = pa.schema([pa.field("n", pa.int64()), pa.field("d", pa.decimal128(5, 2)), pa.field("x", pa.float64())])


def piece(store: Store, address: str, *rows: tuple[int | None, str | None, float | None]) -> Artifact:
    columns = [
        pa.array([r[0] for r in rows], pa.int64()),
        pa.array([None if r[1] is None else Decimal(r[1]) for r in rows], pa.decimal128(5, 2)),
        pa.array([r[2] for r in rows], pa.float64()),
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
    return store.adopt(store.stage("t", SCHEMA, [batch]), address, {})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def test_rows_are_those_of_the_pieces_and_no_file_is_copied(store) -> None:
    pieces = {"a": piece(store, "p1", (1, "9.00", 1.0)), "b": piece(store, "p2", (2, "10.00", None), (3, None, 2.5))}
    made = store.compose("t", "whole", pieces, {"why": "test"})
    assert store.reader(made).read_all().column("n").to_pylist() == [1, 2, 3]
    assert [path.name for path in Path(made.directory).iterdir()] == ["_manifest.json"]
    assert (made.manifest.rows, made.manifest.pieces) == (3, ("p1", "p2"))
    assert made.verify() == ()
    found = store.find("t", "whole")
    assert found is not None
    assert found.manifest == made.manifest


def test_statistics_are_over_all_pieces(store) -> None:
    pieces = {
        "a": piece(store, "p1", (1, "9.00", 1.0)),
        "b": piece(store, "p2", (2, "10.00", None), (3, None, float("inf"))),
    }
    found = store.compose("t", "whole", pieces, {}).manifest.statistics
    told = {name: (s.null_count, s.minimum, s.maximum) for name, s in found.items()}
    assert told == {"n": (0, 1, 3), "d": (1, "9.00", "10.00"), "x": (1, 1.0, "inf")}


def test_a_piece_without_rows_leaves_no_trace_in_the_digest(store) -> None:
    one, none = piece(store, "p1", (1, "1.00", 1.0)), piece(store, "p2")
    with_it, without = store.compose("t", "w1", {"a": one, "b": none}, {}), store.compose("t", "w2", {"a": one}, {})
    assert with_it.manifest.digest == without.manifest.digest
    assert with_it.manifest.digest != one.manifest.digest
    assert store.reader(store.compose("t", "w3", {"b": none}, {})).read_all().num_rows == 0


def test_e094_a_piece_that_is_gone_and_an_address_that_leads_out(store) -> None:
    made = store.compose("t", "whole", {"a": piece(store, "p1", (1, "1.00", 1.0))}, {})
    path = Path(made.directory) / "_manifest.json"
    document = json.loads(path.read_text())
    assert document["format"] == 2
    document["parts"][0]["artifact"] = "../p1"
    path.write_text(json.dumps(document))
    with pytest.raises(StrataError, match="E094"):
        store.find("t", "whole")
    document["parts"][0]["artifact"] = "p9"
    path.write_text(json.dumps(document))
    found = store.find("t", "whole")
    assert found is not None
    assert [d.code for d in found.verify(contents=False)] == ["E094"]


# --- tables of many pieces are written down in groups

KEYS = [str(date(2024, 1, 1) + timedelta(days)) for days in range(240)]


def many(store: Store, keys: list[str]) -> tuple[dict[str, Artifact], dict[str, JSON]]:
    """A piece for each key, as far as a manifest tells of one, and what is said of each."""
    own = piece(store, "p", (1, "1.00", 1.0))
    notes: dict[str, JSON] = {"of": {"pieces": {key: {"note": key} for key in keys}}, "why": "test"}
    return {key: replace(own, address=f"piece-{key}") for key in keys}, notes


def composed_one_by_one(store: Store, keys: list[str]) -> list[tuple[int, int]]:
    """How many files, and bytes of them, were there after a table of one more of `keys` was made."""
    folder, found = Path(store.root) / "tables/t/data/artifacts", []
    for count in range(1, len(keys) + 1):
        pieces, provenance = many(store, keys[:count])
        store.compose("t", f"whole-{count}", pieces, provenance, ("of", "pieces"))
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
        found.append((len(sizes), sum(sizes)))
    return found


def test_what_is_written_of_a_table_made_piece_by_piece_grows_with_its_pieces_and_not_with_their_square(store) -> None:
    found = dict(zip(range(1, 241), composed_one_by_one(store, KEYS), strict=True))
    bytes_ = {count: found[count][1] - found[count // 2][1] for count in (60, 120, 240)}
    assert bytes_[120] < 3 * bytes_[60]  # four times, were each table written down as a whole
    assert bytes_[240] < 2.5 * bytes_[120]
    files = [found[count][0] - found[count - 1][0] for count in range(2, 241)]
    assert max(files[40:]) == 2  # the table's own, and that of the group which the piece is in
    assert files[:31] == [1] * 31


def test_a_table_in_groups_is_read_as_it_was_made(store) -> None:
    pieces, provenance = many(store, KEYS)
    made = store.compose("t", "whole", pieces, provenance, ("of", "pieces"))
    document = json.loads((Path(made.directory) / "_manifest.json").read_text())
    assert (document["format"], document["parts"]) == (3, [])
    assert document["provenance"] == {"of": {"pieces": {}}, "why": "test"}
    assert len(document["groups"]["addresses"]) == 20
    found = store.find("t", "whole")
    assert found is not None
    assert found.manifest == made.manifest
    assert found.manifest.provenance == provenance
    assert [part.artifact for part in found.manifest.parts] == [f"piece-{key}" for key in KEYS]
    inline = store.compose("t", "inline", pieces, provenance)
    assert inline.manifest.digest == made.manifest.digest


@given(st.lists(st.text(max_size=3), unique=True, max_size=200), st.data())
def test_another_piece_changes_the_group_that_it_goes_into_and_at_most_one_beside_it(names, data) -> None:
    names = sorted(names)
    before = {*in_groups(names)}
    assert [name for group in in_groups(names) for name in group] == names
    other = data.draw(st.text(min_size=4, max_size=4))
    after = {*in_groups(sorted([*names, other]))}
    if all(len(group) < MOST_IN_GROUP for group in before | after):
        assert len(before - after) <= 1
        assert len(after - before) <= 2


def test_a_group_that_is_damaged_or_gone_is_told_and_made_again(store) -> None:
    pieces, provenance = many(store, KEYS[:40])
    made = store.compose("t", "whole", pieces, provenance, ("of", "pieces"))
    assert made.manifest.groups is not None
    group = Path(made.directory).parent / made.manifest.groups.addresses[0] / "_manifest.json"
    good = group.read_text()
    for damage in ("{", '{"parts": [], "provenance": {}}'):
        group.write_text(damage)
        with pytest.raises(StrataError, match="E094"):
            store.find("t", "whole")
        store.compose("t", "other", pieces, provenance, ("of", "pieces"))
        assert json.loads(group.read_text())["parts"] == json.loads(good)["parts"]
    group.unlink()
    with pytest.raises(StrataError, match=f"its group {group.parent.name} is gone"):
        store.find("t", "whole")
    store.compose("t", "other", pieces, provenance, ("of", "pieces"))
    assert store.find("t", "whole") is not None


def test_groups_are_needed_as_long_as_their_table_and_counted_as_used_with_it(store) -> None:
    pieces, provenance = many(store, KEYS[:40])
    own = {key: store.adopt(store.stage("t", SCHEMA, []), f"piece-{key}", {}) for key in pieces}
    made = store.compose("t", "whole", own, provenance, ("of", "pieces"))
    pointer = Pointer("whole", made.manifest.digest, "f")
    environment = store.environment("prod")
    environment.publish(environment.head(), {"t": pointer}, message="", tags={})
    none = timedelta()
    piece(store, "apart", (1, "1.00", 1.0))
    assert {o.address for o in collect(store, keep=none, grace=none)} == {"apart", "p"}
    assert store.find("t", "whole") is not None
    assert made.manifest.groups is not None
    assert {*made.manifest.groups.addresses} < {*made.manifest.pieces}


def test_a_collection_that_is_killed_leaves_no_table_without_its_groups_or_pieces(store) -> None:
    pieces, provenance = many(store, KEYS[:40])
    own = {key: store.adopt(store.stage("t", SCHEMA, []), f"piece-{key}", {}) for key in pieces}
    store.compose("t", "whole", own, provenance, ("of", "pieces"))
    left = [address for _, address, _ in store.artifacts()]
    for gone in collect(store, keep=timedelta(), grace=timedelta()):
        left.remove(gone.address)
        assert verify_artifacts(store, "t", left).findings == ()
    assert left == []


def test_a_collection_reads_each_manifest_once_or_twice_however_much_it_removes(store, monkeypatch) -> None:
    pieces, provenance = many(store, KEYS[:40])
    own = {key: store.adopt(store.stage("t", SCHEMA, []), f"piece-{key}", {}) for key in pieces}
    made = store.compose("t", "whole", own, provenance, ("of", "pieces"))
    environment = store.environment("prod")
    environment.publish(environment.head(), {"t": Pointer("whole", made.manifest.digest, "f")}, message="", tags={})
    for number in range(10):
        piece(store, f"apart-{number}", (number, "1.00", 1.0))
    read, found = Store.find, list[str]()
    monkeypatch.setattr(Store, "find", lambda self, table, address: found.append(address) or read(self, table, address))
    assert len([*collect(store, keep=timedelta(), grace=timedelta())]) == 11
    assert Counter(found)["whole"] == 2
    assert max(Counter(found).values()) == 2


@pytest.mark.parametrize("step", [1, 2, 10, 25, 50])
def test_whenever_a_collection_comes_between_what_goes_live_is_whole_or_told_to_be_gone(
    store, monkeypatch, step
) -> None:
    pieces, provenance = many(store, KEYS[:40])
    own = {key: store.adopt(store.stage("t", SCHEMA, []), f"piece-{key}", {}) for key in pieces}
    store.compose("t", "before", own, provenance, ("of", "pieces"))
    for _, _, folder in store.artifacts():
        os.utime(folder / "_manifest.json", (1, 1))
    touched, touch = list[str](), LocalFiles.touch

    def touch_beside_a_collection(self: LocalFiles, target: PurePath) -> bool:
        touched.append(target.name)
        if len(touched) == step:
            assert [*collect(store, keep=timedelta(), grace=timedelta(hours=1))] != []
        return touch(self, target)

    monkeypatch.setattr(LocalFiles, "touch", touch_beside_a_collection)
    environment = store.environment("prod")
    made = store.compose("t", "after", own, provenance, ("of", "pieces"))
    with pytest.raises(StrataError, match="E094"):
        environment.publish(environment.head(), {"t": Pointer("after", made.manifest.digest, "f")}, message="", tags={})
    assert len(touched) >= step
    assert environment.head() == EMPTY


def test_a_part_of_several_tables_is_verified_once(store, monkeypatch) -> None:
    pieces = {key: piece(store, f"piece-{key}", (1, "1.00", 1.0)) for key in KEYS[:3]}
    for count in (1, 2, 3):
        store.compose("t", f"whole-{count}", {key: pieces[key] for key in KEYS[:count]}, {})
    read = list[str]()
    monkeypatch.setattr(files, "sha256_of", lambda where, path: read.append(path.parent.name) or sha256_of(where, path))
    found = verify_artifacts(store, "t", [address for _, address, _ in store.artifacts()])
    assert (found.artifacts, found.parts, found.findings) == (6, 3, ())
    assert sorted(read) == [f"piece-{key}" for key in KEYS[:3]]


def test_groups_in_a_bucket(tmp_path) -> None:
    files = folder_as_bucket(tmp_path / "bucket", tmp_path / "cache")
    store = Store(BucketPath("s3://lake/strata"), files, tmp_path / "staging")
    pieces, provenance = many(store, KEYS[:40])
    made = store.compose("t", "whole", pieces, provenance, ("of", "pieces"))
    found = store.find("t", "whole")
    assert found is not None
    assert found.manifest == made.manifest
    assert found.manifest.groups is not None


# --- the format on disk, read for ever after

GOLDEN = Path(__file__).parents[1] / "data" / "store_format_2"
GROUPED = Path(__file__).parents[1] / "data" / "store_format_3"
FIRST = "ecb9b88a799febfc981a95d38dda7b94ebfdd4861858ac7a0a3e72dfce8a10ec"
NONE = "2e98dda68a5dd071fa745f1e12c6f151af33568483fd4bf05ed3b8f891caaa08"
LAST = "9822b326ebff0f10347eb3213df366270128411e412c52ffb7a3faab39e45d51"


def test_a_table_that_format_2_composed_gives_its_rows_and_its_pieces() -> None:
    store = Store.open(GOLDEN, create=False)
    made = store.artifact("daily", store.environment("prod").head().models["daily"])
    assert made.verify() == ()
    assert store.reader(made).read_all().to_pydict() == {
        "day": [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 3)],
        "id": [1, 2, 3],
        "price": [Decimal("9.00"), None, Decimal("10.50")],
    }
    assert made.manifest.pieces == (FIRST, NONE, LAST)
    assert made.manifest.digest == "82ee69993b021e87011055bfcb0e97401e5efb553ce8a377904dfe796ed6d934"
    pieces = pieces_of(made)
    assert pieces is not None
    assert (pieces.column, pieces.every) == ("day", "day")
    assert {key: (p.address, p.rows) for key, p in pieces.by_key.items()} == {
        "2024-01-01": (FIRST, 2),
        "2024-01-02": (NONE, 0),
        "2024-01-03": (LAST, 1),
    }
    for piece in pieces.by_key.values():  # what the table says of a piece is what the piece says of itself
        own, told = store.find("daily", piece.address), piece.artifact
        assert own is not None
        assert [*told.paths] == [*own.paths]
        assert (told.manifest.schema, told.manifest.rows, told.manifest.digest) == (
            *(own.manifest.schema, own.manifest.rows, own.manifest.digest),
        )
        assert (told.manifest.columns, told.manifest.statistics) == (own.manifest.columns, own.manifest.statistics)


def test_a_table_that_format_3_put_in_groups_gives_its_rows_and_its_pieces() -> None:
    store = Store.open(GROUPED, create=False)
    made = store.artifact("daily", store.environment("prod").head().models["daily"])
    assert made.verify() == ()
    assert store.reader(made).read_all().to_pydict() == {
        "day": [date(2024, 1, 1), date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 4)],
        "id": [1, 2, 3, 4],
        "price": [Decimal("9.00"), None, Decimal("10.50"), Decimal("1.00")],
    }
    assert made.manifest.digest == "dcaceef7e732cff6c0c985b27f2ee6d74dcc76807bf67f02850a839069c63fe9"
    assert made.manifest.groups is not None
    assert [address[:8] for address in made.manifest.groups.addresses] == ["1bc3f772", "30334a96", "84e122ed"]
    pieces = pieces_of(made)
    assert pieces is not None
    assert {key: (p.address[:8], p.rows) for key, p in pieces.by_key.items()} == {
        "2024-01-01": ("c58b0f97", 2),
        "2024-01-02": ("782107e7", 0),
        "2024-01-03": ("97e5602f", 1),
        "2024-01-04": ("b517978e", 1),
        "2024-01-05": ("b1f8ae52", 0),
    }
