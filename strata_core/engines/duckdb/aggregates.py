"""Aggregates in DuckDB: one expression each, except over float64, whose reproducible sum takes two groupings.

The definition of the float64 sum is in `engines/float_sum.py`; `float_bucket`, `float_digits` and `float_total` are
its three parts. All of them are exact on every value but the final additions, whose order is fixed.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...relation.expressions import AggregateCall, Literal, WindowCall
from ...types import FLOAT64, Float64, Money
from ..float_sum import BUCKET_BITS, FINEST, LOWEST_BUCKET, MANTISSA_BITS
from . import decimal_sum, rounding, sql
from .sql import SqlExpr

Over = Callable[[SqlExpr], SqlExpr]
Aggregator = Callable[[AggregateCall | WindowCall, SqlExpr, list[exp.Ordered], Over], SqlExpr]
"""Builds a call over an argument; the last part puts a bare aggregate over its window (or leaves it)."""

FLOAT_FORMS = frozenset({"sum", "avg"})
SPREADS = frozenset({"variance", "stddev"})
NEVER_NULL = frozenset({"count", "count_if"})


def is_float_form(call: AggregateCall | WindowCall) -> bool:
    """Whether `call` adds float64 values, so that its result could depend on the order of rows."""
    floats = bool(call.args) and isinstance(call.args[0].inferred.type, Float64)
    return call.function in SPREADS or (call.function in FLOAT_FORMS and floats)


def aggregate(
    call: AggregateCall | WindowCall, args: list[SqlExpr], order: list[exp.Ordered], over: Over = lambda bare: bare
) -> SqlExpr:
    """One aggregate that is no float form."""
    argument = args[0] if args else exp.Star()
    return AGGREGATES[call.function](call, argument, order, over)


def _distinct(call: AggregateCall | WindowCall, argument: SqlExpr) -> SqlExpr:
    return exp.Distinct(expressions=[argument]) if isinstance(call, AggregateCall) and call.distinct else argument


def _count(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
    return over(sql.fn("count", _distinct(call, argument)))


def _sum(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
    """DuckDB adds in 128 bits; the cast back aborts where the sum does not fit."""
    return sql.cast(_total(call, argument, over), sql.sql_type(call.inferred.type))


def _total(call: AggregateCall | WindowCall, argument: SqlExpr, over: Over) -> SqlExpr:
    type_ = call.args[0].inferred.type
    if not decimal_sum.is_wide(type_):
        return over(sql.fn("sum", _distinct(call, argument)))
    if isinstance(call, AggregateCall) and call.distinct:
        return decimal_sum.distinct(argument, type_, over)
    parts = decimal_sum.arguments(argument, type_)
    return decimal_sum.whole({name: over(sql.fn("sum", part)) for name, part in parts.items()}, type_)


def _avg(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
    total = _total(call, argument, over)
    count = over(sql.fn("count", _distinct(call, argument.copy())))
    if not isinstance(call.inferred.type, Money):
        return exp.Div(this=sql.cast(total, sql.DOUBLE), expression=count)
    result = call.inferred.type

    def mean(parts: SqlExpr) -> SqlExpr:
        cents = rounding.unscaled(sql.member(parts, "total"), result)
        rows = sql.cast(sql.member(parts, "count"), sql.HUGEINT)
        divisor = sql.fn("nullif", rows, sql.number(0))
        return rounding.scaled(rounding.divided(cents, divisor, "half_even"), 2, result)

    return sql.once("mean", sql.struct({"total": total, "count": count}), mean)


def _extreme(name: str) -> Aggregator:
    def build(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
        found = over(sql.fn(name, argument))
        return without_negative_zero(found) if isinstance(call.inferred.type, Float64) else found

    return build


def without_negative_zero(value: SqlExpr) -> SqlExpr:
    """A float64 that is 0.0 where it was -0.0: which of the two a group shows would depend on the order of rows."""
    return exp.Add(this=sql.paren(value), expression=sql.float_literal(0.0))


def _simple(name: str) -> Aggregator:
    def build(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
        return over(sql.fn(name, _distinct(call, argument)))

    return build


def _count_if(_: AggregateCall | WindowCall, argument: SqlExpr, __: list[exp.Ordered], over: Over) -> SqlExpr:
    """DuckDB's own is null where the condition always is."""
    return over(exp.Filter(this=sql.fn("count", exp.Star()), expression=exp.Where(this=argument)))


def _median(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
    double = argument if isinstance(call.args[0].inferred.type, Float64) else sql.cast(argument, sql.DOUBLE)
    return without_negative_zero(over(sql.fn("median", _distinct(call, double))))


def _quantile(call: AggregateCall | WindowCall, argument: SqlExpr, _: list[exp.Ordered], over: Over) -> SqlExpr:
    """From the sorted values, with each operation written out: DuckDB's own rounds in another way."""
    double = argument if isinstance(call.args[0].inferred.type, Float64) else sql.cast(argument, sql.DOUBLE)
    share = call.args[1]
    assert isinstance(share, Literal)
    present = exp.Not(this=sql.is_null(sql.paren(double.copy())))
    listed = over(exp.Filter(this=sql.fn("list", _distinct(call, double)), expression=exp.Where(this=present)))

    def with_values(values: SqlExpr) -> SqlExpr:
        last = exp.Paren(this=exp.Sub(this=sql.fn("len", values.copy()), expression=sql.number(1)))
        place = exp.Mul(this=sql.cast(last, sql.DOUBLE), expression=sql.literal(share.value, FLOAT64))
        return sql.once("place", place, lambda p: between(values, p))

    def between(values: SqlExpr, place: SqlExpr) -> SqlExpr:
        below = sql.fn("floor", place.copy())
        position = sql.cast(below, sql.BIGINT)
        lower = sql.fn("list_extract", values.copy(), exp.Add(this=position, expression=sql.number(1)))
        following = sql.fn(
            "least", exp.Add(this=position.copy(), expression=sql.number(2)), sql.fn("len", values.copy())
        )
        upper = sql.fn("list_extract", values.copy(), following)
        part = exp.Paren(this=exp.Sub(this=place.copy(), expression=below.copy()))
        step = exp.Mul(this=exp.Paren(this=exp.Sub(this=upper, expression=lower.copy())), expression=part)
        alike = exp.EQ(this=lower.copy(), expression=upper.copy())
        return sql.when((alike, lower.copy()), otherwise=exp.Add(this=lower.copy(), expression=step))

    return without_negative_zero(sql.once("values", sql.fn("list_sort", listed), with_values))


def _ordered(name: str) -> Aggregator:
    def build(_: AggregateCall | WindowCall, argument: SqlExpr, order: list[exp.Ordered], over: Over) -> SqlExpr:
        return over(sql.fn(name, exp.Order(this=argument, expressions=order) if order else argument))

    return build


def _array_agg(call: AggregateCall | WindowCall, argument: SqlExpr, order: list[exp.Ordered], over: Over) -> SqlExpr:
    """Nulls are left out, and an array of nothing is null."""
    items = _distinct(call, argument)
    collected = sql.fn("list", exp.Order(this=items, expressions=order) if order else items)
    present = exp.Not(this=sql.is_null(sql.paren(argument.copy())))
    return over(exp.Filter(this=collected, expression=exp.Where(this=present)))


AGGREGATES: dict[str, Aggregator] = {
    "count": _count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _avg,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "any": _simple("bool_or"),
    "all": _simple("bool_and"),
    "median": _median,
    "quantile": _quantile,
    "array_agg": _array_agg,
    "first": _ordered("first"),
    "last": _ordered("last"),
}

SPECIAL = LOWEST_BUCKET + 64
"""The bucket of NaN and the infinities: above all others."""


USUAL_BUCKETS = (0, -1, 1, -2)
"""Buckets that most data lies in (2**-64 to 2**64): told by comparison with constants, four times as fast."""


def float_bucket(x: SqlExpr) -> SqlExpr:
    """The bucket b(x) of `engines/float_sum.py`; `SPECIAL` for what is not finite, null for null."""
    size = sql.fn("abs", x.copy())
    usual = [
        (
            exp.And(
                this=exp.GTE(this=size.copy(), expression=sql.float_literal(2.0 ** (BUCKET_BITS * b))),
                expression=exp.LT(this=size.copy(), expression=sql.float_literal(2.0 ** (BUCKET_BITS * (b + 1)))),
            ),
            sql.number(b),
        )
        for b in USUAL_BUCKETS
    ]
    near = sql.cast(
        sql.fn("floor", exp.Div(this=sql.fn("log2", size.copy()), expression=sql.number(BUCKET_BITS))), sql.BIGINT
    )
    # log2 of a number just below a power of two may round up to it; powers of two themselves are exact.
    bound = sql.fn("pow", sql.float_literal(2.0), exp.Mul(this=near.copy(), expression=sql.number(BUCKET_BITS)))
    too_high = sql.cast(exp.LT(this=size, expression=bound), sql.BIGINT)
    bucket = sql.fn("greatest", exp.Sub(this=near, expression=too_high), sql.number(LOWEST_BUCKET))
    return sql.when(
        *usual,
        (exp.EQ(this=x.copy(), expression=sql.number(0)), sql.number(LOWEST_BUCKET)),
        (sql.fn("isfinite", x.copy()), bucket),
        (exp.Not(this=sql.is_null(x.copy())), sql.number(SPECIAL)),
    )


def _scale(bucket: SqlExpr) -> SqlExpr:
    scale = exp.Sub(
        this=sql.number(MANTISSA_BITS), expression=exp.Mul(this=sql.number(BUCKET_BITS), expression=bucket.copy())
    )
    return sql.fn("least", scale, sql.number(FINEST))


def _shifted(x: SqlExpr, scale: SqlExpr, sign: int) -> SqlExpr:
    """x * 2**(sign * scale), exactly: in two steps, since 2**1074 itself is no float64."""
    half = exp.Paren(this=exp.IntDiv(this=scale.copy(), expression=sql.number(2)))
    rest = exp.Paren(this=exp.Sub(this=scale.copy(), expression=half.copy()))
    steps = [exp.Mul(this=h, expression=sql.number(sign)) for h in (half, rest)]
    first, second = (sql.fn("pow", sql.float_literal(2.0), s) for s in steps)
    return exp.Mul(this=exp.Mul(this=sql.paren(x), expression=first), expression=second)


def digits_of(x: SqlExpr, bucket: SqlExpr) -> SqlExpr:
    """A value of a bucket as a 128-bit integer, exactly."""
    usual = [
        (
            exp.EQ(this=bucket.copy(), expression=sql.number(b)),
            exp.Mul(this=sql.paren(x.copy()), expression=sql.float_literal(2.0 ** (MANTISSA_BITS - BUCKET_BITS * b))),
        )
        for b in USUAL_BUCKETS
    ]
    return sql.cast(sql.when(*usual, otherwise=_shifted(x.copy(), _scale(bucket), 1)), sql.HUGEINT)


def value_of(digits: SqlExpr, bucket: SqlExpr) -> SqlExpr:
    """A bucket's integer as float64, rounded once."""
    return _shifted(sql.cast(digits, sql.DOUBLE), _scale(bucket), -1)


def float_digits(x: SqlExpr, bucket: SqlExpr, *, distinct: bool) -> SqlExpr:
    """The exact sum of the values of one bucket; there different values have different integers."""
    ordinary = exp.LT(this=bucket.copy(), expression=sql.number(SPECIAL))
    digits: SqlExpr = sql.when((ordinary, digits_of(x, bucket)))
    return sql.fn("sum", exp.Distinct(expressions=[digits]) if distinct else digits)


def float_special(x: SqlExpr, bucket: SqlExpr) -> SqlExpr:
    """The sum of the values that are not finite: an infinity or NaN in any order, null of none."""
    return sql.fn("sum", sql.when((exp.EQ(this=bucket.copy(), expression=sql.number(SPECIAL)), x.copy())))


def float_total(bucket: SqlExpr, digits: SqlExpr, special: SqlExpr, kept: SqlExpr) -> SqlExpr:
    """The sum of a group, from its buckets: the largest first, each rounded once. `kept` selects the rows."""
    value = value_of(digits, bucket)
    where = exp.Where(
        this=exp.And(this=exp.Paren(this=kept.copy()), expression=exp.Not(this=sql.is_null(bucket.copy())))
    )
    values = exp.Filter(
        this=sql.fn("list", exp.Order(this=value, expressions=[sql.ordered(bucket.copy(), descending=True)])),
        expression=where,
    )
    finite = without_negative_zero(added(values))
    unusual = exp.Filter(this=sql.fn("max", special), expression=exp.Where(this=kept.copy()))
    return sql.fn("coalesce", unusual, finite)


def added(values: SqlExpr) -> SqlExpr:
    """The float64 numbers of a list added from left to right."""
    first, second = f"{sql.RESERVED}sum", f"{sql.RESERVED}next"
    plus = exp.Add(this=sql.column(first), expression=sql.column(second))
    return sql.fn("list_reduce", values, sql.lambda_of([first, second], plus))


COMBINED: dict[str, str] = {"count": "sum", "count_if": "sum", "sum": "sum", "min": "min", "max": "max"} | {
    "any": "bool_or",
    "all": "bool_and",
}
"""Aggregates of a whole that an aggregate of the aggregates of its parts gives."""


def combines(call: AggregateCall) -> bool:
    """Whether `call` over a group can be had from its results over parts of the group."""
    return call.function in COMBINED and not call.distinct


def partial(call: AggregateCall, args: list[SqlExpr]) -> SqlExpr:
    """`call` over a part of a group; a sum keeps its 128 bits, one of wide decimals its parts."""
    if call.function != "sum":
        return aggregate(call, args, [])
    type_ = call.args[0].inferred.type
    if not decimal_sum.is_wide(type_):
        return sql.fn("sum", *args)
    return sql.struct({n: sql.fn("sum", part) for n, part in decimal_sum.arguments(args[0], type_).items()})


def combined(call: AggregateCall, part: SqlExpr) -> SqlExpr:
    """`call` over a group from its `partial` results."""
    if call.function == "sum" and decimal_sum.is_wide(call.args[0].inferred.type):
        names = (decimal_sum.USUAL, decimal_sum.HIGH, decimal_sum.LOW)
        return decimal_sum.whole({n: sql.fn("sum", sql.member(part, n)) for n in names}, call.inferred.type)
    whole = sql.fn(COMBINED[call.function], part)
    return sql.cast(whole, sql.sql_type(call.inferred.type)) if COMBINED[call.function] == "sum" else whole


def result_of(call: AggregateCall | WindowCall, total: SqlExpr, count: SqlExpr) -> SqlExpr:
    """A float form's result from the sum of its values (for a spread, of squared distances) and their number."""
    match call.function:
        case "sum":
            return total
        case "avg":
            return exp.Div(this=total, expression=count)
        case _:
            less = exp.Paren(this=exp.Sub(this=count.copy(), expression=sql.number(1)))
            spread = exp.Div(this=total, expression=sql.fn("nullif", less, sql.number(0)))
            return sql.fn("sqrt", spread) if call.function == "stddev" else spread
