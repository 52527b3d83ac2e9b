"""Whether anything changed that contracts are made of, told without reading it again.

A look compares what the file system says of each file and folder with what it said before: times of content and of
status, size, and which file it is. Status times cannot be set back, so that a copy that keeps its times shows. A file
that changes twice within one tick of the file system's clock may keep all of these: so a tree is only *settled*, and
believed by its signatures, once its content was read again, unchanged, more than such a tick after it was first seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ...diagnostics import Diagnostic, StrataError
from ...digests import hexdigest
from ...frozen import dataclass, field, replace
from ...planning.config import CONFIG_NAME
from ..discover import discover, of_dbt
from ..pipeline import open_setting
from ..tree import FolderTree

COARSEST_TICK = 2.0
"""Seconds: no file system in use tells times more coarsely."""

Signature = tuple[int, int, int, int] | None
"""Times of content and status (nanoseconds), size and inode; None where there is nothing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look saw: the digest of all inputs, or the fault that keeps them from being known."""

    digest: str
    signatures: Mapping[str, Signature] = field(repr=False)
    since: float
    settled: bool = False
    faults: tuple[Diagnostic, ...] = ()


def look(root: Path, before: Seen | None, now: float) -> Seen:
    """The inputs of the project in `root` at `now` (seconds of a clock that only goes forward).

    Gives `before` itself where nothing changed since it and it is settled.
    """
    if before is not None and before.settled and _signatures(before.signatures) == before.signatures:
        return before
    seen = _read(root, now)
    if before is None or seen.digest != before.digest or seen.signatures != before.signatures:
        return seen
    return replace(before, settled=now - before.since > COARSEST_TICK)


def _read(root: Path, now: float) -> Seen:
    """A look at everything. What is written while it lasts shows in the next one, which compares content."""
    visited: list[str] = []
    try:
        setting = open_setting(root)
        tree = FolderTree(setting.root, visited)
        config = replace(setting, tree=tree).config
        inventory = discover(tree, config, setting.root)
    except StrataError as error:
        paths = [os.path.join(root, CONFIG_NAME)]
        told = hexdigest(*(repr(d) for d in error.diagnostics))
        return Seen(told, _signatures(paths), now, faults=error.diagnostics)
    records = list(tree.below(config.contract_engine.promotions, lambda _: None))
    generated = (*config.contract_engine.generated, *of_dbt(config))
    inside = [CONFIG_NAME, config.contract_engine.promotions, *config.contracts, *config.models]
    inside += [*config.contract_engine.scan, *generated, *visited, *records, *(i.path for i in inventory.inputs)]
    paths = [os.path.join(setting.root, path) for path in dict.fromkeys(inside)]
    paths += [p for p in _ignore_files(setting.root, visited) if os.path.exists(p)]
    digest = hexdigest(
        repr(config),
        repr(inventory.diagnostics),
        *(part for i in inventory.inputs for part in (i.path, i.kind.value, i.digest)),
        *(part for path in records for part in (path, tree.digest(path))),
    )
    return Seen(digest, _signatures(paths), now)


def _ignore_files(root: Path, visited: Iterable[str]) -> list[str]:
    """Where it may stand what git ignores. One that is new shows in its folder."""
    around = [str(folder) for folder in (root, *root.parents)]
    return [f"{folder}/.gitignore" for folder in (*around, *(os.path.join(root, v) for v in visited))]


def _signatures(paths: Iterable[str]) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    stat = os.stat
    for path in paths:
        try:
            status = stat(path)
        except OSError:
            found[path] = None
        else:
            found[path] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return found
