"""Projects as text, and their lineage graphs."""

from __future__ import annotations

from strata_core.analysis import CompiledProject, compile_project
from strata_core.language.parser import parse_module
from strata_core.lineage.graph import LineageGraph, Reach, lineage_graph
from strata_core.lineage.selection import spelled_column
from strata_core.lineage.tables import ColumnId, TableId, project_tables

ORDERS = """
source orders(csv: "orders.csv") {
  columns: {
    order_id: int64 primary_key, customer_id: int64, country: string nonnull,
    amount: decimal(10,2) nonnull, placed: date,
  }
}
source customers(csv: "customers.csv") { columns: { customer_id: int64 primary_key, email: string } }
model paid {
  owner: "sales"
  from orders
  filter amount > 0.00
  select { order_id, customer_id, country, euros = amount, placed }
}
model named {
  from paid
  join_left customers on paid.customer_id == customers.customer_id
  select { order_id, mail = upper(customers.email), euros }
}
model by_country {
  owner: "finance"
  from paid
  group { country } ( aggregate { total = sum(euros), n = count() } )
}
model shares { from by_country derive { mean = total / n } select { country, mean } }
"""


def compiled(*texts: str) -> CompiledProject:
    """The project of these modules, which must parse and be sound."""
    found = loose(*texts)
    assert [d for d in found.diagnostics if d.blocks] == []
    return found


def loose(*texts: str) -> CompiledProject:
    """The project of these modules, which must parse."""
    parsed = [parse_module(text, f"m{number}.strata") for number, text in enumerate(texts)]
    assert [d for p in parsed for d in p.diagnostics] == []
    return compile_project([p.module for p in parsed])


def graph(*texts: str, name: str = "shop") -> LineageGraph:
    return lineage_graph(project_tables(name, compiled(*texts)))


def column(text: str, project: str = "shop") -> ColumnId:
    table, _, name = text.rpartition(".")
    return ColumnId(TableId(project, table), name)


def values(reach: Reach, project: str = "shop") -> dict[str, str]:
    """The columns that are reached by value, each with the kind of the edge that leads there."""
    return {spelled_column(e.to, project): e.transform.value for e in reach.values}


def rows(reach: Reach) -> dict[str, str]:
    """The tables whose rows are reached, each with what decides about them."""
    found = {}
    for table, edge, through in reach.rows:
        found[table.name] = (
            f"{edge.role} {edge.origin.table.name}.{edge.origin.column}" if edge else f"reads {through.name}"
        )
    return found
