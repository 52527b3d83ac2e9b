"""Values that Python assets return, as tables: Arrow, polars and pandas."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.frames import UNREADABLE, stream_of

if TYPE_CHECKING:  # loaded where an asset returned one of theirs
    import pyarrow as pa


class Frame(NamedTuple):
    """A table, and the value to pass on in the place of the one it was made of.

    A stream can be read once and a lazy frame may be computed otherwise a second time, so both are passed on as what
    was looked at, and so is whatever else gives a stream.
    """

    table: pa.Table
    value: Any


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
    """The table that `value` is; None for what is no table. Raises `StrataError` E033 where a column has values of no
    one type."""
    polars, pandas, arrow = (sys.modules.get(name) for name in ("polars", "pandas", "pyarrow"))
    if polars is not None and isinstance(value, polars.LazyFrame):
        collected = frame_of(value.collect())
        return collected and collected._replace(value=collected.value.lazy())
    try:
        reader = stream_of(value)
    except UNREADABLE as cause:
        # Their text may quote a value, and a contract may hide it.
        message = f"the {type(value).__name__} that the asset returned is no table of columns ({type(cause).__name__})"
        fix = "give each column a name of its own and values of one type"
        raise StrataError(Diagnostic("E033", message, fix=fix)) from None
    if reader is None:
        return None
    table = reader.read_all()
    if arrow is not None and isinstance(value, arrow.RecordBatchReader):
        return Frame(table, table.to_reader())
    kept = (arrow and (arrow.Table, arrow.RecordBatch), polars and polars.DataFrame, pandas and pandas.DataFrame)
    again = any(isinstance(value, kind) for kind in kept if kind)
    return Frame(table, value if again else table)
