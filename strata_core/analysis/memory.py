"""What one compilation leaves for the next: each result with what it was made from, so that an edit computes anew what
it reaches and nothing else.

A result is made from a declaration and from values that it looks up by name in mappings. `recall` hands out mappings
that note what is asked of them, and takes an old result over where the declaration and all that was looked up are
the very same objects. So a result that comes out equal should be kept as the old object: then nothing behind it is
computed again.
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
from .compiled import Source
from .fn.expansion import Evaluated
from .model import Outcome
from .scope import Table
from .tests import Tests

V = TypeVar("V")
R = TypeVar("R")

ABSENT = object()
"""Noted where a name was asked for that is not there."""


class Noting(Mapping[str, V]):
    """A mapping that notes which values are asked of it, and whether all its names are."""

    def __init__(self, of: Mapping[str, V]) -> None:
        self._of = of
        self.asked: dict[str, object] = {}
        self.listed = False

    def __getitem__(self, name: str) -> V:
        if name not in self._of:
            self.asked[name] = ABSENT
            raise KeyError(name)
        self.asked[name] = value = self._of[name]
        return value

    def __iter__(self) -> Iterator[str]:
        self.listed = True
        return iter(self._of)

    def __len__(self) -> int:
        self.listed = True
        return len(self._of)


@dataclass(frozen=True, slots=True)
class Note:
    """What was asked of one mapping; `names` are all its names, where they mattered."""

    asked: Mapping[str, object]
    names: frozenset[str] | None

    def holds(self, given: Mapping[str, Any]) -> bool:
        for name, value in self.asked.items():  # a plain loop: it runs for every model at every keystroke
            if given.get(name, ABSENT) is not value:
                return False
        return self.names is None or self.names == given.keys()


@dataclass(frozen=True, slots=True)
class Kept(Generic[R]):
    """A result, and what it was made from."""

    declaration: object
    notes: tuple[Note, ...]
    result: R

    def holds(self, given: tuple[Mapping[str, Any], ...]) -> bool:
        """Whether all that was looked up is the same in `given`."""
        return all(map(Note.holds, self.notes, given))


def recall(
    kept: Kept[R] | None, declaration: object, given: tuple[Mapping[str, Any], ...], make: Callable[..., R]
) -> Kept[R]:
    """`kept`, if it was made from `declaration` and the same values of `given`; else what `make` makes of `given`."""
    if kept is not None and kept.declaration is declaration and kept.holds(given):
        return kept
    noting = tuple(Noting(mapping) for mapping in given)
    result = make(*noting)
    notes = tuple(Note(n.asked, frozenset(n) if n.listed else None) for n in noting)
    return Kept(declaration, notes, result)


@dataclass(frozen=True, slots=True)
class Memory:
    """The results of a compilation, by name; `tables` are sources and models as they were read, `calls` those
    of compile-time functions by their place."""

    domains: Mapping[str, ValueType] = field(default_factory=dict)
    contracts: Mapping[str, Kept[tuple[TableContract, tuple[Diagnostic, ...]]]] = field(default_factory=dict)
    sources: Mapping[str, Kept[tuple[Source, Table, tuple[Diagnostic, ...]]]] = field(default_factory=dict)
    reads: Mapping[str, Kept[Mapping[str, ast.Name]]] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)
    models: Mapping[str, Kept[Outcome]] = field(default_factory=dict)
    tests: tuple[Kept[tuple[Tests, tuple[Diagnostic, ...]]], ...] = ()
    calls: Mapping[Span, Evaluated] = field(default_factory=dict)
    externs: Mapping[str, Extern] = field(default_factory=dict)
