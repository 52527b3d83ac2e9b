"""The semantic diff of two revisions (Seed 0 §5 B, `strata lineage-diff`): what changed for consumers, and for whom.

Only meaning counts: layout, names of `let`s, order of columns and declarations and the files that they stand in are
no change. Each change names what it reaches, `Down(m, c)` on the side before: those who read the column now.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from ..analysis.compiled import CompiledModel, CompiledProject
from ..contract.changes import Change, Impact
from ..contract.model import TableContract
from .drawing import DECIDES
from .graph import LineageGraph, Reach, lineage_graph
from .matching import Matching, Pair, columns_of, match
from .rules import MEANINGS, Meaning
from .table_changes import table_changes
from .tables import ColumnId, Table, TableId, project_tables


@dataclass(frozen=True, slots=True)
class Side:
    """A revision: its project, and what each model is held to where that is more than its contract says."""

    compiled: CompiledProject
    promised: Mapping[str, TableContract]


class State(StrEnum):
    """How a consumer stands on the side after."""

    BROKEN = "does not compile"
    CHANGED = "changed too"
    GONE = "removed"
    UNTOUCHED = "untouched"


class Consumer(NamedTuple):
    """What a change reaches: a column whose value comes from it, or a table (`column` is `None`) whose rows do.

    `how` names the edge; `direct` says that nothing stands between.
    """

    table: TableId
    column: str | None
    how: str
    direct: bool
    owner: str | None
    state: State


@dataclass(frozen=True, slots=True)
class Finding:
    """A change of `table`, which is called `after` on the side after (`None` where it is gone).

    A table that is not `published` is a source: those who read it are compiled together with it, so what breaks them is
    found there, and its own change is for review at most. `follows` names the changed columns upstream that a change
    merely follows from.
    """

    table: str
    after: str | None
    change: Change
    published: bool
    follows: tuple[tuple[str, str], ...] = ()
    consumers: tuple[Consumer, ...] = ()

    @property
    def impact(self) -> Impact:
        """The impact on those who read the table."""
        own = self.change.impact
        return own if self.published else min(own, Impact.REVIEW, key=lambda impact: impact.weight)

    @property
    def breaks(self) -> bool:
        """Whether a consumer must change with it."""
        return self.impact is Impact.MAJOR


@dataclass(frozen=True, slots=True)
class LineageDiff:
    """All that changed, upstream first. `uncompared` names tables that have errors on a side, and the sides."""

    project: str
    findings: tuple[Finding, ...]
    uncompared: Mapping[str, str]
    before: LineageGraph
    after: LineageGraph

    @property
    def breaks(self) -> bool:
        """Whether a consumer must change with it."""
        return any(f.breaks for f in self.findings)

    def count(self, impact: Impact) -> int:
        """How many changes have that impact."""
        return sum(f.impact is impact for f in self.findings)


def diff_projects(before: Side, after: Side, project: str, around: Sequence[Table] = ()) -> LineageDiff:
    """The diff from `before` to `after` of the project of that name; `around` are tables of others that read it."""
    matching = match(before.compiled, after.compiled)
    uncompared = _uncompared(before.compiled, after.compiled)
    findings = [f for f in _findings(matching, before, after) if f.table not in uncompared]
    graphs = [lineage_graph(project_tables(project, side.compiled), around) for side in (before, after)]
    states = _States(project, findings, after.compiled, {p.before.name for p in matching.pairs})
    reached = [replace(f, consumers=tuple(_consumers(f, graphs[0], project, states))) for f in findings]
    return LineageDiff(project, tuple(reached), uncompared, *graphs)


def _uncompared(before: CompiledProject, after: CompiledProject) -> dict[str, str]:
    """The broken models of either side. Where a side has errors, a source that it lacks may be one of them."""
    found: dict[str, str] = {}
    for side, other, word in ((before, after, "before"), (after, before, "after")):
        names = set(side.broken)
        if any(d.blocks for d in side.diagnostics):
            names |= {n for n in other.sources if n not in side.sources and n not in side.models}
        for name in sorted(names):
            found[name] = "on both sides" if name in found else word
    return found


def _findings(matching: Matching, before: Side, after: Side) -> Iterator[Finding]:
    for table in matching.removed:
        rule = MEANINGS[Meaning.MODEL_REMOVED if isinstance(table, CompiledModel) else Meaning.SOURCE_REMOVED]
        change = Change(rule, None, table.name, None, before_span=table.span)
        yield Finding(table.name, None, change, isinstance(table, CompiledModel))
    for table in matching.added:
        rule = MEANINGS[Meaning.MODEL_ADDED if isinstance(table, CompiledModel) else Meaning.SOURCE_ADDED]
        change = Change(rule, None, None, table.name, after_span=table.span)
        yield Finding(table.name, table.name, change, isinstance(table, CompiledModel))
    touched = {(t.name, name) for t in matching.removed for name in columns_of(t)}
    for pair in matching.pairs:
        changed = [*table_changes(pair, matching.names, before.promised, after.promised)]
        own = {c.column for c in changed if c.rule in COMPUTED}
        for change in changed:
            follows = () if change.column is None or change.column in own else _follows(pair, change.column, touched)
            yield Finding(pair.before.name, pair.after.name, change, isinstance(pair.before, CompiledModel), follows)
        touched |= {(pair.before.name, c.column) for c in changed if c.column is not None}


COMPUTED = frozenset({MEANINGS[Meaning.VALUE], MEANINGS[Meaning.ORIGIN], MEANINGS[Meaning.VALUES_MOVED]})
"""Changes of how a column is computed: what else changes of it follows from that, and not from upstream."""


def _follows(pair: Pair, column: str, touched: set[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    if not isinstance(pair.before, CompiledModel) or column not in pair.before.written.schema:
        return ()
    origins = ((o.node, o.column) for o in pair.before.written.schema[column].origins)
    return tuple(dict.fromkeys(o for o in origins if o in touched))


class _States:
    """How the tables before stand on the side after; those of others are as they are."""

    def __init__(self, project: str, findings: Iterable[Finding], after: CompiledProject, kept: set[str]) -> None:
        self._project, self._after, self._kept = project, after, kept
        self._changed = {f.table for f in findings}

    def of(self, table: TableId) -> State:
        if table.project != self._project:
            return State.UNTOUCHED
        if table.name in self._after.broken:
            return State.BROKEN
        if table.name not in self._kept:
            return State.GONE
        return State.CHANGED if table.name in self._changed else State.UNTOUCHED


def _consumers(finding: Finding, graph: LineageGraph, project: str, states: _States) -> Iterator[Consumer]:
    """`Down` of what changed, on the side before; what was added has nobody who reads it yet."""
    table = TableId(project, finding.table)
    if table not in graph.tables or finding.impact is Impact.PATCH:
        return
    column = finding.change.column
    start: tuple[ColumnId, ...] = ()
    if column is not None:
        if column not in graph.tables[table].columns:
            return
        start = (ColumnId(table, column),)
        reach = graph.down(*start)
    elif finding.change.rule in WHOLE:
        start = graph.columns(table)
        reach = graph.down(*start, rows=[table])
    elif finding.change.rule.impact is Impact.MINOR:
        return
    else:
        reach = graph.down(rows=[table])
    yield from _reached(reach, {table, *start}, graph, states)


WHOLE = frozenset(
    MEANINGS[m] for m in (Meaning.MODEL_REMOVED, Meaning.MODEL_RENAMED, Meaning.KIND, Meaning.SOURCE_MOVED)
)
"""Changes of a table that are changes of each of its columns."""


def _reached(reach: Reach, start: set[TableId | ColumnId], graph: LineageGraph, states: _States) -> Iterator[Consumer]:
    def consumer(table: TableId, column: str | None, how: str, direct: bool) -> Consumer:
        known = graph.tables.get(table)
        return Consumer(table, column, how, direct, known.owner if known else None, states.of(table))

    for value in reach.values:
        yield consumer(value.to.table, value.to.column, value.transform.value, value.origin in start)
    for table, shape, through in reach.rows:
        if shape is not None:
            origin = shape.origin
            how = f"{DECIDES[shape.role]} by {origin.table.name}.{origin.column}"
            yield consumer(table, None, how, origin in start)
        elif through is not None:
            yield consumer(table, None, f"reads {through.name}", through in start)
