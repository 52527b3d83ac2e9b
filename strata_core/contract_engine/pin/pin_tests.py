"""The blocking tests of products as part of the write pin of Strata's models (Seed 0 §5 C; Seed 2, "Evaluate Tests").

Those are SQL and expectations of severity `blocking`, of each product that has the model among the assets that the test
reads. A test of dbt's is about tables of dbt's, and of other severities a failure keeps nothing back: their results are
recorded of what is live. A contract that does not pass validation refuses the models that its blocking tests read, as
it refuses rows of a guarded table: what cannot be asked is not known to hold (`unusable`).

Where no contract has a blocking test of what is stale, nothing is read but what is kept of the whole project.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from pathlib import Path

from ...diagnostics import Diagnostic, Severity, Span
from ...digests import hexdigest
from ...frozen import dataclass, replace
from ...planning import cache
from ...planning.applying.blocking_tests import NO_TESTS, BlockingTest, BlockingTests
from ...planning.applying.results import AskedTest
from ...planning.config import ProjectConfig
from ...planning.inputs.reachable import ReachableTables
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ..authored import Asset
from ..authored_tests import DbtTest, Test
from ..collation.candidate import Candidate
from ..discover import discover
from ..observations import SeenTest, utc_now
from ..pipeline import Checked, Setting, examine, open_setting, outcome_key
from .unusable import Refused, not_known, refused, unknown_models, unread_files


@dataclass(frozen=True, slots=True)
class Pinned:
    """What the contracts of a project ask of rows before these go live. `tables` are the names of the assets of each
    product whose blocking tests can be asked, `refused` the tests that cannot. `unread` tells of files whose tests
    nobody knows, and of assets that are no models (E143)."""

    tables: Mapping[str, frozenset[str]]
    refused: tuple[Refused, ...]
    unread: tuple[Diagnostic, ...]


def pin_tests(root: Path, environment: str, models: Set[str], guarded: Set[str] = frozenset()) -> BlockingTests:
    """The blocking tests that read any of `models`, or of the `guarded` tables that go live with them. Raises
    `StrataError` E073."""
    setting = open_setting(root)
    pinned, checked = _pinned(setting)
    wanted = {*models, *guarded}
    products = {product for product, names in pinned.tables.items() if not names.isdisjoint(wanted)}
    refused = [r for r in pinned.refused if not wanted.isdisjoint(r.models)]
    if not products and not refused:
        return replace(NO_TESTS, unread=pinned.unread) if pinned.unread else NO_TESTS
    found: dict[str, Candidate] = {}
    if products:
        checked = checked or examine(setting)
        found = {product: checked.collated.by_id[product] for product in products}
    tests = (one for c in found.values() if checked is not None for one in _of_product(c, checked, guarded))
    asked = tuple(t for t in tests if not wanted.isdisjoint(t.models))
    # Each model by itself: what cannot be asked needs no other table to be there.
    closed = tuple(
        BlockingTest(r.product, r.test, frozenset({m}), frozenset({m}), hexdigest(r.finding.message, *r.finding.notes))
        for r in refused
        for m in r.models
    )
    findings = {(r.product, r.test): r.finding for r in refused}
    ask = partial(_ask, checked, found, findings, environment)
    return BlockingTests((*asked, *closed), ask, pinned.unread, tuple(findings.values()))


def _pinned(setting: Setting) -> tuple[Pinned, Checked | None]:
    """What is kept of an unchanged project; with the whole check, where that had to be made."""
    inventory = discover(setting.tree, setting.config, setting.root)
    key = outcome_key(setting, inventory, "pinned")
    kept = cache.load(key)
    if isinstance(kept, Pinned):
        return kept, None
    checked = examine(setting, inventory)
    passing = [c for c in checked.collated.candidates if checked.usable(c)]
    tables = {c.id: frozenset(_names(c)) for c in passing if _asks(c)}
    unread = unread_files(checked)
    told = (*not_known(unread), *unknown_models(checked))
    pinned = Pinned(tables, tuple(refused(checked, unread)), told)
    cache.save(key, pinned)
    return pinned, checked


def _asks(candidate: Candidate) -> bool:
    return any(t.severity == "blocking" and not isinstance(t, DbtTest) for t in candidate.contract.tests)


def _names(candidate: Candidate) -> Iterator[str]:
    """The names that the tables of a product may have in the store."""
    for asset in candidate.contract.assets:
        yield from (*asset.names, *asset.stored)


def _of_product(candidate: Candidate, checked: Checked, guarded: Set[str]) -> Iterator[BlockingTest]:
    from ..execution.run import tables_read

    found = {c.id: c for c in checked.collated.candidates if c.sound}

    def models(tables: Iterable[tuple[str, str]]) -> frozenset[str]:
        assets = (
            a for product, id_ in tables if product in found for a in found[product].contract.assets if a.id == id_
        )
        names = (asset.model or _guarded(asset, guarded) for asset in assets)
        return frozenset(name for name in names if name is not None)

    for test in candidate.contract.tests:
        if isinstance(test, DbtTest) or test.severity != "blocking":
            continue
        read = tables_read(candidate.contract, test)
        if own := models(table for table in read if table[0] == candidate.id):
            yield BlockingTest(candidate.id, test.id, own, models(read), _meaning(candidate, test, checked))


def _meaning(candidate: Candidate, test: Test, checked: Checked) -> str:
    """A digest of what a test asks: its text, the tables that it may read, and what becomes of it if it cannot."""
    assets = candidate.contract.assets
    tables = [(a.id, a.kind, a.ref, a.location, [(c.name, c.type) for c in a.columns]) for a in assets]
    return hexdigest(repr(test), repr(tables), checked.setting.config.contract_engine.unsupported_executors)


def _guarded(asset: Asset, guarded: Set[str]) -> str | None:
    """The table among `guarded` that the rows of an asset are kept as."""
    return asset.table if asset.table in guarded else None


def _ask(
    checked: Checked | None,
    products: Mapping[str, Candidate],
    refused: Mapping[tuple[str, str], Diagnostic],
    environment: str,
    test: BlockingTest,
    candidates: Mapping[str, Artifact],
    live: EnvironmentVersion,
) -> AskedTest:
    if fault := refused.get((test.product, test.id)):
        return AskedTest(test.product, test.id, "error", None, None, "its contract is at fault", fault, test.reads)
    assert checked is not None, "what is asked was found in a check"
    from ..execution.run import run_tests

    candidate, setting = products[test.product], checked.setting
    tables = ReachableTables(setting.root, setting.config, environment, candidates=candidates, live=live)
    # Who makes the rows of a guarded table has them elsewhere; these are the ones that would go live.
    rows = {
        (candidate.id, asset.id): tables.model(name)
        for asset in candidate.contract.assets
        if asset.model is None and (name := _guarded(asset, test.models & candidates.keys())) is not None
    }
    (seen,) = run_tests(checked, tables, utc_now(), only={(test.product, test.id)}, rows=rows).tests
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
