"""Queries that are kept: the same answers, of the files at hand, and without what writes queries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.contract.assertions import NotNull, Unique, Within
from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ParquetTable
from strata_core.relation.build import filter_rows, ref, scan
from strata_core.relation.expressions import call, literal
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Inferred

COLUMNS = (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True)))
ENGINE = DuckDBEngine()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "queries"


def files(*paths: Path, n: tuple[int | None, ...] = (1, 2), s: tuple[str | None, ...] = ("a", "b")) -> ParquetTable:
    for path in paths:
        pq.write_table(pa.table({"n": pa.array(n, pa.int64()), "s": pa.array(s, pa.string())}), path)
    return ParquetTable(paths, COLUMNS)


def above(bound: int, table: ParquetTable) -> list[dict[str, object]]:
    rows = scan("t", COLUMNS)
    relation = filter_rows(rows, call("gt", ref(rows, "n"), literal(bound)))
    return ENGINE.execute(relation, {"t": table}).read_all().to_pylist()


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_other_files_of_the_same_columns_are_asked_the_same_query(tmp_path: Path, cache: Path) -> None:
    assert above(1, files(tmp_path / "one.parquet")) == [{"n": 2, "s": "b"}]
    first = kept(cache)
    assert len(first) == 1
    assert above(1, files(tmp_path / "two.parquet", n=(5, 0), s=("x", "y"))) == [{"n": 5, "s": "x"}]
    several = files(tmp_path / "a.parquet", tmp_path / "b.parquet", n=(7, None))
    assert above(1, several) == [{"n": 7, "s": "a"}] * 2
    assert kept(cache) == first


def test_names_of_files_that_mean_something_in_sql_or_to_duckdb(tmp_path: Path, cache: Path) -> None:
    for name in ("it's.parquet", "*.parquet", "[x]?.parquet", "$1.parquet", "\\1.parquet"):
        assert above(1, files(tmp_path / name)) == [{"n": 2, "s": "b"}]
    assert len(kept(cache)) == 1


def test_another_question_or_other_columns_is_another_query(tmp_path: Path, cache: Path) -> None:
    table = files(tmp_path / "one.parquet")
    assert [above(1, table), above(0, table)] == [[{"n": 2, "s": "b"}], [{"n": 1, "s": "a"}, {"n": 2, "s": "b"}]]
    assert len(kept(cache)) == 2
    pq.write_table(pa.table({"s": ["c"], "n": pa.array([9], pa.int32())}), tmp_path / "one.parquet")
    assert above(1, table) == [{"n": 9, "s": "c"}]  # 32 bits that are widened
    assert len(kept(cache)) == 3


def test_a_fault_names_the_file_and_nothing_is_kept(tmp_path: Path, cache: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "t.parquet")
    with pytest.raises(StrataError) as raised:
        above(1, ParquetTable((tmp_path / "t.parquet",), COLUMNS))
    assert raised.value.diagnostics[0].message == f"`{tmp_path / 't.parquet'}` has no column `s`"
    assert not cache.exists()


def test_columns_that_differ_in_case_alone_are_not_kept(tmp_path: Path, cache: Path) -> None:
    pq.write_table(pa.table({"n": [1], "N": [2], "s": ["a"]}), tmp_path / "t.parquet")
    columns = (*COLUMNS, Column("N", Inferred(INT64, nullable=True)))
    found = ENGINE.execute(scan("t", columns), {"t": ParquetTable((tmp_path / "t.parquet",), columns)}).read_all()
    assert found.to_pylist() == [{"n": 1, "s": "a", "N": 2}]
    assert not cache.exists()


def test_a_damaged_query_is_written_anew(tmp_path: Path, cache: Path) -> None:
    table = files(tmp_path / "one.parquet")
    above(1, table)
    (path,) = cache.iterdir()
    path.write_bytes(path.read_bytes().replace(b"SELECT", b"DELETE"))
    assert above(1, table) == [{"n": 2, "s": "b"}]


def test_the_pins_questions_are_kept_but_for_those_about_offenders(tmp_path: Path, cache: Path) -> None:
    asked = (NotNull("n"), Within("s", ("a", "b")), Unique(("s",)))
    good = ENGINE.assess(files(tmp_path / "good.parquet"), asked, ("s",))
    assert [m.offenders for m in good.measurements] == [0, 0, 0]
    first = kept(cache)
    bad = ENGINE.assess(files(tmp_path / "bad.parquet", n=(1, None, 3), s=("b", "a", "b")), asked, ("s",))
    assert [m.offenders for m in bad.measurements] == [1, 0, 1]
    assert bad.measurements[0].samples == ({"s": "a", "n": None},)
    assert bad.measurements[2].samples == ({"s": "b"},)
    assert set(first) < set(kept(cache))  # unsorted rows are grouped, which is a query of its own
    worse = ENGINE.assess(files(tmp_path / "worse.parquet", n=(None, None), s=("c", "c")), asked, ("s",))
    assert [m.offenders for m in worse.measurements] == [2, 2, 1]


def test_what_is_kept_is_asked_without_loading_what_writes_queries(tmp_path: Path, cache: Path) -> None:
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_kept_queries import COLUMNS, ENGINE, ParquetTable, NotNull, Unique, above
table = ParquetTable((Path({str(tmp_path / "one.parquet")!r}),), COLUMNS)
assert above(1, table) == [{{"n": 2, "s": "b"}}]
assert [m.offenders for m in ENGINE.assess(table, (NotNull("n"), Unique(("n",)))).measurements] == [0, 0]
print("sqlglot" in sys.modules)
"""
    files(tmp_path / "one.parquet")
    command, env = [sys.executable, "-c", program], {**os.environ, "STRATA_CACHE_DIR": str(cache.parent)}
    told = [subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert told == ["True\n", "False\n"]
