"""How things are counted in what people read."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """`1 model`, `2 models`, `1,000 models`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
