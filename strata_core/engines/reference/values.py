"""Values of the reference interpreter: equality, order and grouping, three-valued logic, and failure.

A value is plain Python: int, float, Decimal, str, bool, date, datetime, list (array), dict (map, struct) or
None (null). The laws (design `engines.md`): NaN equals NaN and is larger than every number; -0.0 and 0.0 are one
value, which no function tells apart; nulls stand last in both directions; nulls are one group; text is ordered by
code point.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from ...diagnostics import Diagnostic, StrataError
from ...types import Decimal, Int64, Money, ValueType
from ...types.values import MAX_PRECISION, MONEY_SCALE

Value: TypeAlias = (
    "int | float | decimal.Decimal | str | bool | datetime.date | datetime.datetime"
    " | list[Value] | dict[str, Value] | None"
)
Key: TypeAlias = tuple[object, ...]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
EXACT = decimal.Context(prec=800, Emin=-9999, Emax=9999, rounding=decimal.ROUND_HALF_UP)
"""Decimal arithmetic without rounding: 800 digits hold every double, and every product of two decimals."""


class MisfitError(ValueError):
    """A value has no place in the type it is asked for: overflow, or text that does not spell it."""


def failure(function: str, reason: str, values: Sequence[Value]) -> StrataError:
    """The error E090 of a computation: which function failed, why, and for which values."""
    shown = ", ".join(f"`{show(v)}`" for v in values)
    return StrataError(
        Diagnostic(
            "E090",
            f"`{function}` failed on {shown}: {reason}",
            fix="filter the offending rows, widen the type, or use `try_cast` for text that may not fit",
        )
    )


def show(value: Value) -> str:
    """A value as people write it, shortened."""
    text = "none" if value is None else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


def fit(value: Value, type_: ValueType) -> Value:
    """`value` as a value of `type_`, exact to its scale; raises `MisfitError` where it overflows."""
    match type_, value:
        case _, None:
            return None
        case Int64(), int():
            if not INT64_MIN <= value <= INT64_MAX:
                raise MisfitError(f"{value} is outside int64")
            return value
        case Decimal(), decimal.Decimal() | int():
            return quantized(decimal.Decimal(value), type_.precision, type_.scale)
        case Money(), decimal.Decimal() | int():
            return quantized(decimal.Decimal(value), MAX_PRECISION, MONEY_SCALE)
        case _:
            return value


def quantized(value: decimal.Decimal, precision: int, scale: int) -> decimal.Decimal:
    """`value` with exactly `scale` digits after the point (half away from zero); `MisfitError` past `precision`."""
    rounded = value.quantize(decimal.Decimal(1).scaleb(-scale), context=EXACT)
    if rounded.scaleb(scale, EXACT).copy_abs() >= 10**precision:
        raise MisfitError(f"{value} does not fit decimal({precision},{scale})")
    return rounded.copy_abs() if rounded.is_zero() else rounded


def order_key(value: Value) -> Any:
    """What two values of one type are compared by; `value` is not null."""
    match value:
        case float():
            return (1, 0.0) if math.isnan(value) else (0, value)
        case list():
            return tuple(sort_key(v) for v in value)
        case dict():
            return tuple((k, *sort_key(v)) for k, v in sorted(value.items()))
        case _:
            return value


def sort_key(value: Value) -> Key:
    """The key of an ascending order with nulls last; also the key that groups equal values, nulls into one."""
    return (1,) if value is None else (0, order_key(value))


def group_key(values: Sequence[Value]) -> Key:
    """Equal for two rows of values if and only if they belong to one group."""
    return tuple(sort_key(v) for v in values)


def conjunction(values: Sequence[Value]) -> bool | None:
    """Three-valued `and`: false if one is false, else null if one is null, else true."""
    if any(v is False for v in values):
        return False
    return None if any(v is None for v in values) else True


def disjunction(values: Sequence[Value]) -> bool | None:
    """Three-valued `or`: true if one is true, else null if one is null, else false."""
    if any(v is True for v in values):
        return True
    return None if any(v is None for v in values) else False
