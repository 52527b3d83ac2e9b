"""The cells of a table of literals as they are written, by which `forms.py` lays its columns below one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .concrete import Leaf, Part, Tree


def widths_of(rows: Sequence[Sequence[str] | None]) -> dict[int, int]:
    """How wide each column is; what spans lines does not count."""
    widths: dict[int, int] = {}
    for row in rows:
        for column, text in enumerate(row or ()):
            widths[column] = max(widths.get(column, 0), len(text) if "\n" not in text else 0)
    return widths


def cells_of(row: Tree) -> list[str] | None:
    """The cells of a row as they are written; None where comments stand between them."""
    leaves = [*_all_leaves(row)]
    if any(leaf.leading for leaf in leaves[1:]) or any(leaf.trailing for leaf in leaves[:-1]):
        return None
    return [_cell(part) for part in row.parts if isinstance(part, Tree)]


def _cell(part: Part) -> str:
    """A cell without comments, on one line."""
    if isinstance(part, Leaf):
        return part.text
    parts = [_cell(p) for p in part.parts]
    match part.rule:
        case "cells" | "record":
            opening, *inside, closing = parts
            return opening + ", ".join(text for text in inside if text != ",") + closing
        case "member":
            name, _, value = parts
            return f"{name}: {value}"
        case "moment":
            return " ".join(filter(None, ("".join(parts[:5]), "".join(parts[5:]))))
        case _:
            return "".join(parts)


def _all_leaves(part: Part) -> Iterator[Leaf]:
    if isinstance(part, Leaf):
        yield part
    else:
        for inner in part.parts:
            yield from _all_leaves(inner)
