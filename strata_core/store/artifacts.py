"""Artifacts: immutable sets of Parquet parts at a content address, and candidates for them in staging."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, overload

from ..diagnostics import Diagnostic, StrataError
from . import disk
from .document import JSON
from .files import LOCAL, Files, mismatch
from .manifest import ColumnStatistics, Manifest, Part

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa

    from .written import Written


Look = Callable[[Files, PurePath, Part, bool], str | None]
"""How the file of a part differs from what its manifest says: `mismatch`."""


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

    def sweep(self) -> None:
        """`discard` at the end of what it was staged for: adopted it is gone, and what a full or broken disk keeps is
        swept later."""
        with suppress(StrataError):
            self.discard()


@dataclass(frozen=True, slots=True)
class FetchedPaths(Sequence[Path]):
    """Local copies of parts that lie elsewhere, each fetched when it is first asked for: a plan asks for none."""

    parts: tuple[tuple[PurePath, Part], ...]
    files: Files = field(repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.parts)

    @overload
    def __getitem__(self, at: int) -> Path: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Path]: ...
    def __getitem__(self, at: int | slice) -> Path | Sequence[Path]:
        if isinstance(at, slice):
            return FetchedPaths(self.parts[at], self.files)
        path, part = self.parts[at]
        try:
            return self.files.fetch(path, part)
        except FileNotFoundError:
            fix = "apply its model again with --force: the same rows are written anew in its place"
            raise StrataError(Diagnostic("E094", f"part {path} is gone", fix=fix)) from None


@dataclass(frozen=True, slots=True)
class Artifact:
    """A published set of rows: `directory` holds the parts that `manifest` lists, but for those that it says lie in
    other artifacts of the table. Never changed."""

    directory: PurePath
    address: str
    manifest: Manifest
    files: Files = field(default=LOCAL, repr=False, compare=False)

    @property
    def paths(self) -> Sequence[Path]:
        """The Parquet files, in row order, on this machine: from a bucket they are fetched when they are asked for."""
        return self.paths_of(self.manifest.parts)

    def path_of(self, part: Part) -> PurePath:
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

    def parts_of(self, values: Mapping[str, JSON]) -> tuple[Part, ...]:
        """The parts, in row order, of the partitions in which columns have these values."""
        parts = (p for p in self.manifest.parts if p.partition is not None)
        return tuple(p for p in parts if p.partition is not None and values.items() <= p.partition.items())

    def paths_of(self, parts: Sequence[Part]) -> Sequence[Path]:
        """The Parquet files of some of its parts, as `paths`."""
        found = tuple((self.path_of(part), part) for part in parts)
        if isinstance(self.directory, Path):
            return tuple(Path(path) for path, _ in found)
        return FetchedPaths(found, self.files)

    def verify(self, contents: bool = True, look: Look = mismatch) -> tuple[Diagnostic, ...]:
        """E094 for each part that is missing, has other bytes or another SHA-256 than the manifest says, as `look`
        finds.

        Without `contents` only presence and size are looked at, which costs one call a part.
        """
        table = self.manifest.table
        fix = f"apply {table} again with --force: the same rows are written anew in its place"
        places = ((part, self.path_of(part)) for part in self.manifest.parts)
        found = ((path, look(self.files, path, part, contents)) for part, path in places)
        return tuple(
            Diagnostic("E094", f"part {path} of {table} {why}", fix=fix) for path, why in found if why is not None
        )

    def drop_damaged_copies(self) -> tuple[Diagnostic, ...]:
        """E094 for each copy of a part in a bucket that a disk has changed since it came: it is removed."""
        if isinstance(self.directory, Path):
            return ()
        from .part_cache import FETCH_ANEW, copies, drop_damaged

        dropped = [part for part in self.manifest.parts if drop_damaged(copies().path(part))]
        told = (f"the copy of part {self.path_of(part)} was damaged, and is removed" for part in dropped)
        return tuple(Diagnostic("E094", message, fix=FETCH_ANEW) for message in told)
