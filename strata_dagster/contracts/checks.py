"""Tests of product contracts as asset checks, and the age of what is live: how they are defined.

Severities map as Seed 2 has them: a blocking test is a blocking check, an error where it fails; one of any other
severity warns. A degrading one makes the product's status degraded (contract engine), an informational one is recorded
and no more, the result of an experimental one is for the owners, whom its metadata names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from dagster import AssetCheckSpec, AssetKey, AssetSpec, DagsterInvalidDefinitionError, FreshnessPolicy

from strata_core.diagnostics import StrataError
from strata_core.planning.config import has_contract_folders

from ..checks import EXPECTATIONS, LAST_KNOWN_GOOD, UNIT_TESTS, WRITE_PIN, free_name, plain_name
from ..findings import findings
from ..names import MODEL
from ..project import StrataProject, quietly
from .contract_check import ContractCheck

if TYPE_CHECKING:  # a project without contracts does without the contract engine
    from strata_core.contract_engine.pin.covering import Covered, CoveredTest

FRESHNESS = "freshness"
"""The check of an asset's age."""
OF_MODELS = ("strata_model", "dagster_asset")
"""The kinds of a product's asset that a model of Strata may be."""
OWN = (WRITE_PIN, LAST_KNOWN_GOOD, FRESHNESS, UNIT_TESTS, EXPECTATIONS)
BLOCKS_AFTERWARDS = "Where it fails, nothing downstream runs."
"""What a blocking test of dbt's means: its result is dbt's, and known when dbt has run it."""
MEANS = {
    "blocking": "Rows that break it do not go live, and nothing downstream runs.",
    "degrading": "Where it fails, the product's status is degraded.",
    "informational": "It is recorded, and blocks or degrades nothing.",
    "experimental": "It is recorded for the owners of the product, and blocks or degrades nothing.",
}


def covers_of(project: StrataProject) -> tuple[Covered, ...]:
    """What the product contracts of `project` cover; nothing where it has none. Raises `DagsterInvalidDefinitionError`
    where `strata.toml` is at fault."""
    if not has_contract_folders(project.root, project.opened.config):
        return ()
    from strata_core.contract_engine.pin.covering import covered
    from strata_core.contract_engine.pipeline import open_setting

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
    plain = Counter(plain_name(test.id) for _, test in tests)
    specs: list[AssetCheckSpec] = []
    for cover, test in tests:
        name = plain_name(test.id)
        if plain[name] > 1 or name in taken or name in OWN:
            name = f"{plain_name(test.product)}__{name}"
        name = free_name(name, {spec.name for spec in specs})
        specs.append(
            AssetCheckSpec(
                name,
                asset=asset,
                blocking=test.severity == "blocking",
                description=_described(test),
                metadata=ContractCheck(
                    test.product, cover.asset, test.id, test.severity, tuple(test.visible_to)
                ).metadata(),
            )
        )
    aged = next((c for c in covers if c.max_age is not None), None)
    if aged is not None and aged.max_age is not None:
        from strata_core.contract.rules import spelled_age

        of = f"The latest `{aged.dated}`" if aged.dated else "What is live"
        text = f"{of} is at most {spelled_age(aged.max_age)} old, as the contract of `{aged.product}` promises. "
        text += "Its age is that of the last execution"
        if freshness_policy(covers) is not None:
            text += ": the freshness policy goes on counting"
        elif aged.dated is None:
            text += ", and nothing goes on counting: Dagster's freshness policies are of a minute at least"
        text += "."
        metadata = ContractCheck(aged.product, aged.asset).metadata()
        specs.append(AssetCheckSpec(FRESHNESS, asset=asset, description=text, metadata=metadata))
    return specs


LEAST_WINDOW = timedelta(minutes=1)
"""Of Dagster's freshness policies."""


def freshness_policy(covers: Sequence[Covered]) -> FreshnessPolicy | None:
    """Dagster's policy for a freshness of runs; one of values is a check's matter."""
    aged = next((c for c in covers if c.max_age is not None and c.dated is None), None)
    if aged is None or aged.max_age is None or aged.max_age < LEAST_WINDOW:
        return None
    return FreshnessPolicy.time_window(fail_window=aged.max_age)


def _described(test: CoveredTest) -> str:
    said = f"{test.description.rstrip('.')}. " if test.description else ""
    means = BLOCKS_AFTERWARDS if test.kind == "dbt" and test.severity == "blocking" else MEANS[test.severity]
    article = "An" if test.severity[0] in "aeiou" else "A"
    return f"{said}{article} {test.severity} test of `{test.product}`. {means}"


@dataclass(frozen=True, slots=True)
class Promised:
    """Models with what product contracts promise of them: their specs, and the further checks of each."""

    specs: list[AssetSpec]
    checks: Mapping[AssetKey, list[AssetCheckSpec]]


def promised_of(project: StrataProject, specs: list[AssetSpec]) -> Promised:
    """The models of `specs` with the tests of the product contracts that cover them, and their freshness as Dagster's
    policy where a spec has none."""
    known = [c for c in covers_of(project) if c.kind in OF_MODELS]
    found = {spec.key: covering(known, (str(spec.metadata[MODEL]),)) for spec in specs} if known else {}
    checks = {key: checks_about(key, covers, ()) for key, covers in found.items() if covers}
    policies = {key: policy for key, covers in found.items() if (policy := freshness_policy(covers)) is not None}
    with quietly():
        made = [
            spec.replace_attributes(freshness_policy=policies[spec.key])
            if spec.key in policies and spec.freshness_policy is None
            else spec
            for spec in specs
        ]
    return Promised(made, checks)
