"""The reference engine at its border: reading tables, the result's schema, and the write pin's questions."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.contract.assertions import Holds, NotNull, NotOlder, Unique, Within
from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, TableInput
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import ref, scan
from strata_core.relation.expressions import call, literal
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Array, Inferred, ValueType, parse_type

ENGINE = ReferenceEngine()
COLUMNS = (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True)))


def read(table: TableInput) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = ENGINE.execute(scan("t", table.columns), {"t": table}).read_all().to_pylist()
    return rows


def unreadable(table: TableInput) -> tuple[str, str]:
    with pytest.raises(StrataError) as error:
        read(table)
    (diagnostic,) = error.value.diagnostics
    return diagnostic.code, diagnostic.message


def csv(tmp_path: Path, text: str, null: str | None = None) -> CsvTable:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return CsvTable(path, COLUMNS, null)


def test_csv(tmp_path: Path) -> None:
    assert read(csv(tmp_path, 's,n,more\n"a,b",1,x\n,,y\n')) == [{"n": 1, "s": "a,b"}, {"n": None, "s": None}]
    assert read(csv(tmp_path, "n,s\nNA,NA\n", null="NA")) == [{"n": None, "s": None}]
    assert read(csv(tmp_path, "\ufeffn,s\n")) == []
    assert ENGINE.physical_schema(csv(tmp_path, "n,s\n")) == pa.schema([("n", pa.string()), ("s", pa.string())])


def test_parquet(tmp_path: Path) -> None:
    paths = [tmp_path / f"{i}.parquet" for i in range(3)]
    for i, type_ in enumerate((pa.int32(), pa.int32(), pa.int64())):
        pq.write_table(pa.table({"n": pa.array([i, None], type_), "s": ["a", "b"]}), paths[i])
    assert [row["n"] for row in read(ParquetTable(tuple(paths[:2]), COLUMNS))] == [0, None, 1, None]
    assert "has other columns or types" in unreadable(ParquetTable(tuple(paths), COLUMNS))[1]
    assert ENGINE.physical_schema(ParquetTable((paths[0],), COLUMNS)).field("n").type == pa.int32()


def test_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table \"odd 'name\" as select 1::integer as n, 'a' as s")
    assert read(DuckDBTable(path, "odd 'name", COLUMNS)) == [{"n": 1, "s": "a"}]


# declared type, Arrow data, whether it is read
PHYSICAL: list[tuple[str, pa.Array, bool]] = [
    ("int64", pa.array([1], pa.uint32()), True),
    ("int64", pa.array([1], pa.uint64()), False),
    ("int64", pa.array([1.0], pa.float64()), False),
    ("float64", pa.array([1.0], pa.float32()), True),
    ("float64", pa.array([1.0], pa.float16()), True),
    ("array(float64)", pa.array([[1.0]], pa.list_(pa.float16())), True),
    ("float64", pa.array([1], pa.int64()), False),
    ("decimal(10,2)", pa.array([Decimal("1.5")], pa.decimal128(4, 1)), True),
    ("decimal(10,2)", pa.array([Decimal("1.50")], pa.decimal128(12, 2)), False),
    ("decimal(10,2)", pa.array([Decimal("1.5")], pa.decimal256(9, 1)), True),
    ("decimal(10,2)", pa.array([Decimal("1.5")], pa.decimal256(50, 1)), False),
    ("decimal(10,2)", pa.array([1], pa.int64()), False),
    ("string", pa.array(["a"], pa.large_string()), True),
    ("string", pa.array(["a"]).dictionary_encode(), True),
    ("date", pa.array([datetime.date(2024, 1, 1)], pa.date64()), True),
    ("date", pa.array([datetime.datetime(2024, 1, 1)], pa.timestamp("us")), False),
    ("timestamp", pa.array([datetime.datetime(2024, 1, 1)], pa.timestamp("ms")), True),
    ("timestamp", pa.array([1], pa.timestamp("ns")), False),
    ("timestamp", pa.array([1], pa.timestamp("us", "UTC")), False),
    ("array(int64)", pa.array([[1]], pa.list_(pa.int32())), True),
    ("map(string, int64)", pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), True),
    ("struct<a: int64>", pa.array([{"a": 1}], pa.struct([("a", pa.int32())])), True),
    ("struct<a: int64>", pa.array([{"b": 1}], pa.struct([("b", pa.int64())])), False),
    ("bool", pa.array([None], pa.null()), True),
]


@pytest.mark.parametrize(("declared", "data", "fits"), PHYSICAL, ids=[f"{r[0]}-{r[1].type}" for r in PHYSICAL])
def test_data_is_read_as_declared_where_nothing_is_lost(declared: str, data: pa.Array, fits: bool) -> None:
    table = ArrowTable(pa.table({"x": data}), (Column("x", Inferred(parse_type(declared), nullable=True)),))
    if fits:
        assert len(read(table)) == 1
    else:
        assert unreadable(table)[0] in ("E080", "E090")


@pytest.mark.parametrize(
    "type_",
    [parse_type(t) for t in ("money(EUR)", "map(string, int64)", "struct<a: int64>", "array(string nonnull)")],
    ids=str,
)
def test_the_result_says_what_its_columns_are(type_: ValueType) -> None:
    column = Column("x", Inferred(type_, nullable=True))
    table = ArrowTable(pa.table({"x": pa.array([None], pa.null())}), (column,))
    field = ENGINE.execute(scan("t", (column,)), {"t": table}).schema.field("x")
    assert field.metadata == {b"strata.type": str(type_).encode()}


def test_explain_shows_the_tree() -> None:
    assert ENGINE.explain(scan("t", COLUMNS), {}) == "scan (n: int64, s: string)"


ASSESSED = ArrowTable(
    pa.table(
        {
            "id": pa.array([1, 2, 2, None, None], pa.int64()),
            "s": ["a", "b", "x", None, "a"],
            "d": pa.array([None, *(datetime.date(2024, 1, day) for day in (1, 2, 3, 2))], pa.date32()),
            "xs": pa.array([[1], [None], None, [], [2, None]], pa.list_(pa.int64())),
        }
    ),
    (
        Column("id", Inferred(INT64, nullable=True)),
        Column("s", Inferred(STRING, nullable=True)),
        Column("d", Inferred(parse_type("date"), nullable=True)),
        Column("xs", Inferred(Array(INT64), nullable=True)),
    ),
)
ID = ref(scan("t", ASSESSED.columns), "id")
ASSERTIONS = [
    (NotNull("id"), 2),
    (NotNull("xs", ("element",)), 2),
    (Within("s", ("a", "b")), 1),
    (Unique(("id",)), 1),
    (Unique(("id", "s")), 0),
    (NotOlder("d", datetime.datetime(2024, 1, 4, tzinfo=datetime.UTC)), 1),
    (NotOlder("d", datetime.datetime(2024, 1, 3, tzinfo=datetime.UTC)), 0),
    (Holds(call("gt", ID, literal(1)), "id > 1"), 1),
]


def test_assess_counts_offenders_in_order() -> None:
    assessment = ENGINE.assess(ASSESSED, [a for a, _ in ASSERTIONS], key=["id"])
    assert assessment.rows == 5
    assert [m.offenders for m in assessment.measurements] == [count for _, count in ASSERTIONS]
    assert assessment.measurements[2].samples == ({"id": 2, "s": "x"},)
    assert assessment.measurements[7].samples == ({"id": 1},)


def test_nested_values_are_looked_into() -> None:
    type_ = parse_type("struct<a: map(string, int64)>")
    column = Column("r", Inferred(type_, nullable=True))
    data = pa.table(
        {"r": pa.array([{"a": [("k", None)]}, {"a": None}, None], pa.struct([("a", pa.map_(pa.string(), pa.int64()))]))}
    )
    paths = [("a",), ("a", "value"), ()]
    assessment = ENGINE.assess(ArrowTable(data, (column,)), [NotNull("r", p) for p in paths])
    assert [m.offenders for m in assessment.measurements] == [1, 1, 1]


def test_money_and_decimals_are_exact_through_arrow() -> None:
    columns = (Column("x", Inferred(parse_type("decimal(38,10)"), nullable=False)),)
    largest = Decimal("9" * 28 + "." + "9" * 10)
    assert read(ArrowTable(pa.table({"x": pa.array([largest], pa.decimal128(38, 10))}), columns)) == [{"x": largest}]
