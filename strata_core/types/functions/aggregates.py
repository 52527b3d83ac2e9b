"""Aggregate functions (Seed 0 §2): results over the rows of a group.

`sum avg min max` are nullable as a rule because a group can be empty. Under at least one group key no
group is empty, so there a nonnull argument gives a nonnull result: the relation layer tightens that
(`tighten_in_group`), the catalog states the general rule.
"""

from __future__ import annotations

from decimal import Decimal as Number

from ...frozen import replace
from ..inferred import Inferred
from ..values import (
    BOOL,
    FLOAT64,
    INT64,
    Array,
    Bool,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    Struct,
    Unknown,
    ValueType,
    is_numeric,
)
from .shapes import Parameter, always, constant, takes
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, arity

NULL_OF_FEW = frozenset({"stddev", "variance"})
"""Aggregates that are null of a single value."""


def tighten_in_group(function: str, result: Inferred, arguments: tuple[Inferred, ...]) -> Inferred:
    """The result of an aggregate over rows that are never none (design `language.md`, "Aggregates"): those of a
    group with at least one key, or of a window frame that holds the current row. A count of them is not zero."""
    if function in NULL_OF_FEW or any(a.nullable for a in arguments):
        return result
    return replace(result, nullable=False, nonzero=result.nonzero or function == "count")


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


def _fixed(name: str, parameter: Parameter, result: ValueType, *, nullable: bool) -> Rule:
    return takes(f"{name}(x: {parameter.described})", (parameter,), always(result, nullable=nullable))


def any_value(name: str, arguments: tuple[Argument, ...]) -> Resolution:
    """The reading of a function that answers with one of the values of its argument, of whatever type."""
    arity(arguments, 1, 1, f"{name}(x: T)")
    (argument,) = arguments
    if isinstance(argument.type, Unknown):
        raise SignatureError("E055", "`none` has no type of its own", 0, 'write `cast(none, "int64")`')
    return Resolution((argument.type,), replace(argument.inferred, nullable=True))


def _array_agg(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = any_value("array_agg", arguments)
    (argument,) = arguments
    return replace(resolution, result=Inferred(Array(argument.type, element_nullable=False), nullable=True))


QUANTILE = "quantile(x: number, share: literal) -> float64"


def _quantile(arguments: tuple[Argument, ...]) -> Resolution:
    resolution = takes(QUANTILE, (SPREAD, SPREAD), always(FLOAT64, nullable=True))(arguments)
    share = constant(arguments, 1, QUANTILE, "the share of values below")
    if isinstance(share, bool) or not isinstance(share, int | float | Number) or not 0 <= share <= 1:
        raise SignatureError("E060", "the share is a number from 0 to 1", 1, f"the signature is `{QUANTILE}`")
    return resolution


CONDITION = Parameter((Bool,), "bool", BOOL)
SPREAD = Parameter((Int64, Float64, Decimal), "a number", FLOAT64)

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
    Function(
        "any",
        Kind.AGGREGATE,
        "aggregates",
        "any(x: bool) -> bool",
        _fixed("any", CONDITION, BOOL, nullable=True),
        "Whether one of the non-null values is true; null of none.",
        (Example("any(x)", True, (False, None, True)), Example("any(x)", False, (False, False))),
    ),
    Function(
        "all",
        Kind.AGGREGATE,
        "aggregates",
        "all(x: bool) -> bool",
        _fixed("all", CONDITION, BOOL, nullable=True),
        "Whether all non-null values are true; null of none.",
        (Example("all(x)", False, (False, None, True)), Example("all(x)", True, (True, None))),
    ),
    Function(
        "count_if",
        Kind.AGGREGATE,
        "aggregates",
        "count_if(x: bool) -> int64 nonnull",
        _fixed("count_if", CONDITION, INT64, nullable=False),
        "For how many rows the condition is true; never null.",
        (Example("count_if(x)", 1, (True, None, False)), Example("count_if(x)", 0, (None, False))),
    ),
    Function(
        "median",
        Kind.AGGREGATE,
        "aggregates",
        "median(x: number) -> float64",
        _fixed("median", SPREAD, FLOAT64, nullable=True),
        "The middle value, or halfway between the two middle ones; null of none.",
        (Example("median(x)", 2.0, (3, 1, 2)), Example("median(x)", 1.5, (1, 2, None))),
    ),
    Function(
        "quantile",
        Kind.AGGREGATE,
        "aggregates",
        QUANTILE,
        _quantile,
        "The value below which a share of the values lies, between two neighbours in proportion; null of none.",
        (Example("quantile(x, 0.25)", 1.75, (1, 2, 3, 4)), Example("quantile(x, 1)", 4.0, (4, None, 1))),
    ),
    Function(
        "variance",
        Kind.AGGREGATE,
        "aggregates",
        "variance(x: number) -> float64",
        _fixed("variance", SPREAD, FLOAT64, nullable=True),
        "The sample variance (over n - 1), reproducible to the bit; null of fewer than two values.",
        (Example("variance(x)", 2.0, (1, 3, None)), Example("variance(x)", None, (1, None))),
    ),
    Function(
        "stddev",
        Kind.AGGREGATE,
        "aggregates",
        "stddev(x: number) -> float64",
        _fixed("stddev", SPREAD, FLOAT64, nullable=True),
        "The square root of the sample variance; null of fewer than two values.",
        (Example("stddev(x)", 2.0, (1, 3, 5)), Example("stddev(x)", None, (1,))),
    ),
    Function(
        "array_agg",
        Kind.AGGREGATE,
        "aggregates",
        "array_agg(x: T) -> array(T nonnull)",
        _array_agg,
        "The non-null values in the given order; null of none.",
        (
            Example("array_agg(x) over (sort: [x])", [[1, 2], [1]], (2, 1)),
            Example("array_agg(x) over (sort: [x])", [[1, 2], [1, 2], [1]], (2, None, 1)),
        ),
        ordered=True,
    ),
    Function(
        "first",
        Kind.AGGREGATE,
        "aggregates",
        "first(x: T) -> T",
        lambda arguments: any_value("first", arguments),
        "The value, perhaps null, in the first row of the given order; null of no row.",
        (
            Example("first(x) over (sort: [x])", [1, 1, 1], (2, None, 1)),
            Example("first(x) over (sort: [x desc])", ["b", "b"], ("b", "a")),
        ),
        ordered=True,
    ),
    Function(
        "last",
        Kind.AGGREGATE,
        "aggregates",
        "last(x: T) -> T",
        lambda arguments: any_value("last", arguments),
        "The value, perhaps null, in the last row of the given order; null of no row.",
        (
            Example("last(x) over (sort: [x])", [2, 1], (2, 1)),
            Example("last(x) over (sort: [x], rows: 0..1)", [None, None, 2], (2, None, 1)),
        ),
        ordered=True,
    ),
)
