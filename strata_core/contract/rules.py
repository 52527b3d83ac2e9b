"""A contract read as a list of promises, one a rule and column: what each phase proves, checks or finds violated.

Authoring and the write pin go through the same list, so that nothing is promised that no phase looks at.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from ..diagnostics import Span
from ..durations import rough_duration, spelled_duration
from ..frozen import dataclass
from ..types import Array, Date, Map, Struct, ValueType
from .assertions import Assertion, Holds, NotNull, NotOlder, Unique, Within, in_utc
from .model import ContractField, TableContract, spelled_enum


class Rule(StrEnum):
    """The kinds of promise (Seed 0 §3, §5 C), by the name that reports give them."""

    TYPE = "type"
    NONNULL = "nonnull"
    NESTED = "nested nonnull"
    ENUM = "enum"
    UNIQUE = "unique"
    PRIMARY_KEY = "primary key"
    FRESHNESS = "freshness"
    CLOSED = "closed"
    HOLDS = "assertion"


@dataclass(frozen=True, slots=True)
class Fact:
    """Which promise: its rule and the columns it is about.

    `path` leads into nested values; of an `assertion` it holds the assertion's text, and `columns` is empty.
    """

    rule: Rule
    columns: tuple[str, ...]
    path: tuple[str, ...] = ()

    @property
    def field(self) -> str:
        """The columns as reports name them; `the table` where a promise is about all of it."""
        if self.rule is Rule.HOLDS or not self.columns:
            return "the table"
        return ", ".join(self.columns) + "".join(f".{step}" for step in self.path)


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise of a contract, in its own words (`text`), and where it is made.

    `values` belongs to an enum; `max_age` to a freshness, which counts whole days where the column is a date.
    """

    fact: Fact
    text: str
    span: Span | None
    values: tuple[str, ...] = ()
    max_age: timedelta | None = None
    by_day: bool = False

    def question(self, now: datetime | None = None) -> Assertion | None:
        """What to measure: nothing for types and columns, nor for a freshness without an instant `now`.

        An instant without a zone is UTC. A date is fresh to the end of its day.
        """
        columns, path = self.fact.columns, self.fact.path
        match self.fact.rule:
            case Rule.NONNULL | Rule.NESTED:
                return NotNull(columns[0], path)
            case Rule.ENUM:
                return Within(columns[0], self.values)
            case Rule.UNIQUE | Rule.PRIMARY_KEY:
                return Unique(columns)
            case Rule.FRESHNESS if now is not None and self.max_age is not None:
                oldest = in_utc(now) - self.max_age
                if self.by_day:
                    oldest = oldest.replace(hour=0, minute=0, second=0, microsecond=0)
                return NotOlder(columns[0], oldest)
            case _:
                return None


def promises(contract: TableContract) -> tuple[Promise, ...]:
    """Everything that `contract` promises of a table's columns and rows, field by field, then of the whole.

    A freshness without a column is not among them: it is about the age of the published table, which planning
    knows and the rows do not.
    """
    found = [p for one in contract.fields for p in _of_field(one, contract)]
    if len(contract.key) > 1:
        span = contract[contract.key[0]].span
        found.append(Promise(Fact(Rule.PRIMARY_KEY, contract.key), f"primary_key ({', '.join(contract.key)})", span))
    if contract.closed:
        found.append(Promise(Fact(Rule.CLOSED, ()), "no columns besides", contract.span))
    return tuple(found)


def fact_of(assertion: Assertion, contract: TableContract) -> Fact:
    """The promise that an assertion asks about."""
    match assertion:
        case NotNull():
            rule = Rule.NESTED if assertion.path else Rule.NONNULL
            return Fact(rule, (assertion.column,), assertion.path)
        case Within():
            return Fact(Rule.ENUM, (assertion.column,))
        case Unique():
            is_key = frozenset(assertion.columns) == frozenset(contract.key)
            return Fact(Rule.PRIMARY_KEY if is_key else Rule.UNIQUE, assertion.columns)
        case NotOlder():
            return Fact(Rule.FRESHNESS, (assertion.column,))
        case Holds():
            return Fact(Rule.HOLDS, (), (assertion.text,))


def _of_field(one: ContractField, contract: TableContract) -> Iterable[Promise]:
    def promise(rule: Rule, text: str, path: tuple[str, ...] = (), values: tuple[str, ...] = ()) -> Promise:
        return Promise(Fact(rule, (one.name,), path), text, one.span, values)

    sole_key = contract.key == (one.name,)
    yield promise(Rule.TYPE, str(one.type))
    if not one.nullable:
        yield promise(Rule.NONNULL, "primary_key" if one.primary_key else "nonnull")
    for path in nonnull_paths(one.type):
        yield promise(Rule.NESTED, str(one.type), path)
    if one.enum is not None:
        yield promise(Rule.ENUM, spelled_enum(one.enum), values=one.enum)
    if sole_key:
        yield promise(Rule.PRIMARY_KEY, "primary_key")
    elif one.unique:
        yield promise(Rule.UNIQUE, "unique")
    ages = [one.freshness] if one.freshness is not None else []
    if contract.freshness is not None and contract.freshness.column == one.name:
        ages.append(contract.freshness.max_age)
    if ages:
        fact = Fact(Rule.FRESHNESS, (one.name,))
        text = f"freshness <= {spelled_age(min(ages))}"
        yield Promise(fact, text, one.span, max_age=min(ages), by_day=isinstance(one.type, Date))


def nonnull_paths(type_: ValueType) -> tuple[tuple[str, ...], ...]:
    """The paths to nested values that are never null (Seed 0 §5 C, "nested-collection optionality").

    >>> from strata_core.types import parse_type
    >>> nonnull_paths(parse_type("struct<a: int64 nonnull, b: array(string nonnull)>"))
    (('a',), ('b', 'element'))
    """
    match type_:
        case Array():
            members = [("element", type_.element, type_.element_nullable)]
        case Map():
            members = [("value", type_.value, type_.value_nullable)]
        case Struct():
            members = [(f.name, f.type, f.nullable) for f in type_.fields]
        case _:
            return ()
    paths: list[tuple[str, ...]] = []
    for step, inner, nullable in members:
        paths += [] if nullable else [(step,)]
        paths += [(step, *rest) for rest in nonnull_paths(inner)]
    return tuple(paths)


def spelled_age(age: timedelta) -> str:
    """An age in the largest unit that divides it.

    >>> spelled_age(timedelta(days=2)), spelled_age(timedelta(minutes=90))
    ('2d', '90min')
    """
    return spelled_duration(age // timedelta(seconds=1))


def rough_age(age: timedelta) -> str:
    """How old something is, in its two largest units; `spelled_age` is for what is promised.

    >>> rough_age(timedelta(seconds=142_837))
    '1d 15h'
    """
    return rough_duration(age // timedelta(seconds=1))
