"""The typed relational algebra: one node kind for each way to make a table from tables.

A node carries the `Schema` of its output, computed by the constructor functions of `build.py`, which are
the only way nodes are made. Engines translate nodes and decide nothing about types, nulls or names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import TypeVar

from ..frozen import dataclass
from .expressions import AggregateCall, ColumnRef, Expr, SortKey, WindowCall, call
from .schema import Schema


class JoinKind(StrEnum):
    """Kinds of join."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"
    CROSS = "cross"


class SetKind(StrEnum):
    """How rows of two relations are combined; an intersection and a difference have no row twice."""

    UNION_ALL = "union all"
    INTERSECT = "intersect"
    EXCEPT = "except"


@dataclass(frozen=True, slots=True)
class Item:
    """A named output expression of a projection, or a key of an aggregation."""

    name: str
    expr: Expr


@dataclass(frozen=True, slots=True)
class AggregateItem:
    """A named aggregate."""

    name: str
    call: AggregateCall


@dataclass(frozen=True, slots=True)
class WindowItem:
    """A named window call."""

    name: str
    call: WindowCall


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a named table: a source or another model."""

    table: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which `predicate` is true (not false and not null)."""

    input: Relation
    predicate: Expr
    schema: Schema


@dataclass(frozen=True, slots=True)
class Project:
    """Exactly `items`, computed per row."""

    input: Relation
    items: tuple[Item, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Extend:
    """The input's columns and, for each item, a value computed per row; an item named as a column takes its place.

    A step that adds columns costs what it adds: it does not list those that pass through. Canonical relations have
    projections in its place.
    """

    input: Relation
    items: tuple[Item, ...]
    schema: Schema

    @property
    def written_out(self) -> Project:
        """The projection that it is short for."""
        own = {item.name: item for item in self.items}
        passed = (Item(c.name, ColumnRef(c.name, c.inferred)) for c in self.input.schema.columns if c.name not in own)
        kept = {item.name: item for item in passed} | own
        return Project(self.input, tuple(kept[name] for name in self.schema.names), self.schema)


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows for which `on` is true; `on` is absent for a cross join.

    The output has the left columns, then the right ones; semi and anti joins keep the left ones alone.
    Both sides' column names are disjoint.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    on: Expr | None
    schema: Schema


@dataclass(frozen=True, slots=True)
class Moments:
    """An instant of the left rows, and one of the right rows that does not come after it."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class AsofJoin:
    """Each left row with one right row at most: that which held at the row's instant, as far as it was known then.

    Candidates agree with the row in all `keys` (left, right), their `at` is at most the row's and at most `within`
    seconds before it, their `available` at most the row's. Of those that agree in `at` the latest available one
    counts; where its `until` is not null, it lies after the row's instant, or the row is no candidate. Of what is left
    the latest is taken; `ties`, an order of the right rows, decides among rows that agree. A null instant is no
    candidate. A left row without a right one stays under `LEFT` and goes under `INNER`, the only kinds.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    keys: tuple[tuple[Expr, Expr], ...]
    at: Moments
    available: Moments | None
    until: Expr | None
    within: int | None
    ties: tuple[SortKey, ...]
    schema: Schema

    @property
    def moments(self) -> tuple[Moments, ...]:
        """`at`, and `available` where it is asked for."""
        return (self.at,) if self.available is None else (self.at, self.available)

    @property
    def conditions(self) -> tuple[Expr, ...]:
        """What holds of each pair, as conditions on both sides' columns, but for `until` and `within`."""
        return (*(call("eq", a, b) for a, b in self.keys), *(call("le", m.right, m.left) for m in self.moments))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One row per distinct `keys` (nulls are one group), or exactly one row where there are no keys."""

    input: Relation
    keys: tuple[Item, ...]
    aggregates: tuple[AggregateItem, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Window:
    """The input's columns and, for each item, a value computed over the row's partition."""

    input: Relation
    items: tuple[WindowItem, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Expand:
    """For each row of the input and each element of its array `item.expr` the row with that element in a new column.

    A null or empty array gives no row.
    """

    input: Relation
    item: Item
    schema: Schema


@dataclass(frozen=True, slots=True)
class Sort:
    """The input in an order that matters to whoever reads the result as a sequence."""

    input: Relation
    keys: tuple[SortKey, ...]
    schema: Schema


@dataclass(frozen=True, slots=True)
class Limit:
    """Rows `offset` to `offset + count` of the input in the order of `keys`.

    The order is total up to rows that agree in every column, so that every engine takes the same rows.
    """

    input: Relation
    keys: tuple[SortKey, ...]
    offset: int
    count: int
    schema: Schema


@dataclass(frozen=True, slots=True)
class SetOperation:
    """The rows of `left` and `right` combined, nulls equal to nulls.

    Both sides have the columns of the output, at least one, in its order, with the same types.
    """

    kind: SetKind
    left: Relation
    right: Relation
    schema: Schema


Part = TypeVar("Part")
Relation = (
    Scan | Filter | Project | Extend | Join | AsofJoin | Aggregate | Window | Sort | Limit | SetOperation | Expand
)


def inputs(relation: Relation) -> tuple[Relation, ...]:
    """The relations that a node reads."""
    match relation:
        case Scan():
            return ()
        case Join() | AsofJoin() | SetOperation():
            return (relation.left, relation.right)
        case Filter() | Project() | Extend() | Aggregate() | Window() | Sort() | Limit() | Expand():
            return (relation.input,)


def walk_relation(relation: Relation) -> Iterator[Relation]:
    """The node and everything below it, outermost first."""
    stack: list[Relation] = [relation]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(inputs(node)))


def folded(relation: Relation, part: Callable[[Relation, list[Part]], Part]) -> Part:
    """What `part` makes of `relation`: of each node and what it made of the node's inputs, without recursion."""
    done: list[Part] = []
    stack: list[tuple[Relation, bool]] = [(relation, False)]
    while stack:
        node, ready = stack.pop()
        below = inputs(node)
        if not ready:
            stack.append((node, True))
            stack.extend((one, False) for one in reversed(below))
            continue
        given = done[len(done) - len(below) :]
        del done[len(done) - len(below) :]
        done.append(part(node, given))
    (whole,) = done
    return whole


def expressions(node: Relation) -> Iterator[Expr]:
    """The expressions that a node computes itself."""
    match node:
        case Scan() | SetOperation():
            return
        case Filter():
            yield node.predicate
        case Project() | Extend():
            yield from (item.expr for item in node.items)
        case Join():
            yield from [node.on] if node.on is not None else []
        case AsofJoin():
            yield from node.conditions
            yield from [node.until] if node.until is not None else []
            yield from (key.expr for key in node.ties)
        case Aggregate():
            yield from (key.expr for key in node.keys)
            for one in node.aggregates:
                yield from (*one.call.args, *(k.expr for k in one.call.order))
        case Window():
            for item in node.items:
                yield from (*item.call.args, *item.call.partition, *(k.expr for k in item.call.order))
        case Expand():
            yield node.item.expr
        case Sort() | Limit():
            yield from (key.expr for key in node.keys)


def tables(relation: Relation) -> frozenset[str]:
    """The names of the sources and models that a relation reads."""
    return frozenset(node.table for node in walk_relation(relation) if isinstance(node, Scan))
