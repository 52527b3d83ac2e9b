"""The comments of a text, with the line of code that each is about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..diagnostics import Span
from ..frozen import dataclass
from .scanner import Lines, scan
from .tables import load_tables

COMMENT = r"(?P<line>(?://|#)[^\n]*)|(?s:/\*.*?\*/)"
"""A comment, where no token stands; `line` is one that ends with its line."""


@dataclass(frozen=True, slots=True)
class PlacedComment:
    """A comment as written. `about` is the line of the code before it on its line, else of the code that follows."""

    text: str
    span: Span
    about: int


def comments(text: str, file: str) -> Iterator[PlacedComment]:
    """The comments of `text` in order; what is no token is taken for one."""
    lines = Lines(file, text)
    position = 0
    code = 0  # the line on which the last token ends
    for token in scan(text, load_tables()):
        following = lines.span(token.start, token.end)
        for match in re.compile(COMMENT).finditer(text, position, token.start):
            span = lines.span(match.start(), match.end())
            yield PlacedComment(match.group(), span, code if code == span.line else following.line)
        position, code = token.end, following.end_line
