"""Every engine says the same of an input that it cannot read: code, message and fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.protocol import ArrowTable, CsvTable, DuckDBTable, Engine, ParquetTable, TableInput
from strata_core.relation.build import scan
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, TIMESTAMP, Inferred

from .engines import ENGINES

COLUMNS = (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True)))


def csv(text: str | bytes) -> Callable[[Path], TableInput]:
    def write(folder: Path) -> TableInput:
        path = folder / "t.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return CsvTable(path, COLUMNS)

    return write


def parquet(*tables: pa.Table | bytes) -> Callable[[Path], TableInput]:
    def write(folder: Path) -> TableInput:
        paths = [folder / f"{i}.parquet" for i, _ in enumerate(tables)]
        for path, data in zip(paths, tables, strict=True):
            path.write_bytes(data) if isinstance(data, bytes) else pq.write_table(data, path)
        return ParquetTable(tuple(paths), COLUMNS)

    return write


def database(statement: str, table: str) -> Callable[[Path], TableInput]:
    def write(folder: Path) -> TableInput:
        path = folder / "t.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(statement)
        return DuckDBTable(path, table, COLUMNS)

    return write


def junk(folder: Path) -> TableInput:
    path = folder / "t.duckdb"
    path.write_bytes(b"not a database" * 1000)
    return DuckDBTable(path, "t", COLUMNS)


WHOLE = pa.table({"n": [1], "s": ["a"]})
BAD = {
    "no csv": (lambda f: CsvTable(f / "t.csv", COLUMNS), "E030", "there is no file `{f}/t.csv`"),
    "no parquet": (lambda f: ParquetTable((f / "t.parquet",), COLUMNS), "E030", "there is no file `{f}/t.parquet`"),
    "no database": (lambda f: DuckDBTable(f / "t.duckdb", "t", COLUMNS), "E030", "there is no file `{f}/t.duckdb`"),
    "no table": (database("create table u (n int)", "t"), "E030", "`{f}/t.duckdb` has no table `t`"),
    "no header": (csv(""), "E084", "the header of `{f}/t.csv` lacks `n`, `s`"),
    "a column less": (csv("n,t\n1,a\n"), "E084", "the header of `{f}/t.csv` lacks `s`"),
    "a column twice": (csv("n,s,n\n1,a,2\n"), "E033", "the header of `{f}/t.csv` names a column twice"),
    "ragged": (csv("n,s\n1,a\n2\n"), "E033", "line 3 of `{f}/t.csv` has 1 fields, its header 2"),
    "open quote": (csv('n,s\n1,"open\n'), "E033", "`{f}/t.csv` cannot be read: unexpected end of data"),
    "no text": (csv(b"n,s\n1,\xff\n"), "E033", "`{f}/t.csv` cannot be read: 'utf-8' codec can't decode byte 0xff"),
    "no integer": (csv("n,s\n1,a\n1.5,b\n"), "E080", "line 3 of `{f}/t.csv`, column `n`: `1.5` is no int64"),
    "too large": (csv(f"n,s\n{2**63},a\n"), "E080", f"line 2 of `{{f}}/t.csv`, column `n`: `{2**63}` is no int64"),
    "no parquet inside": (parquet(b"PAR1 and no more"), "E033", "`{f}/0.parquet` is not Parquet, or is damaged"),
    "an empty file": (parquet(b""), "E033", "`{f}/0.parquet` is not Parquet, or is damaged"),
    "files differ": (
        parquet(WHOLE, pa.table({"n": ["1"], "s": ["a"]})),
        "E080",
        "`{f}/1.parquet` has other columns or types than `{f}/0.parquet`",
    ),
    "a type": (
        parquet(pa.table({"n": ["1"], "s": ["a"]})),
        "E080",
        "column `n` is `string` in `{f}/0.parquet`, declared `int64`",
    ),
    "a column": (parquet(pa.table({"n": [1]})), "E084", "`{f}/0.parquet` has no column `s`"),
    "a view's type": (
        database("create view t as select 1.5::double as n, 'a' as s", "t"),
        "E080",
        "column `n` is `double` in `{f}/t.duckdb`, table `t`, declared `int64`",
    ),
    "no database inside": (junk, "E033", "`{f}/t.duckdb` cannot be opened as a DuckDB database"),
    "arrow": (lambda f: ArrowTable(pa.table({"n": [1]}), COLUMNS), "E084", "the data has no column `s`"),
}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(("make", "code", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_read(
    engine: Engine, make: Callable[[Path], TableInput], code: str, message: str, tmp_path: Path
) -> None:
    found = refused(engine, make(tmp_path))
    assert (found.code, found.message[: len(message.format(f=tmp_path))]) == (code, message.format(f=tmp_path))


def test_files_that_differ_are_told_by_columns_and_types(tmp_path: Path) -> None:
    described = pa.schema([pa.field("n", pa.int64(), False, {"strata.type": "int64"}), pa.field("s", pa.string())])
    table = parquet(pa.table({"n": [1], "s": ["a"]}, schema=described), pa.table({"n": ["1"]}))(tmp_path)
    for engine in ENGINES:
        assert refused(engine, table).notes == ("there: n: int64 not null, s: string", "here: n: string")


@pytest.mark.parametrize(("make", "code"), [(m, c) for m, c, _ in BAD.values()], ids=BAD)
def test_the_engines_say_the_same(make: Callable[[Path], TableInput], code: str, tmp_path: Path) -> None:
    table = make(tmp_path)
    said = {refused(engine, table) for engine in ENGINES}
    assert len({(d.code, d.fix, d.field_path) for d in said}) == 1


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_a_timestamp_finer_than_a_microsecond(engine: Engine) -> None:
    column = Column("t", Inferred(TIMESTAMP, nullable=True))
    assert refused(engine, ArrowTable(pa.table({"t": pa.array([1], pa.timestamp("ns"))}), (column,))).code == "E090"


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_a_table_of_a_schema_in_a_database(engine: Engine, tmp_path: Path) -> None:
    make = database("create schema x; create table x.t as select 7::bigint as n, 'a' as s", "x.t")
    table = make(tmp_path)
    assert engine.execute(scan("t", COLUMNS), {"t": table}).read_all().to_pylist() == [{"n": 7, "s": "a"}]


def refused(engine: Engine, table: TableInput) -> Diagnostic:
    with pytest.raises(StrataError) as error:
        engine.execute(scan("t", table.columns), {"t": table}).read_all()
    (diagnostic,) = error.value.diagnostics
    return diagnostic
