"""What a model within a compile-time function holds of it: the places that a call fills.

A name without a qualifier that is one of the function's is its value, also where a column bears the name. A table or
column is named by interpolation, ``from `orders_${c}` ``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

from ...diagnostics import Span
from ...frozen import dataclass
from ...language import ast
from ...language.ast.parts import children

Place = Literal["value", "column", "name", "attribute"]


class Occurrence(NamedTuple):
    """A node that a call fills, and what it stands for: a value, a column where only one may be named, a name, or what
    is said about the model.

    `hidden` is a column of the model with the name of what is read here: which of the two is meant is not told.
    """

    node: ast.Expr | ast.Name
    place: Place
    hidden: ast.Name | None = None


def is_filled(node: Any, names: Collection[str], functions: Collection[str]) -> bool:
    """Whether a call fills `node`, which stands in a model within a scope of `names`."""
    match node:
        case ast.Template() | ast.NameTemplate() | ast.Comprehension():
            return True
        case ast.ColumnRef(qualifier=None):
            return node.name.text in names
        case ast.ColumnRef(qualifier=ast.Name(text=qualifier)):
            return qualifier in names
        case ast.Call():
            return node.function.text in functions
        case _:
            return False


@dataclass(frozen=True, slots=True)
class Template:
    """What was found out about a model: the identities of the nodes that a call fills and of those around them (all
    others stay), the names whose values it is made with, and where names are made of them."""

    filled: frozenset[int]
    names: tuple[str, ...]
    named: frozenset[Span]


def template_of(model: ast.Model, names: Collection[str], functions: Collection[str]) -> Template:
    """What a scope of `names` fills in `model`."""
    found: set[int] = set()
    read: set[str] = set()
    named: set[Span] = set()

    def visit(node: Any) -> bool:
        match node:
            case ast.ColumnRef():
                read.add((node.qualifier or node.name).text)
            case ast.Template() | ast.NameTemplate():
                named.add(node.span)
                read.update((p.qualifier or p.name).text for p in node.parts if isinstance(p, ast.ColumnRef))
            case ast.Entry(value=ast.Name(text=text)):
                read.add(text)
        own = is_filled(node, names, functions) or _filled_attribute(node, names)
        inside = [visit(child) for child in children(node)]
        if own or any(inside):
            found.add(id(node))
            return True
        return False

    visit(model)
    return Template(frozenset(found), tuple(name for name in names if name in read), frozenset(named))


def _filled_attribute(node: Any, names: Collection[str]) -> bool:
    return isinstance(node, ast.Entry) and isinstance(node.value, ast.Name) and node.value.text in names


def occurrences(model: ast.Model, names: Collection[str], functions: Collection[str]) -> Iterator[Occurrence]:
    """All that a call fills in `model`, in the order of the text."""
    columns: dict[str, ast.Name] = {}
    yield from _within(model.name, names, functions, columns)
    if model.contract is not None:
        yield from _within(model.contract, names, functions, columns)
    for attribute in model.attributes:
        if _filled_attribute(attribute, names):
            assert isinstance(attribute.value, ast.Name)
            yield Occurrence(ast.ColumnRef(None, attribute.value, attribute.value.span), "attribute")
        else:
            yield from _within(attribute, names, functions, columns)
    for statement in model.statements:
        yield from _within(statement, names, functions, columns)
        columns |= {name.text: name for name in _defined(statement) if name.text in names}


def _within(
    node: Any, names: Collection[str], functions: Collection[str], columns: dict[str, ast.Name]
) -> Iterator[Occurrence]:
    if is_filled(node, names, functions):
        hidden = columns.get(node.name.text) if isinstance(node, ast.ColumnRef) and node.qualifier is None else None
        yield Occurrence(node, "name" if isinstance(node, ast.NameTemplate) else "value", hidden)
        return
    named = {id(column) for column in _named_columns(node)}
    for child in children(node):
        if id(child) in named and is_filled(child, names, functions):
            yield Occurrence(child, "column")
        else:
            yield from _within(child, names, functions, columns)


def _named_columns(node: Any) -> list[ast.ColumnRef]:
    """The columns that are named where a value would mean nothing: orders, groups, layouts."""
    match node:
        case ast.Dedup(keys=keys):
            found: Collection[Any] = keys
        case ast.SortKey(expr=key):
            found = [key]
        case ast.Group(keys=keys) | ast.PartitionBy(columns=keys) | ast.Over(partition_by=keys):
            found = keys
        case _:
            found = []
    return [column for column in found if isinstance(column, ast.ColumnRef) and column.qualifier is None]


def _defined(statement: ast.Statement) -> Iterator[ast.Name]:
    """The columns that a statement names; one that is the value of its name hides nothing."""
    match statement:
        case ast.Let() | ast.Expand():
            yield statement.name
        case ast.Derive() | ast.Select() | ast.Aggregate():
            for item in statement.items:
                if isinstance(item, ast.Assign) and not _is_itself(item):
                    yield item.name
        case ast.Group():
            for key in statement.keys:
                if isinstance(key, ast.Assign):
                    yield key.name
            for part in statement.body:
                yield from _defined(part)
        case _:
            pass


def _is_itself(item: ast.Assign) -> bool:
    match item.expr:
        case ast.ColumnRef(qualifier=None, name=name):
            return name.text == item.name.text
        case _:
            return False
