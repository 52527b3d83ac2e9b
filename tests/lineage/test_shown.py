"""Lineage as a tree, as Mermaid, Graphviz, JSON and OpenLineage."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from strata_core.diagnostics import StrataError
from strata_core.lineage import drawing, exchange, openlineage
from strata_core.lineage.graph import LineageGraph, lineage_graph
from strata_core.lineage.selection import Selection, Way, find, select
from strata_core.lineage.tables import Table, TableId, TableKind
from strata_core.relation.schema import Origin

from .projects import ORDERS, graph


def selected(what: str, way: Way = Way.UP, depth: int | None = None, of: LineageGraph | None = None) -> Selection:
    of = of or graph(ORDERS)
    return select(of, find(of, "shop", what), way, depth)


def test_a_tree_upwards() -> None:
    assert list(drawing.draw(selected("shares.mean"), "shop")) == [
        "shares.mean  float64 nonnull",
        "├─ derived  by_country.n  int64 nonnull",
        "└─ derived  by_country.total  decimal(10,2) nonnull",
        "   └─ aggregated  paid.euros  decimal(10,2) nonnull",
        "      └─ passthrough  orders.amount  decimal(10,2) nonnull",
    ]


def test_a_joined_column_says_so_and_the_rows_are_told_below() -> None:
    assert list(drawing.draw(selected("named.mail"), "shop")) == [
        "named.mail  string",
        "└─ derived joined  customers.email  string",
        "rows of named",
        "├─ joined  customers.customer_id",
        "└─ joined  paid.customer_id",
    ]


def test_a_tree_downwards() -> None:
    assert list(drawing.draw(selected("orders.amount", Way.DOWN), "shop")) == [
        "orders.amount  decimal(10,2) nonnull",
        "└─ passthrough  paid.euros  decimal(10,2) nonnull",
        "   ├─ passthrough  named.euros  decimal(10,2) nonnull",
        "   └─ aggregated  by_country.total  decimal(10,2) nonnull",
        "      └─ derived  shares.mean  float64 nonnull",
        "rows that change with it",
        "├─ paid  filtered by orders.amount",
        "├─ named  reads paid",
        "├─ by_country  reads paid",
        "└─ shares  reads by_country",
    ]


def test_all_of_a_table_downwards_reaches_all_that_read_it() -> None:
    lines = list(drawing.draw(selected("customers", Way.DOWN), "shop"))
    assert lines[-2:] == ["rows that change with it", "└─ named  joined by customers.customer_id"]


def test_what_was_drawn_is_not_drawn_again() -> None:
    def model(name: str, *above: str) -> Table:
        origins = tuple(Origin(a, "x") for a in above)
        return Table(TableId("shop", name), TableKind.MODEL, {"x": ("", origins)}, reads=above)

    diamond = lineage_graph([model("a"), model("b", "a"), model("c", "b"), model("d", "b"), model("e", "c", "d")])
    assert list(drawing.draw(selected("e.x", of=diamond), "shop")) == [
        "e.x",
        "├─ passthrough  c.x",
        "│  └─ passthrough  b.x",
        "│     └─ passthrough  a.x",
        "└─ passthrough  d.x",
        "   └─ passthrough  b.x  (above)",
    ]


def test_colours_tell_kinds_on_a_terminal() -> None:
    lines = list(drawing.draw(selected("by_country.total", depth=1), "shop", drawing.coloured))
    assert lines[1] == "└─ \x1b[35maggregated\x1b[0m  paid.euros  \x1b[2mdecimal(10,2) nonnull\x1b[0m"


def test_a_mermaid_chart() -> None:
    assert list(exchange.mermaid(selected("by_country.total", depth=1), "shop")) == [
        "flowchart LR",
        '  subgraph t0["by_country"]',
        '    c0["total"]',
        "  end",
        '  subgraph t1["paid"]',
        '    c1["euros"]',
        '    c2["country"]',
        "  end",
        "  c1 -->|aggregated| c0",
        "  c2 -.->|grouped| t0",
    ]


def test_a_graphviz_graph() -> None:
    assert list(exchange.dot(selected("by_country.total", depth=1), "shop"))[2:] == [
        '  subgraph cluster_t0 { label="by_country"; t0 [label=rows, style=dashed]; c0 [label="total"]; }',
        '  subgraph cluster_t1 { label="paid"; t1 [label=rows, style=dashed];'
        ' c1 [label="euros"]; c2 [label="country"]; }',
        '  c1 -> c0 [label="aggregated"];',
        '  c2 -> t0 [label="grouped", style=dashed];',
        "}",
    ]


def test_names_cannot_break_out_of_a_chart() -> None:
    evil = 'a"]\n x --> y'
    table = Table(TableId("shop", "t"), TableKind.MODEL, {evil: ("", ())})
    lines = list(exchange.mermaid(selected("t", of=lineage_graph([table])), "shop"))
    assert lines[2] == '    c0["a#34;#93;#10; x --#62; y"]'


def test_json_has_both_sorts_of_edges() -> None:
    document = exchange.as_json(selected("by_country.total", depth=1))
    assert document["values"] == [
        {
            "from": {"project": "shop", "table": "paid", "column": "euros"},
            "to": {"project": "shop", "table": "by_country", "column": "total"},
            "kind": "aggregated",
            "joined": False,
            "inferred": False,
        }
    ]
    assert document["rows"] == [
        {
            "from": {"project": "shop", "table": "paid", "column": "country"},
            "to": {"project": "shop", "table": "by_country"},
            "role": "group",
            "inferred": False,
        }
    ]
    assert [t["owner"] for t in document["tables"]] == ["finance", "sales"]


def test_openlineage_says_direct_at_the_field_and_indirect_once_for_the_dataset() -> None:
    now = datetime(2026, 11, 30, tzinfo=UTC)
    found = graph(ORDERS)
    (event,) = openlineage.events(found, [TableId("shop", "by_country"), TableId("shop", "orders")], now)
    assert (event["eventTime"], event["job"]["name"]) == ("2026-11-30T00:00:00Z", "by_country")
    assert event["schemaURL"] == "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"
    assert [(d["namespace"], d["name"]) for d in event["inputs"]] == [("strata://shop", "paid")]
    (output,) = event["outputs"]
    lineage = output["facets"]["columnLineage"]
    assert lineage["_schemaURL"] == (
        "https://openlineage.io/spec/facets/1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet"
    )
    assert lineage["_producer"] == "urn:strata"

    def field(name: str, type_: str, subtype: str, said: str = "") -> dict[str, object]:
        transformation = {"type": type_, "subtype": subtype, "description": said, "masking": False}
        return {"namespace": "strata://shop", "name": "paid", "field": name, "transformations": [transformation]}

    assert lineage["fields"] == {
        "country": {"inputFields": [field("country", "DIRECT", "IDENTITY", "grouped")]},
        "total": {"inputFields": [field("euros", "DIRECT", "AGGREGATION", "aggregated")]},
        "n": {"inputFields": []},
    }
    assert lineage["dataset"] == [field("country", "INDIRECT", "GROUP_BY")]
    assert output["facets"]["schema"]["fields"][2] == {"name": "n", "type": "int64 nonnull"}


def test_names_may_hold_dots() -> None:
    columns = {"a.b": ("", ()), "b": ("", ())}
    dotted = lineage_graph([Table(TableId("shop", "t.a"), TableKind.MODEL, columns)])
    assert [c.column for c in find(dotted, "shop", "t.a")] == ["a.b", "b"]
    assert [c.column for c in find(dotted, "shop", "t.a.a.b")] == ["a.b"]
    assert [c.column for c in find(dotted, "shop", "t.a.b")] == ["b"]


@pytest.mark.parametrize(
    ("text", "code", "fix"),
    [
        ("by_contry", "E027", "did you mean `by_country`?"),
        ("by_contry.total", "E027", "did you mean `by_country`?"),
        ("by_country.totl", "E021", "did you mean `total`?"),
        ("dbt:orders", "E027", "known are none"),
        ("", "E027", "known are by_country, customers, named, orders, paid, shares"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(text: str, code: str, fix: str) -> None:
    with pytest.raises(StrataError) as raised:
        find(graph(ORDERS), "shop", text)
    assert (raised.value.diagnostics[0].code, raised.value.diagnostics[0].fix) == (code, fix)
