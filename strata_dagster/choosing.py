"""Which models `select` and `exclude` name: in the syntax of dbt, or as Dagster's own `AssetSelection`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

from dagster import AssetKey, AssetSelection, AssetSpec, DagsterInvalidDefinitionError, multi_asset

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning import choosing

from .findings import findings
from .project import StrataProject, quietly
from .translator import DagsterStrataTranslator

Choice = str | Collection[str] | AssetSelection
"""What `select` and `exclude` take."""
Specs = Callable[[], Mapping[str, AssetSpec]]


def chosen_models(
    project: StrataProject,
    translator: DagsterStrataTranslator,
    specs: Specs,
    select: Choice | None,
    exclude: Choice,
) -> frozenset[str]:
    """The names of the models that `select` (all, by default) names and `exclude` does not; `specs` gives those of all
    models by name, which Dagster's own selections are of. Raises `DagsterInvalidDefinitionError` E027 for a part that
    names nothing."""
    if isinstance(select, str) and not select.strip():
        empty = Diagnostic("E027", "`select` is empty, and names no model", fix="leave it out for all of them")
        raise DagsterInvalidDefinitionError(findings([empty], None))
    tags = partial(translator.get_tags, project)

    def named(choice: Choice) -> frozenset[str]:
        if isinstance(choice, AssetSelection):
            return _resolved(specs(), choice)
        try:
            return choosing.chosen_models(project.outline, [choice] if isinstance(choice, str) else choice, tags)
        except StrataError as error:
            raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None

    wanted = frozenset({*project.outline.models, *project.outline.broken}) if select is None else named(select)
    return wanted - named(exclude)


def _resolved(specs: Mapping[str, AssetSpec], selection: AssetSelection) -> frozenset[str]:
    """Dagster's own selection, of the graph of models alone."""
    if not specs:
        return frozenset()
    with quietly():
        models = multi_asset(name="models", specs=list(specs.values()), can_subset=True)(lambda: None)
        keys = selection.resolve([models])
    by_key: dict[AssetKey, str] = {spec.key: name for name, spec in specs.items()}
    return frozenset(by_key[key] for key in keys if key in by_key)
