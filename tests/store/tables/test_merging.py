"""Folds merge sorted streams: whatever has landed, the rows are those of a fold that holds them all, in its order."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.store.tables import Table, Tables, merging
from strata_core.store.tables.declaration import declaration
from strata_core.store.tables.merging import Order, merged, sorted_streams

from .conftest import START, World
from .memory import MemoryFiles
from .whole_fold import whole_fold

TABLES: dict[str, list[dict[str, Any]]] = {
    "unkeyed": [{}],
    "keyed by text": [{"primary_key": ["k"]}],
    "keyed by floats": [{"primary_key": ["x"]}],
    "keyed by two, ordered": [{"primary_key": ["k", "j"], "order_by": "v"}],
    "intervals": [{"primary_key": ["k"], "valid_time": {"from": "f", "to": "t"}}],
    "versions": [{"valid_time": {"from": "f"}, "available_time": {"column": "a"}}],
    "vintages": [
        {
            "primary_key": ["k"],
            "order_by": "v",
            "valid_time": {"from": "f"},
            "available_time": {"column": "a"},
            "content_hash_column": "v",
        }
    ],
    "young": [{"primary_key": ["k"], "retain_rows": {"column": "_ingested_at", "age": "15s"}}],
    "young and unkeyed": [{"retain_rows": {"column": "s", "age": "15s"}}],
    "unkeyed, then with valid time, then another": [{}, {"valid_time": {"from": "t"}}, {"valid_time": {"from": "f"}}],
    "keyed by what becomes valid time": [
        {"primary_key": ["j", "s"]},
        {"primary_key": ["j", "s"], "valid_time": {"from": "s"}},
    ],
}
"""Tables, each with what it is declared to be one after another."""
SECONDS = st.integers(0, 4).map(lambda s: s * 1_000_000)
ROW = st.fixed_dictionaries(
    {
        "k": st.sampled_from("abcde"),
        "j": st.integers(0, 3),
        "x": st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]),
        "v": st.none() | st.integers(0, 3),
        "f": st.none() | SECONDS,
        "t": st.none() | SECONDS,
        "a": SECONDS,
        "s": SECONDS.map(lambda s: START // 1000 + s),
        "text": st.none() | st.sampled_from(["", "long enough not to be inlined"]),
    }
)
TYPES = {
    "k": pa.string(),
    "j": pa.int64(),
    "x": pa.float64(),
    "v": pa.int64(),
    "f": pa.timestamp("us"),
    "t": pa.timestamp("us"),
    "a": pa.timestamp("us", "UTC"),
    "s": pa.timestamp("us"),
    "text": pa.string(),
}


def arrow(rows: list[dict[str, Any]], without: str) -> pa.Table:
    return pa.table({n: pa.array([r[n] for r in rows], t) for n, t in TYPES.items() if n != without})


def snapshot_rows(table: Table, snapshot_id: str) -> pa.Table:
    folder = table.log.snapshot_folder(snapshot_id)
    described = table.log.manifest(folder)
    assert described is not None
    return pa.concat_tables(pq.read_table(table.log.files.open(folder / part.path)) for part in described.parts)


STEPS = st.lists(
    st.tuples(st.lists(ROW, max_size=8), st.sampled_from(["", "text"]), st.sampled_from(["", "fold", "declare"])),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize("name", TABLES)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS, batch_rows=st.integers(1, 5), chunk_bytes=st.sampled_from([1, 400, 1 << 20]))
def test_a_fold_writes_the_rows_of_one_that_holds_them_all(
    name: str, steps: list[Any], batch_rows: int, chunk_bytes: int
) -> None:
    clock = [START]
    tables = Tables(Path("store"), MemoryFiles(), lambda: clock[0])
    first, *later = TABLES[name]
    table = tables.declare(declaration({"name": "t", **first}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "BATCH_ROWS", batch_rows)
        patch.setattr(merging, "CHUNK_BYTES", chunk_bytes)
        for rows, without, then in [*steps, ([], "", "fold")]:
            clock[0] += 6_000_000_000
            table.land(arrow(rows, without))
            if then == "declare" and later:
                table = tables.declare(declaration({"name": "t", **later.pop(0)}))
            if then == "fold":
                expected = whole_fold(table.log)
                snapshot = table.fold()
                assert snapshot is not None
                found = snapshot_rows(table, snapshot.snapshot_id)
                assert found.schema == expected.schema
                assert found.num_rows == expected.num_rows
                for column in found.column_names:  # as text: a NaN is like another, and -0.0 is not 0.0
                    assert repr(found.column(column).to_pylist()) == repr(expected.column(column).to_pylist())


SCHEMA = pa.schema([("k", pa.int64()), ("n", pa.int64())])


def batch(*keys: int, first: int = 0) -> pa.RecordBatch:
    return pa.record_batch([pa.array(keys), pa.array(range(first, first + len(keys)))], schema=SCHEMA)


def test_rows_that_agree_stay_as_they_came_over_the_ends_of_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "BATCH_ROWS", 1)
    streams = [iter([batch(1, 1, first=0), batch(1, 2, first=2)]), iter([batch(1, first=4), batch(1, 3, first=5)])]
    rows = pa.Table.from_batches(merged(SCHEMA, streams, Order(("k",), unique=False)), SCHEMA)
    assert rows.column("n").to_pylist() == [0, 1, 2, 4, 5, 3, 6]


def test_of_rows_that_agree_the_last_is_left_over_the_ends_of_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "BATCH_ROWS", 1)
    streams = [iter([batch(1, 2, first=0)]), iter([batch(1, 1, first=2), batch(1, 3, first=4)])]
    rows = pa.Table.from_batches(merged(SCHEMA, streams, Order(("k",), unique=True)), SCHEMA)
    assert rows.to_pydict() == {"k": [1, 2, 3], "n": [4, 1, 5]}


def test_a_long_stream_is_read_no_further_than_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held does not grow with the snapshot."""
    read = []

    def snapshot() -> Any:
        for start in range(0, 1_000_000, 1000):
            read.append(start)
            keys = np.arange(start, start + 1000)
            yield pa.record_batch([pa.array(keys), pa.array(keys)], schema=SCHEMA)

    monkeypatch.setattr(merging, "BATCH_ROWS", 1000)
    runs = sorted_streams(SCHEMA, [batch(900_000, 5, first=7)], ("k",))
    given_ = 0
    for rows in merged(SCHEMA, [snapshot(), *runs], Order(("k",), unique=True)):
        given_ += rows.num_rows
        assert len(read) * 1000 - given_ <= 2001
    assert given_ == 1_000_000


def test_chunks_beyond_what_is_sorted_in_memory_wait_in_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They have no name: nothing is left of them, also by a process that is killed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(merging, "CHUNK_BYTES", 64)
    made = []
    real = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: made.append(real(**options)) or made[-1])
    keys = [5, 4, 9, 1, 3, 8, 7, 2, 6, 0]
    streams = sorted_streams(SCHEMA, [batch(*keys[i : i + 2], first=i) for i in range(0, 10, 2)], ("k",))
    assert (len(streams), len(made), list(tmp_path.iterdir())) == (3, 2, [])
    rows = pa.Table.from_batches(merged(SCHEMA, streams, Order(("k",), unique=True)), SCHEMA)
    assert rows.column("k").to_pylist() == list(range(10))
    assert rows.column("n").to_pylist() == [keys.index(k) for k in range(10)]
    assert all(file.closed for file in made)


def test_a_fold_without_room_for_temporary_files_says_so_and_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = world.declare('[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\n')
    for start in range(3):
        table.land(pa.table({"k": [start, start + 1]}))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    monkeypatch.setattr(merging, "CHUNK_BYTES", 1)
    with pytest.raises(StrataError) as error:
        table.fold()
    (found,) = error.value.diagnostics
    assert found.code == "E092"
    assert found.message == f"cannot sort rows in {tmp_path / 'absent'}: {os.strerror(2)}"
    assert found.fix == "free space there, or set TMPDIR to a folder that can be written to, then run again"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert table.fold() is not None
    assert table.read().arrow().column("k").to_pylist() == [0, 1, 2, 3]
