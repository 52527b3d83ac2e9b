"""Exact rounding on 128-bit integers: money times and by a number, averages of money, `round` of decimals and floats.

DuckDB's own `round`, decimal division and DOUBLE quotients round otherwise or twice; here a value is a quotient and
a remainder, rounded once. What passes 38 digits aborts.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ...types import Decimal, Float64, Int64, Money, ValueType
from ...types.values import MAX_PRECISION, MONEY_SCALE
from . import sql
from .sql import SqlExpr

WIDEST_SHIFT = 18
"""Digits after the point up to which a fraction can be shifted to an integer inside a decimal."""
CENTS = Decimal(MAX_PRECISION, MONEY_SCALE)


def huge(value: int) -> SqlExpr:
    """A constant of 128 bits."""
    return sql.cast(sql.number(value) if abs(value) < 2**63 else sql.string(str(value)), sql.HUGEINT)


def _op(kind: type[exp.Binary], left: SqlExpr, right: SqlExpr) -> SqlExpr:
    return exp.Paren(this=kind(this=left.copy(), expression=right.copy()))


def quotient(dividend: SqlExpr, divisor: SqlExpr) -> SqlExpr:
    """The whole quotient, towards zero."""
    return _op(exp.IntDiv, dividend, divisor)


def remainder(dividend: SqlExpr, divisor: SqlExpr) -> SqlExpr:
    """What the whole quotient leaves, with the sign of the dividend."""
    return _op(exp.Mod, dividend, divisor)


def times(left: SqlExpr, right: SqlExpr) -> SqlExpr:
    """A product that aborts on overflow."""
    return _op(exp.Mul, left, right)


def plus(left: SqlExpr, right: SqlExpr) -> SqlExpr:
    """A sum that aborts on overflow."""
    return _op(exp.Add, left, right)


def unscaled(x: SqlExpr, type_: ValueType) -> SqlExpr:
    """The digits of `x` as one integer of 128 bits, exact over all 38 digits; `x` may stand more than once."""
    match type_:
        case Money():
            precision, scale = CENTS.precision, CENTS.scale
        case Decimal():
            precision, scale = type_.precision, type_.scale
        case _:
            return sql.cast(x.copy(), sql.HUGEINT)
    if scale == 0:
        return sql.cast(x.copy(), sql.HUGEINT)
    if precision + scale < MAX_PRECISION:
        return sql.cast(times(x, _power_of_ten(scale)), sql.HUGEINT)
    if scale > WIDEST_SHIFT:
        text = sql.cast(x.copy(), sql.VARCHAR)
        return sql.cast(sql.fn("replace", text, sql.string("."), sql.string("")), sql.HUGEINT)
    whole = sql.fn("trunc", x.copy())
    fraction = sql.cast(_op(exp.Sub, x, whole), sql.decimal_type(scale, scale))
    digits = sql.cast(times(fraction, _power_of_ten(scale)), sql.HUGEINT)
    return plus(times(sql.cast(whole, sql.HUGEINT), huge(10**scale)), digits)


def _power_of_ten(scale: int) -> SqlExpr:
    return sql.cast(sql.string(str(10**scale)), sql.decimal_type(max(sql.WIDE_DECIMAL, scale + 1), 0))


def scaled(digits: SqlExpr, scale: int, type_: ValueType) -> SqlExpr:
    """The number of `type_` with `digits` as its digits, `scale` of them after the point."""
    number = sql.cast(digits, sql.decimal_type(MAX_PRECISION, 0))
    if scale:
        unit = sql.cast(sql.string(f"0.{'0' * (scale - 1)}1"), sql.decimal_type(scale, scale))
        number = sql.cast(times(number, unit), sql.sql_type(type_))
    return number if scale else sql.cast(number, sql.sql_type(type_))


def _size(x: SqlExpr) -> SqlExpr:
    return sql.fn("abs", x.copy())


def _other_half(rest: SqlExpr, divisor: SqlExpr) -> SqlExpr:
    """What is missing to the next whole: compared with instead of doubling, which could overflow."""
    return _op(exp.Sub, divisor, _size(rest))


def _odd(whole: SqlExpr) -> SqlExpr:
    return exp.NEQ(this=remainder(whole, sql.number(2)), expression=sql.number(0))


AWAY: dict[str, Callable[[SqlExpr, SqlExpr, SqlExpr], SqlExpr]] = {
    "half_even": lambda whole, rest, divisor: exp.Or(
        this=exp.GT(this=_size(rest), expression=_other_half(rest, divisor)),
        expression=exp.Paren(
            this=exp.And(this=exp.EQ(this=_size(rest), expression=_other_half(rest, divisor)), expression=_odd(whole))
        ),
    ),
    "half_up": lambda whole, rest, divisor: exp.GTE(this=_size(rest), expression=_other_half(rest, divisor)),
    "half_down": lambda whole, rest, divisor: exp.GT(this=_size(rest), expression=_other_half(rest, divisor)),
    "up": lambda whole, rest, divisor: exp.NEQ(this=rest.copy(), expression=sql.number(0)),
    "down": lambda whole, rest, divisor: exp.false(),
    "ceiling": lambda whole, rest, divisor: exp.GT(this=rest.copy(), expression=sql.number(0)),
    "floor": lambda whole, rest, divisor: exp.LT(this=rest.copy(), expression=sql.number(0)),
}
"""When each mode takes the next whole number away from zero."""


def rounded(whole: SqlExpr, rest: SqlExpr, divisor: SqlExpr, mode: str) -> SqlExpr:
    """`whole + rest / divisor`, rounded once; `rest` has the sign of the exact value, `divisor` is positive."""
    step = sql.when((AWAY[mode](whole, rest, divisor), sql.fn("sign", rest.copy())), otherwise=sql.number(0))
    return plus(whole, step)


def divided(dividend: SqlExpr, divisor: SqlExpr, mode: str) -> SqlExpr:
    """`dividend / divisor` rounded once; both are integers, the divisor is positive, and both stand more than once."""
    return rounded(quotient(dividend, divisor), remainder(dividend, divisor), divisor, mode)


def money_times(amount: SqlExpr, factor: SqlExpr, factor_type: ValueType, mode: str, result: ValueType) -> SqlExpr:
    """The exact product of an amount and a number, rounded once to the cent."""
    scale = factor_type.scale if isinstance(factor_type, Decimal) else 0

    def narrow(cents: SqlExpr, digits: SqlExpr) -> SqlExpr:
        product = times(cents, digits)
        return divided(product, _whole(10**scale), mode) if scale else product

    def wide(cents: SqlExpr, digits: SqlExpr) -> SqlExpr:
        if scale == 0:
            return times(cents, digits)
        power = huge(10**scale)
        if scale > WIDEST_SHIFT:
            return divided(times(cents, digits), power, mode)
        # Both are split at `scale` digits, so that no part of the product passes 128 bits where the result does not.
        low = times(remainder(cents, power), remainder(digits, power))
        high = plus(times(cents, quotient(digits, power)), times(quotient(cents, power), remainder(digits, power)))
        return rounded(plus(high, quotient(low, power)), remainder(low, power), power, mode)

    return _on_cents(amount, factor, factor_type, narrow, wide, result)


def money_over(amount: SqlExpr, divisor: SqlExpr, divisor_type: ValueType, mode: str, result: ValueType) -> SqlExpr:
    """The exact quotient of an amount and a number, rounded once to the cent; null where the divisor is zero."""
    scale = divisor_type.scale if isinstance(divisor_type, Decimal) else 0

    def narrow(cents: SqlExpr, digits: SqlExpr) -> SqlExpr:
        size, dividend = _positive(cents, digits)
        return divided(times(dividend, _whole(10**scale)) if scale else dividend, size, mode)

    def wide(cents: SqlExpr, digits: SqlExpr) -> SqlExpr:
        size, dividend = _positive(cents, digits)
        whole, rest = quotient(dividend, size), remainder(dividend, size)
        if scale:
            power = huge(10**scale)
            shifted = times(rest, power)
            whole, rest = plus(times(whole, power), quotient(shifted, size)), remainder(shifted, size)
        return rounded(whole, rest, size, mode)

    return _on_cents(amount, divisor, divisor_type, narrow, wide, result)


def _positive(dividend: SqlExpr, divisor: SqlExpr) -> tuple[SqlExpr, SqlExpr]:
    """The divisor's size (null where it is zero), and the dividend with the sign of the quotient."""
    return sql.fn("nullif", _size(divisor), sql.number(0)), times(dividend, sql.fn("sign", divisor.copy()))


def _whole(value: int) -> SqlExpr:
    return sql.cast(sql.number(value), sql.BIGINT)


Cents = Callable[[SqlExpr, SqlExpr], SqlExpr]
"""From whole cents and the digits of a number to whole cents."""


def _on_cents(
    amount: SqlExpr, number: SqlExpr, type_: ValueType, narrow: Cents, wide: Cents, result: ValueType
) -> SqlExpr:
    """The amount of the cents that `narrow` computes in 64 bits; where it overflows, of those of `wide` in 128.

    Division in 128 bits takes ten times as long, and almost no amount needs it.
    """

    def apply(body: Cents, digits_of: Callable[[SqlExpr, ValueType], SqlExpr], a: SqlExpr, n: SqlExpr) -> SqlExpr:
        def with_cents(cents: SqlExpr) -> SqlExpr:
            return sql.once(
                "digits", digits_of(n, type_), lambda digits: scaled(body(cents, digits), MONEY_SCALE, result)
            )

        return sql.once("cents", digits_of(a, CENTS), with_cents)

    def both(a: SqlExpr, n: SqlExpr) -> SqlExpr:
        exact = apply(wide, unscaled, a, n)
        scale = type_.scale if isinstance(type_, Decimal) else 0
        if scale > WIDEST_NARROW_SHIFT:
            return exact
        return sql.fn("coalesce", sql.fn("try", apply(narrow, _narrow_digits, a, n)), exact)

    return sql.once("amount", amount, lambda a: sql.once("number", number, lambda n: both(a, n)))


WIDEST_NARROW_SHIFT = 17
NARROW_DIGITS = 18


def _narrow_digits(x: SqlExpr, type_: ValueType) -> SqlExpr:
    """The digits of `x` as one integer of 64 bits; aborts where they do not fit."""
    scale = type_.scale if isinstance(type_, Decimal) else 0
    if scale == 0:
        return sql.cast(x.copy(), sql.BIGINT)
    narrow = sql.cast(x.copy(), sql.decimal_type(NARROW_DIGITS, scale))
    power = sql.cast(sql.string(str(10**scale)), sql.decimal_type(scale + 1, 0))
    return sql.cast(times(narrow, power), sql.BIGINT)


def round_number(x: SqlExpr, source: ValueType, digits: int, mode: str, result: ValueType) -> SqlExpr:
    """`round(x, digits, mode)`; `floor` and `ceil` are such with no digits."""
    match source:
        case Int64():
            return x
        case Float64():
            return sql.once("float", x, lambda v: _round_float(v, digits, mode))
        case _:
            scale = source.scale if isinstance(source, Decimal) else MONEY_SCALE
            if digits >= scale:
                return sql.cast(x, sql.sql_type(result))

            def on(value: SqlExpr) -> SqlExpr:
                def on_digits(whole: SqlExpr) -> SqlExpr:
                    short = divided(whole, huge(10 ** (scale - digits)), mode)
                    if digits < 0:
                        return scaled(times(short, huge(10**-digits)), 0, result)
                    return scaled(short, digits, result)

                return sql.once("digits", unscaled(value, source), on_digits)

            return sql.once("decimal", x, on)


LARGEST_FRACTION = 2.0**52

_FLOATS: dict[str, Callable[[SqlExpr], SqlExpr]] = {
    "half_even": lambda x: sql.fn("round_even", x.copy(), sql.number(0)),
    "half_up": lambda x: _away_by(x, exp.GTE),
    "half_down": lambda x: _away_by(x, exp.GT),
    "up": lambda x: times(sql.fn("ceil", _size(x)), sql.fn("sign", x.copy())),
    "down": lambda x: sql.fn("trunc", x.copy()),
    "ceiling": lambda x: sql.fn("ceil", x.copy()),
    "floor": lambda x: sql.fn("floor", x.copy()),
}


def _away_by(x: SqlExpr, test: type[exp.Binary]) -> SqlExpr:
    below = sql.fn("floor", _size(x))
    away = test(this=_op(exp.Sub, _size(x), below), expression=sql.float_literal(0.5))
    step = sql.when((away, sql.float_literal(1.0)), otherwise=sql.float_literal(0.0))
    return times(plus(below, step), sql.fn("sign", x.copy()))


def _round_float(x: SqlExpr, digits: int, mode: str) -> SqlExpr:
    """`reference/rounding.py`, `round_float`, in the same float64 operations."""
    power = sql.float_literal(10.0**digits)
    product = times(x, power)
    small = exp.LT(this=_size(product), expression=sql.float_literal(LARGEST_FRACTION))
    value = _op(exp.Div, _FLOATS[mode](product), power)
    return sql.when((small, value), otherwise=x.copy())
