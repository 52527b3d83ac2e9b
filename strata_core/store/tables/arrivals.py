"""What may land: tables that a program holds, and files of Parquet, CSV and NDJSON, each as one stream of record
batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import pyarrow as pa

from ...frames import UNREADABLE, stream_of
from ..digest import BLOCK_ROWS
from .errors import StoreError


@dataclass(frozen=True, slots=True)
class Arrival:
    """Rows on their way: their schema, and the batches, to be read once."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows arrive: the table, the types of columns that text does not tell (CSV, NDJSON), and whether some column
    is masked, so that no message may quote a value."""

    table: str
    known: Mapping[str, pa.DataType]
    masked: bool


def arrival(target: Target, data: Any) -> Arrival:
    """`data` as a stream: a table (`frames.py`), or paths of files, which are read one after the other and have the
    first one's schema. StoreSourceInvalid when it is neither or cannot be read."""
    match data:
        case str() | Path():
            return _files(target, [Path(data)])
        case [*paths] if paths and all(isinstance(path, str | Path) for path in paths):
            return _files(target, [Path(path) for path in paths])
        case _:
            return _in_memory(target, data)


def _in_memory(target: Target, data: object) -> Arrival:
    kind = type(data).__name__
    try:
        rows = stream_of(data)
    except (*UNREADABLE, pa.ArrowException) as cause:
        raise _unreadable(target, f"the {kind}", cause) from None
    if rows is None:
        message = f"table {target.table}: {kind} is nothing that lands"
        fix = "give an Arrow table or reader, a frame of polars or pandas, or paths of .parquet, .csv or .ndjson files"
        raise StoreError("StoreSourceInvalid", target.table, message, fix)
    return Arrival(rows.schema, _guarded(target, "the reader", rows))


class _NotUnicodeError(Exception):
    """Text of a file that is not UTF-8, of which Arrow would make bytes, or a string that nobody can read."""


Open: TypeAlias = Callable[[Path, Mapping[str, pa.DataType]], tuple[pa.Schema, Iterable[pa.RecordBatch]]]


def _parquet(path: Path, known: Mapping[str, pa.DataType]) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    return file.schema_arrow, file.iter_batches(BLOCK_ROWS)


def _csv(path: Path, known: Mapping[str, pa.DataType]) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types=dict(known), null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    reader = csv.open_csv(path, convert_options=convert)
    schema = _named(reader.schema)
    if found := [f.name for f in schema if pa.types.is_binary(f.type) and f.name not in known]:
        raise _NotUnicodeError(f"column {found[0]}")
    return schema, reader


def _ndjson(path: Path, known: Mapping[str, pa.DataType]) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    from pyarrow import json

    parse = json.ParseOptions(explicit_schema=pa.schema(list(known.items())), unexpected_field_behavior="infer")
    reader = json.open_json(path, parse_options=parse)
    return _named(reader.schema), _readable(reader)


def _named(schema: pa.Schema) -> pa.Schema:
    try:
        schema.names  # noqa: B018  which decodes them
    except UnicodeDecodeError:
        raise _NotUnicodeError("the name of a column") from None
    return schema


def _readable(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        try:
            batch.validate(full=True)
        except pa.ArrowInvalid:
            raise _NotUnicodeError("a value") from None
        yield batch


FORMATS: Mapping[str, Open] = MappingProxyType(
    {
        ".parquet": _parquet,
        ".csv": _csv,
        ".csv.gz": _csv,
        ".ndjson": _ndjson,
        ".jsonl": _ndjson,
    }
)
"""Endings of file names, and who reads such a file."""


def _files(target: Target, paths: list[Path]) -> Arrival:
    schema, batches = _open(target, paths[0])

    def following() -> Iterator[pa.RecordBatch]:
        yield from batches
        first = replace(target, known={f.name: f.type for f in schema})
        for path in paths[1:]:
            other, more = _open(first, path)
            if other != schema:
                message = f"table {target.table}: {path} has other columns or types than {paths[0]}"
                raise StoreError("StoreSchemaMismatch", target.table, message, "land it as a run of its own")
            yield from more

    return Arrival(schema, following())


def _open(target: Target, path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    table = target.table
    reads = next((open_ for ending, open_ in FORMATS.items() if path.name.lower().endswith(ending)), None)
    if reads is None:
        fix = f"give a file that ends in {', '.join(FORMATS)}"
        raise StoreError("StoreSourceInvalid", table, f"table {table}: {path} has no ending that says what it is", fix)
    try:
        schema, batches = reads(path, target.known)
    except (OSError, pa.ArrowException, _NotUnicodeError) as cause:
        raise _unreadable(target, str(path), cause) from None
    return schema, _guarded(target, str(path), batches)


def _guarded(target: Target, source: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except (OSError, pa.ArrowException, _NotUnicodeError) as cause:
        raise _unreadable(target, source, cause) from None


def _unreadable(target: Target, source: str, cause: Exception) -> StoreError:
    """Arrow quotes the value that it cannot read: only where no column is masked."""
    if isinstance(cause, FileNotFoundError):
        message = f"table {target.table}: there is no file {source}"
        return StoreError("StoreSourceInvalid", target.table, message, "correct the path")
    if isinstance(cause, _NotUnicodeError):
        message = f"table {target.table}: {source} cannot be read: {cause} is not UTF-8"
        return StoreError("StoreSourceInvalid", target.table, message, "save the file as UTF-8")
    why = "a value does not fit its column" if isinstance(cause, ValueError) else type(cause).__name__
    whole = "; ".join(map(str, cause.args)) if isinstance(cause, pa.ArrowInvalid) else str(cause)
    told = why if target.masked else whole.splitlines()[0]
    message = f"table {target.table}: {source} cannot be read: {told}"
    fix = "check the values, and the types that `columns` declares"
    return StoreError("StoreSourceInvalid", target.table, message, fix)
