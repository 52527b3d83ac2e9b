"""Artifacts that no environment needs any more: listed, and removed without a lock.

An artifact is needed while the newest version of an environment names it, or one that was the newest at some time
within `keep`, so that it can be rolled back to; and while one that is needed is made of it. What else lies there was
superseded long ago, belongs to a dropped environment, or is what a killed or refused apply had computed. Such an
artifact may be taken up again at any moment, by an apply that finds it at its address: who takes one up touches it
(`Store.use`), and none that was touched within `grace` is removed. It is moved aside first and looked at again there,
so that a touch is either seen or fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError
from . import disk, manifest
from .instant import Instant, now

if TYPE_CHECKING:
    from .store import Store

SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Orphan:
    """An artifact that nothing needs: its place, its size, and when it was made or last taken up."""

    table: str
    address: str
    bytes: int
    used_at: Instant
    directory: Path


def orphans(store: Store, *, keep: timedelta, grace: timedelta) -> Iterator[Orphan]:
    """The artifacts that may be removed, by table. Raises `StrataError` E092, E094."""
    if not isinstance(store.root, Path):
        message = f"what no environment needs in {store.root} is not removed: a bucket moves nothing aside"
        fix = "`strata store verify` lists what nothing names; superseded artifacts stay"
        raise StrataError(Diagnostic("E092", message, fix=fix))
    needed, limit = _Needed(store, keep)(), _before(grace)
    for table, address, directory in store.artifacts():
        if (table, address) not in needed and (found := _orphan(table, address, Path(directory))).used_at < limit:
            yield found


def collect(store: Store, *, keep: timedelta, grace: timedelta) -> Iterator[Orphan]:
    """Remove them, and tell which; what is taken up meanwhile stays. Parameters as `orphans`.

    What is made of others goes before these, so that a killed collection leaves nothing in parts.
    """
    needed = _Needed(store, keep)
    for orphan in sorted(orphans(store, keep=keep, grace=grace), key=lambda o: (o.table, -_depth(store, o))):
        aside = store.grave()
        if not disk.move_directory(orphan.directory, aside):
            continue
        moved = _orphan(orphan.table, orphan.address, aside)
        if moved.used_at >= _before(grace) or (orphan.table, orphan.address) in needed():
            disk.move_directory(aside, orphan.directory)
            continue
        disk.remove_directory(aside)
        yield orphan


def _before(grace: timedelta) -> Instant:
    return now() - int(grace.total_seconds()) * SECOND


@dataclass(frozen=True, slots=True)
class _Needed:
    """What environments need, asked again and again. What an artifact is made of is read once: what another apply puts
    in its place meanwhile, it has made or taken up itself."""

    store: Store
    keep: timedelta
    _pieces: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    def __call__(self) -> set[tuple[str, str]]:
        """What the newest version of each environment names, and each that was superseded within `keep`."""
        limit = _before(self.keep)
        found: set[tuple[str, str]] = set()
        for name in self.store.environments():
            for version in self.store.environment(name).history():
                found.update((model, pointer.address) for model, pointer in version.models.items())
                if version.at < limit:  # what came before it was superseded before the limit
                    break
        return found | {(table, piece) for table, address in sorted(found) for piece in self._made_of(table, address)}

    def _made_of(self, table: str, address: str) -> tuple[str, ...]:
        if (table, address) not in self._pieces:
            artifact = self.store.find(table, address)
            if artifact is None:
                return ()
            self._pieces[table, address] = artifact.manifest.pieces
        return self._pieces[table, address]


def _depth(store: Store, orphan: Orphan) -> int:
    """How far an artifact is made of others: a table of groups, a group or table of pieces, rows of its own."""
    try:
        found = store.find(orphan.table, orphan.address)
    except StrataError:  # one that was left in parts
        return 2
    return 0 if found is None or not found.manifest.pieces else 1 if found.manifest.groups is None else 2


def _orphan(table: str, address: str, directory: Path) -> Orphan:
    files = [path for path in directory.rglob("*") if path.is_file()]
    with disk.at(directory, "look at"):
        sizes = [os.stat(path).st_size for path in files]
        made = directory / manifest.NAME
        used = os.stat(made if made.exists() else directory).st_mtime_ns
    return Orphan(table, address, sum(sizes), used, directory)
