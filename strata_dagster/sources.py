"""The files that a project reads, as observable source assets: their data version is the digest of their content."""

# Dagster compares the annotations of an op with types: they must not be text here.
from collections.abc import Iterator

from dagster import (
    AssetExecutionContext,
    AssetsDefinition,
    DataVersion,
    Failure,
    ObserveResult,
    multi_observable_source_asset,
)

from strata_core.diagnostics import Diagnostic, StrataError

from .findings import findings
from .names import SOURCE
from .project import StrataProject, quietly, require_project
from .resource import StrataResource
from .translator import DagsterStrataTranslator, is_file


def observable_sources(
    *, project: StrataProject, name: str = "strata_sources", translator: DagsterStrataTranslator | None = None
) -> list[AssetsDefinition]:
    """One op that observes the files of `project`; nothing where it reads none.

    An observation marks as stale what was built from other content. An apply observes what it reads itself, so
    that observing apart from it (on a schedule, say) only tells earlier.
    """
    require_project(project)
    chosen = translator or DagsterStrataTranslator()
    files = [source for source in project.outline.sources.values() if is_file(source)]
    if not files:
        return []
    with quietly():
        specs = [chosen.get_source_asset_spec(project, source) for source in files]
        return [multi_observable_source_asset(name=name, specs=specs, can_subset=True)(_observe)]


def _observe(context: AssetExecutionContext, strata: StrataResource) -> Iterator[ObserveResult]:
    # Loaded when the op runs: a code location does without the compiler and its libraries.
    from strata_core.planning.inputs.sources import resolve
    from strata_core.planning.project import compile_, open_project

    from .events import source_metadata

    opened = open_project(project=strata.root)
    compiled = compile_(opened)
    missing: list[Diagnostic] = []
    for key in sorted(context.selected_asset_keys):
        name = context.assets_def.specs_by_key[key].metadata[SOURCE]
        try:
            found = resolve(opened, compiled, compiled.sources[name], strata.environment)
        except StrataError as error:
            missing += error.diagnostics
            continue
        yield ObserveResult(asset_key=key, data_version=DataVersion(found.digest), metadata=source_metadata(found))
    if missing:
        raise Failure(findings(missing, opened), allow_retries=False)
