"""A model of a compile-time function with its values put in: an ordinary model, whose spans point at the template.

What no value touches is shared between all models that one template makes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...frozen import dataclass, replace
from ...language import ast
from ...language.ast.parts import parts
from .values import Instance, Real, Record, Value, literal_of, text_of

Evaluate = Callable[[ast.Expr, int], Value]
Spend = Callable[[int, int, ast.Expr | ast.Name], None]


@dataclass(frozen=True, slots=True)
class Filling:
    """How one model is made: the nodes that change (`templates.filled`), what names mean, how expressions are
    evaluated at a depth, and where nodes and characters are paid for."""

    touched: frozenset[int]
    scope: Mapping[str, Value]
    functions: Mapping[str, object]
    evaluate: Evaluate
    spend: Spend


def fill(node: Any, filling: Filling, depth: int) -> Any:
    """`node` with the values of `filling` in it, and what is around them made anew."""
    if id(node) not in filling.touched:
        return node
    filling.spend(1, 0, node)
    match node:
        case ast.Template():
            return ast.Literal(_text(node, node.parts, filling), node.span)
        case ast.NameTemplate():
            return ast.Name(_text(node, node.parts, filling), node.span)
        case ast.ColumnRef(qualifier=None) if node.name.text in filling.scope:
            return literal(filling.scope[node.name.text], node, filling)
        case ast.ColumnRef(qualifier=ast.Name(text=name)) if isinstance(filling.scope.get(name), Record):
            return literal(filling.evaluate(node, depth), node, filling)
        case ast.Comprehension():
            return literal(filling.evaluate(node, depth), node, filling)
        case ast.Call() if node.function.text in filling.functions:
            return literal(filling.evaluate(node, depth), node, filling)
        case ast.Entry(value=ast.Name() as name) if name.text in filling.scope:
            value = filling.scope[name.text]
            assert isinstance(value, str | bool | int | Real)
            return replace(node, value=literal_of(value, name.span))
        case ast.Derive() | ast.Select() | ast.Aggregate():
            return replace(node, items=tuple(_item(item, filling, depth + 1) for item in node.items))
    changed: dict[str, Any] = {}
    for part in parts(node.__class__):
        value = getattr(node, part)
        if isinstance(value, tuple):
            changed[part] = tuple(fill(child, filling, depth + 1) for child in value)
        elif id(value) in filling.touched:
            changed[part] = fill(value, filling, depth + 1)
    return replace(node, **changed)


def _item(item: ast.Item, filling: Filling, depth: int) -> ast.Item:
    """An output that is a value bears the name that it is written with."""
    made = fill(item, filling, depth)
    if isinstance(item, ast.ColumnRef) and not isinstance(made, ast.ColumnRef):
        return ast.Assign(item.name, made, item.span)
    assert isinstance(made, ast.Assign | ast.ColumnRef | ast.Star)
    return made


def _text(node: ast.Template | ast.NameTemplate, template: tuple[str | ast.ColumnRef, ...], filling: Filling) -> str:
    texts = [part if isinstance(part, str) else text_of(filling.evaluate(part, 0)) for part in template]
    text = "".join(texts)
    filling.spend(1, len(text), node)
    return text


def literal(value: Value, node: ast.Expr, filling: Filling) -> ast.Expr:
    """The value as it stands in a model, in the place of `node`."""
    match value:
        case tuple():
            filling.spend(len(value), 0, node)
            return ast.ListExpr(tuple(literal(element, node, filling) for element in value), node.span)
        case str() | bool() | int() | Real():
            return literal_of(value, node.span)
        case Record() | Instance():
            raise AssertionError(value)
