"""One function for each statement: rows in, rows out (`language.md`, "Statements").

A model is a pipeline: a statement sees what the one before it left. `let` columns stay hidden beside the outputs
until a group. Codes: E071 (a statement that cannot stand where it does), and those of the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..diagnostics import Diagnostic
from ..frozen import dataclass, replace
from ..language import ast
from ..relation.build import filter_rows, scan
from ..relation.expressions import ColumnRef, Expr, columns_read
from ..relation.nodes import Item
from .expressions import predicate, typed
from .outputs import Output, choices, complete, compute, internal_names
from .row_order import take_rows
from .scope import Scope, Table, scope_of
from .state import Rows, Surroundings, context, ordering, with_columns
from .tables import find_table
from .windows import sort_keys


@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a model with the rows that it is given (`None` for the `from`) and those that it leaves."""

    statement: ast.Statement
    before: Rows | None
    after: Rows


def last_rows(model: ast.Model, walked: Sequence[Step], around: Surroundings) -> Rows:
    """The rows that the statements of `model`, `walked`, leave in the end."""
    if walked:
        return walked[-1].after
    message = f"the model `{model.name}` reads nothing"
    around.report(Diagnostic("E071", message, model.name.span, fix="begin it with `from table`"))
    return _nothing(model)


def steps(model: ast.Model, around: Surroundings) -> Iterator[Step]:
    """The statements of `model` that make rows, one after the other."""
    rows: Rows | None = None
    begun = False
    for statement in model.statements:
        before = rows
        match statement:
            case ast.Freshness() | ast.PartitionBy() | ast.Incremental():
                continue
            case ast.From() if rows is not None and begun:
                fix = "read further tables with a join"
                around.report(Diagnostic("E071", "a model reads one table with `from`", statement.span, fix=fix))
                continue
            case ast.From():
                begun = True
                rows = from_rows(statement, around)
                yield Step(statement, None, rows)
                continue
            case _ if rows is None:
                message = "a model begins with `from`"
                later = any(isinstance(s, ast.From) for s in model.statements)
                fix = "write its `from` before this" if later else "write `from table` before this"
                around.report(Diagnostic("E071", message, statement.span, fix=fix))
                before = _nothing(model)
            case _:
                pass
        assert before is not None
        rows = next_rows(statement, before, around)
        yield Step(statement, before, rows)


def _nothing(model: ast.Model) -> Rows:
    """Rows of which nothing is known, so that the statements after an error raise no further ones."""
    table = Table(scan(model.name.text, ()), complete=False)
    return Rows(table.relation, scope_of(table, ""))


def next_rows(
    statement: ast.Join
    | ast.AsofJoin
    | ast.Filter
    | ast.Let
    | ast.Derive
    | ast.Select
    | ast.Group
    | ast.Aggregate
    | ast.Sort
    | ast.Take
    | ast.SetOperation
    | ast.Dedup
    | ast.Expand,
    rows: Rows,
    around: Surroundings,
) -> Rows:
    """The rows after one statement. What makes those of a kind is loaded when a model has one."""
    match statement:
        case ast.Join():
            from .joins import join_rows

            return join_rows(statement, rows, around)
        case ast.AsofJoin():
            from .asof import asof_rows

            return asof_rows(statement, rows, around)
        case ast.Filter():
            return _filter(statement, rows, around)
        case ast.Let():
            return _let(statement, rows, around)
        case ast.Derive():
            return _derive(statement, rows, around)
        case ast.Select():
            return _select(statement, rows, around)
        case ast.Group() | ast.Aggregate():
            from .aggregates import group_rows

            if isinstance(statement, ast.Aggregate):
                return group_rows((), (statement,), "aggregate", rows, around)
            return group_rows(statement.keys, statement.body, "group", rows, around)
        case ast.Sort():
            order = sort_keys(statement.keys, context(rows, around, "a sort"))
            return rows if order is None else replace(rows, order=order, sorted_at=statement.span)
        case ast.Take():
            return take_rows(statement, rows)
        case ast.SetOperation():
            from .combine import combine_rows

            return combine_rows(statement, rows, around)
        case ast.Dedup():
            from .dedup import dedup_rows

            return dedup_rows(statement, rows, around)
        case ast.Expand():
            from .expand import expand

            return expand(statement, rows, around)


def from_rows(statement: ast.From, around: Surroundings) -> Rows:
    """The rows of the table that a model begins with."""
    table = find_table(statement.table, around)
    label = statement.alias or statement.table
    scope = scope_of(table, label.text)
    return Rows(table.relation, scope, spans=dict.fromkeys(scope.outputs, statement.span))


def _filter(statement: ast.Filter, rows: Rows, around: Surroundings) -> Rows:
    condition = predicate(statement.condition, context(rows, around, "a filter"))
    return rows if condition is None else replace(rows, relation=filter_rows(rows.relation, condition))


def _let(statement: ast.Let, rows: Rows, around: Surroundings) -> Rows:
    value = typed(statement.expr, context(rows, around, "a `let`"))
    name = statement.name.text
    if value is None:
        return replace(rows, scope=replace(rows.scope, lets={**rows.scope.lets, name: None}))
    output = Output(ast.Name(f"let {name}", statement.name.span), value, bare=False)
    internal = internal_names([output], rows.relation.schema.by_name.keys())[output.name.text]
    scope = replace(rows.scope, lets={**rows.scope.lets, name: internal}, loose=_loose(name, value, rows.scope))
    return with_columns(rows, scope, [Item(internal, value)])


def _loose(name: str, value: Expr, scope: Scope) -> frozenset[str]:
    """The loose `let`s, now that `name` is one of this `value`: it is loose where it reads one that is."""
    read = columns_read(value)
    made_of_loose = any(scope.lets[n] in read for n in scope.loose)
    return scope.loose | {name} if made_of_loose else scope.loose - {name}


def _derive(statement: ast.Derive, rows: Rows, around: Surroundings) -> Rows:
    chosen = choices(statement.items, rows.scope, around.report)
    relation, outputs = compute(chosen, rows, around, "a `derive`")
    before = rows.scope
    replaced = {o.name.text: before.outputs[o.name.text] for o in outputs if o.name.text in before.outputs}
    passed = {o.expr.name for o in outputs if isinstance(o.expr, ColumnRef)}
    gone = {c for c in replaced.values() if c not in passed}
    scope = replace(
        before,
        outputs={n: c for n, c in before.outputs.items() if n not in replaced} if replaced else before.outputs,
        tables={t: _without(columns, gone) for t, columns in before.tables.items()} if gone else before.tables,
    )
    names = internal_names(outputs, scope.columns | ordering(rows.order))
    added = {o.name.text: names.get(o.name.text) for o in outputs}
    lets = {n: c for n, c in before.lets.items() if n not in added}
    loose = frozenset(lets) if gone else before.loose & lets.keys()
    # A replaced column keeps its place among the outputs.
    scope = replace(scope, outputs={**before.outputs, **added}, lets=lets, loose=loose)
    renamed = frozenset(names[o.name.text] for o in outputs if not o.bare and isinstance(o.expr, ColumnRef))
    derived = with_columns(replace(rows, relation=relation), scope, _items(outputs, names), renamed=renamed)
    return replace(derived, spans={**rows.spans, **{o.name.text: o.name.span for o in outputs}})


def _without(columns: Mapping[str, str | None], gone: set[str | None]) -> Mapping[str, str | None]:
    return {n: c for n, c in columns.items() if c is None or c not in gone}


def _select(statement: ast.Select, rows: Rows, around: Surroundings) -> Rows:
    chosen = choices(statement.items, rows.scope, around.report)
    relation, outputs = compute(chosen, rows, around, "a `select`")
    lets = {n: c for n, c in rows.scope.lets.items() if n not in {o.name.text for o in outputs}}
    hidden = frozenset(c for c in lets.values() if c is not None)
    passed = {o.expr.name for o in outputs if isinstance(o.expr, ColumnRef)}
    names = internal_names(outputs, hidden | (ordering(rows.order) - passed))
    carried = {o.expr.name: names[o.name.text] for o in reversed(outputs) if isinstance(o.expr, ColumnRef)}
    scope = Scope(
        {o.name.text: names.get(o.name.text) for o in outputs},
        _still_reachable(rows.scope.tables, carried),
        lets,
        loose=frozenset(lets),
        complete=complete(statement.items, rows.scope),
        incomplete=rows.scope.incomplete,
        closed=rows.scope.closed,
        reduced_by="select",
    )
    selected = with_columns(replace(rows, relation=relation), scope, _items(outputs, names), carried)
    return replace(selected, spans={o.name.text: o.name.span for o in outputs})


def _still_reachable(
    tables: Mapping[str, Mapping[str, str | None]], carried: Mapping[str, str]
) -> dict[str, dict[str, str | None]]:
    """The columns that can be reached as `t.c` because an output carries their value."""
    return {
        table: {n: c if c is None else carried[c] for n, c in columns.items() if c is None or c in carried}
        for table, columns in tables.items()
    }


def _items(outputs: Sequence[Output], names: Mapping[str, str]) -> list[Item]:
    return [Item(names[o.name.text], o.expr) for o in outputs if o.expr is not None]
