"""Pipelines: which models are built together in an environment, and where their sources are there.

Codes: E020 and E027 (a source or model that does not exist), E023 (a source that is placed twice in one environment),
and those of the resource clause.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Report
from ..language import ast
from .compiled import Pipeline, Resource
from .declarations import Declarations
from .names import duplicate, unknown
from .sources import FILE_KINDS, resolve_resource


def resolve_pipelines(declared: Declarations, report: Report) -> dict[str, Pipeline]:
    """The pipelines by name. What is not there is reported, and left out."""
    placed: dict[tuple[str | None, str], ast.Name] = {}
    return {name: _pipeline(pipeline, declared, placed, report) for name, pipeline in declared.pipelines.items()}


def _pipeline(
    pipeline: ast.Pipeline, declared: Declarations, placed: dict[tuple[str | None, str], ast.Name], report: Report
) -> Pipeline:
    """One pipeline; `placed` has the sources that those before it place, by their environment."""
    models: dict[str, None] = {}
    for name in pipeline.models:
        assert isinstance(name, ast.Name)  # calls were expanded
        if name.text in declared.models:
            models[name.text] = None
        elif name.text not in declared.broken_models:
            report(declared.no_model(name))
    env = pipeline.env.text if pipeline.env else None
    sources: dict[str, Resource] = {}
    for override in pipeline.sources:
        name = override.source
        first = placed.setdefault((env, name.text), name) if override.resource else name
        if first is not name and (env is not None or name.text in sources):
            fix = "keep one of the two: a source is in one place in an environment"
            report(duplicate("the place of", name, first.span, fix))
        elif name.text in declared.sources:
            if override.resource:
                written = _laid_over(override.resource, declared.sources[name.text].resource)
                sources[name.text] = resolve_resource(name.text, written, report)
        elif name.text not in declared.broken_sources:
            report(unknown("E020", f"no source `{name}`", name, declared.sources.keys()))
    return Pipeline(pipeline.name.text, env, tuple(models), sources, pipeline.span)


def _laid_over(override: Sequence[ast.Entry], declared: Sequence[ast.Entry]) -> Sequence[ast.Entry]:
    """A clause that names another place says all of it; one that does not changes what it says of the declared one."""
    said = {entry.key.text for entry in override}
    if said & set(FILE_KINDS):
        return override
    return (*(entry for entry in declared if entry.key.text not in said), *override)
