"""The lineage graph of a project, with dbt and other projects around it, and what changed between two revisions."""

from __future__ import annotations

from pathlib import Path

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic, Severity, StrataError
from ..frozen import dataclass, replace
from ..lineage.diff import LineageDiff, Side, diff_projects
from ..lineage.graph import LineageGraph, lineage_graph
from ..lineage.tables import Table, TableKind, project_tables
from . import cache
from .cache import uncollected
from .catalog import read_catalog
from .config import MAIN, find_project
from .dbt import find_documents, version_warning
from .git_revisions import GitRevision, open_range
from .kept.revisions import first_revision, revised
from .project import Project, compile_, content_parts, kept_compilation
from .promised import promised


@dataclass(frozen=True, slots=True)
class ProjectLineage:
    """The graph around `project`. `broken` names models that have errors and so are not in it; `missing` says what
    else could not be read."""

    graph: LineageGraph
    project: str
    broken: tuple[str, ...]
    missing: tuple[Diagnostic, ...] = ()


def project_lineage(project: Project, environment: str = MAIN) -> ProjectLineage:
    """The lineage of `project`, compiled; of the dbt models that it reads and that read it; of the tables that it
    guards, and of what other projects have published in the same store and environment."""
    compiled = compile_(project)
    name = project.config.name
    with uncollected():
        around, missing = _around(project, compiled, environment)
        graph = lineage_graph(project_tables(name, compiled), around)
    return ProjectLineage(graph, name, tuple(sorted(compiled.broken)), missing)


def _around(
    project: Project, compiled: CompiledProject, environment: str
) -> tuple[tuple[Table, ...], tuple[Diagnostic, ...]]:
    """The tables of dbt and of other projects, and what could not be read or traced of them."""
    tables, missing = _dbt(project, compiled)
    try:
        catalog = read_catalog(project.store, environment)
    except StrataError as error:
        return tables, (*missing, *(replace(d, severity=Severity.WARNING) for d in error.diagnostics))
    # What this project itself has of models and sources, its text says.
    published = (
        table
        for name, one in sorted(catalog.items())
        for table in one.lineage
        if name != project.config.name or table.kind is TableKind.GUARDED
    )
    return (*tables, *published), missing


def _dbt(project: Project, compiled: CompiledProject) -> tuple[tuple[Table, ...], tuple[Diagnostic, ...]]:
    """The tables of the project's dbt manifest, as it lies there now, and what could not be read or traced of them.

    Kept by content: SQL takes long to parse.
    """
    columns = {name: model.written.schema.names for name, model in compiled.models.items()}
    try:
        documents = find_documents(project.root, project.config.dbt)
        if documents is None:
            return (), _no_manifest(project, compiled)
        made_of = (project.config.dbt.manifest, documents.digest, repr(sorted(columns.items())))
        key = cache.content_key("dbt-lineage", *(part.encode() for part in made_of))
        kept = cache.load(key)
        if isinstance(kept, tuple):
            return kept
        manifest, catalog = documents.read(project.config.dbt)
    except StrataError as error:
        return (), tuple(replace(d, severity=Severity.WARNING) for d in error.diagnostics)
    from ..lineage.dbt import dbt_tables  # loads sqlglot

    found: list[Diagnostic] = []
    if (newer := version_warning(project.config.dbt, manifest["metadata"]["dbt_schema_version"])) is not None:
        found.append(newer)
    made = (dbt_tables(manifest, catalog, columns, found.append), tuple(found))
    if find_documents(project.root, project.config.dbt) == documents:  # dbt may have written them anew meanwhile
        cache.save(key, made)
    return made


def _no_manifest(project: Project, compiled: CompiledProject) -> tuple[Diagnostic, ...]:
    if not any(source.resource.kind == "dbt" for source in compiled.sources.values()):
        return ()
    message = f"there is no dbt manifest at `{project.config.dbt.manifest}`: lineage ends at the `dbt:` sources"
    fix = "run `dbt compile`, or set `[dbt] manifest` in strata.toml"
    return (Diagnostic("E030", message, severity=Severity.WARNING, fix=fix),)


@dataclass(frozen=True, slots=True)
class RevisionDiff:
    """What changed between two revisions of a project, and what keeps either from being compared whole.

    `missing` says what could not be read or traced of the dbt models around it.
    """

    before: GitRevision
    after: GitRevision
    diff: LineageDiff
    errors_before: tuple[Diagnostic, ...]
    errors_after: tuple[Diagnostic, ...]
    missing: tuple[Diagnostic, ...] = ()


def revision_diff(written: str, folder: Path) -> RevisionDiff:
    """The diff over the range `written` (`base..head`, see `git_revisions.open_range`) of the project in `folder`; it
    reaches what other projects published in `prod`.

    Sound models are compared although others have errors. Raises `StrataError` E034 or E073.
    """
    before, after = open_range(written, folder)
    with uncollected():
        old, new = _compiled(before.project, after.project)
        around, missing = _around(replace(after.project, root=find_project(folder) or folder), old, MAIN)
        diff = diff_projects(_side(old), _side(new), after.project.config.name, around)
    return RevisionDiff(before, after, diff, _errors(old), _errors(new), missing)


def _compiled(before: Project, after: Project) -> tuple[CompiledProject, CompiledProject]:
    """Both compiled. Where neither is kept from an earlier time, the second is made of the first: it costs what the
    edits between them reach. They are kept as one, since most of either is the other's."""
    key = cache.content_key("revisions", repr([content_parts(project) for project in (before, after)]).encode())
    pair = cache.load(key)
    if isinstance(pair, tuple):
        return pair
    if before.config != after.config or any(kept_compilation(project) for project in (before, after)):
        return compile_(before), compile_(after)
    first = first_revision(before)
    texts = {file.path: file.content for file in after.files}
    gone = dict.fromkeys(file.path for file in before.files if file.path not in texts)
    second = revised(first, {**texts, **gone})
    made = first.standing(), second.standing()
    cache.save(key, made)
    return made


def _side(compiled: CompiledProject) -> Side:
    held = {name: promised(model) for name, model in compiled.models.items()}
    return Side(compiled, {name: contract for name, contract in held.items() if contract is not None})


def _errors(compiled: CompiledProject) -> tuple[Diagnostic, ...]:
    return tuple(d for d in compiled.diagnostics if d.blocks)
