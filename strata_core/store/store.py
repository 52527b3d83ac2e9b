"""The store: where artifacts are staged, adopted and found, and where environments are kept.

Durability order of a publication: parts, manifest, folder, rename to the address, parent folder; then, in an
environment, the log entry that makes it visible. Whatever is killed on the way leaves a folder in `staging`
or an artifact that no environment names, never half of a version.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError
from ..digests import hexdigest
from ..folder_names import names_a_folder
from ..uncommitted import uncommitted
from . import disk, manifest
from .artifacts import Artifact, Candidate
from .composing import MOST_INLINE, composed, group_address, in_groups
from .document import JSON
from .environments import Environment, Pointer
from .files import Files, side_by_side
from .instant import next_instant
from .log import CommitLog
from .manifest import ARTIFACT, Groups, Manifest
from .names import address_name, table_name, under
from .roots import place
from .tables import Table, Tables

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa

    from ..instants import Literal
    from .published import Published


@dataclass(frozen=True, slots=True)
class Store:
    """The store at `root`, a folder or a place in a bucket; make it with `Store.open` or `Store.at`.

    `staging` is the local folder in which candidates are written.
    """

    root: PurePath
    files: Files = field(repr=False, compare=False)
    staging: Path = field(repr=False, compare=False)
    tables: Tables = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", Tables(self.root, self.files))

    @classmethod
    def at(cls, root: str | PurePath, *, endpoint: str | None = None, region: str | None = None) -> Store:
        """The store at `root`: a folder, or a URL such as `s3://bucket/prefix`. Nothing is looked at.

        `endpoint` and `region` are those of the environment by default. E092 for a URL that names no store.
        """
        found = place(root, endpoint, region)
        return cls(found.root, found.files, found.staging)

    @classmethod
    def open(cls, root: str | PurePath, create: bool = True) -> Store:
        """The store at `root`, created when missing unless `create` is False (then it is only read).

        E092 when `root` is missing, no folder, or may not be read (or written, with `create`). A place in a bucket is
        looked at with `create` alone: one that is empty is an empty store.
        """
        return cls.at(root).opened(create)

    def opened(self, create: bool = True) -> Store:
        """This store, after a look at whether it can be used: as `open` says."""
        root = self.root
        if not isinstance(root, Path):  # nothing has to be made; what refuses is told before rows are computed
            if create:
                self.exists()
            return self
        if create:
            with uncommitted(root, itself=True):
                disk.make_directory(root)
        with disk.at(root, "open the store"):
            os.listdir(root)  # says what is wrong: missing, a file, no permission
        needed = os.R_OK | os.X_OK | (os.W_OK if create else 0)
        if not os.access(root, needed):
            raise disk.unusable(root, "open the store", PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        return self

    def exists(self) -> bool:
        """Whether anything is at its root. Errors: E092, a bucket that is not there or refuses."""
        return self.root.exists() if isinstance(self.root, Path) else bool(self.files.names(self.root))

    def stage(
        self,
        table: str,
        schema: pa.Schema,
        batches: Iterable[pa.RecordBatch],
        *,
        partition_by: tuple[str, ...] = (),
    ) -> Candidate:
        """Writes rows to staging, visible to nobody, in files that are synced. Rows come ordered by `partition_by`,
        whose values no part mixes. Errors as `writer.write_parts`; what was staged is removed when any is raised,
        by `batches` too."""
        from .writer import Layout, write_parts

        directory = self._new_folder(table)
        try:
            written = write_parts(directory, schema, batches, Layout(partition_by=partition_by))
            return Candidate(table, directory, written)
        except BaseException:
            with suppress(StrataError):  # the first fault is the one to report
                disk.remove_directory(directory)
            raise

    def adopt(self, candidate: Candidate, address: str, provenance: Mapping[str, JSON]) -> Artifact:
        """Moves a candidate to its content address in one step and returns the artifact there; the candidate is
        used up, also when this raises.

        An artifact that is there already with the same digest is kept and returned, replaced only when it is
        damaged. E094 when it has another digest: the computation is not deterministic, or the address leaves
        an input out. E092 when the disk refuses.
        """
        id, made = secrets.token_hex(16), next_instant(0)
        described = candidate.written.described(id, ARTIFACT, candidate.table, made, provenance)
        return self._placed(candidate.directory, described, address)

    def compose(
        self,
        table: str,
        address: str,
        pieces: Mapping[str, Artifact],
        provenance: Mapping[str, JSON],
        notes_at: tuple[str, ...] = (),
    ) -> Artifact:
        """The artifact at `address` of the rows of `pieces`, by name and one behind the other: its parts are theirs,
        no row is copied. Their schemas are equal. Errors as `adopt`.

        `notes_at` is where `provenance` says something of each piece: many pieces are then written down in groups,
        of which those that are there already are not written again.
        """
        described = composed(table, pieces, provenance)
        if notes_at and len(pieces) > MOST_INLINE:
            notes = manifest.notes_at(provenance, notes_at)
            grouped = partial(self._grouped, table, pieces, notes, notes_at)
            addresses = tuple(side_by_side(self.files, grouped, in_groups(pieces)))
            described = replace(described, groups=Groups(notes_at, addresses))
        return self._placed(self._new_folder(table), described, address)

    def _grouped(
        self,
        table: str,
        pieces: Mapping[str, Artifact],
        notes: Mapping[str, JSON],
        at: tuple[str, ...],
        names: tuple[str, ...],
    ) -> str:
        """The address of the group of the pieces `names`, which is there then."""
        own, told = {name: pieces[name] for name in names}, {name: notes[name] for name in names if name in notes}
        address = group_address(own, told)
        try:
            found = self.find(table, address)
        except StrataError as damaged:
            if any(d.code != "E094" for d in damaged.diagnostics):
                raise
            found = None
        if found is None or not self.files.touch(found.directory):
            self._placed(self._new_folder(table), composed(table, own, manifest.with_notes({}, at, told)), address)
        return address

    def _new_folder(self, table: str) -> Path:
        """A folder in staging of one writer's own."""
        directory = self.staging / f"{table_name(table)}-{secrets.token_hex(8)}"
        under(self.root, directory)
        disk.make_scratch(directory)
        return directory

    def _placed(self, directory: Path, described: Manifest, address: str) -> Artifact:
        """Writes the manifest into a staging folder and moves that to its address, or keeps what is there."""
        target = self._artifact(described.table, address)
        try:
            while (published := self.files.publish(directory, target, described)) is None:
                existing = self._keep_or_clear(target, described, address)
                if existing is not None and self.use(existing) is not None:
                    disk.remove_directory(directory)
                    return existing
        except BaseException:
            with suppress(StrataError):  # the first fault is the one to report
                disk.remove_directory(directory)
            raise
        return Artifact(target, address, published, self.files)

    def find(self, table: str, address: str) -> Artifact | None:
        """The artifact at `address`, None when there is none; E094 when its manifest is damaged.

        One file is read. `Artifact.verify` tells whether the parts are what the manifest says.
        """
        directory = self._artifact(table, address)
        found = manifest.read(directory / manifest.NAME, self.files)
        return None if found is None else Artifact(directory, address, found, self.files)

    def artifact(self, table: str, pointer: Pointer) -> Artifact:
        """What an environment's `pointer` points at; E094 when it is gone or has another digest."""
        found = self.find(table, pointer.address)
        if found is None:
            raise StrataError(_gone(table, pointer, "is missing"))
        if found.manifest.digest != pointer.digest:
            raise StrataError(_gone(table, pointer, f"has the digest {found.manifest.digest}"))
        return found

    def published(self, model: str, environment: str, *, as_of: Literal | None = None) -> Published:
        """The artifact of `model` that is live in `environment`, or was as of an instant.

        Errors: E095 where it was never published there, E094 where what is live is gone; StoreBoundInvalid, and
        StoreAsOfUnretained before the first publication and for what was collected since.
        """
        from .published import published

        return published(self, model, environment, as_of)

    def reader(self, artifact: Artifact, columns: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """The rows of `artifact`, streamed in order. Errors as `reader.read_parts`."""
        from .reader import read_parts

        return read_parts(artifact.paths, columns)

    def use(self, artifact: Artifact) -> Artifact | None:
        """`artifact`, kept from being collected from now on; None where it has gone (`orphans.py`). Whoever takes up
        one that no environment may name does this first."""
        beside = artifact.directory.parent
        folders = (artifact.directory, *(beside / address for address in artifact.manifest.pieces))
        return artifact if all([*map(self.files.touch, folders)]) else None

    def artifacts(self) -> Iterator[tuple[str, str, PurePath]]:
        """The table, the address and the folder of each artifact."""
        for table in filter(names_a_folder, self.files.names(self.root / "tables")):
            folder = self._artifacts(table)
            yield from ((table, address, folder / address) for address in self.files.names(folder))

    def grave(self) -> Path:
        """A new place in staging for what is being removed."""
        return self.staging / f"removed-{secrets.token_hex(8)}"

    def declare(self, tables: str | Path) -> tuple[Table, ...]:
        """Declares the tables of a TOML text or file: all of it is checked before the first one is declared.

        Errors: StoreDeclarationInvalid, and those of `Tables.declare`; E092 when the file cannot be read.
        """
        from .tables.declaration import read_declarations

        if isinstance(tables, Path):
            with disk.at(tables, "read"):
                text, source = tables.read_text(encoding="utf-8"), str(tables)
        else:
            text, source = tables, "the declaration"
        return tuple(self.tables.declare(declared) for declared in read_declarations(text, source))

    def table(self, name: str) -> Table:
        """The table with three clocks of that name. Errors: StoreTableUndeclared."""
        return self.tables.table(name)

    def environment(self, name: str) -> Environment:
        """The environment `name`, which need not exist before its first publication."""
        log = CommitLog(under(self.root, self._environments / table_name(name)), self.files)
        return Environment(name, log, self._settle)

    def environments(self) -> tuple[str, ...]:
        """The names of the environments that exist."""
        return tuple(name for name in self.files.names(self._environments) if names_a_folder(name))

    def catalog(self, environment: str, project: str) -> CommitLog:
        """The log in which `project` registers what it has in an environment; a name that cannot be that of a folder
        is kept under its digest."""
        folder = project if names_a_folder(project) else hexdigest("project", project)[:32]
        return CommitLog(under(self.root, self._catalog(environment) / folder), self.files)

    def refusals(self, environment: str) -> CommitLog:
        """The log in which an environment keeps which candidates of guarded tables were refused."""
        return CommitLog(under(self.root, self.root / "refusals" / table_name(environment)), self.files)

    def catalogued(self, environment: str) -> tuple[str, ...]:
        """The folders of the projects that are registered in an environment."""
        return tuple(name for name in self.files.names(self._catalog(environment)) if names_a_folder(name))

    def sweep_staging(self, older_than: timedelta = timedelta(days=1)) -> tuple[Path, ...]:
        """Removes staging folders that nobody wrote to for `older_than`: those of killed applies. Lists them."""
        limit = time.time() - older_than.total_seconds()
        abandoned = tuple(
            path for name in disk.names_in(self.staging) if _last_written(path := self.staging / name) < limit
        )
        for path in abandoned:
            disk.remove_directory(path)
        return abandoned

    @property
    def _environments(self) -> PurePath:
        return self.root / "environments"

    def _catalog(self, environment: str) -> PurePath:
        return self.root / "catalog" / table_name(environment)

    def _artifact(self, table: str, address: str) -> PurePath:
        return under(self.root, self._artifacts(table) / address_name(address))

    def _artifacts(self, table: str) -> PurePath:
        return self.root / "tables" / table_name(table) / "data" / "artifacts"

    def _settle(self, table: str, pointer: Pointer) -> None:
        # A collection looks at the pieces of an artifact too; a bucket is not collected, so that none is asked for.
        found = self.find(table, pointer.address) if isinstance(self.root, Path) else None
        here = self.files.touch(self._artifact(table, pointer.address)) if found is None else self.use(found)
        if not here:
            raise StrataError(_gone(table, pointer, "is missing"))
        self.files.settle(self._artifacts(table))

    def _keep_or_clear(self, target: PurePath, candidate: Manifest, address: str) -> Artifact | None:
        """The sound artifact at `target` with the candidate's digest; a damaged one is moved out of its way."""
        try:
            found = self.find(candidate.table, address)
        except StrataError as damaged:
            if any(d.code != "E094" for d in damaged.diagnostics):
                raise
            found = None
        if found is not None and found.manifest.digest != candidate.digest:
            raise StrataError(_other_rows(candidate, address, found))
        if found is not None and not found.verify():
            return found
        self.files.clear(target, self.grave())
        return None


def _last_written(staged: Path) -> float:
    """The newest modification below `staged`, seconds; now when it is just being moved away."""
    with disk.at(staged, "look at"):
        try:
            return max(os.stat(path).st_mtime for path in (staged, *staged.rglob("*")))
        except FileNotFoundError:
            return time.time()


def _gone(table: str, pointer: Pointer, why: str) -> Diagnostic:
    message = f"the artifact {pointer.address} of {table} {why}; its environment names the digest {pointer.digest}"
    return Diagnostic("E094", message, fix=f"apply {table} again with --force")


def _other_rows(candidate: Manifest, address: str, found: Artifact) -> Diagnostic:
    return Diagnostic(
        "E094",
        f"{candidate.table} was computed before from the same inputs (address {address}) with other rows: digest "
        f"{found.manifest.digest} then, {candidate.digest} now; nothing was changed",
        fix="give the model a total sort and only deterministic functions, or remove "
        f"{found.directory} if what stands there is known to be wrong",
    )
