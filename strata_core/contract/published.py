"""The schema of a table as its consumers see it: what inference knows of its columns, and what is promised besides."""

from __future__ import annotations

from collections.abc import Iterable

from ..diagnostics import Span
from ..frozen import replace
from ..relation.schema import Column
from .model import ContractField, TableContract


def published_contract(
    name: str, columns: Iterable[Column], contract: TableContract | None, span: Span | None = None
) -> TableContract:
    """All `columns` as one table contract. Of a promised column the annotations stay; a column is nonnull where that
    is proven or promised; types are those of the columns, which conform."""
    promised = contract or TableContract(name, (), span=span)
    return replace(promised, fields=tuple(_field(column, promised) for column in columns))


def _field(column: Column, promised: TableContract) -> ContractField:
    inferred = column.inferred
    if column.name not in promised:
        return ContractField(column.name, inferred.type, inferred.nullable, span=promised.span)
    field = promised[column.name]
    return replace(field, type=inferred.type, nullable=inferred.nullable and field.nullable)
