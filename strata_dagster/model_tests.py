"""The `test` blocks of a project as checks of its models: unit tests, and expectations of what is published.

One check of each kind for a model that has some. Both tell what `strata test` tells, and run alone too: unit tests
bring their own rows, and need neither data nor a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    MetadataValue,
)

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.diagnostics.listing import headline
from strata_core.diagnostics.wording import plural
from strata_core.planning.kept.outline import ModelOutline
from strata_core.planning.project import Project, compile_

from .checks import EXPECTATIONS, UNIT_TESTS
from .findings import fenced
from .names import MODEL

if TYPE_CHECKING:  # a code location loads neither the store nor what contracts are checked with
    from .pins import Metadatum


def test_specs(asset: AssetKey, model: ModelOutline, *, block: bool) -> Iterator[AssetCheckSpec]:
    """The checks of the `test` blocks of `model`. Those that `block` keep it from being applied where they fail."""
    if model.unit_tests:
        means = "Where one fails, the model is not applied." if block else "A failure keeps nothing from going live."
        told = f"{plural(model.unit_tests, 'unit test')}: rows in, rows out, without any data. {means}"
        yield AssetCheckSpec(UNIT_TESTS, asset=asset, blocking=block, description=told)
    if model.expectations:
        told = f"{plural(model.expectations, 'expectation')} of `test` blocks, asked of what is live."
        yield AssetCheckSpec(EXPECTATIONS, asset=asset, description=told)


def selected_tests(context: AssetExecutionContext, name: str) -> dict[str, AssetKey]:
    """The models whose check called `name` a run selects, each with its key."""
    chosen = context.selected_asset_check_keys
    specs = (s for s in context.assets_def.specs if MODEL in s.metadata and AssetCheckKey(s.key, name) in chosen)
    return {str(spec.metadata[MODEL]): spec.key for spec in specs}


@dataclass(frozen=True, slots=True)
class UnitTests:
    """The result of the unit tests of `model`, whose asset is `asset`, and what was `found` wrong."""

    model: str
    asset: AssetKey
    result: AssetCheckResult
    found: tuple[Diagnostic, ...]


def unit_tested(project: Project, models: Mapping[str, AssetKey]) -> Iterator[UnitTests]:
    """The result of the unit tests of each of `models`, by the engine that is their meaning."""
    if not models:
        return
    from strata_core.planning.engines import named_engine
    from strata_core.planning.unit_tests import run_unit_tests

    for name, key in models.items():
        try:
            ran = run_unit_tests(compile_(project), named_engine(project, "reference"), [name])
        except StrataError as error:
            yield UnitTests(name, key, _unasked(key, UNIT_TESTS, error.diagnostics, project), error.diagnostics)
            continue
        broken = [u for u in ran if u.violations]
        found = tuple(d for u in broken for d in u.violations)
        yield UnitTests(name, key, _result(key, UNIT_TESTS, len(ran), len(broken), "unit test", found, project), found)


def expected(project: Project, environment: str, models: Mapping[str, AssetKey]) -> Iterator[AssetCheckResult]:
    """The result of the expectations of each of `models` on what is live in `environment`."""
    if not models:
        return
    from strata_core.planning.testing import run_tests
    from strata_core.planning.workspace import open_workspace

    for name, key in models.items():
        try:
            workspace = open_workspace(project, environment, compile_(project), write=False)
            asked = run_tests(workspace, workspace.engine(), [name])
        except StrataError as error:
            yield _unasked(key, EXPECTATIONS, error.diagnostics, project)
            continue
        found = [t.violation for t in asked if t.violation is not None]
        yield _result(key, EXPECTATIONS, len(asked), len(found), "expectation", found, project)


def _result(
    key: AssetKey, name: str, asked: int, broken: int, what: str, found: Collection[Diagnostic], project: Project
) -> AssetCheckResult:
    metadata: dict[str, Metadatum] = {"asked": asked, "failed": broken}
    if found:
        metadata["findings"] = MetadataValue.md(fenced(found, project))
    text = f"{broken:,} of {plural(asked, what)} failed" if broken else f"{plural(asked, what)} passed"
    told = f"{text}: {headline([*found])}" if found else text
    return AssetCheckResult(passed=not broken, asset_key=key, check_name=name, metadata=metadata, description=told)


def _unasked(key: AssetKey, name: str, found: Iterable[Diagnostic], project: Project | None) -> AssetCheckResult:
    """A check that cannot be asked: the project does not compile, nothing is published. It warns."""
    found = tuple(found)
    return AssetCheckResult(
        passed=False,
        asset_key=key,
        check_name=name,
        severity=AssetCheckSeverity.WARN,
        metadata={"findings": MetadataValue.md(fenced(found, project))},
        description=f"not asked: {headline(found)}",
    )


def untested(context: AssetExecutionContext, found: Iterable[Diagnostic]) -> Iterator[AssetCheckResult]:
    """The selected checks where the project cannot even be opened."""
    diagnostics = tuple(found)
    for name in (UNIT_TESTS, EXPECTATIONS):
        yield from (_unasked(key, name, diagnostics, None) for key in selected_tests(context, name).values())
