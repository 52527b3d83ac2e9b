"""Aggregates of the reference interpreter: one function per row of the catalog, over the values of a group.

A function takes the values that are not null, in the order of the group's rows, and the result's type; it answers
null for a group without any, as the catalog says. Sums are exact; float64 sums are reproducible to the bit
(`engines/float_sum.py`). Raises `MisfitError` where a result overflows.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ...types import Money, ValueType
from ...types.values import MAX_PRECISION
from ..float_sum import float_sum
from .rounding import round_fraction
from .values import EXACT, MisfitError, Value, order_key

Values = Sequence[Any]
AggregateFunction = Callable[[Values, ValueType], Value]


def total(values: Values, _: ValueType) -> Value:
    """The exact sum, of float64 the reproducible one; null of none."""
    return add_up(values) if values else None


def add_up(values: Values) -> Any:
    """The sum of at least one value; raises `MisfitError` where a decimal sum passes 38 digits."""
    match values[0]:
        case float():
            return float_sum(values)
        case decimal.Decimal():
            result = decimal.Decimal(0)
            for value in values:
                result = EXACT.add(result, value)
            if len(result.as_tuple().digits) > MAX_PRECISION:
                raise MisfitError("the sum has more than 38 digits")
            return result
        case _:
            return sum(values)


def mean(values: Values, result: ValueType) -> Value:
    """The sum as float64 divided by the count; of money, the exact quotient rounded half even to the cent."""
    if not values:
        return None
    if isinstance(result, Money):
        return round_fraction(Fraction(add_up(values)) / len(values), 2, "half_even")
    return float(add_up(values)) / len(values)


def smallest(values: Values, _: ValueType) -> Value:
    """The smallest value; null of none."""
    return min(values, key=order_key, default=None)


def largest(values: Values, _: ValueType) -> Value:
    """The largest value, NaN before all; null of none."""
    return max(values, key=order_key, default=None)


def median(values: Values, _: ValueType) -> Value:
    """The middle value, or halfway between the two middle ones, as the sum of their halves; null of none."""
    if not values:
        return None
    ordered = sorted(map(float, values), key=order_key)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else ordered[middle - 1] * 0.5 + ordered[middle] * 0.5


def quantile(values: Values, share: float) -> Value:
    """The value at `share` of the way from the first to the last, between two neighbours in proportion."""
    if not values:
        return None
    ordered = sorted(map(float, values), key=order_key)
    place = (len(ordered) - 1) * share
    lower, upper = ordered[math.floor(place)], ordered[min(math.floor(place) + 1, len(ordered) - 1)]
    return lower if order_key(lower) == order_key(upper) else lower + (upper - lower) * (place - math.floor(place))


def variance(values: Values, _: ValueType) -> Value:
    """The sample variance in two passes of reproducible sums; null of fewer than two values."""
    if len(values) < 2:
        return None
    centre = float_sum(values) / len(values)
    return float_sum([(x - centre) * (x - centre) for x in values]) / (len(values) - 1)


def stddev(values: Values, result: ValueType) -> Value:
    """The square root of the sample variance."""
    spread = variance(values, result)
    return math.sqrt(spread) if isinstance(spread, float) else None


def collect(values: Values, _: ValueType) -> Value:
    """The values as an array; null of none."""
    return list(values) if values else None


AGGREGATES: dict[str, AggregateFunction] = {
    "count": lambda values, _: len(values),
    "count_if": lambda values, _: sum(values),
    "sum": total,
    "avg": mean,
    "min": smallest,
    "max": largest,
    "any": lambda values, _: any(values) if values else None,
    "all": lambda values, _: all(values) if values else None,
    "median": median,
    "variance": variance,
    "stddev": stddev,
    "array_agg": collect,
    "first": lambda values, _: values[0] if values else None,
    "last": lambda values, _: values[-1] if values else None,
}
WITH_OPTIONS: dict[str, Callable[..., Value]] = {"quantile": quantile}
"""Aggregates with further arguments, which are literals."""
KEEPS_NULLS = frozenset({"first", "last"})
"""Aggregates that read a row, not a value: a null in that row is their result."""


def aggregate(
    name: str, values: Sequence[Value], result: ValueType, *, whole_rows: bool, options: Sequence[Value] = ()
) -> Value:
    """The aggregate `name`; `whole_rows` says that it has no argument and counts rows. `options` are its further
    arguments, which are literals."""
    kept = values if whole_rows or name in KEEPS_NULLS else [v for v in values if v is not None]
    if name in WITH_OPTIONS:
        return WITH_OPTIONS[name](kept, *options)
    return AGGREGATES[name](kept, result)
