"""The relation that is computed for a model's artifact: columns by name, rows in the canonical order.

An artifact is a table of *named* columns, so their order in the source text is no part of it: reordering a
`select` leaves the artifact as it is. People are shown the model's own order.
"""

from __future__ import annotations

from ..analysis.compiled import CompiledModel
from ..relation.build import project, ref, sort_rows, total_order
from ..relation.canonical import canonical
from ..relation.expressions import SortKey
from ..relation.nodes import Item, Project, Relation


def artifact_relation(model: CompiledModel) -> Relation:
    """Columns sorted by name; rows in the order of `artifact_order`."""
    return canonical(sort_rows(_by_name(model), artifact_order(model)))


def artifact_order(model: CompiledModel) -> tuple[SortKey, ...]:
    """The columns that the table is laid out by; then the model's `sort`, else its contract's key, completed by a key
    that is proven, else by all columns."""
    by_name = _by_name(model)
    key = model.contract.key if model.contract else ()
    within = model.order or tuple(SortKey(ref(by_name, n)) for n in key)
    partition = tuple(SortKey(ref(by_name, n)) for n in model.partition)
    return total_order((*partition, *(k for k in within if k not in partition)), by_name.schema)


def _by_name(model: CompiledModel) -> Project:
    relation = model.relation
    return project(relation, [Item(n, ref(relation, n)) for n in sorted(relation.schema.names)])
