"""A fold of rows that are all in memory, as the store did it before it merged streams: what a fold is compared with."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from strata_core.durations import duration
from strata_core.store.tables.declaration import INGESTED_AT, TableDeclaration
from strata_core.store.tables.folding import sort_columns
from strata_core.store.tables.frontier import at_entry
from strata_core.store.tables.history import History
from strata_core.store.tables.pieces import BOOKKEEPING_SCHEMA, pieces_of

PLACE = "_place"


def whole_fold(history: History) -> pa.Table:
    """The rows that a fold of the newest state must write, in order."""
    head = history.head()
    declared, schema = history.declared(head), history.schema(head)
    kept = pa.schema([*schema, *BOOKKEEPING_SCHEMA])
    pieces = pieces_of(history, at_entry(history, head))
    rows = pa.Table.from_batches([b for piece in pieces for b in piece.batches(kept.names, schema)], kept)
    by = sort_columns(declared, schema)
    deciding = dict.fromkeys([*by, *([] if declared.order_by == INGESTED_AT else [declared.order_by]), *by])
    frame = pl.from_arrow(rows.select(list(deciding)))
    assert isinstance(frame, pl.DataFrame)
    if not by:
        frame = pl.DataFrame({"nothing": np.zeros(rows.num_rows)})
    frame = frame.with_row_index(PLACE)
    if declared.primary_key:
        order = [] if declared.order_by == INGESTED_AT else [declared.order_by]
        last = pl.col(by[0]).is_last_distinct() if len(by) == 1 else pl.struct(by).is_last_distinct()
        frame = frame.sort([*order, PLACE]).filter(last).sort(PLACE)
    retain = declared.retain_rows
    if retain is not None and declared.order_by == INGESTED_AT and retain.column in rows.column_names:
        frame = frame.filter(
            pl.Series(young(rows.column(retain.column), declared, history, head.at), dtype=pl.Boolean)[frame[PLACE]]
        )
    if by:
        frame = frame.sort(by, maintain_order=True)
    return rows.take(pa.array(frame[PLACE].to_numpy().astype(np.int64))).combine_chunks()


def young(column: pa.ChunkedArray, declared: TableDeclaration, history: History, at: int) -> list[bool]:
    """Which times are not past the age that the declaration keeps; a time that is null is kept."""
    assert declared.retain_rows is not None
    since = max(history.clock(), at) - duration(declared.retain_rows.age)
    per = {"ms": 1_000_000, "us": 1_000, "ns": 1}[column.type.unit]
    return [value is None or value * per >= since for value in column.cast(pa.int64()).to_pylist()]
