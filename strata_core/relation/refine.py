"""What a filter proves about the columns of the rows it keeps (design `language.md`, "Types").

A row is kept only where the predicate is true, so each conjunct is true: a compared column is nonnull, a
column equal to one of some strings has them as its value set, a column that differs from zero divides safely.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from decimal import Decimal

from ..frozen import replace
from ..types import Inferred, union_of_values
from ..types.functions.comparison import COMPARISONS
from .expressions import Call, Cast, Chain, ColumnRef, Expr, Literal, columns_read, conjuncts
from .schema import Column

NULL_STRICT = frozenset({*COMPARISONS, "like", "rlike", "add", "subtract", "multiply", "concat_op", "negate", "not"})
"""Functions that are null as soon as one argument is, and so prove all of them nonnull where they are true."""


def refine(columns: Mapping[str, Column], predicate: Expr) -> tuple[Column, ...]:
    """`columns`, by name, with the facts that `predicate` proves of the rows for which it is true."""
    facts = {name: columns[name].inferred for name in columns_read(predicate)}
    for part in conjuncts(predicate):
        _learn(part, facts)
    learned = {n: replace(columns[n], inferred=i) for n, i in facts.items() if i is not columns[n].inferred}
    return (*{**columns, **learned}.values(),)


def _learn(part: Expr, facts: dict[str, Inferred]) -> None:
    match part:
        case ColumnRef():
            _nonnull(part, facts)
        case Call(function="is_not_null", args=(operand,)):
            _nonnull(operand, facts)
        case Call(function="or", args=args):
            _either([_branch(a, facts) for a in args], facts)
        case Call(function="not", args=(Call(function="is_null", args=(operand,)),)):
            _nonnull(operand, facts)
        case Call(function="in", args=(operand, *items)):
            _nonnull(operand, facts)
            _narrow(operand, union_of_values([i.inferred.values for i in items]), facts)
        case Call(function=function, args=args) if function in NULL_STRICT:
            for operand in args:
                _nonnull(operand, facts)
            if function in COMPARISONS:
                left, right = args
                _compared(function, left, right, facts)
                _compared(MIRRORED[function], right, left, facts)
        case _:
            pass


MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _branch(part: Expr, facts: Mapping[str, Inferred]) -> dict[str, Inferred]:
    learned = dict(facts)
    for inner in conjuncts(part):
        _learn(inner, learned)
    return learned


def _either(branches: list[dict[str, Inferred]], facts: dict[str, Inferred]) -> None:
    """Keep what every branch of a disjunction proves."""
    for name, known in facts.items():
        learned = [b[name] for b in branches]
        facts[name] = replace(
            known,
            nullable=any(i.nullable for i in learned),
            values=union_of_values([i.values for i in learned]),
            nonzero=all(i.nonzero for i in learned),
        )


def _nonnull(operand: Expr, facts: dict[str, Inferred]) -> None:
    """A value that is not null has no null operands, as far as its functions pass nulls on."""
    match operand:
        case ColumnRef():
            facts[operand.name] = facts[operand.name].as_nonnull()
        case Cast(safe=False):
            _nonnull(operand.operand, facts)
        case Call() if operand.function in NULL_STRICT:
            for argument in operand.args:
                _nonnull(argument, facts)
        case Chain(first=first, links=links):
            strict = [*itertools.takewhile(lambda one: one.function in NULL_STRICT, reversed(links))]
            for argument in [one.operand for one in strict] + [first] * (len(strict) == len(links)):
                _nonnull(argument, facts)
        case _:
            pass


def _narrow(operand: Expr, values: frozenset[str] | None, facts: dict[str, Inferred]) -> None:
    if isinstance(operand, ColumnRef) and values is not None:
        known = facts[operand.name]
        narrowed = values if known.values is None else known.values & values
        facts[operand.name] = replace(known, values=narrowed)


def _compared(function: str, left: Expr, right: Expr, facts: dict[str, Inferred]) -> None:
    """What `left function right` proves of `left`."""
    if function == "eq":
        _narrow(left, right.inferred.values, facts)
        if right.inferred.nonzero:
            _nonzero(left, facts)
    if function == "ne" and isinstance(right, Literal) and isinstance(right.value, str) and isinstance(left, ColumnRef):
        known = facts[left.name]
        if known.values is not None:
            facts[left.name] = replace(known, values=known.values - {right.value})
    if isinstance(right, Literal) and not isinstance(right.value, bool):
        match right.value:
            case int() | float() | Decimal() as number:
                if EXCLUDES_ZERO[function](number):
                    _nonzero(left, facts)
            case _:
                pass


EXCLUDES_ZERO: dict[str, Callable[[int | float | Decimal], bool]] = {
    "eq": lambda number: number != 0,
    "ne": lambda number: number == 0,
    "gt": lambda number: number >= 0,
    "ge": lambda number: number > 0,
    "lt": lambda number: number <= 0,
    "le": lambda number: number < 0,
}
"""Whether `x function number`, where it is true, says that x is not zero."""


def _nonzero(operand: Expr, facts: dict[str, Inferred]) -> None:
    match operand:
        case ColumnRef():
            facts[operand.name] = replace(facts[operand.name], nonzero=True)
        case Cast(safe=False) if operand.inferred.type != operand.operand.inferred.type:
            # A widening cast keeps zero and nonzero apart; a narrowing one could round to zero, not from it.
            _nonzero(operand.operand, facts)
        case _:
            pass
