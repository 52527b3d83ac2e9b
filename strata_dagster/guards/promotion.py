"""A guarded op in a run that promotes: its assets are not made, what another environment has of them goes live.

The rows are asked again of the contract and its tests, as they are to be live here; where one of them breaks it, or the
promotion is refused (`strata promote`), nothing of the op goes live. Of assets with partitions whole tables go live,
whichever partition the run is of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dagster import AssetKey, MaterializeResult

from strata_core.contract_engine.governed import governed_promotion
from strata_core.contract_engine.pin.guard import Guard, Promise
from strata_core.contract_engine.pin.judging import Verdict, judge
from strata_core.contract_engine.pin.promoting import Promotion
from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import ParquetTable
from strata_core.frames import as_kind
from strata_core.frozen import dataclass, replace
from strata_core.planning.applying.results import Outcome
from strata_core.planning.guarded.guarding import Kept
from strata_core.planning.live.promoted_tables import PromotedTable
from strata_core.planning.live.promotion import Promotion as Planned
from strata_core.planning.live.promotion import promote as carry_out
from strata_core.planning.project import compile_
from strata_core.planning.workspace import Workspace, open_workspace

from .op import GuardedOp


@dataclass(frozen=True, slots=True)
class GuardedPromotion:
    """What another environment has of the assets of an op: `judged` as it would be live here, and what is told of it
    then (`held`)."""

    guard: Guard
    judged: dict[AssetKey, Verdict]
    held: dict[AssetKey, Any]
    planned: tuple[Workspace, Planned] | None

    def carry_out(self, sound: Collection[Verdict], *, message: str, tags: Mapping[str, str]) -> Promotion:
        """Make it live in one version, where all of it is `sound`. Raises what `promote` raises."""
        if self.planned is None or len(sound) < len(self.judged):
            return Promotion(self.guard.base, frozenset())
        workspace, planned = self.planned
        events = carry_out(workspace, planned, message=message, tags=tags)
        version = [event.version for event in events if isinstance(event, Outcome)][-1]
        return Promotion(version, frozenset(table.name for table in planned.tables))


def looked_at(op: GuardedOp, guard: Guard, source: str, promises: Mapping[AssetKey, Promise]) -> GuardedPromotion:
    """What the environment `source` has of the assets that are held to `promises`. What is wrong with it, or with its
    going live here, is in the verdicts."""
    try:
        workspace, planned = _planned(guard, source, promises)
    except StrataError as error:
        live = guard.base.models
        judged = {k: Verdict(p, source, live.get(p.name), faults=error.diagnostics) for k, p in promises.items()}
        return GuardedPromotion(guard, judged, {key: MaterializeResult(asset_key=key) for key in promises}, None)
    keys = {promise.name: key for key, promise in promises.items()}
    place = f"version {planned.there.number} of {source}"
    return GuardedPromotion(
        guard,
        {keys[t.name]: _judged(guard, promises[keys[t.name]], t, place) for t in planned.tables},
        {keys[t.name]: _event(op, guard, keys[t.name], t) for t in planned.tables},
        (workspace, planned),
    )


def _planned(guard: Guard, source: str, promises: Mapping[AssetKey, Promise]) -> tuple[Workspace, Planned]:
    project = guard.project
    workspace = open_workspace(project, guard.environment, compile_(project))
    names = [promise.name for promise in promises.values()]
    planned = governed_promotion(workspace, source, names, with_upstream=False, tested=False)
    if planned.plan.conflicts:
        raise StrataError(*planned.plan.conflicts)
    return workspace, planned


def _judged(guard: Guard, promise: Promise, table: PromotedTable, place: str) -> Verdict:
    verdict = judge(guard, promise, ParquetTable(table.artifact.paths, ()), place, keeping=False)
    kept = None if verdict.violations else Kept(table.artifact, table.contract, reused=True)
    return replace(verdict, kept=kept)


def _event(op: GuardedOp, guard: Guard, key: AssetKey, table: PromotedTable) -> MaterializeResult[Any]:
    """With the rows, where the asset says in which type it hands them to its IO manager."""
    type_ = getattr(op.original.op.outs[op.output_of(key)].dagster_type, "typing_type", None)
    value = as_kind(guard.store.reader(table.artifact), type_)
    return MaterializeResult(asset_key=key) if value is None else MaterializeResult(asset_key=key, value=value)
