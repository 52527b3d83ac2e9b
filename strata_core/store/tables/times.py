"""Times of any unit and zone compared as instants, without leaving 64 bits. A time without a zone is UTC."""

from __future__ import annotations

from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from ... import instants
from ..instant import Instant

PER_UNIT = MappingProxyType({"ms": 1_000_000, "us": 1_000, "ns": 1})
"""Nanoseconds of each unit that the store keeps."""


def at_most(column: pa.Array, at: Instant) -> pa.Array:
    """Whether a time is at or before `at`; null where it is null. Compared in the column's own unit."""
    return pc.less_equal(column.cast(pa.int64()), at // PER_UNIT[column.type.unit])


def before(column: pa.Array, at: Instant) -> pa.Array:
    """Whether a time is before `at`; false where it is null."""
    return pc.fill_null(at_most(column, at - 1), False)


def covers(from_: pa.Array, to: pa.Array | None, at: Instant) -> pa.Array:
    """Seed 1 *valid-as-of*: `from <= at AND (to IS NULL OR to > at)`."""
    begun = pc.fill_null(at_most(from_, at), False)
    return begun if to is None else pc.and_(begun, pc.invert(pc.fill_null(at_most(to, at), False)))


def nanoseconds(column: pa.Array) -> pa.Array:
    """Times as nanoseconds; those outside 64 bits stand at the ends, beyond every instant that can be asked for."""
    per = PER_UNIT[column.type.unit]
    raw = column.cast(pa.int64())
    if per == 1:
        return raw
    # Rounded inwards, both: a multiple beyond 64 bits would come out at the other end.
    lowest, highest = pa.scalar(-(-instants.EARLIEST // per)), pa.scalar(instants.LATEST // per)
    inside = pc.max_element_wise(pc.min_element_wise(raw, highest, skip_nulls=False), lowest, skip_nulls=False)
    return pc.multiply(inside, per)
