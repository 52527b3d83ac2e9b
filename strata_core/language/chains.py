"""Flat chains of one associative operator: `a or b or c …`, of any length, as trees that stay shallow.

The grammar makes `a or b or c` the tree `(a or b) or c`, as deep as the chain is long. Three-valued `and` and `or`, and
`||`, give the same value and look at their operands in the same order however they are grouped, so that a long chain
becomes a balanced tree. Arithmetic stays as written: where a sum overflows or is rounded depends on its grouping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frozen import replace
from . import ast

ASSOCIATIVE = frozenset({"and", "or", "||"})
LONGEST_SPINE = 32
"""Operands of a chain that keeps the tree that the grammar gives it."""


def long_chain(node: object) -> list[ast.Expr] | None:
    """The operands of the chain that `node` is, in order, where there are more than `LONGEST_SPINE`."""
    if not isinstance(node, ast.Binary) or node.op not in ASSOCIATIVE:
        return None
    operands: list[ast.Expr] = []
    left: ast.Expr = node
    while isinstance(left, ast.Binary) and left.op == node.op:
        operands.append(left.right)
        left = left.left
    operands.append(left)
    return operands[::-1] if len(operands) > LONGEST_SPINE else None


def balanced(node: Any) -> Any:
    """`node` with a balanced tree for each long chain in it. What lies between chains is not deep (`limits.py`)."""
    operands = long_chain(node)
    if operands is not None:
        return _tree(node.op, [balanced(operand) for operand in operands])
    if isinstance(node, tuple):
        return tuple(balanced(item) for item in node)
    if isinstance(node, (ast.Name, type)):
        return node
    parts = {name: getattr(node, name) for name in getattr(node, "__match_args__", ()) if name != "span"}
    changed = {name: new for name, old in parts.items() if (new := balanced(old)) is not old and new != old}
    return replace(node, **changed) if changed else node


def _tree(op: ast.BinaryOp, operands: Sequence[ast.Expr]) -> ast.Expr:
    """The operands paired with their neighbours, and the pairs again, until one is left."""
    level = [*operands]
    while len(level) > 1:
        pairs: list[ast.Expr] = [
            ast.Binary(op, left, right, left.span.to(right.span))
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0]
