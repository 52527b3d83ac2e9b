"""The names in a model: what each of its statements reads, and the columns that it leaves (`occurrences.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from ...diagnostics import Span
from ...language import ast
from .occurrences_in_expressions import note_expression
from .symbols import Columns, Found, Kind, Notes, Occurrence, Symbol, TableColumns


@dataclass(frozen=True, slots=True)
class Rows:
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


def names_of_model(model: ast.Model, columns_of: TableColumns) -> Found:
    """The names in a model; what it reads comes from `columns_of`."""
    notes = Notes()
    name = model.name.text
    notes.add(model.name, Symbol(Kind.TABLE, name), defines=True)
    if model.contract is not None:
        notes.add(model.contract, Symbol(Kind.CONTRACT, model.contract.text))
    rows = Rows({}, {}, {})
    ties: list[tuple[Symbol, Symbol]] = []
    for place, statement in enumerate(model.statements, start=1):
        rows = _Statement(name, place, columns_of, notes, ties).after(statement, rows)
    for statement in model.statements:
        match statement:
            case ast.PartitionBy():
                for column in statement.columns:
                    note_expression(column, rows.resolve, rows.labels, notes)
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
    notes: Notes
    ties: list[tuple[Symbol, Symbol]]

    def after(self, statement: ast.Statement, rows: Rows) -> Rows:
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

    def _table(self, table: ast.Name, alias: ast.Name | None, rows: Rows, *, first: bool) -> Rows:
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

    def _replaced(self, added: Columns, rows: Rows) -> None:
        """A column that takes the place of one of its name goes on being called so, or it would stand beside it."""
        self.ties.extend((rows.outputs[name], symbol) for name, symbol in added.items() if name in rows.outputs)

    def _define(self, name: ast.Name, item: Span | None = None) -> Symbol:
        symbol = Symbol(Kind.COLUMN, name.text, self.model, self.place)
        self.notes.add(name, symbol, defines=True, item=item)
        return symbol

    def _read(self, node: ast.Expr, rows: Rows) -> None:
        note_expression(node, rows.resolve, rows.labels, self.notes)

    def _sort(self, keys: Iterable[ast.SortKey], rows: Rows) -> None:
        for key in keys:
            self._read(key.expr, rows)

    def _items(self, items: Iterable[ast.Item], rows: Rows, named: Rows) -> dict[str, Symbol]:
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

    def _bare(self, item: ast.ColumnRef, rows: Rows) -> Symbol:
        if item.qualifier is not None:
            self.notes.add(item.qualifier, rows.labels.get(item.qualifier.text))
        self.notes.add(item.name, rows.resolve(item), item=item.span)
        return self._define(item.name, item.span)

    def _star(self, star: ast.Star, rows: Rows) -> dict[str, Symbol]:
        columns = rows.outputs
        if star.qualifier is not None:
            self.notes.add(star.qualifier, rows.labels.get(star.qualifier.text))
            columns = rows.tables.get(star.qualifier.text, {})
        excluded = {name.text for name in star.excluded}
        for name in star.excluded:
            self.notes.add(name, columns.get(name.text))
        return {n: s for n, s in columns.items() if n not in excluded}

    def _group(self, group: ast.Group, rows: Rows) -> Rows:
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

    def _repeated_key(self, item: ast.ColumnRef, keys: Columns, rows: Rows) -> None:
        if item.qualifier is not None:
            self.notes.add(item.qualifier, rows.labels.get(item.qualifier.text))
        self.notes.add(item.name, keys[item.name.text])

    def _combined(self, statement: ast.SetOperation, rows: Rows) -> Rows:
        self.notes.add(statement.table, Symbol(Kind.TABLE, statement.table.text))
        others = self.columns_of(statement.table.text) or {}
        self.ties.extend((symbol, others[name]) for name, symbol in rows.outputs.items() if name in others)
        return Rows(rows.outputs, {}, {})
