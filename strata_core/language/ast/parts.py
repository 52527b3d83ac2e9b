"""The parts of nodes, for passes that treat most kinds of node alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from .expressions import Name, NameTemplate, Template

_LEAVES = (Name, NameTemplate, Template)


@cache
def parts(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes."""
    return () if kind in _LEAVES else tuple(name for name in kind.__match_args__ if name != "span")


def children(node: Any) -> Iterator[Any]:
    """The nodes directly inside `node`."""
    for name in parts(node.__class__):
        value = getattr(node, name)
        if isinstance(value, tuple):
            yield from value
        elif hasattr(value, "__match_args__"):
            yield value
