"""What the DuckDB engine reads: Parquet, CSV, DuckDB and Arrow in the declared types, and what it says of the rest."""

from __future__ import annotations

import datetime
import os
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable, CsvTable, DuckDBTable, ParquetTable, StreamTable, TableInput
from strata_core.relation.build import scan
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Inferred, parse_type

from .test_reference_tables import PHYSICAL

ENGINE = DuckDBEngine()
COLUMNS = (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True)))


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(Column(name, Inferred(parse_type(t), nullable=True)) for name, t in types.items())


def read(table: TableInput) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = ENGINE.execute(scan("t", table.columns), {"t": table}).read_all().to_pylist()
    return rows


def refused(table: TableInput) -> Diagnostic:
    with pytest.raises(StrataError) as error:
        read(table)
    (diagnostic,) = error.value.diagnostics
    return diagnostic


def csv(tmp_path: Path, text: str, null: str | None = None, **types: str) -> CsvTable:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return CsvTable(path, columns(**types) if types else COLUMNS, null)


def test_csv_is_read_in_its_declared_types(tmp_path: Path) -> None:
    assert read(csv(tmp_path, 's,n,more\n"a,b",1,x\n,,y\n')) == [{"n": 1, "s": "a,b"}, {"n": None, "s": None}]
    assert read(csv(tmp_path, "n,s\r\n1,a\r\n")) == [{"n": 1, "s": "a"}]
    assert read(csv(tmp_path, "\ufeffn,s\n")) == []
    assert read(csv(tmp_path, 'n,s\n1,"two\nlines ""x"""\n')) == [{"n": 1, "s": 'two\nlines "x"'}]
    assert read(csv(tmp_path, "n,s\n1,no end")) == [{"n": 1, "s": "no end"}]
    assert ENGINE.physical_schema(csv(tmp_path, "n,s\n")) == pa.schema([("n", pa.string()), ("s", pa.string())])
    typed = csv(
        tmp_path,
        "d,t,p,b\n2024-02-29,2024-02-29T10:00:00Z,-1.50,TRUE\n",
        d="date",
        t="timestamp",
        p="money(EUR)",
        b="bool",
    )
    assert read(typed) == [
        {
            "d": datetime.date(2024, 2, 29),
            "t": datetime.datetime(2024, 2, 29, 10),
            "p": Decimal("-1.50"),
            "b": True,
        }
    ]


def test_csv_null_text(tmp_path: Path) -> None:
    assert read(csv(tmp_path, "n,s\nNA,NA\n,\n7,N\n", null="NA")) == [
        {"n": None, "s": None},
        {"n": None, "s": None},
        {"n": 7, "s": "N"},
    ]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("n,t\n1,a\n", "E084", "the header of `{path}` lacks `s`"),
        ("", "E084", "the header of `{path}` lacks `n`, `s`"),
        ("n,s,n\n1,a,2\n", "E033", "the header of `{path}` names a column twice"),
        ("n,s\n1,a\n2\n", "E033", "line 3 of `{path}` has 1 fields, its header 2"),
        ('n,s\n1,"x\ny"\n2,b,c\n', "E033", "line 4 of `{path}` has 3 fields, its header 2"),
        ("n,s\n1,a\n1.5,b\n", "E080", "line 3 of `{path}`, column `n`: `1.5` is no int64"),
        ("n,s\n 1,a\n", "E080", "line 2 of `{path}`, column `n`: ` 1` is no int64"),
        ("n,s\n9223372036854775808,a\n", "E080", "line 2 of `{path}`, column `n`: `9223372036854775808` is no int64"),
    ],
)
def test_bad_csv_is_located(tmp_path: Path, text: str, code: str, message: str) -> None:
    found = refused(csv(tmp_path, text))
    assert (found.code, found.message) == (code, message.format(path=tmp_path / "t.csv"))
    assert found.fix is not None


def test_a_first_line_that_is_no_header_is_not_quoted(tmp_path: Path) -> None:
    found = refused(csv(tmp_path, "7,secret\n8,secret\n"))
    assert (found.code, found.fix) == ("E084", "expected are `n`, `s`; found are none of them")
    assert refused(csv(tmp_path, "n,t\n1,a\n")).fix == "expected are `n`, `s`; found are `n`, `t`"


def test_csv_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"n,s\n1,\xff\xfe\n")
    assert refused(CsvTable(path, COLUMNS)).code == "E033"
    path.write_text('n,s\n1,"open\n')
    assert refused(CsvTable(path, COLUMNS)).code == "E033"


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    for table in (
        CsvTable(tmp_path / "no.csv", COLUMNS),
        ParquetTable((tmp_path / "no.parquet",), COLUMNS),
        DuckDBTable(tmp_path / "no.duckdb", "t", COLUMNS),
    ):
        found = refused(table)
        assert found.code == "E030"
        assert "there is no file" in found.message


def test_parquet(tmp_path: Path) -> None:
    paths = []
    for i in range(2):
        paths.append(tmp_path / f"part [{i}] *.parquet")
        pq.write_table(pa.table({"s": ["a", "b"], "n": pa.array([i, None], pa.int32()), "more": [1, 2]}), paths[i])
    assert [row["n"] for row in read(ParquetTable(tuple(paths), COLUMNS))] == [0, None, 1, None]
    assert ENGINE.physical_schema(ParquetTable((paths[0],), COLUMNS)).field("n").type == pa.int32()
    assert read(ParquetTable((), COLUMNS)) == []


def test_hive_like_folders_are_folders(tmp_path: Path) -> None:
    (tmp_path / "n=7").mkdir()
    path = tmp_path / "n=7" / "t.parquet"
    pq.write_table(pa.table({"n": [1], "s": ["a"]}), path)
    assert read(ParquetTable((path,), COLUMNS)) == [{"n": 1, "s": "a"}]


def test_bad_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and no more")
    assert refused(ParquetTable((path,), COLUMNS)).code == "E033"
    path.write_bytes(b"")
    assert refused(ParquetTable((path,), COLUMNS)).code == "E033"
    pq.write_table(pa.table({"n": [1]}), path)
    found = refused(ParquetTable((path,), COLUMNS))
    assert (found.code, found.message, found.fix) == ("E084", f"`{path}` has no column `s`", "its columns are `n`")
    other = tmp_path / "u.parquet"
    pq.write_table(pa.table({"n": ["1"]}), other)
    assert refused(ParquetTable((path, other), COLUMNS)).code == "E080"


def test_an_int_where_a_decimal_was_promised_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"amount": [1, 2]}), path)
    found = refused(ParquetTable((path,), columns(amount="decimal(10,2)")))
    assert found.code == "E080"
    assert found.message == f"column `amount` is `int64` in `{path}`, declared `decimal(10,2)`"
    assert found.field_path == "amount"


@pytest.mark.parametrize(("declared", "data", "fits"), PHYSICAL, ids=[f"{r[0]}-{r[1].type}" for r in PHYSICAL])
def test_data_is_read_as_declared_where_nothing_is_lost(declared: str, data: pa.Array, fits: bool) -> None:
    table = ArrowTable(pa.table({"x": data}), columns(x=declared))
    if fits:
        assert len(read(table)) == 1
    else:
        assert refused(table).code in ("E080", "E090")


def test_tables_and_views_of_a_duckdb_file(tmp_path: Path) -> None:
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table \"odd 'name\" as select 1::integer as n, 'a' as s")
        connection.execute("create schema staging")
        connection.execute('create view staging.v as select n + 1 as n, s from main."odd \'name"')
    assert read(DuckDBTable(path, "odd 'name", COLUMNS)) == [{"n": 1, "s": "a"}]
    assert read(DuckDBTable(path, "staging.v", COLUMNS)) == [{"n": 2, "s": "a"}]
    assert read(DuckDBTable(path, "v", COLUMNS)) == [{"n": 2, "s": "a"}]
    found = refused(DuckDBTable(path, "none", COLUMNS))
    assert (found.code, found.message) == ("E030", f"`{path}` has no table `none`")
    assert "odd 'name" in (found.fix or "")
    assert refused(DuckDBTable(path, "staging.v", columns(n="string"))).code == "E080"


def test_a_file_that_is_no_duckdb_database(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    path.write_bytes(b"not a database" * 1000)
    assert refused(DuckDBTable(path, "t", COLUMNS)).code == "E033"
    (tmp_path / "u.duckdb").write_bytes(b"")
    assert refused(DuckDBTable(tmp_path / "u.duckdb", "t", COLUMNS)).code in ("E030", "E033")


NAMES = ("select", 'a"b', "it's", "naïve 漢字", "A", "a", "ä", "Ä", "a.b", "__strata_row", "x y", "$1", "{x}", "--")


def test_names_are_data(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    data = pa.table([pa.array([i]) for i, _ in enumerate(NAMES)], names=list(NAMES))
    pq.write_table(data, path)
    declared = columns(**dict.fromkeys(NAMES, "int64"))
    expected = [{name: i for i, name in enumerate(NAMES)}]
    stream = StreamTable(data.to_reader, data.schema, declared, "a stream")
    for table in (ParquetTable((path,), declared), ArrowTable(data, declared), stream):
        for name in ('t"; drop table x; --', "select", "step_1", "漢字"):
            rows = ENGINE.execute(scan(name, declared), {name: table}).read_all()
            assert rows.schema.names == list(NAMES)
            assert rows.to_pylist() == expected


def test_csv_names_are_data(tmp_path: Path) -> None:
    path = tmp_path / "it's [1].csv"
    names = [n for n in NAMES if n != 'a"b']
    path.write_text(",".join(names) + "\n" + ",".join("7" for _ in names) + "\n", encoding="utf-8")
    declared = columns(**dict.fromkeys(names, "int64"))
    assert read(CsvTable(path, declared)) == [dict.fromkeys(names, 7)]


def test_nanoseconds_that_are_no_microseconds_are_refused() -> None:
    table = ArrowTable(pa.table({"t": pa.array([1_500], pa.timestamp("ns"))}), columns(t="timestamp"))
    assert refused(table).message == "the computation failed: a timestamp is finer than a microsecond"
    whole = ArrowTable(pa.table({"t": pa.array([2_000], pa.timestamp("ns"))}), columns(t="timestamp"))
    assert read(whole) == [{"t": datetime.datetime(1970, 1, 1, 0, 0, 0, 2)}]


def test_a_duckdb_file_is_not_held_open_after_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select 1 as n, 'a' as s")
    table = DuckDBTable(path, "t", COLUMNS)
    assert read(table) == [{"n": 1, "s": "a"}]
    with duckdb.connect(str(path)) as connection:  # DuckDB refuses a writer while the file is attached elsewhere
        connection.execute("insert into t values (2, 'b')")
    assert read(table) == [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}]


def test_a_file_rewritten_under_its_old_size_and_time_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for letter in ("a", "b"):
        pq.write_table(pa.table({"n": pa.array([1]), "s": pa.array([letter])}), path)
        os.utime(path, (1_700_000_000, 1_700_000_000))
        assert read(ParquetTable((path,), COLUMNS)) == [{"n": 1, "s": letter}]


def test_the_spill_folder_is_gone_with_the_process(tmp_path: Path) -> None:
    script = f"""
import pyarrow as pa
from pathlib import Path
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable, EngineSettings
from strata_core.relation.build import ref, scan, sort_rows
from strata_core.relation.expressions import SortKey
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Inferred
spill = Path({str(tmp_path / "spill")!r})
data = pa.table({{"n": list(range(400_000)), "s": ["x" * 200] * 400_000}})
table = ArrowTable(data, (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True))))
base = scan("t", table.columns)
engine = DuckDBEngine(EngineSettings("64MiB", 1, spill))
reader = engine.execute(sort_rows(base, [SortKey(ref(base, "n"), descending=True)]), {{"t": table}})
rows = reader.read_next_batch().num_rows
print(rows, any(spill.iterdir()))
print(rows + sum(batch.num_rows for batch in reader))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "122880 True\n400000\n"
    assert not (tmp_path / "spill").exists()


def test_a_stream_is_opened_anew_for_each_scan_and_read_as_its_rows_are_taken() -> None:
    taken: list[int] = []
    schema = pa.schema([("n", pa.int64())])

    def rows() -> pa.RecordBatchReader:
        taken.append(0)

        def batches() -> Iterator[pa.RecordBatch]:
            for i in range(300):
                taken[-1] += 1
                yield pa.record_batch([pa.array([i] * 20_000)], schema=schema)

        return pa.RecordBatchReader.from_batches(schema, batches())

    table = StreamTable(rows, schema, columns(n="int64"), "numbers")
    for _ in range(2):
        reader = ENGINE.execute(scan("t", table.columns), {"t": table})
        read = reader.read_next_batch().num_rows
        assert taken[-1] < 150
        assert read + sum(batch.num_rows for batch in reader) == 6_000_000
    assert taken == [300, 300]


def test_what_a_stream_lacks_and_its_own_faults_are_told_as_of_any_table() -> None:
    data = pa.table({"n": ["text"]})
    told = [refused(StreamTable(data.to_reader, data.schema, c, "numbers")) for c in (COLUMNS, columns(s="string"))]
    assert [(d.code, d.message) for d in told] == [
        ("E080", "column `n` is `string` in numbers, declared `int64`"),
        ("E084", "numbers has no column `s`"),
    ]
    fault = Diagnostic("E094", "a part is gone")

    def breaking() -> pa.RecordBatchReader:
        def batches() -> Iterator[pa.RecordBatch]:
            yield pa.record_batch([pa.array([1])], names=["n"])
            raise StrataError(fault)

        return pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), batches())

    table = StreamTable(breaking, pa.schema([("n", pa.int64())]), columns(n="int64"), "numbers")
    assert refused(table) == fault
    assert refused(table) == fault
