"""A module cut where a declaration begins at the margin, so that an edit parses its own piece and no other.

A piece is a stretch of whole lines. Its trees and findings follow from its text and the word that begins the next
piece, and are those that the whole text has there: a bracket left open ends before a declaration at the margin in any
case (`parser.chunks`), and a string or comment left open makes the rest of the file one piece. A piece that stands
elsewhere after an edit is the very same, and keeps the numbers of its lines (`numbering.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from ..diagnostics import Diagnostic
from ..frozen import dataclass
from . import ast
from .due import value_is_due
from .scanner import ERROR, Lines, Sound, Token, sound, tokens_of
from .tables import Tables

_HEAD = re.compile(
    r'^(import|source|contract|domain|model|pipeline|fn)[ \t]+(?:"|`|([A-Za-z_][A-Za-z0-9_]*))', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Part:
    """What one declaration gave: its tree, if it has one, and what is wrong with it."""

    declaration: ast.Declaration | None
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a module before a declaration that begins with `following` ("" at the end of the file).

    In spans the first of them has the number `line`; it ends `lines` lines.
    """

    text: str
    line: int
    lines: int
    following: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Parser:
    """How a piece becomes its declarations: as others of its shape did (`shapes.py`), from its text, its tokens, the
    kind of the one after them, its lines, and what gives its tokens one by one; or, where that gives `None`, from its
    text, its tokens with the one after, and its lines."""

    alike: Callable[[str, Sound, int, Lines, Callable[[], list[Token] | None]], tuple[Part, ...] | None]
    parse: Callable[[str, list[Token], Lines], tuple[Part, ...]]


Find = Callable[[str, str], Piece | None]
"""A piece that is known already, by its text and what follows; each is found once, for it has one place."""


def _nothing(text: str, following: str) -> Piece | None:
    return None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a text before it is parsed: the pieces that it had `before` it was edited, or those that `find`
    finds. Lines of other pieces are numbered from `free` on."""

    before: Sequence[Piece] = ()
    find: Find = _nothing
    free: int = 1


UNKNOWN = Known()
"""Of a text that is parsed for the first time nothing is known."""


def known_before(pieces: Sequence[Piece]) -> Known:
    """What is known of a text that had those pieces."""
    return Known(pieces, free=1 + max((piece.line + piece.lines for piece in pieces), default=0))


@dataclass(frozen=True, slots=True)
class Edited:
    """A text that was cut before it was edited: the pieces that it still begins and ends with, those that were between
    them, and from where to where it has others."""

    first: Sequence[Piece]
    between: Sequence[Piece]
    last: Sequence[Piece]
    start: int
    end: int


def edited(text: str, before: Sequence[Piece]) -> Edited:
    """What of `before` is still there in `text`, as it was."""
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
    if end and text[end - 1] != "\n":
        last, end = len(before), len(text)
    return Edited(before[:kept], before[kept:last], before[last:], start, end)


def cut(text: str, file: str, tables: Tables, parser: Parser, known: Known = UNKNOWN) -> Iterator[Piece]:
    """The pieces of `text`; those that are `known` are not parsed again."""
    here = edited(text, known.before)
    yield from here.first
    same, gone = _apart(text, tables, here)
    due = here.first[-1].line + here.first[-1].lines if here.first else 1
    free = known.free

    def found(part: str, following: str) -> Piece | None:
        there = same.get((part, following)) if same else None
        piece = there.pop() if there else known.find(part, following)
        if piece is not None:
            return piece
        line = due if (due, part.count("\n"), not following) in gone else free
        return parsed(part, line, following, file, tables, parser)

    for start, end, following in _stretches(text, tables, here.start):
        if start == here.end and here.last:
            yield from here.last
            return
        piece = found(text[start:end], following)
        if piece is None:
            piece = found(text[start:], "")
            assert piece is not None, "the rest of a text is closed"
        yield piece
        if not piece.following:
            return
        due = piece.line + piece.lines
        free = max(free, due)


_Lines = tuple[int, int, bool]
"""The numbers that a piece has: from which line on how many it ends, and whether it is the last, which may have one
without an end."""


def _apart(text: str, tables: Tables, here: Edited) -> tuple[dict[tuple[str, str], list[Piece]], set[_Lines]]:
    """Of the pieces that were between: those that stand in the text still, by their text and what follows, and the
    numbers that others had. What is written in the place of such a one gets its numbers."""
    same: dict[tuple[str, str], list[Piece]] = {}
    gone: set[_Lines] = set()
    if here.between:
        found = takewhile(lambda stretch: stretch[0] < here.end, _stretches(text, tables, here.start))
        there = {(text[start:end], following) for start, end, following in found}
        for piece in reversed(here.between):
            if (piece.text, piece.following) in there:
                same.setdefault((piece.text, piece.following), []).append(piece)
            else:
                gone.add((piece.line, piece.lines, not piece.following))
    return same, gone


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
    """The piece of that text, its lines numbered from `line` on; `None` where it depends on the lines that follow."""
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
            return Piece(text, line, lines.ended, following, parts)
    tokens = closed()
    return None if tokens is None else Piece(text, line, lines.ended, following, parser.parse(text, tokens, lines))
