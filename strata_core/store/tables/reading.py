"""A read of a table, in the order in which design `store.md` evaluates it.

Resolve a frontier; choose the rows that stand for their keys (dedup, availability); then, batch by batch: valid
time, row age, adjustment, enforcement, and last what the reader asks to filter by, which sees masked values only.
The deciding columns are held in memory, the rows are streamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...durations import duration
from ...instants import Literal
from ..instant import Instant
from . import frontier, times
from .adjustment import Factors, factors_for
from .bounds import Bounds, resolve
from .declaration import BOOKKEEPING, TableDeclaration
from .enforcement import Enforcement, Principal
from .entries import TableEntry
from .errors import StoreError
from .frontier import Frontier
from .history import History
from .holding import pinned as pinned_at
from .pieces import BOOKKEEPING_SCHEMA, Piece, ahead, pieces_of
from .predicates import Condition
from .results import ResultCache
from .selection import select

if TYPE_CHECKING:
    import polars as pl

    from .table import Table

Step = Callable[[pa.RecordBatch], pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Statement:
    """What a read asks for, beside the rows it reads from: a part of the result cache's key."""

    columns: tuple[str, ...] | None
    filter: str | None
    vintage: str
    principal: Principal | None


@dataclass(frozen=True)
class Read:
    """The rows of one read. It sees the frontier that it was made with, however often it is streamed.

    `bounds` is what a context carries as `contextful.bounds`: None for an unbounded read (Seed 1 *echo*).
    """

    history: History = field(repr=False)
    declared: TableDeclaration
    entry: TableEntry
    frontier: Frontier
    asked: Bounds
    statement: Statement
    table_schema: pa.Schema
    now: Instant
    enforcement: Enforcement
    cache: ResultCache = field(repr=False)
    factors: Callable[[], Factors | None] = field(repr=False)

    @property
    def bounds(self) -> Mapping[str, str | bool] | None:
        """The echo of the bounds, each an instant in RFC 3339, UTC, nine fractional digits."""
        return self.asked.echo()

    @property
    def contextful(self) -> Mapping[str, object]:
        """What a result's context says of this read: `bounds`, where there are any."""
        return {} if self.bounds is None else {"bounds": self.bounds}

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the result, masks applied."""
        return pa.schema([self._shown.field(name) for name in self._names])

    def arrow(self) -> pa.Table:
        """All rows in memory, from the result cache where it has them."""
        if (found := self.cache.find(self._key)) is not None:
            return found
        made = pa.Table.from_batches(self._batches(), self.schema)
        self.cache.keep(self._key, made)
        return made

    def reader(self) -> pa.RecordBatchReader:
        """The rows, streamed."""
        if (found := self.cache.find(self._key)) is not None:
            return found.to_reader()
        return pa.RecordBatchReader.from_batches(self.schema, self._batches())

    def lazy(self) -> pl.LazyFrame:
        """A lazy polars scan: it streams, and reads only the columns and the first rows that its query needs."""
        import polars as pl
        from polars.io.plugins import register_io_source

        def frames(
            columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
        ) -> Iterator[pl.DataFrame]:
            left = rows
            wanted = self if columns is None else self.select(columns or self._names[:1])  # a count needs no column
            for batch in wanted.reader():
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                frame = frame if left is None else frame.head(left)
                left = None if left is None else left - frame.height
                yield frame if predicate is None else frame.filter(predicate)
                if left == 0:
                    return

        empty = pl.from_arrow(self.schema.empty_table())
        assert isinstance(empty, pl.DataFrame)
        return register_io_source(frames, schema=empty.schema)

    def select(self, columns: Sequence[str]) -> Read:
        """The same read of fewer columns."""
        return replace(self, statement=replace(self.statement, columns=tuple(columns)))

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The columns asked for; by default those of the data that the principal may see."""
        asked = self.statement.columns
        if asked is None:
            return tuple(n for n in self._shown.names if n not in BOOKKEEPING)
        if not asked:
            table = self.declared.name
            raise StoreError("StoreColumnUnknown", table, f"table {table}: a read asks for no column", "name one")
        for name in asked:
            if name not in self._shown.names:
                raise unknown_column(self.declared.name, name, self._shown.names)
        return asked

    @cached_property
    def _whole(self) -> pa.Schema:
        """The table's columns as adjustment leaves them, and the bookkeeping columns."""
        adjusted = self._adjusted
        fields = [pa.field(f.name, pa.float64()) if f.name in adjusted else f for f in self.table_schema]
        return pa.schema([*fields, *BOOKKEEPING_SCHEMA])

    @cached_property
    def _shown(self) -> pa.Schema:
        return self.enforcement.schema(self._whole)

    @cached_property
    def _adjusted(self) -> tuple[str, ...]:
        available = self.declared.available_time
        if self.asked.available_as_of is None or available is None or available.adjustment is None:
            return ()
        return available.adjustment.adjust_columns

    @cached_property
    def _condition(self) -> Condition | None:
        if self.statement.filter is None:
            return None
        return Condition.of(self.declared.name, self.statement.filter, self._shown)

    @property
    def _key(self) -> object | None:
        """The key in the result cache; None for what it must not keep (Seed 1 *row-age-cutoff*)."""
        if self.declared.retain_rows is not None or self._adjusted:
            return None
        bounds = tuple(None if b is None else b.last for b in (self.asked.valid_as_of, self.asked.available_as_of))
        return (self.declared.name, self.entry.newest.declare, self.frontier, bounds, self.statement, self.schema)

    def check(self) -> None:
        """Raises what can be known before the first row."""
        _ = self.schema, self.needed, self._condition

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return self._stream(self.needed, self._steps)

    def admitted(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        """The stored columns `names` of the rows that stand for their keys and vintages, before valid time, row age and
        enforcement: who shows any of them applies `showing`."""
        return self._stream(names, ())

    @cached_property
    def needed(self) -> list[str]:
        """Every column that some step looks at, in the table's order."""
        valid, retain = self.declared.valid_time, self.declared.retain_rows
        needed = set(self._names) | self.enforcement.reads
        needed |= self._condition.columns if self._condition else frozenset()
        if self.asked.valid_as_of is not None and valid is not None:
            needed |= {valid.from_, *((valid.to,) if valid.to else ())}
        if retain is not None:
            needed.add(retain.column)
        if not self.declared.primary_key and self.asked.available_as_of is not None and self.declared.available_column:
            needed.add(self.declared.available_column)
        factors = self._factors
        if factors is not None:
            needed |= factors.reads
        return [name for name in self._whole.names if name in needed and name in self.stored.names]

    @cached_property
    def stored(self) -> pa.Schema:
        """The table's columns as they are stored, and the bookkeeping columns."""
        return pa.schema([*self.table_schema, *BOOKKEEPING_SCHEMA])

    @cached_property
    def _factors(self) -> Factors | None:
        return self.factors() if self._adjusted else None

    @property
    def _steps(self) -> tuple[Step, ...]:
        factors = [self._factors.apply] if self._factors is not None else []
        return (*self._bounding(), *self._aging(), *factors, *self._enforcing())

    def showing(self, also: tuple[str, ...]) -> tuple[Step, ...]:
        """What becomes of rows of `admitted` before a reader sees them: row age, enforcement, the filter. The columns
        `also` go along."""
        return (*self._aging(), *self._enforcing(also))

    def _enforcing(self, also: tuple[str, ...] = ()) -> Iterator[Step]:
        condition, names = self._condition, [*self._names, *also]
        yield self.enforcement.apply
        if condition is not None:
            yield lambda batch: batch.filter(condition.holds(batch))
        yield lambda batch: batch.select(names)

    def _bounding(self) -> Iterator[Step]:
        """Availability of unkeyed tables, and valid time."""
        valid, available = self.declared.valid_time, self.declared.available_column
        if not self.declared.primary_key and self.asked.available_as_of is not None and available is not None:
            until = self.asked.available_as_of.last
            yield lambda batch: batch.filter(times.at_most(batch.column(available), until))
        if self.asked.valid_as_of is not None and valid is not None:
            at = self.asked.valid_as_of.last
            to = valid.to if valid.to in self.table_schema.names else None
            yield lambda batch: batch.filter(
                times.covers(batch.column(valid.from_), None if to is None else batch.column(to), at)
            )

    def _aging(self) -> Iterator[Step]:
        """Row age."""
        if (retain := self.declared.retain_rows) is not None:
            since = self.now - duration(retain.age)
            yield lambda batch: batch.filter(pc.invert(times.before(batch.column(retain.column), since)))

    def _stream(self, names: list[str], steps: tuple[Step, ...]) -> Iterator[pa.RecordBatch]:
        pieces = pieces_of(self.history, self.frontier)
        available = self.asked.available_as_of
        marks = select(
            pieces,
            self.declared,
            self.table_schema,
            None if available is None else available.last,
            self.statement.vintage,
        )
        at = 0
        for piece in ahead(pieces):
            kept = None if marks is None else marks[at : at + piece.rows]
            at += piece.rows
            if kept is None or kept.any():
                yield from _through(
                    piece, names, self.table_schema, None if kept is None or kept.all() else kept, steps
                )


def _through(
    piece: Piece, names: list[str], schema: pa.Schema, kept: np.ndarray | None, steps: tuple[Step, ...]
) -> Iterator[pa.RecordBatch]:
    for batch in piece.batches(names, schema, kept):
        for step in steps:
            batch = step(batch)
        if batch.num_rows:
            yield batch


def unknown_column(table: str, name: str, known: Sequence[str]) -> StoreError:
    """A column that the table has not, or not for this principal."""
    shown = ", ".join(n for n in known if n not in BOOKKEEPING)
    return StoreError("StoreColumnUnknown", table, f"table {table} has no column {name}", f"use one of {shown}")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller asks for, as it was written."""

    as_of: Literal | None = None
    valid_as_of: Literal | None = None
    available_as_of: Literal | None = None
    vintage: str = "latest"
    pin: str | None = None
    columns: tuple[str, ...] | None = None
    filter: str | None = None


def open_read(table: Table, asked: Asked, principal: Principal | None) -> Read:
    """A read, resolved and checked before its first row; `principal` None is the store itself.

    Errors: those of `Table.read`.
    """
    history = table.log
    head = history.head()
    declared = history.declared(head)
    bounds = resolve(declared, asked.as_of, asked.valid_as_of, asked.available_as_of, asked.vintage)
    pinned = None if asked.pin is None else pinned_at(history, head, asked.pin)
    schema = history.schema(head)
    read = Read(
        history=history,
        declared=declared,
        entry=head,
        frontier=_frontier(history, head, bounds, pinned),
        asked=bounds,
        statement=Statement(asked.columns, asked.filter, asked.vintage, principal),
        table_schema=schema,
        now=max(history.clock(), head.at),
        enforcement=Enforcement(declared, schema, principal, table.mask_key),
        cache=table.results,
        factors=lambda: factors_for(declared, bounds, asked.pin, table.sibling),
    )
    read.check()
    return read


def _frontier(history: History, head: TableEntry, bounds: Bounds, pinned: Instant | None) -> Frontier:
    """Unbounded, or as of the earlier one of the bound and the pin (Seed 1 *pin-bound*: earlier-bound-wins)."""
    upper = [bound for bound in (pinned, bounds.as_of.last if bounds.as_of else None) if bound is not None]
    return frontier.as_of(history, min(upper), head) if upper else frontier.at_entry(history, head)
