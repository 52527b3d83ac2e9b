"""The repository's own code location: real flights through dbt, Strata models on them, all their checks, and the data
products that they make, renewed by a sensor."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
from dagster_dbt import DbtCliResource, DbtProject, dbt_assets

from demo.assets import fuel_cost_shares
from strata_dagster import (
    StrataProject,
    StrataResource,
    StrataRunConfig,
    guard,
    observable_sources,
    strata_assets,
    strata_contract_assets,
    strata_contract_sensor,
    strata_stale_sensor,
)
from strata_dagster.dbt import with_data_versions

ROOT = Path(__file__).resolve().parent

# `.venv/bin/dagster` runs without its environment being activated: dbt lies beside Python, not on the PATH.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

dbt_project = DbtProject(project_dir=ROOT / "dbt_project")
dbt_project.prepare_if_dev()
if not dbt_project.manifest_path.exists():
    raise dg.DagsterInvalidDefinitionError(
        "dbt_project/ has not been parsed: run `make staged`, or `dbt parse` in dbt_project/"
    )
strata_project = StrataProject(ROOT)
strata_project.prepare_if_dev()


@dbt_assets(manifest=dbt_project.manifest_path, project=dbt_project)
def staging(context: dg.AssetExecutionContext, dbt: DbtCliResource) -> Iterator[Any]:
    """The flights data as dbt stages it, under its contracts and tests."""
    yield from with_data_versions(dbt.cli(["build"], context=context).stream(), strata_project)


@strata_assets(project=strata_project)
def models(context: dg.AssetExecutionContext, strata: StrataResource, config: StrataRunConfig) -> Iterator[Any]:
    """The Strata models: each is published only when it keeps its contract."""
    yield from strata.apply(context, recompute=config.recompute).stream()


# What dbt stages of aircraft is materialized only where it keeps the contract of its product, and kept in the store.
guarded = guard(staging, project=strata_project, contracts={"stg_planes": "flights.staged/stg_planes"})
data = [guarded, models, *observable_sources(project=strata_project), fuel_cost_shares]
strata_resource = StrataResource(project_dir=strata_project)
contracts = strata_contract_assets(project=strata_project, assets=data, resource=strata_resource)

defs = dg.Definitions(
    assets=[*data, *contracts],
    sensors=[
        strata_contract_sensor(contracts, default_status=dg.DefaultSensorStatus.RUNNING),
        # To be switched on in the UI: it materializes what `strata plan` calls stale, months of `airport_days` too.
        strata_stale_sensor(project=strata_project, resource=strata_resource),
    ],
    resources={
        "dbt": DbtCliResource(project_dir=dbt_project),
        "strata": strata_resource,
    },
)
