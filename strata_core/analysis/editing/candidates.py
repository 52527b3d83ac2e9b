"""What can be offered at a place in a text, and where such a place is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import UnionType
from typing import Any

from ...language import ast
from .scope_at import Known
from .symbols import Symbol

LIKELY, PLAIN, LATER, LAST = 0, 1, 2, 3
"""Ranks of candidates, the likely first."""


class Sort(StrEnum):
    """What a candidate is."""

    COLUMN = "column"
    TABLE = "table"
    CONTRACT = "contract"
    DOMAIN = "domain"
    FUNCTION = "function"
    TYPE = "type"
    KEYWORD = "keyword"
    PROPERTY = "property"
    FIELD = "field"
    VALUE = "value"
    MODULE = "module"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be written: shown as `label`, written as `text`. In a `snippet` the places to fill in are
    numbered `$1`, `$2`, and the last is `$0`. `symbol` is what it names. Candidates of a lower `rank` are likelier."""

    label: str
    sort: Sort
    text: str
    detail: str = ""
    snippet: str | None = None
    symbol: Symbol | None = None
    rank: int = 1


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a project: what `known` has, which tables are models, and by contract which of them promise it,
    the modules that can be imported, the compile-time functions, and those that engines have."""

    known: Known
    models: frozenset[str]
    promising: Mapping[str, tuple[str, ...]]
    modules: tuple[str, ...] = ()
    functions: Mapping[str, ast.Fn] = field(default_factory=dict)
    externs: Mapping[str, ast.Extern] = field(default_factory=dict)


Path = tuple[tuple[Any, str], ...]
Place = Callable[[Path, Names], Iterator[Candidate]]


def node_of(path: Path, kind: type[Any] | UnionType) -> Any:
    """The innermost node of a kind."""
    return next((node for node, _ in reversed(path) if isinstance(node, kind)), None)
