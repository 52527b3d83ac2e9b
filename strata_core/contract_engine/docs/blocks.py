"""What pages are made of, whatever they are written in: sections of blocks of inline parts.

Texts here are plain: who writes them escapes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ...frozen import dataclass

Tone = Literal["plain", "good", "warn", "bad", "soft", "key", "secret"]


@dataclass(frozen=True, slots=True)
class Code:
    """A name or a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A word that stands out, such as a state. `tone` is never the only carrier of meaning: `text` says it too."""

    text: str
    tone: Tone = "plain"
    title: str | None = None


@dataclass(frozen=True, slots=True)
class To:
    """A link to a product's page, or to an asset or column on it."""

    product: str
    text: str
    anchor: str | None = None


Inline = str | Code | Mark | To
Line = tuple[Inline, ...]
"""Parts that stand side by side."""


def joined(parts: Iterable[Inline]) -> Line:
    """Parts with commas between them."""
    found: list[Inline] = []
    for part in parts:
        found += [", ", part] if found else [part]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text of people, whose empty lines part paragraphs; or a line."""

    line: Line


@dataclass(frozen=True, slots=True)
class Facts:
    """Labels and what they say."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Items without order."""

    items: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table; `anchor` names it for links."""

    cells: tuple[Line, ...]
    anchor: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table: `caption` says what it is for those who hear it. The first cell of a row names it."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]


def compact(table: Table) -> Table:
    """The table without columns in which no cell says anything."""
    said = [n for n in range(len(table.head)) if any(row.cells[n] not in ((), ("",)) for row in table.rows)]
    rows = tuple(Row(tuple(row.cells[n] for n in said), row.anchor) for row in table.rows)
    return Table(table.caption, tuple(table.head[n] for n in said), rows)


@dataclass(frozen=True, slots=True)
class Source:
    """Program text."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """An SVG picture that is safe to embed; what it shows is told in words beside it."""

    svg: str


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks that are opened on demand."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a section with an own heading; `anchor` names it for links."""

    anchor: str
    heading: Line
    blocks: tuple[Block, ...]


Block = Paragraph | Facts | Listing | Table | Source | Drawing | Folded | Part


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page."""

    anchor: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a product."""

    product: str
    title: str
    summary: str | None
    marks: Line
    sections: tuple[Section, ...]
