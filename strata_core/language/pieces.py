"""A module cut where a declaration begins at the margin, so that an edit parses its own piece and no other.

A piece is a stretch of whole lines. Its trees and findings follow from its text, its first line and the word that
begins the next piece, and are those that the whole text has there: a bracket left open ends before a declaration at
the margin in any case (`parser.chunks`), and a string or comment left open makes the rest of the file one piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..diagnostics import Diagnostic
from ..frozen import dataclass
from . import ast
from .due import value_is_due
from .scanner import ERROR, Lines, Sound, Token, sound, tokens_of
from .tables import Tables

_HEAD = re.compile(
    r'^(import|source|contract|domain|model|pipeline|fn)[ \t]+(?:"|`|([A-Za-z_][A-Za-z0-9_]*))', re.MULTILINE
)


class Part(NamedTuple):
    """What one declaration gave: its tree, if it has one, and what is wrong with it."""

    declaration: ast.Declaration | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a module, the first of them numbered `line`, before a declaration that begins with `following`
    ("" at the end of the file)."""

    text: str
    line: int
    following: str
    parts: tuple[Part, ...]


class Parser(NamedTuple):
    """How a piece becomes its declarations: as others of its shape did (`shapes.py`), from its text, its tokens, the
    kind of the one after them, its lines, and what gives its tokens one by one; or, where that gives `None`, from its
    text, its tokens with the one after, and its lines."""

    alike: Callable[[str, Sound, int, Lines, Callable[[], list[Token] | None]], tuple[Part, ...] | None]
    parse: Callable[[str, list[Token], Lines], tuple[Part, ...]]


Find = Callable[[str, int, str], Piece | None]
"""A piece that is known already, by its text, its line and what follows."""


def nothing(text: str, line: int, following: str) -> Piece | None:
    """Finds no piece."""
    return None


class Edited(NamedTuple):
    """A text that was cut before it was edited: the pieces that it still begins and ends with, those that were between
    them, and from where to where it has others."""

    first: Sequence[Piece]
    between: Sequence[Piece]
    last: Sequence[Piece]
    start: int
    end: int


def edited(text: str, before: Sequence[Piece]) -> Edited:
    """What of `before` is still there in `text`, as it was and on its lines."""
    start, kept = 0, 0
    # A piece is told by its text and by how the next one begins, so that this has to be there too.
    while kept + 1 < len(before) and text.startswith(before[kept].text, start):
        start += len(before[kept].text)
        kept += 1
    if kept and not text.startswith(before[kept].text, start):
        kept -= 1
        start -= len(before[kept].text)
    end, last = len(text), len(before)
    while last > kept + 1 and text.endswith(before[last - 1].text, start, end):
        last -= 1
        end -= len(before[last].text)
    moved = last < len(before) and before[kept].line + text.count("\n", start, end) != before[last].line
    if moved or text[end - 1 : end] != "\n":
        last, end = len(before), len(text)
    return Edited(before[:kept], before[kept:last], before[last:], start, end)


def cut(
    text: str, file: str, tables: Tables, parser: Parser, find: Find = nothing, before: Sequence[Piece] = ()
) -> Iterator[Piece]:
    """The pieces of `text`; those that `find` finds, or that were there `before`, are not parsed again."""
    known = edited(text, before)
    yield from known.first
    line = known.between[0].line if known.between else 1
    between = {(p.text, p.line, p.following): p for p in known.between}
    for start, end, following in _stretches(text, tables, known.start):
        if start == known.end and known.last:
            yield from known.last
            return
        part = text[start:end]
        piece = between.get((part, line, following)) or find(part, line, following)
        if piece is None:
            piece = parsed(part, line, following, file, tables, parser)
        if piece is None:
            part, following = text[start:], ""
            piece = between.get((part, line, following)) or find(part, line, following)
            piece = piece or parsed(part, line, following, file, tables, parser)
            assert piece is not None, "the rest of a text is closed"
        yield piece
        if not piece.following:
            return
        line += part.count("\n")


def _stretches(text: str, tables: Tables, start: int) -> Iterator[tuple[int, int, str]]:
    """Where pieces begin and end from `start` on if each is closed, and the first word of the next. A keyword is no
    name."""
    for match in _HEAD.finditer(text, start):
        if match.start() > start and match[2] not in tables.keywords:
            yield start, match.start(), match[1]
            start = match.start()
    yield start, len(text), ""


def _closed(tokens: Sequence[Token], following: str, tables: Tables) -> bool:
    """Whether the tokens of some lines do not depend on the lines that follow. A model may be a value that is due."""
    faulty = ERROR in [token[0] for token in tokens]
    if faulty and any(token.kind == ERROR and token.text.startswith(('"', "/*")) for token in tokens):
        return False
    end = len(tokens) - 1
    within = following == "model" and end > 1 and value_is_due(tokens, end, 1)
    return not within and (end == 0 or tables.spelling[tokens[end - 1].kind] not in ("->", "extern"))


def parsed(text: str, line: int, following: str, file: str, tables: Tables, parser: Parser) -> Piece | None:
    """The piece of that text; `None` where it depends on the lines that follow."""
    found, lines = sound(text, tables), Lines(file, text, line)
    after = Token(tables.keywords[following], following, len(text), len(text) + len(following)) if following else None

    def closed() -> list[Token] | None:
        """The tokens with the one after them, unless they depend on the lines that follow."""
        tokens = tokens_of(text, found, tables)
        if after is None:
            return tokens
        return [*tokens[:-1], after] if _closed(tokens, following, tables) else None

    if found is not None:
        kind = after.kind if after is not None else tables.kinds.index("$END")
        parts = parser.alike(text, found, kind, lines, closed)
        if parts is not None:
            return Piece(text, line, following, parts)
    tokens = closed()
    return None if tokens is None else Piece(text, line, following, parser.parse(text, tokens, lines))
