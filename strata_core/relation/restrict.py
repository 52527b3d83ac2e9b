"""The rows of a relation whose column lies in a stretch, computed from as few rows of its tables as is sound.

The condition stands on top, so that the rows are right whatever else is done. Below it goes down to the tables
wherever a row outside the stretch can decide about none inside it: through a projection that passes the column on or
truncates it, to the side of a join that has it and over an equality to the other, below a grouping that has it among
its keys and a window that has it in its partition, to both sides of a set operation. It stops at a `take`, at a column
that is computed, and at a grouping or window that mixes rows of several stretches. What is below is read whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import NamedTuple

from ..frozen import dataclass, replace
from ..periods import Every
from ..types import Date, Timestamp
from .build import equal_pairs, filter_rows, ref
from .expressions import Call, Cast, ColumnRef, Expr, Literal, call, literal
from .nodes import (
    Aggregate,
    AsofJoin,
    Expand,
    Extend,
    Filter,
    Item,
    Join,
    JoinKind,
    Limit,
    Project,
    Relation,
    Scan,
    SetKind,
    SetOperation,
    Sort,
    Window,
    inputs,
)

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
"""Those of `date_trunc` that a stretch can be made of."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Values from `low` up to `high`, without `high` itself."""

    low: datetime
    high: datetime

    @property
    def units(self) -> frozenset[str]:
        """The units of which both ends begin one: they decide, and nothing else of a stretch, what is read by it."""
        return frozenset(unit for unit in UNITS if self.whole(unit))

    def whole(self, unit: str) -> bool:
        """Whether both ends begin a `unit` of `date_trunc`: then a value lies within where its truncation does."""
        return all(_begins(at, unit) for at in (self.low, self.high))


@dataclass(frozen=True, slots=True)
class Restricted:
    """`relation` has the rows of the stretch alone. `bounded` names, of each table of which only such rows are read,
    the column that tells them; any other table is read whole. `driving` are those without whose rows in the stretch
    there are none."""

    relation: Relation
    bounded: Mapping[str, str]
    driving: frozenset[str]


def restricted(relation: Relation, column: str, stretch: Stretch) -> Restricted:
    """The rows of `relation` whose `column`, a date or timestamp, lies in `stretch`.

    What is known of columns stays as it was: it holds for fewer rows too.
    """
    read: dict[str, set[str | None]] = {}
    done: list[_Done] = []
    stack = [_Visit(relation, column, False)]
    while stack:
        visit = stack.pop()
        below = _below(visit, stretch)
        if not visit.ready:
            stack.append(replace(visit, ready=True))
            stack.extend(reversed(below))
            continue
        given = done[len(done) - len(below) :]
        del done[len(done) - len(below) :]
        if isinstance(visit.node, Scan):
            read.setdefault(visit.node.table, set()).add(visit.column)
        done.append(_Done(_rebuilt(visit, [one.relation for one in given], stretch), _driving(visit, below, given)))
    ((pushed, driving),) = done
    bounded = {t: by for t, (by, *others) in ((t, tuple(told)) for t, told in read.items()) if by and not others}
    return Restricted(filter_rows(pushed, _within(pushed, column, stretch)), bounded, driving & bounded.keys())


class _Done(NamedTuple):
    """A node that may leave out rows outside the stretch; a row of it inside needs one of each table of `driving`."""

    relation: Relation
    driving: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Visit:
    """A node, and the column whose rows outside the stretch it may give or leave out as it likes: None where each of
    its rows counts. `ready` says that its inputs are done."""

    node: Relation
    column: str | None
    ready: bool


def _below(visit: _Visit, stretch: Stretch) -> list[_Visit]:
    """What may be left out of the inputs of a node."""
    node, column = visit.node, visit.column
    if column is None:
        return [_Visit(one, None, False) for one in inputs(node)]
    match node:
        case Join():
            return [_Visit(one, by, False) for one, by in zip(inputs(node), _sides(node, column), strict=True)]
        case AsofJoin(left=left, right=right):
            own = column if column in left.schema else None
            return [_Visit(left, own, False), _Visit(right, None, False)]  # which holds may be of any time before
        case Scan() | Filter() | Sort() | SetOperation():
            by: str | None = column
        case Project(items=items):
            by = _traced(_named(items, column), stretch)
        case Extend(items=items):
            computed = _named(items, column)
            by = column if computed is None else _traced(computed, stretch)
        case Aggregate(keys=keys):
            by = _traced(_named(keys, column), stretch)
        case Window(items=calls):
            alone = all(any(_traced(e, stretch) == column for e in i.call.partition) for i in calls)
            by = column if alone and all(i.name != column for i in calls) else None
        case Expand(item=item):
            by = column if item.name != column else None
        case Limit():
            by = None
    return [_Visit(one, by, False) for one in inputs(node)]


def _sides(node: Join, column: str) -> tuple[str | None, str | None]:
    """The column of the stretch on each side of a join: over an equality of columns, on both.

    A row that finds no partner any more because of it comes with nulls in the place of `column`, outside the stretch.
    """
    pairs = equal_pairs(node.on, node.left.schema, node.right.schema)
    if column in node.left.schema:
        return column, next((right for left, right in pairs if left == column), None)
    return next((left for left, right in pairs if right == column), None), column


def _named(items: tuple[Item, ...], column: str) -> Expr | None:
    return next((i.expr for i in items if i.name == column), None)


def _traced(expr: Expr | None, stretch: Stretch) -> str | None:
    """The column that lies in the stretch exactly where `expr` does."""
    match expr:
        case ColumnRef(name=name, inferred=inferred) if isinstance(inferred.type, Date | Timestamp):
            dates = isinstance(inferred.type, Date)
            return name if not dates or stretch.whole("day") else None
        case Call(function="date_trunc", args=(value, Literal(value=str(unit)))) if stretch.whole(unit):
            return _traced(value, stretch)
        case Cast(operand=value, safe=False) if stretch.whole("day"):
            kinds = (value.inferred.type, expr.inferred.type)
            return _traced(value, stretch) if all(isinstance(k, Date | Timestamp) for k in kinds) else None
        case _:
            return None


def _driving(visit: _Visit, below: list[_Visit], given: list[_Done]) -> frozenset[str]:
    """The tables of which each row of a node that lies in the stretch needs a row that does."""
    told = [
        done.driving if one.column is not None else frozenset[str]() for one, done in zip(below, given, strict=True)
    ]
    match visit.node:
        case Scan(table=table):
            return frozenset({table}) if visit.column is not None else frozenset()
        case Join(kind=JoinKind.INNER | JoinKind.SEMI | JoinKind.CROSS) | SetOperation(kind=SetKind.INTERSECT):
            return told[0] | told[1]
        case Join(left=left):
            return told[0] if visit.column in left.schema else told[1]
        case SetOperation(kind=kind):
            return told[0] & told[1] if kind is SetKind.UNION_ALL else told[0]
        case _:
            return told[0]


def _rebuilt(visit: _Visit, given: list[Relation], stretch: Stretch) -> Relation:
    match visit.node:
        case Scan() as node:
            return node if visit.column is None else filter_rows(node, _within(node, visit.column, stretch))
        case Join() | AsofJoin() | SetOperation() as node:
            left, right = given
            return replace(node, left=left, right=right)
        case Filter() | Project() | Extend() | Aggregate() | Window() | Sort() | Limit() | Expand() as node:
            (one,) = given
            return replace(node, input=one)


def _within(rows: Relation, column: str, stretch: Stretch) -> Expr:
    value = ref(rows, column)
    low, high = (_value(at, value) for at in (stretch.low, stretch.high))
    return call("and", call("ge", value, low), call("lt", value, high))


def _value(at: datetime, like: ColumnRef) -> Literal:
    instant: date = at.date() if isinstance(like.inferred.type, Date) else at
    return literal(instant)


def _begins(at: datetime, unit: str) -> bool:
    match unit:
        case "year" | "quarter":
            return Every.MONTH.floor(at) == at and (at.month - 1) % (12 if unit == "year" else 3) == 0
        case "month" | "week" | "day" | "hour":
            return Every(unit).floor(at) == at
        case "minute" | "second":
            return at.microsecond == 0 and (unit == "second" or at.second == 0)
        case _:
            return False
