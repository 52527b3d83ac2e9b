"""Folding: the current snapshot and the runs it omits become one new snapshot, committed by one entry.

It keeps one row for each key, and for each vintage and valid-time interval (Seed 1 *interval-rows*,
*vintage-dedup-key*), sorted by valid `from`, primary key and availability, so that row groups cover few keys and
days. A table without a key or valid time keeps its rows in the order in which they came.

Of two folds at once one commits; the other publishes nothing and removes what it wrote. Landings do not disturb it:
a run that is committed meanwhile is one that the snapshot omits.

Memory: a few blocks. The snapshot's rows are in order and stream, those of the runs are sorted first (`merging`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from ...durations import duration
from ..document import JSON
from ..files import UnclearError
from ..instant import Instant
from ..log import LogConflictError
from ..writer import Layout
from . import times
from .declaration import INGESTED_AT, TableDeclaration
from .entries import SnapshotCommit, TableEntry
from .frontier import Frontier, at_entry
from .history import History
from .merging import Order, merged, sorted_streams
from .pieces import BOOKKEEPING_SCHEMA, Piece, ahead, pieces_of
from .staging import Candidate, discard, stage

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
    try:
        rows = _rows(history, declared, frontier, kept, head)
        note: Mapping[str, JSON] = MappingProxyType({"through": head.number})
        candidate = Candidate(folder, snapshot_id, SNAPSHOT, note)
        written = stage(history, candidate, kept, rows, layout(declared, schema), digested=False)
        history.files.settle(folder.parent)
        commit = SnapshotCommit(snapshot_id, previous, head.number, written.rows)
        made = _commit(history, commit, head)
    except UnclearError:
        raise  # the entry may stand yet: its parts stay, and `collect` sweeps what nobody names
    except BaseException:
        discard(history, folder, head)
        raise
    if made is None:
        discard(history, folder, head)
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
    history: History, declared: TableDeclaration, frontier: Frontier, kept: pa.Schema, head: TableEntry
) -> Iterator[pa.RecordBatch]:
    pieces = pieces_of(history, frontier)
    by = sort_columns(declared, kept)

    def batches(pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
        return (batch for piece in ahead(pieces) for batch in piece.batches(kept.names, kept))

    if not by:
        return _young(history, declared, batches(pieces), head)
    streams = []
    if frontier.snapshot and _in_order(history, frontier.snapshot, by):
        streams.append(batches([piece for piece in pieces if piece.origin is None]))
        pieces = tuple(piece for piece in pieces if piece.origin is not None)
    streams += sorted_streams(kept, batches(pieces), by)
    keyed = bool(declared.primary_key)
    latest = (declared.order_by,) if keyed and declared.order_by != INGESTED_AT else ()
    return _young(history, declared, merged(kept, streams, Order(tuple(by), keyed, latest)), head)


def _in_order(history: History, snapshot: int, by: Sequence[str]) -> bool:
    """Whether a snapshot's rows are sorted by `by`, as they are unless it was folded under another declaration.

    A column that came later is null in all of them.
    """
    then = history.entry(history.snapshot(snapshot).through)
    schema = history.schema(then)
    known = [name for name in by if name in schema.names]
    return sort_columns(history.declared(then), schema)[: len(known)] == known


def sort_columns(declared: TableDeclaration, schema: pa.Schema) -> list[str]:
    """The order of a snapshot's rows: "an unclustered valid_time fold sorts by from, then primary key"."""
    valid, available = declared.valid_time, declared.available_column
    by = [*([valid.from_] if valid else []), *declared.primary_key, *([available] if available else [])]
    return [name for name in dict.fromkeys(by) if name in schema.names]


def _young(
    history: History, declared: TableDeclaration, rows: Iterator[pa.RecordBatch], head: TableEntry
) -> Iterator[pa.RecordBatch]:
    """Leaves out what is past its age, where no later row could have lost against it: under the default order."""
    retain = declared.retain_rows
    if retain is None or declared.order_by != INGESTED_AT:
        yield from rows
        return
    since = max(history.clock(), head.at) - duration(retain.age)
    for batch in rows:
        if retain.column in batch.schema.names:
            batch = batch.filter(pc.invert(times.before(batch.column(retain.column), since)))
        yield batch


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
