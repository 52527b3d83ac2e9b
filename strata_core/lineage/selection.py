"""A part of the lineage graph that somebody asked for: by the name of a table or column, upwards or downwards."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum

from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.listing import listed
from ..diagnostics.render import printable
from ..diagnostics.suggest import did_you_mean
from ..frozen import dataclass
from .graph import LineageGraph, RowEdge, RowImpact, ValueEdge
from .tables import ColumnId, TableId, TableKind


class Way(StrEnum):
    """Towards where a column comes from, or towards what depends on it."""

    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for and found. `rows` holds what decides about rows; `through` tables whose rows change because
    those of a table that they read do (downwards only)."""

    graph: LineageGraph
    way: Way
    start: tuple[ColumnId, ...]
    values: tuple[ValueEdge, ...]
    rows: tuple[RowEdge, ...]
    through: tuple[RowImpact, ...] = ()

    @property
    def columns(self) -> tuple[ColumnId, ...]:
        """All columns of the selection, those asked for first."""
        ends = (end for e in self.values for end in (e.to, e.origin))
        return tuple(dict.fromkeys((*self.start, *ends, *(r.origin for r in self.rows))))

    @property
    def tables(self) -> tuple[TableId, ...]:
        """All tables of the selection, those asked for first."""
        found = (*(c.table for c in self.columns), *(r.to for r in self.rows), *(t.table for t in self.through))
        return tuple(dict.fromkeys(found))


def select(graph: LineageGraph, start: Iterable[ColumnId], way: Way, depth: int | None = None) -> Selection:
    """The lineage of `start` within `depth` hops.

    Downwards from all columns of a table, the rows of whatever reads the table are among what changes.
    """
    start = tuple(start)
    whole = [t for t in dict.fromkeys(c.table for c in start) if set(graph.columns(t)) <= set(start)]
    if way is Way.DOWN:
        reach = graph.down(*start, rows=whole, depth=depth)
        edges = tuple(r.edge for r in reach.rows if r.edge is not None)
        return Selection(graph, way, start, reach.values, edges, tuple(r for r in reach.rows if r.edge is None))
    values = graph.up(*start, depth=depth)
    tables = dict.fromkeys((*(c.table for c in start), *(e.to.table for e in values)))
    return Selection(graph, way, start, values, tuple(e for t in tables for e in graph.shapers.get(t, ())))


def find(graph: LineageGraph, project: str, text: str, broken: Collection[str] = ()) -> tuple[ColumnId, ...]:
    """The columns that `text` means: `TABLE` all of its columns, `TABLE.COLUMN` one.

    A table of another project is `PROJECT:TABLE`, one of dbt `dbt:TABLE`. `broken` are the project's models that are
    not in the graph, for they have errors. Raises `StrataError` E027 or E021.
    """
    owner, separator, rest = text.partition(":")
    if not separator:
        owner, rest = project, text
    whole = TableId(owner, rest)
    if whole in graph.tables:
        return graph.columns(whole)
    places = [place for place, letter in enumerate(rest) if letter == "."]
    for place in places:  # names of tables and of columns may hold dots themselves
        table, column = TableId(owner, rest[:place]), rest[place + 1 :]
        if table in graph.tables and column in graph.tables[table].columns:
            return (ColumnId(table, column),)
    known = [place for place in places if TableId(owner, rest[:place]) in graph.tables]
    if not known:
        names = [t.name for t in graph.tables if t.project == owner]
        wanted = rest.rpartition(".")[0] or rest
        if lost := next((one for one in (rest, wanted) if one in broken and owner == project), None):
            raise StrataError(Diagnostic("E027", f"model `{lost}` has errors", fix="run `strata check` to see them"))
        fix = did_you_mean(wanted, names, f"known are {listed(sorted(names), 12) or 'none'}")
        raise StrataError(Diagnostic("E027", f"no model or source `{wanted}`", fix=fix))
    name, column = rest[: known[0]], rest[known[0] + 1 :]
    columns = graph.tables[TableId(owner, name)].columns
    fix = did_you_mean(column, columns, f"it has {', '.join(columns)}")
    raise StrataError(Diagnostic("E021", f"`{name}` has no column `{column}`", fix=fix))


def project_models(graph: LineageGraph, project: str) -> tuple[ColumnId, ...]:
    """The columns of all models of a project."""
    models = (t.id for t in graph.tables.values() if t.kind is TableKind.MODEL and t.id.project == project)
    return tuple(column for table in models for column in graph.columns(table))


def spelled(table: TableId, project: str) -> str:
    """The name of a table as people who work in `project` write it; nothing in it steers a terminal."""
    return printable(table.name if table.project == project else f"{table.project}:{table.name}")


def spelled_column(column: ColumnId, project: str) -> str:
    """`TABLE.COLUMN`, as people who work in `project` write it."""
    return f"{spelled(column.table, project)}.{printable(column.column)}"
