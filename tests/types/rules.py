"""How the tables of these tests are written, and read.

An operand is a type's spelling, `?` behind it where it is nullable, or `= literal` for a constant. A result is a
type in the same spelling, or the code of the error.
"""

from __future__ import annotations

import ast

from strata_core.relation.expressions import argument, literal
from strata_core.types import Inferred, parse_type
from strata_core.types.functions import CATALOG, Argument, SignatureError


def operand(spelled: str) -> Argument:
    """The argument that `spelled` stands for."""
    if spelled.startswith("="):
        return argument(literal(ast.literal_eval(spelled[1:].strip())))
    return Argument(Inferred(parse_type(spelled.removesuffix("?")), spelled.endswith("?")))


def resolve(function: str, operands: tuple[str, ...]) -> str:
    """The result of a call, or the code of its error."""
    try:
        result = CATALOG[function].rule(tuple(map(operand, operands))).result
    except SignatureError as error:
        return error.code if error.message and (error.argument or 0) <= len(operands) else "an error out of place"
    return f"{result.type}{'?' if result.nullable else ''}"


def inferred(function: str, *operands: str) -> Inferred:
    """All that is known of the result of a call."""
    return CATALOG[function].rule(tuple(map(operand, operands))).result


def fault(function: str, *operands: str) -> SignatureError:
    """The error of a call that has no reading."""
    try:
        CATALOG[function].rule(tuple(map(operand, operands)))
    except SignatureError as error:
        return error
    raise AssertionError(f"{function}({', '.join(operands)}) has a reading")
