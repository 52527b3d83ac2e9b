"""DuckDB's Arrow output in exactly the types that `types.physical` promises."""

from __future__ import annotations

import pyarrow as pa


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """`batch` under the names, types and metadata of `schema`; columns correspond by position."""
    if not schema.names:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    pairs = zip(batch.columns, schema, strict=True)
    columns = [values if values.type == field.type else values.cast(field.type) for values, field in pairs]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
