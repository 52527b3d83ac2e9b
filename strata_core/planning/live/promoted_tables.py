"""Guarded tables in a promotion: they go live with the models, as they are, in the same version.

A table goes along where the contract that it is held to in this project is the one that its rows were held to, where
they are sound, and where nobody reads of the target what it no longer has (Seed 0 §5 B). Otherwise it is refused, as a
model of another revision is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from ...contract.model import TableContract
from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion, Pointer
from ..guarded.catalog import register_guarded
from ..guarded.guarding import filled, fingerprint, note_of, offered, require_free
from ..workspace import Workspace
from .between import Between, Promised
from .health import contract_of, examine


@dataclass(frozen=True, slots=True)
class PromotedTable:
    """A guarded table that goes along: what the source has of it at `pointer`, the target at `live`; `contract` is what
    readers may rest on."""

    name: str
    pointer: Pointer
    live: Pointer | None
    artifact: Artifact
    contract: TableContract

    @property
    def changed(self) -> bool:
        """Whether the target has it otherwise, or under another contract."""
        live = self.live
        return live is None or not live.same_rows(self.pointer) or live.fingerprint != self.pointer.fingerprint


def read_by(workspace: Workspace, models: Iterable[str]) -> set[str]:
    """The published tables that `models` read by sources."""
    compiled = workspace.compiled
    sources = (compiled.sources[u] for m in models for u in compiled.models[m].upstream if u in compiled.sources)
    return {source.resource.location for source in sources if source.resource.kind == "table"}


def planned_tables(
    between: Between, names: Collection[str], promised: Promised
) -> tuple[tuple[PromotedTable, ...], tuple[Diagnostic, ...]]:
    """The guarded tables `names` as they are to go live, and why some may not: E035, E036, E085, E094."""
    found: list[PromotedTable] = []
    faults: list[Diagnostic] = []
    for name in names:
        pointer, live = between.there.models[name], between.base.models.get(name)
        try:
            artifact = between.workspace.store.artifact(name, pointer)
            kept = contract_of(artifact) or TableContract(name, ())
            table = PromotedTable(name, pointer, live, artifact, offered(name, artifact, kept))
        except StrataError as error:
            faults += error.diagnostics
            continue
        found.append(table)
        if table.changed:
            faults += _unfit(between, table, kept, promised)
    return tuple(found), tuple(faults)


def _unfit(between: Between, table: PromotedTable, kept: TableContract, promised: Promised) -> Iterator[Diagnostic]:
    name, reference = table.name, note_of(table.artifact).contract
    workspace, source, compiled = between.workspace, between.source, between.workspace.compiled
    try:
        require_free(name, compiled.models.keys() | compiled.broken, workspace.store, between.base)
    except StrataError as error:
        yield from error.diagnostics
    yield from examine(workspace.project, source, name, datetime.now(UTC), engine=None).faults
    held = promised({name: reference}).get(name, ())
    if not isinstance(held, TableContract):
        yield from held
    elif fingerprint(reference, filled(held, {f.name: f.type for f in kept.fields})) != table.pointer.fingerprint:
        fix = f"check out the revision that it was guarded from, or run `strata guard {name} --env {source}` here"
        message = f"`{name}` of {source} was held to another `{reference}` than this project has"
        yield Diagnostic("E035", message, held.span, fix=fix)


def register_promoted(workspace: Workspace, version: EnvironmentVersion, tables: Iterable[PromotedTable]) -> None:
    """Keep in the catalog of the target what it has of `tables` by now. Raises `StrataError` E094, E092."""
    shown = {table.name: (table.artifact, table.contract) for table in tables}
    if shown:
        name = workspace.project.config.name
        register_guarded(workspace.store, name, workspace.environment, version, shown, ())
