"""Where a source's rows are, and the digest of their content.

A resource clause (`csv:`, `parquet:`, `duckdb:`, `dbt:`, `store:`) becomes an engine's `TableInput`; the digest is over
the file's bytes (`file_digests.py`).
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ...analysis.compiled import CompiledProject, OptionValue, Resource, Source
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.listing import listed
from ...diagnostics.suggest import did_you_mean, nearest
from ...digests import hexdigest
from ...engines.protocol import CsvTable, DuckDBTable, ParquetTable, TableInput
from ...frozen import dataclass, replace
from ...regular_files import other_kind
from ...store.artifacts import FetchedPaths
from ..config import config_fault
from ..dbt import read_manifest
from ..faults import told_at
from ..file_digests import file_digest, stamp
from ..project import Project
from .clocked_tables import ClockedTable, clocked_table, declared_in
from .shared_tables import published_table


@dataclass(frozen=True, slots=True)
class ResolvedSource:
    """A source whose rows are there. `digest` identifies them: the content (a digest for each of the `files`), and how
    it is read. `dbt` is the unique id of the dbt node, `clocked` the table of the store, which shows no files."""

    name: str
    table: TableInput
    files: tuple[Path, ...]
    digest: str
    contents: tuple[str, ...]
    stamps: tuple[str, ...]
    dbt: str | None = None
    clocked: ClockedTable | None = None

    @property
    def written(self) -> datetime | None:
        """When its rows were written last, as far as it is known."""
        if self.clocked is not None:
            return self.clocked.landed
        return max((datetime.fromtimestamp(path.stat().st_mtime, UTC) for path in self.files), default=None)

    def require_unchanged(self) -> None:
        """Raises `StrataError` E033 where a file has other bytes by now than its digest tells."""
        for path, content, before in zip(self.files, self.contents, self.stamps, strict=True):
            if stamp(path) != before and file_digest(path) != content:
                raise changed_meanwhile(path)


def changed_meanwhile(path: Path) -> StrataError:
    """E033: a file was written while it was read."""
    message = f"`{path.name}` changed while it was read"
    return StrataError(Diagnostic("E033", message, fix="run again when nobody writes to it"))


def resolve(project: Project, compiled: CompiledProject, source: Source, environment: str) -> ResolvedSource:
    """The table that `source` names in `environment`; raises `StrataError` E030, E033 or E070 at the declaration."""
    with told_at(source):
        return _resolve(project, compiled, source, environment)


def resource_in(project: Project, compiled: CompiledProject, source: Source, environment: str) -> Resource:
    """Where a source is in `environment`: as declared, unless a pipeline of that environment or `strata.toml`
    (which wins) says otherwise."""
    resource = source.resource
    for pipeline in compiled.pipelines.values():
        if pipeline.env == environment and source.name in pipeline.sources:
            resource = pipeline.sources[source.name]
    location = project.config.environment(environment).sources.get(source.name)
    return resource if location is None else replace(resource, location=location)


def _resolve(project: Project, compiled: CompiledProject, source: Source, environment: str) -> ResolvedSource:
    resource = resource_in(project, compiled, source, environment)
    columns, options, location = source.columns, resource.options, resource.location
    match resource.kind:
        case "csv":
            path, null = _file(project.root, location), _text(options.get("null_text"))
            return _resolved(source.name, CsvTable(path, columns, null), (path,), reading=null)
        case "parquet":
            paths = _files(project.root, location)
            return _resolved(source.name, ParquetTable(paths, columns), paths)
        case "duckdb":
            path, table = _file(project.root, location), _text(options.get("table")) or source.name
            return _resolved(source.name, DuckDBTable(path, table, columns), (path,), reading=table)
        case "dbt":
            manifest = read_manifest(project.root, project.config.dbt)
            node = manifest.find(location)
            if node.parquet is not None:
                path = _present(node.parquet, f"dbt has not built `{location}`", "run `dbt build`")
                return _resolved(source.name, ParquetTable((path,), columns), (path,), node.unique_id)
            if manifest.database is None:
                message = f"dbt model `{location}` is a table of a database that is not named"
                fix = 'set `[dbt] database = "path.duckdb"` in strata.toml, or materialize it as `external`'
                raise StrataError(Diagnostic("E030", message, fix=fix))
            path = _present(manifest.database, "the dbt database is missing", "run `dbt build`")
            inside = DuckDBTable(path, node.table, columns)
            return _resolved(source.name, inside, (path,), node.unique_id, reading=node.table)
        case "table":
            return _of_store(project, compiled, source, resource, environment)


def _of_store(
    project: Project, compiled: CompiledProject, source: Source, resource: Resource, environment: str
) -> ResolvedSource:
    """A published model's output, or a table with three clocks; E030 for a name that is both."""
    store, name = project.store, resource.location
    declared = declared_in(store, name)
    if declared is None:
        shared, digest, contents = published_table(project, compiled, source, resource, environment)
        if isinstance(shared.paths, FetchedPaths):  # content-addressed: what is fetched is what the digest tells
            return ResolvedSource(source.name, shared, (), digest, (), ())
        paths = tuple(shared.paths)
        return ResolvedSource(source.name, shared, paths, digest, contents, tuple(stamp(path) for path in paths))
    if name in compiled.models or name in store.environment(environment).head().models:
        message = f"`{name}` is both a model and a declared table of the store"
        raise StrataError(Diagnostic("E030", message, fix="give one of the two another name"))
    read = clocked_table(declared, source, resource, project.config.name)
    return ResolvedSource(source.name, read.table, (), read.digest, (), (), clocked=read)


def _resolved(
    name: str, table: TableInput, files: tuple[Path, ...], dbt: str | None = None, *, reading: str | None = None
) -> ResolvedSource:
    """`reading` says which rows of the same bytes are meant: the table of a database, the text that is null."""
    stamps = tuple(stamp(path) for path in files)
    contents = tuple(file_digest(path) for path in files)
    parts = contents if reading is None else (*contents, hexdigest(reading))
    whole = parts[0] if len(parts) == 1 else hexdigest(*parts)
    return ResolvedSource(name, table, files, whole, contents, stamps, dbt)


def _text(option: OptionValue) -> str | None:
    return option if isinstance(option, str) else None


def _file(root: Path, location: str) -> Path:
    path = root / location
    if path.is_dir():
        fix = "name one file of it; the Parquet files of a folder are read as one table by `parquet:`"
        raise StrataError(Diagnostic("E030", f"`{location}` is a folder, and one file is meant", fix=fix))
    close = nearest(path.name, _names_in(path.parent)) if not path.is_file() else None
    fix = f"did you mean `{Path(location).with_name(close)}`?" if close else "the path is relative to the project"
    return _present(path, f"there is no file `{location}`", fix)


def _names_in(folder: Path) -> tuple[str, ...]:
    try:
        return tuple(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return ()


def _files(root: Path, location: str) -> tuple[Path, ...]:
    path = root / location
    if path.is_dir():
        found = parquet_files(path)
        if not found:
            raise StrataError(Diagnostic("E030", f"the folder `{location}` holds no Parquet file"))
        return found
    return (_file(root, location),)


def parquet_files(folder: Path) -> tuple[Path, ...]:
    """What is called Parquet anywhere below `folder`, sorted; a folder may be called so too, and is looked into."""
    return tuple(path for path in sorted(folder.rglob("*.parquet")) if not path.is_dir())


def _present(path: Path, message: str, fix: str) -> Path:
    if not path.is_file():
        if (kind := other_kind(path)) is not None:
            message, fix = f"`{path.name}` cannot be read: {kind}", "write a regular file in its place"
        raise StrataError(Diagnostic("E030", message, fix=fix))
    return path


def _require_placed_sources(project: Project, compiled: CompiledProject, environment: str) -> None:
    if any(d.blocks for d in compiled.diagnostics):
        return  # sources in error are in no list of sources
    for name in project.config.environment(environment).sources:
        if name not in compiled.sources:
            path = f"environments.{environment}.sources"
            fix = did_you_mean(name, tuple(compiled.sources), f"sources are {listed(sorted(compiled.sources), 8)}")
            raise StrataError(config_fault(project.root, path, f"there is no source `{name}`", fix))


def resolve_all(
    project: Project, compiled: CompiledProject, environment: str
) -> tuple[dict[str, ResolvedSource], dict[str, StrataError]]:
    """Every source that can be resolved, and why the others cannot; raises `StrataError` E073 where `strata.toml`
    places a source in `environment` that is not there."""
    _require_placed_sources(project, compiled, environment)
    resolved: dict[str, ResolvedSource] = {}
    missing: dict[str, StrataError] = {}
    for name, source in compiled.sources.items():
        try:
            resolved[name] = resolve(project, compiled, source, environment)
        except StrataError as error:
            missing[name] = error
    return resolved, missing
