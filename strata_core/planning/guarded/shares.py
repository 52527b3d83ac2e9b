"""Which rows of a table are of which partition, where its contract says by which columns it is partitioned.

A table that somebody makes in several partitions at once holds the rows of all of them; `partition_by` of a column says
where to look. Rows are taken as they are, in one pass: whether they keep their contract is asked later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from ...contract.model import TableContract
from ...diagnostics import Diagnostic, StrataError
from ...engines.protocol import ArrowTable, CsvTable, Engine, TableInput
from ...frozen import dataclass
from ...relation.build import scan
from .guarding import fitted


@dataclass(frozen=True, slots=True)
class Value:
    """Rows whose `column`, spelled as text, is `text`."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Rows whose `column`, a date or a timestamp, lies from `start` up to, and without, `end`: civil times."""

    column: str
    start: datetime
    end: datetime


Share = tuple[Value | Stretch, ...]
"""What holds of all rows of a partition, and of no others."""


def partition_columns(contract: TableContract) -> tuple[str, ...]:
    """The columns by which a table is partitioned, as its contract says."""
    return tuple(field.name for field in contract.fields if field.partition_by)


def shares_of(engine: Engine, table: TableInput, shares: Mapping[str, Share]) -> dict[str, ArrowTable]:
    """The rows of each partition, of a table that may have others too. Raises `StrataError` E037 where a column does
    not tell them apart, and what reading raises."""
    if isinstance(table, CsvTable):
        message = f"the rows of {table.path} are text, which does not say of which partition they are"
        raise StrataError(Diagnostic("E037", message, fix="write Parquet, or a file for each partition"))
    if isinstance(table, ArrowTable):
        return {key: ArrowTable(table.data.filter(which(table.data, share)), ()) for key, share in shares.items()}
    rows = fitted(engine, table, TableContract("rows", ()))
    found: dict[str, list[pa.RecordBatch]] = {key: [] for key in shares}
    with engine.execute(scan("rows", rows.columns), {"rows": rows.table}) as reader:
        for batch in reader:
            _share_out(batch, shares, found)
        schema = reader.schema
    return {key: ArrowTable(pa.Table.from_batches(batches, schema), ()) for key, batches in found.items()}


def _share_out(batch: pa.RecordBatch, shares: Mapping[str, Share], found: Mapping[str, list[pa.RecordBatch]]) -> None:
    for key, share in shares.items():
        own = batch.filter(which(batch, share))
        if own.num_rows:
            found[key].append(own)


def outside(rows: pa.Table, shares: Iterable[Share]) -> int:
    """How many of `rows` are of none of the partitions. Raises `StrataError` E037."""
    within = sum(pc.sum(which(rows, share)).as_py() or 0 for share in shares)
    return int(rows.num_rows - within)


def which(rows: pa.Table | pa.RecordBatch, share: Share) -> pa.Array | pa.ChunkedArray:
    """For each of `rows` whether it is of the partition. Raises `StrataError` E037 where a column is not there, or of a
    type that does not tell."""
    masks = [_mask(rows, one) for one in share]
    all_of = masks[0]
    for mask in masks[1:]:
        all_of = pc.and_(all_of, mask)
    return all_of


def _mask(rows: pa.Table | pa.RecordBatch, one: Value | Stretch) -> pa.Array | pa.ChunkedArray:
    if rows.schema.names.count(one.column) != 1:
        raise _untold(one.column, "there is no such column in the rows")
    column = rows.column(one.column)
    try:
        if isinstance(one, Value):
            return pc.fill_null(pc.equal(pc.cast(column, pa.string()), one.text), False)
        if not (pa.types.is_date(column.type) or (pa.types.is_timestamp(column.type) and column.type.tz is None)):
            raise _untold(one.column, f"it is of type {column.type}, and the partitions are of time")
        at = pc.cast(column, pa.timestamp("us"), safe=False)
        low, high = pa.scalar(one.start, at.type), pa.scalar(one.end, at.type)
        return pc.fill_null(pc.and_(pc.greater_equal(at, low), pc.less(at, high)), False)
    except pa.ArrowException:
        raise _untold(one.column, f"it is of type {column.type}, which is not spelled as a key") from None


def _untold(column: str, why: str) -> StrataError:
    message = f"`{column}` does not say of which partition a row is: {why}"
    return StrataError(Diagnostic("E037", message, fix="mark the column with `partition_by: true` that holds the key"))
