"""What is known at a place inside a model: the columns that can be read there, and the type of each name.

Works on what the compiler knows of the other tables, and goes through the statements of the one model again; findings
are not reported here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ...contract.model import TableContract
from ...diagnostics import Span
from ...language import ast
from ...relation.nodes import Relation
from ...relation.schema import Column
from ...types import Inferred
from ..expressions import expression
from ..joins import join_rows
from ..scope import Scope, Table, resolve
from ..sources import resolve_source
from ..state import Rows, Surroundings, context
from ..statements import Step, steps
from ..types import Domains
from ..walk import aggregates_in, expressions_of, operands


@dataclass(frozen=True, slots=True)
class Known:
    """What a compilation knows by name: tables as models read them, domains, and contracts."""

    tables: Mapping[str, Table]
    domains: Domains
    contracts: Mapping[str, TableContract]

    def around(self, model: ast.Model) -> Surroundings:
        """What `model` is compiled against."""
        contract = self.contracts.get(model.contract.text) if model.contract is not None else None
        return Surroundings(self.tables, self.domains, contract, _ignored)


def _ignored(_: object) -> None:
    """Findings are the compiler's matter."""


@dataclass(frozen=True, slots=True)
class Visible:
    """A column that can be read: as `name`, or as `qualifier.name`. `column` is None where it is in error."""

    name: str
    qualifier: str | None
    column: Column | None


def visible_in(model: ast.Model, statement: ast.Statement, known: Known, *, grouped: bool = False) -> list[Visible]:
    """What an expression of `statement`, one of those of `model`, can read; bare names come first.

    `grouped` asks for the rows that the groups of a `group` have become (its `filter` and `sort`).
    """
    around = known.around(model)
    step = next((s for s in steps(model, around) if s.statement is statement), None)
    if step is None or step.before is None:
        return []
    rows = step.after if grouped else step.before
    if isinstance(statement, ast.Join):
        rows = join_rows(replace(statement, on=ast.Literal(True, statement.span)), step.before, around)
    if isinstance(statement, ast.AsofJoin):
        both = ast.Join("cross", statement.table, statement.alias, None, None, statement.span)
        rows = join_rows(both, step.before, around)
    found = [*_visible(rows.scope, rows.relation)]
    if isinstance(statement, ast.Group) and not grouped:
        named = {one.name for one in found if one.qualifier is None}
        keys = [key.name.text for key in statement.keys if isinstance(key, ast.Assign)]
        found += [Visible(key, None, _column(step.after, key)) for key in keys if key not in named]
    return found


def declared_in(source: ast.Source, known: Known) -> list[Visible]:
    """The columns of a source, which its `filter` can read."""
    _, table = resolve_source(source, known.domains, _ignored)
    return columns_of(table)


def columns_of(table: Table) -> list[Visible]:
    """The columns of a table."""
    return [Visible(name, None, _of(table.relation, column)) for name, column in table.columns.items()]


def final_columns(model: ast.Model, known: Known) -> list[Visible]:
    """The outputs of a model, as far as they can be told."""
    last = None
    for step in steps(model, known.around(model)):
        last = step.after
    return [] if last is None else [v for v in _visible(last.scope, last.relation) if v.qualifier is None]


def _visible(scope: Scope, relation: Relation) -> Iterator[Visible]:
    for name, column in {**scope.outputs, **scope.lets}.items():
        yield Visible(name, None, _of(relation, column))
    for table, columns in scope.tables.items():
        for name, column in columns.items():
            yield Visible(name, table, _of(relation, column))


def _of(relation: Relation, column: str | None) -> Column | None:
    return relation.schema[column] if column is not None and column in relation.schema else None


def _column(rows: Rows, name: str) -> Column | None:
    """The column that the bare `name` means."""
    for part in (rows.scope.lets, rows.scope.outputs):
        if name in part:
            return _of(rows.relation, part[name])
    return None


Facts = Mapping[Span, Column | Inferred]


def facts_of(model: ast.Model, known: Known) -> Facts:
    """What is known of each column that `model` names, and of the value of each call, by the span of the name."""
    found: dict[Span, Column | Inferred] = {}
    around = known.around(model)
    last: Rows | None = None
    for step in steps(model, around):
        _facts(step, around, found)
        last = step.after
    for statement in model.statements:
        match statement:
            case ast.PartitionBy() if last is not None:
                _read(statement.columns, (last,), around, found)
            case ast.Freshness(column=ast.Name() as column) if last is not None:
                _note(column.span, _column(last, column.text), found)
            case _:
                pass
    return found


def _note(span: Span, fact: Column | Inferred | None, found: dict[Span, Column | Inferred]) -> None:
    if fact is not None:
        found.setdefault(span, fact)


def _facts(step: Step, around: Surroundings, found: dict[Span, Column | Inferred]) -> None:
    before, after = step.before, step.after
    match step.statement:
        case ast.Let(name=name) | ast.Expand(name=name):
            _note(name.span, _column(after, name.text), found)
        case ast.Derive(items=items) | ast.Select(items=items) | ast.Aggregate(items=items):
            _items(items, after, found)
        case ast.Group() as group:
            _items([k for k in group.keys if isinstance(k, ast.Assign | ast.ColumnRef)], after, found)
            for part in group.body:
                if isinstance(part, ast.Aggregate):
                    _items(part.items, after, found)
                elif isinstance(part, ast.Filter | ast.Sort):
                    _read(_expressions(part), (after, before), around, found)
            inside = [part for part in group.body if isinstance(part, ast.Aggregate)]
            _read(expressions_of(group.keys), (before,), around, found)
            _read([e for part in inside for e in _expressions(part)], (before, after), around, found)
            return
        case _:
            pass
    rows = (after, before) if isinstance(step.statement, ast.Join | ast.AsofJoin) else (before,)
    _read(_expressions(step.statement), rows, around, found)


def _items(items: Iterable[ast.Item], after: Rows, found: dict[Span, Column | Inferred]) -> None:
    for item in items:
        if isinstance(item, ast.Assign | ast.ColumnRef):
            _note(item.name.span, _column(after, item.name.text), found)


def _expressions(statement: ast.Statement) -> list[ast.Expr]:
    match statement:
        case ast.Filter(condition=condition):
            return [condition]
        case ast.Let(expr=expr) | ast.Expand(array=expr):
            return [expr]
        case ast.Join(on=on):
            return [] if on is None else [on]
        case ast.AsofJoin(on=on, at=at, available=available):
            return [node for node in (on, at, available) if node is not None]
        case ast.Derive(items=items) | ast.Select(items=items) | ast.Aggregate(items=items):
            return expressions_of(items)
        case ast.Sort(keys=keys):
            return [key.expr for key in keys]
        case ast.Dedup(keys=columns, sort=keys):
            return [*columns, *(key.expr for key in keys)]
        case _:
            return []


def _read(
    nodes: Iterable[ast.Expr], rows: tuple[Rows | None, ...], around: Surroundings, found: dict[Span, Column | Inferred]
) -> None:
    """The columns inside `nodes`, each from the first of `rows` that has it, and the values of calls."""
    given = [r for r in rows if r is not None]
    pending = [*nodes]
    while pending:
        node = pending.pop()
        match node:
            case ast.ColumnRef():
                _note(node.name.span, next(_columns(node, given), None), found)
            case ast.Call() if not [*aggregates_in([node])] and given:
                value = expression(node, context(given[0], around, "here"))
                _note(node.function.span, value.inferred if value is not None else None, found)
            case _:
                pass
        pending.extend(operands(node))


def _columns(node: ast.ColumnRef, rows: Iterable[Rows]) -> Iterator[Column]:
    for one in rows:
        column = _of(one.relation, resolve(one.scope, node, _ignored))
        if column is not None:
            yield column
