"""Values that Python assets return, as tables: Arrow, polars and pandas."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # loaded where an asset returned one of theirs
    import pyarrow as pa


class Frame(NamedTuple):
    """A table, and the value to pass on in the place of the one it was made of.

    A stream can be read once and a lazy frame may be computed otherwise a second time, so both are passed on as what
    was looked at.
    """

    table: pa.Table
    value: Any


def as_annotated(rows: pa.RecordBatchReader, type_: object) -> Any:
    """`rows` as the kind of table that an asset says it returns; None where it says none of them."""
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


def frames_of(value: object) -> dict[str, Frame] | None:
    """The tables of a mapping of texts to tables; None for what is none."""
    if not isinstance(value, Mapping) or not value:
        return None
    found = {key: frame_of(one) for key, one in value.items() if isinstance(key, str)}
    tables = {key: frame for key, frame in found.items() if frame is not None}
    return tables if len(tables) == len(value) else None


def rows_where(frame: Frame, mask: Any) -> Any:
    """The rows of `frame` for which `mask`, an array of Arrow, says so, as the kind of table that its value is."""
    kind = type(frame.value).__module__.partition(".")[0]
    if kind == "polars":
        import polars as pl

        kept = pl.DataFrame(frame.table.filter(mask))
        return kept.lazy() if isinstance(frame.value, pl.LazyFrame) else kept
    if kind == "pandas":
        return frame.value[mask.to_numpy(zero_copy_only=False)]
    return frame.table.filter(mask)


def frame_of(value: object) -> Frame | None:
    """The table that `value` is; None for what is no table."""
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if polars is not None and isinstance(value, polars.LazyFrame):
        collected = value.collect()
        return Frame(collected.to_arrow(), collected.lazy())
    if polars is not None and isinstance(value, polars.DataFrame):
        return Frame(value.to_arrow(), value)
    if pandas is not None and isinstance(value, pandas.DataFrame):
        import pyarrow as pa

        return Frame(pa.Table.from_pandas(value, preserve_index=False).replace_schema_metadata(None), value)
    arrow = sys.modules.get("pyarrow")
    if arrow is None:
        return None
    if isinstance(value, arrow.Table):
        return Frame(value, value)
    if isinstance(value, arrow.RecordBatch):
        return Frame(arrow.Table.from_batches([value]), value)
    if isinstance(value, arrow.RecordBatchReader):
        table = value.read_all()
        return Frame(table, table.to_reader())
    return None
