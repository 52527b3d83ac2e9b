"""Where the texts of a contract name a column: in prose, a name is one only where it cannot be a plain word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .documents import Path

_TEXTS = frozenset({"description", "documentation", "purpose", "grain", "meaning", "transformation"})
_OF_THE_PAST = frozenset({"compatibility", "declined_suggestions", "extensions"})
"""What is said there may well name what was."""


def texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts of a contract that say how it is now, with their places."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in _TEXTS and isinstance(inner, str):
                yield (*path, name), inner
            elif path or name not in _OF_THE_PAST:
                yield from texts(inner, (*path, name))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from texts(inner, (*path, number))


def naming(asset: str, column: str) -> re.Pattern[str]:
    """What finds `column` of `asset` in a text, or `asset` itself where `column` is empty; in the first group the asset
    before a column. A name that is also a word of plain English is one only between backticks, or behind that of its
    asset.

    >>> [bool(naming("orders", "state").search(text)) for text in ("the state", "`state`", "orders.state", "my.state")]
    [False, True, True, False]
    >>> [bool(naming("orders", "net_amount").search(text)) for text in ("the net_amount", "lines.net_amount")]
    [True, False]
    """
    behind = rf"(?:({_BEFORE}{re.escape(asset)}\.)|" if column else "(?:"
    name = column or asset
    plain = rf"{_BEFORE}(?<!`)" if re.search(r"[_\d]|[a-z][A-Z]", name) else r"(?<=`)"
    return re.compile(rf"{behind}{plain}|(?<=`)){re.escape(name)}(?!\w)")


_BEFORE = r"(?<![\w.])"
