"""Choices between values: `if`, `case`, `coalesce` (Seed 0 §2)."""

from __future__ import annotations

from ..inferred import Inferred, union_of_values
from ..values import BOOL, STRING, Bool
from .operands import branch_type
from .signature import Argument, Example, Function, Kind, Resolution, SignatureError, arity


def _case(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 2, None, "case(condition, value, …[, otherwise])")
    has_else = len(arguments) % 2 == 1
    branches = list(range(1, len(arguments) - has_else, 2)) + ([len(arguments) - 1] if has_else else [])
    conditions = range(0, len(arguments) - has_else, 2)
    for position in conditions:
        if not isinstance(arguments[position].type, Bool):
            raise SignatureError(
                "E053",
                f"a condition is bool, not {arguments[position].type}",
                position,
                "compare the value, as in `x > 0` or `x is not none`",
            )
    common = branch_type([(i, arguments[i]) for i in branches])
    nullable = not has_else or any(arguments[i].nullable for i in branches)
    values = union_of_values([arguments[i].inferred.values for i in branches]) if common == STRING else None
    nonzero = all(arguments[i].inferred.nonzero for i in branches)
    parameters = tuple(BOOL if i in conditions else common for i in range(len(arguments)))
    return Resolution(parameters, Inferred(common, nullable, values, nonzero))


def _if(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 3, 3, "if(condition, then, otherwise)")
    return _case(arguments)


def _coalesce(arguments: tuple[Argument, ...]) -> Resolution:
    arity(arguments, 1, None, "coalesce(x, …)")
    common = branch_type(list(enumerate(arguments)))
    values = union_of_values([a.inferred.values for a in arguments]) if common == STRING else None
    nullable = all(a.nullable for a in arguments)
    nonzero = all(a.inferred.nonzero for a in arguments)
    return Resolution((common,) * len(arguments), Inferred(common, nullable, values, nonzero))


CONDITIONALS = (
    Function(
        "if",
        Kind.SCALAR,
        "conditionals",
        "if(condition: bool, then: T, otherwise: T) -> T",
        _if,
        "`then` where the condition is true, else `otherwise` (also where it is null).",
        (Example('if(1 < 2, "a", "b")', "a"), Example('if(cast(none, "bool"), 1, 2)', 2)),
    ),
    Function(
        "case",
        Kind.SCALAR,
        "conditionals",
        "case(condition: bool, value: T, …[, otherwise: T]) -> T",
        _case,
        "The value of the first condition that is true, else `otherwise`, else null.",
        (Example('case(false, "a", true, "b", "c")', "b"), Example("case(false, 1)", None)),
    ),
    Function(
        "coalesce",
        Kind.SCALAR,
        "conditionals",
        "coalesce(x: T, …) -> T",
        _coalesce,
        "The first argument that is not null; never null as soon as one argument never is.",
        (Example('coalesce(cast(none, "int64"), 2)', 2), Example('coalesce("a", "b")', "a")),
    ),
)
