"""dlt's schema exports (`*.schema.yaml`, `*.schema.json`): tables with types, nullability and keys."""

from __future__ import annotations

from typing import Any

from ...diagnostics import Diagnostic, Report, Span
from ..discover import Input
from ..documents import Document
from ..tree import Tree
from ..yaml_text import MOST_BYTES, read_yaml
from .parsed import GeneratedAsset, GeneratedColumn, ParsedFile

TYPES = {
    "text": "string",
    "double": "float64",
    "bool": "bool",
    "timestamp": "timestamp",
    "date": "date",
    "bigint": "int64",
    "json": "json",
    "complex": "json",
}
"""dlt's types in Strata's terms; `decimal` has its parts, and `binary`, `wei` and `time` have no like."""
_OWN = "_dlt"
"""How the tables and columns begin that dlt keeps for itself."""


def parse_dlt_schema(one: Input, tree: Tree, report: Report) -> ParsedFile:
    """The tables of a schema export; E108 where it is none."""
    nothing = ParsedFile(one.path, one.kind, one.digest)
    if one.size > MOST_BYTES:
        message = f"the schema has {one.size:,} bytes; more than {MOST_BYTES:,} are not read"
        report(Diagnostic("E108", message, Span(one.path, 1, 1, 1, 1), fix="export one schema per file"))
        return nothing
    document = read_yaml(one.path, tree.read(one.path), report)
    if document is None:
        return nothing
    data = document.data
    if not isinstance(data, dict) or not isinstance(data.get("tables"), dict) or "engine_version" not in data:
        message = "this is no schema of dlt: it has no `engine_version` and `tables`"
        fix = "export it with `pipeline.default_schema.to_pretty_yaml()`"
        report(Diagnostic("E108", message, document.span(()), fix=fix))
        return nothing
    schema = data.get("name")
    assets = []
    for name, table in data["tables"].items():
        if isinstance(table, dict) and not name.startswith(_OWN):
            columns = table.get("columns")
            found = columns if isinstance(columns, dict) else {}
            refs = (name, f"{schema}.{name}") if isinstance(schema, str) else (name,)
            described = table.get("description")
            assets.append(
                GeneratedAsset(
                    "dlt_resource",
                    refs,
                    tuple(
                        _column(document, name, c, facts)
                        for c, facts in found.items()
                        if isinstance(facts, dict) and not c.startswith(_OWN)
                    ),
                    (),
                    document.key_span(("tables", name)),
                    complete=bool(found),
                    description=described if isinstance(described, str) else None,
                )
            )
    return ParsedFile(one.path, one.kind, one.digest, generated=tuple(assets))


def _column(document: Document, table: str, name: str, facts: dict[str, Any]) -> GeneratedColumn:
    kind, nullable, described = facts.get("data_type"), facts.get("nullable"), facts.get("description")
    precision, scale = facts.get("precision"), facts.get("scale")
    found = TYPES.get(kind) if isinstance(kind, str) else None
    if kind == "decimal":
        found = f"decimal({precision if isinstance(precision, int) else 38},{scale if isinstance(scale, int) else 9})"
    return GeneratedColumn(
        name,
        found,
        nullable if isinstance(nullable, bool) else None,
        described if isinstance(described, str) else None,
        True if facts.get("unique") is True else None,
        True if facts.get("primary_key") is True else None,
        span=document.key_span(("tables", table, "columns", name)),
    )
