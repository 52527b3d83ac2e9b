"""Parts of a run or a snapshot before an entry names them: written, synced and described in a folder of their own, and
removed where none comes to name it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

import pyarrow as pa

from ...diagnostics import StrataError
from .. import manifest, writer
from ..document import JSON
from ..writer import Layout
from ..written import Written
from .entries import RunCommit, SnapshotCommit, TableEntry
from .history import History


@dataclass(frozen=True, slots=True)
class Candidate:
    """What its manifest says of rows that are about to be written to `folder`."""

    folder: PurePath
    id: str
    kind: str
    provenance: Mapping[str, JSON]


def stage(
    history: History,
    candidate: Candidate,
    schema: pa.Schema,
    rows: Iterable[pa.RecordBatch],
    layout: Layout,
    *,
    digested: bool,
    durable: PurePath | None = None,
) -> Written:
    """Write `rows`, and their manifest last. `durable` is a folder above of which it is known that its name stays.
    Errors as `write_parts`; what is written by then is for `discard`."""
    files, folder = history.files, candidate.folder
    files.prepare(folder, durable)
    written = writer.write_parts(folder, schema, rows, layout, files, digested=digested)
    described = written.described(candidate.id, candidate.kind, history.name, history.clock(), candidate.provenance)
    files.put(folder / manifest.NAME, manifest.encode(described))
    files.settle(folder)
    return written


def discard(history: History, folder: PurePath, since: TableEntry) -> None:
    """Remove what no entry after `since` names: the answer to our own commit may have been lost. What the disk refuses
    is left: nobody reads it."""
    try:
        later = (entry.commit for entry in history.entries(since.number, history.log.head()))
        if any(history.folder(c) == folder for c in later if isinstance(c, RunCommit | SnapshotCommit)):
            return
        for name in history.files.names(folder):
            history.files.remove(folder / name)
    except StrataError:
        return
