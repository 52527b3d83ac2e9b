"""The rows of a table in the order in which the one that held at an instant is found, many instants at once.

They are sorted by key, `from` and availability; each asked row is placed among them by bisection, and steps back only
over what was not known yet or has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa

from ... import instants
from ..instant import Instant
from . import times
from .reading import Read

NONE = -1
"""The place of no row, and the key of none."""
By: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a column of the rows that ask and a column of the table."""


@dataclass(frozen=True)
class SortedRows:
    """A table's rows in the order of key, `from`, availability and landing; `order` is their place in `table`.

    A *line* is what one row at most is found of: the vintages of one key and interval, or one row without a key.
    `lines` has where each begins, and its end is where the next one does; `firsts` has the first line of each key.
    `earliest` is, for each line, the first availability among those of its key up to it; `begun` finds lines of a key
    by their beginning, `published` rows of a line by their availability (`None` where each line is one row).
    """

    table: pa.Table
    order: np.ndarray
    keys: pl.DataFrame
    by: By
    from_: np.ndarray
    to: np.ndarray
    available: np.ndarray
    lines: np.ndarray
    firsts: np.ndarray
    earliest: np.ndarray
    begun: _Within
    published: _Within | None

    @classmethod
    def of(cls, read: Read, by: By, *, bounded: bool) -> SortedRows:
        """The rows that `read` admits, and what decides of them: the columns of `by` and, where they are `bounded` by
        it, availability."""
        declared = read.declared
        valid, available = declared.valid_time, declared.available_column
        to = valid.to if valid is not None and valid.to in read.table_schema.names else None
        deciding = [theirs for _, theirs in by]
        deciding += [name for name in (valid.from_ if valid else None, to, available) if name is not None]
        names = list(dict.fromkeys([*read.needed, *deciding]))
        table = pa.Table.from_batches(read.admitted(names), pa.schema([read.stored.field(name) for name in names]))
        frame = _keys(read, table, by).with_columns(
            _nanoseconds(table, valid.from_ if valid else None, instants.EARLIEST if valid is None else None).alias(
                "from"
            ),
            _nanoseconds(table, to, instants.LATEST).alias("to"),
            _nanoseconds(table, available, None if bounded else instants.EARLIEST).alias("available"),
        )
        key = [column for column in frame.columns if column.startswith("key")]
        sorted_ = frame.with_row_index("order").drop_nulls([*key, "from", "available"])
        sorted_ = sorted_.sort([*key, "from", "available", "order"])
        sorted_ = sorted_.with_columns((pl.struct(key).rle_id() if key else pl.lit(0)).alias("group"))
        line = ["group", "from"] if declared.primary_key else ["order"]
        begins = sorted_.select(begins=pl.struct(line).rle_id().diff().fill_null(1) != 0).to_series().to_numpy()
        lines = np.flatnonzero(begins)
        by_line = (
            sorted_[lines]
            .with_row_index("line")
            .with_columns(pl.col("available").cum_min().over("group").alias("earliest"))
        )
        groups = by_line.group_by("group", maintain_order=True).first()
        column = sorted_.get_column
        return cls(
            table,
            column("order").to_numpy().astype(np.int64),
            groups.select(*key, "group"),
            by,
            column("from").to_numpy(),
            column("to").to_numpy(),
            column("available").to_numpy(),
            np.append(lines, sorted_.height),
            np.append(groups.get_column("line").to_numpy().astype(np.int64), len(lines)),
            by_line.get_column("earliest").to_numpy(),
            _Within.of(by_line.get_column("group").to_numpy().astype(np.int64), by_line.get_column("from").to_numpy()),
            None if begins.all() else _Within.of(np.cumsum(begins, dtype=np.int64) - 1, column("available").to_numpy()),
        )

    def groups(self, batch: pa.RecordBatch) -> np.ndarray:
        """The key of each row of `batch`, as the table's rows have them; `NONE` where none has it."""
        if not self.by:
            return np.full(batch.num_rows, 0 if len(self.firsts) > 1 else NONE)
        types = {name: self.keys.schema[name] for name in self.keys.columns}
        ours = {f"key{i}": batch.column(left) for i, (left, _) in enumerate(self.by)}
        frame = pl.from_arrow(pa.table(ours))
        assert isinstance(frame, pl.DataFrame)
        cast = frame.with_columns(pl.col(name).cast(types[name], strict=False) for name in ours)
        found = cast.join(self.keys, on=list(ours), how="left", maintain_order="left").get_column("group")
        return found.cast(pl.Int64).fill_null(NONE).to_numpy()

    def matches(self, groups: np.ndarray, at: np.ndarray, known: np.ndarray, within: int | None) -> np.ndarray:
        """The place in `order` of the row found for each key and pair of instants, `NONE` where there is none."""
        found = np.full(len(groups), NONE, dtype=np.int64)
        rows = np.flatnonzero(groups != NONE)
        begins = self.from_[self.lines[:-1]]
        ranks = self.published.ranks(known) if self.published is not None else None
        lowest = self.firsts[groups[rows]]
        line = self.begun.last(groups[rows], self.begun.ranks(at[rows]))
        while len(rows):
            left = line >= lowest
            left[left] &= self.earliest[line[left]] <= known[rows[left]]
            if within is not None:
                # Both are within 64 bits, their difference need not be.
                left[left] &= begins[line[left]] >= np.maximum(at[rows[left]], instants.EARLIEST + within) - within
            rows, line, lowest = rows[left], line[left], lowest[left]
            if self.published is None or ranks is None:
                place, holds = line, self.available[line] <= known[rows]
            else:
                place = self.published.last(line, ranks[rows])
                holds = place >= self.lines[line]
            ends = self.to[place[holds]]
            holds[holds] &= (ends > at[rows[holds]]) | (ends == instants.LATEST)
            found[rows[holds]] = place[holds]
            rows, line, lowest = rows[~holds], line[~holds] - 1, lowest[~holds]
        return found


@dataclass(frozen=True, slots=True)
class _Within:
    """Values that ascend within each of ascending owners: the last one at or below a limit is found by one bisection
    over owners and the ranks of values together."""

    values: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, owners: np.ndarray, values: np.ndarray) -> _Within:
        """`values` and whose each is."""
        distinct = np.unique(values)
        return cls(distinct, owners * (len(distinct) + 1) + np.searchsorted(distinct, values, side="right"))

    def ranks(self, limits: np.ndarray) -> np.ndarray:
        """The rank of each limit among the values."""
        ranks: np.ndarray = np.searchsorted(self.values, limits, side="right")
        return ranks

    def last(self, owners: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        """The place of the last value of each owner up to a rank; one before the owner's first where there is none."""
        asked = owners * (len(self.values) + 1) + ranks
        order = np.argsort(asked)  # in ascending order one search goes on where the one before it ended
        places = np.empty(len(asked), dtype=np.int64)
        places[order] = np.searchsorted(self.places, asked[order], side="right") - 1
        return places


def _keys(read: Read, table: pa.Table, by: By) -> pl.DataFrame:
    """The columns that are compared, as the reader sees them."""
    columns = {}
    for i, (_, theirs) in enumerate(by):
        mask = read.enforcement.masks.get(theirs)
        column = table.column(theirs).combine_chunks()
        columns[f"key{i}"] = column if mask is None else read.enforcement.masked(whole(column), mask)
    if not columns:
        return pl.DataFrame({"rows": np.zeros(table.num_rows, dtype=np.int8)})
    frame = pl.from_arrow(pa.table(columns))
    assert isinstance(frame, pl.DataFrame)
    return frame


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _nanoseconds(table: pa.Table, name: str | None, otherwise: Instant | None) -> pl.Series:
    """The instants of a column, `otherwise` for nulls and where there is no column."""
    if name is None:
        return pl.Series([otherwise], dtype=pl.Int64).new_from_index(0, table.num_rows)
    series = pl.from_arrow(times.nanoseconds(whole(table.column(name))))
    assert isinstance(series, pl.Series)
    return series if otherwise is None else series.fill_null(otherwise)
