"""Rounding modes: `half_even`, `half_up` and `half_down` (ties away from and towards zero), `up` and `down` (away
from and towards zero), `ceiling` and `floor`; on exact numbers once, on float64 in float64 arithmetic."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from fractions import Fraction

from .values import EXACT

MODES: dict[str, str] = {
    "half_even": decimal.ROUND_HALF_EVEN,
    "half_up": decimal.ROUND_HALF_UP,
    "half_down": decimal.ROUND_HALF_DOWN,
    "up": decimal.ROUND_UP,
    "down": decimal.ROUND_DOWN,
    "ceiling": decimal.ROUND_CEILING,
    "floor": decimal.ROUND_FLOOR,
}
LARGEST_FRACTION = 2.0**52


def round_decimal(value: decimal.Decimal, digits: int, mode: str) -> decimal.Decimal:
    """`value` with at most `digits` digits after the point."""
    return value.quantize(decimal.Decimal(1).scaleb(-digits), MODES[mode], EXACT)


def round_fraction(value: Fraction, digits: int, mode: str) -> decimal.Decimal:
    """`value`, rounded once to `digits` digits after the point.

    >>> round_fraction(Fraction(1, 3), 2, "up"), round_fraction(Fraction(-5, 1000), 2, "half_up")
    (Decimal('0.34'), Decimal('-0.01'))
    """
    scaled = abs(value) * 10**digits
    whole, rest = divmod(scaled.numerator, scaled.denominator)
    # One digit that stands for everything cut off: 0 nothing, 5 exactly half, 2 and 7 on either side of it.
    tail = 0 if rest == 0 else 5 if 2 * rest == scaled.denominator else 2 if 2 * rest < scaled.denominator else 7
    sign = -1 if value < 0 else 1
    return round_decimal(decimal.Decimal(sign * (whole * 10 + tail)).scaleb(-digits - 1, EXACT), digits, mode)


def round_float(value: float, digits: int, mode: str) -> float:
    """`round(x * 10**digits) / 10**digits` in float64 arithmetic; x where the product has no fraction left."""
    power = 10.0**digits
    scaled = value * power
    if not abs(scaled) < LARGEST_FRACTION:
        return value
    return math.copysign(_FLOATS[mode](abs(scaled), scaled < 0), scaled) / power + 0.0


_FLOATS: dict[str, Callable[[float, bool], float]] = {
    "half_even": lambda size, negative: float(round(size)),
    "half_up": lambda size, negative: float(math.floor(size) + (size - math.floor(size) >= 0.5)),
    "half_down": lambda size, negative: float(math.floor(size) + (size - math.floor(size) > 0.5)),
    "up": lambda size, negative: float(math.ceil(size)),
    "down": lambda size, negative: float(math.floor(size)),
    "ceiling": lambda size, negative: float(math.floor(size) if negative else math.ceil(size)),
    "floor": lambda size, negative: float(math.ceil(size) if negative else math.floor(size)),
}
