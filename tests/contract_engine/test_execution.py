"""Tests of contracts run on real rows: expectations, SQL, what is masked, what cannot be reached (Seed 2, step 5)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.contract_engine.execution.masks import masked_columns
from strata_core.contract_engine.execution.run import run_tests
from strata_core.contract_engine.pin.covering import covered
from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.queries import ask
from strata_core.engines.protocol import DuckDBTable, EngineSettings, ParquetTable
from strata_core.planning.inputs.reachable import ReachableTables

from .projects import HEAD, PLACE, checked
from .test_cli import committed, git, run

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONTRACT = (
    HEAD
    + """\
assets:
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {name: id, type: int64}
      - {name: amount, type: "decimal(10,2)"}
      - {name: email, type: string, classification: restricted, mask: hash}
      - {name: country, type: string}
      - {name: at, type: timestamp}
  - id: countries
    kind: table
    location: data/countries.csv
    columns: [{name: code, type: string}, {name: people, type: int64}]
"""
)
ROWS = {
    "id": [1, 2, 2, None],
    "amount": [10, -5, None, 7],
    "email": ["a@x", "b@x", "c@x", "d@x"],
    "country": ["DE", "NO", "XX", None],
    "at": [datetime(2026, 11, 1), datetime(2026, 11, 29), None, datetime(2026, 11, 2)],
}


def rows(root: Path) -> None:
    (root / "data").mkdir(parents=True)
    kinds = pa.schema(
        {"id": pa.int64(), "amount": pa.decimal128(10, 2), "email": pa.string(), "country": pa.string()}
        | {"at": pa.timestamp("us")}
    )
    pq.write_table(pa.table(ROWS, schema=kinds), root / "data" / "orders.parquet")
    (root / "data" / "countries.csv").write_text("code,people\nDE,83\nNO,5\n")


def outcomes(root: Path, tests: list[dict[str, Any]], contract: str = CONTRACT) -> dict[str, tuple[Any, ...]]:
    rows(root)
    found = checked(root, {PLACE: f"{contract}tests: {json.dumps(tests)}\n"})
    assert [d for d in found.diagnostics if d.blocks] == []
    seen = run_tests(found, ReachableTables(root, found.setting.config), NOW).tests
    return {t.test: (t.outcome, t.offenders, t.message) for t in seen}


def expects(id_: str, asset: str = "orders", **expectation: Any) -> dict[str, Any]:
    return {"id": id_, "kind": "expectation", "severity": "blocking", "asset": asset, "expectation": expectation}


def test_seed2_every_expectation_is_asked_of_the_rows(tmp_path: Path) -> None:
    referential = {"type": "referential", "columns": ["country"], "to": ["countries.code"]}
    told = outcomes(
        tmp_path,
        [
            expects("no_nulls", type="not_null", columns=["id", "country"]),
            expects("email_is_there", type="not_null", columns=["email"]),
            expects("ids", type="unique", columns=["id"]),
            expects("id_and_email", type="unique", columns=["id", "email"]),
            expects("known", type="accepted_values", column="country", values=["DE", "NO"]),
            expects("positive", type="range", column="amount", min=0),
            expects("since", type="range", column="at", min="2026-11-01", max="2026-12-01"),
            expects("codes", type="regex", column="country", pattern="[A-Z]{2}"),
            expects("codes_with_o", type="regex", column="country", pattern="[A-Z]O"),
            expects("some", type="row_count", min=1, max=4),
            expects("many", type="row_count", min=100),
            expects("fresh", type="freshness", column="at", max_age="2d"),
            expects("fresher", type="freshness", column="at", max_age="24h"),
            expects("found", **referential),
            expects("custom", type="custom", expression="amount >= 0 or id == 2"),
            expects("custom_fails", type="custom", expression="amount > 8"),
            expects("csv", "countries", type="range", column="people", min=6),
        ],
    )
    assert {name: result[:2] for name, result in told.items()} == {
        "no_nulls": ("failed", 1),
        "email_is_there": ("passed", 0),
        "ids": ("failed", 1),
        "id_and_email": ("passed", 0),
        "known": ("failed", 1),  # a null is no wrong value
        "positive": ("failed", 1),
        "since": ("passed", 0),
        "codes": ("passed", 0),
        "codes_with_o": ("failed", 2),
        "some": ("passed", 0),
        "many": ("failed", 1),
        "fresh": ("passed", 0),
        "fresher": ("failed", 1),
        "found": ("failed", 1),
        "custom": ("passed", 0),
        "custom_fails": ("failed", 2),
        "csv": ("failed", 1),
    }
    assert told["ids"][2] == "a row is wrong, for instance id = 2, times = 2"
    assert told["csv"][2] == "a row is wrong, for instance code = NO, people = 5"
    assert told["many"][2] == "a row is wrong, for instance found = 4"
    assert "email = b@x" not in json.dumps(told)
    assert "email = ‹masked›" in str(told["positive"][2])


def test_a_condition_that_is_valid_is_asked_of_columns_of_any_name_and_of_the_table_as_a_whole(tmp_path: Path) -> None:
    names = ("from", "model", "unit price")
    columns = "".join(f"      - {{name: {name}, type: int64, nullable: false}}\n" for name in names)
    asset = f"  - id: odd\n    kind: table\n    location: data/odd.parquet\n    columns:\n{columns}"
    (tmp_path / "data").mkdir()
    values = {"from": [1, 2], "model": [1, None], "unit price": [3, 4]}
    pq.write_table(pa.table(values, schema=pa.schema({n: pa.int64() for n in names})), tmp_path / "data/odd.parquet")
    asked = {
        "bare": "`from` <= `unit price`",
        "fails": "`unit price` > 3 and `from` > 1",
        "null": "`model` is not null",
        "whole": "row_count > 2",
        "sum": "sum(`unit price`) == 7",
    }
    tests = [expects(name, "odd", type="custom", expression=text) for name, text in asked.items()]
    head, _, _ = CONTRACT.partition("  - id: orders")
    found = checked(tmp_path, {PLACE: f"{head}{asset}tests: {json.dumps(tests)}\n"})
    assert found.diagnostics == ()
    seen = run_tests(found, ReachableTables(tmp_path, found.setting.config), NOW).tests
    row = "from = 2, model = none, unit price = 4"
    assert {t.test: (t.outcome, t.message) for t in seen} == {
        "bare": ("passed", None),
        "fails": ("failed", "a row is wrong, for instance from = 1, model = 1, unit price = 3"),
        "null": ("failed", f"a row is wrong, for instance {row}"),
        "whole": ("failed", "it does not hold for the table as a whole"),
        "sum": ("passed", None),
    }


def sql(id_: str, text: str, **more: str) -> dict[str, Any]:
    return {"id": id_, "kind": "sql", "severity": "blocking", "sql": text, **more}


def test_seed2_sql_is_asked_of_the_rows_and_classified_values_are_masked(tmp_path: Path) -> None:
    told = outcomes(
        tmp_path,
        [
            sql("passes", "select * from orders where amount > 1000; -- none"),
            sql("two_tables", "select o.id from orders o join countries c on o.country = c.code where people < 6"),
            sql("renamed", "select email as name, id from orders where id = 1"),
            sql("misspelt", "select emial from orders"),
            sql("fails_to_run", "select cast(email as int) as number from orders"),
        ],
    )
    assert told["passes"] == ("passed", 0, None)
    assert told["two_tables"] == ("failed", 1, "a row is wrong, for instance id = 2")
    assert told["renamed"] == ("failed", 1, "a row is wrong, for instance name = ‹masked›, id = 1")
    assert told["fails_to_run"][0] == "error"
    assert told["misspelt"][2] == 'this query cannot be asked: Referenced column "emial" not found in FROM clause!'


def test_an_asset_is_named_as_where_it_is_made(tmp_path: Path) -> None:
    contract = CONTRACT.replace("  - id: orders\n", "  - id: orders\n    ref: sales.orders\n")
    queries = ("select id from sales.orders where id = 1", 'select id from "orders" where id = 1')
    told = outcomes(tmp_path, [sql(f"t{n}", query) for n, query in enumerate(queries)], contract)
    assert [t[:2] for t in told.values()] == [("failed", 1), ("failed", 1)]


def test_an_error_of_a_computation_shows_no_classified_value(tmp_path: Path) -> None:
    told = outcomes(tmp_path, [sql("casts", "select cast(email as int) as number from orders")])
    assert told["casts"][0] == "error"
    assert "@x" not in str(told["casts"])


def test_seed2_other_executors_and_rows_out_of_reach_are_told(tmp_path: Path) -> None:
    contract = CONTRACT.replace("data/countries.csv", "data/none.csv")
    told = outcomes(
        tmp_path,
        [
            sql("elsewhere", "select * from orders", dialect="snowflake"),
            sql("away", "select * from countries"),
            sql("here", "select * from orders where false"),
        ],
        contract,
    )
    assert told["elsewhere"] == ("unsupported", None, "nothing here runs SQL of snowflake")
    assert told["away"][:2] == ("not_run", None)
    assert "`data/none.csv` is no Parquet or CSV file of the project" in told["away"][2]
    assert told["here"] == ("passed", 0, None)


@pytest.mark.parametrize("location", ["../outside.parquet", "/etc/passwd"])
def test_no_file_outside_the_project_is_read(tmp_path: Path, location: str) -> None:
    pq.write_table(pa.table({"id": [1]}), tmp_path / "outside.parquet")
    contract = CONTRACT.replace("data/countries.csv", location)
    told = outcomes(tmp_path / "p", [sql("away", "select * from countries")], contract)
    assert told["away"][0] == "not_run"
    assert "outside the project" in told["away"][2]


def test_seed2_a_failing_blocking_test_keeps_from_promotion(tmp_path: Path) -> None:
    rows(tmp_path)
    tests = [expects("positive", type="range", column="amount", min=0)]
    checked(tmp_path, {PLACE: f"{CONTRACT}tests: {json.dumps(tests)}\n"})
    committed(tmp_path)
    code, _, err = run("publish", "--project", str(tmp_path), "--by", "ana")
    assert code == 1
    assert "the blocking test `positive` of `shop.orders` failed: a row is wrong" in " ".join(err.split())
    assert not (tmp_path / "contracts" / ".promotions").exists()
    assert not list((tmp_path / ".generated").rglob("*.json"))
    assert git(tmp_path, "status", "--porcelain", "contracts", "data") == ""
    code, out, err = run("test", "--project", str(tmp_path))
    assert (code, err) == (1, "1 test: 1 failed, 0 not run\n")
    assert out.startswith("failed       shop.orders  positive (blocking): a row is wrong, for instance id = 2")
    (tmp_path / PLACE).write_text((tmp_path / PLACE).read_text().replace('"blocking"', '"degrading"'))
    committed(tmp_path)
    assert run("publish", "--project", str(tmp_path), "--by", "ana")[0] == 0
    view = json.loads((tmp_path / ".generated/contracts/current/views/shop/orders.json").read_text())
    assert (view["status"]["state"], view["tests"][0]["offenders"]) == ("degraded", 1)


HIDDEN = frozenset({"email"})


@pytest.mark.parametrize(
    ("query", "columns", "masked"),
    [
        ("select id, email from o", ["id", "email"], {"email"}),
        ("select * from o", ["id", "EMAIL"], {"EMAIL"}),
        ("select email as x, id from o", ["x", "id"], {"x"}),
        ("select upper(email) as x, id + 1 as y from o", ["x", "y"], {"x"}),
        ("select email as x, x as y from o", ["x", "y"], {"x", "y"}),
        ("select * replace (email as id) from o", ["id", "email"], {"id", "email"}),
        ("select * exclude (email) from o", ["id"], set()),
        ("select id from o union all select email from o", ["id"], {"id"}),
        ("select a from (select email as a from o)", ["a"], {"a"}),
        ("select a from o as t(a, b)", ["a"], {"a"}),
        ("select o from o", ["o"], {"o"}),
        ("with c as (select id from o) select * from c", ["id"], {"id"}),
        ("select columns('e.*') from o", ["email"], {"email"}),
        ("select count(*) as n from o", ["n"], set()),
        ("select #2 as r from o", ["r"], {"r"}),
        ("select t.email.x as z from o t", ["z"], {"z"}),
        ("select v from o unpivot (v for n in (email))", ["v"], {"v"}),
        ("select row(o.*) as r from o", ["r"], {"r"}),
        ("select id, (select max(email) from o) as m from o", ["id", "m"], {"id", "m"}),
        ("select x: email from o", ["x"], {"x"}),
    ],
)
def test_values_of_classified_columns_are_masked_by_whatever_name(
    query: str, columns: list[str], masked: set[str]
) -> None:
    assert masked_columns(query, HIDDEN, columns) == masked


def test_nothing_is_masked_where_nothing_is_classified() -> None:
    assert masked_columns("select * from (select 1)", frozenset(), ["1"]) == frozenset()


@pytest.fixture
def table(tmp_path: Path) -> ParquetTable:
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "t.parquet")
    return ParquetTable((tmp_path / "t.parquet",), ())


def test_a_query_reads_the_tables_that_are_named_and_nothing_else(tmp_path: Path, table: ParquetTable) -> None:
    answer = ask("select a from t where a > 1", {"t": table}, EngineSettings(), seconds=60, samples=1)
    assert (answer.rows, answer.columns, answer.samples) == (2, ("a",), ((2,),))
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for query in (
        f"select * from read_csv('{tmp_path}/secret.csv')",
        f"select * from '{tmp_path}/secret.csv'",
        "select * from duckdb_secrets() where load_aws_credentials()",
        "select 1; select 2",
        "create table x as select 1",
        f"copy (select 1) to '{tmp_path}/written.csv'",
        "set enable_external_access = true",
        "",
    ):
        with pytest.raises(StrataError):
            ask(query, {"t": table}, EngineSettings(), seconds=60, samples=1)
    assert not (tmp_path / "written.csv").exists()


def test_a_query_is_bounded_in_time(table: ParquetTable) -> None:
    endless = "select count(*) from range(1000000000) a, range(1000000000) b where a.range % 7 = b.range % 11"
    with pytest.raises(StrataError) as told:
        ask(endless, {"t": table}, EngineSettings(), seconds=0.2, samples=1)
    assert told.value.diagnostics[0].code == "E091"
    assert "took longer than 0.2 seconds" in told.value.diagnostics[0].message


def test_a_table_of_a_database_file_is_read_and_not_written(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("create table main.t as select 5 as a")
    database = {"t": DuckDBTable(tmp_path / "d.duckdb", "main.t", ())}
    assert ask("select a from t", database, EngineSettings(), seconds=60, samples=3).samples == ((5,),)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("sales.t", "from sales.t"),
        ("sales.t", 'from "sales.t"'),
        ("sales.t", 'from "SALES".T'),
        ("sales.t", "with x as (from sales.t) from x"),
        ("shop.sales.t", "from shop.sales.t"),
        ("main.t", "from t"),
    ],
)
def test_a_table_is_named_with_its_schema(tmp_path: Path, name: str, query: str) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("create table t as select 5 as a")
    pq.write_table(pa.table({"a": [5]}), tmp_path / "t.parquet")
    for rows in (DuckDBTable(tmp_path / "d.duckdb", "main.t", ()), ParquetTable((tmp_path / "t.parquet",), ())):
        assert ask(query, {name: rows}, EngineSettings(), seconds=60, samples=1).samples == ((5,),)


@pytest.mark.parametrize(
    "query",
    [
        "select * from __strata_source_0.secret",
        "select * from t where exists (from __strata_source_0.main.secret)",
        "select (select max(b) from __strata_source_0.secret) as b",
        "select count(*) from __strata_source_0.secret",
        "from query_table('__strata_source_0.secret')",
        "from query('from __strata_source_0.secret')",
        "from (describe __strata_source_0.secret)",
    ],
)
def test_no_other_table_of_a_database_file_is_named(tmp_path: Path, query: str) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("create table t as select 5 as a, 'x'::enum('x', 'y') as kind, {'b c': [1]} as parts")
        connection.execute("create table secret as select 7 as b")
    database = {"t": DuckDBTable(tmp_path / "d.duckdb", "main.t", ())}
    assert ask("select * from t", database, EngineSettings(), seconds=60, samples=1).rows == 1
    with pytest.raises(StrataError) as told:
        ask(query, database, EngineSettings(), seconds=60, samples=1)
    assert told.value.diagnostics[0].code == "E140"


def test_what_a_query_makes_itself_is_no_asset_that_has_to_be_in_reach(tmp_path: Path) -> None:
    text = "with countries as (select 'DE' as code) select id from orders, countries where id < 0"
    rows(tmp_path)
    (tmp_path / "data/countries.csv").unlink()
    found = checked(tmp_path, {PLACE: f"{CONTRACT}tests: {json.dumps([sql('own', text)])}\n"})
    seen = run_tests(found, ReachableTables(tmp_path, found.setting.config), NOW).tests
    assert [(t.test, t.outcome, t.message) for t in seen] == [("own", "passed", None)]


def test_a_test_is_listed_with_the_asset_that_it_reads_in_whatever_dialect(tmp_path: Path) -> None:
    tests = [
        sql("brackets", "select top 5 [people] from [countries] where [people] < 0", dialect="tsql"),
        sql("no_sql", "select from where", dialect="tsql"),
        sql("own", "with orders as (select code from countries) select code from orders where code is null"),
    ]
    found = checked(tmp_path, {PLACE: f"{CONTRACT}tests: {json.dumps(tests)}\n"})
    assert [(a.asset, [t.id for t in a.tests]) for a in covered(found.setting)] == [
        ("orders", ["no_sql"]),
        ("countries", ["brackets", "own"]),
    ]
