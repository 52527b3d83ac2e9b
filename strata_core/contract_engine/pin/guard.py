"""Guard: a table that was made elsewhere is kept in the store only where it keeps its contract (Seed 0 §5 C; Seed 2,
"Evaluate Tests": blocking tests block).

`open_guard` looks at the project, the store and the contracts; `judge` holds a candidate against the pin and the tests
of its contract and puts what is sound into the store, seen by nobody; `promote` makes what was judged live in one step.
`strata guard` and Dagster's `guard(…)` both do this and no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

from ...contract.model import TableContract
from ...contract.report import PinReport
from ...diagnostics import Diagnostic, Severity, Span, StrataError
from ...engines.protocol import Engine, TableInput
from ...frozen import dataclass, field, replace
from ...planning.catalog import OF_GUARDED, Approved, read_catalog, taken_over
from ...planning.engines import make_engine
from ...planning.faults import relative
from ...planning.guarded.catalog import guarded_breaks, register_guarded
from ...planning.guarded.guarding import (
    Kept,
    Note,
    Part,
    filled,
    fitted,
    keep,
    offered,
    pin_rows,
    publish,
    require_free,
    require_unchanged,
    stamps_of,
)
from ...planning.guarded.partitions import laid_on, pin_with_parts, rows_of_whole, with_parts
from ...planning.inputs.reachable import ReachableTables
from ...planning.kept.outline import outline
from ...planning.lints import ruled_of_plan
from ...planning.partitions.beside import published_beside
from ...planning.partitions.whole_table import merged, of_pieces
from ...planning.project import Project, compile_, open_project
from ...store.environments import EnvironmentVersion, Pointer
from ...store.store import Store
from ..authored import Asset
from ..authored_tests import Test
from ..execution.latest import latest_results
from ..execution.run import asset_rows
from ..naming import store_name
from ..observations import SeenTest
from ..pipeline import Checked, examine, open_setting
from .approved_changes import approved_changes
from .covering import (
    Covered,
    contract_of_models,
    covered_by,
    may_be_of_models,
    named_cover,
    unusable_contracts,
)
from .pin_tests import FAILING, failure, place_of


@dataclass(frozen=True, slots=True)
class Guard:
    """Everything that judging needs. `base` is the environment as it was when it was opened."""

    project: Project
    checked: Checked
    environment: str
    store: Store
    engine: Engine
    tables: ReachableTables
    base: EnvironmentVersion
    now: datetime


@dataclass(frozen=True, slots=True)
class Promise:
    """The contract of one table: `reference` names it, `name` is that of the table in the store. `asset`, `tests`, the
    `places` where these are written, and `owner` belong to a product's contract; a Strata `contract` has none."""

    reference: str
    name: str
    table: TableContract
    covered: Covered | None = None
    asset: Asset | None = None
    tests: tuple[Test, ...] = ()
    owner: str | None = None
    places: Mapping[str, Span] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a candidate for `promise`.

    `report` is the pin's, absent where the rows could not be read (`faults`); `tests` those of the contract, asked of
    the candidate; `kept` is there where all is sound, and `approved` what owners approved of how it differs from what
    readers rest on; `breaks` is what they did not approve, and `lints` what keeps nothing from being live; `live` is
    what was live before. `place` says where the rows
    were, `left_out` which columns have no type to be kept in, `seconds` is wall time.

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


def open_guard(root: Path, environment: str, now: datetime | None = None) -> Guard:
    """The guard of the project in `root`. Raises `StrataError` E073, E092 where project or store cannot be used."""
    setting = open_setting(root)
    project = open_project(project=setting.root)
    store = project.store.opened()
    store.sweep_staging()
    base = store.environment(environment).head()
    tables = ReachableTables(setting.root, setting.config, environment)
    engine = make_engine(project)
    return Guard(project, examine(setting), environment, store, engine, tables, base, now or datetime.now(UTC))


def promise_of(guard: Guard, reference: str, name: str | None = None) -> Promise:
    """The contract that `reference` names: of a product (`named_cover`), or a `contract` of the project's models, whose
    rows are kept as `name`. Raises `StrataError` E036, or with what is wrong with the contract."""
    return _promise(guard.project, guard.checked, reference, name)


def promised_tables(root: Path, references: Mapping[str, str]) -> dict[str, TableContract | tuple[Diagnostic, ...]]:
    """The contract that each table is held to, by the names of the tables and of their contracts, or what is wrong with
    it. Raises `StrataError` E073."""
    setting = open_setting(root)
    project, checked = open_project(project=setting.root), examine(setting)
    found: dict[str, TableContract | tuple[Diagnostic, ...]] = {}
    for name, reference in references.items():
        try:
            found[name] = _promise(project, checked, reference, name).table
        except StrataError as error:
            found[name] = error.diagnostics
    return found


def _promise(project: Project, checked: Checked, reference: str, name: str | None) -> Promise:
    of_models = may_be_of_models(reference)
    if of_models and (contract := contract_of_models(project, reference)) is not None:
        return Promise(reference, store_name(name or reference), contract)
    sound = {c.id: c for c in checked.collated.candidates if c.sound}
    found = named_cover(
        reference,
        tuple(one for c in sound.values() for one in covered_by(c)),
        others=compile_(project).contracts if of_models else (),
        unusable=partial(unusable_contracts, checked, reference),
    )
    candidate = sound[found.product]
    if not checked.usable(candidate):
        raise StrataError(*checked.blocking(candidate))
    table = checked.validated.tables[found.product][found.asset]
    asset = next(a for a in candidate.contract.assets if a.id == found.asset)
    about = {t.id for t in found.tests}
    tests = tuple(t for t in candidate.contract.tests if t.id in about)
    owner, places = candidate.contract.owner.team, {t.id: place_of(candidate, t.id) for t in tests}
    return Promise(
        found.reference, found.table, replace(table, name=found.reference), found, asset, tests, owner, places
    )


def rows_of(guard: Guard, promise: Promise, location: str | None = None) -> tuple[TableInput, str]:
    """The rows of a table, and where they are: at `location`, else where its contract says. Raises `StrataError` E030,
    E033, E036."""
    if location is not None:
        return guard.tables.file(location, ()), location
    if promise.asset is None:
        message = f"the contract `{promise.reference}` does not say where the rows of `{promise.name}` are"
        raise StrataError(Diagnostic("E036", message, fix="name their file (`--rows`)"))
    asset = promise.asset
    if asset.location is None and asset.kind not in ("dbt_model", "strata_model"):
        message = f"`{promise.reference}` does not say where its rows are"
        fix = "add `location: path/of/the.parquet` to the asset in its contract, or name their file (`--rows`)"
        raise StrataError(Diagnostic("E036", message, fix=fix))
    if asset.location is not None and "://" in asset.location:
        message = f"the rows of `{promise.reference}` are at an address, which nothing here reads"
        fix = "name a Parquet or CSV file of them (`--rows`); in Dagster, guard an asset that returns them"
        raise StrataError(Diagnostic("E036", message, promise.table.span, fix=fix))
    place = asset.location or f"dbt model {asset.ref or asset.id}"
    return asset_rows(asset, None, guard.tables), place


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


@dataclass(frozen=True, slots=True)
class Promotion:
    """What is live after a promotion: the environment's version, and the tables that this step made live."""

    version: EnvironmentVersion
    promoted: frozenset[str]


def promote(
    guard: Guard,
    verdicts: Iterable[Verdict],
    *,
    message: str = "",
    tags: Mapping[str, str] = MappingProxyType({}),
) -> Promotion:
    """Make what was judged sound live, in one version. An environment that publishes `together` takes all or nothing.

    Raises `StrataError` E093 where another promoted other rows of the same table since the guard was opened, E092.
    """
    given = tuple(verdicts)
    found = {v.promise.name: v.kept for v in given if v.kept is not None}
    together = guard.project.config.environment(guard.environment).publish == "together"
    if not found or (together and len(found) < len(given)):
        return Promotion(guard.base, frozenset())
    version, found = _published(guard, found, message, tags)
    shown = {name: (one.artifact, one.offered) for name, one in found.items()}
    approved = tuple(a for v in given for a in v.approved)
    register_guarded(guard.store, guard.project.config.name, guard.environment, version, shown, approved)
    return Promotion(version, frozenset(found))


def _published(
    guard: Guard, found: dict[str, Kept], message: str, tags: Mapping[str, str]
) -> tuple[EnvironmentVersion, dict[str, Kept]]:
    """The version that has what was `found` sound; a partition goes beside those that others published meanwhile."""
    environment = guard.store.environment(guard.environment)

    def published(seen: EnvironmentVersion, kept: dict[str, Kept]) -> EnvironmentVersion:
        artifacts = {name: one.artifact for name, one in kept.items()}
        return publish(guard.store, guard.environment, seen, artifacts, message=message, tags=tags)

    def on(head: EnvironmentVersion, _conflict: StrataError) -> tuple[EnvironmentVersion, dict[str, Kept]] | None:
        return laid_on(guard.engine, guard.store, found, guard.base, head, guard.now)

    return published_beside(environment, guard.base, found, published, on)
