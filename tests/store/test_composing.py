"""Artifacts that are made of others (`Store.compose`)."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from strata_core.diagnostics import StrataError
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.store import Artifact, Store

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


# --- the format on disk, read for ever after

GOLDEN = Path(__file__).parents[1] / "data" / "store_format_2"
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
