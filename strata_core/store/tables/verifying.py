"""Whether a table's files are what its log says: the log without gaps, every run and snapshot that is kept whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ...diagnostics import Diagnostic, StrataError
from .. import manifest
from ..files import mismatch
from ..manifest import Part
from .collecting import Progress
from .entries import Collected, RunCommit, SnapshotCommit, TableEntry, newest_after
from .frontier import COLLECTED, at_entry
from .history import History

_BACKUP = "restore it from a backup"


@dataclass(frozen=True, slots=True)
class Verified:
    """What was looked at, and every finding (E094)."""

    entries: int
    runs: int
    snapshots: int
    parts: int
    findings: tuple[Diagnostic, ...]


def verify(history: History, contents: bool = True, progress: Progress = lambda _: None) -> Verified:
    """Looks at every entry, manifest and part; without `contents` at presence and size of parts alone."""
    findings: list[Diagnostic] = []
    counts = {RunCommit: 0, SnapshotCommit: 0}
    parts = 0
    entries = list(_entries(history, findings))
    head = entries[-1] if entries else None
    collected = history.collected(head) if head is not None else None
    for entry in entries:
        commit = entry.commit
        if not isinstance(commit, RunCommit | SnapshotCommit):
            continue
        progress(f"commit {entry.number:,} of {len(entries):,}")
        if collected is not None and collected.lets_go(entry):
            findings += _unmarked(history, commit)
            continue
        counts[type(commit)] += 1
        folder = history.folder(commit)
        described = _manifest(history, folder, entry.number, findings)
        if described is None:
            continue
        if described.rows != commit.rows:
            findings.append(
                _damage(f"{folder} holds {described.rows} rows, commit {entry.number} says {commit.rows}", _BACKUP)
            )
        for part in described.parts:
            parts += 1
            findings += _part(history, folder / part.path, part, contents)
    if head is not None and not findings:
        findings += _reachable(history, head, collected)
    return Verified(len(entries), counts[RunCommit], counts[SnapshotCommit], parts, tuple(findings))


def _entries(history: History, findings: list[Diagnostic]) -> Iterator[TableEntry]:
    """The entries that can be read, up to the first that cannot; each must follow from the one before."""
    try:
        head = history.log.head()
    except StrataError as gap:
        findings += gap.diagnostics
        return
    before = history.entry(0)
    for number in range(1, head + 1):
        try:
            entry = history.entry(number)
        except StrataError as damaged:
            findings += damaged.diagnostics
            return
        if entry.at <= before.at:
            findings.append(_damage(f"commit {number} is not later than the one before", _BACKUP))
        if entry.newest != newest_after(before.newest, number, entry.commit):
            findings.append(_damage(f"commit {number} does not follow from the one before", _BACKUP))
        if isinstance(entry.commit, SnapshotCommit) and (
            entry.commit.parent != before.newest.snapshot or entry.commit.through >= number
        ):
            findings.append(
                _damage(f"snapshot {entry.commit.snapshot_id} does not follow from the one before", _BACKUP)
            )
        yield entry
        before = entry


def _unmarked(history: History, commit: RunCommit | SnapshotCommit) -> list[Diagnostic]:
    """A collected snapshot is marked before its parts go; a collection that was killed did not come to it."""
    if isinstance(commit, RunCommit) or history.files.exists(history.folder(commit) / COLLECTED):
        return []
    message = f"snapshot {commit.snapshot_id} was let go and is not marked: a collection was interrupted"
    return [_damage(message, f"run `strata store collect {history.name}` again")]


def _manifest(history: History, folder: PurePath, number: int, findings: list[Diagnostic]) -> manifest.Manifest | None:
    try:
        described = history.manifest(folder)
    except StrataError as damaged:
        findings += damaged.diagnostics
        return None
    if described is None:
        findings.append(_damage(f"{folder / manifest.NAME} is missing, and commit {number} names it", _BACKUP))
    return described


def _part(history: History, path: PurePath, part: Part, contents: bool) -> list[Diagnostic]:
    why = mismatch(history.files, path, part, contents)
    return [] if why is None else [_damage(f"part {path} {why}", _BACKUP)]


def _reachable(history: History, head: TableEntry, collected: Collected | None) -> list[Diagnostic]:
    """The current state, and what holds name, was not let go."""
    if collected is None:
        return []
    held = [n for hold in history.holds(head).holds.values() for n in (hold.snapshot, *hold.runs) if n]
    lost = [n for n in (*held, *at_entry(history, head).runs) if n and collected.lets_go(history.entry(n))]
    return [_damage(f"commit {n} was let go, and is still needed", _BACKUP) for n in lost]


def _damage(message: str, fix: str) -> Diagnostic:
    return Diagnostic("E094", message, fix=fix)
