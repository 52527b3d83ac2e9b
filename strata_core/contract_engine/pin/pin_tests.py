"""The blocking tests of products as part of the write pin of Strata's models (Seed 0 §5 C; Seed 2, "Evaluate Tests").

Those are SQL and expectations of severity `blocking`, of each product that has the model among the assets that the test
reads. A test of dbt's is about tables of dbt's, and of other severities a failure keeps nothing back: their results are
recorded of what is live. A contract that does not pass validation refuses the models that its blocking tests read, as
it refuses rows of a guarded table: what cannot be asked is not known to hold.

Where no contract has a blocking test of what is stale, nothing is read but what `covered` keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from pathlib import Path

from ...diagnostics import Diagnostic, Severity, Span
from ...diagnostics.listing import listed
from ...planning.applying.blocking_tests import NO_TESTS, BlockingTest, BlockingTests
from ...planning.applying.results import AskedTest
from ...planning.config import ProjectConfig
from ...planning.inputs.reachable import ReachableTables
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ..authored import DbtTest
from ..collation.candidate import Candidate
from ..pipeline import Checked, examine, open_setting
from ..serving.observe import SeenTest
from ..serving.observed import moment
from .covering import Covered, covered

MOST_FAULTS = 3
"""Findings of a contract that a message names."""


def pin_tests(root: Path, environment: str, models: Set[str]) -> BlockingTests:
    """The blocking tests that read any of `models`. Raises `StrataError` E073."""
    setting = open_setting(root)
    products = {c.product for c in _asking(covered(setting)) if not models.isdisjoint(c.names)}
    if not products:
        return NO_TESTS
    checked = examine(setting)
    found = {c.id: c for c in checked.collated.candidates if c.sound and c.id in products}
    tests = (one for c in found.values() for one in _of_product(c, checked))
    return BlockingTests(
        tuple(t for t in tests if not models.isdisjoint(t.models)), partial(_ask, checked, found, environment)
    )


def _asking(known: tuple[Covered, ...]) -> Iterator[Covered]:
    """The assets of products that have blocking tests: a query may read others than the one that it is listed with."""
    asking = {test.product for c in known for test in c.tests if test.severity == "blocking" and test.kind != "dbt"}
    return (c for c in known if c.product in asking)


def _of_product(candidate: Candidate, checked: Checked) -> Iterator[BlockingTest]:
    from ..execution.run import model_of, tables_read

    found = {c.id: c for c in checked.collated.candidates if c.sound}
    sound = checked.validated.passed(candidate)

    def models(tables: Iterable[tuple[str, str]]) -> frozenset[str]:
        assets = (
            a for product, id_ in tables if product in found for a in found[product].contract.assets if a.id == id_
        )
        return frozenset(name for asset in assets if (name := model_of(asset)) is not None)

    for test in candidate.contract.tests:
        if isinstance(test, DbtTest) or test.severity != "blocking":
            continue
        # What a query reads is known where it is one. Of a contract that is at fault, any of its assets may be meant.
        ids = [test.asset] if test.asset is not None else [a.id for a in candidate.contract.assets]
        read = tables_read(candidate.contract, test) if sound else frozenset((candidate.id, id_) for id_ in ids)
        if own := models(table for table in read if table[0] == candidate.id):
            yield BlockingTest(candidate.id, test.id, own, models(read))


def _ask(
    checked: Checked,
    products: Mapping[str, Candidate],
    environment: str,
    test: BlockingTest,
    candidates: Mapping[str, Artifact],
    live: EnvironmentVersion,
) -> AskedTest:
    candidate = products[test.product]
    if not checked.validated.passed(candidate):
        fault = _unusable(candidate, test.id, checked)
        return AskedTest(test.product, test.id, "error", None, None, "its contract is at fault", fault, test.reads)
    from ..execution.run import run_tests

    setting = checked.setting
    tables = ReachableTables(setting.root, setting.config, environment, candidates=candidates, live=live)
    (seen,) = run_tests(checked, tables, moment(), only={(test.product, test.id)}).tests
    finding: Diagnostic | None = None
    if seen.outcome in FAILING:
        finding = failure(seen, place_of(candidate, test.id))
    elif seen.outcome != "passed":
        finding = _not_asked(seen, candidate, setting.config)
    return AskedTest(test.product, test.id, seen.outcome, seen.at, seen.offenders, seen.message, finding, test.reads)


FAILING = ("failed", "error")
"""The outcomes of a test that does not hold, or that could not be asked to its end."""


def failure(seen: SeenTest, place: Span | None) -> Diagnostic:
    """E144: a blocking test of a product does not hold on rows that would go live."""
    told = f": {seen.message}" if seen.message else ""
    message = f"the blocking test `{seen.test}` of `{seen.product}` does not hold{told}"
    return Diagnostic("E144", message, place, fix="repair the rows where they are made, or change the test")


def place_of(candidate: Candidate, test: str) -> Span:
    """Where a test of a contract is written."""
    position = next(i for i, t in enumerate(candidate.contract.tests) if t.id == test)
    return candidate.span(("tests", position, "id"))


def _not_asked(seen: SeenTest, candidate: Candidate, config: ProjectConfig) -> Diagnostic:
    blocks = config.contract_engine.unsupported_executors == "error"
    message = f"the blocking test `{seen.test}` of `{seen.product}` could not be asked: {seen.message}"
    fix = "bring its tables into reach; `[contract_engine] unsupported_executors` says whether this blocks"
    severity = Severity.ERROR if blocks else Severity.WARNING
    return Diagnostic("E143", message, place_of(candidate, seen.test), severity, fix=fix)


def _unusable(candidate: Candidate, test: str, checked: Checked) -> Diagnostic:
    faults = [f"{d.code} {d.message} ({d.span})" for d in checked.blocking(candidate)]
    message = f"the blocking test `{test}` of `{candidate.id}` cannot be asked: its contract does not pass validation"
    fix = "repair the contract; `contract-engine validate` says what is wrong"
    return Diagnostic("E144", message, place_of(candidate, test), fix=fix, notes=(listed(faults, MOST_FAULTS),))
