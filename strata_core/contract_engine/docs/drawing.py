"""The lineage of a product, one hop each way, drawn as SVG: what it is made of, its assets, who reads them.

Boxes are products (or tables outside of any), their rows are assets. The picture has no text but names, follows the
colours of the page, and its boxes are links.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping

from ...frozen import dataclass
from .documented import Documented

_CHARACTER = 7.3
_ROW = 24
_PADDING = 12
_GAP = 20
_BETWEEN = 96
_MOST = 34
"""Longer names are cut; the title of the row has them whole."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A product or table: `key` tells it apart, `title` is its heading, `rows` are its assets."""

    key: str
    title: str
    rows: tuple[str, ...]
    product: str | None

    @property
    def height(self) -> int:
        return _ROW * (1 + len(self.rows)) + 8

    @property
    def width(self) -> int:
        longest = max(len(_cut(name)) for name in (self.title, *self.rows))
        return round(longest * _CHARACTER) + 2 * _PADDING


Placed = Mapping[tuple[str, str], tuple[float, float, float]]
"""Of each row of a box (`*` is its heading): left edge, right edge, middle."""


def drawing(product: Documented, names: Mapping[str, str]) -> str:
    """The picture as an `<svg>` element; its edges are told again in the tables below it."""
    id_ = product.view.id
    compiled = {e.product for e in product.view.lineage if e.asset != "*"}
    outside = [e for e in product.view.lineage if e.product != id_]
    made = [e for e in outside if e.asset != "*" or e.product is None or e.product not in compiled]
    above = _boxes("<", ((e.product, e.upstream) for e in made))
    own = _Box(id_, names.get(id_, id_), tuple(a.id for a in product.view.contract.assets), None)
    refs = {a.ref or a.id: a.id for a in product.view.contract.assets}
    known = {r.product for r in product.readers if r.asset != "*"}
    readers = [r for r in product.readers if r.asset != "*" or r.product not in known]
    below = _boxes(">", ((r.product, r.asset) for r in readers))
    columns = [boxes for boxes in (above, [own], below) if boxes]
    width, height, placed, shapes = _laid_out(columns, names)
    edges = [
        ((f"<{e.product or e.upstream}", e.upstream if e.product and e.upstream != e.product else "*"), (id_, e.asset))
        for e in made
    ]
    edges += [((id_, refs.get(r.upstream, "*")), (f">{r.product}", r.asset)) for r in readers]
    paths = "".join(_edge(placed[start], placed[end]) for start, end in dict.fromkeys(edges))
    label = html.escape(f"Lineage of {own.title}. Made of: {len(above)}. Read by: {len(below)}.")
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}">'
        f"{paths}{''.join(shapes)}</svg>"
    )


def _boxes(side: str, pairs: Iterator[tuple[str | None, str]]) -> list[_Box]:
    """A box for each product with the assets that are named, and for each table that is of none. A product may stand
    on both sides."""
    rows: dict[tuple[str, str | None], dict[str, None]] = {}
    for product, asset in pairs:
        found = rows.setdefault((product or asset, product), {})
        if product is not None and asset not in ("*", product):
            found[asset] = None
    return [_Box(side + key, key, tuple(found), product) for (key, product), found in rows.items()]


def _laid_out(columns: list[list[_Box]], names: Mapping[str, str]) -> tuple[int, int, Placed, list[str]]:
    heights = [sum(b.height + _GAP for b in boxes) - _GAP for boxes in columns]
    tallest = max(heights)
    placed: dict[tuple[str, str], tuple[float, float, float]] = {}
    shapes: list[str] = []
    left = 1
    for boxes, height in zip(columns, heights, strict=True):
        width = max(b.width for b in boxes)
        top = 1 + (tallest - height) / 2
        for box in boxes:
            shapes.append(_drawn(box, left, top, width, names))
            for number, row in enumerate(("*", *box.rows)):
                placed[box.key, row] = (left, left + width, top + _ROW * number + _ROW / 2 + 2)
            top += box.height + _GAP
        left += width + _BETWEEN
    return left - _BETWEEN + 1, tallest + 2, placed, shapes


def _drawn(box: _Box, left: float, top: float, width: int, names: Mapping[str, str]) -> str:
    texts = "".join(
        f'<text x="{left + _PADDING:g}" y="{top + _ROW * n + 18:g}" class="{"head" if n == 0 else "row"}">'
        f"<title>{html.escape(name)}</title>{html.escape(_cut(name))}</text>"
        for n, name in enumerate((box.title, *box.rows))
    )
    kind = "other" if box.product is not None else "own" if box.rows else "table"
    drawn = (
        f'<g class="{kind}"><rect x="{left:g}" y="{top:g}" width="{width}" height="{box.height}" rx="6"/>{texts}</g>'
    )
    if box.product is not None and box.product in names:
        return f'<a href="{{{{{html.escape(box.product)}}}}}">{drawn}</a>'
    return drawn


def _edge(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x1, y1, x2, y2 = start[1], start[2], end[0], end[2]
    bend = (x2 - x1) / 2
    return f'<path d="M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2 - 5:g} {y2:g}l-5 -4m5 4l-5 4"/>'


def _cut(name: str) -> str:
    return name if len(name) <= _MOST else name[: _MOST - 1] + "…"
