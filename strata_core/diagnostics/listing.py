"""How several names are told: the first of them, and how many more there are."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice


def listed(names: Collection[str], most: int) -> str:
    """The first `most` of `names`, and how many more there are.

    >>> listed(["a", "b"], 3), listed(["a", "b", "c"], 1)
    ('a, b', 'a and 2 more')
    """
    more = len(names) - most
    return f"{', '.join(islice(names, most))}{f' and {more:,} more' if more > 0 else ''}"
