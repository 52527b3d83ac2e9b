"""Where values come from, and which columns decide about rows: the lineage of expressions over a schema (Seed 0 §4)."""

from __future__ import annotations

from collections.abc import Iterable

from ..frozen import replace
from .expressions import AggregateCall, Call, ColumnRef, Expr, WindowCall, children, columns_read
from .schema import Origin, Role, RowEdge, Schema, Transform


def origins_of(name: str, expr: Expr, schema: Schema, renames: Transform) -> tuple[Origin, ...]:
    """Where the value of an output column comes from (Seed 0 §4 rules 1 and 2)."""
    if isinstance(expr, ColumnRef):
        own = schema[expr.name].origins
        if expr.name == name or renames is Transform.PASSTHROUGH:
            return own
        return tuple(replace(o, transform=renames) if o.transform is Transform.PASSTHROUGH else o for o in own)
    return marked(expr, schema, Transform.DERIVED)


def edges_of(exprs: Iterable[Expr], schema: Schema, role: Role) -> frozenset[RowEdge]:
    """The row-shaping edges of expressions that decide about rows."""
    names = frozenset(n for e in exprs for n in columns_read(e))
    return frozenset(RowEdge(o.node, o.column, role) for n in names for o in schema[n].origins)


def conditional_edges(exprs: Iterable[Expr], schema: Schema) -> frozenset[RowEdge]:
    """Edges of the conditions of `case` and `if`: they choose a value without being part of it."""
    conditions: list[Expr] = []
    stack = list(exprs)
    while stack:
        match stack.pop():
            case Call(function="case" | "if", args=args):
                conditions.extend(args[i] for i in range(0, len(args) - len(args) % 2, 2))
                stack.extend(args)
            case expr:
                stack.extend(children(expr))
    return edges_of(conditions, schema, Role.CONDITIONAL)


def call_origins(aggregate: AggregateCall | WindowCall, schema: Schema) -> tuple[Origin, ...]:
    """Where the value of an aggregate comes from (Seed 0 §4 rule 3)."""
    return union_of_origins(marked(a, schema, Transform.AGGREGATED) for a in aggregate.args)


def marked(expr: Expr, schema: Schema, transform: Transform) -> tuple[Origin, ...]:
    """The origins of all columns that an expression reads, as those of a value that was made of them."""
    read = columns_read(expr)
    return tuple(sorted({Origin(o.node, o.column, transform, o.joined) for n in read for o in schema[n].origins}))


def union_of_origins(parts: Iterable[tuple[Origin, ...]]) -> tuple[Origin, ...]:
    """All origins of `parts`, each once."""
    return tuple(sorted({o for part in parts for o in part}))
