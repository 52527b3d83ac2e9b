"""`qty // 2`: in other languages a division, here a comment (W019).

What follows the `//` of a comment is told as an operand where it can be one and little else: it stands behind an
operand, in a declaration that has expressions, and is a number, a name that the same text has too, or several of them
with operators, with nothing after it but what can follow an operand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..diagnostics import Diagnostic, Severity
from ..diagnostics.diagnostic import replacement
from .comments import COMMENT
from .scanner import Lines, Token, scan
from .tables import Tables

_NAME = r"[A-Za-z_]\w*"
_OPERAND = rf"(?:\d[\d_]*(?:\.\d+)?|{_NAME}(?:\.{_NAME})?(?:\([^()]*\))?|\([^()]+\))"
_STATEMENT = "filter|where|let|select|derive|group|aggregate|sort|take|dedup|expand|union|intersect|except|join_[a-z]+"
_COMMENT = r"//[ \t]*[\w(]"
_HALF = (
    rf"//\s*(?P<operand>{_OPERAND}(?:\s*[-+*/%]\s*{_OPERAND})*)"
    rf"(?P<rest>(?:\s*(?:[=!]=|[<>]=?)\s*{_OPERAND})?[,)}}\]\s]*(?:(?:{_NAME}\s*=|(?:{_STATEMENT})\b|//|#).*)?)"
)
_READ = rf"{_NAME}\b(?!\s*\()"
_HEADS = frozenset({"import", "source", "contract", "domain", "model", "pipeline", "fn", "test", "extern"})
_WITH_EXPRESSIONS = frozenset({"model", "fn", "test"})
_OPERANDS = frozenset({"IDENT", "QUOTED", "INT", "FLOAT"})


def divisions(text: str, lines: Lines, tables: Tables) -> Iterator[Diagnostic]:
    """W019 for the comments of a piece that read as the other half of a division."""
    if "//" not in text or not any(_stands_behind(text, found.start()) for found in re.finditer(_COMMENT, text)):
        return  # nearly no text has one
    tokens = scan(text, tables)
    words = {token.text for token in tokens}
    head: str | None = None
    for before, token in pairwise(tokens):
        if before.text in _HEADS and not text[text.rfind("\n", 0, before.start) + 1 : before.start].strip():
            head = before.text
        comment = re.compile(COMMENT).search(text, before.end, token.start)
        if head not in _WITH_EXPRESSIONS or comment is None or not _is_operand(before, tables):
            continue
        half = re.fullmatch(_HALF, comment.group())
        if (
            half is None
            or "\n" in text[before.end : comment.start()]
            or not words.issuperset(re.findall(_READ, half[1]))
        ):
            continue
        if half["rest"].lstrip().startswith(("=", "!", "<", ">")) and not half[1][0].isdigit():
            continue  # a condition, which was made a comment
        message = f"`// {half[1]}` is a comment: nothing is divided here"
        fix = f"write `/ {half[1]}`, and `floor(…)` around the division for a whole number"
        span = lines.span(comment.start(), comment.start() + len("//"))
        changes = (replacement(span, "/"),)
        yield Diagnostic("W019", message, span, Severity.WARNING, fix=fix, suggestions=changes)


def _stands_behind(text: str, start: int) -> bool:
    """Whether something that may be an operand stands on the line before the offset `start`."""
    while start and text[start - 1] in " \t":
        start -= 1
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]`")


def _is_operand(token: Token, tables: Tables) -> bool:
    return token.text in (")", "]") or tables.kinds[token.kind] in _OPERANDS
