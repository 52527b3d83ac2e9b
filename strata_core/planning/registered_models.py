"""The models of a project in the catalog: what readers may rest on of each, what they read, where columns come from."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set

from ..analysis.compiled import CompiledProject
from ..contract.model import TableContract
from ..contract.published import published_contract
from ..frozen import replace
from ..lineage.tables import Table, TableId, TableKind, project_tables
from ..store.environments import EnvironmentVersion
from ..store.store import Store
from .catalog import Approved, Catalog, RegisteredRead, RegisteredTable, Registration, register, taken
from .fingerprints import Fingerprint
from .promised import promised


def register_models(
    store: Store,
    name: str,
    compiled: CompiledProject,
    prints: Mapping[str, Fingerprint],
    version: EnvironmentVersion,
    environment: str,
    approvals: tuple[Approved, ...],
) -> None:
    """Keep in the catalog what the project `name` has in `version` of `environment`, and the `approvals` that this
    rested on. A model that is live as it was before it changed stays as it was registered."""
    current = {m for m, own in prints.items() if m in version.models and version.models[m].fingerprint == own.merkle}

    def by_now(before: Registration, catalog: Catalog) -> Registration:
        live = (table for table in before.tables if table in version.models)
        kept = {table: before.tables[table] for table in live if not taken(table, name, catalog, version)}
        tables = {m: _table(compiled, prints[m], m, version, before) for m in prints if m in current}
        reads = (
            *(r for r in before.reads if r.consumer in kept and r.consumer not in current),
            *reads_of_models(compiled, prints, current),
        )
        lineage = _lineage(name, compiled, current, before, kept.keys())
        return Registration(name, kept | tables, reads, before.with_approvals(approvals), lineage)

    register(store, environment, name, by_now)


def removed_tables(
    project: str, compiled: CompiledProject, catalog: Catalog, version: EnvironmentVersion
) -> tuple[str, ...]:
    """The models that `project` has published in `version` and declares no more; not what another has published there
    since."""
    own = catalog.get(project)
    known = compiled.models.keys() | compiled.broken
    models = (name for name, table in own.tables.items() if table.held_to is None) if own else ()
    gone = (t for t in models if t in version.models and t not in known)
    return tuple(sorted(t for t in gone if not taken(t, project, catalog, version)))


def outward(compiled: CompiledProject, name: str) -> TableContract:
    """What readers of the model `name` may rest on."""
    model = compiled.models[name]
    return published_contract(name, model.written.schema.columns, promised(model), model.span)


def reads_of_models(
    compiled: CompiledProject, prints: Mapping[str, Fingerprint], consumers: Collection[str]
) -> Iterator[RegisteredRead]:
    """What the models `consumers` need of published tables that are no models of their project."""
    for consumer in sorted(consumers):
        owner = compiled.models[consumer].attributes.get("owner")
        for name, reading in prints[consumer].readings.items():
            source = compiled.sources.get(name)
            if source is None or source.resource.kind != "table":
                continue
            fields = tuple(f for f in source.contract.fields if f.name in reading.columns)
            needs = TableContract(name, fields)
            place = f"{source.span.file}:{source.span.line}"
            told = owner if isinstance(owner, str) else None
            yield RegisteredRead(source.resource.location, consumer, name, needs, told, place)


def _table(
    compiled: CompiledProject, own: Fingerprint, name: str, version: EnvironmentVersion, before: Registration
) -> RegisteredTable:
    model = compiled.models[name]
    contract = outward(compiled, name)
    since = before.since(name, contract, version)
    meaning = {column: identity.hex() for column, identity in own.meaning.columns.items()}
    owner = model.attributes.get("owner")
    return RegisteredTable(contract, since, meaning, owner if isinstance(owner, str) else None, own.merkle)


def _lineage(
    name: str, compiled: CompiledProject, current: set[str], before: Registration, kept: Set[str]
) -> tuple[Table, ...]:
    known = {t.id: replace(t, span=None) for t in project_tables(name, compiled)}
    kept = kept - current
    published = {t.id: t for t in before.lineage if t.kind is not TableKind.SOURCE and t.id.name in kept}
    published |= {id: t for id, t in known.items() if t.kind is TableKind.MODEL and id.name in current}
    sources = {t.id: t for t in (*before.lineage, *known.values()) if t.kind is TableKind.SOURCE}
    read = {TableId(t.id.project, above) for t in published.values() for above in t.reads}
    return tuple(table for id, table in sorted((sources | published).items()) if id in read or id in published)
