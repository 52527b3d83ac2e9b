"""Which rows of a landing are restatements: a row whose content hash is that of its key's latest vintage is none.

Seed 1 *vintage-hash* and *vintage-scope*. The comparison decodes only row groups that may hold a key of the landing:
the ranges in the log leave out whole runs without opening them, footers leave out row groups, and Bloom filters
leave out what footers cannot (text keys lie far apart in a range). Rows are judged in the order in which they come,
each against the latest vintage by then, stored or of this landing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from . import bloom
from .declaration import INGESTED_AT, TableDeclaration
from .entries import Range
from .frontier import Frontier
from .history import History
from .pieces import Piece, pieces_of

FEW = 128
"""Keys up to which Bloom filters are asked: with more, some key is nearly always said to be there."""
_AVAILABLE, _ORDER, _HASH, _AT, _FIRST = "_available", "_order", "_hash", "_at", "_first"


@dataclass(frozen=True, slots=True)
class Judged:
    """For each row of a landing whether it lands, and how many stored rows were decoded to tell."""

    lands: np.ndarray
    decoded: int


def judge(
    history: History, declared: TableDeclaration, schema: pa.Schema, frontier: Frontier, rows: pa.Table
) -> Judged:
    """Judges the `rows` of a landing, typed as the table keeps them, against the vintages stored at `frontier`."""
    if not rows.num_rows:
        return Judged(np.zeros(0, dtype=bool), 0)
    key = list(declared.dedup_key)
    assert declared.available_column is not None
    assert declared.content_hash_column is not None
    order = [declared.order_by] if declared.order_by != INGESTED_AT else []
    names = list(dict.fromkeys([*key, declared.available_column, declared.content_hash_column, *order]))
    sought = {name: _sought(rows.column(name)) for name in sorted(key, key=lambda n: _is_text(schema, n))}
    batches = list(_scope(history, frontier, declared, sought, names, schema))
    decoded = sum(batch.num_rows for batch in batches)
    landing = _frame(rows.select(names).cast(_schema(schema, names)), declared, key)
    if not batches:
        return Judged(_lands(landing, key, rows.num_rows), 0)
    stored = _frame(pa.Table.from_batches(batches, _schema(schema, names)), declared, key)
    latest = (
        stored.join(landing.select(key).unique(), on=key, how="semi", nulls_equal=True)
        .sort([_AVAILABLE, _ORDER, _AT], nulls_last=False)
        .unique(key, keep="last", maintain_order=True)
        .with_columns(pl.lit(-1, pl.Int64).alias(_AT))
    )
    return Judged(_lands(pl.concat([latest, landing]), key, rows.num_rows), decoded)


def _is_text(schema: pa.Schema, name: str) -> bool:
    """Times and numbers are looked at first: they tell runs apart soonest, and cost least."""
    return bool(pa.types.is_string(schema.field(name).type))


def _schema(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])


def _frame(table: pa.Table, declared: TableDeclaration, key: list[str]) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    order = pl.lit(0) if declared.order_by == INGESTED_AT else pl.col(declared.order_by)
    return frame.with_row_index(_AT).select(
        *key,
        pl.col(declared.available_column or "").alias(_AVAILABLE),
        order.alias(_ORDER),
        pl.col(declared.content_hash_column or "").alias(_HASH),
        pl.col(_AT).cast(pl.Int64),
    )


def _lands(rows: pl.DataFrame, key: list[str], count: int) -> np.ndarray:
    """`rows` are the latest stored vintage of each key, then the landing in order.

    Where the vintages of a key come in the order of their availability, the latest is the row before, or has its
    hash: one comparison of neighbours. The other keys, backfills among them, are walked row by row.
    """

    def before(name: str) -> pl.Expr:
        return pl.when(~pl.col(_FIRST)).then(pl.col(name).shift(1))

    another_key = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in key)
    by_key = rows.sort(key, maintain_order=True).with_columns(
        (another_key | (pl.int_range(pl.len()) == 0)).alias(_FIRST)  # before the first row there is null, as in a key
    )
    later = (pl.col(_AVAILABLE) > before(_AVAILABLE)) | (
        (pl.col(_AVAILABLE) == before(_AVAILABLE)) & (before(_ORDER).is_null() | (pl.col(_ORDER) >= before(_ORDER)))
    )
    judged = by_key.with_columns(
        (pl.col(_HASH) == before(_HASH)).fill_null(False).alias("_same"),
        (later.fill_null(False) | before(_AVAILABLE).is_null()).all().over(pl.col(_FIRST).cum_sum()).alias("_ordered"),
    )
    lands = np.ones(count, dtype=bool)
    repeated = judged.filter(pl.col("_ordered") & pl.col("_same") & (pl.col(_AT) >= 0))
    lands[repeated.get_column(_AT).to_numpy()] = False
    walked = judged.filter(~pl.col("_ordered"))
    latest: dict[tuple[object, ...], tuple[object, object, object]] = {}
    for *found, available, order, hash_, at in walked.select(*key, _AVAILABLE, _ORDER, _HASH, _AT).iter_rows():
        current = latest.get(tuple(found))
        if current is not None and hash_ is not None and hash_ == current[2] and at >= 0:
            lands[at] = False
        elif current is None or _after((available, order), current[:2]):
            latest[tuple(found)] = (available, order, hash_)
    return lands


def _after(one: tuple[Any, Any], other: tuple[Any, Any]) -> bool:
    """Whether a row takes the place of the latest vintage: later available, or as late and not lower in order."""
    (available, order), (current, lowest) = one, other
    if available != current:
        return bool(available > current)
    return lowest is None or (order is not None and bool(order >= lowest))


@dataclass(frozen=True, slots=True)
class _Sought:
    """The distinct values that a landing has of a key column; `values` sorted, as footers tell them."""

    distinct: pa.Array
    values: list[int] | list[str]

    def within(self, bounds: Range | None) -> bool:
        """Whether some value lies within `bounds`, or may: where they are unknown."""
        if bounds is None or not self.values or not isinstance(bounds[0], type(self.values[0])):
            return True
        return bisect_left(self.values, bounds[0]) < bisect_right(self.values, bounds[1])


def _sought(column: pa.ChunkedArray) -> _Sought:
    distinct = column.unique()
    types, type_ = pa.types, distinct.type
    if distinct.null_count:
        return _Sought(distinct, [])
    if types.is_string(type_):
        return _Sought(distinct, sorted(distinct.to_pylist()))
    if types.is_integer(type_) and type_ != pa.uint64():
        return _Sought(distinct, sorted(distinct.to_pylist()))
    if types.is_timestamp(type_) or types.is_date32(type_):
        raw = distinct.cast(pa.int32()) if types.is_date32(type_) else distinct.cast(pa.int64())
        return _Sought(distinct, sorted(raw.to_pylist()))
    return _Sought(distinct, [])


def _scope(
    history: History,
    frontier: Frontier,
    declared: TableDeclaration,
    sought: Mapping[str, _Sought],
    names: Sequence[str],
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """The stored rows that may have a key of the landing."""
    runs = (n for n in frontier.runs if _in_ranges(history.run(n).ranges, sought))
    hashed = {
        name: found
        for name in declared.primary_key
        if 0 < len(sought[name].distinct) <= FEW
        and not sought[name].distinct.null_count
        and (found := bloom.hashes(sought[name].distinct)) is not None
    }
    for piece in pieces_of(history, Frontier(frontier.snapshot, tuple(runs))):
        groups = _groups(piece, sought, hashed)
        if groups:
            yield from piece.batches(names, schema, groups=groups)


def _in_ranges(ranges: Mapping[str, Range], sought: Mapping[str, _Sought]) -> bool:
    return all(one.within(ranges.get(name)) for name, one in sought.items())


def _groups(piece: Piece, sought: Mapping[str, _Sought], hashed: Mapping[str, np.ndarray]) -> list[int]:
    """The row groups of a part that may hold a key of the landing: footers first, then filters."""
    with piece.whole():
        return _groups_of(piece, sought, hashed)


def _groups_of(piece: Piece, sought: Mapping[str, _Sought], hashed: Mapping[str, np.ndarray]) -> list[int]:
    leaves = {name: leaf for name, leaf in bloom.leaves(piece.footer).items() if name in sought}
    footer = piece.footer
    by_range = [
        number
        for number in range(footer.num_row_groups)
        if _in_ranges(_ranges(footer.row_group(number), leaves), sought)
    ]
    if not by_range or not hashed:
        return by_range
    with piece.reading() as source:
        return [
            number
            for number in by_range
            if all(
                bloom.may_hold(source, footer.row_group(number).column(leaves[name]), found)
                for name, found in hashed.items()
                if name in leaves
            )
        ]


def _ranges(group: pq.RowGroupMetaData, leaves: Mapping[str, int]) -> Mapping[str, Range]:
    found: dict[str, Range] = {}
    for name, leaf in leaves.items():
        statistics = group.column(leaf).statistics
        if statistics is None or not statistics.has_min_max or statistics.null_count:
            continue
        low, high = statistics.min_raw, statistics.max_raw
        if isinstance(low, bytes):
            low, high = low.decode(errors="replace"), high.decode(errors="replace")
        found[name] = (low, high)
    return MappingProxyType(found)
