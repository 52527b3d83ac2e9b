"""Operators and maths of the reference interpreter, on values that are not null.

int64 and decimal are exact; float64 follows IEEE 754 (what overflows is infinite, what is undefined is NaN).
"""

from __future__ import annotations

import decimal
import hashlib
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...types.values import MONEY_SCALE
from .patterns import like, rlike
from .rounding import round_decimal, round_float, round_fraction
from .values import EXACT, Value, order_key


def arithmetic(exact: Callable[..., Value], inexact: Callable[..., Value]) -> Callable[..., Value]:
    """A function that is `exact` on decimals and `inexact` on everything else."""

    def apply(x: Any, y: Any) -> Value:
        return exact(x, y) if isinstance(x, decimal.Decimal) else inexact(x, y)

    return apply


def divide(x: Any, y: Any) -> Value:
    """The quotient as float64; null where the divisor is zero."""
    return None if y == 0 else float(x) / float(y)


def modulo(x: Any, y: Any) -> Value:
    """The remainder with the sign of the dividend; null where the divisor is zero."""
    if y == 0:
        return None
    if isinstance(x, int):
        rest: int = abs(x) % abs(y)
        return -rest if x < 0 else rest
    return math.fmod(x, y) if math.isfinite(x) else math.nan


def money_multiply(amount: Any, factor: Any, digits: int, mode: str) -> Value:
    """The exact product, rounded once."""
    return round_fraction(Fraction(amount) * Fraction(factor), digits, mode)


def money_divide(amount: Any, divisor: Any, digits: int, mode: str) -> Value:
    """The exact quotient, rounded once; null where the divisor is zero."""
    return None if divisor == 0 else round_fraction(Fraction(amount) / Fraction(divisor), digits, mode)


def compare(test: Callable[[Any, Any], bool]) -> Callable[..., Value]:
    """A comparison in the order of `values.order_key`."""

    def apply(x: Value, y: Value) -> Value:
        return test(order_key(x), order_key(y))

    return apply


def negate(x: Any) -> Value:
    """The number with its sign changed."""
    negated: Value = x.copy_negate() if isinstance(x, decimal.Decimal) else -x
    return negated


def absolute(x: Any) -> Value:
    """The size of a number."""
    size: Value = x.copy_abs() if isinstance(x, decimal.Decimal) else abs(x)
    return size


def rounded(x: Any, digits: int = 0, mode: str = "half_up") -> Value:
    """`x` to `digits` digits after the point."""
    match x:
        case int():
            return x
        case float():
            return round_float(x, digits, mode)
        case _:
            return round_decimal(x, digits, mode)


def whole(mode: str) -> Callable[..., Value]:
    """`floor` or `ceil`."""

    def apply(x: Any) -> Value:
        return rounded(x, 0, mode)

    return apply


def sign(x: Any) -> Value:
    """-1, 0 or 1; of NaN, which is larger than every number, 1."""
    return 1 if x != x or x > 0 else -1 if x < 0 else 0


def logarithm(of: Callable[[float], float]) -> Callable[..., Value]:
    """`of`, -inf at zero and NaN below."""

    def apply(x: float) -> Value:
        return of(x) if x > 0 else -math.inf if x == 0 else math.nan

    return apply


def exponential(x: float) -> Value:
    """e to the power of `x`."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def power(x: float, y: float) -> Value:
    """`x` to the power of `y`, as IEEE 754 `pow`."""
    try:
        return math.pow(x, y)
    except OverflowError:
        odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
        return -math.inf if x < 0 and odd else math.inf
    except ValueError:
        return math.inf if x == 0 else math.nan


def on_circle(of: Callable[[float], float]) -> Callable[..., Value]:
    """`of`, NaN where it is undefined."""

    def apply(x: float) -> Value:
        try:
            return of(x)
        except ValueError:
            return math.nan

    return apply


def draw(seed: int, key: str) -> Value:
    """The number from 0 up to 1 that belongs to the key under this seed."""
    return int(hashlib.sha256(f"{seed}:{key}".encode()).hexdigest()[:13], 16) / 2.0**52


MATHS: dict[str, Callable[..., Value]] = {
    "add": arithmetic(EXACT.add, operator.add),
    "subtract": arithmetic(EXACT.subtract, operator.sub),
    "multiply": arithmetic(EXACT.multiply, operator.mul),
    "divide": divide,
    "modulo": modulo,
    "money_multiply": money_multiply,
    "money_divide": money_divide,
    "convert": lambda amount, rate, _: money_multiply(amount, rate, MONEY_SCALE, "half_even"),
    "concat_op": operator.add,
    "eq": compare(operator.eq),
    "ne": compare(operator.ne),
    "lt": compare(operator.lt),
    "le": compare(operator.le),
    "gt": compare(operator.gt),
    "ge": compare(operator.ge),
    "not": operator.not_,
    "negate": negate,
    "like": like,
    "rlike": rlike,
    "abs": absolute,
    "round": rounded,
    "floor": whole("floor"),
    "ceil": whole("ceiling"),
    "sign": sign,
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "exp": exponential,
    "ln": logarithm(math.log),
    "log10": logarithm(math.log10),
    "power": power,
    "pi": lambda: math.pi,
    "trunc": whole("down"),
    "log2": logarithm(math.log2),
    **{name: on_circle(getattr(math, name)) for name in ("sin", "cos", "tan", "asin", "acos", "atan")},
    "atan2": math.atan2,
    "degrees": math.degrees,
    "radians": math.radians,
    "is_nan": math.isnan,
    "is_finite": math.isfinite,
    "bit_and": operator.and_,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
    "random": draw,
}
