"""Where the text of a module asks for a value: what may then follow is no new declaration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from . import ast
from .scanner import Token

INFIX = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "and", "or", "+", "-", "||", "*"})
"""Between two values of a compile-time function."""
_LEADING = INFIX | {"(", "[", "{", ",", ".", ":", "=", "->", "not", *get_args(ast.DeclarationWord)} - {"test"}


def value_is_due(tokens: Sequence[Token], i: int, depth: int) -> bool:
    """Whether what stands before token `i`, within `depth` brackets, asks for a value or name. A type behind an arrow
    does: it is that of a compile-time function, whose value follows."""
    before = tokens[i - 1].text
    return before in _LEADING or (depth > 0 and before == "if") or tokens[i - 2].text == "->"
