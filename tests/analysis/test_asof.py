"""`join_asof`: what it types, keeps and refuses, and what its sources declare."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import Severity
from strata_core.relation.nodes import AsofJoin, walk_relation

from .programs import findings, marked, model, outputs, project, text_of
from .test_lineage import spelled

SOURCES = """
source events(csv: "events.csv") {
  columns: { id: int64 primary_key, symbol: string, ts: timestamp nonnull, on: date, decided: timestamp, n: int64 }
}
source prices(csv: "prices.csv") {
  columns: { symbol: string primary_key, day: date primary_key, price: float64 nonnull, at: timestamp }
}
source gdp(store: "gdp", vintage: all) {
  columns: {
    series: string primary_key, starts: timestamp primary_key, ends: timestamp,
    out: timestamp primary_key, value: float64,
  }
  valid_from: starts  valid_to: ends  available_time: out
}
source latest(store: "gdp") {
  columns: { series: string primary_key, starts: timestamp primary_key, out: timestamp nonnull, value: float64 }
  valid_from: starts  available_time: out
}
"""
PRICED = "from events join_asof prices on prices.symbol == events.symbol at prices.day <= events.on"
GROWN = 'from events let g = "gdp" join_asof gdp on gdp.series == g at events.ts available_as_of: decided'


@pytest.mark.parametrize(
    "joined",
    [
        "join_asof prices as events on events.symbol == events.symbol at events.on",
        "join_asof prices as events on events.symbol == events.symbol at events.day <= events.on within 1h",
        "join_left prices as events on events.symbol == events.symbol expect many_to_one",
        "join_semi prices on prices.symbol == events.symbol join_asof prices at prices.day <= events.on",
    ],
)
def test_of_a_name_that_is_taken_nothing_more_is_said(joined: str) -> None:
    (found,) = findings(f"from events {joined} select {{ id }}", sources=SOURCES)
    assert found.code == "E023"
    assert found.message == f"`{'prices' if 'join_semi' in joined else 'events'}` is already read here"


def node_of(body: str) -> AsofJoin:
    (found,) = [n for n in walk_relation(model(body, sources=SOURCES).relation) if isinstance(n, AsofJoin)]
    return found


def test_columns_of_the_table_are_nullable_and_of_the_inner_variant_as_they_are() -> None:
    chosen = "select { id, symbol, on, prices.day, prices.price }"
    assert outputs(f"{PRICED} {chosen}", sources=SOURCES) == {
        "id": "int64 nonnull",
        "symbol": "string",
        "on": "date",
        "day": "date",
        "price": "float64",
    }
    inner = PRICED.replace("join_asof", "join_asof_inner")
    assert outputs(f"{inner} {chosen}", sources=SOURCES) == {
        "id": "int64 nonnull",
        "symbol": "string nonnull",
        "on": "date nonnull",
        "day": "date nonnull",
        "price": "float64 nonnull",
    }


def test_no_row_is_repeated_so_that_a_key_stays_one() -> None:
    found = model(f"{PRICED} select {{ id, prices.price }}", contract="id: int64 primary_key", sources=SOURCES)
    assert {frozenset({"id"})} == found.relation.schema.keys
    assert not found.expectations


def test_seed0_s4_row_shaping_edges_of_what_decides() -> None:
    relation = model(f"{GROWN} select {{ id, value = gdp.value }}", sources=SOURCES).relation
    assert {f"{e.node}.{e.column} {e.role}" for e in relation.schema.edges} == {
        "events.ts join",
        "events.decided join",
        "gdp.series join",
        "gdp.starts join",
        "gdp.ends join",
        "gdp.out join",
    }
    (origin,) = relation.schema["value"].origins
    assert spelled(origin) == "gdp.value passthrough joined"


def test_what_the_source_declares_and_what_a_comparison_says_mean_the_same() -> None:
    declared = node_of(f"{GROWN} select {{ id, v = gdp.value }}")
    compared = node_of(
        'from events let g = "gdp" join_asof gdp on gdp.series == g at events.ts >= gdp.starts '
        "available_as_of: gdp.out <= decided select { id, v = gdp.value }"
    )
    assert declared == compared
    assert declared.until is not None
    assert declared.available is not None
    assert declared.ties == ()


def test_a_distance_and_what_is_asked_of_the_table_alone() -> None:
    node = node_of(
        "from events join_asof prices as p on p.symbol == events.symbol and p.price > 0.0 at p.day <= on within 7d "
        "select { id, p.price }"
    )
    assert node.within == 7 * 86_400
    assert len(node.keys) == 1
    assert node.until is None


ERRORS: dict[str, tuple[str, str, str, str, str]] = {
    "no time": (
        "from events join_asof prices on prices.symbol == events.symbol at prices.price <= events.n",
        "E051",
        "prices.price",
        "an instant is a timestamp or a date, not float64",
        "compare columns of `timestamp`, or of `date`",
    ),
    "another kind of time": (
        "from events join_asof prices on prices.symbol == events.symbol at prices.day <= events.ts",
        "E051",
        "events.ts",
        "`prices` has dates here, and the instant is a timestamp",
        'compare one kind; `cast(day, "timestamp")` is the start of a day, before what happens on it',
    ),
    "a table that declares no clock": (
        "from events join_asof prices on prices.symbol == events.symbol at events.on",
        "E071",
        "events.on",
        "`prices` does not say which of its columns is compared with this instant",
        "write `at prices.day <= …`, or declare `valid_from: day` in its source",
    ),
    "an instant of the table itself": (
        "from events join_asof gdp at gdp.starts",
        "E071",
        "gdp.starts",
        "`at` compares a column of `gdp` with an instant of the rows before it",
        "write `at instant`, or `at gdp.column <= instant`",
    ),
    "the sides the wrong way around": (
        "from events join_asof gdp at events.ts <= gdp.starts",
        "E071",
        "events.ts <= gdp.starts",
        "`at` compares a column of `gdp` with an instant of the rows before it",
        "write `at instant`, or `at gdp.column <= instant`",
    ),
    "strictly before": (
        "from events join_asof gdp at gdp.starts < events.ts",
        "E071",
        "gdp.starts < events.ts",
        "a row holds from its own instant on",
        "write `at gdp.column <= instant`",
    ),
    "no equality": (
        "from events join_asof prices on prices.price > 1.0 or events.n == 1 at prices.day <= on",
        "E071",
        "prices.price > 1.0 or events.n == 1",
        "an as-of join matches rows by equal columns",
        "write `on a.x == b.x and a.y == b.y`; what is asked of the rows before alone is a `filter`",
    ),
    "a condition on the rows before": (
        "from events join_asof prices on prices.symbol == events.symbol and n > 1 at prices.day <= on",
        "E071",
        "prices.symbol == events.symbol and n > 1",
        "an as-of join matches rows by equal columns",
        "write `on a.x == b.x and a.y == b.y`; what is asked of the rows before alone is a `filter`",
    ),
    "one vintage": (
        "from events join_asof latest at events.ts available_as_of: decided",
        "E071",
        "decided",
        "`latest` gives one vintage of each row: what was known before it is not there",
        "read all of them: `source latest(store: …, vintage: all)`",
    ),
    "hours between dates": (
        f"{PRICED} within 36h",
        "E051",
        "36h",
        "dates are whole days apart",
        "write it in days: `within 7d`",
    ),
    "an unknown column": (
        "from events join_asof gdp at events.tss",
        "E021",
        "tss",
        "`events` has no column `tss`",
        "write `ts`",
    ),
    "an unknown table": (
        "from events join_asof gpd at events.ts",
        "E020",
        "gpd",
        "no source or model `gpd`",
        "there is `events`, `gdp`, `latest`, `prices`",
    ),
    "a table that is read already": (
        "from events join_asof events at events.ts",
        "E023",
        "events",
        "`events` is already read here",
        "give this one another name: `join_asof events as other …`",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_is_refused(case: str) -> None:
    body, code, place, message, fix = ERRORS[case]
    found = [d for d in findings(body, sources=SOURCES) if d.blocks]
    first = found[0]
    assert (first.code, marked(text_of(body), first), first.message, first.fix) == (code, place, message, fix)


def test_an_error_leaves_the_columns_so_that_nothing_else_is_said() -> None:
    body = "from events join_asof prices on prices.symbol == events.symbol at events.on select { id, prices.price }"
    assert [d.code for d in findings(body, sources=SOURCES)] == ["E071"]


def lints(body: str) -> list[tuple[str, str]]:
    found = findings(body, severity=Severity.WARNING, sources=SOURCES)
    return [(d.code, d.message) for d in found if d.code != "W001"]


def test_w011_rows_that_agree_are_told_apart_by_all_columns() -> None:
    body = "from events join_asof prices at prices.day <= on select { id, prices.price }"
    message = "which of the rows of `prices` of one instant is found is decided by all their columns"
    assert lints(body) == [("W011", message)]
    assert lints(f"{PRICED} select {{ id, prices.price }}") == []
    assert lints(f"{GROWN} select {{ id, gdp.value }}") == []


def test_lints_of_outer_joins_speak_of_it_too() -> None:
    assert [code for code, _ in lints(f"{PRICED} select {{ id }}")] == ["W005"]
    assert [code for code, _ in lints(f"{PRICED} filter prices.price > 1.0 select {{ id, prices.price }}")] == ["W008"]
    summed = f"{PRICED} group {{ symbol }} ( aggregate {{ n = sum(n), p = max(prices.price) }} )"
    assert lints(summed) == []


CLOCKS = {
    "no column": ("valid_from: startz", "E021", "startz", "the source has no column `startz`"),
    "no instant": (
        "available_time: series",
        "E051",
        "series",
        "`available_time` is an instant, and `series` is string",
    ),
    "no name": ('valid_to: "ends"', "E070", 'valid_to: "ends"', "`valid_to` names a column"),
}


@pytest.mark.parametrize("case", CLOCKS)
def test_a_clock_of_a_source_is_a_column_of_instants(case: str) -> None:
    written, code, place, message = CLOCKS[case]
    text = f'source s(store: "gdp") {{ columns: {{ series: string, starts: timestamp }} {written} }}'
    (found,) = [d for d in project(text, sources="").diagnostics if d.blocks]
    assert (found.code, marked(text, found), found.message) == (code, place, message)
