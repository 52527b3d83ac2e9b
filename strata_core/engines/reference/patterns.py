"""Text patterns: SQL `like` and the regular expressions of `types/functions/regex.py`."""

from __future__ import annotations

import functools
import re

from ...types.functions.regex import RegexError, to_python
from .values import MisfitError, Value


@functools.lru_cache(maxsize=256)
def _like(pattern: str) -> re.Pattern[str]:
    wildcards = {"%": ".*", "_": "."}
    return re.compile("".join(wildcards.get(c) or re.escape(c) for c in pattern), re.DOTALL)


@functools.lru_cache(maxsize=256)
def regex(pattern: str) -> re.Pattern[str]:
    """The compiled pattern; raises `MisfitError` where it is none."""
    try:
        return re.compile(to_python(pattern))
    except RegexError as error:
        raise MisfitError(str(error)) from None


def like(text: str, pattern: str) -> bool:
    """Whether all of `text` matches: `%` any text, `_` one character, everything else itself."""
    return _like(pattern).fullmatch(text) is not None


def rlike(text: str, pattern: str) -> bool:
    """Whether the expression matches somewhere in `text`."""
    return regex(pattern).search(text) is not None


def regexp_replace(text: str, pattern: str, replacement: str) -> str:
    """Every match replaced; `\\1` to `\\9` stand for groups, `\\0` for the match, `\\\\` for a backslash."""

    def expand(match: re.Match[str]) -> str:
        def piece(escape: re.Match[str]) -> str:
            sign = escape[1]
            return sign if sign == "\\" else (match[int(sign)] or "")

        return re.sub(r"\\([0-9\\])", piece, replacement)

    return regex(pattern).sub(expand, text)


def regexp_extract(text: str, pattern: str, group: int = 0) -> str:
    """The first match, or its group; empty where nothing matches."""
    match = regex(pattern).search(text)
    return (match[group] or "") if match else ""


def regexp_extract_all(text: str, pattern: str) -> list[Value]:
    """All matches."""
    return [match[0] for match in regex(pattern).finditer(text)]
