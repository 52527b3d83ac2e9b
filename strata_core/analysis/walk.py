"""What stands inside the expressions of a model, before they are typed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ..language import ast
from ..types.functions import CATALOG, Kind

LEAVES = (ast.ColumnRef, ast.Literal)
"""Most of what stands in expressions: nothing is inside it."""

Node = TypeVar("Node", bound=ast.Expr)


def operands(node: ast.Expr) -> tuple[ast.Expr, ...]:
    """The expressions directly inside `node`."""
    match node:
        case ast.Literal() | ast.ColumnRef() | ast.Comprehension() | ast.ModelLiteral():
            return ()
        case ast.Binary():
            return (node.left, node.right)
        case ast.Chain():
            return (node.first, *(link.operand for link in node.links))
        case ast.Unary() | ast.IsNone():
            return (node.operand,)
        case ast.In():
            return (node.operand, node.values)
        case ast.Like() | ast.RLike():
            return (node.operand, node.pattern)
        case ast.ListExpr():
            return node.items
        case ast.Call():
            return (*node.arguments, *(k.value for k in node.keywords))
        case ast.Over():
            return (*operands(node.call), *node.partition_by, *(k.expr for k in node.sort))


def expressions_of(items: Iterable[ast.Item | ast.Expr]) -> list[ast.Expr]:
    """The expressions of items and keys; a star has none."""
    return [i.expr if isinstance(i, ast.Assign) else i for i in items if not isinstance(i, ast.Star)]


def windows_in(nodes: Iterable[ast.Expr]) -> Iterator[ast.Over]:
    """The outermost windows inside `nodes`, from left to right."""
    return _outermost(nodes, lambda node: node if isinstance(node, ast.Over) else None)


def aggregates_in(nodes: Iterable[ast.Expr]) -> Iterator[ast.Call]:
    """The outermost aggregate calls inside `nodes`; the call of a window is none, its arguments may hold some."""
    return _outermost(nodes, _aggregate)


def _aggregate(node: ast.Expr) -> ast.Call | None:
    function = CATALOG.get(node.function.text) if isinstance(node, ast.Call) else None
    return node if isinstance(node, ast.Call) and function is not None and function.kind is Kind.AGGREGATE else None


def _outermost(nodes: Iterable[ast.Expr], wanted: Callable[[ast.Expr], Node | None]) -> Iterator[Node]:
    stack = [*nodes][::-1]
    while stack:
        node = stack.pop()
        found = wanted(node)
        if found is not None:
            yield found
        elif not isinstance(node, LEAVES):
            stack.extend(reversed(operands(node)))
