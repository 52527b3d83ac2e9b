"""Manifests of any adapter: no adapter is asked, and `Down` crosses from dbt to Strata and back whatever its SQL is."""

from __future__ import annotations

from typing import Any

import pytest

from strata_core.lineage.dbt import dbt_tables
from strata_core.lineage.graph import lineage_graph
from strata_core.lineage.tables import project_tables

from .projects import column, compiled, values

STRATA = """
source staged(dbt: "stg_orders") { columns: { id: int64 primary_key, euros: float64 nonnull } }
model totals { owner: "finance" from staged aggregate { sum_ = sum(euros) } }
"""
# As each adapter spells names, quotes them, and writes its SQL.
SPELLED: dict[str, tuple[str, str, str, str]] = {
    "snowflake": (
        "SHOP.RAW.ORDERS",
        "select id, amount::float * 2 as euros from SHOP.RAW.ORDERS qualify row_number() over (partition by id "
        "order by loaded_at desc) = 1",
        "SHOP.MARTS.TOTALS",
        'select sum_ as "DOUBLE_SUM" from SHOP.MARTS.TOTALS',
    ),
    "bigquery": (
        "`shop`.`raw`.`orders`",
        "select id, safe_cast(amount as float64) as euros from `shop`.`raw`.`orders`",
        "`shop`.`marts`.`totals`",
        "select sum_ as double_sum from `shop`.`marts`.`totals`",
    ),
    "postgres": (
        '"shop"."raw"."orders"',
        'select id, amount::double precision as euros from "shop"."raw"."orders" where amount is not null',
        '"shop"."marts"."totals"',
        'select sum_ as double_sum from "shop"."marts"."totals"',
    ),
    "sqlserver": (
        '"shop"."raw"."orders"',
        'select top 10 [id], try_cast([amount] as float) as euros from "shop"."raw"."orders"',
        '"shop"."marts"."totals"',
        'select [sum_] as double_sum from "shop"."marts"."totals"',
    ),
    "an_adapter_that_nobody_knows": (
        "shop.raw.orders",
        "select id, cast(amount as double) as euros from shop.raw.orders",
        "shop.marts.totals",
        "select sum_ as double_sum from shop.marts.totals",
    ),
}


def node(kind: str, name: str, relation: str, **rest: Any) -> dict[str, Any]:
    return {"resource_type": kind, "name": name, "columns": {}, "meta": {}, "relation_name": relation, **rest}


def manifest(adapter: str, version: int) -> dict[str, Any]:
    raw, staged, totals, report = SPELLED[adapter]
    schema = f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"
    documented = {"ID": {"data_type": "NUMBER(38,0)"}} if adapter == "snowflake" else {"id": {"data_type": "bigint"}}
    return {
        "metadata": {"adapter_type": adapter, "dbt_schema_version": schema},
        "nodes": {
            "model.p.stg_orders": node(
                "model", "stg_orders", raw.lower().replace("orders", "stg_orders"), compiled_code=staged,
                depends_on={"nodes": ["source.p.raw.orders"]}, columns=documented,
            ),
            "model.p.report": node(
                "model", "report", totals.lower().replace("totals", "report"), compiled_code=report,
                depends_on={"nodes": ["source.p.strata.totals"]},
            ),
        },
        "sources": {
            "source.p.raw.orders": node("source", "orders", raw, source_name="raw", identifier="orders"),
            "source.p.strata.totals": node("source", "totals", totals, source_name="strata", identifier="totals"),
        },
    }  # fmt: skip


@pytest.mark.parametrize("version", [10, 11, 12])
@pytest.mark.parametrize("adapter", SPELLED)
def test_seed0_s5b_down_crosses_the_boundary_to_dbt_of_any_adapter(adapter: str, version: int) -> None:
    found: list[Any] = []
    tables = dbt_tables(manifest(adapter, version), None, {"totals": ["sum_"]}, found.append)
    assert found == []
    staged = next(t for t in tables if t.id.name == "stg_orders")
    assert {name: [(o.node, o.column) for o in origins] for name, (_, origins) in staged.columns.items()} == {
        "id": [("raw.orders", "id")],
        "euros": [("raw.orders", "amount")],
    }
    graph = lineage_graph(project_tables("shop", compiled(STRATA)), tables)
    reach = values(graph.down(column("raw.orders.amount", "dbt")))
    assert reach == {
        "dbt:stg_orders.euros": "derived",
        "staged.euros": "passthrough",
        "totals.sum_": "aggregated",
        "dbt:strata.totals.sum_": "passthrough",
        "dbt:report.double_sum": "passthrough",
    }
