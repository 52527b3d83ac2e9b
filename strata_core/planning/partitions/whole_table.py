"""What only the whole of a table can tell when it was made in pieces: keys that do not hold the column of time, which
two pieces may share, and how old its newest row is.

A key that holds that column cannot repeat from one piece to another, and each piece is pinned by itself. All other
keys are asked of all rows each time that a piece is to be published: those that the contract promises, and those that
the compiler has proven of rows computed at once, on which readers rest too (Seed 0 §3, §5 C).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import datetime

from ...analysis.compiled import CompiledModel
from ...contract.assertions import Assertion, Holds, Unique
from ...contract.model import TableContract
from ...contract.report import PinReport
from ...contract.rules import Rule, promises
from ...contract.write_pin import judge_alone, sample_key
from ...engines.protocol import Engine, ParquetTable
from ...frozen import replace
from ...periods import Periods
from ...relation.build import ref
from ...relation.expressions import call, literal


def of_pieces(contract: TableContract) -> TableContract:
    """What is promised of each piece: not how old the newest row of the table is."""
    fields = tuple(replace(f, freshness=None) for f in contract.fields)
    return replace(contract, fields=fields, freshness=None)


def in_range(model: CompiledModel, periods: Periods) -> Holds:
    """That rows lie in the partitions that are declared."""
    column, bounds = ref(model.relation, periods.column), periods.bounds
    low, high = (literal(periods.value(at)) for at in (bounds.start, bounds.end))
    condition = call("and", call("ge", column, low), call("lt", column, high))
    text = (
        f"`{periods.column}` lies in its partitions of time, from {periods.start} to {periods.end or bounds.end.date()}"
    )
    return Holds(condition, text)


def pin_whole(
    engine: Engine, contract: TableContract, asked: Sequence[Assertion], table: ParquetTable, hidden: Set[str]
) -> PinReport:
    """The report on what was `asked` of the whole `table`, and nothing else. Values of `hidden` columns are not
    shown."""
    assessment = engine.assess(table, asked, sample_key(contract))
    return PinReport(contract.name, judge_alone(contract, assessment, hidden), assessment.rows)


def merged(one: PinReport, whole: PinReport | None) -> PinReport:
    """What is known of pieces, with what the whole table says in its place."""
    if whole is None:
        return one
    told = {rule.fact: rule for rule in whole.rules}
    kept = tuple(told.pop(rule.fact, rule) for rule in one.rules)
    return replace(one, rules=(*kept, *told.values()))


def keys_of_whole(
    contract: TableContract, proven: Iterable[Iterable[str]] = (), column: str | None = None
) -> Iterator[Unique]:
    """The keys that pieces may share, each once, as they are written: not those that hold the `column` of time, by
    which pieces are told apart. `proven` are further keys, on which readers rest."""
    written = [p.fact.columns for p in promises(contract) if p.fact.rule in (Rule.UNIQUE, Rule.PRIMARY_KEY)]
    seen: set[frozenset[str]] = set()
    for columns in (*written, *sorted(tuple(sorted(key)) for key in proven if key)):
        if column not in columns and frozenset(columns) not in seen:
            seen.add(frozenset(columns))
            yield Unique(columns)


def ages(contract: TableContract, now: datetime) -> Iterator[Assertion]:
    """How old the newest row may be."""
    for promise in promises(contract):
        if promise.fact.rule is Rule.FRESHNESS and (question := promise.question(now)) is not None:
            yield question
