"""`strata_promotion_job`: a job that makes live what another environment has, as `strata promote` does."""

from __future__ import annotations

from collections.abc import Sequence

from dagster import AssetsDefinition, AssetSelection, define_asset_job
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from .names import PROMOTE_FROM
from .resource import require_environment


def strata_promotion_job(
    models: AssetsDefinition | Sequence[AssetsDefinition], *, source: str, name: str = "promote"
) -> UnresolvedAssetJobDefinition:
    """A job that promotes all of `models` (what `@strata_assets` and `guard` give) from the environment `source`.

    Nothing is computed. The models are materialized as they go live, and their checks told, as by an apply: in one
    step, or with `op_per_model` one after the other. Any run of the models promotes that has the tag
    `strata/promote_from`; who launches the job may name another environment in it. Raises
    `DagsterInvalidDefinitionError` where `source` is no name of one.
    """
    require_environment(source)
    chosen = [models] if isinstance(models, AssetsDefinition) else models
    return define_asset_job(
        name,
        AssetSelection.assets(*chosen),
        description=f"Make live what the environment `{source}` has.",
        tags={PROMOTE_FROM: source},
    )
