"""`take`: rows by their place in the order, which is completed here to a total one.

The completion follows what people see (output names, then joined tables in their order), never internal names, so
that an alias or a `let` cannot change which rows are taken.
"""

from __future__ import annotations

from dataclasses import replace

from ..language import ast
from ..relation.build import limit_rows, ref
from ..relation.expressions import ColumnRef, SortKey
from .state import Rows


def take_rows(statement: ast.Take, rows: Rows) -> Rows:
    """Rows `first` to `last` of `rows`, counted from 1."""
    count = max(statement.last - statement.first + 1, 0)
    offset = max(statement.first - 1, 0)
    limited = limit_rows(rows.relation, complete_order(rows), offset, count)
    return replace(rows, relation=limited, sorted_at=None)


def complete_order(rows: Rows) -> tuple[SortKey, ...]:
    """The order of `rows`, completed with their smallest key, else with all their columns."""
    schema = rows.relation.schema
    given = frozenset(k.expr.name for k in rows.order if isinstance(k.expr, ColumnRef))
    if schema.is_unique(given):
        return rows.order
    rank = _ranks(rows)
    keys = [sorted(key, key=rank.__getitem__) for key in schema.keys if key <= rank.keys()]
    keys.sort(key=lambda key: (len(key), [rank[c] for c in key]))
    rest = keys[0] if keys else sorted(rank, key=rank.__getitem__)
    return (*rows.order, *(SortKey(ref(rows.relation, c)) for c in rest if c not in given))


def _ranks(rows: Rows) -> dict[str, int]:
    """The columns that can be seen, each with its place: outputs by name, then the tables' columns."""
    seen = [c for _, c in sorted(rows.scope.outputs.items()) if c is not None]
    for columns in rows.scope.tables.values():
        seen += [c for _, c in sorted(columns.items()) if c is not None]
    return {column: place for place, column in enumerate(dict.fromkeys(seen))}
