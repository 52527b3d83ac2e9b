"""Every name in a program with what it means: where it is declared, where it is used. For editors and refactorings.

A pass over one declaration, without types: it needs the columns of the tables that it reads, by name, and says which
columns it leaves. It is lenient: a half-typed model has meaning too, and what cannot be told has no occurrence.

A bare item of a `select` (`amount`) is two things at one place: it reads a column of the rows before and gives the
output its name. Both are kept, with the place of the item, so that a rename of one can spell the other out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from ...language import ast
from ...language.ast.parts import children
from ..sources import CLOCKS
from .occurrences_in_expressions import note_expression, note_type
from .occurrences_in_models import Rows, names_of_model
from .symbols import Found, Kind, Notes, Occurrence, Symbol, TableColumns


def occurrences(declaration: ast.Declaration, columns_of: TableColumns) -> Found:
    """The names in one declaration. Of a model what it reads comes from `columns_of`."""
    notes = Notes()
    match declaration:
        case ast.Model():
            return names_of_model(declaration, columns_of)
        case ast.Source():
            return _source(declaration)
        case ast.Contract():
            notes.add(declaration.name, Symbol(Kind.CONTRACT, declaration.name.text), defines=True)
            for one in declaration.fields:
                notes.add(one.name, Symbol(Kind.FIELD, one.name.text, declaration.name.text), defines=True)
                note_type(one.type, notes)
        case ast.Domain():
            notes.add(declaration.name, Symbol(Kind.DOMAIN, declaration.name.text), defines=True)
            note_type(declaration.type, notes)
        case ast.Pipeline():
            notes.add(declaration.name, Symbol(Kind.PIPELINE, declaration.name.text), defines=True)
            for chosen in (*declaration.models, *(o.source for o in declaration.sources)):
                if isinstance(chosen, ast.Call):
                    _compile_time(chosen, notes)
                else:
                    notes.add(chosen, Symbol(Kind.TABLE, chosen.text))
        case ast.Test():
            _test(declaration, columns_of, notes)
        case ast.Import():
            dotted = ".".join(part.text for part in declaration.path)
            notes.found.append(Occurrence(declaration.span, Symbol(Kind.MODULE, dotted)))
        case ast.Extern():
            notes.add(declaration.name, Symbol(Kind.FUNCTION, declaration.name.text), defines=True)
            for parameter in declaration.parameters:
                note_type(parameter.type, notes)
            note_type(declaration.returns, notes)
        case ast.Fn():
            _fn(declaration, columns_of, notes)
        case ast.Generator():
            _compile_time(declaration.call, notes)
        case ast.Broken():
            kind = _KINDS.get(declaration.word)
            if kind is not None:
                notes.add(declaration.name, Symbol(kind, declaration.name.text), defines=True)
        case _:
            assert_never(declaration)
    return Found(tuple(notes.found))


_KINDS = {
    "model": Kind.TABLE,
    "source": Kind.TABLE,
    "contract": Kind.CONTRACT,
    "domain": Kind.DOMAIN,
    "pipeline": Kind.PIPELINE,
    "fn": Kind.FUNCTION,
}


def _source(source: ast.Source) -> Found:
    notes = Notes()
    name = source.name.text
    notes.add(source.name, Symbol(Kind.TABLE, name), defines=True)
    columns: dict[str, Symbol] = {}
    for one in source.columns or ():
        columns.setdefault(one.name.text, Symbol(Kind.COLUMN, one.name.text, name))
        notes.add(one.name, columns[one.name.text], defines=True)
        note_type(one.type, notes)
    if source.filter is not None:
        rows = Rows(columns, {name: columns}, {name: Symbol(Kind.TABLE, name)})
        note_expression(source.filter, rows.resolve, rows.labels, notes)
    if source.freshness is not None and source.freshness.column is not None:
        notes.add(source.freshness.column, columns.get(source.freshness.column.text))
    for entry in source.properties:
        if entry.key.text in CLOCKS and isinstance(entry.value, ast.Name):
            notes.add(entry.value, columns.get(entry.value.text))
    return Found(tuple(notes.found), columns)


def _test(test: ast.Test, columns_of: TableColumns, notes: Notes) -> None:
    symbol = Symbol(Kind.TABLE, test.name.text)
    notes.add(test.name, symbol)
    columns = columns_of(test.name.text) or {}
    rows = Rows(columns, {test.name.text: columns}, {test.name.text: symbol})
    for expectation in test.expectations:
        match expectation.condition:
            case ast.In(operand=operand, values=ast.ColumnRef(qualifier=ast.Name() as table, name=column)):
                note_expression(operand, rows.resolve, rows.labels, notes)
                notes.add(table, Symbol(Kind.TABLE, table.text))
                notes.add(column, (columns_of(table.text) or {}).get(column.text))
            case condition:
                note_expression(condition, rows.resolve, rows.labels, notes)
    for given in test.given:
        notes.add(given.table, Symbol(Kind.TABLE, given.table.text))
        for name in given.rows.columns:
            notes.add(name, (columns_of(given.table.text) or {}).get(name.text))
    for name in test.expected.columns if test.expected is not None else ():
        notes.add(name, columns.get(name.text))


def _fn(fn: ast.Fn, columns_of: TableColumns, notes: Notes) -> None:
    """The function, those that it calls, and what its models name. What is a value in them is no column."""
    notes.add(fn.name, Symbol(Kind.FUNCTION, fn.name.text), defines=True)
    _compile_time(fn.body, notes)
    nodes = list(nodes_of(fn.body))
    values = {p.name.text for p in fn.parameters} | {n.name.text for n in nodes if isinstance(n, ast.For)}
    for literal in nodes:
        if isinstance(literal, ast.ModelLiteral):
            inside = nodes_of(literal.model)
            filled = {n.span for n in inside if isinstance(n, ast.ColumnRef) and (n.qualifier or n.name).text in values}
            named = names_of_model(literal.model, columns_of).occurrences
            notes.found += [o for o in named if o.span not in filled and "${" not in o.symbol.name]


def _compile_time(root: ast.Expr, notes: Notes) -> None:
    """The functions that compile-time code calls."""
    for node in nodes_of(root):
        if isinstance(node, ast.Call):
            notes.add(node.function, Symbol(Kind.FUNCTION, node.function.text))


def nodes_of(root: ast.Expr | ast.Model) -> Iterator[object]:
    """All nodes of a tree but those of the models within it."""
    pending: list[object] = [root]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.ModelLiteral):
            pending += children(node)
