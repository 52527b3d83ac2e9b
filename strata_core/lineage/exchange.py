"""Lineage for programs and drawings: JSON, Mermaid and Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .drawing import DECIDES
from .selection import Selection, spelled
from .tables import ColumnId


def as_json(selection: Selection) -> dict[str, Any]:
    """The selection as a document of stable shape: the columns asked for, tables, value edges and row edges."""
    tables = selection.graph.tables
    return {
        "direction": selection.way.value,
        "start": [_column(c) for c in selection.start],
        "tables": [
            {
                "project": t.project,
                "table": t.name,
                "kind": tables[t].kind.value,
                "owner": tables[t].owner,
                "columns": [{"name": n, "type": type_} for n, (type_, _) in tables[t].columns.items()],
            }
            for t in selection.tables
            if t in tables
        ],
        "values": [
            {
                "from": _column(e.origin),
                "to": _column(e.to),
                "kind": e.transform.value,
                "joined": e.joined,
                "inferred": e.inferred,
            }
            for e in selection.values
        ],
        "rows": [
            {
                "from": _column(e.origin),
                "to": {"project": e.to.project, "table": e.to.name},
                "role": e.role.value,
                "inferred": e.inferred,
            }
            for e in selection.rows
        ],
        "rows_through": [
            {
                "from": {"project": t.through.project, "table": t.through.name},
                "to": {"project": t.table.project, "table": t.table.name},
            }
            for t in selection.through
            if t.through is not None
        ],
    }


def _column(column: ColumnId) -> dict[str, str]:
    return {"project": column.table.project, "table": column.table.name, "column": column.column}


def mermaid(selection: Selection, project: str) -> Iterator[str]:
    """A Mermaid flowchart: a box for each table with its columns, value edges with their kinds, row edges dotted."""
    ids = {column: f"c{number}" for number, column in enumerate(selection.columns)}
    boxes = {table: f"t{number}" for number, table in enumerate(selection.tables)}
    yield "flowchart LR"
    for table, box in boxes.items():
        yield f'  subgraph {box}["{_text(spelled(table, project))}"]'
        columns = [c for c in ids if c.table == table]
        yield from (f'    {ids[c]}["{_text(c.column)}"]' for c in columns)
        if not columns:
            yield f'    {box}r["rows"]'
        yield "  end"
    for edge in selection.values:
        mark = f"{edge.transform}{', joined' if edge.joined else ''}{', inferred' if edge.inferred else ''}"
        yield f"  {ids[edge.origin]} -->|{mark}| {ids[edge.to]}"
    for shape in selection.rows:
        yield f"  {ids[shape.origin]} -.->|{DECIDES[shape.role]}| {boxes[shape.to]}"
    for impact in selection.through:
        if impact.through in boxes:
            yield f"  {boxes[impact.through]} -.->|reads| {boxes[impact.table]}"


def _text(name: str) -> str:
    """A name in a Mermaid label: what would end it stands as an entity."""
    return "".join(c if c.isalnum() or c in "_.: -" else f"#{ord(c)};" for c in name)


def dot(selection: Selection, project: str) -> Iterator[str]:
    """A Graphviz graph: a cluster for each table, value edges solid, row edges dashed."""
    ids = {column: f"c{number}" for number, column in enumerate(selection.columns)}
    boxes = {table: f"t{number}" for number, table in enumerate(selection.tables)}
    yield "digraph lineage {"
    yield "  rankdir=LR; compound=true; node [shape=box, fontname=sans-serif]; edge [fontname=sans-serif];"
    for table, box in boxes.items():
        columns = "".join(f" {ids[c]} [label={json.dumps(c.column)}];" for c in ids if c.table == table)
        label = json.dumps(spelled(table, project))
        yield f"  subgraph cluster_{box} {{ label={label}; {box} [label=rows, style=dashed];{columns} }}"
    for edge in selection.values:
        style = ", style=bold" if edge.inferred else ""
        yield f"  {ids[edge.origin]} -> {ids[edge.to]} [label={json.dumps(str(edge.transform))}{style}];"
    for shape in selection.rows:
        yield f"  {ids[shape.origin]} -> {boxes[shape.to]} [label={json.dumps(DECIDES[shape.role])}, style=dashed];"
    for impact in selection.through:
        if impact.through in boxes:
            yield f"  {boxes[impact.through]} -> {boxes[impact.table]} [label=reads, style=dashed];"
    yield "}"
