"""`last_known_good`: what is live is there, unchanged, and keeps the contract that it was published under."""

# Dagster compares the annotations of an op with types: they must not be text here.
from collections.abc import Collection, Iterator

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSpec,
    multi_asset_check,
)

from .assets import strata_asset_specs
from .project import StrataProject
from .resource import StrataResource
from .translator import MODEL, DagsterStrataTranslator

LAST_KNOWN_GOOD = "last_known_good"
DESCRIPTION = (
    "The live artifact exists, its bytes are those of its manifest, and it keeps the contract that it was published "
    "under. Runs on its own, at any time: nothing is computed or published."
)


def last_known_good_checks(
    *,
    project: StrataProject,
    name: str = "strata_last_known_good",
    select: Collection[str] | None = None,
    exclude: Collection[str] = (),
    translator: DagsterStrataTranslator | None = None,
) -> AssetChecksDefinition:
    """One op with a check for each model; parameters as `strata_assets`."""
    specs = strata_asset_specs(project, translator or DagsterStrataTranslator(), select, exclude)
    models = {spec.key: str(spec.metadata[MODEL]) for spec in specs}

    @multi_asset_check(
        name=name,
        specs=[AssetCheckSpec(LAST_KNOWN_GOOD, asset=key, description=DESCRIPTION) for key in models],
        can_subset=True,
    )
    def last_known_good(context: AssetCheckExecutionContext, strata: StrataResource) -> Iterator[AssetCheckResult]:
        # Loaded when the op runs: a code location does without engines and their libraries.
        from .examination import examined

        yield from examined(context, strata, models)

    return last_known_good
