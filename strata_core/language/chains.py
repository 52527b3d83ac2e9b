"""Flat chains of operators, `a or b or c …` and `a + b - c …`, of any length, as trees that stay shallow.

The grammar makes `a + b + c` the tree `(a + b) + c`, as deep as the chain is long. Three-valued `and` and `or`, and
`||`, give the same value and look at their operands in the same order however they are grouped, so that a long chain
becomes a balanced tree. Where arithmetic overflows or is rounded depends on its grouping: its chain becomes a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..frozen import dataclass, replace
from . import ast

ASSOCIATIVE = frozenset({"and", "or", "||"})
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "||"})
LONGEST_SPINE = 32
"""Operands of a chain that keeps the tree that the grammar gives it."""


@dataclass(frozen=True, slots=True)
class Spine:
    """The nodes from the top of a chain down along its left side, and the operand that stands at its beginning."""

    nodes: tuple[ast.Binary, ...]
    first: ast.Expr

    @property
    def operands(self) -> list[ast.Expr]:
        """What is chained, in order."""
        return [self.first, *(node.right for node in reversed(self.nodes))]

    @property
    def associative(self) -> bool:
        """Whether the value is the same however the operands are grouped."""
        (op, *others) = {node.op for node in self.nodes}
        return not others and op in ASSOCIATIVE

    @property
    def depth(self) -> int:
        """How deep the operands stand in the shallow tree, at most."""
        return (len(self.nodes) + 1).bit_length() if self.associative else LONGEST_SPINE


def long_chain(node: object) -> Spine | None:
    """The chain that `node` is, where it has more than `LONGEST_SPINE` operands."""
    if not isinstance(node, ast.Binary):
        return None
    joined = ARITHMETIC if node.op in ARITHMETIC else ASSOCIATIVE & {node.op}
    nodes: list[ast.Binary] = []
    left: ast.Expr = node
    while isinstance(left, ast.Binary) and left.op in joined:
        nodes.append(left)
        left = left.left
    return Spine(tuple(nodes), left) if len(nodes) >= LONGEST_SPINE else None


def last_apart(chain: ast.Chain) -> ast.Binary:
    """The chain as the last operation that it is."""
    *before, last = chain.links
    left = ast.Chain(chain.first, tuple(before), before[-1].span) if before else chain.first
    return ast.Binary(last.op, left, last.operand, chain.span)


def flattened(node: Any) -> Any:
    """`node` with a shallow tree for each long chain in it. What lies between chains is not deep (`limits.py`)."""
    spine = long_chain(node)
    if spine is not None:
        if spine.associative:
            return _balanced(spine.nodes[0].op, [flattened(operand) for operand in spine.operands])
        return _listed(spine)
    if isinstance(node, tuple):
        return tuple(flattened(item) for item in node)
    if isinstance(node, (ast.Name, type)):
        return node
    parts = {name: getattr(node, name) for name in getattr(node, "__match_args__", ()) if name != "span"}
    changed = {name: new for name, old in parts.items() if (new := flattened(old)) is not old and new != old}
    return replace(node, **changed) if changed else node


def _balanced(op: ast.BinaryOp, operands: Sequence[ast.Expr]) -> ast.Expr:
    """The operands paired with their neighbours, and the pairs again, until one is left."""
    level = [*operands]
    while len(level) > 1:
        pairs: list[ast.Expr] = [
            ast.Binary(op, left, right, left.span.to(right.span))
            for left, right in zip(level[::2], level[1::2], strict=False)
        ]
        level = pairs + level[len(level) - len(level) % 2 :]
    return level[0]


def _listed(spine: Spine) -> ast.Chain:
    """The first operands as the tree that they are, the others one after the other."""
    upwards = spine.nodes[::-1]
    tree, above = upwards[LONGEST_SPINE - 2], upwards[LONGEST_SPINE - 1 :]
    links = tuple(ast.Link(node.op, flattened(node.right), node.span) for node in above)
    return ast.Chain(flattened(tree), links, spine.nodes[0].span)
