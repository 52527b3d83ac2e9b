"""What the lineage graph is made of: tables with the origins of their columns, of Strata projects and of dbt.

Value edges are kept per column; what decides about rows is kept once per table, since per column it would be a
cartesian product (design `architecture.md`, Decision 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ..analysis.compiled import CompiledModel, CompiledProject, Source
from ..diagnostics import Span
from ..frozen import dataclass, field
from ..relation.schema import Origin, RowEdge

DBT = "dbt"
GUARDED = "guarded"
"""The namespace of guarded tables, whose names are told apart by nothing else in an environment."""


class TableId(NamedTuple):
    """A table of a project; dbt's tables are in the project `dbt`, guarded ones in `guarded`."""

    project: str
    name: str


class ColumnId(NamedTuple):
    """A column of a table."""

    table: TableId
    column: str


class TableKind(StrEnum):
    """What made a table known."""

    MODEL = "model"
    SOURCE = "source"
    DBT_MODEL = "dbt model"
    DBT_SOURCE = "dbt source"
    GUARDED = "guarded table"


@dataclass(frozen=True, slots=True)
class Table:
    """A table and where it comes from, in one hop.

    `columns` gives the type and the origins of each column, whose nodes are tables of the same project; `edges` what
    decides about the rows; `reads` all tables that are read. `stands_for` names the table of another project that a
    source reads, or that a guarded table is a copy of. What is `inferred` was read out of SQL and not known from a
    compiled program.
    """

    id: TableId
    kind: TableKind
    columns: Mapping[str, tuple[str, tuple[Origin, ...]]]
    edges: frozenset[RowEdge] = frozenset()
    reads: tuple[str, ...] = ()
    stands_for: TableId | None = None
    owner: str | None = None
    inferred: bool = False
    span: Span | None = field(default=None, compare=False)


def project_tables(name: str, compiled: CompiledProject) -> tuple[Table, ...]:
    """The tables of the project called `name`, sources first, each model after what it reads."""
    sources = (_source(name, source) for source in compiled.sources.values())
    return (*sources, *(_model(name, model) for model in compiled.models.values()))


def _source(project: str, source: Source) -> Table:
    columns = {c.name: (str(c.inferred), ()) for c in source.columns}
    resource = source.resource
    stands_for = None
    if resource.kind == "dbt":
        stands_for = TableId(DBT, resource.location)
    elif resource.kind == "table":
        namespace = resource.options.get("ns")
        stands_for = TableId(namespace if isinstance(namespace, str) else "", resource.location)
    return Table(TableId(project, source.name), TableKind.SOURCE, columns, stands_for=stands_for, span=source.span)


def _model(project: str, model: CompiledModel) -> Table:
    schema = model.written.schema
    owner = model.attributes.get("owner")
    return Table(
        TableId(project, model.name),
        TableKind.MODEL,
        {c.name: (str(c.inferred), c.origins) for c in schema.columns},
        schema.edges,
        model.upstream,
        owner=owner if isinstance(owner, str) else None,
        span=model.span,
    )
