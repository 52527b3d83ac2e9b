"""Guarded tables in the catalog: what readers may rest on, whom a change breaks, and where the rows come from.

A guarded table is published as a model is, and read as one: by sources of kind `table:` of other projects, and of the
models of its own project. What they read is told to whoever guards it before a change goes live (Seed 0 §5 B), and
lineage passes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ...contract.model import TableContract
from ...frozen import replace
from ...lineage.tables import DBT, GUARDED, Table, TableId, TableKind
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ...store.store import Store
from ...types import Inferred
from ..catalog import Approved, Catalog, RegisteredTable, Registration, register
from ..consumers import Breaks, Offered, breaks_of
from ..fingerprints import kept_fingerprints
from ..project import Project, compile_
from ..registered_models import reads_of_models
from .guarding import note_of


def guarded_breaks(
    project: Project,
    catalog: Catalog,
    tables: Mapping[str, TableContract],
    approvals: Callable[[], Collection[Approved]],
) -> Breaks:
    """What publishing guarded `tables` as they are offered breaks of those who read them: by `catalog` other projects,
    and the models of this one as its text has them, which are what the next apply makes."""
    known = {name: table for one in catalog.values() for name, table in one.tables.items() if name in tables}
    if all(known[name].contract == tables[name] for name in known):
        return Breaks((), ())
    name = project.config.name
    compiled, before = compile_(project), catalog.get(name, Registration(name))
    broken = (read for read in before.reads if read.consumer in compiled.broken)
    reads = (*broken, *reads_of_models(compiled, kept_fingerprints(project, compiled), compiled.models))
    readers = {**catalog, name: replace(before, reads=reads)}
    return breaks_of(name, lambda table: Offered(tables[table], {}), readers, tables, approvals)


def register_guarded(
    store: Store,
    project: str,
    environment: str,
    version: EnvironmentVersion,
    tables: Mapping[str, tuple[Artifact, TableContract]],
    approvals: tuple[Approved, ...],
) -> None:
    """Keep in the catalog that `version` of `environment` has these guarded tables, each as it is offered, and the
    `approvals` that this rested on. Raises `StrataError` E094, E092."""

    def by_now(before: Registration, _catalog: Catalog) -> Registration:
        shown = {name: _registered(name, *table, version, before) for name, table in tables.items()}
        lineage = {t.id: t for t in before.lineage} | {
            t.id: t for t in (_in_lineage(name, *table) for name, table in tables.items())
        }
        return replace(
            before,
            tables={**before.tables, **shown},
            approvals=before.with_approvals(approvals),
            lineage=tuple(lineage[id] for id in sorted(lineage)),
        )

    register(store, environment, project, by_now)


def own_guarded(project: str, catalog: Catalog, version: EnvironmentVersion) -> tuple[str, ...]:
    """The guarded tables of `project` that are live in `version` as it has them."""
    own = catalog.get(project, Registration(project))
    return tuple(
        name
        for name, table in sorted(own.tables.items())
        if table.held_to is not None and (live := version.models.get(name)) and live.fingerprint == table.fingerprint
    )


def _registered(
    name: str, artifact: Artifact, contract: TableContract, version: EnvironmentVersion, before: Registration
) -> RegisteredTable:
    note, since = note_of(artifact), before.since(name, contract, version)
    return RegisteredTable(contract, since, {}, note.owner, version.models[name].fingerprint, note.contract)


def _in_lineage(name: str, artifact: Artifact, contract: TableContract) -> Table:
    note = note_of(artifact)
    columns = {f.name: (str(Inferred(f.type, f.nullable)), ()) for f in contract.fields}
    made_by = None if note.dbt_model is None else TableId(DBT, note.dbt_model)
    return Table(TableId(GUARDED, name), TableKind.GUARDED, columns, stands_for=made_by, owner=note.owner)
