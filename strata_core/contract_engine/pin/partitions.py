"""Several partitions of a guarded table that are made at once: each is judged alone, as if it had come by itself.

Those that break their contract stay as they are live, the others go live in one step. What only the whole table can
tell (keys, ages, blocking tests) is asked of it with all sound partitions; where it does not keep the contract then,
the partitions are tried in halves, so that those which break it are found in few questions (Seed 0 §5 C).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from ...contract.assertions import MOST_SAMPLES
from ...contract.report import ORDER, PinReport, RuleResult
from ...contract.rules import Rule
from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.listing import listed
from ...engines.protocol import TableInput
from ...frozen import dataclass, replace
from ...planning.guarded.guarding import Part
from ...planning.guarded.partitions import partitions_of
from ...planning.guarded.shares import Value, partition_columns, shares_of
from ..authored_tests import DbtTest
from ..observations import SeenTest
from .guard import Guard, Promise, rows_of
from .judging import Verdict, beside, judge_part
from .pin_tests import FAILING

Seen = Mapping[str, SeenTest] | None
PARTITION = "{partition}"
"""Stands in the place of files for the key of a partition."""


@dataclass(frozen=True, slots=True)
class Made:
    """Rows as somebody made them: by partition, where those of one could be found; else why not (`faults`)."""

    tables: Mapping[str, TableInput]
    faults: Mapping[str, tuple[Diagnostic, ...]] = MappingProxyType({})


def place_of_partition(place: str, key: str) -> str:
    """Where the rows of one partition are, for people: `PARTITION` in `place` stands for its key."""
    return f"{place.replace(PARTITION, key)} (partition {key})"


def in_files(guard: Guard, promise: Promise, place: str, keys: Sequence[str]) -> Made:
    """The rows of the partitions `keys`, each in a file of its own: `place` with the key for `PARTITION`."""
    tables: dict[str, TableInput] = {}
    faults: dict[str, tuple[Diagnostic, ...]] = {}
    for key in keys:
        try:
            tables[key] = rows_of(guard, promise, place.replace(PARTITION, key))[0]
        except StrataError as error:
            faults[key] = error.diagnostics
    return Made(tables, faults)


def in_one_table(guard: Guard, promise: Promise, table: TableInput, keys: Sequence[str]) -> Made:
    """The rows of the partitions `keys` of a `table` that has others too, by the value of the column marked with
    `partition_by` that is spelled as a key. A partition without rows is one that is live; of another the key is likely
    misspelled. Raises `StrataError` E037 where it is not known which column that is."""
    columns = partition_columns(promise.table)
    if len(columns) != 1:
        message = f"{listed(columns, 5) or 'no column'} is marked with `partition_by`, and one has to be"
        fix = f"mark the column that holds the key in the contract, or name a file for each partition (`{PARTITION}`)"
        raise StrataError(Diagnostic("E037", message, fix=fix))
    tables = shares_of(guard.engine, table, {key: (Value(columns[0], key),) for key in keys})
    live = partitions_of(guard.store, promise.name, guard.base)
    faults = {
        key: (Diagnostic("E037", f"no row has this `{columns[0]}`", fix="spell the key as the column has it"),)
        for key in keys
        if not tables[key].data.num_rows and key not in live
    }
    return Made({key: rows for key, rows in tables.items() if key not in faults}, faults)


def judge_partitions(
    guard: Guard, promise: Promise, made: Made, place: str, *, seen: Seen = None, keeping: bool = True
) -> Verdict:
    """The verdict on several partitions of one table; nothing is raised for what is wrong with them. `seen` and
    `keeping` are those of `judge`."""
    live = guard.base.models.get(promise.name)
    found: dict[str, Verdict] = {}
    for key in sorted({*made.tables, *made.faults}):
        where = place_of_partition(place, key)
        found[key] = (
            Verdict(promise, where, live, faults=made.faults[key])
            if key in made.faults
            else judge_part(guard, promise, made.tables[key], where, key, keeping=keeping)
        )
    left_out = next((one.left_out for one in found.values() if one.left_out), ())
    verdict = Verdict(promise, place, live, partitions=found, left_out=left_out)
    return admitted(guard, verdict, found, seen) if keeping else replace(verdict, report=_summed(found.values()))


def admitted(guard: Guard, verdict: Verdict, keys: Collection[str], seen: Seen) -> Verdict:
    """`verdict` with those of its sound partitions `keys` with which the table keeps its contract; where one of them
    breaks it, it is not sound any more."""
    alone = verdict.partitions
    parts = [kept.parts[0] for key in sorted(keys) if (kept := alone[key].kept) is not None]

    def ask(several: Sequence[Part]) -> Verdict:
        return beside(guard, replace(verdict, partitions={}, report=None, kept=None), several, seen)

    whole, refused = _fitting(ask, parts)
    found = {key: _refused(one, refused[key]) if key in refused else one for key, one in alone.items()}
    seconds = sum(one.seconds for one in alone.values()) + (whole.seconds if whole is not None else 0.0)
    told = replace(verdict, partitions=found, report=_summed(found.values()), kept=None, seconds=seconds)
    if whole is None or whole.kept is None:
        return replace(told, tests=next((one.tests for one in refused.values()), ()))
    reused = all(kept.reused for p in whole.kept.parts if (kept := alone[p.key].kept) is not None)
    kept = replace(whole.kept, reused=reused)
    return replace(told, kept=kept, tests=whole.tests, approved=whole.approved, lints=whole.lints)


def _fitting(
    ask: Callable[[Sequence[Part]], Verdict], parts: Sequence[Part], into: Sequence[Part] = ()
) -> tuple[Verdict | None, dict[str, Verdict]]:
    """The verdict on the table with as many of `parts` as fit beside `into`, and by key the verdict with each that does
    not. None where none of them fits."""
    if not parts:
        return None, {}
    asked = ask([*into, *parts])
    if asked.kept is not None:
        return asked, {}
    if len(parts) == 1 or not _by_rows(asked):
        return None, {part.key: asked for part in parts}
    half = len(parts) // 2
    first, refused = _fitting(ask, parts[:half], into)
    fits = first.kept.parts if first is not None and first.kept is not None else into
    second, more = _fitting(ask, parts[half:], fits)
    return second or first, refused | more


def _by_rows(asked: Verdict) -> bool:
    """Whether it can be the rows of some partitions that keep a table from being live, and others do without: neither
    its age, which all of them have together, nor what its readers need, nor a test that others have run."""
    if asked.breaks or (asked.report is not None and any(r.rule is Rule.FRESHNESS for r in asked.report.violations)):
        return False
    elsewhere = {t.id for t in asked.promise.tests if isinstance(t, DbtTest) and t.severity == "blocking"}
    return not any(t.test in elsewhere and t.outcome in FAILING for t in asked.tests)


def _refused(alone: Verdict, whole: Verdict) -> Verdict:
    """A partition that is sound by itself, and not in its table."""
    report = whole.report if whole.report is not None and not whole.report.passed else alone.report
    return replace(
        alone, report=report, tests=whole.tests, faults=whole.faults, breaks=whole.breaks, lints=whole.lints, kept=None
    )


def _summed(verdicts: Iterable[Verdict]) -> PinReport | None:
    """What the reports on all partitions say together: of each promise the worst outcome, and all offenders."""
    reports = [one.report for one in verdicts if one.report is not None]
    if not reports:
        return None
    rules: dict[object, RuleResult] = {}
    for rule in (rule for report in reports for rule in report.rules):
        known = rules.get(rule.fact)
        rules[rule.fact] = rule if known is None else _both(known, rule)
    counted = [report.rows for report in reports if report.rows is not None]
    return PinReport(reports[0].contract, tuple(rules.values()), sum(counted) if counted else None)


def _both(one: RuleResult, other: RuleResult) -> RuleResult:
    worst = min(one, other, key=lambda r: ORDER[r.status])
    samples = (*one.samples, *other.samples)[:MOST_SAMPLES]
    return replace(worst, offenders=one.offenders + other.offenders, samples=samples)
