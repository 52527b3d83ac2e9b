"""Tables that Python programs hold, as streams of Arrow and back: of Arrow, polars and pandas, and of whatever else
gives an Arrow stream (the PyCapsule protocol, `__arrow_c_stream__`), such as a relation of DuckDB.

Null and NaN are told apart where the library does: a NaN of Arrow and polars stays one. In a column of NumPy floats
pandas has no other sign for what is missing, so that NaN is null there; in its Arrow columns, as in polars, it is NaN.
The index of pandas is left out.

No library is loaded for a value that is none of its own.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

UNREADABLE = (TypeError, ValueError, NotImplementedError, OverflowError)
"""What is raised of values that no column can hold, exceptions of Arrow among them."""
BATCH_ROWS = 122_880
"""Rows of a batch at most: those of a block of the store, which copies none that is one."""


def stream_of(value: object) -> pa.RecordBatchReader | None:
    """The rows of a table, None for what is no table. A reader is read once, a lazy frame computed as it is read.

    Raises `UNREADABLE` where a column has values of no one type.
    """
    polars, pandas, arrow = (sys.modules.get(name) for name in ("polars", "pandas", "pyarrow"))
    if polars is not None and isinstance(value, polars.LazyFrame):
        return _lazy(value)
    if polars is not None and isinstance(value, polars.DataFrame):
        return _arrow(value).to_reader(BATCH_ROWS)
    if pandas is not None and isinstance(value, pandas.DataFrame):
        import pyarrow as pa

        table = pa.Table.from_pandas(value, preserve_index=False)
        return table.replace_schema_metadata(None).to_reader(BATCH_ROWS)
    if arrow is not None and isinstance(value, arrow.Table):
        return value.to_reader(BATCH_ROWS)
    if arrow is not None and isinstance(value, arrow.RecordBatch):
        return arrow.RecordBatchReader.from_batches(value.schema, [value])
    if arrow is not None and isinstance(value, arrow.RecordBatchReader):
        return value
    return _of_protocol(value) if hasattr(value, "__arrow_c_stream__") else None


def _arrow(frame: Any) -> Any:
    """A frame of polars as a table of Arrow."""
    import polars as pl

    if pl.Object in frame.dtypes:  # of which Arrow gets the addresses
        raise TypeError("a column holds Python objects")
    return frame.to_arrow()


def _lazy(frame: Any) -> pa.RecordBatchReader:
    import pyarrow as pa

    schema = _arrow(frame.collect_schema().to_frame()).schema
    frames = frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
    batches = (batch for one in frames for batch in one.to_arrow().cast(schema).to_batches())
    return pa.RecordBatchReader.from_batches(schema, batches)


def _of_protocol(value: object) -> pa.RecordBatchReader | None:
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(value)
    except pa.ArrowInvalid:  # a stream of something else, such as the values of a series
        return None


def as_kind(rows: pa.RecordBatchReader, type_: object) -> Any:
    """`rows` as the kind of table that an annotation names, a frame of pandas as `pa.Table.to_pandas` makes it; None
    where it names none."""
    kind = f"{getattr(type_, '__module__', '')}.{getattr(type_, '__qualname__', '')}"
    match kind.partition(".")[0], kind.rpartition(".")[2]:
        case "pyarrow", "Table":
            return rows.read_all()
        case "pyarrow", "RecordBatchReader":
            return rows
        case "polars", "DataFrame" | "LazyFrame" as name:
            import polars as pl

            frame = pl.DataFrame(rows.read_all())
            return frame.lazy() if name == "LazyFrame" else frame
        case "pandas", "DataFrame":
            return rows.read_all().to_pandas()
        case _:
            return None
