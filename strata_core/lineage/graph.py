"""The graph of columns: edges both ways, built once in time linear in them, each asked for in constant time.

`Down(m, c)` of Seed 0 §5 B is `LineageGraph.down`: what a column reaches, told apart into columns whose *value* comes
from it and tables whose *rows* it decides about. Several projects are one graph where they share a store or dbt.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..frozen import dataclass
from ..relation.schema import Role, Transform
from .tables import DBT, ColumnId, Table, TableId, TableKind


class ValueEdge(NamedTuple):
    """The value of `to` comes from `origin`; `joined` and `inferred` as in `Origin` and `Table`."""

    origin: ColumnId
    to: ColumnId
    transform: Transform
    joined: bool = False
    inferred: bool = False


class RowEdge(NamedTuple):
    """The rows of `to` are decided by `origin`."""

    origin: ColumnId
    to: TableId
    role: Role
    inferred: bool = False


DECIDE_ROWS = frozenset(Role) - {Role.CONDITIONAL}
"""A condition of `case` or `if` chooses a value, and no row: its columns are among the value's origins."""


@dataclass(frozen=True, slots=True, eq=False)
class Below:
    """What stands right below a column: the values that come from it, each with what stands below *it*, and the tables
    whose rows it decides about. Told apart by identity, so that walking asks for no hash of names."""

    values: list[tuple[ValueEdge, Below]]
    rows: list[RowEdge]


class RowImpact(NamedTuple):
    """A table whose rows change: by an `edge` of its own, or because rows of a table that it reads (`through`) do."""

    table: TableId
    edge: RowEdge | None
    through: TableId | None


@dataclass(frozen=True, slots=True)
class Reach:
    """What a start reaches, nearest first: each column by the first edge that was found to it, each table once."""

    values: tuple[ValueEdge, ...]
    rows: tuple[RowImpact, ...]

    @property
    def columns(self) -> tuple[ColumnId, ...]:
        """The columns whose value is reached."""
        return tuple(e.to for e in self.values)

    @property
    def tables(self) -> tuple[TableId, ...]:
        """All tables that are reached, by value or by rows."""
        return tuple(dict.fromkeys((*(e.to.table for e in self.values), *(r.table for r in self.rows))))


@dataclass(frozen=True, slots=True)
class LineageGraph:
    """Tables and edges: `origins` and `shapers` by where they lead, `below` by where they begin (there without the
    conditions of values, which decide about no row). `readers` gives the tables that read a table."""

    tables: Mapping[TableId, Table]
    origins: Mapping[ColumnId, tuple[ValueEdge, ...]]
    shapers: Mapping[TableId, tuple[RowEdge, ...]]
    below: Mapping[ColumnId, Below]
    readers: Mapping[TableId, list[TableId]]

    def columns(self, table: TableId) -> tuple[ColumnId, ...]:
        """The columns of a table, in order."""
        return tuple(ColumnId(table, name) for name in self.tables[table].columns)

    def down(self, *start: ColumnId, rows: Iterable[TableId] = (), depth: int | None = None) -> Reach:
        """Everything that `start` reaches within `depth` hops; `rows` are tables whose rows change to begin with.

        Time is linear in the edges that are reached: a diamond is walked once, and so is a cycle of projects.
        """
        found: list[ValueEdge] = []
        impacts: dict[TableId, RowImpact | None] = dict.fromkeys(rows)
        changed: list[list[TableId]] = [[*impacts]]
        frontier = [self.below[column] for column in dict.fromkeys(start) if column in self.below]
        known, hops = set(frontier), 0
        while frontier and hops != depth:
            hops += 1
            following: list[Below] = []
            shaped: list[TableId] = []
            for place in frontier:
                for edge, to in place.values:
                    if to not in known:
                        known.add(to)
                        found.append(edge)
                        following.append(to)
                for shape in place.rows:
                    if shape.to not in impacts:
                        impacts[shape.to] = RowImpact(shape.to, shape, None)
                        shaped.append(shape.to)
            changed.append(shaped)
            frontier = following
        self._rows_below(changed, impacts, depth)
        return Reach(tuple(found), tuple(filter(None, impacts.values())))

    def _rows_below(
        self, changed: list[list[TableId]], impacts: dict[TableId, RowImpact | None], depth: int | None
    ) -> None:
        """Add to `impacts` whatever reads a table whose rows change; `changed` holds them by their distance."""
        hops, reached = 0, changed[0]
        while (reached or hops < len(changed) - 1) and hops != depth:
            hops += 1
            following: list[TableId] = []
            for table in reached:
                for reader in self.readers.get(table, ()):
                    if reader not in impacts:
                        impacts[reader] = RowImpact(reader, None, table)
                        following.append(reader)
            reached = following + (changed[hops] if hops < len(changed) else [])

    def up(self, *start: ColumnId, depth: int | None = None) -> tuple[ValueEdge, ...]:
        """The value edges above `start` within `depth` hops, nearest first, each once."""
        found: list[ValueEdge] = []
        queue, known = deque((column, 0) for column in start), set(start)
        while queue:
            column, hops = queue.popleft()
            if hops == depth:
                continue
            for edge in self.origins.get(column, ()):
                found.append(edge)
                if edge.origin not in known:
                    known.add(edge.origin)
                    queue.append((edge.origin, hops + 1))
        return tuple(found)


def lineage_graph(*projects: Iterable[Table]) -> LineageGraph:
    """The graph of all `projects`, whose tables are told apart by their ids.

    A source that stands for a table of another of the projects is joined to it, column by column of the same name.
    """
    tables = {table.id: table for project in projects for table in project}
    providers = _providers(tables.values())
    origins: dict[ColumnId, tuple[ValueEdge, ...]] = {}
    below: dict[ColumnId, Below] = {}
    shapers: dict[TableId, tuple[RowEdge, ...]] = {}
    readers: dict[TableId, list[TableId]] = {}
    for table in tables.values():
        provider = _provider(table, providers)
        upstream = [TableId(table.id.project, name) for name in table.reads] + ([provider.id] if provider else [])
        for above in upstream:
            readers.setdefault(above, []).append(table.id)
        for column, edges in _value_edges(table, provider):
            origins[column] = edges
            for edge in edges:
                _below(below, edge.origin).values.append((edge, _below(below, edge.to)))
        project, inferred = table.id.project, table.inferred
        shapers[table.id] = shapes = tuple(
            RowEdge(ColumnId(TableId(project, e.node), e.column), table.id, e.role, inferred)
            for e in sorted(table.edges)
        )
        for shape in shapes:
            if shape.role in DECIDE_ROWS:
                _below(below, shape.origin).rows.append(shape)
    return LineageGraph(tables, origins, shapers, below, readers)


def _below(below: dict[ColumnId, Below], column: ColumnId) -> Below:
    found = below.get(column)
    if found is None:
        found = below[column] = Below([], [])
    return found


def _value_edges(table: Table, provider: Table | None) -> Iterator[tuple[ColumnId, tuple[ValueEdge, ...]]]:
    project = table.id.project
    for name, (_, found) in table.columns.items():
        column = ColumnId(table.id, name)
        if provider is not None and name in provider.columns:
            yield column, (ValueEdge(ColumnId(provider.id, name), column, Transform.PASSTHROUGH),)
        else:
            yield (
                column,
                tuple(
                    ValueEdge(
                        ColumnId(TableId(project, o.node), o.column), column, o.transform, o.joined, table.inferred
                    )
                    for o in found
                ),
            )


def _providers(tables: Iterable[Table]) -> Mapping[str, list[Table]]:
    """The tables that sources of other projects may stand for, by name."""
    found: dict[str, list[Table]] = {}
    for table in tables:
        if table.kind is not TableKind.SOURCE:
            found.setdefault(table.id.name, []).append(table)
    return found


def _provider(table: Table, providers: Mapping[str, list[Table]]) -> Table | None:
    """The table of another project that a source stands for. A name that several projects have takes a namespace."""
    wanted = table.stands_for
    if wanted is None:
        return None
    others = [t for t in providers.get(wanted.name, ()) if t.id.project != table.id.project]
    named = [t for t in others if t.id.project == wanted.project]
    candidates = named or ([] if wanted.project == DBT else [t for t in others if t.id.project != DBT])
    return candidates[0] if len(candidates) == 1 else None
