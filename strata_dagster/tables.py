"""Tables as Dagster shows them: column schema, column lineage, code references, and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dagster import (
    AssetKey,
    CodeReferencesMetadataValue,
    LocalFileCodeReference,
    TableColumn,
    TableColumnConstraints,
    TableColumnDep,
    TableColumnLineage,
    TableSchema,
)

from strata_core.diagnostics import Span
from strata_core.diagnostics.markdown import markdown_cell
from strata_core.planning.kept.outline import ColumnOutline

if TYPE_CHECKING:  # of use to guarded tables alone
    from strata_core.contract_engine.pin.covering import CoveredColumn


def table_schema(columns: Iterable[ColumnOutline]) -> TableSchema:
    """Columns with types as the language spells them, nullability, uniqueness and what else is promised."""
    return TableSchema(columns=[_column(c) for c in columns])


def _column(column: ColumnOutline) -> TableColumn:
    other = ["primary key"] if column.primary_key else []
    other += ["protected"] if column.protected else []
    other += [f"one of {', '.join(column.enum)}"] if column.enum else []
    return TableColumn(
        column.name,
        column.type,
        _described(column),
        TableColumnConstraints(nullable=column.nullable, unique=column.unique, other=other),
        tags={"classification": column.classification} if column.classification else {},
    )


def table_schema_of(columns: Iterable[CoveredColumn]) -> TableSchema:
    """The columns of a product contract: types as it spells them."""
    return TableSchema(
        columns=[
            TableColumn(
                c.name,
                c.type or "unknown",
                c.description,
                TableColumnConstraints(
                    nullable=c.nullable, unique=c.unique, other=["primary key"] if c.primary_key else []
                ),
                tags={"classification": c.classification} if c.classification else {},
            )
            for c in columns
        ]
    )


def _described(column: ColumnOutline) -> str | None:
    """The description, and where the values come from: the open-source UI has no other view of column lineage."""
    origins = ", ".join(f"{node}.{name}" for node, name in column.origins)
    parts = [column.description or "", f"from {origins}" if origins else ""]
    return "; ".join(part for part in parts if part) or None


def column_lineage(columns: Iterable[ColumnOutline], keys: Mapping[str, AssetKey]) -> TableColumnLineage:
    """The upstream columns that each column's values come from; `keys` has the asset of each upstream name."""
    return TableColumnLineage(
        {c.name: [TableColumnDep(asset_key=keys[node], column_name=name) for node, name in c.origins] for c in columns}
    )


def code_reference(root: Path, span: Span) -> CodeReferencesMetadataValue:
    """The declaration's file and line."""
    path = str(root / span.file)
    return CodeReferencesMetadataValue(
        code_references=[LocalFileCodeReference(file_path=path, line_number=span.line, label=str(span))]
    )


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; nothing in a cell ends it or starts markup.

    >>> print(markdown_table(("a", "b"), [("x|y", 1)]))
    | a | b |
    |---|---|
    | x\\|y | 1 |
    """
    lines = [_line(header), "|" + "---|" * len(header), *(_line(row) for row in rows)]
    return "\n".join(lines)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(markdown_cell(str(cell)) for cell in cells) + " |"
