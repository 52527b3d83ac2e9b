"""Per column: nulls and range, from the footers that the Parquet writer computes anyway."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import instant
from .document import JSON
from .manifest import ColumnStatistics

LONGEST_TEXT = 256
"""Characters of a text bound at most: a longer one is left out."""
_PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def of_columns(
    schema: pa.Schema, footers: Sequence[pq.FileMetaData], null_counts: Sequence[Sequence[int]]
) -> Mapping[str, ColumnStatistics]:
    """Statistics of each column over all parts; `null_counts` has, for each part, one count a column."""
    nulls = [sum(counts) for counts in zip(*null_counts, strict=True)]
    found: dict[str, ColumnStatistics] = {}
    leaf = 0
    for field, null_count in zip(schema, nulls, strict=True):
        found[field.name] = ColumnStatistics(null_count, *_range(field.type, leaf, footers))
        leaf += _leaves(field.type)
    return MappingProxyType(found)


def _leaves(type_: pa.DataType) -> int:
    """How many Parquet columns hold a column of this type."""
    if pa.types.is_nested(type_):
        return sum(_leaves(type_.field(i).type) for i in range(type_.num_fields))
    return 1


def _range(type_: pa.DataType, leaf: int, footers: Sequence[pq.FileMetaData]) -> tuple[JSON, JSON]:
    spell = _spelling(type_)
    if spell is None:
        return None, None
    groups = (footer.row_group(i) for footer in footers for i in range(footer.num_row_groups))
    known = []
    for chunk in (group.column(leaf) for group in groups):
        statistics = chunk.statistics
        if statistics is not None and statistics.has_min_max:
            known.append(statistics)
        elif statistics is None or (statistics.num_values and not pa.types.is_floating(type_)):
            return None, None  # the writer left out a bound that it found too long
    if not known:
        return None, None
    if pa.types.is_temporal(type_):
        return spell(min(s.min_raw for s in known)), spell(max(s.max_raw for s in known))
    return spell(min(s.min for s in known)), spell(max(s.max for s in known))


def _spelling(type_: pa.DataType) -> Callable[[Any], JSON] | None:
    """How a bound of this type is written in JSON; None for types whose range says nothing to people."""
    types = pa.types
    if types.is_boolean(type_) or types.is_integer(type_):
        return _same
    if types.is_float32(type_) or types.is_float64(type_):
        return _float
    if types.is_decimal(type_):
        return _decimal
    if types.is_string(type_):
        return _text
    if types.is_date32(type_):
        return _day
    if types.is_timestamp(type_):
        per_second = _PER_SECOND[type_.unit]
        return _aware(per_second) if type_.tz else _naive(per_second)
    return None


def _same(value: bool | int) -> JSON:
    return value


def _float(value: float) -> JSON:
    return value + 0.0 if math.isfinite(value) else str(value)  # the footer's zero may be -0.0


def _decimal(value: Decimal) -> JSON:
    return format(value, "f")


def _text(value: str) -> JSON:
    return value if len(value) <= LONGEST_TEXT else None


def _day(value: int) -> JSON:
    try:
        return (date(1970, 1, 1) + timedelta(days=value)).isoformat()
    except OverflowError:
        return None


def _aware(per_second: int) -> Callable[[int], JSON]:
    def spell(value: int) -> JSON:
        try:
            return instant.spell(value * (1_000_000_000 // per_second))
        except OverflowError:
            return None

    return spell


def _naive(per_second: int) -> Callable[[int], JSON]:
    aware = _aware(per_second)

    def spell(value: int) -> JSON:
        spelled = aware(value)
        return spelled.removesuffix("Z") if isinstance(spelled, str) else None

    return spell
