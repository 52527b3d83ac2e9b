"""Blocking tests of product contracts as part of the write pin: asked of candidates before these go live (Seed 0 §5 C;
Seed 2, "Evaluate Tests").

What the tests are, and how one is asked, is the contract engine's (`contract_engine/pin/`). Here stands when an
apply asks them: a test as soon as every table that it reads is what it would be once this publication is live. Tables
that are published together stand in for one another; what is not published stays what is live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

from ...diagnostics import Diagnostic, Severity
from ...frozen import dataclass, replace
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ..plan import Plan
from .results import AskedTest, ModelResult, PieceResult, Status


@dataclass(frozen=True, slots=True)
class BlockingTest:
    """A test of a product: `models` are those of the product's assets that it reads, whose candidates it may refuse;
    `reads` are all, as it may look into tables of other products. `meaning` is a digest of what it asks."""

    product: str
    id: str
    models: frozenset[str]
    reads: frozenset[str]
    meaning: str


Ask = Callable[[BlockingTest, Mapping[str, Artifact], EnvironmentVersion], AskedTest]


def _unasked(test: BlockingTest, candidates: Mapping[str, Artifact], live: EnvironmentVersion) -> AskedTest:
    raise AssertionError("there is no test to ask")


@dataclass(frozen=True, slots=True)
class BlockingTests:
    """The blocking tests that read some models. `ask` gives the verdict of one: `candidates` stand in for the tables
    that they would replace in the environment's version.

    `unread` tells of files whose tests nobody knows (E143, warnings); `refused` of the tests that cannot be asked,
    whatever the rows are (E144)."""

    tests: tuple[BlockingTest, ...] = ()
    ask: Ask = _unasked
    unread: tuple[Diagnostic, ...] = ()
    refused: tuple[Diagnostic, ...] = ()

    def of(self, model: str) -> tuple[BlockingTest, ...]:
        """Those that may refuse a candidate of `model`."""
        return tuple(t for t in self.tests if model in t.models)


NO_TESTS = BlockingTests()
Find = Callable[[Set[str], Set[str]], BlockingTests]
"""The blocking tests that may refuse candidates of the models of these names, and of these guarded tables."""


def no_tests(_models: Set[str], _guarded: Set[str]) -> BlockingTests:
    """Those of a project without contracts."""
    return NO_TESTS


def telling_of(plan: Plan, tests: BlockingTests) -> Plan:
    """`plan` with what is told of files whose tests nobody knows, as of its lints."""
    return replace(plan, lints=(*plan.lints, *tests.unread)) if tests.unread else plan


def judged(
    tests: BlockingTests,
    result: ModelResult,
    candidates: Mapping[str, Artifact],
    live: EnvironmentVersion,
    waiting: Set[str],
    coming: Set[str],
) -> ModelResult:
    """`result` with the verdicts of the tests that may refuse its candidate, or `candidates` that would go live with it
    and were only waiting for this one; a verdict that blocks refuses it.

    `live` is what is there now. A test of which a table is `waiting` to be made is asked at that table's turn; one of a
    table that there is not yet, and that is `coming` in this apply, when that is published. One whose table
    is neither there nor coming cannot be asked (E143).
    """
    if result.artifact is None:
        return result
    given = {**candidates, result.name: result.artifact}
    verdicts = tuple(
        tests.ask(test, given, live)
        for test in tests.tests
        if result.name in test.reads
        and (result.name in test.models or not test.models.isdisjoint(candidates))
        and test.reads.isdisjoint(waiting)
        and coming.isdisjoint(_absent(test, given, live))
    )
    if not any(v.blocks for v in verdicts):
        return replace(result, tests=verdicts)
    return replace(
        result, status=Status.VIOLATED, artifact=None, tests=verdicts, pieces=dict(_refused(result.pieces)), whole=False
    )


def _refused(pieces: Mapping[str, PieceResult]) -> Iterable[tuple[str, PieceResult]]:
    """A test is about the table as a whole, and refuses all partitions of time that would change it."""
    for key, made in pieces.items():
        yield key, replace(made, status=Status.VIOLATED, piece=None) if made.status.sound else made


def blocked(
    tests: BlockingTests, candidates: Mapping[str, Artifact], live: EnvironmentVersion
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """What keeps `candidates`, all at once, from going live; and what could not be asked (E143, warnings)."""
    verdicts = [tests.ask(test, candidates, live) for test in tests.tests]
    findings = tuple(dict.fromkeys(v.finding for v in verdicts if v.finding is not None))
    return (
        tuple(d for d in findings if d.severity is Severity.ERROR),
        tuple(d for d in findings if d.severity is not Severity.ERROR),
    )


def _absent(test: BlockingTest, candidates: Mapping[str, Artifact], live: EnvironmentVersion) -> Set[str]:
    return {name for name in test.reads if name not in candidates and name not in live.models}
