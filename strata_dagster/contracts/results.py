"""Tests of product contracts as asset checks, and the age of what is live: what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    MetadataValue,
)

from strata_core.contract.freshness import clock_note
from strata_core.contract.rules import rough_age, spelled_age
from strata_core.contract_engine.observations import SeenTest
from strata_core.contract_engine.pin.covering import covered
from strata_core.contract_engine.pipeline import Checked, Setting, examine, open_setting
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning.applying.results import AskedTest, ModelResult
from strata_core.planning.inputs.reachable import ReachableTables

from ..checks import WRITE_PIN
from ..findings import list_of
from ..pins import PUBLISHED, Metadatum
from .contract_check import ContractCheck, contract_check, contract_tests


def _asked(spec: AssetCheckSpec) -> ContractCheck:
    found = contract_check(spec)
    assert found is not None, f"{spec.name} is no check of a contract"
    return found


def result_of(spec: AssetCheckSpec, seen: SeenTest | None) -> AssetCheckResult:
    """The result of the test that `spec` is of, by what its severity means; without `seen` it was not asked. Of an
    experimental test only that it was run is for everybody (Seed 2, "Evaluate Tests")."""
    key, name, severity = spec.asset_key, spec.name, _asked(spec).severity
    outcome = seen.outcome if seen is not None else "not_run"
    metadata: dict[str, Metadatum] = {"severity": severity}
    if severity == "experimental":
        told = "experimental: its result is for the owners, in the runtime view"
        return AssetCheckResult(passed=True, asset_key=key, check_name=name, metadata=metadata, description=told)
    metadata["outcome"] = outcome
    if seen is not None and seen.offenders is not None:
        metadata["offenders"] = seen.offenders
    if seen is not None and seen.at is not None:
        metadata["at"] = seen.at
    message = f": {seen.message}" if seen is not None and seen.message else ""
    failed = outcome in ("failed", "error")
    return AssetCheckResult(
        passed=outcome == "passed",
        asset_key=key,
        check_name=name,
        severity=AssetCheckSeverity.ERROR if failed and severity == "blocking" else AssetCheckSeverity.WARN,
        metadata=metadata,
        description=f"{severity}: {outcome.replace('_', ' ')}{message}",
    )


def unasked(spec: AssetCheckSpec, diagnostics: Iterable[Diagnostic]) -> AssetCheckResult:
    """A check of ours that cannot be asked: the project, the store or the contract is not sound. It fails."""
    blocking = spec.blocking or spec.name == WRITE_PIN
    return AssetCheckResult(
        passed=False,
        asset_key=spec.asset_key,
        check_name=spec.name,
        severity=AssetCheckSeverity.ERROR if blocking else AssetCheckSeverity.WARN,
        description="not asked: the project, its store or its contract cannot be used",
        metadata={"findings": MetadataValue.md(list_of(diagnostics))},
    )


@dataclass(frozen=True, slots=True)
class Asking:
    """Everything that tests are asked with: the contracts of the project and the tables in reach."""

    setting: Setting
    checked: Checked
    tables: ReachableTables
    environment: str

    @classmethod
    def of(cls, root: Path, environment: str) -> Asking:
        """Raises `StrataError` where the project cannot be opened."""
        setting = open_setting(root)
        return cls(setting, examine(setting), ReachableTables(setting.root, setting.config, environment), environment)


def selected_specs(context: AssetExecutionContext) -> list[AssetCheckSpec]:
    """The selected checks of the op that are tests of contracts or ages."""
    chosen: set[AssetCheckKey] = set(context.selected_asset_check_keys)
    return [s for s in context.assets_def.check_specs if s.key in chosen and contract_check(s) is not None]


def blocks(result: AssetCheckResult) -> bool:
    """Whether a result keeps what is downstream from running."""
    return not result.passed and result.severity is AssetCheckSeverity.ERROR


def told_of_tests(results: Sequence[AssetCheckResult]) -> str:
    """A run's failure by blocking tests of what is live."""
    lines = (f"  {r.asset_key.to_user_string()} {r.check_name}: {r.description}" for r in results if r.asset_key)
    return "\n".join(("blocking tests of contracts fail:", *lines))


@dataclass(frozen=True, slots=True)
class AtThePin:
    """What blocking tests gave on the candidates of an apply: on those that are live since, and on those that it
    refused. `stays` says what readers have in their place."""

    published: Mapping[tuple[str, str], AskedTest] = field(default_factory=dict)
    refused: Mapping[tuple[str, str], AskedTest] = field(default_factory=dict)
    stays: str = ""

    @classmethod
    def of(cls, results: Iterable[ModelResult], published: Set[str], stays: str) -> AtThePin:
        """Of the models that an apply was for; `published` names those whose candidates are live."""
        known = [(r, (t.product, t.test), t) for r in results for t in r.tests]
        live = {test: t for r, test, t in known if r.name in published and t.outcome == "passed"}
        refused = {test: t for r, test, t in known if r.name not in published and t.blocks}
        return cls({test: t for test, t in live.items() if test not in refused}, refused, stays)


NOT_APPLIED = AtThePin()


def answered(
    specs: Sequence[AssetCheckSpec], root: Path, environment: str, pinned: AtThePin = NOT_APPLIED
) -> Iterator[AssetCheckResult]:
    """The result of each check in `specs`: what it gave at the pin, else asked of what is there now. Every one is
    told."""
    known = {spec.key: result for spec in specs if (result := _at_the_pin(spec, pinned)) is not None}
    yield from known.values()
    specs = [spec for spec in specs if spec.key not in known]
    if not specs:
        return
    from strata_core.contract_engine.execution.latest import latest_results

    try:
        asking = Asking.of(root, environment)
        only = {check.key for _, check in contract_tests(specs)}
        seen = latest_results(asking.checked, asking.tables, datetime.now(UTC), only)
    except StrataError as error:
        yield from (unasked(spec, error.diagnostics) for spec in specs)
        return
    for spec in specs:
        yield from _answer(spec, asking, seen)


def _at_the_pin(spec: AssetCheckSpec, pinned: AtThePin) -> AssetCheckResult | None:
    """What a blocking test gave at the pin; None where it was not asked there, or not of what is live."""
    test = _asked(spec).key
    asked = pinned.refused.get(test) or pinned.published.get(test)
    if asked is None:
        return None
    result = result_of(spec, SeenTest(*test, asked.outcome, asked.at, asked.offenders, asked.message))
    if asked.blocks:
        text, severity = f"{result.description}: not published; {pinned.stays}", AssetCheckSeverity.ERROR
    else:
        text, severity = f"{result.description}, before the rows went live", result.severity
    return AssetCheckResult(
        passed=result.passed,
        asset_key=spec.asset_key,
        check_name=spec.name,
        severity=severity,
        metadata={**(result.metadata or {}), PUBLISHED: not asked.blocks},
        description=text,
    )


def _answer(
    spec: AssetCheckSpec, asking: Asking, seen: Mapping[tuple[str, str], SeenTest]
) -> Iterator[AssetCheckResult]:
    asked, checked = _asked(spec), asking.checked
    if asked.test is None:
        yield aged(spec, checked, asking.environment)
        return
    candidate = next((c for c in checked.collated.candidates if c.id == asked.product), None)
    if candidate is None or not checked.validated.passed(candidate):
        yield unasked(spec, checked.blocking(candidate) if candidate is not None else ())
        return
    yield result_of(spec, seen.get(asked.key))


def aged(spec: AssetCheckSpec, checked: Checked, environment: str) -> AssetCheckResult:
    """The age of what is live, against what the contract promises: late warns, as it degrades the product."""
    from strata_core.contract_engine.serving.ages import age_of

    asked = _asked(spec)
    known = covered(checked.setting)
    found = next((c for c in known if (c.product, c.asset) == (asked.product, asked.asset)), None)
    try:
        age = age_of(checked, found, environment, datetime.now(UTC)) if found is not None else None
    except StrataError as error:
        return unasked(spec, error.diagnostics)
    if age is None:
        return _age_result(spec, False, "the contract promises no freshness any more", {})
    metadata: dict[str, Metadatum] = {"max_age_seconds": int(age.max_age.total_seconds())}
    if age.age is None or age.latest is None:
        return _age_result(spec, False, f"nothing is known of its age: nothing is live in {environment}", metadata)
    metadata |= {"age_seconds": int(age.age.total_seconds()), "latest": MetadataValue.timestamp(age.latest)}
    note = clock_note(age.latest, age.now) if found is not None and found.dated is None else ""
    text = f"{rough_age(age.age)} old{note}, promised is at most {spelled_age(age.max_age)}"
    return _age_result(spec, age.state == "fresh", text, metadata)


def _age_result(
    spec: AssetCheckSpec, passed: bool, description: str, metadata: Mapping[str, Metadatum]
) -> AssetCheckResult:
    return AssetCheckResult(
        passed=passed,
        asset_key=spec.asset_key,
        check_name=spec.name,
        severity=AssetCheckSeverity.WARN,
        description=description,
        metadata=metadata,
    )
