"""Artifacts: immutable sets of Parquet parts at a content address, and candidates for them in staging."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic
from . import disk
from .document import JSON
from .manifest import ColumnStatistics, Manifest, Part

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa

    from .writer import Written

_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """What an apply has computed and not published: parts in a staging folder, synced, that nobody reads.

    It ends by `Store.adopt`, by `discard`, or by `Store.sweep_staging` when its process was killed.
    """

    table: str
    directory: Path
    written: Written

    @property
    def paths(self) -> tuple[Path, ...]:
        """The Parquet files, in row order."""
        return tuple(self.directory / part.path for part in self.written.parts)

    @property
    def schema(self) -> pa.Schema:
        """The schema kept, which may name another type than the batches had for the same values."""
        return self.written.schema

    @property
    def rows(self) -> int:
        """Rows of all parts."""
        return self.written.rows

    @property
    def bytes(self) -> int:
        """Bytes of all parts on disk."""
        return self.written.bytes

    @property
    def digest(self) -> str:
        """The content digest over canonical rows, hex."""
        return self.written.digest

    @property
    def statistics(self) -> Mapping[str, ColumnStatistics]:
        """Nulls and range of each column."""
        return self.written.statistics

    def reader(self, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """The rows, streamed in order."""
        from .reader import read_parts

        return read_parts(self.paths, columns)

    def discard(self) -> None:
        """Removes the staging folder."""
        disk.remove_directory(self.directory)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A published set of rows: `directory` holds the parts that `manifest` lists, but for those that it says lie in
    other artifacts of the table. Never changed."""

    directory: Path
    address: str
    manifest: Manifest

    @property
    def paths(self) -> tuple[Path, ...]:
        """The Parquet files, in row order."""
        return tuple(map(self.path_of, self.manifest.parts))

    def path_of(self, part: Part) -> Path:
        """Where the file of one of the manifest's parts lies."""
        return (self.directory if part.artifact is None else self.directory.parent / part.artifact) / part.path

    @property
    def partitions(self) -> tuple[Mapping[str, JSON], ...]:
        """The values of the columns that the table is laid out by, in row order; none where it is in one piece."""
        found: list[Mapping[str, JSON]] = []
        for part in self.manifest.parts:
            if part.partition is not None and (not found or found[-1] != part.partition):
                found.append(part.partition)
        return tuple(found)

    def paths_of(self, values: Mapping[str, JSON]) -> tuple[Path, ...]:
        """The Parquet files, in row order, of the partitions in which columns have these values."""
        parts = (p for p in self.manifest.parts if p.partition is not None)
        wanted = (p for p in parts if p.partition is not None and values.items() <= p.partition.items())
        return tuple(map(self.path_of, wanted))

    def verify(self, contents: bool = True) -> tuple[Diagnostic, ...]:
        """E094 for each part that is missing, has other bytes or another SHA-256 than the manifest says.

        Without `contents` only presence and size are looked at, which costs one call a part.
        """
        findings = (
            _verify(self, path, part, contents) for path, part in zip(self.paths, self.manifest.parts, strict=True)
        )
        return tuple(finding for finding in findings if finding is not None)


def _verify(artifact: Artifact, path: Path, part: Part, contents: bool) -> Diagnostic | None:
    with disk.at(path, "read"):
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            return _mismatch(artifact, path, "the file is missing")
        if size != part.bytes:
            return _mismatch(artifact, path, f"it has {size} bytes, the manifest says {part.bytes}")
        if contents and (found := _sha256(path)) != part.sha256:
            return _mismatch(artifact, path, f"its SHA-256 is {found}, the manifest says {part.sha256}")
    return None


def _sha256(path: Path) -> str:
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_READ_BYTES):
            total.update(chunk)
    return total.hexdigest()


def _mismatch(artifact: Artifact, path: Path, why: str) -> Diagnostic:
    table = artifact.manifest.table
    fix = f"apply {table} again with --force: the same rows are written anew in its place"
    return Diagnostic("E094", f"part {path} of {table} does not match its manifest: {why}", fix=fix)
