"""What a relation's output is known to be: columns with types and origins, keys, and row-shaping reads.

These are properties of the node, computed when it is built (design `architecture.md`, Decision 2), never
by parsing emitted SQL.
"""

from __future__ import annotations

from enum import StrEnum
from operator import attrgetter

from ..frozen import dataclass, field
from ..types import Inferred


class Transform(StrEnum):
    """How an output column comes from an input column (Seed 0 §4).

    `filtered` is among the seed's words, and no column bears it: what a filter reads decides about rows (`RowEdge`).
    """

    PASSTHROUGH = "passthrough"
    RENAMED = "renamed"
    DERIVED = "derived"
    AGGREGATED = "aggregated"
    GROUPED = "grouped"
    FILTERED = "filtered"


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """A lineage path: one column of one upstream node (model or source), and what was done to it.

    `joined` marks a column that came through the right side of a join (Seed 0 §4 rule 4).
    """

    node: str
    column: str
    transform: Transform = Transform.PASSTHROUGH
    joined: bool = False


class Role(StrEnum):
    """Why a relation reads a column without passing its value on: the row-shaping edges of lineage.

    `READ` is said of SQL that could not be traced: that the column's table is read is all that is known.
    """

    FILTER = "filter"
    JOIN = "join"
    GROUP = "group"
    SORT = "sort"
    WINDOW = "window"
    CONDITIONAL = "conditional"
    EXPAND = "expand"
    READ = "read"


@dataclass(frozen=True, slots=True, order=True)
class RowEdge:
    """A column that shapes which rows exist or their order, kept once per relation (Seed 0 §4 rules 4, 5)."""

    node: str
    column: str
    role: Role


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a relation."""

    name: str
    inferred: Inferred
    origins: tuple[Origin, ...] = ()


Key = frozenset[str]
_NAME = attrgetter("name")


@dataclass(frozen=True)
class Schema:
    """The columns of a relation, in order, with what is proven of its rows.

    `keys` are the column sets of which no two rows agree (nulls count as one value); the empty set says
    that there is at most one row. Column names are unique.
    """

    columns: tuple[Column, ...]
    keys: frozenset[Key] = frozenset()
    edges: frozenset[RowEdge] = field(default=frozenset())
    by_name: dict[str, Column] = field(init=False, repr=False, compare=False)
    """The columns by name."""

    def __post_init__(self) -> None:
        by_name = dict(zip(map(_NAME, self.columns), self.columns, strict=True))
        object.__setattr__(self, "by_name", by_name)
        if len(by_name) != len(self.columns):
            raise ValueError("column names of a relation are unique")
        for key in self.keys:
            if not key <= by_name.keys():
                raise ValueError(f"key {sorted(key)} names a column that does not exist")

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return (*self.by_name,)

    def __getitem__(self, name: str) -> Column:
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def is_unique(self, columns: frozenset[str]) -> bool:
        """Whether no two rows agree on all of `columns`."""
        return any(key <= columns for key in self.keys)


MAX_KEYS = 8


def minimal_keys(keys: set[Key]) -> frozenset[Key]:
    """`keys` without supersets, the smallest few, so that joins cannot multiply them without bound."""
    if len(keys) < 2:
        return frozenset(keys)
    kept: list[Key] = []
    for key in sorted(keys, key=lambda k: (len(k), sorted(k))):
        if not any(other <= key for other in kept):
            kept.append(key)
    return frozenset(kept[:MAX_KEYS])
