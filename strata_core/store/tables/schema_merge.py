"""Which schema a table has after a landing, decided before a byte is written.

Columns may be added. One type may widen, `int64` to `double`, and never in a key. Everything else is refused with
the column, the stored type and the arriving one.

| stored (or declared) | arriving | becomes |
|---|---|---|
| (none) | T | T |
| T | T, or missing (null), or all null | T |
| `int64` / `double` | `double` / `int64` | `double`, outside keys |
| `timestamp[u, tz]` | the same in a coarser unit | the stored one |
| declared `timestamp` | `date32` | midnight of that date |
| declared T | what widens to T without loss | T |
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from ...types import parse_type
from ...types.physical import arrow_type, widens_physically
from .declaration import IMPUTED, INGESTED_AT, RECONSTRUCTED, TableDeclaration, not_timestamp, retention_column
from .errors import StoreError

AVAILABLE = pa.timestamp("ns", "UTC")
"""How availability instants are kept."""
_UNITS = ("ms", "us", "ns")


def declared_types(declared: TableDeclaration) -> Mapping[str, pa.DataType]:
    """The Arrow types of the columns that have one in the declaration."""
    return {name: arrow_type(parse_type(c.type)) for name, c in declared.columns.items() if c.type is not None}


def merge(declared: TableDeclaration, stored: pa.Schema, arriving: pa.Schema) -> pa.Schema:
    """The table's schema after rows of `arriving` (stored types) have landed on rows of `stored`.

    Errors: StoreColumnReserved, StoreSchemaMismatch, StoreValidTimeNotTimestamp, StoreRetentionColumnInvalid.
    """
    _check_names(declared, arriving)
    types = declared_types(declared)
    merged = {f.name: f for f in stored}
    for field in arriving:
        known = merged.get(field.name)
        if field.name == declared.available_column:
            type_ = _available(declared.name, field)
        else:
            type_ = _merged(declared, field, None if known is None else known.type, types.get(field.name))
        merged[field.name] = pa.field(field.name, type_, True, (known or field).metadata)
    if declared.available_column is not None:
        merged.setdefault(declared.available_column, pa.field(declared.available_column, AVAILABLE))
    for name in injected_columns(declared):
        merged.setdefault(name, pa.field(name, pa.bool_()))
    _check_clocks(declared, merged)
    return pa.schema(list(merged.values()))


def told_changes(before: pa.Schema, after: pa.Schema) -> tuple[str, ...]:
    """What a landing changed of the columns of a table that had some, as text."""
    if not before.names:
        return ()
    changes = []
    for f in after:
        if f.name not in before.names:
            changes.append(f"new column {f.name}: {f.type}")
        elif (was := before.field(f.name).type) != f.type:
            changes.append(f"column {f.name} is {f.type}, and was {was}")
    return tuple(changes)


def injected_columns(declared: TableDeclaration) -> tuple[str, ...]:
    """The columns that landing adds (Seed 1 *lag-fill*, *live-since*)."""
    available = declared.available_time
    if available is None:
        return ()
    lag, live = available.lag is not None, available.live_since is not None
    return (*((IMPUTED,) if lag else ()), *((RECONSTRUCTED,) if live else ()))


def _check_names(declared: TableDeclaration, arriving: pa.Schema) -> None:
    name = declared.name
    if "" in arriving.names:
        message = f"table {name}: column {arriving.names.index('') + 1} has no name"
        raise StoreError("StoreSchemaMismatch", name, message, "name it, or leave it out, before it lands")
    for column in arriving.names:
        if column.startswith("_"):
            message = f"table {name}: the column {column} arrives, and names that begin with _ belong to the store"
            raise StoreError("StoreColumnReserved", name, message, f"rename {column} before it lands")
    valid, available = declared.valid_time, declared.available_time
    needed = {
        "primary key": declared.primary_key,
        "valid time": (valid.from_,) if valid else (),
        "availability": (available.column,) if available and available.lag is None else (),
        "content hash": (declared.content_hash_column,) if declared.content_hash_column else (),
        "order": (declared.order_by,) if declared.order_by != INGESTED_AT else (),
    }
    for role, columns in needed.items():
        for column in columns:
            if column not in arriving.names:
                message = f"table {name}: the column {column} of the {role} does not arrive"
                fix = f"add {column}; what arrives is {', '.join(arriving.names)}"
                raise StoreError("StoreSchemaMismatch", name, message, fix)
    if declared.retain_rows is not None and declared.retain_rows.column not in (INGESTED_AT, *arriving.names):
        raise retention_column(name, f"column {declared.retain_rows.column} does not arrive")


def _available(table: str, field: pa.Field) -> pa.DataType:
    types = pa.types
    if types.is_timestamp(field.type) or types.is_date(field.type) or types.is_null(field.type):
        return AVAILABLE
    message = f"table {table}: the availability column {field.name} arrives as {field.type}"
    raise StoreError("StoreSchemaMismatch", table, message, "make it a timestamp or a date")


def _merged(
    declared: TableDeclaration, field: pa.Field, stored: pa.DataType | None, given: pa.DataType | None
) -> pa.DataType:
    arriving, types = field.type, pa.types
    wanted = given if stored is None else stored
    if wanted is None:
        if types.is_null(arriving):
            raise _mismatch(declared, field, "(new)", "its type cannot be told from nulls: declare it under `columns`")
        decisive = (*declared.dedup_key, declared.order_by, declared.content_hash_column)
        if field.name in decisive and not _is_comparable(arriving):
            raise _mismatch(declared, field, "(new)", "keys, orders and hashes are numbers, texts, times or flags")
        return arriving
    if arriving == wanted or types.is_null(arriving):
        return wanted
    if {arriving, wanted} == {pa.int64(), pa.float64()} and (given is None or given == pa.float64()):
        if field.name in declared.dedup_key:
            raise _mismatch(declared, field, str(wanted), "a key never changes its type")
        return pa.float64()
    if types.is_timestamp(wanted) and types.is_timestamp(arriving):
        if stored is None:
            return arriving
        if arriving.tz == wanted.tz and _UNITS.index(arriving.unit) < _UNITS.index(wanted.unit):
            return wanted
    elif given is not None and (
        widens_physically(arriving, wanted) or (types.is_timestamp(wanted) and types.is_date32(arriving))
    ):
        return wanted
    raise _mismatch(declared, field, str(wanted), f"cast {field.name} to {wanted} before it lands")


def _is_comparable(type_: pa.DataType) -> bool:
    types = pa.types
    simple = types.is_primitive(type_) or types.is_string(type_) or types.is_binary(type_)
    return bool(simple or types.is_decimal128(type_) or types.is_fixed_size_binary(type_))


def _mismatch(declared: TableDeclaration, field: pa.Field, stored: str, fix: str) -> StoreError:
    message = f"table {declared.name}: column {field.name} is stored as {stored} and arrives as {field.type}"
    return StoreError("StoreSchemaMismatch", declared.name, message, fix)


def _check_clocks(declared: TableDeclaration, merged: Mapping[str, pa.Field]) -> None:
    check_clocks(declared, {name: field.type for name, field in merged.items()})


def check_clocks(declared: TableDeclaration, types: Mapping[str, pa.DataType]) -> None:
    """Seed 1 *valid-time-type* and *row-age-cutoff* against the types that rows have."""
    if declared.valid_time is not None:
        for column in (declared.valid_time.from_, declared.valid_time.to):
            if column is not None and column in types and not pa.types.is_timestamp(types[column]):
                raise not_timestamp(declared.name, column, str(types[column]))
    if declared.retain_rows is not None and declared.retain_rows.column in types:
        type_ = types[declared.retain_rows.column]
        if not pa.types.is_timestamp(type_):
            raise retention_column(declared.name, f"column {declared.retain_rows.column} has the type {type_}")
