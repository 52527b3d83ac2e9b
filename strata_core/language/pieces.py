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
from .scanner import ERROR, Lines, Token, scan
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


ParsePiece = Callable[[str, list[Token], Lines], tuple[Part, ...]]
"""The declarations of a piece, from its text and its tokens."""


Find = Callable[[str, int, str], Piece | None]
"""A piece that is known already, by its text, its line and what follows."""


def nothing(text: str, line: int, following: str) -> Piece | None:
    """Finds no piece."""
    return None


def among(before: Sequence[Piece]) -> Find:
    """Finds the pieces that there were before an edit."""
    known = {(p.text, p.line, p.following): p for p in before}
    return lambda text, line, following: known.get((text, line, following))


def cut(text: str, file: str, tables: Tables, parse: ParsePiece, find: Find) -> Iterator[Piece]:
    """The pieces of `text`; those that `find` finds are not parsed again."""
    line = 1
    for start, end, following in _stretches(text, tables):
        part = text[start:end]
        piece = find(part, line, following)
        if piece is None:
            tokens = scan(part, tables)
            if following and not _closed(tokens, following, tables):
                part, following = text[start:], ""
                tokens = scan(part, tables)
            piece = find(part, line, following) or parsed(part, line, following, tokens, file, tables, parse)
        yield piece
        if not piece.following:
            return
        line += part.count("\n")


def _stretches(text: str, tables: Tables) -> Iterator[tuple[int, int, str]]:
    """Where pieces begin and end if each is closed, and the first word of the next. A keyword is no name."""
    start = 0
    for match in _HEAD.finditer(text):
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


def parsed(
    text: str, line: int, following: str, tokens: list[Token], file: str, tables: Tables, parse: ParsePiece
) -> Piece:
    """The piece of that text, of which `tokens` are the tokens."""
    if following:
        tokens[-1] = Token(tables.keywords[following], following, len(text), len(text) + len(following))
    return Piece(text, line, following, parse(text, tokens, Lines(file, text, line)))
