"""Tables of the lineage graph as JSON objects, as the catalog of a store keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..relation.schema import Origin, Role, RowEdge, Transform
from .tables import Table, TableId, TableKind


def table_to_json(table: Table) -> dict[str, Any]:
    """A JSON object that `table_from_json` reads back; places in a text are left out."""
    return {
        "id": [*table.id],
        "kind": table.kind.value,
        "columns": {name: [type_, [_origin(o) for o in origins]] for name, (type_, origins) in table.columns.items()},
        "edges": [[e.node, e.column, e.role.value] for e in sorted(table.edges)],
        "reads": [*table.reads],
        "stands_for": [*table.stands_for] if table.stands_for else None,
        "owner": table.owner,
        "inferred": table.inferred,
    }


def table_from_json(data: Mapping[str, Any]) -> Table:
    """The table that `table_to_json` wrote; raises `ValueError`, `KeyError` or `TypeError`."""
    return Table(
        TableId(*data["id"]),
        TableKind(data["kind"]),
        {
            name: (type_, tuple(Origin(node, column, Transform(how), joined) for node, column, how, joined in origins))
            for name, (type_, origins) in data["columns"].items()
        },
        frozenset(RowEdge(node, column, Role(role)) for node, column, role in data["edges"]),
        tuple(data["reads"]),
        TableId(*data["stands_for"]) if data["stands_for"] else None,
        data["owner"],
        data["inferred"],
    )


def _origin(origin: Origin) -> list[Any]:
    return [origin.node, origin.column, origin.transform.value, origin.joined]
