"""Strata in Dagster: each model an asset that is guarded by its contract, in one graph with what it reads.

    project = StrataProject("path/to/project")

    @strata_assets(project=project)
    def models(context: AssetExecutionContext, strata: StrataResource):
        yield from strata.apply(context).stream()

The conventions are those of dagster-dbt (docs/dagster.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .assets import strata_assets
from .component import StrataProjectComponent
from .project import StrataProject
from .promotion import strata_promotion_job
from .resource import StrataResource, StrataRunConfig
from .sources import observable_sources
from .stale_sensor import strata_stale_sensor
from .translator import DagsterStrataTranslator

if TYPE_CHECKING:
    from .contracts.assets import strata_contract_assets
    from .contracts.sensor import strata_contract_sensor
    from .guards.component import StrataGuardComponent
    from .guards.guard import guard
    from .io_manager import StrataIOManager
    from .landing import Landing, land, strata_land_assets

WHEN_USED = {
    "Landing": ".landing",
    "StrataGuardComponent": ".guards.component",
    "StrataIOManager": ".io_manager",
    "guard": ".guards.guard",
    "land": ".landing",
    "strata_contract_assets": ".contracts.assets",
    "strata_contract_sensor": ".contracts.sensor",
    "strata_land_assets": ".landing",
}
"""What is imported when it is asked for: each brings the store or the contract engine along, which a code location of
models alone does without. No module may have the name of what it gives."""


def __getattr__(name: str) -> Any:
    if name not in WHEN_USED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(WHEN_USED[name], __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """With what is imported when it is asked for: `dg` finds components so."""
    return sorted({*globals(), *WHEN_USED})


__all__ = [
    "DagsterStrataTranslator",
    "Landing",
    "StrataGuardComponent",
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
    "strata_stale_sensor",
]
