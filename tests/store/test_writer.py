"""The writer: one pass, the same bytes for the same rows, and clear refusals."""

from __future__ import annotations

import hashlib
import itertools
import math
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.store import ColumnStatistics, writer
from strata_core.store.writer import Layout, digest_of, write_parts

SCHEMA = pa.schema(
    [
        pa.field("i", pa.int64(), False),
        pa.field("s", pa.string()),
        pa.field("l", pa.list_(pa.field("element", pa.string()))),
    ]
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "i": st.integers(0, 3),
            "s": st.none() | st.text(max_size=40),
            "l": st.none() | st.lists(st.none() | st.text(max_size=2), max_size=3),
        }
    ),
    max_size=40,
)


def refusal(error: pytest.ExceptionInfo[StrataError]) -> Diagnostic:
    (diagnostic,) = error.value.diagnostics
    return diagnostic


@given(ROWS, st.lists(st.integers(0, 40), max_size=6), st.booleans())
@settings(deadline=None)
def test_the_same_rows_have_the_same_bytes_however_they_arrive(
    rows: list[dict[str, Any]], cuts: list[int], large: bool
) -> None:
    whole = pa.Table.from_pylist(rows, SCHEMA)
    arriving = whole.cast(pa.schema([SCHEMA.field(0), ("s", pa.large_string()), SCHEMA.field(2)])) if large else whole
    edges = [0, *sorted(min(c, len(rows)) for c in cuts), len(rows)]
    pieces = [b for a, e in itertools.pairwise(edges) for b in arriving.slice(a, e - a).to_batches()]
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as one, TemporaryDirectory() as other:
        patch.setattr(writer, "BLOCK_ROWS", 4)
        patch.setattr(writer, "PART_BLOCKS", 3)
        patch.setattr(writer, "PART_BYTES", 200)
        first = write_parts(Path(one), SCHEMA, whole.combine_chunks().to_batches())
        second = write_parts(Path(other), SCHEMA, pieces)
        assert first == second
        assert [(Path(one) / p.path).read_bytes() for p in first.parts] == [
            (Path(other) / p.path).read_bytes() for p in second.parts
        ]
        assert first.digest == digest_of(SCHEMA, pieces)
        assert pa.concat_tables(pq.read_table(Path(one) / p.path) for p in first.parts).to_pylist() == rows


def test_parts_end_by_rows_and_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BLOCK_ROWS", 2)
    monkeypatch.setattr(writer, "PART_BLOCKS", 2)
    monkeypatch.setattr(writer, "PART_BYTES", 100)
    rows = pa.table({"s": ["a"] * 5 + ["x" * 200] + ["b"] * 3})
    written = write_parts(tmp_path, rows.schema, rows.to_batches())
    assert [(p.path, p.rows) for p in written.parts] == [
        ("part-00000.parquet", 4),
        ("part-00001.parquet", 2),
        ("part-00002.parquet", 3),
    ]
    assert [pq.read_metadata(tmp_path / p.path).num_row_groups for p in written.parts] == [2, 1, 2]
    assert written.rows == 9


def test_a_part_says_its_own_bytes_and_hash(tmp_path: Path) -> None:
    written = write_parts(tmp_path, *arriving(pa.table({"a": [1, 2]})))
    content = (tmp_path / "part-00000.parquet").read_bytes()
    (part,) = written.parts
    assert (part.rows, part.bytes, part.sha256) == (2, len(content), hashlib.sha256(content).hexdigest())
    assert written.bytes == len(content)


def arriving(table: pa.Table) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    return table.schema, table.to_batches()


def test_no_rows_make_one_part_that_bears_the_schema(tmp_path: Path) -> None:
    written = write_parts(tmp_path, SCHEMA, [])
    assert [(p.path, p.rows) for p in written.parts] == [("part-00000.parquet", 0)]
    assert pq.read_schema(tmp_path / "part-00000.parquet").equals(SCHEMA, check_metadata=True)
    assert written.statistics["s"] == ColumnStatistics(0, None, None)
    assert written.digest == digest_of(SCHEMA, [])


def test_metadata_of_fields_is_kept(tmp_path: Path) -> None:
    schema = pa.schema([pa.field("paid", pa.decimal128(38, 2), True, {"strata.type": "money(EUR)"})])
    write_parts(tmp_path, schema, [])
    assert pq.read_schema(tmp_path / "part-00000.parquet").field("paid").metadata == {b"strata.type": b"money(EUR)"}


def test_statistics_are_nulls_and_ranges_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BLOCK_ROWS", 2)
    columns = {
        "i": pa.array([3, None, -1, 2]),
        "f": pa.array([math.nan, -0.0, 2.5, None]),
        "inf": pa.array([math.inf, 1.0, 1.0, 1.0]),
        "nan": pa.array([math.nan] * 4),
        "s": pa.array(["b", "a", None, "é"]),
        "long": pa.array(["a" * 300, "b", "c", "d"]),
        "vast": pa.array(["a" * 9000, "b", "c", "d"]),
        "m": pa.array([Decimal("1.50"), Decimal("-0.01"), None, None], pa.decimal128(38, 2)),
        "d": pa.array([date(2020, 1, 2), None, date(1969, 12, 31), None]),
        "far": pa.array([4_000_000, 0, 0, 0], pa.int32()).cast(pa.date32()),
        "t": pa.array([datetime(2020, 1, 2, 3, 4, 5, 6), None, None, None], pa.timestamp("us")),
        "z": pa.array([datetime(2020, 1, 2, tzinfo=UTC)] * 4, pa.timestamp("ns", "UTC")),
        "b": pa.array([True, False, None, None]),
        "none": pa.array([None] * 4, pa.int64()),
        "o": pa.array([{"x": 1, "y": 2}, None, None, None]),
        "after": pa.array([7, 7, 7, 7]),
    }
    assert dict(write_parts(tmp_path, *arriving(pa.table(columns))).statistics) == {
        "i": ColumnStatistics(1, -1, 3),
        "f": ColumnStatistics(1, 0.0, 2.5),
        "inf": ColumnStatistics(0, 1.0, "inf"),
        "nan": ColumnStatistics(0, None, None),
        "s": ColumnStatistics(1, "a", "é"),
        "long": ColumnStatistics(0, None, "d"),
        "vast": ColumnStatistics(0, None, None),
        "m": ColumnStatistics(2, "-0.01", "1.50"),
        "d": ColumnStatistics(2, "1969-12-31", "2020-01-02"),
        "far": ColumnStatistics(0, "1970-01-01", None),
        "t": ColumnStatistics(3, "2020-01-02T03:04:05.000006000", "2020-01-02T03:04:05.000006000"),
        "z": ColumnStatistics(0, "2020-01-02T00:00:00.000000000Z", "2020-01-02T00:00:00.000000000Z"),
        "b": ColumnStatistics(2, False, True),
        "none": ColumnStatistics(4, None, None),
        "o": ColumnStatistics(3, None, None),
        "after": ColumnStatistics(0, 7, 7),
    }


def test_rows_of_every_kept_type_are_read_back(tmp_path: Path) -> None:
    table = pa.table(
        {
            "f16": pa.array([1.5, None], pa.float16()),
            "d256": pa.array([Decimal(1), None], pa.decimal256(60, 0)),
            "small": pa.array([Decimal("1.1"), None], pa.decimal128(9, 1)),
            "u": pa.array([b"a" * 16, None], pa.uuid()),
            "j": pa.array(["{}", None], pa.json_()),
            "m": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int64())),
            "fixed": pa.array([[1, 2], None], pa.list_(pa.int64(), 2)),
            "time": pa.array([1, None], pa.time32("s")),
            "cat": pa.array(["a", None]).dictionary_encode(),
            "day": pa.array([date(2020, 1, 1), None], pa.date64()),
            "gap": pa.array([1, None], pa.duration("s")),
        }
    )
    write_parts(tmp_path, *arriving(table))
    assert pq.read_table(tmp_path / "part-00000.parquet").to_pylist() == table.to_pylist()


@pytest.mark.parametrize("type_", [pa.null(), pa.month_day_nano_interval(), pa.list_view(pa.int64()), pa.struct([])])
def test_a_type_that_is_not_kept_is_refused_by_name(tmp_path: Path, type_: pa.DataType) -> None:
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, pa.schema([("o", pa.struct([("x", type_)]))]), [])
    assert (refusal(error).code, refusal(error).field_path) == ("E080", "o.x")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, pa.schema([("a", pa.int64()), ("a", pa.string())]), [])
    assert (refusal(error).code, refusal(error).message) == ("E023", "column a appears twice")


@pytest.mark.parametrize(
    ("batch", "code", "message"),
    [
        (pa.record_batch({"b": [1]}), "E080", "a batch has the columns b; expected a"),
        (pa.record_batch({"a": ["1"]}), "E080", "column a arrives as string; its schema says int64"),
        (pa.record_batch({"a": pa.array([1], pa.int32())}), "E080", "column a arrives as int32; its schema says int64"),
        (pa.record_batch({"a": [None, 1]}), "E081", "column a holds a null and its schema says that it has none"),
    ],
)
def test_a_batch_that_breaks_the_schema_is_refused(
    tmp_path: Path, batch: pa.RecordBatch, code: str, message: str
) -> None:
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, pa.schema([pa.field("a", pa.int64(), False)]), [batch])
    assert (refusal(error).code, refusal(error).message) == (code, message)


@pytest.mark.parametrize("own_type", [True, False])
@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([[1, None]], pa.list_(pa.field("element", pa.int64(), False))),
        ([{"x": None}], pa.struct([pa.field("x", pa.int64(), False)])),
    ],
)
def test_a_null_inside_a_nested_value_is_refused(
    tmp_path: Path, values: list[Any], type_: pa.DataType, own_type: bool
) -> None:
    loose = pa.array(values, pa.list_(pa.int64()) if pa.types.is_list(type_) else pa.struct([("x", pa.int64())]))
    strict = pa.Array.from_buffers(type_, 1, loose.buffers()[: type_.num_buffers], children=children(loose))
    batch = pa.RecordBatch.from_arrays([loose if own_type else strict], ["c"])
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, pa.schema([("c", type_)]), [batch])
    assert refusal(error).code == "E081"


def children(array: pa.Array) -> list[pa.Array]:
    return [array.values] if pa.types.is_list(array.type) else [array.field(0)]


def test_what_the_engine_raises_passes_through_and_ends_the_writing(tmp_path: Path) -> None:
    def failing() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": [1]})
        raise StrataError(Diagnostic("E090", "overflow in row 7"))

    before = threading.active_count()
    with pytest.raises(StrataError, match="overflow in row 7"):
        write_parts(tmp_path, pa.schema([("a", pa.int64())]), failing())
    assert threading.active_count() == before


def test_memory_stays_bounded_while_batches_arrive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "BLOCK_ROWS", 50_000)
    monkeypatch.setattr(writer, "PART_BLOCKS", 2)
    alive: list[int] = []
    base = pa.total_allocated_bytes()

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(60):
            alive.append(pa.total_allocated_bytes() - base)
            yield pa.record_batch({"a": pa.repeat(i, 50_000)})

    write_parts(tmp_path, pa.schema([("a", pa.int64())]), batches())
    assert max(alive) < 20 * 400_000  # of 60 blocks: one part arriving, two waiting, and copies of them


def test_a_block_beyond_two_gigabytes_of_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def overflow(arrays: list[pa.Array]) -> pa.Array:
        raise pa.ArrowInvalid("offset overflow while concatenating arrays")

    monkeypatch.setattr(pa, "concat_arrays", overflow)
    one = pa.table({"s": ["a", "b"]})
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, one.schema, [*one.to_batches(), *one.to_batches()])
    assert refusal(error).code == "E080"
    assert refusal(error).message == "4 rows of column s hold more than 2 GiB"


def test_parts_mix_no_values_of_the_columns_that_a_table_is_laid_out_by(tmp_path: Path) -> None:
    day = [date(2024, 1, 1)] * 3 + [date(2024, 1, 2)] * 2 + [None] * 2
    table = pa.table({"day": day, "kind": ["a", "a", "b", "a", "a", "a", None], "n": range(7)})
    schema, batches = arriving(table)
    cut = [piece for batch in batches for piece in (batch.slice(0, 2), batch.slice(2, 3), batch.slice(5))]
    written = write_parts(tmp_path, schema, cut, Layout(partition_by=("day", "kind")))
    assert [(p.path, p.rows, dict(p.partition or {})) for p in written.parts] == [
        ("part-00000.parquet", 2, {"day": "2024-01-01", "kind": "a"}),
        ("part-00001.parquet", 1, {"day": "2024-01-01", "kind": "b"}),
        ("part-00002.parquet", 2, {"day": "2024-01-02", "kind": "a"}),
        ("part-00003.parquet", 1, {"day": None, "kind": "a"}),
        ("part-00004.parquet", 1, {"day": None, "kind": None}),
    ]
    assert [row["n"] for row in pq.read_table([tmp_path / p.path for p in written.parts]).to_pylist()] == [*range(7)]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 2)), max_size=30), st.integers(1, 7))
def test_law_how_a_table_is_laid_out_does_not_change_its_digest(rows: list[tuple[str | None, int]], size: int) -> None:
    ordered = sorted(rows, key=lambda r: (r[0] is None, r[0] or "", r[1]))
    schema = pa.schema([("k", pa.string()), ("n", pa.int64())])
    whole = pa.RecordBatch.from_pylist([{"k": k, "n": n} for k, n in ordered], schema)
    pieces = [whole.slice(at, size) for at in range(0, len(ordered), size)]
    with TemporaryDirectory() as one, TemporaryDirectory() as other, TemporaryDirectory() as third:
        plain = write_parts(Path(one), schema, pieces)
        parted = write_parts(Path(other), schema, pieces, Layout(partition_by=("k",)))
        again = write_parts(Path(third), schema, [whole], Layout(partition_by=("k",)))
        assert (plain.digest, plain.columns, dict(plain.statistics)) == (
            parted.digest,
            parted.columns,
            dict(parted.statistics),
        )
        assert parted.parts == again.parts
        assert len({str(p.partition) for p in parted.parts}) == len(parted.parts)


def test_a_table_without_rows_has_no_partitions(tmp_path: Path) -> None:
    written = write_parts(tmp_path, pa.schema([("k", pa.string())]), [], Layout(partition_by=("k",)))
    assert [(p.rows, p.partition) for p in written.parts] == [(0, None)]


def test_partitions_are_cut_where_they_grow_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "PART_BYTES", 20)
    schema, batches = arriving(pa.table({"k": ["a"] * 4 + ["b"], "n": range(5)}))
    pieces = [batch.slice(at, 1) for batch in batches for at in range(5)]
    monkeypatch.setattr(writer, "BLOCK_ROWS", 1)
    parts = write_parts(tmp_path, schema, pieces, Layout(partition_by=("k",))).parts
    assert [(p.rows, dict(p.partition or {})) for p in parts] == [(2, {"k": "a"}), (2, {"k": "a"}), (1, {"k": "b"})]


def test_too_many_partitions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MOST_PARTITIONS", 3)
    with pytest.raises(StrataError) as error:
        write_parts(tmp_path, *arriving(pa.table({"k": range(4)})), Layout(partition_by=("k",)))
    assert [d.code for d in error.value.diagnostics] == ["E090"]
