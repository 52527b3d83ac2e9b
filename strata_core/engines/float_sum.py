"""The reproducible sum of float64 values: one result over every order of rows, thread count and engine.

Definition (design `architecture.md`, Decision 8). Let W = `BUCKET_BITS`. A finite x other than zero falls into the
bucket

    b(x) = max(floor(log2(abs(x)) / W), LOWEST_BUCKET)        log2 exact: 2**(W*b) <= abs(x) < 2**(W*(b+1))

and counts there as the integer x * 2**s(b), exactly, with s(b) = min(52 - W*b, 1074). Each bucket's integers are
added exactly and the total is rounded once to float64 (half even) and scaled back by 2**-s(b). The buckets of a
group, the largest b first, are then added in float64 arithmetic, from left to right, starting at 0.0.

- Zeros add nothing; a sum of zeros is 0.0, never -0.0. Subnormals fall into the lowest bucket, where every multiple
  of 2**-1074 is an integer.
- A NaN, or infinities of both signs, make NaN; infinities of one sign make that infinity; what overflows is infinite.
- An integer has at most W + 53 bits: with W = 32 a 128-bit integer adds 2**42 values of any size without overflow.
  (The design's W = 48 overflows from 2**27 values on: a column of ratios near 1 has more.)

`avg` is this sum divided by the count; `variance` is the mean of the squared distances from that `avg`, by this sum
too, over n - 1; `stddev` is its square root.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

BUCKET_BITS = 32
LOWEST_BUCKET = -32
MANTISSA_BITS = 52
FINEST = 1074


def bucket_of(x: float) -> int:
    """The bucket of a finite number other than zero.

    >>> bucket_of(1.0), bucket_of(0.75), bucket_of(5e-324)
    (0, -1, -32)
    """
    _, exponent = math.frexp(x)
    return max((exponent - 1) // BUCKET_BITS, LOWEST_BUCKET)


def scale_of(bucket: int) -> int:
    """The power of two that makes every number of a bucket an integer."""
    return min(MANTISSA_BITS - BUCKET_BITS * bucket, FINEST)


def float_sum(values: Iterable[float]) -> float:
    """The reproducible sum of `values`.

    >>> float_sum([1e16, 1.0, -1e16]), float_sum([])
    (1.0, 0.0)
    """
    totals: dict[int, int] = {}
    special = 0.0
    for x in values:
        if not math.isfinite(x):
            special += x
        elif x != 0:
            bucket = bucket_of(x)
            totals[bucket] = totals.get(bucket, 0) + _scaled(x, scale_of(bucket))
    if special != 0:
        return special
    result = 0.0
    for bucket in sorted(totals, reverse=True):
        result += _unscaled(totals[bucket], scale_of(bucket))
    return result + 0.0


def _scaled(x: float, scale: int) -> int:
    numerator, denominator = x.as_integer_ratio()
    return (numerator << scale) // denominator if scale >= 0 else numerator // (denominator << -scale)


def _unscaled(total: int, scale: int) -> float:
    try:
        return math.ldexp(float(total), -scale)
    except OverflowError:
        return math.copysign(math.inf, total)
