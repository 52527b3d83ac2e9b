"""What a name can mean, and a name at a place: what `occurrences.py` finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...diagnostics import Span
from ...language import ast
from ...language.recovery import CURSOR, MISSING


class Kind(StrEnum):
    """What a name can mean."""

    TABLE = "table"
    COLUMN = "column"
    CONTRACT = "contract"
    FIELD = "field"
    DOMAIN = "domain"
    PIPELINE = "pipeline"
    ALIAS = "alias"
    FUNCTION = "function"
    MODULE = "module"


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """What a name means. `owner` is the table of a column, the contract of a field, the model of an alias.

    Columns that a model has on its way only are told apart by the number of the statement that makes them (`place`);
    those that its readers see have none.
    """

    kind: Kind
    name: str
    owner: str = ""
    place: int = 0


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name at a place. `item` is the bare item of a list of outputs that it is, or is part of."""

    span: Span
    symbol: Symbol
    defines: bool = False
    item: Span | None = None


Columns = Mapping[str, Symbol]
TableColumns = Callable[[str], Columns | None]
"""The columns of a table by name; `None` where there is no such table."""


@dataclass(frozen=True, slots=True)
class Found:
    """The names of one declaration. `outputs` are the columns that a table has for its readers; `ties` are pairs of
    columns that must bear one name, since one becomes the other without being named."""

    occurrences: tuple[Occurrence, ...]
    outputs: Columns | None = None
    ties: tuple[tuple[Symbol, Symbol], ...] = ()


@dataclass(slots=True)
class Notes:
    """What a pass has found so far."""

    found: list[Occurrence] = field(default_factory=list)

    def add(self, name: ast.Name, symbol: Symbol | None, *, defines: bool = False, item: Span | None = None) -> None:
        """Note that `name` means `symbol`, where it is known what it means."""
        if symbol is not None and name.text not in (MISSING, CURSOR):
            self.found.append(Occurrence(name.span, symbol, defines, item))
