"""The sections of a page about what was seen of a product: how old it is, how its tests and checks fared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..authored_tests import Custom, DbtTest, ExpectationTest, SqlTest, Test
from ..runtime_view import TestStatus
from .blocks import Block, Code, Folded, Inline, Line, Mark, Paragraph, Row, Source, Table, Tone, compact
from .documented import Documented
from .expectations import in_words

_AGES: Mapping[str, Tone] = {"fresh": "good", "stale": "bad", "unknown": "soft"}
_OUTCOMES: Mapping[str, Tone] = {"passed": "good", "failed": "bad", "error": "bad", "not_run": "soft"}


def freshness(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    """How old it may be, and is."""
    view, promised = product.view, product.view.contract.freshness
    if promised is not None:
        told = f"At most {promised.max_age} old" + (f", {promised.schedule}" if promised.schedule else "")
        yield Paragraph((f"{told}.",))
    if view.freshness:
        runs = {r.asset: r for r in view.latest_runs}
        rows = tuple(
            Row(
                (
                    (Code(f.asset),),
                    (f.expected or "",),
                    (_moment(f.latest) if f.latest else "not seen",),
                    (Mark(f.state, _AGES[f.state]),),
                    (f"{runs[f.asset].told}: {runs[f.asset].run_id}" if f.asset in runs else "",),
                )
            )
            for f in view.freshness
        )
        yield compact(Table("Freshness", ("asset", "at most", "latest", "state", "latest run"), rows))
    elif promised is None:
        yield Paragraph(("The contract promises nothing about how old the data may be.",))


def tests(product: Documented, _: Mapping[str, str]) -> Iterator[Block]:
    """What is asked of its rows, and of its assets by others, with the latest results."""
    if product.view.contract.tests:
        yield from _own_tests(product)
    else:
        yield Paragraph(("The contract has no tests.",))
    if product.view.checks:
        rows = tuple(
            Row(
                (
                    (Code(c.asset),),
                    (Code(c.check),),
                    (Mark(c.outcome, _OUTCOMES.get(c.outcome, "warn")), f" at {_moment(c.at)}" if c.at else ""),
                    (c.message or "",),
                )
            )
            for c in product.view.checks
        )
        yield compact(Table("Checks of the assets", ("asset", "check", "latest result", "what it says"), rows))


def _own_tests(product: Documented) -> Iterator[Block]:
    statuses = {t.id: t for t in product.view.tests}
    tests = product.view.contract.tests
    rows = tuple(
        Row(
            (
                (Code(test.id),),
                _checked(test),
                (Mark(test.severity, "key" if test.severity == "blocking" else "plain"),),
                _outcome(statuses.get(test.id)),
            ),
            f"test-{test.id}",
        )
        for test in tests
    )
    yield Table("Tests", ("test", "checks", "severity", "latest result"), rows)
    for test in tests:
        if isinstance(test, SqlTest):
            yield Folded(f"SQL of {test.id}", (Source(test.sql.rstrip(), "sql"),))


def _checked(test: Test) -> Line:
    said: Line
    match test:
        case SqlTest():
            said = ("no row is wrong: SQL below",)
        case DbtTest():
            said = ("dbt test ", Code(test.ref))
        case ExpectationTest():
            expectation = test.expectation
            of = (Code(test.asset), ": ")
            told: Inline = in_words(expectation)
            said = (*of, Code(expectation.expression) if isinstance(expectation, Custom) else told)
    return (*((test.description, " — ") if test.description else ()), *said)


def _outcome(status: TestStatus | None) -> Line:
    if status is None or status.outcome == "not_run":
        return (Mark("not run", "soft"),)
    said: list[Inline] = [Mark(status.outcome, _OUTCOMES.get(status.outcome, "warn"))]
    if status.offenders:
        said.append(f" {status.offenders} {'row' if status.offenders == 1 else 'rows'}")
    if status.at:
        said.append(f" at {_moment(status.at)}")
    if status.message and status.outcome != "passed":
        said.append(f": {status.message}")
    return tuple(said)


def _moment(instant: str) -> str:
    """An instant of a view to the minute, for people."""
    return f"{instant[:10]} {instant[11:16]} UTC"
