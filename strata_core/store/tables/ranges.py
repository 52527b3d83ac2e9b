"""Between which values the columns of a run lie: what the log says of it, so that readers leave it out unopened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from .entries import Range

_LONGEST_TEXT = 64
"""Characters of a bound in the log at most."""


@dataclass(slots=True)
class Ranges:
    """The smallest and largest value of columns, gathered while rows pass: what prunes without opening a part."""

    columns: tuple[str, ...]
    bounds: dict[str, Range | None] = field(default_factory=dict)

    def watch(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` as they are."""
        for batch in batches:
            for name in self.columns:
                self._add(name, batch.column(name))
            yield batch

    def _add(self, name: str, column: pa.Array) -> None:
        found = _range_of(column) if self.bounds.get(name, ()) is not None else None
        before = self.bounds.get(name)
        if len(column) == 0:
            return
        if found is None:
            self.bounds[name] = None  # nothing is known from here on
        elif before is None:
            self.bounds[name] = found
        else:
            self.bounds[name] = (min(before[0], found[0]), max(before[1], found[1]))

    def found(self) -> MappingProxyType[str, Range]:
        """The ranges that are known of whole columns."""
        return MappingProxyType({name: bounds for name, bounds in self.bounds.items() if bounds is not None})


def _range_of(column: pa.Array) -> Range | None:
    """The range of a text, integer or temporal column; None for others, for nulls, and for long texts."""
    types, type_ = pa.types, column.type
    if column.null_count or not len(column):
        return None
    if types.is_temporal(type_) and not types.is_duration(type_):
        column = column.cast(pa.int32()).cast(pa.int64()) if type_.bit_width == 32 else column.cast(pa.int64())
    elif not (types.is_integer(type_) or types.is_string(type_)):
        return None
    low, high = (scalar.as_py() for scalar in pc.min_max(column).values())
    if isinstance(low, str) and (len(low) > _LONGEST_TEXT or len(high) > _LONGEST_TEXT):
        return None
    return low, high
