"""How a name is written: bare where it can be, else in backquotes."""

from __future__ import annotations

from functools import cache

from .lalr import accepted
from .tables import load_tables


def spelled(name: str) -> str:
    """`name` as it is written where a name is due.

    >>> spelled("amount"), spelled("from"), spelled("unit price")
    ('amount', '`from`', '`unit price`')
    """
    return name if name.isascii() and name.isidentifier() and name not in reserved_words() else f"`{name}`"


def can_be_written(name: str) -> bool:
    """Whether there is a way to write `name`."""
    return bool(name) and not set("`\n\0") & set(name)


@cache
def reserved_words() -> frozenset[str]:
    """The keywords that are no names."""
    tables = load_tables()
    return frozenset(tables.keywords) - accepted([tables.keywords["domain"]], tables)
