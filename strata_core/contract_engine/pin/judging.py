"""Judge: the rows of a guarded table held against their contract, its blocking tests and the readers of the table.

What keeps all three is put into the store, where nobody sees it before it is promoted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from ...contract.report import PinReport
from ...diagnostics import Diagnostic, Severity, StrataError
from ...engines.protocol import TableInput
from ...frozen import dataclass, replace
from ...planning.catalog import OF_GUARDED, Approved, read_catalog, taken_over
from ...planning.faults import relative
from ...planning.guarded.catalog import guarded_breaks
from ...planning.guarded.guarding import (
    Kept,
    Note,
    Part,
    filled,
    fitted,
    keep,
    offered,
    pin_rows,
    require_free,
    require_unchanged,
    stamps_of,
)
from ...planning.guarded.partitions import pin_with_parts, rows_of_whole, with_parts
from ...planning.kept.outline import outline
from ...planning.lints import ruled_of_plan
from ...planning.partitions.whole_table import merged, of_pieces
from ...store.environments import Pointer
from ..execution.latest import latest_results
from ..observations import SeenTest
from .approved_changes import approved_changes
from .guard import Guard, Promise
from .pin_tests import FAILING, failure


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate for `promise`.

    `report` is the pin's, absent where the rows could not be read (`faults`); `tests` those of the contract, asked of
    the candidate; `kept` is there where all is sound, and `approved` what owners approved of how it differs from what
    readers rest on; `breaks` is what they did not approve, and `lints` what keeps nothing from being live; `live` is
    what was live before. `place` says where the rows were, `left_out` which columns have no type to be kept in,
    `seconds` is wall time.

    Of rows that are several partitions of a table, `partitions` has the verdict on each, and `kept` is the table with
    those of them that may be live.
    """

    promise: Promise
    place: str
    live: Pointer | None
    report: PinReport | None = None
    tests: tuple[SeenTest, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    breaks: tuple[Diagnostic, ...] = ()
    lints: tuple[Diagnostic, ...] = ()
    kept: Kept | None = None
    approved: tuple[Approved, ...] = ()
    left_out: tuple[str, ...] = ()
    partitions: Mapping[str, Verdict] = MappingProxyType({})
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether the candidate may be live; of several partitions, whether one of them may."""
        return self.kept is not None

    @property
    def refused(self) -> tuple[str, ...]:
        """The partitions that are not sound, where there are several."""
        return tuple(key for key, one in self.partitions.items() if not one.sound)

    @property
    def going_live(self) -> tuple[str, ...]:
        """The partitions that `kept` has of the candidate."""
        return () if self.kept is None else tuple(part.key for part in self.kept.parts)

    @property
    def violations(self) -> tuple[Diagnostic, ...]:
        """What keeps the candidate from being live: broken promises (E08x), blocking tests (E144), faults, what it
        breaks of its readers (E030 to E032). Of several partitions, what keeps each of them."""
        if self.partitions:
            return tuple(_of_partition(d, key) for key, one in self.partitions.items() for d in one.violations)
        broken = self.report.diagnostics() if self.report is not None else ()
        # That a query fails on rows of other types, the pin has said better.
        tests = (t for t in self.tests if t.outcome == "failed" or not broken)
        return (*broken, *blocking_failures(self.promise, tests), *self.faults, *self.breaks)


def _of_partition(diagnostic: Diagnostic, key: str) -> Diagnostic:
    return replace(diagnostic, message=f"partition {key}: {diagnostic.message}")


def judge(
    guard: Guard,
    promise: Promise,
    table: TableInput,
    place: str,
    *,
    seen: Mapping[str, SeenTest] | None = None,
    keeping: bool = True,
    partition: str | None = None,
) -> Verdict:
    """The verdict on the rows of `table`; nothing is raised for what is wrong with them.

    With `partition` they are those of one partition (of several: `judge_partitions`), which goes live beside the others
    of the table; keys and blocking tests, in which the others have a part, are asked of the whole. `seen` has the
    results of dbt's tests by name where dbt makes the rows now, for those in its files are of others. Without `keeping`
    nothing is put into the store.
    """
    if partition is not None:
        verdict = judge_part(guard, promise, table, place, partition, keeping=keeping)
        return beside(guard, verdict, verdict.kept.parts, seen) if verdict.kept is not None else verdict
    verdict = Verdict(promise, place, guard.base.models.get(promise.name))
    return _timed(guard, verdict, lambda: _judged(guard, verdict, table, seen, keeping))


def judge_part(
    guard: Guard, promise: Promise, table: TableInput, place: str, partition: str, *, keeping: bool = True
) -> Verdict:
    """The verdict on the rows of a partition by themselves; `kept` has them alone, which is not what goes live."""
    verdict = Verdict(promise, place, guard.base.models.get(promise.name))
    return _timed(guard, verdict, lambda: _judged_part(guard, verdict, table, partition, keeping))


def beside(guard: Guard, verdict: Verdict, parts: Sequence[Part], seen: Mapping[str, SeenTest] | None) -> Verdict:
    """The verdict on `parts` that are sound by themselves: whether the table that they go into keeps the contract."""
    return _timed(guard, verdict, lambda: _beside(guard, verdict, tuple(parts), seen))


def _timed(guard: Guard, verdict: Verdict, judged: Callable[[], Verdict]) -> Verdict:
    """What comes of judging, with the time that it took; a fault is part of the verdict."""
    started = time.perf_counter()
    try:
        found = judged()
    except StrataError as error:
        faults = tuple(_told(d, guard, verdict.promise) for d in error.diagnostics)
        found = replace(verdict, faults=faults, kept=None)
    return replace(found, seconds=verdict.seconds + time.perf_counter() - started)


def _judged(
    guard: Guard, verdict: Verdict, table: TableInput, seen: Mapping[str, SeenTest] | None, keeping: bool
) -> Verdict:
    promise = verdict.promise
    require_free(promise.name, outline(guard.project).models, guard.store, guard.base)
    before = stamps_of(table)
    rows = fitted(guard.engine, table, promise.table)
    report = pin_rows(guard.engine, rows, guard.now)
    verdict = replace(verdict, report=report, left_out=rows.left_out)
    if rows.columns:
        tests = results_of(guard, promise, seen, rows.table)
        verdict = replace(verdict, tests=tests)
    if report.passed and keeping and not blocking_failures(promise, verdict.tests):
        kept = keep(guard.store, guard.engine, promise.name, rows, report, _note(promise, verdict.place))
        require_unchanged(table, before)
        verdict = _offered(guard, verdict, kept)
    return verdict


def _judged_part(guard: Guard, verdict: Verdict, table: TableInput, partition: str, keeping: bool) -> Verdict:
    promise = verdict.promise
    require_free(promise.name, outline(guard.project).models, guard.store, guard.base)
    before = stamps_of(table)
    rows = fitted(guard.engine, table, of_pieces(promise.table))
    report = pin_rows(guard.engine, rows, guard.now)
    verdict = replace(verdict, report=report, left_out=rows.left_out)
    if not report.passed or not keeping:
        return verdict
    kept = keep(guard.store, guard.engine, promise.name, rows, report, _note(promise, verdict.place))
    require_unchanged(table, before)
    types = {column.name: column.inferred.type for column in rows.columns}
    part = Part(partition, kept.artifact, filled(promise.table, types))
    return replace(verdict, kept=replace(kept, parts=(part,)))


def _beside(guard: Guard, verdict: Verdict, parts: tuple[Part, ...], seen: Mapping[str, SeenTest] | None) -> Verdict:
    promise, store, kept = verdict.promise, guard.store, verdict.kept
    whole = with_parts(store, promise.name, parts, guard.base)
    report = pin_with_parts(guard.engine, store, whole, parts, guard.base, guard.now)
    if report is not None:
        verdict = replace(verdict, report=report if verdict.report is None else merged(verdict.report, report))
    tests = results_of(guard, promise, seen, rows_of_whole(whole))
    verdict = replace(verdict, tests=tests, kept=None)
    if (report is not None and not report.passed) or blocking_failures(promise, tests):
        return verdict
    reused = kept is not None and kept.reused
    return _offered(guard, verdict, Kept(whole, offered(promise.name, whole, parts[0].contract), reused, parts))


def _note(promise: Promise, place: str) -> Note:
    asset = promise.asset
    dbt_model = asset.names[0] if asset is not None and asset.kind == "dbt_model" else None
    return Note(promise.reference, place, dbt_model, promise.owner)


def _offered(guard: Guard, verdict: Verdict, kept: Kept) -> Verdict:
    """The verdict on sound rows: whether those who read the table can live with what it is now (Seed 0 §5 B), and
    whether it is another project's (W017)."""
    promise, project = verdict.promise, guard.project
    asked, catalog = partial(approved_changes, project.root), read_catalog(guard.store, guard.environment)
    breaks = guarded_breaks(project, catalog, {promise.name: kept.offered}, asked)
    taken = taken_over(project.config.name, {promise.name: promise.table.span}, catalog, guard.base, OF_GUARDED)
    lints = ruled_of_plan(tuple(taken), project.files, project.config.lint)
    refused = (*breaks.diagnostics, *(d for d in lints if d.severity is Severity.ERROR))
    if refused:
        return replace(verdict, breaks=refused)
    return replace(verdict, kept=kept, approved=breaks.approved, lints=lints)


def _told(diagnostic: Diagnostic, guard: Guard, promise: Promise) -> Diagnostic:
    """A fault as people read it: at the contract, with the files of the project as they name them."""
    here = relative(diagnostic, guard.project.root)
    return here if here.span is not None else replace(here, span=promise.table.span)


def results_of(
    guard: Guard, promise: Promise, seen: Mapping[str, SeenTest] | None, rows: TableInput | None
) -> tuple[SeenTest, ...]:
    """The tests about a table, in the order of its contract: asked of `rows`, or of what is there now; of dbt's tests
    what they last gave (`seen`, else dbt's files)."""
    if promise.covered is None or not promise.tests:
        return ()
    product = promise.covered.product
    given = {} if rows is None else {(product, promise.covered.asset): rows}
    only = {(product, t.id) for t in promise.tests}
    found = latest_results(guard.checked, guard.tables, guard.now, only, rows=given, seen=seen)
    return tuple(found[product, test.id] for test in promise.tests)


def blocking_failures(promise: Promise, tests: Iterable[SeenTest]) -> tuple[Diagnostic, ...]:
    """E144 for each test of severity `blocking` that does not hold, or could not be asked to its end."""
    severities = {t.id: t.severity for t in promise.tests}
    found = (t for t in tests if severities.get(t.test) == "blocking" and t.outcome in FAILING)
    return tuple(failure(test, promise.places[test.test]) for test in found)
