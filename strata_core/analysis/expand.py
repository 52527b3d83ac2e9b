"""`expand tags as tag`: one row for each element of an array, none where it is null or empty.

The element is an output beside the others, or in the place of the one of its name. What was unique may repeat, so no
key is left. Codes: E050 (no array), and those of expressions.
"""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..frozen import replace
from ..language import ast
from ..relation.build import expand_rows
from ..relation.expressions import Expr
from ..relation.nodes import Item
from ..types import Array
from .expressions import typed
from .scope import Scope, fresh
from .state import Rows, Surroundings, context, with_columns


def expand(statement: ast.Expand, rows: Rows, around: Surroundings) -> Rows:
    """The rows after an `expand`."""
    array = _array(statement, rows, around)
    name = statement.name.text
    spans = {**rows.spans, name: statement.name.span}
    if array is None:
        return replace(rows, scope=_with_element(rows.scope, name, None), spans=spans)
    column = fresh(name, rows.relation.schema.names)
    expanded = replace(rows, relation=expand_rows(rows.relation, Item(column, array)), spans=spans)
    return with_columns(expanded, _with_element(rows.scope, name, column), ())


def _array(statement: ast.Expand, rows: Rows, around: Surroundings) -> Expr | None:
    value = typed(statement.array, context(rows, around, "an `expand`"))
    if value is None or isinstance(value.inferred.type, Array):
        return value
    message = f"`expand` needs an array, but this is {value.inferred.type}"
    fix = "name a column of type `array(…)`"
    around.report(Diagnostic("E050", message, statement.array.span, fix=fix))
    return None


def _with_element(scope: Scope, name: str, column: str | None) -> Scope:
    """The names after it: the element is an output, and an output or `let` of its name is no more."""
    gone = scope.outputs.get(name)
    tables = {
        table: {n: c for n, c in columns.items() if c is None or c != gone} for table, columns in scope.tables.items()
    }
    lets = {n: c for n, c in scope.lets.items() if n != name}
    loose = frozenset(lets) if gone is not None else scope.loose & lets.keys()
    return replace(scope, outputs={**scope.outputs, name: column}, tables=tables, lets=lets, loose=loose)
