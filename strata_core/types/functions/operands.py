"""What the rules of operators share: how two operands are read together (Seed 0 §2; design `language.md`, "Widening").

Settled here, where the seed is silent: a *literal* number beside a decimal is read as a decimal of its own
digits, since that loses nothing; a column of type int64 beside a decimal makes float64, as the seed's rule says.
"""

from __future__ import annotations

import decimal

from ...frozen import replace
from ..lattice import castable, least_upper_bound
from ..values import (
    FLOAT64,
    MAX_PRECISION,
    Array,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    Struct,
    Unknown,
    ValueType,
)
from .signature import Argument, Example, Function, Kind, Rule, SignatureError

SYMBOLS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "modulo": "%",
    "concat_op": "||",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "and",
    "or": "or",
    "not": "not",
    "negate": "-",
    "like": "like",
    "rlike": "rlike",
    "in": "in",
    "is_null": "is none",
    "is_not_null": "is not none",
}


def decimal_of(value: int | float | decimal.Decimal) -> Decimal | None:
    """The smallest decimal that holds a literal number exactly, or `None` where none of 38 digits does.

    >>> str(decimal_of(0.25)), str(decimal_of(100))
    ('decimal(2,2)', 'decimal(3,0)')
    """
    exact = decimal.Decimal(str(value))
    if not exact.is_finite():
        return None
    _, digits, exponent = exact.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale, 1)
    return Decimal(precision, scale) if precision <= MAX_PRECISION else None


def as_factor(argument: Argument) -> Argument:
    """A float literal read as a decimal of its own digits (lossless); anything else as it is."""
    value = argument.constant.value if argument.constant else None
    if not isinstance(value, float) or not isinstance(argument.type, Float64):
        return argument
    exact = decimal_of(value)
    return argument if exact is None else replace(argument, inferred=replace(argument.inferred, type=exact))


def readable_beside(literal: Argument, beside: Argument) -> Argument:
    """`literal`, where it is one and loses nothing, as a value of the type of the argument beside it."""
    adapted = _adapt(literal, beside)
    if adapted.constant is None or isinstance(adapted.constant.value, bool):
        return adapted
    lossless = isinstance(adapted.type, Int64) and isinstance(beside.type, Float64)
    return replace(adapted, inferred=replace(adapted.inferred, type=FLOAT64)) if lossless else adapted


def adapt_literals(left: Argument, right: Argument) -> tuple[Argument, Argument]:
    """Read a literal number beside a decimal as a decimal (lossless)."""
    return _adapt(left, right), _adapt(right, left)


def _adapt(literal: Argument, beside: Argument) -> Argument:
    if literal.constant is None or not isinstance(beside.type, Decimal):
        return literal
    value = literal.constant.value
    if isinstance(value, bool) or not isinstance(value, int | float) or isinstance(literal.type, Decimal):
        return literal
    exact = decimal_of(value)
    return literal if exact is None else replace(literal, inferred=replace(literal.inferred, type=exact))


def typed_operands(name: str, arguments: tuple[Argument, ...]) -> tuple[Argument, Argument]:
    """The two operands; raises E055 where one is a bare `none`, which has no type to work with."""
    left, right = arguments
    for position, argument in enumerate(arguments):
        if isinstance(argument.type, Unknown):
            raise SignatureError(
                "E055",
                f"`none` has no type of its own beside `{SYMBOLS[name]}`",
                position,
                'test for null with `is none`, or give it a type with `cast(none, "int64")`',
            )
    return left, right


def misfit(name: str, left: Argument, right: Argument, position: int, accepted: str) -> SignatureError:
    """E050 at one operand, saying what the operator accepts."""
    return SignatureError(
        "E050",
        f"`{SYMBOLS[name]}` cannot combine {left.type} and {right.type}",
        position,
        f"`{SYMBOLS[name]}` takes {accepted}",
    )


def comparable(left: Argument, right: Argument) -> ValueType | None:
    """The type at which two operands are compared, or `None` where they cannot be."""
    match left.type, right.type:
        case (Decimal(), Float64()) | (Float64(), Decimal()) | (Int64(), Float64()) | (Float64(), Int64()):
            return FLOAT64
        case (Int64(), Decimal()) | (Decimal(), Int64()) | (Decimal(), Decimal()):
            return least_upper_bound(left.type, right.type) or FLOAT64
        case (Array(), _) | (Map(), _) | (Struct(), _) | (Json(), _):
            return None
        case _:
            return left.type if left.type == right.type else None


def branch_type(branches: list[tuple[int, Argument]]) -> ValueType:
    """The least upper bound of branches; raises E054 (E052 for currencies) at the first that does not fit."""
    common: Argument | None = None
    for position, branch in branches:
        if common is None:
            common = branch
            continue
        left, right = adapt_literals(common, branch)
        bound = least_upper_bound(left.type, right.type)
        if bound is None:
            both_money = isinstance(left.type, Money) and isinstance(right.type, Money)
            raise SignatureError(
                "E052" if both_money else "E054",
                f"{left.type} and {right.type} have no common type",
                position,
                f'cast one of them, as in `cast(x, "{left.type}")`',
                cast=(position, left.type) if castable(right.type, left.type) and not both_money else None,
            )
        constant = common.constant if common.constant == branch.constant else None
        common = Argument(replace(left.inferred, type=bound), constant)
    assert common is not None
    return common.type


def operator(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    """A row of the catalog for something that has a syntax of its own."""
    return Function(name, Kind.SCALAR, "operators", signature, rule, doc, examples, surface=False)
