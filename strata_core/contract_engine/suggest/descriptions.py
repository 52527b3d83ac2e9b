"""Descriptions of columns that nothing describes: that of the one column that each is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..candidate import SuggestedEdit
from ..documents import Document
from ..parse.parsed import GeneratedAsset, GeneratedColumn
from .authored_assets import assets_of, table_of


def descriptions(document: Document, known: Mapping[str, GeneratedAsset]) -> Iterator[SuggestedEdit]:
    """The edits, in the order of the columns."""
    for number, asset in assets_of(document):
        table = table_of(asset, known)
        columns = {c.name: c for c in table.columns} if table else {}
        for place, column in enumerate(asset.get("columns", ())):
            seen = columns.get(column["name"])
            if seen is None or "description" in column or seen.description:
                continue
            source = _described(seen, known)
            if source is not None:
                where, described = source
                path = ("assets", number, "columns", place, "description")
                reason = f"`{column['name']}` is made of `{where}`, which is described so"
                span = described.span or (table.span if table else document.span(()))
                yield SuggestedEdit(document.file, path, described.description, None, reason, span)


def _described(column: GeneratedColumn, known: Mapping[str, GeneratedAsset]) -> tuple[str, GeneratedColumn] | None:
    """The described column that `column` alone is made of, however many steps upstream."""
    seen: set[tuple[str, str]] = set()
    while len(column.origins) == 1:
        origin = column.origins[0]
        table = known.get(origin.table)
        found = next((c for c in table.columns if c.name == origin.column), None) if table else None
        if found is None or (origin.table, origin.column) in seen:
            return None
        if found.description:
            return f"{origin.table}.{origin.column}", found
        seen.add((origin.table, origin.column))
        column = found
    return None
