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
from dataclasses import dataclass
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
    needed, limit = _needed(store, keep), _before(grace)
    for table, address, directory in store.artifacts():
        if (table, address) not in needed and (found := _orphan(table, address, Path(directory))).used_at < limit:
            yield found


def collect(store: Store, *, keep: timedelta, grace: timedelta) -> Iterator[Orphan]:
    """Remove them, and tell which; what is taken up meanwhile stays. Parameters as `orphans`."""
    for orphan in tuple(orphans(store, keep=keep, grace=grace)):
        aside = store.grave()
        if not disk.move_directory(orphan.directory, aside):
            continue
        moved = _orphan(orphan.table, orphan.address, aside)
        if moved.used_at >= _before(grace) or (orphan.table, orphan.address) in _needed(store, keep):
            disk.move_directory(aside, orphan.directory)
            continue
        disk.remove_directory(aside)
        yield orphan


def _before(grace: timedelta) -> Instant:
    return now() - int(grace.total_seconds()) * SECOND


def _needed(store: Store, keep: timedelta) -> set[tuple[str, str]]:
    """What the newest version of each environment names, and each that was superseded within `keep`."""
    limit = _before(keep)
    found: set[tuple[str, str]] = set()
    for name in store.environments():
        for version in store.environment(name).history():
            found.update((model, pointer.address) for model, pointer in version.models.items())
            if version.at < limit:  # what came before it was superseded before the limit
                break
    made_of = ((table, store.find(table, address)) for table, address in sorted(found))
    return found | {(table, piece) for table, one in made_of if one is not None for piece in one.manifest.pieces}


def _orphan(table: str, address: str, directory: Path) -> Orphan:
    files = [path for path in directory.rglob("*") if path.is_file()]
    with disk.at(directory, "look at"):
        sizes = [os.stat(path).st_size for path in files]
        made = directory / manifest.NAME
        used = os.stat(made if made.exists() else directory).st_mtime_ns
    return Orphan(table, address, sum(sizes), used, directory)
