"""Staging, adoption, finding and checking of artifacts."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.store import Pointer, Store, disk


def refusal(error: pytest.ExceptionInfo[StrataError]) -> Diagnostic:
    (diagnostic,) = error.value.diagnostics
    return diagnostic


def files(root: Path) -> list[str]:
    """What was put into the store, which keeps itself out of Git."""
    return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and p.name != ".gitignore")


def test_open_creates_what_is_missing(tmp_path: Path) -> None:
    Store.open(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_missing_store_is_not_created_for_a_reader(tmp_path: Path) -> None:
    with pytest.raises(StrataError) as error:
        Store.open(tmp_path / "store", create=False)
    assert refusal(error).code == "E092"
    assert refusal(error).message == f"cannot open the store {tmp_path / 'store'}: No such file or directory"
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("create", [True, False])
def test_a_file_is_no_store(tmp_path: Path, create: bool) -> None:
    (tmp_path / "store").write_text("")
    with pytest.raises(StrataError) as error:
        Store.open(tmp_path / "store", create)
    assert refusal(error).code == "E092"
    assert "a file stands where a folder is needed" in (refusal(error).fix or "")


def test_a_store_under_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StrataError) as error:
        Store.open(tmp_path / "file" / "store")
    assert refusal(error).code == "E092"


def test_a_store_that_may_not_be_written_says_what_to_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK and real(path, mode))
    with pytest.raises(StrataError) as error:
        Store.open(store.root)
    assert refusal(error).message == f"cannot open the store {store.root}: Permission denied"
    assert refusal(error).fix == "give this user read and write permission on the path, or set [store] root elsewhere"
    assert Store.open(store.root, create=False) == store


def test_a_store_that_may_not_be_read_says_what_to_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> list[str]:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(StrataError) as error:
        Store.open(store.root, create=False)
    assert refusal(error).code == "E092"


def test_a_candidate_is_seen_by_nobody(store: Store, rows: Any) -> None:
    candidate = rows.stage(store, "orders", 1, 2)
    assert (candidate.rows, candidate.table) == (2, "orders")
    assert candidate.bytes == sum(p.stat().st_size for p in candidate.paths)
    assert candidate.statistics["n"].maximum == 2
    assert candidate.schema == pa.schema([("n", pa.int64())])
    assert candidate.reader().read_all().column("n").to_pylist() == [1, 2]
    assert not (store.root / "tables").exists()


def test_a_discarded_candidate_leaves_nothing(store: Store, rows: Any) -> None:
    candidate = rows.stage(store, "orders", 1)
    candidate.discard()
    candidate.discard()
    assert files(store.root) == []


def test_an_adopted_candidate_is_found_at_its_address(store: Store, rows: Any) -> None:
    candidate = rows.stage(store, "orders", 1, 2)
    artifact = store.adopt(candidate, "c0ffee", {"fingerprint": "f", "inputs": {"raw": "9"}})
    assert files(store.root) == [
        "tables/orders/data/artifacts/c0ffee/_manifest.json",
        "tables/orders/data/artifacts/c0ffee/part-00000.parquet",
    ]
    assert store.find("orders", "c0ffee") == artifact
    assert store.find("orders", "other") is None
    assert store.find("customers", "c0ffee") is None
    manifest = artifact.manifest
    assert (manifest.kind, manifest.table, manifest.rows) == ("artifact", "orders", 2)
    assert manifest.digest == candidate.digest
    assert manifest.provenance == {"fingerprint": "f", "inputs": {"raw": "9"}}
    assert rows.read(store, artifact) == [1, 2]
    assert artifact.verify() == ()


def test_the_same_rows_at_the_same_address_are_kept_once(store: Store, rows: Any) -> None:
    first = rows.adopt(store, "orders", 1)
    second = rows.adopt(store, "orders", 1)
    assert second == first
    assert files(store.root / "staging") == []


def test_other_rows_at_the_same_address_are_an_error_and_change_nothing(store: Store, rows: Any) -> None:
    artifact = store.adopt(rows.stage(store, "orders", 1), "c0ffee", {})
    candidate = rows.stage(store, "orders", 2)
    with pytest.raises(StrataError) as error:
        store.adopt(candidate, "c0ffee", {})
    assert refusal(error).code == "E094"
    assert artifact.manifest.digest in refusal(error).message
    assert candidate.digest in refusal(error).message
    assert rows.read(store, artifact) == [1]
    assert files(store.root / "staging") == []


@pytest.mark.parametrize(
    ("damage", "why", "without_contents"),
    [
        (lambda p: p.unlink(), "is missing", True),
        (lambda p: p.write_bytes(p.read_bytes()[:-1]), "bytes, its manifest says", True),
        (lambda p: p.write_bytes(p.read_bytes()[:9] + b"?" + p.read_bytes()[10:]), "has the SHA-256", False),
    ],
)
def test_a_damaged_part_is_found_named_and_repaired_by_recomputation(
    store: Store, rows: Any, damage: Any, why: str, without_contents: bool
) -> None:
    artifact = rows.adopt(store, "orders", 1, 2)
    (path,) = artifact.paths
    damage(path)
    (finding,) = artifact.verify()
    assert finding.code == "E094"
    assert str(path) in finding.message
    assert why in finding.message
    assert bool(artifact.verify(contents=False)) is without_contents

    again = rows.adopt(store, "orders", 1, 2)
    assert again.verify() == ()
    assert rows.read(store, again) == [1, 2]
    assert files(store.root / "staging") == []


@pytest.mark.parametrize("damage", [lambda p: p.write_text("{"), lambda p: p.unlink()])
def test_a_damaged_manifest_is_repaired_by_recomputation(store: Store, rows: Any, damage: Any) -> None:
    artifact = rows.adopt(store, "orders", 1)
    damage(artifact.directory / "_manifest.json")
    again = rows.adopt(store, "orders", 1)
    assert store.find("orders", artifact.address) == again


def test_reading_a_part_that_is_not_the_one_written_is_an_error(store: Store, rows: Any) -> None:
    artifact = rows.adopt(store, "orders", 1)
    for content in (b"", b"PAR1 no Parquet PAR1", artifact.paths[0].read_bytes()[4:]):
        artifact.paths[0].write_bytes(content)
        with pytest.raises(StrataError) as error:
            rows.read(store, artifact)
        assert refusal(error).code == "E094"
    artifact.paths[0].unlink()
    with pytest.raises(StrataError) as error:
        rows.read(store, artifact)
    assert refusal(error).code == "E092"


def test_a_reader_takes_the_columns_asked_for_in_their_order(store: Store) -> None:
    table = pa.table({"a": [1, 2], "a.b": [3, 4], "s": [{"x": 5}, None]})
    artifact = store.adopt(store.stage("t", table.schema, table.to_batches()), "c0ffee", {})
    assert store.reader(artifact, ["s", "a"]).read_all().to_pydict() == {"s": [{"x": 5}, None], "a": [1, 2]}
    assert store.reader(artifact, ["a.b"]).read_all().to_pydict() == {"a.b": [3, 4]}
    assert store.reader(artifact).schema == table.schema
    with pytest.raises(StrataError) as error:
        store.reader(artifact, ["b"])
    assert (refusal(error).code, refusal(error).fix) == ("E021", "use one of a, a.b, s")


def test_a_pointer_leads_to_its_artifact_or_says_why_not(store: Store, rows: Any) -> None:
    artifact = rows.adopt(store, "orders", 1)
    assert store.artifact("orders", rows.pointer(artifact)) == artifact
    for pointer, why in ((Pointer("gone", "0", "f"), "is missing"), (Pointer(artifact.address, "0", "f"), "has the")):
        with pytest.raises(StrataError) as error:
            store.artifact("orders", pointer)
        assert refusal(error).code == "E094"
        assert why in refusal(error).message


@pytest.mark.parametrize("name", ["", "..", "a/b", "a.b", "-a", "1a", "é", "a" * 129, "a\n", "C:"])
def test_names_that_are_no_names_become_no_paths(store: Store, name: str) -> None:
    schema = pa.schema([("n", pa.int64())])
    for use in (
        lambda: store.stage(name, schema, []),
        lambda: store.find(name, "c0ffee"),
        lambda: store.environment(name),
    ):
        with pytest.raises(StrataError) as error:
            use()
        assert refusal(error).code == "E092"
        assert repr(name) in refusal(error).message
    assert files(store.root) == []


@pytest.mark.parametrize("address", ["", "..", "a/b", ".a", "a\n", "a" * 129])
def test_addresses_that_are_no_names_become_no_paths(store: Store, address: str) -> None:
    with pytest.raises(StrataError, match="E092"):
        store.find("orders", address)


@pytest.mark.parametrize("link", ["tables", "tables/orders", "environments", "staging"])
def test_links_do_not_lead_out_of_the_store(store: Store, tmp_path: Path, rows: Any, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (store.root / link).parent.mkdir(exist_ok=True)
    (store.root / link).symlink_to(outside)

    def publish() -> None:
        rows.adopt(store, "orders", 1)
        store.environment("prod")

    with pytest.raises(StrataError, match="leads out of the store"):
        publish()
    assert files(outside) == []


def test_abandoned_staging_is_swept_and_listed(store: Store, rows: Any) -> None:
    old, new = rows.stage(store, "orders", 1), rows.stage(store, "orders", 2)
    for path in (*old.paths, old.directory):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert store.sweep_staging(timedelta(hours=1)) == (old.directory,)
    assert not old.directory.exists()
    assert new.directory.exists()
    assert store.sweep_staging() == ()


def test_a_failing_engine_leaves_no_staging(store: Store) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"n": [1]})
        raise StrataError(Diagnostic("E090", "overflow"))

    with pytest.raises(StrataError, match="overflow"):
        store.stage("orders", pa.schema([("n", pa.int64())]), failing())
    assert list((store.root / "staging").iterdir()) == []


def test_a_full_disk_while_staging_is_said_and_cleaned(store: Store, rows: Any, monkeypatch: Any) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    schema = pa.schema([("n", pa.int64())])
    disk.make_directory(store.root / "staging")
    with monkeypatch.context() as patch:
        real = os.fsync
        patch.setattr(os, "fsync", lambda h: full(h) if stat.S_ISREG(os.fstat(h).st_mode) else real(h))
        with pytest.raises(StrataError) as error:
            store.stage("orders", schema, [pa.record_batch({"n": [1]})])
    assert refusal(error).code == "E092"
    assert refusal(error).message.startswith(f"cannot write {store.root / 'staging' / 'orders-'}")
    assert refusal(error).message.endswith("part-00000.parquet: No space left on device")
    assert refusal(error).fix == "free space on that disk, or set [store] root to another one, then run again"
    assert list((store.root / "staging").iterdir()) == []
    assert rows.adopt(store, "orders", 1).verify() == ()


def test_plan_history_and_rollback_load_no_pyarrow(store: Store, rows: Any) -> None:
    artifact = rows.adopt(store, "orders", 1)
    code = (
        "import sys; from pathlib import Path; from strata_core.store import Store, Pointer;"
        "store = Store.open(Path(sys.argv[1])); env = store.environment('prod');"
        "found = store.find('orders', sys.argv[2]); assert found.verify() == ();"
        "env.publish(env.head(), {'orders': Pointer(found.address, found.manifest.digest, 'f')});"
        "env.rollback(1); assert [v.number for v in env.history()] == [2, 1]; assert store.sweep_staging() == ();"
        "print(sorted({'pyarrow', 'duckdb', 'polars', 'sqlglot', 'lark'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(store.root), artifact.address], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_an_artifact_costs_a_sync_of_its_part_its_manifest_and_their_folder(
    store: Store, rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own name is synced with all others, when an environment is to name it (`Environment.settle`)."""
    rows.adopt(store, "orders", 9)
    synced, real = [], os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append(stat.S_ISDIR(os.fstat(handle).st_mode)) or real(handle)
    )
    rows.adopt(store, "orders", 1, 2, 3)
    assert synced == [False, False, True]
