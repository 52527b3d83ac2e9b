"""The names in an expression, and in a written type (`occurrences.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from ...language import ast
from ...types import TYPE_NAMES
from ...types.functions import CATALOG
from ..expressions import CASTS
from ..walk import operands
from .symbols import Kind, Notes, Occurrence, Symbol

Resolve = Callable[[ast.ColumnRef], Symbol | None]
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def note_type(written: ast.TypeExpr, notes: Notes) -> None:
    """The domains in a written type."""
    if written.name.text not in TYPE_NAMES:
        notes.add(written.name, Symbol(Kind.DOMAIN, written.name.text))
    for argument in written.arguments:
        match argument:
            case ast.TypeExpr():
                note_type(argument, notes)
            case ast.TypeField():
                note_type(argument.type, notes)
            case ast.Literal():
                pass
            case _:
                assert_never(argument)


def note_expression(root: ast.Expr, resolve: Resolve, labels: Mapping[str, Symbol], notes: Notes) -> None:
    """The names in an expression, in the order of the text."""
    pending: list[ast.Expr] = [root]
    while pending:
        node = pending.pop()
        match node:
            case ast.ColumnRef():
                if node.qualifier is not None:
                    notes.add(node.qualifier, labels.get(node.qualifier.text))
                notes.add(node.name, resolve(node))
                continue
            case ast.Call():
                pending.extend(reversed(_arguments(node, notes)))
                continue
            case ast.Over():
                below: Sequence[ast.Expr] = (node.call, *node.partition_by, *(k.expr for k in node.sort))
            case _:
                below = operands(node)
        pending.extend(reversed(below))


def _arguments(call: ast.Call, notes: Notes) -> list[ast.Expr]:
    """The arguments of a call that are expressions; bare words such as `day` are none."""
    notes.add(call.function, Symbol(Kind.FUNCTION, call.function.text))
    function = CATALOG.get(call.function.text)
    if call.function.text in CASTS:
        for argument in call.arguments[1:2]:
            _spelled_domains(argument, notes)
    words = function.words if function is not None else {}
    given = [node for i, node in enumerate(call.arguments) if i not in words]
    return [*given, *(k.value for k in call.keywords)]


def _spelled_domains(node: ast.Expr, notes: Notes) -> None:
    """The domains in the string of a cast: `cast(x, "array(country_code)")`."""
    if not isinstance(node, ast.Literal) or not isinstance(node.value, str) or node.span.line != node.span.end_line:
        return
    if len(node.value) + 2 != node.span.end_column - node.span.column:
        return  # written with escapes
    for match in _WORD.finditer(node.value):
        if match.group() not in TYPE_NAMES:
            start = node.span.column + 1 + match.start()
            span = replace(node.span, column=start, end_column=start + len(match.group()))
            notes.found.append(Occurrence(span, Symbol(Kind.DOMAIN, match.group())))
