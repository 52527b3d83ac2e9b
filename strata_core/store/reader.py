"""Streams the rows of Parquet parts in the order of the parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ..diagnostics import Diagnostic, StrataError
from . import disk
from .digest import BLOCK_ROWS
from .part_cache import FETCH_ANEW, drop_damaged

UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError, UnicodeError)
"""What pyarrow, and what is built on what it says of a file, raise about bytes that are not those written."""


def read_parts(paths: Sequence[Path], columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
    """The rows of `paths`, which share one schema: `columns` in the order asked, all by default.

    One row group is in memory at a time. Errors: E021 unknown column; E092 a file cannot be read; E094 it is
    not the Parquet that was written.
    """
    with _reading(paths[0]):
        schema = pq.read_schema(paths[0])
    names = schema.names if columns is None else list(columns)
    for name in names:
        if name not in schema.names:
            message = f"there is no column {name}"
            raise StrataError(Diagnostic("E021", message, fix=f"use one of {', '.join(schema.names)}"))
    selected = pa.schema([schema.field(name) for name in names], schema.metadata)
    return pa.RecordBatchReader.from_batches(selected, _batches(paths, names))


def _batches(paths: Sequence[Path], names: list[str]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        with _reading(path), pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BLOCK_ROWS, columns=names):
                yield batch.select(names)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        if cause.errno is None:  # pyarrow's word for a page that it cannot decode
            raise _damaged(path, cause) from cause
        raise disk.unusable(path, "read", cause) from cause
    except UNREADABLE as cause:
        raise _damaged(path, cause) from cause


def _damaged(path: Path, cause: Exception) -> StrataError:
    if drop_damaged(path):
        message = f"the copy {path} of a part in a bucket was damaged, and is removed: {cause}"
        return StrataError(Diagnostic("E094", message, fix=FETCH_ANEW))
    fix = "apply the model again with --force: the same rows are written anew in its place"
    return StrataError(Diagnostic("E094", f"part {path} is not the Parquet that was written: {cause}", fix=fix))
