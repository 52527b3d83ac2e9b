"""Lineage as a tree for people: a line a column with how it comes about, and below it what decides about rows.

A column that was drawn before is named again and marked, not drawn again: of a diamond the tree stays linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..frozen import dataclass
from ..relation.schema import Role, Transform
from .graph import DECIDE_ROWS, RowEdge, ValueEdge
from .selection import Selection, Way, spelled, spelled_column
from .tables import ColumnId, TableId

Paint = Callable[[str, str], str]
"""Colours a text as what it is named for: a transform, `rows`, `type` or `mark`."""

COLOURS: Mapping[str, str] = {
    Transform.PASSTHROUGH: "\x1b[32m",
    Transform.RENAMED: "\x1b[36m",
    Transform.DERIVED: "\x1b[33m",
    Transform.AGGREGATED: "\x1b[35m",
    Transform.GROUPED: "\x1b[34m",
    Transform.FILTERED: "\x1b[31m",
    "rows": "\x1b[31m",
    "type": "\x1b[2m",
    "mark": "\x1b[2m",
}
RESET = "\x1b[0m"
AGAIN = "(above)"

DECIDES: Mapping[Role, str] = {
    Role.FILTER: "filtered",
    Role.JOIN: "joined",
    Role.GROUP: "grouped",
    Role.SORT: "sorted",
    Role.WINDOW: "windowed",
    Role.CONDITIONAL: "conditional",
    Role.EXPAND: "expanded",
    Role.READ: "read somehow",
}
"""What is said of a table for each role of a column that shapes its rows (Seed 0 §4 rules 4 and 5)."""


def coloured(text: str, what: str) -> str:
    """`text` with the colour of `what`, for a terminal."""
    return f"{COLOURS[what]}{text}{RESET}"


def plain(text: str, _what: str) -> str:
    """`text` as it is, for a pipe."""
    return text


@dataclass(frozen=True, slots=True)
class _Line:
    """A child in the tree: the edge that leads to it."""

    edge: ValueEdge
    column: ColumnId


def draw(selection: Selection, project: str, paint: Paint = plain) -> Iterator[str]:
    """The lines of the tree: a root for each column asked for, then what decides about rows."""
    children = _children(selection)
    drawn: set[ColumnId] = set()
    for start in selection.start:
        yield _named(selection, start, project, paint)
        yield from _below(selection, start, children, drawn, project, paint)
    yield from _rows(selection, project, paint)


def _children(selection: Selection) -> Mapping[ColumnId, list[_Line]]:
    found: dict[ColumnId, list[_Line]] = {}
    for edge in selection.values:
        if selection.way is Way.UP:
            found.setdefault(edge.to, []).append(_Line(edge, edge.origin))
        else:
            found.setdefault(edge.origin, []).append(_Line(edge, edge.to))
    return found


def _below(
    selection: Selection,
    root: ColumnId,
    children: Mapping[ColumnId, list[_Line]],
    drawn: set[ColumnId],
    project: str,
    paint: Paint,
) -> Iterator[str]:
    """The tree under `root`, without recursion: lineage may be deeper than Python's stack."""
    drawn.add(root)
    below = children.get(root, [])
    stack = [(line, "", place == len(below) - 1) for place, line in reversed([*enumerate(below)])]
    while stack:
        line, indent, last = stack.pop()
        edge = line.edge
        kind = f"{edge.transform}{' joined' if edge.joined else ''}{' inferred' if edge.inferred else ''}"
        more = children.get(line.column, [])
        again = line.column in drawn and bool(more)
        mark = f"  {paint(AGAIN, 'mark')}" if again else ""
        yield (
            f"{indent}{'└─' if last else '├─'} {paint(kind, edge.transform)}  "
            f"{_named(selection, line.column, project, paint)}{mark}"
        )
        if line.column not in drawn:
            drawn.add(line.column)
            deeper = indent + ("   " if last else "│  ")
            stack += [(one, deeper, place == len(more) - 1) for place, one in reversed([*enumerate(more)])]


def _named(selection: Selection, column: ColumnId, project: str, paint: Paint) -> str:
    table = selection.graph.tables.get(column.table)
    known = table.columns.get(column.column) if table else None
    spelled_type = f"  {paint(known[0], 'type')}" if known and known[0] else ""
    return f"{spelled_column(column, project)}{spelled_type}"


def _rows(selection: Selection, project: str, paint: Paint) -> Iterator[str]:
    """Upwards, what decides about the rows of the tables asked for; downwards, whose rows change, and by what."""
    if selection.way is Way.UP:
        for table in dict.fromkeys(c.table for c in selection.start):
            shapes = [e for e in selection.rows if e.to == table and e.role in DECIDE_ROWS]
            if shapes:
                yield f"rows of {spelled(table, project)}"
                yield from _listed((paint(_roles(shapes, e), "rows"), spelled_column(e, project)) for e in _by(shapes))
        return
    lines = [
        (f"{spelled(t, project)}", f"{paint(_roles(e, c), 'rows')} by {spelled_column(c, project)}")
        for t, e in _by_table(selection.rows).items()
        for c in _by(e)
    ]
    lines += [
        (spelled(t.table, project), f"reads {spelled(t.through, project)}")
        for t in selection.through
        if t.through is not None
    ]
    if lines:
        yield "rows that change with it"
        yield from _listed(lines)


def _listed(lines: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [*lines]
    for place, (left, right) in enumerate(lines):
        yield f"{'└─' if place == len(lines) - 1 else '├─'} {left}  {right}"


def _by(shapes: Iterable[RowEdge]) -> Iterable[ColumnId]:
    return dict.fromkeys(e.origin for e in shapes)


def _by_table(shapes: Iterable[RowEdge]) -> Mapping[TableId, list[RowEdge]]:
    found: dict[TableId, list[RowEdge]] = {}
    for shape in shapes:
        found.setdefault(shape.to, []).append(shape)
    return found


def _roles(shapes: Iterable[RowEdge], column: ColumnId) -> str:
    return ", ".join(dict.fromkeys(DECIDES[e.role] for e in shapes if e.origin == column))
