"""Orders that decide about rows, completed to total ones: of a `take`, and of windows that tell peers apart.

The completion follows what people see (output names, then joined tables in their order), never internal names, so
that an alias or a `let` cannot change which rows are taken. Only of rows that look alike a `let` decides, where it
holds what the columns no longer tell.
"""

from __future__ import annotations

from ..frozen import replace
from ..language import ast
from ..relation.build import limit_rows, ref
from ..relation.expressions import ColumnRef, SortKey
from .scope import Scope
from .state import Rows


def take_rows(statement: ast.Take, rows: Rows) -> Rows:
    """Rows `first` to `last` of `rows`, counted from 1."""
    count = max(statement.last - statement.first + 1, 0)
    offset = max(statement.first - 1, 0)
    limited = replace(limit_rows(rows.relation, rows.order, offset, count), keys=complete_order(rows.order, rows))
    return replace(rows, relation=limited, sorted_at=None)


def complete_order(order: tuple[SortKey, ...], rows: Rows) -> tuple[SortKey, ...]:
    """`order`, completed with the smallest key of `rows`, else with all columns that can be seen.

    Rows that agree on those agree on every `let` that is made of them; the loose ones follow as they were declared.
    """
    schema = rows.relation.schema
    given = frozenset(k.expr.name for k in order if isinstance(k.expr, ColumnRef))
    if schema.is_unique(given):
        return order
    rank = _ranks(rows)
    keys = [sorted(key, key=rank.__getitem__) for key in schema.keys if key <= rank.keys()]
    keys.sort(key=lambda key: (len(key), [rank[c] for c in key]))
    rest = keys[0] if keys else [*sorted(rank, key=rank.__getitem__), *_loose(rows.scope)]
    return (*order, *(SortKey(ref(rows.relation, c)) for c in rest if c not in given))


def _loose(scope: Scope) -> list[str]:
    return [column for name, column in scope.lets.items() if column is not None and name in scope.loose]


def _ranks(rows: Rows) -> dict[str, int]:
    """The columns that can be seen, each with its place: outputs by name, then the tables' columns."""
    seen = [c for _, c in sorted(rows.scope.outputs.items()) if c is not None]
    for columns in rows.scope.tables.values():
        seen += [c for _, c in sorted(columns.items()) if c is not None]
    return {column: place for place, column in enumerate(dict.fromkeys(seen))}
