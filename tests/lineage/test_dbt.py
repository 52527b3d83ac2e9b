"""dbt models in the graph: read from a manifest, crossed on the way from Strata to dbt and back."""

from __future__ import annotations

from typing import Any

import pytest

from strata_core.diagnostics import Diagnostic
from strata_core.lineage.dbt import dbt_tables
from strata_core.lineage.graph import LineageGraph, lineage_graph
from strata_core.lineage.tables import Table, project_tables
from strata_core.relation.schema import Role

from .projects import column, compiled, rows, values


def node(kind: str, name: str, **rest: Any) -> dict[str, Any]:
    relation = f'"db"."main"."{name}"'
    return {"resource_type": kind, "name": name, "columns": {}, "meta": {}, "relation_name": relation, **rest}


def model(name: str, sql: str, *above: str, **rest: Any) -> dict[str, Any]:
    return node("model", name, compiled_code=sql, depends_on={"nodes": list(above)}, **rest)


def source(name: str, of: str = "raw", **rest: Any) -> dict[str, Any]:
    return node("source", name, source_name=of, identifier=name, **rest)


def manifest(nodes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "metadata": {"adapter_type": "duckdb"},
        "nodes": {k: n for k, n in nodes.items() if n["resource_type"] != "source"},
        "sources": {k: n for k, n in nodes.items() if n["resource_type"] == "source"},
    }


RAW = {
    "source.p.raw.orders": source("orders"),
    "seed.p.rates": node("seed", "rates", columns={"rate": {"data_type": "double"}}),
}
STAGED = model(
    "stg_orders",
    'select id, amount * rate as euros from "db"."main"."orders", "db"."main"."rates" where "orders".kind = 1',
    "source.p.raw.orders",
    "seed.p.rates",
    columns={"id": {"data_type": "bigint"}, "euros": {"data_type": "double"}},
)
STRATA = """
source staged(dbt: "stg_orders") { columns: { id: int64 primary_key, euros: float64 nonnull } }
model totals { owner: "finance" from staged filter id > 0 aggregate { sum_ = sum(euros) } }
"""
REPORT = model("report", 'select sum_ * 2 as double_sum from "db"."main"."totals"', "source.p.strata.totals")


def read(
    nodes: dict[str, dict[str, Any]], catalog: dict[str, Any] | None = None
) -> tuple[dict[str, Table], list[Diagnostic]]:
    found: list[Diagnostic] = []
    tables = dbt_tables(manifest(nodes), catalog, {"totals": ["sum_"]}, found.append)
    return {t.id.name: t for t in tables}, found


def whole(nodes: dict[str, dict[str, Any]]) -> LineageGraph:
    tables, found = read(nodes)
    assert found == []
    return lineage_graph(project_tables("shop", compiled(STRATA)), tables.values())


def test_a_model_comes_from_what_its_sql_says() -> None:
    tables, found = read(RAW | {"model.p.stg_orders": STAGED})
    assert found == []
    staged = tables["stg_orders"]
    assert staged.inferred
    assert {n: [f"{o.node}.{o.column} {o.transform}" for o in os] for n, (_, os) in staged.columns.items()} == {
        "id": ["raw.orders.id passthrough"],
        "euros": ["rates.rate derived", "raw.orders.amount derived"],
    }
    assert [(e.node, e.column, e.role) for e in staged.edges] == [("raw.orders", "kind", Role.FILTER)]
    assert sorted(tables["raw.orders"].columns) == ["amount", "id", "kind"]


@pytest.mark.parametrize(
    "told",
    [
        {"of": "strata"},
        {"meta": {"strata": "totals"}},
        {"config": {"meta": {"strata": {"project": "shop", "model": "totals"}}}},
        {"meta": {"dagster": {"asset_key": ["marts", "totals"]}}},
    ],
)
def test_down_crosses_dbt_to_strata_to_dbt(told: dict[str, Any]) -> None:
    read_back = {"source.p.strata.totals": source("totals", **told), "model.p.report": REPORT}
    reach = whole(RAW | {"model.p.stg_orders": STAGED} | read_back).down(column("raw.orders.amount", "dbt"))
    assert [c.table.name for c in reach.columns] == [
        "stg_orders",
        "staged",
        "totals",
        f"{told.get('of', 'raw')}.totals",
        "report",
    ]
    assert values(reach)["dbt:report.double_sum"] == "derived"
    assert [e.inferred for e in reach.values] == [True, False, False, False, True]
    assert rows(whole(RAW | {"model.p.stg_orders": STAGED} | read_back).down(column("raw.orders.id", "dbt")))["report"]


def test_the_catalog_knows_columns_that_nobody_documents() -> None:
    star = model("all_orders", 'select * from "db"."main"."orders"', "source.p.raw.orders")
    catalog = {
        "sources": {"source.p.raw.orders": {"columns": {"id": {"type": "BIGINT"}, "kind": {"type": "INT"}}}},
        "nodes": {},
    }
    tables, found = read(RAW | {"model.p.all_orders": star}, catalog)
    assert found == []
    assert [*tables["all_orders"].columns] == ["id", "kind"]
    assert tables["raw.orders"].columns["id"][0] == "BIGINT"


def test_what_is_written_is_read_where_nothing_is_compiled() -> None:
    raw = (
        "{{ config(materialized='table') }} {# why #} "
        "select id from {{ source('raw', 'orders') }} o join {{ ref('rates') }} r on true"
    )
    plain = node("model", "m", raw_code=raw, depends_on={"nodes": ["source.p.raw.orders", "seed.p.rates"]})
    tables, found = read(RAW | {"model.p.m": plain})
    assert found == []
    assert [(o.node, o.column) for o in tables["m"].columns["id"][1]] == [("raw.orders", "id")]


LOST: dict[str, tuple[dict[str, Any], str]] = {
    "jinja": (
        {"compiled_code": "", "raw_code": "select {{ star() }} from x"},
        "it is not compiled, and its Jinja is more",
    ),
    "python": ({"compiled_code": "", "language": "python", "raw_code": "def model(): ..."}, "it is written in python"),
    "syntax": ({"compiled_code": "select from from"}, "its SQL does not parse at line 1, column 1"),
    "nothing": ({"compiled_code": "", "raw_code": ""}, "its SQL does not parse"),
    "depth": ({"compiled_code": "select " + "(" * 5000 + "1" + ")" * 5000}, "beyond what is understood"),
}


@pytest.mark.parametrize(("rest", "why"), LOST.values(), ids=LOST)
def test_sql_that_cannot_be_traced_degrades_to_its_tables(rest: dict[str, Any], why: str) -> None:
    """Nothing is lost: whatever its tables have is taken to reach it."""
    lost = node(
        "model",
        "lost",
        depends_on={"nodes": ["seed.p.rates"]},
        columns={"v": {"data_type": "int"}},
        original_file_path="models/lost.sql",
        **rest,
    )
    tables, found = read(RAW | {"model.p.lost": lost})
    (one,) = found
    assert (one.code, one.blocks) == ("W030", False)
    assert why in one.message
    assert one.notes == ("it is written in models/lost.sql",)
    assert [*tables["lost"].columns] == ["v"]
    assert tables["lost"].reads == ("rates",)
    reach = lineage_graph(tables.values()).down(column("rates.rate", "dbt"))
    assert rows(reach) == {"lost": "read rates.rate"}


def test_models_are_told_after_what_they_read_however_deep() -> None:
    nodes = {f"model.p.m{i}": model(f"m{i}", "", f"model.p.m{i + 1}", raw_code="{% x %}") for i in range(3000)}
    tables, _ = read(nodes | {"model.p.m3000": node("seed", "m3000")})
    assert [*tables] == [f"m{i}" for i in range(3000, -1, -1)]


def test_models_that_depend_on_each_other_in_a_circle_come_to_an_end() -> None:
    nodes = {
        "model.p.self": model("self", 'select x from "db"."main"."self"', "model.p.self", columns={"x": {}}),
        "model.p.a": model("a", 'select x from "db"."main"."b"', "model.p.b", columns={"x": {}}),
        "model.p.b": model("b", 'select x from "db"."main"."a"', "model.p.a", columns={"x": {}}),
    }
    found, _ = read(nodes)
    assert {name: list(table.columns) for name, table in found.items()} == {"self": ["x"], "b": ["x"], "a": ["x"]}
    assert next(iter(found["a"].columns["x"][1])).node == "b"
