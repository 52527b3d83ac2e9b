"""Lineage as OpenLineage events: a `JobEvent` for each table that is made, with the column lineage facet 1-2-0.

Value edges are DIRECT (identity, transformation, aggregation) and stand at their field; what decides about rows is
INDIRECT (filter, join, group by, sort, window, conditional) and stands once for the dataset.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ..relation.schema import Role, Transform
from .graph import LineageGraph, ValueEdge
from .tables import ColumnId, TableId

PRODUCER = "urn:strata"
SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/JobEvent"
FACETS = "https://openlineage.io/spec/facets"

DIRECT: Mapping[Transform, str] = {
    Transform.PASSTHROUGH: "IDENTITY",
    Transform.RENAMED: "IDENTITY",
    Transform.GROUPED: "IDENTITY",
    Transform.DERIVED: "TRANSFORMATION",
    Transform.FILTERED: "TRANSFORMATION",
    Transform.AGGREGATED: "AGGREGATION",
}
INDIRECT: Mapping[Role, str] = {
    Role.FILTER: "FILTER",
    Role.JOIN: "JOIN",
    Role.EXPAND: "JOIN",
    Role.GROUP: "GROUP_BY",
    Role.SORT: "SORT",
    Role.WINDOW: "WINDOW",
    Role.CONDITIONAL: "CONDITIONAL",
    Role.READ: "FILTER",
}
"""An `expand` joins each row with the elements of its array; what could not be traced may at least choose rows."""


def events(graph: LineageGraph, tables: Iterable[TableId], now: datetime) -> Iterator[dict[str, Any]]:
    """An event for each of `tables` that is made of others; `now` is an instant with a zone."""
    for table in tables:
        known = graph.tables.get(table)
        if known is None or not (known.reads or known.stands_for):
            continue
        yield {
            "eventTime": spelled(now),
            "producer": PRODUCER,
            "schemaURL": SPEC,
            "job": {"namespace": namespace(table), "name": table.name, "facets": {}},
            "inputs": [dataset(graph, one) for one in inputs(graph, table)],
            "outputs": [dataset(graph, table, column_lineage(graph, table))],
        }


def spelled(now: datetime) -> str:
    """An instant as events have it."""
    return now.astimezone(UTC).isoformat().replace("+00:00", "Z")


def inputs(graph: LineageGraph, table: TableId) -> tuple[TableId, ...]:
    """What `table` is made of."""
    known = graph.tables[table]
    read = (TableId(table.project, name) for name in known.reads)
    origins = (e.origin.table for column in graph.columns(table) for e in graph.origins.get(column, ()))
    return tuple(dict.fromkeys((*read, *origins)))


def namespace(table: TableId) -> str:
    """The namespace of a table, and of the job that makes it."""
    return f"strata://{table.project}"


def dataset(graph: LineageGraph, table: TableId, lineage: dict[str, Any] | None = None) -> dict[str, Any]:
    """A table with its schema, and with the facet of its `lineage`."""
    known = graph.tables.get(table)
    facets: dict[str, Any] = {}
    if known is not None:
        fields = [{"name": n, "type": type_} if type_ else {"name": n} for n, (type_, _) in known.columns.items()]
        facets["schema"] = facet("1-2-0", "SchemaDatasetFacet", {"fields": fields})
    if lineage is not None:
        facets["columnLineage"] = lineage
    return {"namespace": namespace(table), "name": table.name, "facets": facets}


def column_lineage(graph: LineageGraph, table: TableId) -> dict[str, Any]:
    """The facet that says where the columns of `table` come from."""
    fields = {
        column.column: {"inputFields": [_direct(edge) for edge in graph.origins.get(column, ())]}
        for column in graph.columns(table)
    }
    shapes: dict[ColumnId, list[str]] = {}
    for shape in graph.shapers.get(table, ()):
        shapes.setdefault(shape.origin, []).append(INDIRECT[shape.role])
    dataset = [
        _field(column, [_transformation("INDIRECT", subtype) for subtype in dict.fromkeys(subtypes)])
        for column, subtypes in shapes.items()
    ]
    return facet("1-2-0", "ColumnLineageDatasetFacet", {"fields": fields, "dataset": dataset})


def _direct(edge: ValueEdge) -> dict[str, Any]:
    said = f"{edge.transform}{', joined' if edge.joined else ''}{', inferred from SQL' if edge.inferred else ''}"
    return _field(edge.origin, [{**_transformation("DIRECT", DIRECT[edge.transform]), "description": said}])


def _transformation(type_: str, subtype: str) -> dict[str, Any]:
    return {"type": type_, "subtype": subtype, "description": "", "masking": False}


def _field(column: ColumnId, transformations: list[dict[str, Any]]) -> dict[str, Any]:
    where = {"namespace": namespace(column.table), "name": column.table.name, "field": column.column}
    return {**where, "transformations": transformations}


def facet(version: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    """A facet of the specification."""
    return {"_producer": PRODUCER, "_schemaURL": f"{FACETS}/{version}/{name}.json#/$defs/{name}", **content}
