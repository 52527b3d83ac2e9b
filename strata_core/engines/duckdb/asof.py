"""The as-of join: DuckDB's own where the right rows have one instant, else the pairs in the order of their instants.

DuckDB's `ASOF JOIN` compares one instant and takes any of the rows that agree in it, so the right side is brought to
one row for each key and instant first. Where a second instant (`available`) or an end (`until`) decides as well, left
rows are numbered and right rows ranked by their instant; of the candidates of each number the highest rank is taken. A
row stands until it is restated, so that of each key and instant one candidate at most is left to compare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ...relation.expressions import ColumnRef, Expr, call
from ...relation.nodes import AsofJoin, JoinKind, Moments
from ...types import Date
from . import sql
from .expressions import ordered, translate
from .groups import grouping_key
from .sql import SqlExpr
from .steps import Query, Step, without_order

NUMBER, MATCH, PLACE, RANK, BEST, RESTATED = (
    f"{sql.RESERVED}asof_{n}" for n in ("number", "match", "place", "rank", "best", "restated")
)
Hidden = Mapping[str, Expr]
"""Expressions that decide, under the names of the columns that hold their values."""


@dataclass(frozen=True, slots=True)
class Decisive:
    """What decides, as columns of both sides: what is computed in a condition may not be compared by DuckDB."""

    ours: Hidden
    theirs: Hidden
    keys: tuple[tuple[ColumnRef, ColumnRef], ...]
    at: Moments
    available: Moments | None
    until: ColumnRef | None

    @classmethod
    def of(cls, node: AsofJoin) -> Decisive:
        """The columns of `node`."""
        ours: dict[str, Expr] = {}
        theirs: dict[str, Expr] = {}

        def held(side: dict[str, Expr], expr: Expr, word: str) -> ColumnRef:
            name = f"{sql.RESERVED}asof_{'left' if side is ours else 'right'}_{word}"
            side[name] = expr
            return ColumnRef(name, expr.inferred)

        keys = tuple((held(ours, a, f"key_{i}"), held(theirs, b, f"key_{i}")) for i, (a, b) in enumerate(node.keys))
        at, *available = (
            Moments(held(ours, m.left, f"instant_{i}"), held(theirs, m.right, f"instant_{i}"))
            for i, m in enumerate(node.moments)
        )
        until = None if node.until is None else held(theirs, node.until, "until")
        return cls(ours, theirs, keys, at, next(iter(available), None), until)


def asof_joined(node: AsofJoin, left: Step, right: Step, query: Query) -> Step:
    """The left rows, each with the right row that held at its instant."""
    deciding = Decisive.of(node)
    sides = zip((left, right), (deciding.ours, deciding.theirs), strict=True)
    left, right = (_with(query.open_items(without_order(step)), hidden, query) for step, hidden in sides)
    joined = _native if node.available is None and node.until is None else _by_candidates
    failing = (left.failing | right.failing) & frozenset(node.schema.names)
    return replace(joined(node, deciding, left, right, query), failing=failing, narrowed=True)


def _with(step: Step, hidden: Hidden, query: Query) -> Step:
    """`step` as a table that has the columns `hidden` too."""
    query.spelled.update({name: name for name in hidden})
    items = (*(query.column(name) for name in step.names), *(grouping_key(e, query) for e in hidden.values()))
    closed = query.close(replace(step, names=(*step.names, *hidden), items=items))
    return replace(closed, names=step.names)


def _native(node: AsofJoin, deciding: Decisive, left: Step, right: Step, query: Query) -> Step:
    if node.ties:
        right = _one_each(node, deciding, right, query)
    ours, theirs = (translate(e, query.column) for e in (deciding.at.left, deciding.at.right))
    on = [*_equal(deciding, query), exp.GTE(this=ours, expression=theirs)]
    kind = {"side": "LEFT"} if node.kind is JoinKind.LEFT else {}
    join = exp.Join(this=right.source, method="ASOF", on=sql.all_of(on), **kind)
    step = Step(left.source, node.schema.names, joins=(join,))
    if node.within is None:
        return step
    near = _near(node.within, deciding, query)
    if node.kind is JoinKind.INNER:
        return replace(step, where=(near,))
    # The latest row is the nearest: where it is too far away, so is every other.
    found = (sql.when((near.copy(), query.column(name))) for name in right.names)
    return replace(step, items=(*(query.column(name) for name in left.names), *found))


def _one_each(node: AsofJoin, deciding: Decisive, right: Step, query: Query) -> Step:
    """Of the right rows that agree in keys and instant the first in the order of `ties`."""
    agree = [query.column(key.name) for _, key in deciding.keys] + [translate(deciding.at.right, query.column)]
    place = _numbered(agree, [ordered(key, query.column) for key in node.ties])
    hidden = [query.column(name) for name in deciding.theirs]
    table = query.add(query.next_name(), query.select(right, [*hidden, sql.alias(place, PLACE)]))
    first = query.select(Step(table, right.names, where=(_is_first(),)), [h.copy() for h in hidden])
    return Step(query.add(query.next_name(), first), right.names)


def _by_candidates(node: AsofJoin, deciding: Decisive, left: Step, right: Step, query: Query) -> Step:
    # Numbers are given once and read twice.
    hidden: list[SqlExpr] = [query.column(name) for name in deciding.ours]
    number = sql.alias(_numbered((), ()), NUMBER)
    rows = query.add(query.next_name(), query.select(left, [*hidden, number]), stored=True)
    ranked = _ranked(node, deciding, right, query)
    moments = [deciding.at, *([deciding.available] if deciding.available is not None else [])]
    conditions = _equal(deciding, query)
    conditions += [translate(call("le", m.right, m.left), query.column) for m in moments]
    if node.within is not None:
        conditions.append(_near(node.within, deciding, query))
    if deciding.until is not None:
        conditions.append(_open(deciding.until, deciding.at, query))
    if deciding.available is not None:
        later = ColumnRef(RESTATED, deciding.available.right.inferred.as_nullable())
        conditions.append(_open(later, deciding.available, query))
    pairs = exp.Join(this=ranked, on=sql.all_of(conditions), kind="INNER")
    best = exp.Select(
        expressions=[sql.column(NUMBER), sql.alias(sql.fn("max", sql.column(RANK)), BEST)],
        from_=exp.From(this=rows.copy()),
        joins=[pairs],
    )
    best = best.group_by(sql.number(1))
    numbered = sql.alias(sql.column(NUMBER), MATCH)
    matches = exp.Select(
        expressions=[numbered, sql.column(BEST)], from_=exp.From(this=query.add(query.next_name(), best))
    )
    found = query.add(query.next_name(), matches)
    kind = {"side": "LEFT"} if node.kind is JoinKind.LEFT else {"kind": "INNER"}
    same, place = (
        exp.EQ(this=sql.column(one), expression=sql.column(other)) for one, other in ((NUMBER, MATCH), (BEST, RANK))
    )
    joins = (exp.Join(this=found, on=same, **kind), exp.Join(this=ranked.copy(), on=place, **kind))
    return Step(rows, node.schema.names, joins=joins)


def _ranked(node: AsofJoin, deciding: Decisive, right: Step, query: Query) -> exp.Table:
    """The right rows, ranked so that of several candidates the one that counts has the highest rank: by their instant,
    and where they agree in it, in the order of `ties` reversed. Where availability decides, one row of each key and
    pair of instants is left, with the availability of the one that restates it."""
    hidden: list[SqlExpr] = [query.column(name) for name in deciding.theirs]
    at = translate(deciding.at.right, query.column)
    line = [*(query.column(key.name) for _, key in deciding.keys), at]
    available = [] if deciding.available is None else [translate(deciding.available.right, query.column)]
    order: list[exp.Ordered] = [sql.ordered(at)]
    if node.ties:
        place = _numbered([*line, *available], [ordered(key, query.column) for key in node.ties])
        placed = query.add(query.next_name(), query.select(right, [*hidden, sql.alias(place, PLACE)]))
        right = Step(placed, right.names, where=(_is_first(),) if available else ())
        order.append(sql.ordered(sql.column(PLACE), descending=True))
        if available:
            one = query.select(right, [*(h.copy() for h in hidden), sql.column(PLACE)])
            right = Step(query.add(query.next_name(), one), right.names)
    extra: list[SqlExpr] = [h.copy() for h in hidden]
    if available:
        restated = exp.Window(this=sql.fn("lead", available[0].copy()), partition_by=[key.copy() for key in line])
        restated.set("order", exp.Order(expressions=[sql.ordered(available[0].copy())]))
        extra.append(sql.alias(restated, RESTATED))
    extra.append(sql.alias(_numbered((), order), RANK))
    query.spelled[RESTATED] = RESTATED
    return query.add(query.next_name(), query.select(right, extra), stored=True)


def _numbered(partition: Sequence[SqlExpr], order: Sequence[exp.Ordered]) -> exp.Window:
    window = exp.Window(this=sql.fn("row_number"), partition_by=[one.copy() for one in partition])
    if order:
        window.set("order", exp.Order(expressions=[one.copy() for one in order]))
    return window


def _is_first() -> SqlExpr:
    return exp.EQ(this=sql.column(PLACE), expression=sql.number(1))


def _equal(deciding: Decisive, query: Query) -> list[SqlExpr]:
    return [translate(call("eq", a, b), query.column) for a, b in deciding.keys]


def _near(within: int, deciding: Decisive, query: Query) -> SqlExpr:
    """Whether the right row's instant lies at most `within` seconds before the left row's."""
    ours, theirs = (translate(e, query.column) for e in (deciding.at.left, deciding.at.right))
    if isinstance(deciding.at.left.inferred.type, Date):
        return exp.LTE(this=exp.Sub(this=ours, expression=theirs), expression=sql.number(within // 86_400))
    gap = exp.Sub(this=sql.fn("epoch_us", ours), expression=sql.fn("epoch_us", theirs))
    return exp.LTE(this=gap, expression=sql.number(within * 1_000_000))


def _open(until: Expr, moment: Moments, query: Query) -> SqlExpr:
    """Whether the right row has no end, or one after the left row's instant."""
    open_ = sql.is_null(translate(until, query.column))
    return sql.paren(exp.Or(this=open_, expression=translate(call("gt", until, moment.left), query.column)))
