"""Since when a source had a row: what landing makes of the availability column (Seed 1 *available-time*).

A timestamp is kept; one without a zone is wall-clock time in the declared zone, the later one where it comes twice,
so that nothing is seen too early. A date becomes the start of the next day in that zone. A null is filled with the
valid time plus the class's lag, and marked as imputed; what was available before the source published live is
marked as reconstructed.
"""

from __future__ import annotations

import datetime

import pyarrow as pa
import pyarrow.compute as pc

from ... import instants
from ...durations import duration
from ..instant import spell
from .declaration import IMPUTED, RECONSTRUCTED, TableDeclaration
from .errors import StoreError
from .schema_merge import AVAILABLE

_EPOCH_DAY = datetime.date(1970, 1, 1)


def resolve(batch: pa.RecordBatch, declared: TableDeclaration, run_id: str) -> pa.RecordBatch:
    """`batch` with instants in its availability column, and the marks that the declaration asks for.

    Errors: StoreAvailableTimeNull, naming the table and the run; StoreSchemaMismatch for an instant that 64 bits of
    nanoseconds cannot hold.
    """
    available = declared.available_time
    if available is None:
        return batch
    try:
        given = _instants(_column(batch, available.column), available.zone)
        filled = given if available.lag is None else _filled(given, batch, declared)
    except (pa.ArrowInvalid, OverflowError, ValueError) as cause:
        message = f"table {declared.name}: {available.column} holds an instant that cannot be kept: {cause}"
        fix = f"instants lie between {spell(instants.EARLIEST)} and {spell(instants.LATEST)}"
        raise StoreError("StoreSchemaMismatch", declared.name, message, fix) from None
    if filled.null_count:
        message = f"table {declared.name}, run {run_id}: {filled.null_count} rows have no availability instant"
        fix = f"fill {available.column}" + (", or give their class an entry in lag.classes" if available.lag else "")
        raise StoreError("StoreAvailableTimeNull", declared.name, message, fix)
    columns = {name: batch.column(name) for name in batch.schema.names}
    columns[available.column] = filled
    if available.lag is not None:
        columns[IMPUTED] = pc.is_null(given)
    if available.live_since is not None:
        live = instants.instant(available.live_since, available.zone)
        columns[RECONSTRUCTED] = pc.less(filled.cast(pa.int64()), live)
    return pa.RecordBatch.from_pydict(columns)


def _column(batch: pa.RecordBatch, name: str) -> pa.Array:
    return batch.column(name) if name in batch.schema.names else pa.nulls(batch.num_rows, AVAILABLE)


def _instants(column: pa.Array, zone: str) -> pa.Array:
    types, type_ = pa.types, column.type
    if types.is_null(type_):
        return pa.nulls(len(column), AVAILABLE)
    if types.is_date(type_):
        return _next_days(column.cast(pa.date32()), zone)
    if type_.tz is None:
        column = pc.assume_timezone(column, zone, ambiguous="latest", nonexistent="latest")
    return column.cast(AVAILABLE)


def _next_days(dates: pa.Array, zone: str) -> pa.Array:
    """The start of the day after each date: one look into the zone's rules for each distinct date."""
    coded = dates.dictionary_encode()
    days = coded.dictionary.cast(pa.int32()).to_pylist()
    starts = [instants.start_of_day(_EPOCH_DAY + datetime.timedelta(days=day + 1), zone) for day in days]
    return pa.array(starts, pa.int64()).cast(AVAILABLE).take(coded.indices)


def _filled(given: pa.Array, batch: pa.RecordBatch, declared: TableDeclaration) -> pa.Array:
    """Seed 1 *lag-fill*: valid-time `to`, else `from`, plus the duration of the row's class."""
    assert declared.available_time is not None
    assert declared.available_time.lag is not None
    assert declared.valid_time is not None
    lag, valid = declared.available_time.lag, declared.valid_time
    if not given.null_count:
        return given
    since = _valid_instants(_column(batch, valid.from_))
    if valid.to is not None:
        since = pc.coalesce(_valid_instants(_column(batch, valid.to)), since)
    classes = _column(batch, lag.class_column)
    if not pa.types.is_null(classes.type) and not pa.types.is_timestamp(classes.type):
        positions = pc.index_in(classes.cast(pa.string()), pa.array(list(lag.classes), pa.string()))
    else:
        positions = pa.nulls(batch.num_rows, pa.int32())
    after = pa.array([duration(text) for text in lag.classes.values()], pa.int64()).take(positions)
    return pc.coalesce(given, pc.add_checked(since.cast(pa.int64()), after).cast(AVAILABLE))


def _valid_instants(column: pa.Array) -> pa.Array:
    """Valid time as instants; without a zone it is UTC, as in `valid_as_of`."""
    if pa.types.is_timestamp(column.type) and column.type.tz is None:
        column = pc.assume_timezone(column, "UTC")
    return column.cast(AVAILABLE)
