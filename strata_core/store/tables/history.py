"""A table's commit log, read: entries by number, the newest one, and the newest one at or before an instant.

Entries never change, so what was read once is kept; only the head is asked for anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Generic, TypeVar

from .. import manifest
from ..document import from_text, to_text
from ..files import LOCAL, Files, side_by_side
from ..instant import Instant, now
from ..log import CommitLog, LogConflictError
from ..manifest import Manifest
from .entries import (
    NOTHING,
    Collected,
    Commit,
    Declared,
    Holds,
    Pins,
    RunCommit,
    SnapshotCommit,
    TableEntry,
    decode,
    encode,
    newest_after,
)
from .errors import undeclared

if TYPE_CHECKING:  # pydantic and pyarrow take their time to import, and a listing needs neither
    import pyarrow as pa

    from .declaration import TableDeclaration

KEPT = 100_000
"""Entries, and manifests, kept in memory at most."""
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Kept(Generic[K, V]):
    """What was read of immutable files; the oldest goes first. Threads may both read what neither has."""

    values: dict[K, V] = field(default_factory=dict)
    newest: int = 0

    def keep(self, key: K, value: V) -> V:
        self.values[key] = value
        while len(self.values) > KEPT:
            self.values.pop(next(iter(self.values)), None)
        return value


@dataclass(frozen=True, slots=True)
class History:
    """The log of the table `name` in the folder `root`, and where its files lie."""

    name: str
    root: PurePath
    files: Files = LOCAL
    clock: Callable[[], Instant] = now
    _entries: _Kept[int, TableEntry] = field(default_factory=_Kept, repr=False, compare=False)
    _folders: _Kept[str, PurePath] = field(default_factory=_Kept, repr=False, compare=False)
    _manifests: _Kept[PurePath, Manifest] = field(default_factory=_Kept, repr=False, compare=False)

    @property
    def log(self) -> CommitLog:
        """The log itself."""
        return CommitLog(self.root / "log", self.files, self.clock)

    def head(self) -> TableEntry:
        """The newest entry; `NOTHING` before the first."""
        found = self.log.head(self._entries.newest)
        self._entries.newest = max(found, self._entries.newest)
        return self.entry(found)

    def entry(self, number: int) -> TableEntry:
        """The entry of that number; E094 when it is damaged or missing."""
        if not number:
            return NOTHING
        found = self._entries.values.get(number)
        return found or self._entries.keep(number, decode(self.log.read(number)))

    def entries(self, after: int, through: int) -> Iterator[TableEntry]:
        """Entries with numbers in (`after`, `through`], in commit order."""
        known = self._entries.values
        numbers = range(after + 1, through + 1)
        if self.files.at_once > 1 and not all(number in known for number in numbers):
            return side_by_side(self.files, self.entry, numbers)
        return (known.get(number) or self.entry(number) for number in numbers)

    def at(self, bound: Instant, head: TableEntry) -> TableEntry:
        """The newest entry at or before `bound`, up to `head`; `NOTHING` when there is none. Reads log₂ n entries."""
        return self.entry(self.log.newest_at(bound, head.number, lambda number: self.entry(number).at))

    def commit(self, commit: Commit, head: TableEntry) -> TableEntry:
        """Commits on `head`; `LogConflictError` when another commit came first."""
        number = head.number + 1
        newest = newest_after(head.newest, number, commit)
        kind, payload = encode(newest, commit)
        written = self.log.append(kind, payload, expected=head.number, after=head.at)
        self._entries.newest = max(number, self._entries.newest)
        return self._entries.keep(number, TableEntry(number, written.at, newest, commit))

    def commit_newest(self, made: Callable[[TableEntry], Commit | None]) -> TableEntry:
        """The entry of what is `made` of the head, which is asked anew where another commit came first; the head itself
        where that is nothing."""
        while True:
            head = self.head()
            if (commit := made(head)) is None:
                return head
            try:
                return self.commit(commit, head)
            except LogConflictError:
                continue

    def declared(self, at: TableEntry) -> TableDeclaration:
        """The declaration as of an entry; StoreTableUndeclared before the first."""
        match self.entry(at.newest.declare).commit:
            case Declared(declaration=document):
                return _declaration(to_text(dict(document)))
            case _:
                raise undeclared(self.name)

    def run(self, number: int) -> RunCommit:
        """The run committed by an entry."""
        commit = self.entry(number).commit
        assert isinstance(commit, RunCommit)
        return commit

    def snapshot(self, number: int) -> SnapshotCommit:
        """The snapshot committed by an entry."""
        commit = self.entry(number).commit
        assert isinstance(commit, SnapshotCommit)
        return commit

    def collected(self, at: TableEntry) -> Collected | None:
        """The newest collection as of an entry."""
        commit = self.entry(at.newest.collect).commit
        return commit if isinstance(commit, Collected) else None

    def holds(self, at: TableEntry) -> Holds:
        """All holds as of an entry."""
        commit = self.entry(at.newest.hold).commit
        return commit if isinstance(commit, Holds) else Holds(MappingProxyType({}))

    def pins(self, at: TableEntry) -> Pins:
        """All pins as of an entry."""
        commit = self.entry(at.newest.pin).commit
        return commit if isinstance(commit, Pins) else Pins(MappingProxyType({}))

    def schema(self, at: TableEntry) -> pa.Schema:
        """The merged Arrow schema of the data as of an entry: empty before the first run."""
        from ..arrow_schema import schema_of

        commit = self.entry(at.newest.schema).commit
        return schema_of(commit.schema or ()) if isinstance(commit, RunCommit) else schema_of(())

    def folder(self, commit: RunCommit | SnapshotCommit) -> PurePath:
        """Where the parts of a run or a snapshot lie."""
        match commit:
            case RunCommit(folder=below):
                found = self._folders.values.get(below)  # to join paths is most of resolving a long history
                return found or self._folders.keep(below, self.root / "data" / below)
            case SnapshotCommit():
                return self.snapshot_folder(commit.snapshot_id)

    @property
    def runs(self) -> PurePath:
        """Where runs lie: a folder for each id, with one for each attempt to land it."""
        return self.root / "data" / "runs"

    def run_folder(self, run_id: str) -> PurePath:
        """Where the attempts of a run id lie."""
        return self.runs / run_id

    @property
    def snapshots(self) -> PurePath:
        """Where snapshots lie."""
        return self.root / "data" / "snapshots"

    def snapshot_folder(self, snapshot_id: str) -> PurePath:
        """Where the parts of a snapshot lie."""
        return self.snapshots / snapshot_id

    def manifest(self, folder: PurePath) -> Manifest | None:
        """What lies in a folder, None when its manifest is gone."""
        found = self._manifests.values.get(folder)
        if found is None and (read := manifest.read(folder / manifest.NAME, self.files)) is not None:
            found = self._manifests.keep(folder, read)
        return found


@lru_cache(maxsize=1024)
def _declaration(text: str) -> TableDeclaration:
    from .declaration import declaration

    return declaration(from_text(text))
