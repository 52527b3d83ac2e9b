"""The as-of join: each row with the row that held at its instant, of what was known then."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.protocol import Engine
from strata_core.relation.build import asof_join, ref, scan
from strata_core.relation.nodes import AsofJoin, JoinKind, Moments
from strata_core.relation.schema import Column
from strata_core.types import DATE, INT64, STRING, TIMESTAMP, Inferred, ValueType

from .conformance import check_conformance, outcome_of, table_of
from .engines import ENGINES

Row = list[object]


def day(number: int | None) -> datetime.date | None:
    return None if number is None else datetime.date(2014, 1, 1) + datetime.timedelta(days=number)


def column(name: str, type_: ValueType, *, nullable: bool = True) -> Column:
    return Column(name, Inferred(type_, nullable))


EVENTS = (column("id", INT64, nullable=False), column("k", STRING), column("ts", DATE), column("decided", DATE))
FACTS = (
    column("rk", STRING),
    column("since", DATE),
    column("ends", DATE),
    column("published", DATE),
    column("value", INT64),
)
LEFT = scan("events", EVENTS, [frozenset({"id"})])
RIGHT = scan("facts", FACTS)
AT = Moments(ref(LEFT, "ts"), ref(RIGHT, "since"))
KNOWN = Moments(ref(LEFT, "decided"), ref(RIGHT, "published"))
KEYS = [(ref(LEFT, "k"), ref(RIGHT, "rk"))]


def events(*rows: tuple[int, str | None, int | None, int | None]) -> list[Row]:
    return [[id_, k, day(ts), day(decided)] for id_, k, ts, decided in rows]


def facts(*rows: tuple[str | None, int | None, int | None, int | None, int]) -> list[Row]:
    return [[k, day(since), day(ends), day(published), value] for k, since, ends, published, value in rows]


def found(engine: Engine, node: AsofJoin, left: list[Row], right: list[Row]) -> list[tuple[object, object]]:
    """Each event's number and the value that it found."""
    outcome = outcome_of(engine, node, {"events": table_of(EVENTS, left), "facts": table_of(FACTS, right)})
    assert not outcome.codes, outcome
    return sorted((row[0], row[-1]) for row in outcome.rows)


PRICES = facts(
    ("a", 1, None, 1, 10),
    ("a", 5, None, 6, 50),
    ("b", 3, None, 3, 30),
    (None, 1, None, 1, 99),
    ("a", None, None, 1, 98),
)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_the_latest_row_at_or_before_each_instant(engine: Engine) -> None:
    asked = events((1, "a", 1, 9), (2, "a", 4, 9), (3, "a", 5, 9), (4, "a", 0, 9), (5, "b", 9, 9), (6, None, 9, 9))
    asked += events((7, "a", None, 9), (8, "c", 9, 9))
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT)
    all_rows = [(1, 10), (2, 10), (3, 50), (4, None), (5, 30), (6, None), (7, None), (8, None)]
    assert found(engine, node, asked, PRICES) == all_rows
    inner = asof_join(JoinKind.INNER, LEFT, RIGHT, KEYS, AT)
    assert found(engine, inner, asked, PRICES) == [(1, 10), (2, 10), (3, 50), (5, 30)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_a_row_that_lies_too_far_back_is_not_found(engine: Engine) -> None:
    asked = events((1, "a", 2, 9), (2, "a", 3, 9), (3, "a", 4, 9), (4, "a", 6, 9))
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT, within=2 * 86_400)
    assert found(engine, node, asked, PRICES) == [(1, 10), (2, 10), (3, None), (4, 50)]
    assert found(engine, replace(node, kind=JoinKind.INNER), asked, PRICES) == [(1, 10), (2, 10), (4, 50)]


GDP = facts(("gdp", 0, None, 119, 171496), ("gdp", 0, None, 148, 171013), ("gdp", 0, None, 175, 170160))
"""The first quarter of 2014, published on 30 April, 29 May and 25 June."""


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_each_row_sees_what_was_known_at_its_own_decision(engine: Engine) -> None:
    asked = events(
        (1, "gdp", 90, 118), (2, "gdp", 90, 120), (3, "gdp", 90, 151), (4, "gdp", 90, 181), (5, "gdp", 90, None)
    )
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT, available=KNOWN)
    assert found(engine, node, asked, GDP) == [(1, None), (2, 171496), (3, 171013), (4, 170160), (5, None)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_an_older_period_is_read_while_the_newest_is_not_published(engine: Engine) -> None:
    quarters = facts(("gdp", 0, None, 119, 1), ("gdp", 90, None, 210, 2), ("gdp", 0, None, 300, 3))
    asked = events((1, "gdp", 100, 150), (2, "gdp", 100, 220), (3, "gdp", 100, 400), (4, "gdp", 80, 400))
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT, available=KNOWN)
    assert found(engine, node, asked, quarters) == [(1, 1), (2, 2), (3, 2), (4, 3)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_an_interval_whose_end_was_corrected_is_not_revived_by_its_superseded_row(engine: Engine) -> None:
    intervals = facts(("a", 0, None, 1, 1), ("a", 10, None, 11, 2), ("a", 10, 20, 30, 3))
    asked = events((1, "a", 25, 12), (2, "a", 25, 31), (3, "a", 15, 31))
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT, available=KNOWN, until=ref(RIGHT, "ends"))
    assert found(engine, node, asked, intervals) == [(1, 2), (2, 1), (3, 3)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_without_availability_every_row_that_covers_the_instant_is_a_candidate(engine: Engine) -> None:
    intervals = facts(("a", 0, None, 1, 1), ("a", 10, 20, 1, 2), ("a", 10, 12, 1, 3))
    asked = events((1, "a", 11, 0), (2, "a", 15, 0), (3, "a", 25, 0))
    node = asof_join(JoinKind.INNER, LEFT, RIGHT, KEYS, AT, until=ref(RIGHT, "ends"))
    assert found(engine, node, asked, intervals) == [(1, 3), (2, 2), (3, 1)]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
def test_rows_that_agree_are_told_apart_by_all_their_columns(engine: Engine) -> None:
    ties = facts(("a", 1, 9, 1, 7), ("a", 1, 8, 1, 9), ("a", 1, 8, 1, 5))
    node = asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT)
    assert found(engine, node, events((1, "a", 2, 0)), ties) == [(1, 5)]
    assert found(engine, node, events((1, "a", 2, 0)), ties[::-1]) == [(1, 5)]


def test_a_unique_right_side_needs_no_ties() -> None:
    keyed = scan("facts", FACTS, [frozenset({"rk", "since"})])
    assert asof_join(JoinKind.LEFT, LEFT, keyed, KEYS, AT).ties == ()
    assert asof_join(JoinKind.LEFT, LEFT, RIGHT, KEYS, AT).schema.keys == frozenset({frozenset({"id"})})
    assert "ASOF LEFT JOIN" in ENGINES[1].explain(asof_join(JoinKind.LEFT, LEFT, keyed, KEYS, AT), {})


SMALL = st.none() | st.integers(0, 5)
NAMES = st.none() | st.sampled_from(["a", "b"])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(NAMES, SMALL, SMALL), max_size=5),
    st.lists(st.tuples(NAMES, SMALL, SMALL, SMALL, st.integers(0, 3)), max_size=12),
    st.sampled_from((JoinKind.LEFT, JoinKind.INNER)),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(0, 3),
)
def test_every_row_finds_what_its_definition_says(left, right, kind, keyed, known, within) -> None:
    """The definition, row by row: candidates, the vintage that counts of each instant, those that hold, the latest."""
    node = asof_join(
        kind,
        LEFT,
        RIGHT,
        KEYS if keyed else [],
        AT,
        available=KNOWN if known else None,
        until=ref(RIGHT, "ends"),
        within=None if within is None else within * 86_400,
    )
    expected = []
    for number, (k, ts, decided) in enumerate(left):
        candidates = [
            (since, ends, published, value, rk)
            for rk, since, ends, published, value in right
            if (not keyed or (k is not None and rk == k))
            and None not in (ts, since)
            and since <= ts
            and (within is None or ts - since <= within)
            and (not known or (None not in (decided, published) and published <= decided))
        ]
        lines = {c[0]: [d for d in candidates if d[0] == c[0]] for c in candidates}
        if known:
            lines = {at: [d for d in line if d[2] == max(e[2] for e in line)] for at, line in lines.items()}
        else:
            lines = {at: [d for d in line if d[1] is None or d[1] > ts] for at, line in lines.items()}
        picked = {at: min(line, key=_tie) for at, line in lines.items() if line}
        holding = {at: row for at, row in picked.items() if row[1] is None or row[1] > ts}
        if holding:
            expected.append((number, holding[max(holding)][3]))
        elif kind is JoinKind.LEFT:
            expected.append((number, None))
    rows = events(*((number, *row) for number, row in enumerate(left)))
    for engine in ENGINES:
        assert found(engine, node, rows, facts(*right)) == expected
    check_conformance(
        ENGINES[1],
        replace(node, until=None),
        {"events": table_of(EVENTS, rows), "facts": table_of(FACTS, facts(*right))},
    )


def _tie(row: tuple[int | str | None, ...]) -> tuple[object, ...]:
    """The order of all columns by name (ends, published, rk, since, value), nulls last."""
    _, ends, published, value, rk = row
    return (ends is None, ends or 0, published is None, published or 0, rk is None, rk or "", value)


def test_timestamps_lie_within_to_the_microsecond() -> None:
    left = scan("l", [column("at", TIMESTAMP)])
    right = scan("r", [column("since", TIMESTAMP)])
    node = asof_join(JoinKind.LEFT, left, right, [], Moments(ref(left, "at"), ref(right, "since")), within=1)
    base = datetime.datetime(2014, 1, 1)
    at = [base + datetime.timedelta(microseconds=us) for us in (1_000_000, 1_000_001)]
    tables = {"l": table_of(left.schema.columns, [[a] for a in at]), "r": table_of(right.schema.columns, [[base]])}
    for engine in ENGINES:
        assert sorted(row[1] is None for row in outcome_of(engine, node, tables).rows) == [False, True]
