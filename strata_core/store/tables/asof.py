"""Rows joined with a table as it was at an instant of each: which row held, as far as it was known by then.

For every row on the left the answer is that of a read with the row's own `valid_as_of` and `available_as_of`, for its
key: the latest interval that covers the instant, in the vintage that was known (Seed 1 *valid-as-of*,
*available-as-of*, *vintage-rows*). Row age, row conditions, tenant, masks and the filter see the row that was found, so
that a hidden one leaves nothing rather than the one before it (*beneath-enforcement*).

The left side is streamed. The table's rows, every vintage of them, are held in memory (`asof_rows.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import pyarrow as pa

from ... import instants
from ...contract.model import MaskRule
from ...durations import duration
from ..instant import Instant
from . import times
from .arrivals import Arrival, Target, arrival
from .asof_rows import NONE, By, SortedRows, whole
from .declaration import TableDeclaration
from .errors import StoreError
from .reading import Read, unknown_column

if TYPE_CHECKING:
    from .frontier import Frontier

LEFT = "_left"
"""The number of the left row that a found row belongs to: a name of the store's own, which no column can have."""
FIRST_YEAR, LAST_YEAR = 1678, 2261
"""The whole years that nanoseconds in 64 bits hold."""


@dataclass(frozen=True, slots=True)
class Asof:
    """How rows are joined: `by` pairs columns of the left side with columns of the table; `at` and `available` are
    columns of the left side, `within` nanoseconds. Columns of the table are called `prefix` and their name."""

    by: By
    at: str | None
    available: str | None
    within: int | None
    how: Literal["left", "inner"]
    prefix: str


@dataclass(frozen=True)
class AsofRead:
    """The rows of a left side, each with the row of a table that held at its instant. `right` reads all vintages."""

    data: Any
    right: Read
    asked: Asof

    @property
    def bounds(self) -> Mapping[str, str | bool] | None:
        """The echo of the bounds that hold for all rows: `as_of`, where it was given."""
        return self.right.bounds

    @property
    def frontier(self) -> Frontier:
        """What of the table is read."""
        return self.right.frontier

    @cached_property
    def schema(self) -> pa.Schema:
        """The left columns, then those of the table."""
        return self._schema(self._left().schema)

    def arrow(self) -> pa.Table:
        """All rows in memory."""
        return self.reader().read_all()

    def reader(self) -> pa.RecordBatchReader:
        """The rows, streamed, in the order of the left side. A left side that can be read once is read now."""
        left = self._left()
        schema = self._schema(left.schema)
        return pa.RecordBatchReader.from_batches(schema, self._batches(left, schema))

    def lazy(self) -> pl.LazyFrame:
        """The rows as a polars frame."""
        frame = pl.from_arrow(self.arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame.lazy()

    def check(self) -> None:
        """Raises what can be known before the first row."""
        declared, left = self.right.declared, self._left().schema
        self._check_instants()
        for ours, theirs in self.asked.by:
            type_ = _column(declared.name, left, ours).type
            self._check_key(theirs)
            shown = self.right.enforcement.schema(self.right.table_schema).field(theirs).type
            if not {_kind(type_), _kind(shown)} & {"null"} and _kind(type_) != _kind(shown):
                message = f"{ours} is {type_}, and {theirs} of the table is {shown}: no rows would match"
                raise _invalid(declared.name, message, f"cast {ours}, or name another column in `by`")
        for name in (self.asked.at, self.asked.available):
            if name is not None:
                _check_instant(declared.name, name, _column(declared.name, left, name).type)
        missing = [c for c in declared.primary_key if c not in {theirs for _, theirs in self.asked.by}]
        if missing:
            message = f"rows of several keys would match: `by` leaves out {', '.join(missing)}"
            raise _invalid(
                declared.name, message, f"name every column of the primary key: {', '.join(declared.primary_key)}"
            )
        taken = [f.name for f in self._right_fields if f.name in left.names]
        if taken:
            message = f"both sides have a column {taken[0]}"
            raise _invalid(declared.name, message, 'choose the table\'s with `columns`, or give `prefix="…"`')

    def _check_instants(self) -> None:
        declared, asked = self.right.declared, self.asked
        if asked.how not in ("left", "inner"):
            raise _invalid(declared.name, f"there is no how={asked.how!r}", 'give "left" or "inner"')
        if asked.at is None and declared.valid_time is not None:
            message = "a row holds from its valid time on, and `at` does not say which instant is asked for"
            raise _invalid(declared.name, message, "name the left side's column of instants: `at=…`")
        if asked.at is not None and declared.valid_time is None:
            message = f"table {declared.name} declares no valid_time, so that nothing is valid at an instant"
            fix = "declare [pipeline.tables.valid_time], or join without `at`"
            raise StoreError("StoreValidTimeUndeclared", declared.name, message, fix)
        if asked.available is not None and declared.available_time is None:
            message = (
                f"table {declared.name} declares no available_time, so that nothing is known of when it was available"
            )
            fix = "declare [pipeline.tables.available_time], or join without `available_as_of`"
            raise StoreError("StoreAvailableTimeUndeclared", declared.name, message, fix)
        if asked.at is None and asked.available is None:
            fix = "give `available_as_of`, or `read` the table"
            raise _invalid(declared.name, "no instant is given", fix)
        if asked.within is not None and asked.at is None:
            raise _invalid(declared.name, "`within` is a distance from `at`", "give `at` as well")
        if asked.available is not None and declared.available_time and declared.available_time.adjustment is not None:
            message = "its columns are adjusted by what was known at one bound, not at one for each row"
            fix = "join without `available_as_of`, or read the table with `available_as_of`, one decision at a time"
            raise _invalid(declared.name, message, fix)

    def _check_key(self, name: str) -> None:
        """A column is compared as the reader sees it, which is of use where equal values stay equal."""
        declared, enforcement = self.right.declared, self.right.enforcement
        mask = enforcement.masks.get(name)
        if name not in self.right.table_schema.names or (mask is not None and mask.rule is MaskRule.DROP):
            raise unknown_column(declared.name, name, enforcement.schema(self.right.table_schema).names)
        if mask is not None and mask.rule is not MaskRule.HASH:
            message = f"{name} is masked for this reader, so that its values cannot be told apart"
            raise _invalid(declared.name, message, "read with a principal that is cleared for it")

    def _left(self) -> Arrival:
        return arrival(Target(self.right.declared.name, {}, masked=True), self.data)

    @cached_property
    def _right_fields(self) -> list[pa.Field]:
        return [pa.field(f"{self.asked.prefix}{f.name}", f.type) for f in self.right.schema]

    def _schema(self, left: pa.Schema) -> pa.Schema:
        return pa.schema([*left, *self._right_fields])

    def _batches(self, left: Arrival, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        rows = SortedRows.of(self.right, self.asked.by, bounded=self.asked.available is not None)
        for batch in left.batches:
            found = self._found(batch, rows)
            if self.asked.how == "inner":
                there = np.flatnonzero(found.places != NONE)
                batch, places = batch.take(pa.array(there)), found.places[there]
            else:
                places = found.places
            taken = found.rows.take(pa.array(places, mask=places == NONE))
            yield pa.RecordBatch.from_arrays([*batch.columns, *taken.columns], schema=schema)

    def _found(self, batch: pa.RecordBatch, rows: SortedRows) -> _Found:
        """What the reader may see of the rows that are found, and its place for each row of `batch`."""
        declared = self.right.declared
        zone = declared.available_time.zone if declared.available_time else "UTC"
        at = _instants(declared.name, batch, self.asked.at, "UTC")
        known = _instants(declared.name, batch, self.asked.available, zone)
        matches = rows.matches(rows.groups(batch), at, known, self.asked.within)
        there = np.flatnonzero(matches != NONE)
        taken = rows.table.take(pa.array(rows.order[matches[there]])).combine_chunks()
        arrays = [whole(column) for column in taken.columns]
        shown = pa.RecordBatch.from_arrays([*arrays, pa.array(there)], names=[*taken.column_names, LEFT])
        for step in self.right.showing((LEFT,)):
            shown = step(shown)
        places = np.full(batch.num_rows, NONE, dtype=np.int64)
        places[shown.column(LEFT).to_numpy()] = np.arange(shown.num_rows)
        return _Found(shown.select(list(self.right.schema.names)), places)


@dataclass(frozen=True, slots=True)
class _Found:
    rows: pa.RecordBatch
    places: np.ndarray


def _instants(table: str, batch: pa.RecordBatch, name: str | None, zone: str) -> np.ndarray:
    """The last instant within the bound that each row's value means: a date is its whole day in `zone`. A null is
    before everything; without a column every instant is asked for. StoreBoundInvalid for what no calendar has."""
    if name is None:
        return np.full(batch.num_rows, instants.LATEST, dtype=np.int64)
    try:
        return _last_instants(batch.column(name), zone)
    except (ValueError, OverflowError):  # Arrow's `ArrowInvalid` is one
        message = f"table {table}: {name} holds an instant that no calendar has"
        raise StoreError("StoreBoundInvalid", table, message, "give null where no instant is meant") from None


def _end_of_day(day: date, zone: str) -> Instant:
    """As of an instant, what lies beyond 64 bits is before or after all that is known (9999-12-31: ever)."""
    if FIRST_YEAR <= day.year <= LAST_YEAR:
        return instants.bound(day, zone).last
    return instants.LATEST if day.year > LAST_YEAR else instants.EARLIEST - 1


def _last_instants(column: pa.Array, zone: str) -> np.ndarray:
    if pa.types.is_date(column.type):
        coded = column.cast(pa.date32()).dictionary_encode()
        days = pa.array([None if d is None else _end_of_day(d, zone) for d in coded.dictionary.to_pylist()], pa.int64())
        nanoseconds = days.take(coded.indices)
    else:
        unit = column.type.unit if column.type.unit in times.PER_UNIT else "ms"
        nanoseconds = times.nanoseconds(column.cast(pa.timestamp(unit, column.type.tz)))
    values: np.ndarray = nanoseconds.fill_null(instants.EARLIEST - 1).to_numpy(zero_copy_only=False)
    return values


def _column(table: str, left: pa.Schema, name: str) -> pa.Field:
    if name not in left.names:
        fix = f"use one of {', '.join(left.names)}"
        raise StoreError("StoreColumnUnknown", table, f"the rows joined with table {table} have no column {name}", fix)
    if left.names.count(name) > 1:
        raise _invalid(table, f"the rows joined with it have several columns {name}", "give each its own name")
    return left.field(name)


_KINDS: tuple[tuple[str, tuple[Callable[[pa.DataType], bool], ...]], ...] = (
    ("text", (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)),
    ("number", (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)),
    ("date", (pa.types.is_date,)),
    ("timestamp", (pa.types.is_timestamp,)),
)
"""Types whose values may be equal."""


def _kind(type_: pa.DataType) -> str:
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    return next((kind for kind, tests in _KINDS if any(test(plain) for test in tests)), str(plain))


def _check_instant(table: str, name: str, type_: pa.DataType) -> None:
    if not (pa.types.is_timestamp(type_) or pa.types.is_date(type_)):
        message = f"table {table}: {name} holds no instants, but {type_}"
        raise StoreError("StoreBoundInvalid", table, message, "give a column of timestamps, or of dates")


def _invalid(table: str, why: str, fix: str) -> StoreError:
    return StoreError("StoreJoinInvalid", table, f"table {table}: {why}", fix)


def open_join(data: Any, right: Read, asked: Asof) -> AsofRead:
    """The join, checked before its first row; without `columns` those of the table that are not compared."""
    if right.statement.columns is None:
        compared = {theirs for _, theirs in asked.by}
        shown = [name for name in right.schema.names if name not in compared]
        right = right.select(shown) if shown else right
    joined = AsofRead(data, right, asked)
    joined.check()
    return joined


def pairs(declared: TableDeclaration, by: Mapping[str, str] | Sequence[str] | str | None) -> By:
    """`by` as pairs of a left column and one of the table: the primary key where nothing is said."""
    match by:
        case None:
            return tuple((name, name) for name in declared.primary_key)
        case str():
            return ((by, by),)
        case Mapping():
            return tuple(by.items())
        case _:
            return tuple((name, name) for name in by)


def lookback(table: str, text: str) -> int:
    """Nanoseconds of `within`. StoreJoinInvalid for what is no duration."""
    try:
        return duration(text)
    except ValueError as cause:
        raise _invalid(table, f"within: {cause}", "write it as 7d, 36h or 90min") from None
