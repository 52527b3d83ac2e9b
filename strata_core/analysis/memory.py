"""What one compilation leaves for the next: each result with what it was made from, so that an edit computes anew what
it reaches and nothing else.

A result is made from a declaration and from values that it looks up by name in mappings. `recall` hands out mappings
that note which names are asked of them, and takes an old result over where the declaration is the very same object and
under none of those names there is another object than before. So a result that comes out equal should be kept as the
old object: then nothing behind it is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from ..contract.model import TableContract
from ..diagnostics import Diagnostic, Span
from ..frozen import dataclass, field
from ..language import ast
from ..relation.extern import Extern
from ..types import ValueType
from .compiled import CompiledModel, Source, Tests
from .fn.expansion import Evaluated
from .model import Outcome
from .order import Order
from .scope import Table

V = TypeVar("V")
R = TypeVar("R")

ABSENT = object()
"""Stands for the value of a name that is not there."""
Note = tuple[frozenset[str], bool]
"""What was asked of one mapping: the names, there or not, and whether all its names mattered."""


class Noting(Mapping[str, V]):
    """A mapping that notes which names are asked of it, and whether all its names are."""

    def __init__(self, of: Mapping[str, V]) -> None:
        self._of = of
        self.asked: set[str] = set()
        self.listed = False

    def __getitem__(self, name: str) -> V:
        self.asked.add(name)
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        self.listed = True
        return iter(self._of)

    def __len__(self) -> int:
        self.listed = True
        return len(self._of)

    @property
    def note(self) -> Note:
        """What was asked."""
        return frozenset(self.asked), self.listed


class Given(Generic[V]):
    """A mapping that results are made from, beside what it was before: the names whose value is another object, and
    whether there are other names. `changed` are the former where they grow while values are still being added."""

    def __init__(self, values: Mapping[str, V], before: Mapping[str, V], changed: set[str] | None = None) -> None:
        self.values = values
        self.changed = differing(values, before) if changed is None else changed
        self.renamed = values.keys() != before.keys()
        self.settled = changed is None and not self.changed and not self.renamed


class Ground:
    """The mappings that a kind of results is made from. Nothing is asked of those that are what they were."""

    def __init__(self, *mappings: Given[Any]) -> None:
        self.mappings = mappings
        self.unsettled = tuple((i, one) for i, one in enumerate(mappings) if not one.settled)


def differing(now: Mapping[str, V], before: Mapping[str, V]) -> set[str]:
    """The names under which the two have not the very same object."""
    if now is before:
        return set()
    changed = {name for name, value in now.items() if before.get(name, ABSENT) is not value}
    return changed.union(before.keys() - now.keys())


@dataclass(frozen=True, slots=True)
class Kept(Generic[R]):
    """A result, and what it was made from."""

    declaration: object
    notes: tuple[Note, ...]
    result: R

    def holds(self, ground: Ground) -> bool:
        """Whether all that was looked up is the same in `ground`."""
        for i, one in ground.unsettled:
            names, listed = self.notes[i]
            if (listed and one.renamed) or not one.changed.isdisjoint(names):
                return False
        return True


def recall(kept: Kept[R] | None, declaration: object, ground: Ground, make: Callable[..., R]) -> Kept[R]:
    """`kept`, if it was made from `declaration` and the same values of `ground`; else what `make` makes of them."""
    if kept is not None and kept.declaration is declaration and kept.holds(ground):
        return kept
    noting = tuple(Noting(one.values) for one in ground.mappings)
    result = make(*noting)
    return Kept(declaration, tuple(one.note for one in noting), result)


@dataclass(frozen=True, slots=True)
class Memory:
    """The results of a compilation, by name; `calls` are those of compile-time functions by their place.

    The others are what results were made from: `promised` are the contracts, `tables` sources and models as they were
    read; `wanted` the tables that models read, `order` the order in which they were compiled, `declared` and `unsound`
    the models that tests may be about, and those that did not parse, `sound` those that came out well.
    """

    domains: Mapping[str, ValueType] = field(default_factory=dict)
    contracts: Mapping[str, Kept[tuple[TableContract, tuple[Diagnostic, ...]]]] = field(default_factory=dict)
    sources: Mapping[str, Kept[tuple[Source, Table, tuple[Diagnostic, ...]]]] = field(default_factory=dict)
    reads: Mapping[str, Kept[Mapping[str, ast.Name]]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    models: Mapping[str, Kept[Outcome]] = field(default_factory=dict)
    tests: tuple[Kept[tuple[Tests, tuple[Diagnostic, ...]]], ...] = ()
    calls: Mapping[Span, Evaluated] = field(default_factory=dict)
    externs: Mapping[str, Extern] = field(default_factory=dict)
    promised: Mapping[str, TableContract | None] = field(default_factory=dict)
    wanted: Mapping[str, bool] = field(default_factory=dict)
    order: Order = Order((), frozenset())
    declared: Mapping[str, ast.Model | None] = field(default_factory=dict)
    unsound: Mapping[str, bool] = field(default_factory=dict)
    sound: Mapping[str, CompiledModel] = field(default_factory=dict)
