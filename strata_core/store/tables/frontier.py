"""Which rows a read sees: a snapshot and the committed runs it omits, as of one entry of the log.

Seed 1 *as-of*: "the newest reachable snapshot created at or before the bound plus the committed runs at or before
it that the snapshot omits". The entry settles both, so a read that runs beside a fold or a landing sees one state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..instant import Instant, spell
from .entries import Collected, RunCommit, SnapshotCommit, TableEntry
from .errors import StoreError
from .history import History

COLLECTED = "_collected.json"
"""Stands beside the parts of a snapshot from before they are deleted on."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """The snapshot's entry number (0 for none) and those of the runs, in commit order. Equal ones mean equal rows."""

    snapshot: int
    runs: tuple[int, ...]


def at_entry(history: History, entry: TableEntry) -> Frontier:
    """The frontier at `entry`: its newest snapshot and the runs after it, or all since the newest replacing run."""
    return _on(history, entry.newest.snapshot, entry)


def _on(history: History, snapshot: int, entry: TableEntry) -> Frontier:
    through = history.snapshot(snapshot).through if snapshot else 0
    replacing = entry.newest.replace
    if replacing > through:
        snapshot, through = 0, replacing - 1
    runs = (e.number for e in history.entries(through, entry.number) if isinstance(e.commit, RunCommit))
    return Frontier(snapshot, tuple(runs))


def as_of(history: History, bound: Instant, head: TableEntry) -> Frontier:
    """The frontier of the newest entry at or before `bound`; StoreAsOfUnretained when retention removed it.

    Settled (design `store.md` *a*): where the newest snapshot is collected, an older one that a hold keeps answers,
    if every run that it omits up to the bound is there.
    """
    entry = history.at(bound, head)
    collected = history.collected(head)
    for snapshot in _snapshots(history, entry):
        frontier = _on(history, snapshot, entry)
        if frontier.snapshot:
            whole = is_whole(history, frontier.snapshot, collected)
        else:  # before any snapshot; once something was collected, only what a hold keeps of it is known
            whole = collected is None or bool(frontier.runs)
        if whole and all(_is_present_run(history, number, collected) for number in frontier.runs):
            return frontier
    raise _unretained(history, bound, head)


def _snapshots(history: History, entry: TableEntry) -> Iterator[int]:
    """The entries of snapshots, newest first, and 0: the state before any."""
    number = entry.newest.snapshot
    while number:
        yield number
        number = history.snapshot(number).parent
    yield 0


def is_whole(history: History, snapshot: int, collected: Collected | None) -> bool:
    """Whether a snapshot can be read: the log has not let it go, it is not marked, and no part of it is absent."""
    commit = history.snapshot(snapshot)
    return (
        (collected is None or not collected.is_gone_snapshot(snapshot))
        and not history.files.exists(history.folder(commit) / COLLECTED)
        and _present(history, commit)
    )


def _is_present_run(history: History, number: int, collected: Collected | None) -> bool:
    return (collected is None or not collected.is_gone_run(number)) and _present(history, history.run(number))


def _present(history: History, commit: RunCommit | SnapshotCommit) -> bool:
    folder = history.folder(commit)
    manifest = history.manifest(folder)
    if manifest is None or history.files.part_source:
        return manifest is not None
    return all(history.files.exists(folder / part.path) for part in manifest.parts)


def oldest(history: History, head: TableEntry) -> Instant | None:
    """The oldest instant that `as_of` answers after a collection; None where everything is kept, or nothing is."""
    collected = history.collected(head)
    answered = [
        *(history.entry(n).at for n in _snapshots(history, head) if n and is_whole(history, n, collected)),
        *(hold.at for hold in history.holds(head).holds.values()),
    ]
    return min(answered, default=None)


def _unretained(history: History, bound: Instant, head: TableEntry) -> StoreError:
    floor = oldest(history, head)
    message = f"table {history.name}: what it was as of {spell(bound)} is no longer kept"
    fix = f"the oldest answerable instant is {spell(floor)}" if floor is not None else "nothing older is kept"
    return StoreError("StoreAsOfUnretained", history.name, f"{message}; {fix}", fix)
