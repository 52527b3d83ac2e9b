"""A run of steps that add columns or leave rows out, as one: what each is needed for, where a column is read last."""

from __future__ import annotations

from ..frozen import dataclass
from .expressions import Expr, columns_read, conjuncts
from .nodes import Extend, Filter, Item, Relation


@dataclass(frozen=True, slots=True)
class Step:
    """The `items` of a step that are read above, or the `conditions` that it asks. `last_reads` are columns before it
    that nothing reads after it."""

    items: tuple[Item, ...]
    conditions: tuple[Expr, ...]
    last_reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Run:
    """`base` and the steps above it, the lowest first; `needed` are the columns of `base` that they, or what is above
    them, read."""

    base: Relation
    steps: tuple[Step, ...]
    needed: frozenset[str]


def run_below(top: Extend | Filter, needed: frozenset[str]) -> Run:
    """The steps that end in `top`, of which the columns `needed` are read."""
    live = set(needed)
    steps: list[Step] = []
    node: Relation = top
    while isinstance(node, Extend | Filter):
        items = tuple(i for i in node.items if i.name in live) if isinstance(node, Extend) else ()
        conditions = conjuncts(node.predicate) if isinstance(node, Filter) else ()
        live.difference_update(i.name for i in items)
        exprs = (*conditions, *(i.expr for i in items))
        reads = frozenset(name for expr in exprs for name in columns_read(expr))
        steps.append(Step(items, conditions, reads - live))
        live |= reads
        node = node.input
    return Run(node, tuple(reversed(steps)), frozenset(live))
