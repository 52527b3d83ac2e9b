"""Strata in Dagster: each model an asset that is guarded by its contract, in one graph with what it reads.

    project = StrataProject("path/to/project")

    @strata_assets(project=project)
    def models(context: AssetExecutionContext, strata: StrataResource):
        yield from strata.apply(context).stream()

The conventions are those of dagster-dbt (docs/dagster.md).
"""

from .assets import strata_assets
from .component import StrataProjectComponent
from .contract_assets import strata_contract_assets
from .contract_sensor import strata_contract_sensor
from .guard import guard
from .io_manager import StrataIOManager
from .landing import Landing, land, strata_land_assets
from .project import StrataProject
from .promotion import strata_promotion_job
from .resource import StrataResource, StrataRunConfig
from .sources import observable_sources
from .translator import DagsterStrataTranslator

__all__ = [
    "DagsterStrataTranslator",
    "Landing",
    "StrataIOManager",
    "StrataProject",
    "StrataProjectComponent",
    "StrataResource",
    "StrataRunConfig",
    "guard",
    "land",
    "observable_sources",
    "strata_assets",
    "strata_contract_assets",
    "strata_contract_sensor",
    "strata_land_assets",
    "strata_promotion_job",
]
