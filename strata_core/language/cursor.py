"""What stands at one offset of a text that need not parse: which words the grammar takes there, and in which place of
which declaration a name would stand. For completion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from ..frozen import dataclass
from . import ast
from .comments import COMMENT
from .lalr import accepted, keywords_after
from .recovery import CURSOR, chunk_at, recover, repaired
from .scanner import ERROR, Lines, Token, scan
from .tables import load_tables


@dataclass(frozen=True, slots=True)
class Cursor:
    """What can be written at an offset.

    From `start` to `end` stands the word that is being written, `prefix` being what is written of it before the
    offset. `words` are the keywords that fit. `declaration` is the one around the offset, with the name `CURSOR` in
    the place of the word; None where no name fits (or nothing can be made of the text). `literal` is the string that
    the offset is inside of: then nothing else is known but the `declaration` before it, without the name.
    """

    prefix: str
    start: int
    end: int
    words: frozenset[str] = frozenset()
    declaration: ast.Declaration | None = None
    literal: bool = False


def cursor_at(text: str, offset: int, file: str = "") -> Cursor | None:
    """What can be written at `offset`; None within a comment."""
    tables = load_tables()
    tokens = scan(text, tables)
    at = next((t for t in tokens if t.start < offset <= t.end and _is_word(t, text, offset)), None)
    if at is None and _in_comment(text, tokens, offset):
        return None
    inside = next((t for t in tokens if t.start < offset and _is_string(t, text) and _holds(t, text, offset)), None)
    start, end = (at.start, at.end) if at is not None else (offset, offset)
    if inside is not None:
        start, end = inside.start + 1, max(offset, inside.end - (text[inside.end - 1 : inside.end] == '"'))
    chunk = chunk_at(text, start, tables)
    own = chunk.tokens if chunk is not None else []
    before = [t for t in own if t.end <= start]
    if inside is not None:
        before = [t for t in own if t.end <= inside.start]
    after = [t for t in own if t.start >= max(end, start + (at is not None))]
    kept = repaired(before, tables)
    if inside is not None:
        marker = Token(tables.kinds.index("IDENT"), CURSOR, start, end)
        rest = [t for t in own if t.start >= inside.end]
        declaration = recover([*kept, marker, *rest], Lines(file, text), tables)
        return Cursor(text[start:offset], start, end, declaration=declaration, literal=True)
    kinds = [t.kind for t in kept]
    fitting = accepted(kinds, tables)
    words = keywords_after(kinds, tables)
    if "$END" in fitting:
        words |= accepted([], tables)
    declaration = None
    if "IDENT" in fitting:
        marker = Token(tables.kinds.index("IDENT"), CURSOR, start, end)
        declaration = recover([*kept, marker, *after], Lines(file, text), tables)
    return Cursor(text[start:offset], start, end, frozenset(words), declaration)


def path_to(root: Any, text: str) -> tuple[tuple[Any, str], ...]:
    """The nodes from `root` down to the name of that `text`, each with the field in which the next one stands.

    The last is the name itself, with no field. Empty where there is none.
    """
    stack: list[tuple[Any, tuple[tuple[Any, str], ...]]] = [(root, ())]
    while stack:
        node, above = stack.pop()
        if isinstance(node, ast.Name):
            if node.text == text:
                return (*above, (node, ""))
            continue
        stack.extend((child, (*above, (node, field))) for field, child in _children(node))
    return ()


def _children(node: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(node):
        value = getattr(node, field.name)
        for child in value if isinstance(value, tuple) else (value,):
            if is_dataclass(child):
                yield field.name, child


def _is_word(token: Token, text: str, offset: int) -> bool:
    word = token.text
    return bool(word) and (word[0] == "_" or word[0].isalpha() or (word[0] == "`" and offset < token.end))


def _is_string(token: Token, text: str) -> bool:
    return token.text.startswith('"')


def _holds(token: Token, text: str, offset: int) -> bool:
    """Whether `offset` is between the quotes of a string; one without an end goes to the end of its line."""
    closed = token.kind != ERROR and len(token.text) > 1
    return offset < token.end or (not closed and offset == token.end)


def _in_comment(text: str, tokens: Sequence[Token], offset: int) -> bool:
    start = max((t.end for t in tokens[:-1] if t.end <= offset), default=0)
    following = next((t for t in tokens if t.start >= offset), None)
    stop = following.start if following is not None else len(text)
    if text.startswith("/*", start) and following is not None and following.kind == ERROR:
        return True
    error = next((t for t in tokens if t.kind == ERROR and t.start < offset and t.text.startswith("/*")), None)
    if error is not None:
        return True
    for match in re.compile(COMMENT).finditer(text, start, stop):
        line = match["line"] is not None
        if match.start() < offset and (offset <= match.end() if line else offset < match.end()):
            return True
    return False
