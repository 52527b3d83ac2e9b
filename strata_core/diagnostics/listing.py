"""How several names, and several findings, are told: the first of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from .diagnostic import Diagnostic


def listed(names: Collection[str], most: int) -> str:
    """The first `most` of `names`, and how many more there are.

    >>> listed(["a", "b"], 3), listed(["a", "b", "c"], 1)
    ('a, b', 'a and 2 more')
    """
    more = len(names) - most
    return f"{', '.join(islice(names, most))}{f' and {more:,} more' if more > 0 else ''}"


def headline(diagnostics: Sequence[Diagnostic], *, placed: bool = False) -> str:
    """The first of the findings, `placed` with its file and line, and how many more there are."""
    first = diagnostics[0]
    place = f" ({first.span})" if placed and first.span is not None else ""
    more = f" and {len(diagnostics) - 1} more" if len(diagnostics) > 1 else ""
    return f"{first.code} {first.message}{place}{more}"
