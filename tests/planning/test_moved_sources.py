"""What a plan finds out about the files that it would read (Seed 0 §5 B)."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.planning.moved_sources import moved_sources

PROJECT = """\
source sales({place}) {{
  columns: {{
    id: int64 nonnull primary_key,
    country: string nonnull,
    amount: decimal(8,2),
  }}
}}
model paid {{ from sales }}
"""
GOOD = {"id": pa.array([1]), "country": pa.array(["ES"]), "amount": pa.array([1], pa.decimal128(8, 2))}


def parquet(root, columns):
    pq.write_table(pa.table(columns), root / "sales.parquet")
    return 'parquet: "sales.parquet"'


def csv(root, columns):
    (root / "sales.csv").write_text(",".join(columns) + "\n")
    return 'csv: "sales.csv"'


def database(root, columns):
    table = pa.table(columns)
    with duckdb.connect(root / "sales.duckdb") as connection:
        connection.register("given", table)
        connection.execute("create or replace table sales as from given")
    return 'duckdb: "sales.duckdb"'


@pytest.fixture
def told(empty_shop):
    shop = empty_shop("shop")

    def found(write, columns):
        shop.root.mkdir(exist_ok=True)
        shop.write("models/sales.strata", PROJECT.format(place=write(shop.root, columns)))
        workspace = shop.workspace()
        return [(d.code, d.message, str(d.span)) for d in moved_sources(workspace, workspace.plan())]

    return found


KINDS = pytest.mark.parametrize("write", [parquet, csv, database])


@KINDS
def test_seed0_s5b_a_source_that_is_as_declared(told, write):
    assert told(write, GOOD) == []
    assert told(write, GOOD | {"more": pa.array([1])}) == []


@KINDS
def test_seed0_s5b_e030_a_column_that_is_gone(told, write):
    ((code, message, span),) = told(write, {k: v for k, v in GOOD.items() if k != "country"})
    assert (code, message.split("` has ")[1], span) == ("E030", "no column `country`", "models/sales.strata:4:5")


@KINDS
def test_seed0_s5b_e031_a_column_that_has_another_name(told, write):
    columns = {("nation" if k == "country" else k): v for k, v in GOOD.items()}
    ((code, message, _),) = told(write, columns)
    assert (code, message.split("` has ")[1]) == ("E031", "no column `country`: it seems to be called `nation` now")


@pytest.mark.parametrize("write", [parquet, database])
def test_seed0_s5b_e032_a_column_of_another_type(told, write):
    ((code, message, span),) = told(write, GOOD | {"amount": pa.array([1.5])})
    assert (code, span) == ("E032", "models/sales.strata:5:5")
    assert message.endswith("is double, and declared as decimal(8,2)")


def test_a_column_of_another_type_is_no_new_name(told):
    columns = {k: v for k, v in GOOD.items() if k != "country"} | {"nation": pa.array([1])}
    ((code, _, _),) = told(parquet, columns)
    assert code == "E030"


def test_what_was_looked_at_is_not_looked_at_again(told, monkeypatch):
    first = told(parquet, {k: v for k, v in GOOD.items() if k != "country"})
    monkeypatch.setattr("strata_core.planning.workspace.make_engine", None)
    assert told(parquet, {k: v for k, v in GOOD.items() if k != "country"}) == first
