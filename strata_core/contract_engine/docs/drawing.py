"""The lineage of a product drawn from left to right, for wide pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .boxes import OUTSIDE, ROW, Box, drawn, picture, sides
from .documented import Documented

_GAP = 20
_BETWEEN = 96
_LOWEST = 160
"""A low column stands no further down beside a high one: it is not to be looked for."""
_ROWS = 16
"""Of more rows in a box beside the product's own, the page lists the rest below."""

Placed = Mapping[str, tuple[float, float, float]]
"""Of each row, by its key: left edge, right edge, middle."""


def drawing(product: Documented, names: Mapping[str, str]) -> str:
    """The picture: what it is made of, its assets, who reads them."""
    parts = sides(product, names)
    above, below = ([box.shortened(_ROWS) for box in boxes] for boxes in (parts.above, parts.below))
    width, height, placed, shapes = _laid_out([boxes for boxes in (above, [parts.own], below) if boxes], names)
    joined = ((_at(start, placed), _at(end, placed)) for start, end in parts.edges)
    paths = "".join(_edge(*ends) for ends in dict.fromkeys(joined))
    return picture(f"{paths}{''.join(shapes)}", width, height, parts.label, "wide")


def _at(key: str, placed: Placed) -> tuple[float, float, float]:
    """Where an end is: at its row, else at the product or table that it is of, else at the domain."""
    whole = key.rpartition("/")[0]
    return next(placed[k] for k in (key, whole, whole.partition(".")[0], f"{key[0]}{OUTSIDE}") if k in placed)


def _laid_out(columns: Sequence[Sequence[Box]], names: Mapping[str, str]) -> tuple[int, int, Placed, list[str]]:
    heights = [sum(b.height + _GAP for b in boxes) - _GAP for boxes in columns]
    tallest = max(heights)
    placed: dict[str, tuple[float, float, float]] = {}
    shapes: list[str] = []
    left = 1
    for boxes, height in zip(columns, heights, strict=True):
        width = max(b.width for b in boxes)
        top = 1 + min((tallest - height) / 2, _LOWEST)
        for box in boxes:
            shapes.append(drawn(box, left, top, width, names))
            for number, row in enumerate(box.lines):
                placed[row.key] = (left, left + width, top + ROW * number + ROW / 2 + 2)
            top += box.height + _GAP
        left += width + _BETWEEN
    return left - _BETWEEN + 1, tallest + 2, placed, shapes


def _edge(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x1, y1, x2, y2 = start[1], start[2], end[0], end[2]
    bend = (x2 - x1) / 2
    return f'<path d="M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2 - 5:g} {y2:g}l-5 -4m5 4l-5 4"/>'
