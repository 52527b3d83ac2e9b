"""Tests of product contracts as asset checks, and the age of what is live: their specs, and what came of them.

Severities map as Seed 2 has them: a blocking test is a blocking check, an error where it fails; one of any other
severity warns. A degrading one makes the product's status degraded (contract engine), an informational one is recorded
and no more, an experimental one is recorded for its owners, whom its metadata names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    DagsterInvalidDefinitionError,
    FreshnessPolicy,
    MetadataValue,
)

from strata_core.contract.rules import spelled_age
from strata_core.contract_engine.covering import Covered, CoveredTest, covered
from strata_core.contract_engine.observe import SeenTest
from strata_core.contract_engine.pipeline import Checked, Setting, examine, open_setting
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning.reachable import ReachableTables

from .events import Metadatum, list_of
from .project import StrataProject, findings

PRODUCT, ASSET, TEST, SEVERITY = "strata/product", "strata/asset", "strata/test", "strata/severity"
"""Metadata of a check: the product and its asset, the test and its severity."""
VISIBLE_TO = "strata/visible_to"
"""Metadata of an experimental test's check: who is meant to look at it."""
FRESHNESS = "freshness"
"""The check of an asset's age."""
OWN = ("write_pin", "last_known_good", FRESHNESS)
MEANS = {
    "blocking": "It blocks what is downstream.",
    "degrading": "Where it fails, the product's status is degraded.",
    "informational": "It is recorded, and blocks or degrades nothing.",
    "experimental": "It is recorded for the owners of the product, and blocks or degrades nothing.",
}


def covers_of(project: StrataProject) -> tuple[Covered, ...]:
    """What the product contracts of `project` cover; nothing where it has none. Raises `DagsterInvalidDefinitionError`
    where `strata.toml` is at fault."""
    folders = [project.root / folder for folder in project.opened.config.contracts]
    if not any(folder.is_dir() for folder in folders):
        return ()
    try:
        return covered(open_setting(project.root))
    except StrataError as error:
        raise DagsterInvalidDefinitionError(findings(error.diagnostics, None)) from None


def covering(known: Iterable[Covered], names: Collection[str]) -> tuple[Covered, ...]:
    """The assets of products that a table of one of `names` is."""
    return tuple(c for c in known if not set(names).isdisjoint(c.names))


def checks_about(asset: AssetKey, covers: Sequence[Covered], taken: Collection[str]) -> list[AssetCheckSpec]:
    """A check for each test about `asset`, and one for its age where a contract promises a freshness.

    A check is called as its test is; where two would have one name (`taken` are others of the asset), the product's
    name stands before it.
    """
    tests = [(cover, test) for cover in covers for test in cover.tests]
    plain = Counter(_name(test.id) for _, test in tests)
    specs = []
    for cover, test in tests:
        name = _name(test.id)
        if plain[name] > 1 or name in taken or name in OWN:
            name = f"{_name(test.product)}__{name}"
        specs.append(
            AssetCheckSpec(
                name,
                asset=asset,
                blocking=test.severity == "blocking",
                description=_described(test),
                metadata={
                    PRODUCT: test.product,
                    ASSET: cover.asset,
                    TEST: test.id,
                    SEVERITY: test.severity,
                    **({VISIBLE_TO: ", ".join(test.visible_to)} if test.visible_to else {}),
                },
            )
        )
    aged = next((c for c in covers if c.max_age is not None), None)
    if aged is not None and aged.max_age is not None:
        of = f"The latest `{aged.dated}`" if aged.dated else "What is live"
        text = f"{of} is at most {spelled_age(aged.max_age)} old, as the contract of `{aged.product}` promises."
        specs.append(
            AssetCheckSpec(
                FRESHNESS, asset=asset, description=text, metadata={PRODUCT: aged.product, ASSET: aged.asset}
            )
        )
    return specs


def freshness_policy(covers: Sequence[Covered]) -> FreshnessPolicy | None:
    """Dagster's policy for a freshness of runs; one of values is a check's matter."""
    aged = next((c for c in covers if c.max_age is not None and c.dated is None), None)
    if aged is None or aged.max_age is None or aged.max_age.total_seconds() <= 60:  # Dagster counts in minutes
        return None
    return FreshnessPolicy.time_window(fail_window=aged.max_age)


def _name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def _described(test: CoveredTest) -> str:
    said = f"{test.description.rstrip('.')}. " if test.description else ""
    return f"{said}A {test.severity} test of `{test.product}`. {MEANS[test.severity]}"


def result_of(spec: AssetCheckSpec, seen: SeenTest | None) -> AssetCheckResult:
    """What came of the test that `spec` is of; without a result it was not asked."""
    severity = str((spec.metadata or {})[SEVERITY])
    outcome = seen.outcome if seen is not None else "not_run"
    message = seen.message if seen is not None else None
    asked = outcome in ("passed", "failed", "error")
    metadata: dict[str, Metadatum] = {"outcome": outcome, "severity": severity, **_told(spec, seen)}
    text = {"passed": "no row is wrong", "failed": "fails", "error": "cannot be answered"}.get(outcome, "not asked")
    recorded = "" if severity in ("blocking", "degrading") or outcome == "passed" else f" (recorded: {severity})"
    return AssetCheckResult(
        passed=outcome == "passed",
        asset_key=spec.asset_key,
        check_name=spec.name,
        severity=AssetCheckSeverity.ERROR if severity == "blocking" and asked else AssetCheckSeverity.WARN,
        description=f"{text}: {message}{recorded}" if message else f"{text}{recorded}",
        metadata=metadata,
    )


def _told(spec: AssetCheckSpec, seen: SeenTest | None) -> dict[str, Metadatum]:
    given = spec.metadata or {}
    told: dict[str, Metadatum] = {"product": str(given[PRODUCT])}
    if VISIBLE_TO in given:
        told["visible_to"] = str(given[VISIBLE_TO])
    if seen is not None and seen.offenders is not None:
        told["offenders"] = seen.offenders
    return told | ({"at": seen.at} if seen is not None and seen.at else {})


def unasked(spec: AssetCheckSpec, diagnostics: Iterable[Diagnostic]) -> AssetCheckResult:
    """A check of ours that cannot be asked: the project, the store or the contract is not sound. It fails."""
    blocking = spec.blocking or spec.name == "write_pin"
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
    return [s for s in context.assets_def.check_specs if s.key in chosen and PRODUCT in (s.metadata or {})]


def answered(specs: Sequence[AssetCheckSpec], root: Path, environment: str) -> Iterator[AssetCheckResult]:
    """The result of each check in `specs`, asked of what is there now. Every one is told."""
    if not specs:
        return
    from strata_core.contract_engine.execution.latest import latest_results

    try:
        asking = Asking.of(root, environment)
        only = {(str(s.metadata[PRODUCT]), str(s.metadata.get(TEST))) for s in specs if s.metadata}
        seen = latest_results(asking.checked, asking.tables, datetime.now(UTC), only)
    except StrataError as error:
        yield from (unasked(spec, error.diagnostics) for spec in specs)
        return
    for spec in specs:
        yield from _answer(spec, asking, seen)


def _answer(
    spec: AssetCheckSpec, asking: Asking, seen: Mapping[tuple[str, str], SeenTest]
) -> Iterator[AssetCheckResult]:
    given = spec.metadata or {}
    product = str(given[PRODUCT])
    if spec.name == FRESHNESS and TEST not in given:
        yield aged(spec, asking.setting, asking.environment)
        return
    checked = asking.checked
    candidate = next((c for c in checked.collated.candidates if c.id == product), None)
    if candidate is None or not checked.validated.passed(candidate):
        files = frozenset(candidate.inputs) if candidate else frozenset[str]()
        found = [d for d in checked.diagnostics if d.blocks and d.span is not None and d.span.file in files]
        yield unasked(spec, found)
        return
    yield result_of(spec, seen.get((product, str(given[TEST]))))


def aged(spec: AssetCheckSpec, setting: Setting, environment: str) -> AssetCheckResult:
    """The age of what is live, against what the contract promises: late warns, as it degrades the product."""
    from strata_core.contract_engine.ages import age_of

    given = spec.metadata or {}
    known = covered(setting)
    found = next((c for c in known if (c.product, c.asset) == (given[PRODUCT], given[ASSET])), None)
    age = age_of(setting, found, environment, datetime.now(UTC)) if found is not None else None
    if age is None:
        return _age_result(spec, False, "the contract promises no freshness any more", {})
    metadata: dict[str, Metadatum] = {"max_age_seconds": int(age.max_age.total_seconds())}
    if age.age is None or age.latest is None:
        return _age_result(spec, False, f"nothing is known of its age: nothing is live in {environment}", metadata)
    metadata |= {"age_seconds": int(age.age.total_seconds()), "latest": MetadataValue.timestamp(age.latest)}
    text = f"{spelled_age(age.age)} old, promised is at most {spelled_age(age.max_age)}"
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
