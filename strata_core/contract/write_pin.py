"""Phase C, the write pin: no table is published that breaks its contract (Seed 0 §5 C).

Pure functions around two looks at the data, both taken by an engine: its physical schema, and one pass that
answers `questions`. `pin` does all of it for an engine and a table of Arrow, Parquet or CSV data.

What is asked. Data that this program did not compute is asked everything. A candidate that our engine computed
from a checked model comes with `proofs`; what they prove is not measured again, except nulls: counting them costs
next to nothing (Parquet keeps the counts), and it is the one promise whose breach would show a fault of ours in
the first rows. Types and columns are read from the schema and so are always checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import Protocol, TypeVar

import pyarrow as pa

from ..diagnostics import StrataError
from ..relation.expressions import ColumnRef, Expr, call, cast, literal
from ..types import STRING, Decimal, Inferred, Money, castable
from ..types.values import MONEY_SCALE
from .assertions import MOST_SAMPLES, Assertion, Assessment, Holds, Measurement, NotOlder, columns_of
from .authoring import Proof, proven
from .model import ContractField, TableContract
from .physical import PhysicalFinding, check_physical
from .report import MASKED, PinReport, RuleResult, Sample, Status, shown
from .rules import Fact, Promise, Rule, fact_of, promises

Table = TypeVar("Table", contravariant=True)

CODES_OF_MEASURED = {
    Rule.NONNULL: "E081",
    Rule.NESTED: "E081",
    Rule.ENUM: "E082",
    Rule.UNIQUE: "E083",
    Rule.PRIMARY_KEY: "E083",
    Rule.FRESHNESS: "E085",
    Rule.HOLDS: "E086",
}
FIXES = {
    Rule.NONNULL: "repair these rows where the data is made, leave them out, or drop the promise",
    Rule.NESTED: "repair these rows where the data is made, or let the contract's type have nulls inside",
    Rule.ENUM: "map the value to a promised one where the data is made, or add it to the enum",
    Rule.UNIQUE: "keep one row for each value (`group` by it), or drop the promise",
    Rule.PRIMARY_KEY: "keep one row for each key (`group` by it), or make the key of more columns",
    Rule.FRESHNESS: "find out why no later rows came, or let the contract's freshness be longer",
    Rule.HOLDS: "repair these rows where the data is made, or change the assertion",
}
MEASURED = {
    Rule.NONNULL: "nulls counted",
    Rule.NESTED: "nulls inside counted",
    Rule.ENUM: "values compared",
    Rule.UNIQUE: "repeats counted",
    Rule.PRIMARY_KEY: "repeats counted",
    Rule.FRESHNESS: "latest value compared",
    Rule.HOLDS: "rows counted",
}
READ = "types and columns compared"
PARSED = "fields read as their type"
UNASKED = "not asked: the data's columns are not as promised"
NAMING_COLUMNS = 3
"""How many columns name a row of a table without a key."""


class Pinnable(Protocol[Table]):
    """What the pin needs of an engine (`engines.protocol.Engine` has it)."""

    def physical_schema(self, table: Table) -> pa.Schema:
        """The schema that the data itself has, before any cast."""
        ...

    def assess(self, table: Table, assertions: Sequence[Assertion], key: Sequence[str] = ()) -> Assessment:
        """Answers to `assertions` in one pass; samples name the `key` columns."""
        ...


def pin(
    engine: Pinnable[Table],
    table: Table,
    contract: TableContract,
    *,
    now: datetime,
    proofs: Sequence[Proof] = (),
    also: Sequence[Holds] = (),
    masked: AbstractSet[str] = frozenset(),
    raw: Table | None = None,
) -> PinReport:
    """Hold `table` against `contract` at the instant `now` (UTC).

    `proofs` are given for a candidate of our own alone; `also` are further assertions; `masked` names columns to
    hide besides the classified ones. A format without types (CSV) comes a second time as `raw`, with every column
    a string, so that fields which are no value of the promised type are counted. Raises the engine's `StrataError`
    (E033, E090, E091) where the rows cannot be read though their columns are as promised.
    """
    findings = check_physical(engine.physical_schema(table), contract, text=raw is not None)
    asked = (*questions(contract, proofs=proofs, now=now), *also)
    try:
        if raw is not None:
            findings += _unreadable(engine, raw, contract, _faulty(findings))
        faulty = _faulty(findings)
        answerable = [q for q in asked if faulty.isdisjoint(columns_of(q))]
        assessment = engine.assess(table, answerable, sample_key(contract, faulty))
    except StrataError:
        # Data of other columns or types may not even read as what it was declared to be; what is known by now
        # says why, better than the reader's error does.
        if not findings:
            raise
        assessment = None
    return judge(contract, findings, asked, assessment, proofs=proofs, masked=masked)


def _unreadable(
    engine: Pinnable[Table], raw: Table, contract: TableContract, faulty: AbstractSet[str]
) -> tuple[PhysicalFinding, ...]:
    """E080 for each column with text that cannot be read as the promised type."""
    fields = [f for f in contract.fields if f.name not in faulty and f.type != STRING and castable(STRING, f.type)]
    key = sample_key(contract, faulty)
    asked = [_readable(f) for f in fields]
    # Samples name the key columns alone, so the columns in question are asked for as if they were key.
    answers = engine.assess(raw, asked, tuple(dict.fromkeys((*key, *(f.name for f in fields))))).measurements
    return tuple(
        PhysicalFinding(
            Fact(Rule.TYPE, (field.name,)),
            "E080",
            f"text that is no {field.type}",
            f"write values of {field.type} where the data is made, or promise what the text holds",
            answer.offenders,
            tuple({n: s[n] for n in dict.fromkeys((*key, field.name))} for s in answer.samples),
        )
        for field, answer in zip(fields, answers, strict=True)
        if answer.offenders
    )


def _readable(field: ContractField) -> Holds:
    text = ColumnRef(field.name, Inferred(STRING, nullable=True))
    readable: Expr = call("is_not_null", cast(text, field.type, safe=True))
    if isinstance(field.type, Decimal | Money):
        scale = field.type.scale if isinstance(field.type, Decimal) else MONEY_SCALE
        # A cast rounds, and what comes in is never narrowed without a word (Seed 0 §1): no digit past the scale.
        lost = call("rlike", text, literal(f"[.][0-9]{{{scale}}}[0-9]*[1-9]|[eE]"))
        readable = call("and", readable, call("not", lost))
    return Holds(call("or", call("is_null", text), readable), f"{field.name} is {field.type}")


def questions(contract: TableContract, *, proofs: Iterable[Proof] = (), now: datetime) -> tuple[Assertion, ...]:
    """What to measure of a table under `contract`: everything but what `proofs` prove; nulls always."""
    known = proven(proofs)
    wanted = (p for p in promises(contract) if p.fact.rule is Rule.NONNULL or p.fact not in known)
    return tuple(q for p in wanted if (q := p.question(now)) is not None)


def sample_key(contract: TableContract, faulty: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
    """The columns that name an offending row, as far as they can be read: the primary key, else a unique column, else
    the first columns that nobody need hide."""
    readable = [f for f in contract.fields if f.name not in faulty]
    unique = tuple(f.name for f in readable if f.unique)
    named = tuple(f.name for f in readable if not f.hidden)
    return tuple(n for n in contract.key if n not in faulty) or unique[:1] or named[:NAMING_COLUMNS]


def judge(
    contract: TableContract,
    findings: Sequence[PhysicalFinding],
    asked: Sequence[Assertion],
    assessment: Assessment | None,
    *,
    proofs: Iterable[Proof] = (),
    masked: AbstractSet[str] = frozenset(),
) -> PinReport:
    """The verdict on every promise, from what the schema and the rows showed.

    `asked` holds all questions; those about columns with findings may lack an answer, and all may where the
    table could not be read (`assessment` is `None`). Any other missing answer is a `ValueError`: the pin never
    passes what it did not look at.
    """
    broken = {f.fact: f for f in findings}
    faulty = _faulty(findings)
    answers = {fact_of(m.assertion, contract): m for m in assessment.measurements} if assessment else {}
    reads = {fact_of(q, contract): frozenset(columns_of(q)) for q in asked}
    reasons = {p.fact: p.by for p in proofs if p.proven}
    hidden = contract.hidden | masked
    further = tuple(Promise(fact_of(q, contract), q.text, contract.span) for q in asked if isinstance(q, Holds))
    results: list[RuleResult] = []
    for promise in (*promises(contract), *further):
        fact = promise.fact
        columns = reads.get(fact, frozenset(fact.columns))
        if fact in broken:
            finding = broken[fact]
            results.append(_physical(promise, finding, _samples(finding.samples, columns, hidden, contract)))
        elif fact.rule in (Rule.TYPE, Rule.CLOSED):
            results.append(RuleResult(fact, promise.text, Status.CHECKED, READ, span=promise.span))
        elif fact in answers:
            samples = _samples(answers[fact].samples, columns, hidden, contract)
            results.append(_measured(promise, answers[fact], samples, reasons.get(fact)))
        elif findings and (assessment is None or faulty & columns):
            results.append(RuleResult(fact, promise.text, Status.SKIPPED, UNASKED, span=promise.span))
        elif fact in reasons and fact not in reads:
            results.append(RuleResult(fact, promise.text, Status.PROVEN, reasons[fact], span=promise.span))
        else:
            raise ValueError(f"nothing was measured of {fact.field}: {fact.rule}")
    return PinReport(contract.name, tuple(results), assessment.rows if assessment else None)


def judge_alone(
    contract: TableContract, assessment: Assessment, masked: AbstractSet[str] = frozenset()
) -> tuple[RuleResult, ...]:
    """The verdict on the promises of `contract`, and on further ones, that an assessment was asked about and no others:
    of a table that was made in pieces, what only the whole can tell."""
    known, hidden = {p.fact: p for p in promises(contract)}, contract.hidden | masked
    results = []
    for answer in assessment.measurements:
        fact = fact_of(answer.assertion, contract)
        columns = columns_of(answer.assertion)
        promise = known.get(fact) or Promise(fact, "unique, as the model makes it", contract.span)
        samples = _samples(answer.samples, frozenset(columns), hidden, contract)
        results.append(_measured(promise, answer, samples, None))
    return tuple(results)


def _physical(promise: Promise, finding: PhysicalFinding, samples: tuple[Sample, ...]) -> RuleResult:
    return RuleResult(
        promise.fact,
        promise.text,
        Status.VIOLATED,
        PARSED if finding.offenders else READ,
        finding.offenders,
        samples,
        code=finding.code,
        found=finding.found,
        fix=finding.fix,
        span=promise.span,
    )


def _measured(promise: Promise, answer: Measurement, samples: tuple[Sample, ...], reason: str | None) -> RuleResult:
    rule = promise.fact.rule
    if answer.offenders == 0:
        status, how = (Status.PROVEN, reason) if reason else (Status.CHECKED, MEASURED[rule])
        return RuleResult(promise.fact, promise.text, status, how, span=promise.span)
    found = None
    if isinstance(answer.assertion, NotOlder) and samples:
        found = samples[0].get(answer.assertion.column)
    return RuleResult(
        promise.fact,
        promise.text,
        Status.VIOLATED,
        MEASURED[rule],
        answer.offenders,
        samples,
        CODES_OF_MEASURED[rule],
        found,
        FIXES[rule],
        promise.span,
    )


def _samples(
    samples: Sequence[dict[str, object]], columns: AbstractSet[str], hidden: AbstractSet[str], contract: TableContract
) -> tuple[Sample, ...]:
    """`samples` as text, masked.

    The sample of a question that reads a hidden column may name a value made of it in some other way (a nested
    value, a computed one): beside a hidden column, a name that is no field of the contract is hidden too.
    """
    sealed = bool(columns & hidden)

    def text(name: str, value: object) -> str:
        return MASKED if name in hidden or (sealed and name not in contract) else shown(value)

    return tuple({n: text(n, v) for n, v in s.items()} for s in samples[:MOST_SAMPLES])


def _faulty(findings: Iterable[PhysicalFinding]) -> frozenset[str]:
    return frozenset(column for f in findings for column in f.fact.columns)
