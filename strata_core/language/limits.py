"""What holds for every declaration and no grammar rule can say: the depth of the tree, the range of int64, and where
interpolation may stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ..diagnostics import Diagnostic
from . import ast
from .ast.parts import children
from .chains import LONGEST_SPINE, flattened, long_chain
from .literals import INT_MAX, int_range
from .tables import Tables

_OPERATORS = frozenset(
    ["+", "-", "*", "/", "%", "||", "==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "like", "rlike", "in", "is"]
)
_LONG = len(str(INT_MAX))


def nests_deep(kinds: Sequence[int], nesting: int, max_depth: int, tables: Tables) -> bool:
    """Whether the tree of tokens of `kinds`, in which brackets nest `nesting` deep, may break a limit of depth or hold
    a long chain: most cannot, as is seen without a walk. A bracket makes a tree at most four levels deeper (a call, its
    keyword, a list, an item), an operator one, and what stands around an expression less than twenty."""
    operators = sum(map(_deepening(tables).__contains__, kinds))
    return operators >= LONGEST_SPINE or 20 + 4 * nesting + operators > max_depth


def looks_special(texts: Iterable[str], numbers: Iterable[str]) -> bool:
    """Whether there may be interpolation in `texts`, or an integer beyond int64 among `numbers`."""
    return any("${" in text for text in texts) or any(len(number) >= _LONG for number in numbers)


@cache
def _deepening(tables: Tables) -> frozenset[int]:
    return frozenset(kind for kind, text in enumerate(tables.spelling) if text in _OPERATORS)


def within_limits(declaration: ast.Declaration, max_depth: int) -> tuple[ast.Declaration, list[Diagnostic]]:
    """`declaration`, its long chains as shallow trees, and what is wrong: E001 where the tree is deeper than
    `max_depth`, E003 for the literal 2⁶³ without a minus, E043 for interpolation outside a compile-time function.

    Walks with a list of its own, so that it holds whatever the depth.
    """
    found: list[Diagnostic] = []
    chains = False
    templates = isinstance(declaration, ast.Fn)
    pending: list[tuple[Any, int]] = [(declaration, 0)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ast.Literal) and type(node.value) is int and node.value > INT_MAX:
            found.append(int_range(node.span))
        elif isinstance(node, ast.Template | ast.NameTemplate) and not templates:
            message = "`${…}` is only allowed within a compile-time function"
            fix = "write `\\$` for a dollar sign before a brace" if isinstance(node, ast.Template) else "rename it"
            found.append(Diagnostic("E043", message, node.span, fix=fix))
        if depth > max_depth:
            message = f"the expression is nested more than {max_depth} deep"
            return declaration, [Diagnostic("E001", message, node.span, fix="give parts of it names with `let`")]
        if (spine := long_chain(node)) is not None:
            chains = True
            below = depth + spine.depth
            pending += [(operand, below) for operand in spine.operands]
            continue
        pending += [(child, depth + 1) for child in children(node)]
    return flattened(declaration) if chains else declaration, found
