"""The lineage of a product drawn from top to bottom, for pages as narrow as a phone's: what it is made of stands above
it, who reads it below, and a line beside them joins all. Which asset is made of which, the tables below it tell."""

from __future__ import annotations

from collections.abc import Mapping

from .boxes import ROW, drawn, picture, sides
from .documented import Documented

_WIDTH = 300
_RAIL = 6
_LEFT = 24
_GAP = 10
_APART = 26
"""Between the product's own box and the others."""
_ROWS = 6
"""Of more rows in a box, the page lists the rest below."""


def stacked(product: Documented, names: Mapping[str, str]) -> str:
    """The picture."""
    parts = sides(product, names)
    top, shapes, paths = 1.0, [], []
    own = parts.own.shortened(_ROWS)
    starts = []
    for box in (one.shortened(_ROWS) for one in parts.above):
        shapes.append(drawn(box, _LEFT, top, _WIDTH - _LEFT, names))
        starts.append(top + ROW / 2 + 2)
        top += box.height + _GAP
    top += _APART - _GAP if starts else 0
    shapes.append(drawn(own, _LEFT, top, _WIDTH - _LEFT, names))
    if starts:
        head = top + ROW / 2 + 2
        paths += [f"M{_LEFT} {y:g}H{_RAIL}" for y in starts]
        paths.append(f"M{_RAIL} {starts[0]:g}V{head:g}{_ARROW}")
    top += own.height
    last, ends = top - ROW / 2 - 2, []
    top += _APART
    for box in (one.shortened(_ROWS) for one in parts.below):
        shapes.append(drawn(box, _LEFT, top, _WIDTH - _LEFT, names))
        ends.append(top + ROW / 2 + 2)
        top += box.height + _GAP
    if ends:
        paths.append(f"M{_LEFT} {last:g}H{_RAIL}V{ends[-1]:g}")
        paths += [f"M{_RAIL} {y:g}{_ARROW}" for y in ends]
    height = top - (_GAP if ends else _APART) + 1
    lines = "".join(f'<path d="{path}"/>' for path in paths)
    return picture(f"{lines}{''.join(shapes)}", _WIDTH + 1, height, parts.label, "narrow")


_ARROW = f"H{_LEFT - 2}l-5 -4m5 4l-5 4"
