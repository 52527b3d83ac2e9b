"""Which models an apply leaves as they are, where it is to go on with the others: policies of whoever applies.

A model whose unit tests fail, or that does not compile, is not applied, nor is what would be made of it; what is live
of them stays live. The command line and Dagster ask the same here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic

if TYPE_CHECKING:
    from .project import Project

LeftOut = Mapping[str, tuple[Diagnostic, ...]]
"""Models that are not applied, each with why."""


def failing_unit_tests(project: Project, compiled: CompiledProject, models: Collection[str]) -> LeftOut:
    """Those of `models` whose unit tests fail, by the engine that is their meaning, with what is wrong."""
    from .engines import named_engine
    from .unit_tests import run_unit_tests

    tested = {test.model for test in compiled.unit_tests} & {*models}
    if not tested:
        return {}
    found: dict[str, tuple[Diagnostic, ...]] = {}
    for ran in run_unit_tests(compiled, named_engine(project, "reference"), tested):
        if ran.violations:
            found[ran.test.model] = (*found.get(ran.test.model, ()), *ran.violations)
    return found


def with_readers(compiled: CompiledProject, wrong: LeftOut) -> dict[str, tuple[Diagnostic, ...]]:
    """`wrong`, and what would be made of these models, each with why it is left out."""
    found = {**wrong}
    for name, model in compiled.models.items() if wrong else ():
        if above := [d for upstream in model.upstream for d in found.get(upstream, ())]:
            found.setdefault(name, tuple(above))
    return found


def sound_models(compiled: CompiledProject, selected: Collection[str] | None) -> Collection[str] | None:
    """Of the models that are `selected` (None: all), those that compile; all of them where the project has no error.
    What is named and is no model stays, for those to say who look it up."""
    if not compiled.errors:
        return selected
    return [name for name in (compiled.models if selected is None else selected) if name not in compiled.broken]
