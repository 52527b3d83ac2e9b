"""Every name in a program with what it means: where it is declared, where it is used. For editors and refactorings.

A pass over one declaration, without types: it needs the columns of the tables that it reads, by name, and says which
columns it leaves. It is lenient: a half-typed model has meaning too, and what cannot be told has no occurrence.

A bare item of a `select` (`amount`) is two things at one place: it reads a column of the rows before and gives the
output its name. Both are kept, with the place of the item, so that a rename of one can spell the other out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import assert_never

from ..diagnostics import Span
from ..language import ast
from ..language.ast.parts import children
from ..language.recovery import CURSOR, MISSING
from ..types import TYPE_NAMES
from ..types.functions import CATALOG
from .expressions import CASTS
from .sources import CLOCKS
from .walk import operands


class Kind(StrEnum):
    """What a name can mean."""

    TABLE = "table"
    COLUMN = "column"
    CONTRACT = "contract"
    FIELD = "field"
    DOMAIN = "domain"
    PIPELINE = "pipeline"
    ALIAS = "alias"
    FUNCTION = "function"
    MODULE = "module"


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """What a name means. `owner` is the table of a column, the contract of a field, the model of an alias.

    Columns that a model has on its way only are told apart by the number of the statement that makes them (`place`);
    those that its readers see have none.
    """

    kind: Kind
    name: str
    owner: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place. `item` is the bare item of a list of outputs that it is, or is part of."""

    span: Span
    symbol: Symbol
    defines: bool = False
    item: Span | None = None


Columns = Mapping[str, Symbol]
TableColumns = Callable[[str], Columns | None]
"""The columns of a table by name; `None` where there is no such table."""


@dataclass(frozen=True, slots=True)
class Found:
    """The names of one declaration. `outputs` are the columns that a table has for its readers; `ties` are pairs of
    columns that must bear one name, since one becomes the other without being named."""

    occurrences: tuple[Occurrence, ...]
    outputs: Columns | None = None
    ties: tuple[tuple[Symbol, Symbol], ...] = ()


def occurrences(declaration: ast.Declaration, columns_of: TableColumns) -> Found:
    """The names in one declaration. Of a model what it reads comes from `columns_of`."""
    notes = _Notes()
    match declaration:
        case ast.Model():
            return _model(declaration, columns_of)
        case ast.Source():
            return _source(declaration)
        case ast.Contract():
            notes.add(declaration.name, Symbol(Kind.CONTRACT, declaration.name.text), defines=True)
            for one in declaration.fields:
                notes.add(one.name, Symbol(Kind.FIELD, one.name.text, declaration.name.text), defines=True)
                _type(one.type, notes)
        case ast.Domain():
            notes.add(declaration.name, Symbol(Kind.DOMAIN, declaration.name.text), defines=True)
            _type(declaration.type, notes)
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
                _type(parameter.type, notes)
            _type(declaration.returns, notes)
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
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(slots=True)
class _Notes:
    """What a pass has found so far."""

    found: list[Occurrence] = field(default_factory=list)

    def add(self, name: ast.Name, symbol: Symbol | None, *, defines: bool = False, item: Span | None = None) -> None:
        if symbol is not None and name.text not in (MISSING, CURSOR):
            self.found.append(Occurrence(name.span, symbol, defines, item))


Resolve = Callable[[ast.ColumnRef], Symbol | None]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The names that a statement sees: bare ones, hidden ones (`let`), and those of the tables that were read."""

    outputs: Columns
    tables: Mapping[str, Columns]
    labels: Mapping[str, Symbol]
    lets: Columns = field(default_factory=dict)

    def resolve(self, ref: ast.ColumnRef) -> Symbol | None:
        """The column that `ref` means; a bare name of one joined table's column is taken for it."""
        name = ref.name.text
        if ref.qualifier is not None:
            return self.tables.get(ref.qualifier.text, {}).get(name)
        for part in (self.lets, self.outputs):
            if name in part:
                return part[name]
        holders = [columns[name] for columns in self.tables.values() if name in columns]
        return holders[0] if len(holders) == 1 else None


def _model(model: ast.Model, columns_of: TableColumns) -> Found:
    notes = _Notes()
    name = model.name.text
    notes.add(model.name, Symbol(Kind.TABLE, name), defines=True)
    if model.contract is not None:
        notes.add(model.contract, Symbol(Kind.CONTRACT, model.contract.text))
    rows = _Rows({}, {}, {})
    ties: list[tuple[Symbol, Symbol]] = []
    for place, statement in enumerate(model.statements, start=1):
        rows = _Statement(name, place, columns_of, notes, ties).after(statement, rows)
    for statement in model.statements:
        match statement:
            case ast.PartitionBy():
                for column in statement.columns:
                    _expression(column, rows.resolve, rows.labels, notes)
            case ast.Freshness(column=ast.Name() as column):
                notes.add(column, rows.outputs.get(column.text))
            case ast.Incremental(keys=keys, cursor=cursor):
                for name_ in (*keys, *([cursor] if cursor is not None else [])):
                    notes.add(name_, rows.outputs.get(name_.text))
            case _:
                pass
    return _published(name, rows.outputs, notes.found, ties)


def _published(
    model: str, outputs: Columns, found: Iterable[Occurrence], ties: Iterable[tuple[Symbol, Symbol]]
) -> Found:
    """The columns in the end under the names that readers know them by; a column that comes through unnamed is tied
    to the one it is."""
    public = {n: Symbol(Kind.COLUMN, n, model) for n in outputs}
    own = {s: public[n] for n, s in outputs.items() if s.owner == model and s.name == n}
    through = [(s, public[n]) for n, s in outputs.items() if s not in own]
    renamed = [replace(o, symbol=own[o.symbol]) if o.symbol in own else o for o in found]
    tied = [(own.get(a, a), own.get(b, b)) for a, b in ties]
    return Found(tuple(renamed), public, (*tied, *through))


@dataclass(frozen=True, slots=True)
class _Statement:
    """One statement of a model: number `place`, with where to note what it names."""

    model: str
    place: int
    columns_of: TableColumns
    notes: _Notes
    ties: list[tuple[Symbol, Symbol]]

    def after(self, statement: ast.Statement, rows: _Rows) -> _Rows:
        """The rows that it leaves."""
        match statement:
            case ast.From():
                return self._table(statement.table, statement.alias, rows, first=True)
            case ast.Join():
                joined = self._table(statement.table, statement.alias, rows, first=False)
                if statement.on is not None:
                    self._read(statement.on, joined)
                return joined
            case ast.AsofJoin():
                joined = self._table(statement.table, statement.alias, rows, first=False)
                for node in (statement.on, statement.at, statement.available):
                    if node is not None:
                        self._read(node, joined)
                return joined
            case ast.Filter():
                self._read(statement.condition, rows)
                return rows
            case ast.Let():
                self._read(statement.expr, rows)
                return replace(rows, lets={**rows.lets, statement.name.text: self._define(statement.name)})
            case ast.Derive():
                added = self._items(statement.items, rows, rows)
                self._replaced(added, rows)
                lets = {n: s for n, s in rows.lets.items() if n not in added}
                return replace(rows, outputs={**rows.outputs, **added}, lets=lets)
            case ast.Select():
                return replace(rows, outputs=self._items(statement.items, rows, rows))
            case ast.Aggregate():
                return replace(rows, outputs=self._items(statement.items, rows, rows), lets={})
            case ast.Group():
                return self._group(statement, rows)
            case ast.Sort():
                self._sort(statement.keys, rows)
                return rows
            case ast.SetOperation():
                return self._combined(statement, rows)
            case ast.Dedup():
                for key in statement.keys:
                    self._read(key, rows)
                self._sort(statement.sort, rows)
                return rows
            case ast.Expand():
                self._read(statement.array, rows)
                element = {statement.name.text: self._define(statement.name)}
                self._replaced(element, rows)
                return replace(rows, outputs={**rows.outputs, **element})
            case ast.Take() | ast.Freshness() | ast.PartitionBy() | ast.Incremental():
                return rows
            case _:
                assert_never(statement)

    def _table(self, table: ast.Name, alias: ast.Name | None, rows: _Rows, *, first: bool) -> _Rows:
        symbol = Symbol(Kind.TABLE, table.text)
        self.notes.add(table, symbol)
        if alias is not None:
            symbol = Symbol(Kind.ALIAS, alias.text, self.model, self.place)
            self.notes.add(alias, symbol, defines=True)
        label = (alias or table).text
        columns = self.columns_of(table.text) or {}
        return replace(
            rows,
            outputs=columns if first else rows.outputs,
            tables={**rows.tables, label: columns},
            labels={**rows.labels, label: symbol},
        )

    def _replaced(self, added: Columns, rows: _Rows) -> None:
        """A column that takes the place of one of its name goes on being called so, or it would stand beside it."""
        self.ties.extend((rows.outputs[name], symbol) for name, symbol in added.items() if name in rows.outputs)

    def _define(self, name: ast.Name, item: Span | None = None) -> Symbol:
        symbol = Symbol(Kind.COLUMN, name.text, self.model, self.place)
        self.notes.add(name, symbol, defines=True, item=item)
        return symbol

    def _read(self, node: ast.Expr, rows: _Rows) -> None:
        _expression(node, rows.resolve, rows.labels, self.notes)

    def _sort(self, keys: Iterable[ast.SortKey], rows: _Rows) -> None:
        for key in keys:
            self._read(key.expr, rows)

    def _items(self, items: Iterable[ast.Item], rows: _Rows, named: _Rows) -> dict[str, Symbol]:
        """The outputs that `items` choose from `rows`; bare items are looked up in `named` first."""
        outputs: dict[str, Symbol] = {}
        for item in items:
            match item:
                case ast.Assign():
                    self._read(item.expr, rows)
                    outputs[item.name.text] = self._define(item.name)
                case ast.ColumnRef():
                    outputs[item.name.text] = self._bare(item, named)
                case ast.Star():
                    outputs |= self._star(item, rows)
                case _:
                    assert_never(item)
        return outputs

    def _bare(self, item: ast.ColumnRef, rows: _Rows) -> Symbol:
        if item.qualifier is not None:
            self.notes.add(item.qualifier, rows.labels.get(item.qualifier.text))
        self.notes.add(item.name, rows.resolve(item), item=item.span)
        return self._define(item.name, item.span)

    def _star(self, star: ast.Star, rows: _Rows) -> dict[str, Symbol]:
        columns = rows.outputs
        if star.qualifier is not None:
            self.notes.add(star.qualifier, rows.labels.get(star.qualifier.text))
            columns = rows.tables.get(star.qualifier.text, {})
        excluded = {name.text for name in star.excluded}
        for name in star.excluded:
            self.notes.add(name, columns.get(name.text))
        return {n: s for n, s in columns.items() if n not in excluded}

    def _group(self, group: ast.Group, rows: _Rows) -> _Rows:
        outputs: dict[str, Symbol] = {}
        unnamed = 0
        for key in group.keys:
            match key:
                case ast.Assign():
                    self._read(key.expr, rows)
                    outputs[key.name.text] = self._define(key.name)
                case ast.ColumnRef():
                    outputs[key.name.text] = self._bare(key, rows)
                case _:
                    self._read(key, rows)
                    outputs[f"g{unnamed}"] = Symbol(Kind.COLUMN, f"g{unnamed}", self.model, self.place)
                    unnamed += 1
        keys = dict(outputs)
        for part in group.body:
            seen = replace(rows, outputs={**rows.outputs, **outputs}, lets={})
            match part:
                case ast.Aggregate():
                    inside = replace(rows, outputs={**keys, **rows.outputs})
                    for item in part.items:
                        if isinstance(item, ast.ColumnRef) and item.name.text in keys:
                            self._repeated_key(item, keys, rows)
                        else:
                            outputs |= self._items([item], inside, inside)
                case ast.Filter():
                    self._read(part.condition, seen)
                case ast.Sort():
                    self._sort(part.keys, seen)
                case ast.Take():
                    pass
                case _:
                    assert_never(part)
        return replace(rows, outputs=outputs, lets={})

    def _repeated_key(self, item: ast.ColumnRef, keys: Columns, rows: _Rows) -> None:
        if item.qualifier is not None:
            self.notes.add(item.qualifier, rows.labels.get(item.qualifier.text))
        self.notes.add(item.name, keys[item.name.text])

    def _combined(self, statement: ast.SetOperation, rows: _Rows) -> _Rows:
        self.notes.add(statement.table, Symbol(Kind.TABLE, statement.table.text))
        others = self.columns_of(statement.table.text) or {}
        self.ties.extend((symbol, others[name]) for name, symbol in rows.outputs.items() if name in others)
        return _Rows(rows.outputs, {}, {})


def _source(source: ast.Source) -> Found:
    notes = _Notes()
    name = source.name.text
    notes.add(source.name, Symbol(Kind.TABLE, name), defines=True)
    columns: dict[str, Symbol] = {}
    for one in source.columns or ():
        columns.setdefault(one.name.text, Symbol(Kind.COLUMN, one.name.text, name))
        notes.add(one.name, columns[one.name.text], defines=True)
        _type(one.type, notes)
    if source.filter is not None:
        rows = _Rows(columns, {name: columns}, {name: Symbol(Kind.TABLE, name)})
        _expression(source.filter, rows.resolve, rows.labels, notes)
    if source.freshness is not None and source.freshness.column is not None:
        notes.add(source.freshness.column, columns.get(source.freshness.column.text))
    for entry in source.properties:
        if entry.key.text in CLOCKS and isinstance(entry.value, ast.Name):
            notes.add(entry.value, columns.get(entry.value.text))
    return Found(tuple(notes.found), columns)


def _test(test: ast.Test, columns_of: TableColumns, notes: _Notes) -> None:
    symbol = Symbol(Kind.TABLE, test.name.text)
    notes.add(test.name, symbol)
    columns = columns_of(test.name.text) or {}
    rows = _Rows(columns, {test.name.text: columns}, {test.name.text: symbol})
    for expectation in test.expectations:
        match expectation.condition:
            case ast.In(operand=operand, values=ast.ColumnRef(qualifier=ast.Name() as table, name=column)):
                _expression(operand, rows.resolve, rows.labels, notes)
                notes.add(table, Symbol(Kind.TABLE, table.text))
                notes.add(column, (columns_of(table.text) or {}).get(column.text))
            case condition:
                _expression(condition, rows.resolve, rows.labels, notes)
    for given in test.given:
        notes.add(given.table, Symbol(Kind.TABLE, given.table.text))
        for name in given.rows.columns:
            notes.add(name, (columns_of(given.table.text) or {}).get(name.text))
    for name in test.expected.columns if test.expected is not None else ():
        notes.add(name, columns.get(name.text))


def _fn(fn: ast.Fn, columns_of: TableColumns, notes: _Notes) -> None:
    """The function, those that it calls, and what its models name. What is a value in them is no column."""
    notes.add(fn.name, Symbol(Kind.FUNCTION, fn.name.text), defines=True)
    _compile_time(fn.body, notes)
    nodes = list(nodes_of(fn.body))
    values = {p.name.text for p in fn.parameters} | {n.name.text for n in nodes if isinstance(n, ast.For)}
    for literal in nodes:
        if isinstance(literal, ast.ModelLiteral):
            inside = nodes_of(literal.model)
            filled = {n.span for n in inside if isinstance(n, ast.ColumnRef) and (n.qualifier or n.name).text in values}
            named = _model(literal.model, columns_of).occurrences
            notes.found += [o for o in named if o.span not in filled and "${" not in o.symbol.name]


def _compile_time(root: ast.Expr, notes: _Notes) -> None:
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


def _type(written: ast.TypeExpr, notes: _Notes) -> None:
    if written.name.text not in TYPE_NAMES:
        notes.add(written.name, Symbol(Kind.DOMAIN, written.name.text))
    for argument in written.arguments:
        match argument:
            case ast.TypeExpr():
                _type(argument, notes)
            case ast.TypeField():
                _type(argument.type, notes)
            case ast.Literal():
                pass
            case _:
                assert_never(argument)


def _expression(root: ast.Expr, resolve: Resolve, labels: Mapping[str, Symbol], notes: _Notes) -> None:
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


def _arguments(call: ast.Call, notes: _Notes) -> list[ast.Expr]:
    """The arguments of a call that are expressions; bare words such as `day` are none."""
    notes.add(call.function, Symbol(Kind.FUNCTION, call.function.text))
    function = CATALOG.get(call.function.text)
    if call.function.text in CASTS:
        for argument in call.arguments[1:2]:
            _spelled_domains(argument, notes)
    words = function.words if function is not None else {}
    given = [node for i, node in enumerate(call.arguments) if i not in words]
    return [*given, *(k.value for k in call.keywords)]


def _spelled_domains(node: ast.Expr, notes: _Notes) -> None:
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
