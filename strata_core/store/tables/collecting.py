"""Retention: what `retain_runs` lets go, and nobody holds, is removed.

Kept is the newest snapshot at or before the cutoff (what was current then stays answerable), everything after it, and
what holds name. First one entry of the log publishes the new floor: from then on nothing resolves to what is gone.
Then `_collected.json` is put beside each snapshot that goes, and only when the grace period has passed since the entry
are parts deleted, so that a reader that resolved its frontier before can finish. Manifests stay: they tell a run id
that has landed. Whatever is killed on the way is finished by the next collection.

A pass reads the whole log once: it is linear in the runs of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from ...durations import duration
from .. import manifest
from ..document import to_text
from ..instant import Instant, spell
from .entries import Collected, RunCommit, SnapshotCommit, TableEntry
from .errors import StoreError
from .frontier import COLLECTED
from .history import History

ABANDONED_AFTER = 86_400 * 1_000_000_000
"""Nanoseconds after which a folder that no entry names is what a killed landing or fold has left."""
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Collection:
    """What a pass did. `floor` is the oldest instant that stays answerable without a hold, None before any."""

    floor: Instant | None
    snapshots: int
    runs: int
    parts_deleted: int
    abandoned: int


def collect(history: History, grace: str, progress: Progress = lambda _: None) -> Collection:
    """Publishes the floor, marks, and deletes what has been gone for `grace` (`0s` for at once)."""
    after = _grace(history, grace)
    before = history.collected(history.head())
    head = _publish(history)
    now = max(history.clock(), head.at)
    current = history.collected(head)
    counts = [0, 0]
    if current is not None:
        counts = [_new(history, head, current, before, SnapshotCommit), _new(history, head, current, before, RunCommit)]
        progress("marking what goes")
        _mark(history, head, current)
    deleted = 0
    elapsed = _elapsed(history, head, now - after)
    if elapsed is not None:
        for number, folder in enumerate(_gone(history, head, elapsed)):
            progress(f"deleting, {number:,} folders looked at")
            deleted += _delete_parts(history, folder)
    progress("looking for what killed landings left")
    abandoned = _sweep(history, head, now)
    return Collection(None if current is None else current.floor, counts[0], counts[1], deleted, abandoned)


def _grace(history: History, grace: str) -> int:
    try:
        return 0 if grace.strip() in ("0", "0s") else duration(grace)
    except ValueError as cause:
        raise StoreError("StoreBoundInvalid", history.name, f"grace: {cause}", "give 0s, 30m, 1h or 7d") from None


def _publish(history: History) -> TableEntry:
    """The head after the floor that is due has been published; no entry is made where nothing changes."""

    def due(head: TableEntry) -> Collected | None:
        found = _due(history, head)
        return None if found == history.collected(head) else found

    return history.commit_newest(due)


def _due(history: History, head: TableEntry) -> Collected | None:
    declared = history.declared(head)
    before = history.collected(head)
    keep = before.keep if before else 0
    if declared.retain_runs is not None:
        cutoff = max(history.clock(), head.at) - duration(declared.retain_runs)
        keep = max(keep, history.at(cutoff, head).newest.snapshot)
    if not keep:
        return None
    through = history.snapshot(keep).through
    holds = history.holds(head).holds.values()
    snapshots = {hold.snapshot for hold in holds if 0 < hold.snapshot < keep}
    runs = {number for hold in holds for number in hold.runs if number <= through}
    if before is not None:  # what has gone is not kept by a later hold
        snapshots = {n for n in snapshots if not before.is_gone_snapshot(n)}
        runs = {n for n in runs if not before.is_gone_run(n)}
    return Collected(history.entry(keep).at, keep, through, tuple(sorted(snapshots)), tuple(sorted(runs)))


def _new(history: History, head: TableEntry, now: Collected, before: Collected | None, kind: type) -> int:
    if now == before:
        return 0
    return sum(
        isinstance(e.commit, kind) and now.lets_go(e) and not (before is not None and before.lets_go(e))
        for e in history.entries(0, head.number)
    )


def _elapsed(history: History, head: TableEntry, until: Instant) -> Collected | None:
    """The newest collection published at or before `until`: what it let go may be deleted."""
    return history.collected(history.at(until, head))


def _gone(history: History, head: TableEntry, collected: Collected) -> Iterator[PurePath]:
    for entry in history.entries(0, min(head.number, collected.keep)):
        if isinstance(entry.commit, RunCommit | SnapshotCommit) and collected.lets_go(entry):
            yield history.folder(entry.commit)


def _mark(history: History, head: TableEntry, collected: Collected) -> None:
    """Puts `_collected.json` beside each snapshot that is gone."""
    content = to_text({"floor": spell(collected.floor), "keep": collected.keep}).encode()
    for entry in history.entries(0, min(head.number, collected.keep)):
        if isinstance(entry.commit, SnapshotCommit) and collected.lets_go(entry):
            folder = history.folder(entry.commit)
            if not history.files.exists(folder / COLLECTED):
                history.files.create(folder / COLLECTED, content)


def _delete_parts(history: History, folder: PurePath) -> int:
    described = history.manifest(folder)
    parts = () if described is None else tuple(folder / part.path for part in described.parts)
    there = [path for path in parts if history.files.exists(path)]
    for path in there:
        history.files.remove(path)
    return len(there)


def _sweep(history: History, head: TableEntry, now: Instant) -> int:
    """Removes folders of attempts that no entry names and that are older than a day; counts them."""
    named = {
        history.folder(e.commit)
        for e in history.entries(0, head.number)
        if isinstance(e.commit, RunCommit | SnapshotCommit)
    }
    attempts = (
        history.run_folder(run_id) / attempt
        for run_id in history.files.names(history.runs)
        for attempt in history.files.names(history.run_folder(run_id))
    )
    snapshots = map(history.snapshot_folder, history.files.names(history.snapshots))
    swept = 0
    for folder in (*attempts, *snapshots):
        started = folder.name.removeprefix("snapshot-").split("-")[0]
        if folder in named or not started.isdigit() or int(started) > now - ABANDONED_AFTER:
            continue
        names = history.files.names(folder)
        for name in sorted(names, key=lambda n: n == manifest.NAME):
            history.files.remove(folder / name)
        swept += bool(names)
    return swept
