"""`join_asof prices on … at events.ts`: each row with the row of a table that held at its instant.

The instants of the joined table are columns that its source declares (`valid_from`, `valid_to`, `available_time`), or
stand in a comparison: `at prices.day <= events.ts`. Codes: E020, E023, E051 (no instant, or another kind of one), E071
(what cannot be compared, a table that tells one vintage alone), and those of expressions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic
from ..frozen import dataclass, replace
from ..language import ast
from ..language.names import spelled
from ..relation.build import asof_join, filter_rows, join, ref
from ..relation.expressions import ColumnRef, Expr, columns_read
from ..relation.nodes import AsofJoin, JoinKind, Moments, Relation
from ..types import Date, Timestamp
from .expressions import Context, predicate, typed
from .joins import Right, reader, right_side, seen_by, sides_of
from .state import Rows, Surroundings

DAY = 86_400
"""Seconds."""


def asof_rows(statement: ast.AsofJoin, rows: Rows, around: Surroundings) -> Rows:
    """Each of `rows` with one row of a table at most; their order is lost."""
    right = right_side(statement.table, statement.alias, "join_asof", rows, around)
    scope = seen_by(rows.scope, right)
    context = reader(scope, rows.relation, right.relation, "an as-of join", around)
    joined: Relation | None = None if right.is_taken else _joined(statement, _Sides(rows, right, context))
    if joined is None:  # reported: the columns are there, and nothing more is said of them
        joined = join(JoinKind.CROSS, rows.relation, right.relation, None)
    return replace(rows, relation=joined, scope=scope, order=(), sorted_at=None)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The rows before, the table that is joined, and how expressions over both are read."""

    rows: Rows
    right: Right
    context: Context

    @property
    def ours(self) -> frozenset[str]:
        return frozenset(self.rows.relation.schema.names)

    @property
    def theirs(self) -> frozenset[str]:
        return frozenset(self.right.internal.values())

    def column(self, name: str | None) -> ColumnRef | None:
        """The column of the joined table that people know as `name`."""
        internal = None if name is None else self.right.internal.get(name)
        return None if internal is None else ref(self.right.relation, internal)


def _joined(statement: ast.AsofJoin, sides: _Sides) -> AsofJoin | None:
    report, table, right = sides.context.report, sides.right.table, sides.right.relation
    keys: tuple[tuple[Expr, Expr], ...] | None = ()
    if statement.on is not None:
        condition = predicate(statement.on, sides.context)
        found = None if condition is None else sides_of(condition, sides.ours, sides.theirs)
        keys = None if found is None else tuple(zip(found.left, found.right, strict=True))
        if condition is not None and (found is None or found.left_only):
            message = "an as-of join matches rows by equal columns"
            fix = "write `on a.x == b.x and a.y == b.y`; what is asked of the rows before alone is a `filter`"
            report(Diagnostic("E071", message, statement.on.span, fix=fix))
            keys = None
        for part in found.right_only if found is not None else ():
            right = filter_rows(right, part)
    clocks = table.clocks
    at = _moments(statement.at, "at", "valid_from", sides.column(clocks.valid_from), sides)
    available: Moments | None = None
    if statement.available is not None:
        column = sides.column(clocks.available_time)
        available = _moments(statement.available, "available_as_of:", "available_time", column, sides)
        if available is not None and clocks.one_vintage:
            message = f"`{statement.table}` gives one vintage of each row: what was known before it is not there"
            fix = f"read all of them: `source {spelled(statement.table.text)}(store: …, vintage: all)`"
            report(Diagnostic("E071", message, statement.available.span, fix=fix))
            return None
    if at is None or keys is None or (statement.available is not None and available is None):
        return None
    if statement.within is not None and isinstance(at.left.inferred.type, Date) and statement.within.seconds % DAY:
        message = "dates are whole days apart"
        report(Diagnostic("E051", message, statement.within.span, fix="write it in days: `within 7d`"))
        return None
    # The end belongs to the beginning that the source declares.
    begins = sides.column(clocks.valid_from)
    until = sides.column(clocks.valid_to) if begins is not None and at.right == begins else None
    return asof_join(
        JoinKind(statement.kind),
        sides.rows.relation,
        right,
        keys,
        at,
        available=available,
        until=until,
        within=None if statement.within is None else statement.within.seconds,
    )


def _moments(node: ast.Expr, word: str, clock: str, column: ColumnRef | None, sides: _Sides) -> Moments | None:
    """The instants that `node` compares: it is one of the rows before, to which `column` of the joined table is
    compared, or `theirs <= ours`. `word` and `clock` are how it and the column's declaration are written."""
    report, label = sides.context.report, sides.right.label
    match node:
        case ast.Binary(op="<=", left=first, right=second) | ast.Binary(op=">=", left=second, right=first):
            written: tuple[ast.Expr, ...] = (first, second)
        case ast.Binary(op="<" | ">"):
            message = "a row holds from its own instant on"
            report(Diagnostic("E071", message, node.span, fix=f"write `{word} {spelled(label)}.column <= instant`"))
            return None
        case _:
            written = (node,)
    exprs = [typed(one, sides.context) for one in written]
    if any(expr is None for expr in exprs):
        return None
    *given, ours = (expr for expr in exprs if expr is not None)
    theirs = given[0] if given else column
    if columns_read(ours) & sides.theirs or (given and not _is_of(given[0], sides)):
        message = f"`{word.rstrip(':')}` compares a column of `{label}` with an instant of the rows before it"
        fix = f"write `{word} instant`, or `{word} {spelled(label)}.column <= instant`"
        report(Diagnostic("E071", message, node.span, fix=fix))
        return None
    if theirs is None:
        message = f"`{label}` does not say which of its columns is compared with this instant"
        named = spelled(next(_instants(sides), "column"))
        fix = f"write `{word} {spelled(label)}.{named} <= …`, or declare `{clock}: {named}` in its source"
        report(Diagnostic("E071", message, node.span, fix=fix))
        return None
    if not _comparable(ours, theirs, written, sides):
        return None
    return Moments(ours, theirs)


def _is_of(expr: Expr, sides: _Sides) -> bool:
    read = columns_read(expr)
    return bool(read) and read <= sides.theirs


def _instants(sides: _Sides) -> Iterator[str]:
    """The columns of the joined table that are instants, by the names that people know."""
    for name, internal in sides.right.internal.items():
        if isinstance(sides.right.relation.schema[internal].inferred.type, Date | Timestamp):
            yield name


def _comparable(ours: Expr, theirs: Expr, written: tuple[ast.Expr, ...], sides: _Sides) -> bool:
    """E051 unless both are dates, or both timestamps."""
    report, types = sides.context.report, (theirs.inferred.type, ours.inferred.type)
    for type_, node in zip(types, (written[0], written[-1]), strict=True):
        if not isinstance(type_, Date | Timestamp):
            fix = "compare columns of `timestamp`, or of `date`"
            report(Diagnostic("E051", f"an instant is a timestamp or a date, not {type_}", node.span, fix=fix))
            return False
    if types[0] != types[1]:
        message = f"`{sides.right.label}` has {types[0]}s here, and the instant is a {types[1]}"
        fix = 'compare one kind; `cast(day, "timestamp")` is the start of a day, before what happens on it'
        report(Diagnostic("E051", message, written[-1].span, fix=fix))
        return False
    return True
