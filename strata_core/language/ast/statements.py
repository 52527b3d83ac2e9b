"""Output items and the statements of a model (language.md, "Statements")."""

from __future__ import annotations

import typing

from ...diagnostics import Span
from ...frozen import dataclass
from .expressions import ColumnRef, Duration, Expr, Literal, Name, SortKey

JoinKind = typing.Literal["inner", "left", "full", "semi", "anti", "cross"]
Cardinality = typing.Literal["one_to_one", "many_to_one", "one_to_many"]
Strategy = typing.Literal["append", "upsert", "replace"]
AsofKind = typing.Literal["left", "inner"]
SetOperator = typing.Literal["union", "union all", "intersect", "except"]


@dataclass(frozen=True, slots=True)
class Assign:
    """`name = expr`."""

    name: Name
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Star:
    """`*` or `qualifier.*`, less the columns in `except {…}`."""

    qualifier: Name | None
    excluded: tuple[Name, ...]
    span: Span


Item = Assign | ColumnRef | Star


@dataclass(frozen=True, slots=True)
class From:
    """`from table [as alias]`."""

    table: Name
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Join:
    """`join_KIND table on condition [as alias] [expect cardinality]`; only a cross join has no condition."""

    kind: JoinKind
    table: Name
    alias: Name | None
    on: Expr | None
    expect: Cardinality | None
    span: Span


@dataclass(frozen=True, slots=True)
class AsofJoin:
    """`join_asof table [as alias] [on condition] at instant [available_as_of: instant] [within 7d]`.

    Each row with the row of `table` that held at its instant: the latest at or before it, of what was available then.
    `at` and `available` are an instant of the rows before, or `table.column <= instant`. Rows without one stay (`left`)
    or go (`inner`).
    """

    kind: AsofKind
    table: Name
    alias: Name | None
    on: Expr | None
    at: Expr
    available: Expr | None
    within: Duration | None
    span: Span


@dataclass(frozen=True, slots=True)
class Filter:
    """`filter condition`, also written `where`."""

    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let name = expr`: a hidden column."""

    name: Name
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Derive:
    """`derive { … }`: adds or replaces columns, keeps all others."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Select:
    """`select { … }`: exactly these columns."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`aggregate { … }`: one row, or one a group inside `group`."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sort:
    """`sort { a, -b, c desc }`."""

    keys: tuple[SortKey, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Take:
    """`take last` or `take first..last`: rows counted from 1, both ends included; `take 0` takes none."""

    first: int
    last: int
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """`group { keys } ( body )`. A key is a bare expression or `name = expr`; a `Filter` in `body` is a HAVING."""

    keys: tuple[Assign | Expr, ...]
    body: tuple[Filter | Aggregate | Sort | Take, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SetOperation:
    """`union [all] | intersect | except table`: rows combined with those of another table, columns by name."""

    operator: SetOperator
    table: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Dedup:
    """`dedup`: each row once; `dedup by a, b sort { … }`: of the rows that agree on `keys` the first in that order.

    The `sort` right after `dedup by` is its own.
    """

    keys: tuple[ColumnRef, ...]
    sort: tuple[SortKey, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expand:
    """`expand tags as tag`: a row for each element of an array, in the column `name`; `expand tags` keeps the name."""

    array: Expr
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Freshness:
    """`freshness <= 1d`: how old data may be. A name (`daily`) or string is one of the 0.1 spellings.

    `column` is the timestamp column that tells the age (`freshness_column: c`).
    """

    limits: tuple[Duration | Name | Literal, ...]
    column: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class PartitionBy:
    """`partition_by [a, b]` as a statement: how the table is laid out."""

    columns: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Incremental:
    """`incremental { strategy: upsert, key: [a], cursor: c }`: later applies compute the rows beyond the cursor alone.

    Without a strategy it is `upsert` where there are keys, else `append`; `replace` computes all rows each time.
    """

    strategy: Strategy
    keys: tuple[Name, ...]
    cursor: Name | None
    span: Span


Statement = (
    From
    | Join
    | AsofJoin
    | Filter
    | Let
    | Derive
    | Select
    | Group
    | Aggregate
    | Sort
    | Take
    | SetOperation
    | Dedup
    | Expand
    | Freshness
    | PartitionBy
    | Incremental
)
