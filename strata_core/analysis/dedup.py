"""`dedup` and `dedup by a, b sort { … }`: rows that say the same become one.

`dedup` compares the outputs and leaves them alone; `dedup by` keeps, whole, the first row for each value of its keys,
in the order of its `sort`, else of the rows, completed to a total one: a `row_number` that is 1. The keys are a key
of the result. Codes: E021, E051 (values that cannot be told apart), and those of names.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..frozen import replace
from ..language import ast
from ..relation.build import distinct_rows, filter_rows, project, ref
from ..relation.expressions import call, literal, window
from ..relation.nodes import Item, WindowItem
from .expressions import typed
from .scope import fresh
from .state import Rows, Surroundings, context, ordering, with_columns
from .windows import UNORDERED, grouping, sort_keys, window_columns


def dedup_rows(statement: ast.Dedup, rows: Rows, around: Surroundings) -> Rows:
    """The rows after a `dedup`."""
    return _first_rows(statement, rows, around) if statement.keys else _distinct(statement, rows, around)


def _first_rows(statement: ast.Dedup, rows: Rows, around: Surroundings) -> Rows:
    reader = context(rows, around, "a key of a `dedup`")
    keys = [grouping(typed(node, reader), node, reader) for node in statement.keys]
    order = sort_keys(statement.sort, context(rows, around, "a sort")) if statement.sort else rows.order
    partition = tuple(key for key in keys if key is not None)
    if order is None or len(partition) < len(keys):
        return rows
    name = fresh("dedup", rows.relation.schema.names)
    numbered = window_columns([WindowItem(name, window("row_number", partition=partition, order=order))], rows)
    first = filter_rows(numbered, call("eq", ref(numbered, name), literal(1)))
    return with_columns(replace(rows, relation=first, order=order, sorted_at=None), rows.scope, ())


def _distinct(statement: ast.Dedup, rows: Rows, around: Surroundings) -> Rows:
    visible = [*dict.fromkeys(column for column in rows.scope.outputs.values() if column is not None)]
    types = [rows.relation.schema[column].inferred.type for column in visible]
    if (wrong := next((t for t in types if isinstance(t, UNORDERED)), None)) is not None:
        message = f"`dedup` tells rows apart, and {wrong} can be neither ordered nor grouped"
        fix = "say by which columns: `dedup by a, b`, or leave the column out with `select { … }`"
        around.report(Diagnostic("E051", message, statement.span, fix=fix))
        return rows
    if not visible:
        return rows
    relation = distinct_rows(project(rows.relation, [Item(column, ref(rows.relation, column)) for column in visible]))
    tables = {
        table: {name: column for name, column in columns.items() if column is None or column in visible}
        for table, columns in rows.scope.tables.items()
    }
    scope = replace(rows.scope, tables=tables, lets={}, loose=frozenset(), reduced_by="dedup")
    order = rows.order if ordering(rows.order) <= {*visible} else ()
    return replace(rows, relation=relation, scope=scope, order=order)
