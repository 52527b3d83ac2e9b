"""`test model { expect … }`: each expectation as the relation of the rows that break it (`language.md`).

- `expect amount > 0` is asked of every row;
- `expect customer_id in customers.customer_id` asks that each value stands in a column of another table;
- with an aggregate, or `row_count`, it is asked of the table as a whole: `expect row_count > 0`.

What is false breaks it. What is null does not: nulls are the matter of `nonnull` and of `is not none`.
Codes: E020, E021, E027 (no such model), E053, and those of expressions.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..diagnostics import Diagnostic, Span
from ..frozen import replace
from ..language import ast
from ..relation.build import filter_rows, join, project, ref
from ..relation.canonical import canonical
from ..relation.expressions import Expr, call
from ..relation.nodes import Item, JoinKind, Relation
from .aggregates import group_rows
from .compiled import CompiledModel, Expectation, Tests, UnitTest
from .declarations import Declarations
from .expressions import predicate, resolved, typed
from .names import unknown
from .scope import fresh, scope_of
from .state import Rows, Surroundings, context
from .tables import find_table
from .unit_tests import unit_test
from .walk import aggregates_in

PLACE = "an expectation"
ROW_COUNT = "row_count"
"""What stands for `count()` in an expectation."""


def resolve_tests(declared: Declarations, models: Mapping[str, CompiledModel], around: Surroundings) -> Tests:
    """The sound tests of sound models, in the order of their declaration."""
    asked: list[Expectation] = []
    units: list[UnitTest] = []
    for test in declared.tests:
        if test.name.text not in declared.models:
            if test.name.text not in declared.broken_models:
                around.report(declared.no_model(test.name))
            continue
        table = around.tables[test.name.text]
        rows = Rows(table.relation, scope_of(table, test.name.text))
        found = [_expectation(test.name.text, e, rows, around) for e in test.expectations]
        sound = tuple(e for e in found if e is not None) if test.name.text in models else ()
        if not test.is_unit:
            asked += sound
        elif (unit := unit_test(test, sound, models, around)) is not None:
            units.append(unit)
    return Tests(tuple(asked), tuple(units))


def _expectation(model: str, expectation: ast.Expectation, rows: Rows, around: Surroundings) -> Expectation | None:
    node, span = _counted(expectation.condition, rows), expectation.span
    whole = next(aggregates_in([node]), None) is not None
    match node:
        case ast.In(operand=operand, values=ast.ColumnRef(qualifier=ast.Name()) as column):
            broken = _strangers(operand, column, rows, around)
        case ast.In(operand=operand, values=ast.ColumnRef(qualifier=None, name=name) | ast.Call(function=name)) if (
            name.text in around.tables and name.text not in rows.scope.outputs
        ):
            around.report(_names_a_table(operand, name, node.values.span))
            broken = None
        case _ if whole:
            broken = _broken_whole(node, span, rows, around)
        case _:
            condition = predicate(node, context(rows, around, PLACE))
            broken = None if condition is None else _where_false(rows.relation, condition)
    return None if broken is None else Expectation(model, canonical(broken), whole, span)


def _names_a_table(operand: ast.Expr, table: ast.Name, span: Span) -> Diagnostic:
    """E021 for a table in which values are to stand, where one of its columns is due."""
    column = operand.name.text if isinstance(operand, ast.ColumnRef) else "id"
    fix = f"name the column too, such as `{table}.{column}`"
    return Diagnostic("E021", f"`{table}` is a table, and values stand in one of its columns", span, fix=fix)


def _where_false(relation: Relation, condition: Expr) -> Relation:
    return filter_rows(relation, call("not", condition))


def _broken_whole(node: ast.Expr, span: Span, rows: Rows, around: Surroundings) -> Relation | None:
    """The one row of the condition over the whole table, if it is false."""
    name = ast.Name("expectation", span)
    aggregate = ast.Aggregate((ast.Assign(name, node, span),), span)
    whole = group_rows((), (aggregate,), "expect", rows, around)
    if whole.scope.outputs[name.text] is None:
        return None
    condition = predicate(ast.ColumnRef(None, ast.Name(name.text, node.span), node.span), context(whole, around, PLACE))
    return None if condition is None else _where_false(whole.relation, condition)


def _strangers(operand: ast.Expr, column: ast.ColumnRef, rows: Rows, around: Surroundings) -> Relation | None:
    """The rows whose value stands nowhere in the column of another table."""
    assert column.qualifier is not None
    reader = context(rows, around, PLACE)
    value = typed(operand, reader)
    table = find_table(column.qualifier, around)
    name = column.name.text
    if name not in table.columns and table.complete:
        around.report(unknown("E021", f"`{column.qualifier}` has no column `{name}`", column.name, table.columns))
    if value is None or name not in table.relation.schema:
        return None
    known = fresh(f"{column.qualifier}.{name}", rows.relation.schema.names)
    others = project(table.relation, [Item(known, ref(table.relation, name))])
    equal = resolved(lambda: call("eq", value, ref(others, known)), operand.span, (operand, column), reader)
    if equal is None:
        return None
    return join(JoinKind.ANTI, filter_rows(rows.relation, call("is_not_null", value)), others, equal)


def _counted(node: ast.Expr, rows: Rows) -> ast.Expr:
    """`row_count` stands for `count()`, unless a column bears its name."""
    match node:
        case ast.ColumnRef(qualifier=None, name=ast.Name(text=text)) if (
            text == ROW_COUNT and text not in rows.scope.outputs
        ):
            return ast.Call(ast.Name("count", node.span), (), (), node.span)
        case ast.Binary():
            return replace(node, left=_counted(node.left, rows), right=_counted(node.right, rows))
        case ast.Chain():
            links = tuple(replace(link, operand=_counted(link.operand, rows)) for link in node.links)
            return replace(node, first=_counted(node.first, rows), links=links)
        case ast.Unary():
            return replace(node, operand=_counted(node.operand, rows))
        case ast.In():
            return replace(node, operand=_counted(node.operand, rows))
        case _:
            return node
