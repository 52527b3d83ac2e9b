"""`Down(m, c)` (Seed 0 §5 B): value impact and row impact, over one project and over several."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from strata_core.lineage.graph import LineageGraph, lineage_graph
from strata_core.lineage.tables import ColumnId, Table, TableId, TableKind, project_tables
from strata_core.relation.schema import Origin, Role, RowEdge

from .projects import ORDERS, column, compiled, graph, rows, values


def test_seed0_s5b_down_names_every_column_whose_origin_includes_it() -> None:
    reach = graph(ORDERS).down(column("orders.amount"))
    assert values(reach) == {
        "paid.euros": "passthrough",
        "named.euros": "passthrough",
        "by_country.total": "aggregated",
        "shares.mean": "derived",
    }


def test_seed0_s5b_down_tells_rows_from_values() -> None:
    reach = graph(ORDERS).down(column("orders.amount"))
    assert rows(reach) == {
        "paid": "filter orders.amount",
        "named": "reads paid",
        "by_country": "reads paid",
        "shares": "reads by_country",
    }
    assert values(graph(ORDERS).down(column("orders.placed"))) == {"paid.placed": "passthrough"}
    assert rows(graph(ORDERS).down(column("orders.placed"))) == {}


def test_a_join_key_decides_about_the_rows_of_the_join_alone() -> None:
    reach = graph(ORDERS).down(column("customers.customer_id"))
    assert (values(reach), rows(reach)) == ({}, {"named": "join customers.customer_id"})


def test_the_condition_of_a_value_decides_about_no_row() -> None:
    text = ORDERS + 'model flagged { from paid select { order_id, size = if(euros > 9.00, "big", "small") } }'
    reach = graph(text).down(column("paid.euros"))
    assert values(reach)["flagged.size"] == "derived"
    assert "flagged" not in rows(reach)


def test_a_depth_ends_the_walk() -> None:
    reach = graph(ORDERS).down(column("orders.amount"), depth=1)
    assert (values(reach), rows(reach)) == ({"paid.euros": "passthrough"}, {"paid": "filter orders.amount"})


def test_up_gives_the_edges_towards_the_sources() -> None:
    found = {(e.origin.table.name, e.origin.column, e.transform.value) for e in graph(ORDERS).up(column("shares.mean"))}
    assert found == {
        ("by_country", "n", "derived"),
        ("by_country", "total", "derived"),
        ("paid", "euros", "aggregated"),
        ("orders", "amount", "passthrough"),
    }


def test_down_crosses_projects_that_share_a_store() -> None:
    reader = """
    source totals(store: "by_country") { columns: { country: string nonnull, total: decimal(38,2) } }
    model top { from totals filter total > 10.00 select { country, total } }
    """
    both = lineage_graph(
        project_tables("shop", compiled(ORDERS)),
        project_tables("board", compiled(reader)),
    )
    reach = both.down(column("orders.amount"))
    assert {c.table.project for c in reach.columns} == {"shop", "board"}
    assert values(reach)["board:top.total"] == "passthrough"
    assert rows(reach)["top"] == "filter totals.total"


def test_a_name_that_two_projects_have_takes_a_namespace() -> None:
    reader = """
    source t(ns: "b", dataset: "m") { columns: { x: int64 } }
    model r { from t }
    """
    own = 'source s(csv: "s.csv") { columns: { x: int64 } } model m { from s }'
    parts = [project_tables(name, compiled(own)) for name in ("a", "b")]
    whole = lineage_graph(*parts, project_tables("c", compiled(reader)))
    assert [e.origin.table.project for e in whole.up(column("r.x", "c"))] == ["c", "b", "b"]
    nameless = lineage_graph(*parts, project_tables("c", compiled(reader.replace('ns: "b", ', ""))))
    assert [e.origin.table.project for e in nameless.up(column("r.x", "c"))] == ["c"]


def test_projects_that_read_each_other_are_walked_once() -> None:
    a = project_tables("a", compiled('source s(store: "mb") { columns: { x: int64 } } model ma { from s }'))
    b = project_tables("b", compiled('source s(store: "ma") { columns: { x: int64 } } model mb { from s }'))
    reach = lineage_graph(a, b).down(column("ma.x", "a"))
    assert [(c.table.project, c.table.name) for c in reach.columns] == [("b", "s"), ("b", "mb"), ("a", "s")]


def diamond(depth: int) -> LineageGraph:
    """Each layer reads the one above twice: paths are 2^depth, edges 2·depth."""
    tables = [Table(TableId("p", "t0"), TableKind.SOURCE, {"x": ("", ())})]
    for level in range(1, depth + 1):
        above = f"t{level - 1}"
        for side in "lr":
            columns = {"x": ("", (Origin(above, "x"),))}
            tables.append(Table(TableId("p", f"{side}{level}"), TableKind.MODEL, columns, reads=(above,)))
        origins = (Origin(f"l{level}", "x"), Origin(f"r{level}", "x"))
        reads = (f"l{level}", f"r{level}")
        tables.append(Table(TableId("p", f"t{level}"), TableKind.MODEL, {"x": ("", origins)}, reads=reads))
    return lineage_graph(tables)


def test_a_diamond_of_two_to_the_thousand_paths_is_walked_once() -> None:
    deep = diamond(1000)
    assert len(deep.down(column("t0.x", "p")).columns) == 3000
    assert len(deep.up(column("t1000.x", "p"))) == 4000


@st.composite
def layered(draw: st.DrawFn) -> list[Table]:
    """Tables that read earlier ones, with edges of both sorts."""
    tables: list[Table] = []
    for number in range(draw(st.integers(1, 6))):
        above = [(t.id.name, c) for t in tables for c in t.columns]
        some = st.lists(st.sampled_from(above), max_size=3, unique=True) if above else st.just([])
        columns = {f"c{i}": ("", tuple(Origin(*o) for o in draw(some))) for i in range(draw(st.integers(1, 3)))}
        edges = frozenset(RowEdge(*e, draw(st.sampled_from(Role))) for e in draw(some))
        reads = {o.node for _, found in columns.values() for o in found} | {e.node for e in edges}
        kind = TableKind.MODEL if above else TableKind.SOURCE
        tables.append(Table(TableId("p", f"t{number}"), kind, columns, edges, tuple(sorted(reads))))
    return tables


@given(layered())
def test_law_down_is_the_transitive_closure_of_the_edges(tables: list[Table]) -> None:
    """The oracle asks of every column whether some path upwards meets the start."""
    found = lineage_graph(tables)
    columns = [ColumnId(t.id, c) for t in tables for c in t.columns]
    origins = {ColumnId(t.id, c): list(given) for t in tables for c, (_, given) in t.columns.items()}

    def comes_from(column: ColumnId, start: ColumnId) -> bool:
        queue = deque([column])
        while queue:
            for origin in origins[queue.popleft()]:
                above = ColumnId(TableId("p", origin.node), origin.column)
                if above == start:
                    return True
                queue.append(above)
        return False

    for start in columns:
        reach = found.down(start)
        assert set(reach.columns) == {c for c in columns if comes_from(c, start)}
        touched = {start, *reach.columns}
        expected = {
            t.id
            for t in tables
            if any(
                e.role is not Role.CONDITIONAL and ColumnId(TableId("p", e.node), e.column) in touched for e in t.edges
            )
        }
        for table in tables:  # each after what it reads
            if any(TableId("p", name) in expected for name in table.reads):
                expected.add(table.id)
        assert {r.table for r in reach.rows} == expected
