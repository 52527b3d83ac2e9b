"""Aggregate functions (Seed 0 §2): results over the rows of a group.

`sum avg min max` are nullable as a rule because a group can be empty. Under at least one group key no
group is empty, so there a nonnull argument gives a nonnull result: the relation layer tightens that
(`tighten_in_group`), the catalog states the general rule.
"""

from __future__ import annotations

from dataclasses import replace

from ..inferred import Inferred
from ..values import FLOAT64, INT64, Array, Json, Map, Money, Struct, Unknown, is_numeric
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, arity


def tighten_in_group(result: Inferred, arguments: tuple[Inferred, ...]) -> Inferred:
    """The result of an aggregate under at least one group key (design `language.md`, "Aggregates")."""
    return result if any(a.nullable for a in arguments) else result.as_nonnull()


def _count(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 0, 1, "count([x])")
    return Resolution(tuple(a.type for a in arguments), Inferred(INT64, nullable=False))


def _numeric(name: str, arguments: tuple[Argument, ...]) -> Argument:
    arity(arguments, 1, 1, f"{name}(x)")
    (argument,) = arguments
    if not is_numeric(argument.type) and not isinstance(argument.type, Money):
        raise SignatureError(
            "E060",
            f"`{name}` takes a number or money, not {argument.type}",
            0,
            "count rows with `count()`, or cast the argument",
        )
    return argument


def _sum(arguments: tuple[Argument, ...]) -> Resolution:
    argument = _numeric("sum", arguments)
    return Resolution((argument.type,), Inferred(argument.type, nullable=True))


def _avg(arguments: tuple[Argument, ...]) -> Resolution:
    argument = _numeric("avg", arguments)
    result = argument.type if isinstance(argument.type, Money) else FLOAT64
    return Resolution((argument.type,), Inferred(result, nullable=True))


def _extreme(name: str) -> Rule:
    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        arity(arguments, 1, 1, f"{name}(x)")
        (argument,) = arguments
        if isinstance(argument.type, Array | Map | Struct | Json | Unknown):
            raise SignatureError("E060", f"`{name}` takes an ordered scalar, not {argument.type}", 0, None)
        return Resolution((argument.type,), replace(argument.inferred, nullable=True))

    return rule


AGGREGATES = (
    Function(
        "count",
        Kind.AGGREGATE,
        "aggregates",
        "count() | count(x) | count(distinct x) -> int64 nonnull",
        _count,
        "Number of rows, of non-null values, or of distinct non-null values; never null.",
        (Example("count(x)", 2, (1, None, 1)), Example("count(distinct x)", 1, (1, None, 1))),
    ),
    Function(
        "sum",
        Kind.AGGREGATE,
        "aggregates",
        "sum(x: number | money) -> the type of x",
        _sum,
        "Exact sum of the non-null values (float64: reproducible to the bit); null of none.",
        (Example("sum(x)", 3, (1, None, 2)), Example("sum(x)", None, (None,))),
    ),
    Function(
        "avg",
        Kind.AGGREGATE,
        "aggregates",
        "avg(x: number | money) -> float64 | money",
        _avg,
        "Mean of the non-null values; of money, rounded half even to the cent; null of none.",
        (Example("avg(x)", 1.5, (1, None, 2)), Example("avg(x)", None, (None,))),
    ),
    Function(
        "min",
        Kind.AGGREGATE,
        "aggregates",
        "min(x: T) -> T",
        _extreme("min"),
        "Smallest non-null value; null of none.",
        (Example("min(x)", 1, (2, None, 1)), Example("min(x)", None, (None,))),
    ),
    Function(
        "max",
        Kind.AGGREGATE,
        "aggregates",
        "max(x: T) -> T",
        _extreme("max"),
        "Largest non-null value (NaN is largest); null of none.",
        (Example("max(x)", 2, (2, None, 1)), Example("max(x)", None, (None,))),
    ),
)
