"""Sums of wide decimals and of money in DuckDB, exact where parts of the sum pass the 128 bits in which it adds.

DuckDB fails on 9e37 + 9e37 - 9e37, in some orders of the rows and in frames of other rows, though the sum fits. So
values of more than 28 digits, which are rare, are added apart from the others, in two halves of 19 digits each; of
neither do sums overflow below 10**9 rows. What the whole makes of its parts aborts where it passes 38 digits.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping

from sqlglot import exp

from ...types import Decimal, Money, ValueType
from ...types.values import MAX_PRECISION, MONEY_SCALE
from . import rounding, sql
from .sql import SqlExpr

USUAL_DIGITS = 28
"""Digits of values that are added as they are."""
HALF = 10**19
HIGHEST = 15 * HALF // 10
"""The sum of the higher halves beyond which no sum fits: it times `HALF` has 128 bits."""
TOO_LARGE = "a sum has more than 38 digits"
USUAL, HIGH, LOW = "usual", "high", "low"


def is_wide(type_: ValueType) -> bool:
    """Whether values of `type_` may have so many digits."""
    return isinstance(type_, Money) or (isinstance(type_, Decimal) and type_.precision > USUAL_DIGITS)


def arguments(x: SqlExpr, type_: ValueType) -> dict[str, SqlExpr]:
    """What is added of a value, by the name of its part; null in the parts in which it has no place."""
    text = format(decimal.Decimal(1).scaleb(USUAL_DIGITS - _scale(type_)), "f")
    limit = sql.cast(sql.string(text), sql.sql_type(type_))
    usual = exp.Between(this=sql.paren(x.copy()), low=exp.Neg(this=limit), high=limit.copy())
    digits = rounding.unscaled(sql.paren(x), type_)
    half = rounding.huge(HALF)
    return {
        USUAL: sql.when((usual, x.copy())),
        HIGH: sql.when((exp.Not(this=usual.copy()), rounding.quotient(digits, half))),
        LOW: sql.when((exp.Not(this=usual.copy()), rounding.remainder(digits, half))),
    }


def distinct(x: SqlExpr, type_: ValueType, over: Callable[[SqlExpr], SqlExpr]) -> SqlExpr:
    """The sum of the different values: of equal halves of two values each would count once."""
    value = sql.column(f"{sql.RESERVED}value")

    def total(values: SqlExpr) -> SqlExpr:
        sums = {
            part: sql.fn("list_sum", sql.fn("list_transform", values.copy(), sql.lambda_of([value.name], each)))
            for part, each in arguments(value, type_).items()
        }
        return whole(sums, type_)

    return sql.once("values", over(sql.fn("list", exp.Distinct(expressions=[x]))), total)


def whole(sums: Mapping[str, SqlExpr], type_: ValueType) -> SqlExpr:
    """The sum, from the sums of its parts; null where there was no value."""
    scale = _scale(type_)

    def with_halves(parts: SqlExpr) -> SqlExpr:
        usual, high, low = (sql.member(parts, name) for name in (USUAL, HIGH, LOW))
        rest = sql.fn("coalesce", usual, sql.cast(sql.number(0), sql.decimal_type(MAX_PRECISION, scale)))
        usual_digits = rounding.unscaled(rest, Decimal(MAX_PRECISION, scale))
        digits = rounding.plus(rounding.plus(rounding.times(high, rounding.huge(HALF)), low), usual_digits)
        bounded = _within(high, HIGHEST, digits)
        return sql.once(
            "digits", bounded, lambda d: rounding.scaled(_within(d, 10**MAX_PRECISION - 1, d), scale, type_)
        )

    return sql.when(
        (sql.is_null(sums[HIGH].copy()), sql.cast(sums[USUAL].copy(), sql.sql_type(type_))),
        otherwise=sql.once("sums", sql.struct({name: part.copy() for name, part in sums.items()}), with_halves),
    )


def _within(number: SqlExpr, limit: int, value: SqlExpr) -> SqlExpr:
    """`value`, where `number` is not larger than `limit` in size; else the computation fails."""
    larger = exp.GT(this=sql.fn("abs", number.copy()), expression=rounding.huge(limit))
    return sql.when((larger, sql.raise_error(TOO_LARGE, sql.HUGEINT)), otherwise=value.copy())


def _scale(type_: ValueType) -> int:
    return type_.scale if isinstance(type_, Decimal) else MONEY_SCALE
