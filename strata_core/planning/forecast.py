"""What carrying out a plan will take and change: told before anything is computed, from what is known of the store.

Work: whether an artifact of the same meaning and inputs exists already (in any environment) and will be reused, the
rows and bytes of the inputs, and how long the model took when it was last computed. Effect: how its table changes for
those who read it, and whom that reaches (`Down` of Seed 0 §5 B), in this project and in others of the store.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..contract.changes import Change, compare_contracts
from ..frozen import dataclass
from ..lineage.graph import LineageGraph, lineage_graph
from ..lineage.tables import ColumnId, TableId, project_tables
from ..store.artifacts import Artifact
from .catalog import Catalog
from .consumers import renamed_columns
from .fingerprints import address, data_digest
from .partitions.asked_periods import tables_of
from .partitions.pieces import inputs_of, piece_address
from .plan import Plan, PlannedModel, Reason
from .provenance import applied, sound_artifact, sound_live
from .registered_models import outward
from .workspace import Workspace


@dataclass(frozen=True, slots=True)
class Work:
    """What a model will take. `reused` is None where that depends on rows that are not computed yet; so is `rows`.
    `seconds` is how long its live artifact took."""

    reused: bool | None
    rows: int | None
    bytes: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Effect:
    """How the table of a model will differ for its readers, and whom that reaches.

    `changes` are those of its schema and promises; `other_rows` says that rows are chosen otherwise, else `values`
    names the columns that are computed otherwise. Reached are columns by value, tables by rows, as
    `project/table.column`, without the project where it is this one.
    """

    changes: tuple[Change, ...] = ()
    values: tuple[str, ...] = ()
    other_rows: bool = False
    reached_values: tuple[str, ...] = ()
    reached_rows: tuple[str, ...] = ()

    @property
    def breaks(self) -> bool:
        """Whether a consumer must change with it."""
        return any(change.breaks for change in self.changes)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Work and effect of one stale model."""

    work: Work
    effect: Effect


def forecast(workspace: Workspace, plan: Plan) -> dict[str, Forecast]:
    """The forecast of each stale model of `plan`."""
    works, changed = dict(_works(workspace, plan)), effects(workspace, plan)
    return {name: Forecast(work, changed[name]) for name, work in works.items()}


def effects(workspace: Workspace, plan: Plan) -> dict[str, Effect]:
    """The effect of each stale model of `plan`."""
    graph = lineage_graph(project_tables(workspace.project.config.name, workspace.compiled))
    return {m.name: _effect(workspace, m, plan.catalog, graph) for m in plan.stale}


def _works(workspace: Workspace, plan: Plan) -> Iterator[tuple[str, Work]]:
    """Upstream first, so that an artifact which will be reused tells what its readers find."""
    stale = {m.name for m in plan.stale}
    found: dict[str, Artifact | None] = {}
    for planned in plan.stale:
        tables = {u: _artifact(workspace, u, plan, stale, found) for u in planned.inputs}
        digests = {u: _digest(workspace, planned, u, tables[u]) for u in planned.inputs}
        known = {u: digest for u, digest in digests.items() if digest is not None}
        forced = any(c.reason is Reason.FORCED for c in planned.causes)
        reused: bool | None = False
        if planned.periods is not None:
            reused = None if forced else _pieces_there(workspace, plan, planned, stale)
        elif not forced and len(known) < len(digests):
            reused = None
        elif not forced:
            there = address(planned.fingerprint.local, known)
            found[planned.name] = sound_artifact(workspace.store, planned.name, there)
            reused = found[planned.name] is not None
        live = sound_live(workspace.store, planned.name, planned.live)
        seconds = live.manifest.provenance.get("seconds") if live else None
        yield (
            planned.name,
            Work(reused, _rows(tables), _bytes(workspace, tables), seconds if isinstance(seconds, float) else None),
        )


def _pieces_there(workspace: Workspace, plan: Plan, planned: PlannedModel, stale: set[str]) -> bool | None:
    """Whether all stale partitions of time exist already; None where that depends on what is computed upstream."""
    live = workspace.live(plan.base)
    tables, model = tables_of(planned, live), workspace.compiled.models[planned.name]
    if not stale.isdisjoint(planned.inputs) or len(tables) < len(planned.inputs):
        return None
    wanted = {p.key: p.period for p in planned.periods or () if p.causes}
    read = inputs_of(model, wanted.values(), tables)
    addresses = (piece_address(planned.fingerprint.local, key, read[period]) for key, period in wanted.items())
    return all(sound_artifact(workspace.store, planned.name, there) is not None for there in addresses)


def _artifact(
    workspace: Workspace, name: str, plan: Plan, stale: set[str], found: Mapping[str, Artifact | None]
) -> Artifact | None:
    if name in stale:
        return found.get(name)
    return sound_live(workspace.store, name, plan.base.models.get(name))


def _digest(workspace: Workspace, planned: PlannedModel, name: str, artifact: Artifact | None) -> str | None:
    if name in workspace.compiled.sources:
        return workspace.sources[name].digest if name in workspace.sources else None
    columns = planned.fingerprint.readings[name].columns
    if artifact is None or not all(column in artifact.manifest.columns for column in columns):
        return None
    return data_digest({column: artifact.manifest.columns[column] for column in columns})


def _rows(tables: Mapping[str, Artifact | None]) -> int | None:
    """The rows of the inputs; of a file they are not known before it is read."""
    counted = [artifact.manifest.rows for artifact in tables.values() if artifact is not None]
    return sum(counted) if len(counted) == len(tables) else None


def _bytes(workspace: Workspace, tables: Mapping[str, Artifact | None]) -> int:
    files = (path for name in tables if name in workspace.sources for path in workspace.sources[name].files)
    return sum(a.manifest.bytes for a in tables.values() if a is not None) + sum(map(_size, files))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone since it was looked at: the apply will say so
        return 0


def _effect(workspace: Workspace, planned: PlannedModel, catalog: Catalog, graph: LineageGraph) -> Effect:
    name, project = planned.name, workspace.project.config.name
    own = catalog.get(project)
    registered = own.tables.get(name) if own else None
    if planned.live is None or registered is None:
        return Effect()
    renamed = renamed_columns(registered, planned.fingerprint.meaning.columns)
    changes = compare_contracts(registered.contract, outward(workspace.compiled, name), renamed)
    before = applied(workspace.store, name, planned.live)
    now = planned.fingerprint.meaning
    mine = any(c.reason in (Reason.OWN_CHANGE, Reason.PROMOTED) for c in planned.causes) and before is not None
    other_rows = mine and before is not None and before.meaning.rows != now.rows
    # Where the rows are others, all that depends on them is: which columns are computed otherwise cannot be told.
    alone = mine and before is not None and not other_rows
    values = [c for c, i in now.columns.items() if alone and before and before.meaning.columns.get(c, i) != i]
    touched = dict.fromkeys((*values, *(renamed.get(c.column, c.column) for c in changes if c.column)))
    table = TableId(project, name)
    start = [ColumnId(table, column) for column in touched if column in now.columns]
    reach = graph.down(*start, rows=(table,) if other_rows else ())
    needed = [
        (r.project, read) for r in catalog.values() if r.project != project for read in r.reads if read.table == name
    ]
    gone = {c.column for c in changes if c.column}
    others = [f"{p}/{r.consumer}" for p, r in needed if other_rows or any(c in r.needs for c in (*touched, *gone))]
    return Effect(
        changes,
        tuple(values),
        other_rows,
        tuple(f"{c.table.name}.{c.column}" for c in reach.columns),
        tuple(dict.fromkeys((*(i.table.name for i in reach.rows), *others))),
    )
