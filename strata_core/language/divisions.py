"""`qty // 2`: in other languages a division, here a comment (W019).

What follows the `//` of a comment is told as an operand where it can be one and little else: it stands behind an
operand, in a declaration that has expressions, and is a number, a name that the same text has too, or several of them
with operators, with nothing after it but what can follow an operand there. Behind the comma of a named item as well,
`half = qty,  // 2`: so `strata fmt` writes the former, whose comma cannot stand in the comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from ..diagnostics import Diagnostic, Severity
from ..diagnostics.diagnostic import Edit, Suggestion, replacement
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
_BEFORE_ITEMS = frozenset({",", "{", "[", "}", "]"})
_OPERANDS = frozenset({"IDENT", "QUOTED", "INT", "FLOAT"})


def divisions(text: str, lines: Lines, tables: Tables) -> Iterator[Diagnostic]:
    """W019 for the comments of a piece that read as the other half of a division."""
    if "//" not in text or not any(_stands_behind(text, found.start()) for found in re.finditer(_COMMENT, text)):
        return  # nearly no text has one
    tokens = scan(text, tables)
    words = {token.text for token in tokens}
    head: str | None = None
    for at, (before, token) in enumerate(pairwise(tokens)):
        if before.text in _HEADS and not text[text.rfind("\n", 0, before.start) + 1 : before.start].strip():
            head = before.text
        comment = re.compile(COMMENT).search(text, before.end, token.start)
        if head not in _WITH_EXPRESSIONS or comment is None or not _may_go_on(tokens, at, tables):
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
        sign = comment.start() + len("//")
        span = lines.span(comment.start(), sign)
        change = replacement(span, "/")
        if before.text == ",":
            end = comment.start() + half.end(1)
            edits = (Edit(lines.span(before.start, sign), " /"), Edit(lines.span(end, end), ","))
            change = Suggestion(change.title, edits)
        yield Diagnostic("W019", message, span, Severity.WARNING, fix=fix, suggestions=(change,))


def _stands_behind(text: str, start: int) -> bool:
    """Whether something that may be an operand stands on the line before the offset `start`."""
    while start and text[start - 1] in " \t":
        start -= 1
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]`,")


def _may_go_on(tokens: Sequence[Token], at: int, tables: Tables) -> bool:
    """Whether the expression that ends with the token `at` may go on: it ends with an operand, or with one and the
    comma of the item that it is."""
    if tokens[at].text != ",":
        return _is_operand(tokens[at], tables)
    item = [token.text for token in takewhile(lambda t: t.text not in _BEFORE_ITEMS, reversed(tokens[:at]))]
    return at > 0 and "=" in item and _is_operand(tokens[at - 1], tables)


def _is_operand(token: Token, tables: Tables) -> bool:
    return token.text in (")", "]") or tables.kinds[token.kind] in _OPERANDS
