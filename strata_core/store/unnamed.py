"""Files of a store that nothing names: what killed landings, folds and applies have left, and what was lost in a bucket
between an upload and its answer. Nobody reads them; `collect` sweeps those of tables once they are a day old.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ..diagnostics import StrataError
from . import manifest
from .files import Files, side_by_side
from .store import Store
from .tables.entries import RunCommit, SnapshotCommit
from .tables.frontier import COLLECTED


def unnamed(store: Store) -> Iterator[PurePath]:
    """The files below `tables/` that no log entry and no manifest names. One listing of each table's data, and one
    read of each manifest."""
    for name in store.files.names(store.root / "tables"):
        table = store.root / "tables" / name
        below = list(store.files.below(table / "data"))
        named = {table / "data" / "artifacts" / p.name for p in {path.parent for path in below}}
        named |= _committed(store, name)
        listed = _listed(store.files, sorted({p.parent for p in below if p.name == manifest.NAME} & named))
        yield from (path for path in sorted(below) if path not in listed)


def _committed(store: Store, table: str) -> set[PurePath]:
    """The folders that entries of a table's log name."""
    if table not in store.tables.names():
        return set()
    history = store.tables.table(table).log
    entries = history.entries(0, history.head().number)
    return {history.folder(e.commit) for e in entries if isinstance(e.commit, RunCommit | SnapshotCommit)}


def _listed(files: Files, folders: list[PurePath]) -> set[PurePath]:
    def of(folder: PurePath) -> set[PurePath]:
        try:
            found = manifest.read(folder / manifest.NAME, files)
        except StrataError:
            found = None  # damaged: `verify` tells
        parts = () if found is None else found.parts
        return {
            folder / manifest.NAME,
            folder / COLLECTED,
            *(folder / part.path for part in parts if part.artifact is None),
        }

    return {path for paths in side_by_side(files, of, folders) for path in paths}
