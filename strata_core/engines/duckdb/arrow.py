"""DuckDB's Arrow output in exactly the types that `types.physical` promises."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """`batch` under the names, types and metadata of `schema`; columns correspond by position."""
    if not schema.names:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * batch.num_rows, pa.struct([])))
    pairs = zip(batch.columns, schema, strict=True)
    return pa.RecordBatch.from_arrays([_cast(values, field.type) for values, field in pairs], schema=schema)


def _cast(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """`values` as `type_`. Arrow's own cast refuses a null struct with a field that is never null, since DuckDB leaves
    nulls in the fields under it."""
    if values.type == type_:
        return values
    if pa.types.is_struct(type_):
        return _struct(values, type_)
    if pa.types.is_list(type_):
        items = _cast(values.values, type_.value_type)
        return pa.ListArray.from_arrays(values.offsets, items, type=type_, mask=values.is_null())
    return values.cast(type_)


def _struct(values: pa.StructArray, type_: pa.StructType) -> pa.StructArray:
    absent = values.is_null()
    if values.null_count == len(values):
        return pa.array([None] * len(values), type_)
    if values.null_count:
        # Under a null stands what another row holds, so that no field is null there.
        rows = pa.array(range(len(values)), pa.int64())
        values = values.take(pc.if_else(absent, pc.index(absent, False), rows))
    fields = [_cast(values.field(i), f.type) for i, f in enumerate(type_)]
    return pa.StructArray.from_arrays(fields, fields=list(type_), mask=absent)
