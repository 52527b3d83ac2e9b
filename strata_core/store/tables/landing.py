"""Landing: a batch of rows becomes one run, committed by one entry of the log.

Parts are written, synced and described by a manifest in a folder of this attempt's own; nobody reads them until an
entry names the folder. `_ingested_at` is the entry's instant, decided when the entry is created: max(clock, the entry
before + 1 ns). It is not repeated in the parts, so that the loser of a race writes one small file anew and no part:
parts would have to be encoded again, and a number that is reserved beforehand would let an older instant appear
after a newer one was read. What the winner committed is looked at before the next try.

One run id lands once. An attempt leaves its folder below `data/runs/<run id>/` before it commits, with the number of
the entry that it started from; whoever lands the id again finds the folder and looks for the entry from there on.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from ...diagnostics import StrataError
from .. import writer
from ..arrow_schema import fields_of, stored_schema
from ..document import JSON
from ..files import UnclearError
from ..instant import Instant
from ..log import LogConflictError
from ..written import Written
from .arrivals import Arrival, Target, arrival
from .availability import resolve
from .declaration import TableDeclaration, retention_column
from .entries import Range, RunCommit, TableEntry
from .errors import StoreError
from .folding import layout
from .frontier import at_entry
from .history import History
from .ranges import Ranges
from .schema_merge import declared_types, injected_columns, merge
from .staging import Candidate, discard, stage
from .vintages import judge

RUN = "run"
"""The manifest kind of a run."""
MODES = ("append", "replace")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,127}")


@dataclass(frozen=True, slots=True)
class Run:
    """A committed run. `rows` are those that were kept; `decoded` counts the stored rows that were decoded to tell a
    restatement from a repetition (Seed 1 *vintage-scope*); `repeated` says that it had landed before."""

    run_id: str
    commit_seq: int
    ingested_at: Instant
    rows: int
    decoded: int = 0
    repeated: bool = False


def new_run_id(clock: Instant) -> str:
    """A run id that sorts by the clock and that nobody else takes."""
    return f"run-{clock:020d}-{secrets.token_hex(4)}"


def attempt_name(clock: Instant) -> str:
    """The folder of one attempt: `collect` sees from it how old an abandoned one is."""
    return f"{clock:020d}-{secrets.token_hex(4)}"


def land(history: History, data: Any, run_id: str | None, mode: str) -> Run:
    """Lands `data` as one run and returns it. Nothing is visible, and nothing kept, unless it returns.

    Errors, before a byte is written: StoreRunInvalid, StoreColumnReserved, StoreSchemaMismatch,
    StoreValidTimeNotTimestamp, StoreRetentionColumnInvalid, StoreSourceInvalid; while rows are read:
    StoreAvailableTimeNull, StoreRetentionColumnInvalid, StoreSchemaMismatch (a null in the key); StoreRunConflict
    when the run id has landed with other rows.
    """
    head = history.head()
    declared = history.declared(head)
    named = run_id is not None
    run_id = _checked(declared, run_id or new_run_id(history.clock()), mode)
    stored = history.schema(head)
    known = {**declared_types(declared), **{f.name: f.type for f in stored if not f.name.startswith("_")}}
    if declared.available_column is not None:
        known.pop(declared.available_column, None)
    masked = any(column.masked is not None for column in declared.columns.values())
    came = _stored(declared, arrival(Target(declared.name, known, masked), data))
    merged = merge(declared, stored, came.schema)
    attempt = _Attempt(history, declared, head, run_id, named, mode == "replace")
    # Nobody else has an id that was just made.
    earlier = history.files.names(history.run_folder(run_id)) if named else ()
    return attempt.run(came, merged, earlier)


def _checked(declared: TableDeclaration, run_id: str, mode: str) -> str:
    name = declared.name
    if mode not in MODES:
        message = f"table {name}: there is no landing mode {mode!r}"
        raise StoreError("StoreRunInvalid", name, message, f"use {' or '.join(MODES)}")
    if mode == "replace" and declared.is_vintage:
        message = f"table {name} keeps every vintage, and a replacing run would hide them"
        raise StoreError("StoreRunInvalid", name, message, "append; a later vintage takes the place of an earlier one")
    if not _RUN_ID.fullmatch(run_id):
        fix = "use letters, digits, and . _ = - (128 characters at most, a letter or digit first)"
        raise StoreError("StoreRunInvalid", name, f"table {name}: {run_id!r} cannot name a run", fix)
    return run_id


def _stored(declared: TableDeclaration, came: Arrival) -> Arrival:
    """The arrival with the types that the store keeps; a column of nulls keeps its lack of a type."""
    kept = stored_schema(pa.schema([f for f in came.schema if not pa.types.is_null(f.type)]))
    fields = [f if pa.types.is_null(f.type) else kept.field(f.name) for f in came.schema]
    names = came.schema.names
    if len(set(names)) < len(names):
        raise StoreError("StoreSchemaMismatch", declared.name, f"table {declared.name}: a column arrives twice", None)
    return Arrival(pa.schema(fields), came.batches)


@dataclass(frozen=True, slots=True)
class _Staged:
    """Parts that are written and synced, and what the log will say of them."""

    folder: PurePath
    written: Written
    ranges: Mapping[str, Range]


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One attempt to land a run on the state at `head`. Rows of an id that somebody chose are told by their digest, for
    they may come again; nobody else has an id that was just made."""

    history: History
    declared: TableDeclaration
    head: TableEntry
    run_id: str
    named: bool
    replaces: bool

    def run(self, came: Arrival, merged: pa.Schema, earlier: tuple[str, ...]) -> Run:
        """Writes the rows and commits them; an id that landed before, in an attempt of `earlier`, gives the run of
        then."""
        made = (*injected_columns(self.declared), self.declared.available_column)
        names = [n for n in merged.names if n in came.schema.names or n in made]
        target = pa.schema([merged.field(name) for name in names])
        told: list[str] = []  # the digest of the rows as they came, where they are kept otherwise
        as_they_came = target.names == came.schema.names and target.types == came.schema.types
        rows = self._rows(came if as_they_came or not self.named else _digested(came, told), target)
        if self.declared.is_vintage:
            return self._vintages(pa.Table.from_batches(rows, target), told, earlier, merged)
        staged = self._stage(target, rows)
        arrived = told[0] if told else staged.written.digest
        try:
            found = self._landed(earlier)
            run = self._commit(staged, merged, arrived) if found is None else self._same(found, arrived)
        except UnclearError:
            raise  # the entry may stand yet: its parts stay, and the same run id tells
        except BaseException:
            self._discard(staged)
            raise
        if run.repeated:
            self._discard(staged)
        return run

    def _vintages(self, arrived: pa.Table, told: list[str], earlier: tuple[str, ...], merged: pa.Schema) -> Run:
        """Lands what restates (Seed 1 *vintage-hash*); judged anew when another landing came between."""
        digested = told[0] if told else ""
        if self.named and not told:
            digested = writer.digest_of(arrived.schema, arrived.to_batches())
        if (landed := self._landed(earlier)) is not None:
            return self._same(landed, digested)
        attempt, decoded = self, 0
        staged: _Staged | None = None
        before = np.zeros(0, dtype=bool)
        while True:
            frontier = at_entry(self.history, attempt.head)
            judged = judge(self.history, self.declared, merged, frontier, arrived)
            decoded += judged.decoded
            if staged is None or not np.array_equal(judged.lands, before):
                if staged is not None:
                    attempt._discard(staged)
                novel = arrived if judged.lands.all() else arrived.filter(pa.array(judged.lands))
                staged = attempt._stage(arrived.schema, iter(novel.to_batches()))
                before = judged.lands
            try:
                run = attempt._try(staged, merged, digested)
            except LogConflictError:
                found, moved = attempt._moved(attempt.head)
                if found is not None:
                    attempt._discard(staged)
                    return attempt._same(found, digested)
                merged = attempt._merged_on(moved, arrived.schema)
                attempt = replace(attempt, head=moved)
                continue
            except UnclearError:
                raise  # as above
            except BaseException:
                attempt._discard(staged)
                raise
            return replace(run, decoded=decoded)

    def _stage(self, target: pa.Schema, rows: Iterator[pa.RecordBatch]) -> _Staged:
        """Writes rows to a folder of this attempt's own, synced and named by nobody."""
        folder = self.history.run_folder(self.run_id) / attempt_name(self.history.clock())
        note: dict[str, JSON] = {"started_from": self.head.number}
        candidate = Candidate(folder, self.run_id, RUN, MappingProxyType(note))
        available = self.declared.available_column
        ranges = Ranges(tuple(dict.fromkeys((*self.declared.dedup_key, *((available,) if available else ())))))
        try:
            written = stage(
                self.history,
                candidate,
                target,
                ranges.watch(rows),
                layout(self.declared, target),
                digested=self.named,
                # an entry that names a run was preceded by its folder, all the way up
                durable=self.history.runs if self.head.newest.run else None,
            )
        except BaseException:
            discard(self.history, folder, self.head)
            raise
        return _Staged(folder, written, ranges.found())

    def _commit(self, staged: _Staged, merged: pa.Schema, arrived: str) -> Run:
        """Commits on the newest entry, whoever commits beside."""
        attempt = self
        while True:
            try:
                return attempt._try(staged, merged, arrived)
            except LogConflictError:
                found, moved = attempt._moved(attempt.head)
                if found is not None:
                    return attempt._same(found, arrived)
                merged = attempt._merged_on(moved, staged.written.schema)
                attempt = replace(attempt, head=moved)

    def _try(self, staged: _Staged, merged: pa.Schema, arrived: str) -> Run:
        """Creates the next entry; `LogConflictError` when another one came first."""
        stored = self.history.schema(self.head)
        changed = None if merged.equals(stored, check_metadata=True) else fields_of(merged)
        folder = staged.folder.relative_to(self.history.root / "data").as_posix()
        commit = RunCommit(self.run_id, folder, staged.written.rows, arrived, self.replaces, changed, staged.ranges)
        made = self.history.commit(commit, self.head)
        return Run(self.run_id, made.number, made.at, staged.written.rows)

    def _moved(self, seen: TableEntry) -> tuple[int | None, TableEntry]:
        """What came first: the entry of this very run, if it did, and the head that it is now."""
        moved = self.history.head()
        if moved.newest.declare != seen.newest.declare and self.history.declared(moved) != self.declared:
            message = f"table {self.declared.name} was declared anew while run {self.run_id} landed"
            raise StoreError("StoreRunConflict", self.declared.name, message, "land it again")
        return self._among(seen.number, moved.number), moved

    def _merged_on(self, head: TableEntry, landed: pa.Schema) -> pa.Schema:
        own = pa.schema([f for f in landed if not f.name.startswith("_")])
        return merge(self.declared, self.history.schema(head), own)

    def _discard(self, staged: _Staged) -> None:
        discard(self.history, staged.folder, self.head)

    def _rows(self, came: Arrival, target: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows as they are kept, checked one batch at a time."""
        names = [n for n in target.names if n in came.schema.names]
        for batch in came.batches:
            raw = pa.RecordBatch.from_arrays(
                [_column(batch, came.schema, n, target, self.declared) for n in names], names
            )
            resolved = resolve(raw, self.declared, self.run_id)
            kept = resolved.select(target.names).cast(target)
            self._check_nulls(kept)
            yield kept

    def _check_nulls(self, batch: pa.RecordBatch) -> None:
        table = self.declared.name
        for column in self.declared.primary_key:
            if batch.column(column).null_count:
                message = f"table {table}, run {self.run_id}: the primary key column {column} is null in some rows"
                raise StoreError("StoreSchemaMismatch", table, message, f"fill {column} before it lands")
        retain = self.declared.retain_rows
        if retain is not None and retain.column in batch.schema.names and batch.column(retain.column).null_count:
            raise retention_column(table, f"column {retain.column} is null in some rows of run {self.run_id}")

    def _landed(self, attempts: tuple[str, ...]) -> int | None:
        """The entry under which an earlier attempt of this run id was committed.

        It is looked for from where the oldest attempt started; one that was killed before it said so may be any.
        """
        if not attempts:
            return None
        folder = self.history.run_folder(self.run_id)
        return self._among(min(_started_from(self.history, folder / a) for a in attempts), self.history.head().number)

    def _among(self, after: int, through: int) -> int | None:
        for entry in self.history.entries(after, through):
            if isinstance(entry.commit, RunCommit) and entry.commit.run_id == self.run_id:
                return entry.number
        return None

    def _same(self, number: int, arrived: str) -> Run:
        """The run committed before under this id; StoreRunConflict when it had other rows."""
        entry, commit = self.history.entry(number), self.history.run(number)
        if commit.arrived != arrived or commit.replaces != self.replaces:
            table = self.declared.name
            how = "with other rows" if commit.arrived else "under this id, which was made for it"
            message = f"table {table}: run {self.run_id} has landed before (commit {number}) {how}"
            raise StoreError("StoreRunConflict", table, message, "land other rows under another run id")
        return Run(self.run_id, number, entry.at, commit.rows, repeated=True)


def _digested(came: Arrival, told: list[str]) -> Arrival:
    """`came`, digested on its way: a run id that comes again with the same rows is known, whatever has become of the
    table's types since. A column of nulls without a type counts as text."""
    fields = [pa.field(f.name, pa.string()) if pa.types.is_null(f.type) else f for f in came.schema]
    schema = pa.schema(fields)

    def typed() -> Iterator[pa.RecordBatch]:
        for batch in came.batches:
            columns = [c.cast(pa.string()) if pa.types.is_null(c.type) else c for c in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, batch.schema.names)

    return Arrival(schema, writer.digesting(schema, typed(), told))


def _column(
    batch: pa.RecordBatch, came: pa.Schema, name: str, target: pa.Schema, declared: TableDeclaration
) -> pa.Array:
    """A column as the table keeps it; availability as it came, for its type says how it is meant."""
    column = batch.column(name)
    type_ = came.field(name).type if name == declared.available_column else target.field(name).type
    if column.type == type_:
        return column
    try:
        widened = pa.types.is_integer(column.type) and pa.types.is_floating(type_)
        return column.cast(type_, safe=not widened)
    except pa.ArrowInvalid:
        message = f"table {declared.name}: column {name} holds a value that does not fit {type_}"
        raise StoreError("StoreSchemaMismatch", declared.name, message, "correct the value") from None


def _started_from(history: History, attempt: PurePath) -> int:
    """The head that an attempt started from, 0 where its manifest does not tell."""
    try:
        described = history.manifest(attempt)
    except StrataError:
        return 0
    since = described.provenance.get("started_from") if described is not None else None
    return since if isinstance(since, int) else 0
