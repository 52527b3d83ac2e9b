"""Of which materialization the evaluations of checks are: Dagster shows a check by the latest one alone.

What our checks say holds for what is live of an asset. Where that is materialized again as it was, they are told again;
and where a run of one partition makes nothing, they are of what another run made last.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    DagsterInstance,
)
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationTargetMaterializationData
from dagster_shared.check import CheckError

from strata_core.planning.workspace import Workspace

from .checks import LAST_KNOWN_GOOD
from .contracts.contract_check import contract_ages
from .contracts.results import answered
from .examination import examined

if TYPE_CHECKING:
    from dagster._core.execution.context.system import StepExecutionContext

Target = AssetCheckEvaluationTargetMaterializationData


class OfTheAsset(AssetCheckResult):
    """A result about an asset, whichever partition the run is of. Dagster takes it to be of the latest materialization
    of that partition, and would show the check as not evaluated where another partition was made since."""

    def to_asset_check_evaluation(self, step_context: StepExecutionContext) -> AssetCheckEvaluation:
        """As Dagster's, of the latest materialization of the asset where the run made none."""
        made = super().to_asset_check_evaluation(step_context)
        target = made.target_materialization_data
        if not step_context.has_partition_key or (target is not None and target.run_id == step_context.run_id):
            return made
        return _of(made, _latest(step_context.instance, made.asset_key))


def of_the_assets(told: Iterable[Any], others: Collection[AssetCheckKey] = ()) -> Iterator[Any]:
    """What an op tells, its results of checks being about assets, but for those of the checks of `others`."""
    for one in told:
        ours = type(one) is AssetCheckResult and (one.asset_key, one.check_name) not in others
        yield OfTheAsset(**one._asdict()) if ours else one


def told_again(
    context: AssetExecutionContext, workspace: Workspace, name: str, key: AssetKey
) -> list[AssetCheckEvaluation]:
    """The evaluations of the checks of a model that is about to be materialized again as it was: what was told of its
    rows holds, ages are told anew. A check that was not told of the latest materialization stays so."""
    specs = _specs(context, key)
    latest = _latest(context.instance, key)
    storage = context.instance.event_log_storage
    known = storage.get_latest_asset_check_execution_by_key([spec.key for spec in specs])
    found: list[AssetCheckEvaluation] = []
    for spec in specs:
        was = known[spec.key].evaluation if spec.key in known else None
        if was is None or latest is None or not _is_of(was, latest, known[spec.key].run_id):
            continue
        anew = [*_aged(spec, workspace, name)]
        found += [_anew(spec, result) for result in anew] or [_of(was, None)]
    return found


def _specs(context: AssetExecutionContext, key: AssetKey) -> Sequence[AssetCheckSpec]:
    """The checks of an asset, which may be one of another op: in the graph of a run that has none, in that of its code
    location it has. A run that was started without one (`dagster.materialize`) does not know them."""
    own = context.assets_def
    if key not in own.specs_by_key:
        try:
            own = context.repository_def.asset_graph.get(key).assets_def
        except CheckError:
            return ()
    return [spec for spec in own.node_check_specs_by_output_name.values() if spec.asset_key == key]


def _aged(spec: AssetCheckSpec, workspace: Workspace, name: str) -> Iterator[AssetCheckResult]:
    """The result of a check that tells an age."""
    project = workspace.project
    if spec.name == LAST_KNOWN_GOOD:
        yield from examined(project, workspace.environment, {name: spec.asset_key}, again=False)
    elif contract_ages([spec]):
        yield from answered([spec], project.root, workspace.environment)


def _is_of(evaluation: AssetCheckEvaluation, latest: Target, run: str) -> bool:
    target = evaluation.target_materialization_data
    return run == latest.run_id or (target is not None and target.storage_id == latest.storage_id)


def _anew(spec: AssetCheckSpec, result: AssetCheckResult) -> AssetCheckEvaluation:
    return AssetCheckEvaluation(
        asset_key=spec.asset_key,
        check_name=spec.name,
        passed=result.passed,
        metadata=result.metadata,
        severity=result.severity,
        description=result.description,
        blocking=spec.blocking,
    )


def _of(made: AssetCheckEvaluation, target: Target | None) -> AssetCheckEvaluation:
    return AssetCheckEvaluation(
        asset_key=made.asset_key,
        check_name=made.check_name,
        passed=made.passed,
        metadata=made.metadata,
        target_materialization_data=target,
        severity=made.severity,
        description=made.description,
        blocking=made.blocking,
        partition=made.partition,
    )


def _latest(instance: DagsterInstance, key: AssetKey) -> Target | None:
    records = instance.fetch_materializations(key, limit=1).records
    return next((Target(storage_id=r.storage_id, run_id=r.run_id, timestamp=r.timestamp) for r in records), None)
