"""The relation that is computed for a model's artifact: columns by name, rows in the canonical order.

An artifact is a table of *named* columns, so their order in the source text is no part of it: reordering a
`select` leaves the artifact as it is. People are shown the model's own order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..analysis.compiled import CompiledModel
from ..relation.build import project, ref, sort_rows, total_order
from ..relation.canonical import canonical
from ..relation.expressions import ColumnRef, SortKey
from ..relation.nodes import Item, Relation
from ..relation.schema import Column, Schema
from ..types import Inferred, parse_type

if TYPE_CHECKING:
    from ..store.artifacts import Artifact


def artifact_relation(model: CompiledModel, rows: Relation | None = None) -> Relation:
    """Columns sorted by name; rows in the order of `artifact_order`: those of the model, or of a part of it."""
    relation = model.relation if rows is None else rows
    by_name = project(relation, [Item(n, ref(relation, n)) for n in sorted(relation.schema.names)])
    return canonical(sort_rows(by_name, artifact_order(model)))


def stored_columns(artifact: Artifact) -> tuple[Column, ...]:
    """The columns of an artifact, in the types that they are kept in."""
    stored = ((f.name, f.strata_type or "string", f.nullable) for f in artifact.manifest.schema)
    return tuple(Column(name, Inferred(parse_type(type_), nullable)) for name, type_, nullable in stored)


def artifact_order(model: CompiledModel) -> tuple[SortKey, ...]:
    """The columns that the table is laid out by; then the model's `sort`, else its contract's key, completed by a key
    that is proven, else by all columns."""
    schema = model.written.schema
    key = model.contract.key if model.contract else ()
    within = model.order or _ascending(schema, key)
    partition = _ascending(schema, model.partition)
    return total_order((*partition, *(k for k in within if k not in partition)), schema)


def _ascending(schema: Schema, names: Iterable[str]) -> tuple[SortKey, ...]:
    return tuple(SortKey(ColumnRef(name, schema[name].inferred)) for name in names)
