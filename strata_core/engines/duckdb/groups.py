"""Aggregation: one GROUP BY, or for sums of float64 two, so that they are the same to the bit on every run.

The first grouping adds each float64 argument within its buckets, as integers; the second adds the buckets of a group
from the largest down (`engines/float_sum.py`). All other aggregates go along where parts of them combine. Else, to do
so in one pass over the rows, each row is taken once for every float64 argument (`part` 1, 2, …) and once for all other
aggregates (`part` 0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ...relation.expressions import AggregateCall, Expr
from ...relation.nodes import Aggregate, AggregateItem
from ...types import Float64
from . import aggregates, sql
from .expressions import can_fail, ordered, translate, translate_all
from .sql import SqlExpr
from .steps import Query, Step

PART, PAIR, BUCKET, VALUE, DIGITS, SPECIAL, COUNT, CENTRE = (
    f"{sql.RESERVED}{n}" for n in ("part", "pair", "bucket", "value", "digits", "special", "count", "centre")
)


def needs_float_groups(node: Aggregate) -> bool:
    """Whether an aggregate of `node` adds float64 values."""
    return any(aggregates.is_float_form(a.call) for a in node.aggregates)


def plain_groups(node: Aggregate, step: Step, query: Query) -> Step:
    """One GROUP BY. Grouped steps are closed: what follows reads their columns."""
    keys = [grouping_key(k.expr, query) for k in node.keys]
    calls = [_call(a.call, query) for a in node.aggregates]
    grouped = replace(step, names=node.schema.names, items=(*keys, *calls))
    select = _group_by(query.select(grouped), len(keys))
    return _closed(node, step, select, query)


def _call(call: AggregateCall, query: Query) -> SqlExpr:
    order = [ordered(k, query.column) for k in call.order]
    return aggregates.aggregate(call, translate_all(call.args, query.column), order)


def grouping_key(expr: Expr, query: Query) -> SqlExpr:
    """A key; of -0.0 and 0.0, which are one group, 0.0 is shown."""
    value = translate(expr, query.column)
    return aggregates.without_negative_zero(value) if isinstance(expr.inferred.type, Float64) else value


def _group_by(select: exp.Select, count: int) -> exp.Select:
    """GROUP BY the first `count` columns, by position: no alias can be mistaken for a column."""
    if count:
        select.set("group", exp.Group(expressions=[sql.number(i) for i in range(1, count + 1)]))
    return select


def _closed(node: Aggregate, step: Step, select: exp.Select, query: Query) -> Step:
    table = query.add(query.next_name(), select)
    failing = frozenset(k.name for k in node.keys if can_fail(k.expr, step.failing))
    failing |= frozenset(a.name for a in node.aggregates)
    return Step(table, node.schema.names, failing=failing, narrowed=step.narrowed or bool(step.where or step.joins))


@dataclass(frozen=True, slots=True)
class Parts:
    """The names of an aggregation over float64 inside its query."""

    keys: tuple[str, ...]
    floats: tuple[AggregateItem, ...]
    others: tuple[AggregateItem, ...]

    @property
    def added(self) -> tuple[tuple[Expr, bool], ...]:
        """What is added up: each float64 argument once, and once more if its squared distances are."""
        return tuple(dict.fromkeys(_added(a.call) for a in self.floats))

    @property
    def values(self) -> tuple[str, ...]:
        """The columns of what is added up."""
        return tuple(f"{VALUE}_{i}" for i in range(1, len(self.added) + 1))

    @property
    def together(self) -> bool:
        """Whether one part is enough."""
        return len(self.added) == 1 and all(aggregates.combines(a.call) for a in self.others)

    def part_of(self, call: AggregateCall) -> int:
        """The part in which the argument of a float form is added up."""
        return self.added.index(_added(call)) + 1

    @property
    def arguments(self) -> tuple[str, ...]:
        """The columns of the other aggregates' arguments and orders."""
        return tuple(n for i, a in enumerate(self.others) for n in (*_argument(i, a.call), *_sort_keys(i, a.call)))


def _added(call: AggregateCall) -> tuple[Expr, bool]:
    return call.args[0], call.function in aggregates.SPREADS


def _argument(position: int, call: AggregateCall) -> tuple[str, ...]:
    return (f"{sql.RESERVED}argument_{position}",) if call.args else ()


def _sort_keys(position: int, call: AggregateCall) -> tuple[str, ...]:
    return tuple(f"{sql.RESERVED}sort_{position}_{i}" for i in range(len(call.order)))


def float_groups(node: Aggregate, step: Step, query: Query) -> Step:
    """Two groupings; before them, for variances, one more that finds the centre of each group."""
    parts = Parts(
        tuple(query.spelled[k.name] for k in node.keys),
        tuple(a for a in node.aggregates if aggregates.is_float_form(a.call)),
        tuple(a for a in node.aggregates if not aggregates.is_float_form(a.call)),
    )
    rows = _rows(node, parts, step, query)
    if any(spread for _, spread in parts.added):
        rows = _distances(parts, rows, query)
    buckets = _buckets(parts, _taken_apart(parts, rows, query), query)
    results = {a.name: _float_result(a.call, parts.part_of(a.call)) for a in parts.floats}
    results |= {a.name: _other_result(parts, a.call, i) for i, a in enumerate(parts.others)}
    items: list[SqlExpr] = [sql.column(k) for k in parts.keys]
    items += [sql.alias(results[a.name], query.spelled[a.name]) for a in node.aggregates]
    select = _group_by(exp.Select(expressions=items, from_=exp.From(this=buckets)), len(parts.keys))
    return _closed(node, step, select, query)


def _rows(node: Aggregate, parts: Parts, step: Step, query: Query) -> exp.Table:
    """One row per row of the input: keys, float64 arguments, arguments and orders of the other aggregates."""
    items = [sql.alias(grouping_key(k.expr, query), name) for k, name in zip(node.keys, parts.keys, strict=True)]
    for value, (expr, _) in zip(parts.values, parts.added, strict=True):
        items.append(sql.alias(translate(expr, query.column), value))
    arguments = [e for a in parts.others for e in (*a.call.args, *(k.expr for k in a.call.order))]
    for name, expr in zip(parts.arguments, arguments, strict=True):
        items.append(sql.alias(translate(expr, query.column), name))
    select = query.select(replace(step, names=(), items=()), items)
    return query.add(query.next_name(), select)


def _distances(parts: Parts, rows: exp.Table, query: Query) -> exp.Table:
    """`rows` with the arguments of variances replaced by their squared distances from the mean of the group."""
    spreads = [i for i, (_, spread) in enumerate(parts.added, start=1) if spread]
    buckets = _buckets(parts, _taken_apart(parts, rows, query), query)
    means = [sql.alias(_mean(i), f"{CENTRE}_{i}") for i in spreads]
    keys = [sql.alias(sql.column(k), f"{sql.RESERVED}key_{i}") for i, k in enumerate(parts.keys)]
    select = _group_by(exp.Select(expressions=[*keys, *means], from_=exp.From(this=buckets)), len(keys))
    centres = query.add(query.next_name(), select)

    items: list[SqlExpr] = [sql.column(n) for n in (*parts.keys, *parts.arguments)]
    for i, value in enumerate(parts.values, start=1):
        if i not in spreads:
            items.append(sql.column(value))
            continue
        distance = exp.Paren(this=exp.Sub(this=sql.column(value), expression=sql.column(f"{CENTRE}_{i}")))
        items.append(sql.alias(exp.Mul(this=distance, expression=distance.copy()), value))
    same = [
        exp.NullSafeEQ(this=sql.column(k), expression=sql.column(f"{sql.RESERVED}key_{i}"))
        for i, k in enumerate(parts.keys)
    ]
    join = exp.Join(this=centres, kind="INNER", on=sql.all_of(same)) if same else exp.Join(this=centres, kind="CROSS")
    return query.add(query.next_name(), exp.Select(expressions=items, from_=exp.From(this=rows), joins=[join]))


def _taken_apart(parts: Parts, rows: exp.Table, query: Query) -> exp.Table:
    """One row per row and part, with the part's float64 value and its bucket."""
    kept: list[SqlExpr] = [sql.column(n) for n in (*parts.keys, *parts.arguments)]
    if parts.together:
        single = [sql.alias(sql.number(1), PART), sql.alias(sql.column(parts.values[0]), VALUE)]
        expanded = query.add(query.next_name(), exp.Select(expressions=[*kept, *single], from_=exp.From(this=rows)))
    else:
        pieces = [sql.struct({PART: sql.number(i), VALUE: sql.column(v)}) for i, v in enumerate(parts.values, start=1)]
        if parts.others:
            pieces.insert(0, sql.struct({PART: sql.number(0), VALUE: sql.null(sql.DOUBLE)}))
        pair = sql.alias(sql.fn("unnest", exp.Array(expressions=pieces)), PAIR)
        paired = query.add(query.next_name(), exp.Select(expressions=[*kept, pair], from_=exp.From(this=rows)))
        members = [sql.alias(sql.member(sql.column(PAIR), n), n) for n in (PART, VALUE)]
        again = [c.copy() for c in kept]
        expanded = query.add(query.next_name(), exp.Select(expressions=[*again, *members], from_=exp.From(this=paired)))
    items = [*(c.copy() for c in kept), sql.column(PART), sql.column(VALUE)]
    bucket = sql.alias(aggregates.float_bucket(sql.column(VALUE)), BUCKET)
    return query.add(query.next_name(), exp.Select(expressions=[*items, bucket], from_=exp.From(this=expanded)))


def _buckets(parts: Parts, rows: exp.Table, query: Query) -> exp.Table:
    """The first grouping: per group and part the sum of each bucket; in part 0 the other aggregates."""
    value, bucket = sql.column(VALUE), sql.column(BUCKET)
    items: list[SqlExpr] = [sql.column(n) for n in (*parts.keys, PART, BUCKET)]
    for distinct in sorted({a.call.distinct for a in parts.floats}):
        counted = exp.Distinct(expressions=[value.copy()]) if distinct else value.copy()
        items.append(sql.alias(aggregates.float_digits(value, bucket, distinct=distinct), _digits(distinct)))
        items.append(sql.alias(sql.fn("count", counted), _count(distinct)))
    items.append(sql.alias(aggregates.float_special(value, bucket), SPECIAL))
    for position, item in enumerate(parts.others):
        args: list[SqlExpr] = [sql.column(n) for n in _argument(position, item.call)]
        order = [
            sql.ordered(sql.column(n), descending=k.descending)
            for n, k in zip(_sort_keys(position, item.call), item.call.order, strict=True)
        ]
        together = parts.together
        other = (
            aggregates.partial(item.call, args)
            if together
            else aggregates.aggregate(item.call, args, order, _in_part_0)
        )
        items.append(sql.alias(other, _other(position)))
    select = exp.Select(expressions=items, from_=exp.From(this=rows))
    return query.add(query.next_name(), _group_by(select, len(parts.keys) + 2))


def _in_part_0(bare: SqlExpr) -> SqlExpr:
    if isinstance(bare, exp.Filter):
        both = sql.both(_is_part(0), bare.expression.this.copy())
        return exp.Filter(this=bare.this, expression=exp.Where(this=both))
    return exp.Filter(this=bare, expression=exp.Where(this=_is_part(0)))


def _digits(distinct: bool) -> str:
    return f"{DIGITS}_distinct" if distinct else DIGITS


def _count(distinct: bool) -> str:
    return f"{COUNT}_distinct" if distinct else COUNT


def _other(position: int) -> str:
    return f"{sql.RESERVED}other_{position}"


def _is_part(part: int) -> SqlExpr:
    return exp.EQ(this=sql.column(PART), expression=sql.number(part))


def _total(part: int, distinct: bool) -> SqlExpr:
    return aggregates.float_total(
        sql.column(BUCKET), sql.column(_digits(distinct)), sql.column(SPECIAL), _is_part(part)
    )


def _number(part: int, distinct: bool) -> SqlExpr:
    total = exp.Filter(this=sql.fn("sum", sql.column(_count(distinct))), expression=exp.Where(this=_is_part(part)))
    return sql.cast(total, sql.BIGINT)


def _mean(part: int) -> SqlExpr:
    return exp.Div(this=_total(part, False), expression=_number(part, False))


def _float_result(call: AggregateCall, part: int) -> SqlExpr:
    return aggregates.result_of(call, _total(part, call.distinct), _number(part, call.distinct))


def _other_result(parts: Parts, call: AggregateCall, position: int) -> SqlExpr:
    other = sql.column(_other(position))
    found: SqlExpr
    if parts.together:
        found = aggregates.combined(call, other)
    else:
        found = exp.Filter(this=sql.fn("first", other), expression=exp.Where(this=_is_part(0)))
    if call.function in aggregates.NEVER_NULL:
        # Without keys and rows there is no part either.
        return sql.fn("coalesce", found, sql.cast(sql.number(0), sql.BIGINT))
    return found
