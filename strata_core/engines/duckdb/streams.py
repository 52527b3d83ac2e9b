"""A stream of rows as DuckDB scans it: opened anew for each scan, and read while the query takes rows.

DuckDB reads a stream to its end, also where a `take` needs its first rows only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import pyarrow as pa

from ...diagnostics import StrataError
from ..protocol import StreamTable


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Stream:
    """What is registered of `table`, its columns under the `names` by which the query knows them."""

    table: StreamTable
    names: tuple[str, ...]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A new stream of all rows, as the Arrow PyCapsule interface has it."""
        schema = pa.schema([f.with_name(n) for f, n in zip(self.table.schema, self.names, strict=True)])
        reader = pa.RecordBatchReader.from_batches(schema, self._batches(schema))
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        try:
            with closing(self.table.open()) as rows:
                for batch in rows:
                    yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)
        except StrataError as error:
            self.table.faults.append(error)
            raise
