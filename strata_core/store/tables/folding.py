"""Folding: the current snapshot and the runs it omits become one new snapshot, committed by one entry.

It keeps one row for each key, and for each vintage and valid-time interval (Seed 1 *interval-rows*,
*vintage-dedup-key*), sorted by valid `from`, primary key and availability, so that row groups cover few keys and
days. A table without a key or valid time keeps its rows in the order in which they came.

Of two folds at once one commits; the other publishes nothing and removes what it wrote. Landings do not disturb it:
a run that is committed meanwhile is one that the snapshot omits.

Memory: the sort columns of all rows, and the rows of the runs; the snapshot's rows are in order and stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import polars as pl
import pyarrow as pa

from ... import instants
from ...diagnostics import StrataError
from .. import manifest
from ..arrow_schema import fields_of
from ..digest import BLOCK_ROWS
from ..files import UnclearError
from ..instant import Instant
from ..log import LogConflictError
from ..manifest import Manifest
from ..writer import Layout, Written, write_parts
from . import times
from .declaration import INGESTED_AT, TableDeclaration
from .entries import SnapshotCommit, TableEntry
from .frontier import at_entry
from .history import History
from .pieces import BOOKKEEPING_SCHEMA, Piece, pieces_of
from .selection import one_of_each_instant

SNAPSHOT = "snapshot"
"""The manifest kind of a snapshot."""
GROUP_ROWS = 8_192
"""Rows of a row group in a snapshot of vintages: what a landing decodes for one key or day (Seed 1 *vintage-scope*)."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A committed snapshot. `through` is the last commit that it holds."""

    snapshot_id: str
    commit_seq: int
    created_at: Instant
    through: int
    rows: int


def fold(history: History) -> Snapshot | None:
    """Folds the table; None when its snapshot omits no run, or when another fold was first."""
    head = history.head()
    declared = history.declared(head)
    frontier = at_entry(history, head)
    if not frontier.runs:
        return None
    previous = head.newest.snapshot
    snapshot_id = _snapshot_id(history, previous)
    folder = history.snapshot_folder(snapshot_id)
    schema = history.schema(head)
    kept = pa.schema([*schema, *BOOKKEEPING_SCHEMA])
    pieces = pieces_of(history, frontier)
    try:
        history.files.prepare(folder)
        rows = _rows(history, declared, pieces, schema, kept, head)
        written = write_parts(folder, kept, rows, layout(declared, schema), history.files, digested=False)
        history.files.put(folder / manifest.NAME, manifest.encode(_manifest(history, snapshot_id, written, head)))
        history.files.settle(folder)
        history.files.settle(folder.parent)
        commit = SnapshotCommit(snapshot_id, previous, head.number, written.rows)
        made = _commit(history, commit, head)
    except UnclearError:
        raise  # the entry may stand yet: its parts stay, and `collect` sweeps what nobody names
    except BaseException:
        _discard(history, snapshot_id, head)
        raise
    if made is None:
        _discard(history, snapshot_id, head)
        return None
    return Snapshot(snapshot_id, made.number, made.at, head.number, written.rows)


def _snapshot_id(history: History, previous: int) -> str:
    """Later than the id before, so that ids sort in commit order also when the clock goes back."""
    before = int(history.snapshot(previous).snapshot_id.removeprefix("snapshot-")) if previous else 0
    return f"snapshot-{max(history.clock(), before + 1):020d}"


def _commit(history: History, commit: SnapshotCommit, head: TableEntry) -> TableEntry | None:
    while True:
        try:
            return history.commit(commit, head)
        except LogConflictError:
            moved = history.head()
            if moved.newest.snapshot != head.newest.snapshot:
                return None
            head = moved


def _rows(
    history: History,
    declared: TableDeclaration,
    pieces: Sequence[Piece],
    schema: pa.Schema,
    kept: pa.Schema,
    head: TableEntry,
) -> Iterator[pa.RecordBatch]:
    marks = one_of_each_instant(pieces, declared, schema)
    marks = _young(history, declared, pieces, schema, marks, head)
    by = sort_columns(declared, schema)
    if not by:
        for piece, marked in _marked(pieces, marks):
            yield from piece.batches(kept.names, schema, marked)
        return
    yield from _merged(pieces, marks, by, schema, kept)


def sort_columns(declared: TableDeclaration, schema: pa.Schema) -> list[str]:
    """The order of a snapshot's rows: "an unclustered valid_time fold sorts by from, then primary key"."""
    valid, available = declared.valid_time, declared.available_column
    by = [*([valid.from_] if valid else []), *declared.primary_key, *([available] if available else [])]
    return [name for name in dict.fromkeys(by) if name in schema.names]


def _marked(pieces: Sequence[Piece], marks: np.ndarray | None) -> Iterator[tuple[Piece, np.ndarray | None]]:
    at = 0
    for piece in pieces:
        yield piece, None if marks is None else marks[at : at + piece.rows]
        at += piece.rows


def _young(
    history: History,
    declared: TableDeclaration,
    pieces: Sequence[Piece],
    schema: pa.Schema,
    marks: np.ndarray | None,
    head: TableEntry,
) -> np.ndarray | None:
    """Leaves out what is past its age, where no later row could have lost against it: under the default order."""
    retain = declared.retain_rows
    if retain is None or declared.order_by != INGESTED_AT or retain.column not in (*schema.names, INGESTED_AT):
        return marks
    since = max(history.clock(), head.at) - instants.duration(retain.age)
    batches = [batch.column(0) for piece in pieces for batch in piece.batches([retain.column], schema)]
    old = [times.before(column, since).to_numpy(zero_copy_only=False) for column in batches]
    young = ~np.concatenate(old) if old else np.zeros(0, dtype=bool)
    return young if marks is None else marks & young


def _merged(
    pieces: Sequence[Piece], marks: np.ndarray | None, by: Sequence[str], schema: pa.Schema, kept: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """The rows in the order of `by`. Snapshot rows are in it already and stream; rows of runs are held."""
    order = _order(pieces, marks, by, schema)
    in_snapshot = _snapshot_rows(pieces, marks)
    held = pa.Table.from_batches(
        [
            batch
            for piece, marked in _marked(pieces, marks)
            if piece.origin is not None
            for batch in piece.batches(kept.names, schema, marked)
        ],
        kept,
    )
    of_snapshot = order < in_snapshot
    streams = bool(np.all(np.diff(order[of_snapshot]) > 0))
    snapshot = (
        batch
        for piece, marked in _marked(pieces, marks)
        if piece.origin is None
        for batch in piece.batches(kept.names, schema, marked)
    )
    if not streams:  # folded under another declaration
        held = pa.concat_tables([pa.Table.from_batches(list(snapshot), kept), held])
        yield from (_one(held.take(pa.array(order[i : i + BLOCK_ROWS]))) for i in range(0, len(order), BLOCK_ROWS))
        return
    waiting = kept.empty_table()
    for start in range(0, len(order), BLOCK_ROWS):
        block = order[start : start + BLOCK_ROWS]
        from_snapshot = block < in_snapshot
        count = int(from_snapshot.sum())
        while waiting.num_rows < count:
            waiting = pa.concat_tables([waiting, pa.Table.from_batches([next(snapshot)], kept)])
        joined = pa.concat_tables([waiting.slice(0, count), held.take(pa.array(block[~from_snapshot] - in_snapshot))])
        places = np.empty(len(block), dtype=np.int64)
        places[from_snapshot] = np.arange(count)
        places[~from_snapshot] = np.arange(count, len(block))
        yield _one(joined.take(pa.array(places)))
        waiting = waiting.slice(count)


def _one(table: pa.Table) -> pa.RecordBatch:
    return table.combine_chunks().to_batches()[0]


def _snapshot_rows(pieces: Sequence[Piece], marks: np.ndarray | None) -> int:
    rows = sum(piece.rows for piece in pieces if piece.origin is None)
    return rows if marks is None else int(marks[:rows].sum())


def _order(pieces: Sequence[Piece], marks: np.ndarray | None, by: Sequence[str], schema: pa.Schema) -> np.ndarray:
    """The positions (among marked rows) in sorted order; rows that `by` does not tell apart stay as they came."""
    batches = [b for piece, marked in _marked(pieces, marks) for b in piece.batches(by, schema, marked)]
    if not batches:
        return np.zeros(0, dtype=np.int64)
    frame = pl.from_arrow(pa.Table.from_batches(batches))
    assert isinstance(frame, pl.DataFrame)
    return frame.select(pl.arg_sort_by(by, maintain_order=True)).to_series().to_numpy().astype(np.int64)


def layout(declared: TableDeclaration, schema: pa.Schema) -> Layout:
    """How parts are laid out: those of vintages so that a landing finds its keys without decoding the rest."""
    types = pa.types
    texts = tuple(f.name for f in schema if types.is_string(f.type) or types.is_binary(f.type))
    if not declared.is_vintage:
        return Layout(dictionaries=texts)
    filtered = (name for name in declared.primary_key if _filters_on(schema.field(name).type))
    return Layout(GROUP_ROWS, tuple(filtered), dictionaries=texts)


def _filters_on(type_: pa.DataType) -> bool:
    """Whether a key column of this type gets a Bloom filter: text and signed integers."""
    return bool(pa.types.is_string(type_) or pa.types.is_signed_integer(type_))


def _manifest(history: History, snapshot_id: str, written: Written, head: TableEntry) -> Manifest:
    return Manifest(
        id=snapshot_id,
        kind=SNAPSHOT,
        table=history.name,
        parts=written.parts,
        schema=fields_of(written.schema),
        rows=written.rows,
        digest=written.digest,
        columns=written.columns,
        created_at=history.clock(),
        statistics=written.statistics,
        provenance=MappingProxyType({"through": head.number}),
    )


def _discard(history: History, snapshot_id: str, since: TableEntry) -> None:
    """Removes a snapshot that no entry names. What the disk refuses is left: nobody reads it."""
    folder = history.snapshot_folder(snapshot_id)
    try:
        for entry in history.entries(since.number, history.log.head()):
            if isinstance(entry.commit, SnapshotCommit) and entry.commit.snapshot_id == snapshot_id:
                return
        for name in history.files.names(folder):
            history.files.remove(folder / name)
    except StrataError:
        return
