"""Literal tables, and the unit tests that are made of them (language.md, "Declarations")."""

from __future__ import annotations

from ...diagnostics import Span
from ...frozen import dataclass
from .expressions import Literal, Name


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or timestamp in a table: `2024-01-31`, `2024-01-31 10:00:00.5`; `text` is spelled so."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class ListCell:
    """`[1, 2]` in a table."""

    items: tuple[Cell, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Member:
    """`name: value` within a record."""

    name: Name
    value: Cell
    span: Span


@dataclass(frozen=True, slots=True)
class Record:
    """`{a: 1, "b c": 2}` in a table: a struct or a map."""

    members: tuple[Member, ...]
    span: Span


Cell = Literal | Moment | Name | ListCell | Record
"""A value in a table; a `Name` is a bare word, which stands for its text."""


@dataclass(frozen=True, slots=True)
class Row:
    """`| 1 | "a" |`; how many cells it has is not checked here."""

    cells: tuple[Cell, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralTable:
    """`{ | a | b | | 1 | 2 | … }`: the names of columns, and rows."""

    columns: tuple[Name, ...]
    rows: tuple[Row, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Given:
    """`given orders { … }`: the rows that stand in for a table."""

    table: Name
    rows: LiteralTable
    span: Span
