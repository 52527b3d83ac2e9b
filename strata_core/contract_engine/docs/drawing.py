"""The lineage of a product, one hop each way, drawn as SVG: what it is made of, its assets, who reads them.

Boxes are products (or tables outside of any), their rows are assets. Where there are many on a side, boxes are domains,
and their rows are products. The picture has no text but names, follows the colours of the page, and products are links.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping

from ...frozen import dataclass
from .documented import Documented

_CHARACTER = 7.3
_ROW = 24
_PADDING = 12
_GAP = 20
_BETWEEN = 96
_MOST = 34
"""Longer names are cut; the title of the row has them whole."""
_MANY = 16
"""Of more boxes on a side, those of a domain become one."""
_LOWEST = 160
"""A low column stands no further down beside a high one: it is not to be looked for."""
_OUTSIDE = "outside of products"


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a box. `key` is what edges call it, `product` the product that it leads to."""

    key: str
    text: str
    product: str | None = None


@dataclass(frozen=True, slots=True)
class _Box:
    """A product, domain or table: its heading, and its rows. `kind` is how it is drawn."""

    kind: str
    head: _Row
    rows: tuple[_Row, ...] = ()

    @property
    def lines(self) -> tuple[_Row, ...]:
        """The heading, and the rows below it."""
        return (self.head, *self.rows)

    @property
    def height(self) -> int:
        return _ROW * len(self.lines) + 8

    @property
    def width(self) -> int:
        return round(max(len(_cut(row.text)) for row in self.lines) * _CHARACTER) + 2 * _PADDING


Placed = Mapping[str, tuple[float, float, float]]
"""Of each row, by its key: left edge, right edge, middle."""


def drawing(product: Documented, names: Mapping[str, str]) -> str:
    """The picture as an `<svg>` element; its edges are told again in the tables below it."""
    id_ = product.view.id
    compiled = {e.product for e in product.view.lineage if e.asset != "*"}
    outside = [e for e in product.view.lineage if e.product != id_]
    made = [e for e in outside if e.asset != "*" or e.product is None or e.product not in compiled]
    above = _boxes("<", ((e.product, e.upstream) for e in made))
    title = names.get(id_, id_)
    own = _Box("own", _Row(id_, title), tuple(_Row(f"{id_}/{a.id}", a.id) for a in product.view.contract.assets))
    refs = {a.ref or a.id: a.id for a in product.view.contract.assets}
    known = {r.product for r in product.readers if r.asset != "*"}
    readers = [r for r in product.readers if r.asset != "*" or r.product not in known]
    below = _boxes(">", ((r.product, r.asset) for r in readers))
    width, height, placed, shapes = _laid_out([boxes for boxes in (above, [own], below) if boxes], names)
    edges = [(_key("<", e.product, e.upstream), f"{id_}/{e.asset}") for e in made]
    edges += [(f"{id_}/{refs.get(r.upstream, '*')}", _key(">", r.product, r.asset)) for r in readers]
    joined = ((_at(start, placed), _at(end, placed)) for start, end in edges)
    paths = "".join(_edge(*ends) for ends in dict.fromkeys(joined))
    made_of, read_by = (
        {p or a for p, a in pairs}
        for pairs in (((e.product, e.upstream) for e in made), ((r.product, r.asset) for r in readers))
    )
    label = html.escape(f"Lineage of {title}. Made of: {len(made_of)}. Read by: {len(read_by)}.")
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}">'
        f"{paths}{''.join(shapes)}</svg>"
    )


def _key(side: str, product: str | None, asset: str) -> str:
    """What an edge calls an end of it. A product may stand on both sides."""
    return f"{side}{product or asset}/{'*' if product is None or asset == product else asset}"


def _at(key: str, placed: Placed) -> tuple[float, float, float]:
    """Where an end is: at its row, else at the product or table that it is of, else at the domain."""
    whole = key.rpartition("/")[0]
    return next(placed[k] for k in (key, whole, whole.partition(".")[0], f"{key[0]}{_OUTSIDE}") if k in placed)


def _boxes(side: str, pairs: Iterator[tuple[str | None, str]]) -> list[_Box]:
    """A box for each product with the assets that are named, and for each table that is of none."""
    rows: dict[tuple[str, str | None], dict[str, None]] = {}
    for product, asset in pairs:
        found = rows.setdefault((product or asset, product), {})
        if product is not None and asset not in ("*", product):
            found[asset] = None
    if len(rows) > _MANY:
        return _domains(side, rows)
    return [
        _Box(
            "other" if product else "table",
            _Row(f"{side}{name}", name, product),
            tuple(_Row(f"{side}{name}/{asset}", asset) for asset in found),
        )
        for (name, product), found in rows.items()
    ]


def _domains(side: str, products: Iterable[tuple[str, str | None]]) -> list[_Box]:
    """A box for each domain with its products, and one for the tables that are of none. Edges lead to the domain: one
    to each product would be a black beam."""
    domains: dict[str, list[_Row]] = {}
    for name, product in sorted(products, key=lambda p: (p[1] is None, p[0])):
        domain, _, short = name.partition(".") if product else (_OUTSIDE, "", name)
        domains.setdefault(domain, []).append(_Row(f"{side}{domain}:{name}", short, product))
    return [
        _Box("table" if domain == _OUTSIDE else "other", _Row(f"{side}{domain}", domain), tuple(rows))
        for domain, rows in domains.items()
    ]


def _laid_out(columns: list[list[_Box]], names: Mapping[str, str]) -> tuple[int, int, Placed, list[str]]:
    heights = [sum(b.height + _GAP for b in boxes) - _GAP for boxes in columns]
    tallest = max(heights)
    placed: dict[str, tuple[float, float, float]] = {}
    shapes: list[str] = []
    left = 1
    for boxes, height in zip(columns, heights, strict=True):
        width = max(b.width for b in boxes)
        top = 1 + min((tallest - height) / 2, _LOWEST)
        for box in boxes:
            shapes.append(_drawn(box, left, top, width, names))
            for number, row in enumerate(box.lines):
                placed[row.key] = (left, left + width, top + _ROW * number + _ROW / 2 + 2)
            top += box.height + _GAP
        left += width + _BETWEEN
    return left - _BETWEEN + 1, tallest + 2, placed, shapes


def _drawn(box: _Box, left: float, top: float, width: int, names: Mapping[str, str]) -> str:
    frame = f'<rect x="{left:g}" y="{top:g}" width="{width}" height="{box.height}" rx="6"/>'
    texts = "".join(
        _linked(
            f'<text x="{left + _PADDING:g}" y="{top + _ROW * n + 18:g}" class="{"head" if n == 0 else "row"}">'
            f"<title>{html.escape(row.text)}</title>{html.escape(_cut(row.text))}</text>",
            None if n == 0 else row.product,
            names,
        )
        for n, row in enumerate(box.lines)
    )
    return _linked(f'<g class="{box.kind}">{frame}{texts}</g>', box.head.product, names)


def _linked(drawn: str, product: str | None, names: Mapping[str, str]) -> str:
    """A part of the picture as a link to a product that has a page."""
    return f'<a href="{{{{{html.escape(product)}}}}}">{drawn}</a>' if product in names and product else drawn


def _edge(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    x1, y1, x2, y2 = start[1], start[2], end[0], end[2]
    bend = (x2 - x1) / 2
    return f'<path d="M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2 - 5:g} {y2:g}l-5 -4m5 4l-5 4"/>'


def _cut(name: str) -> str:
    return name if len(name) <= _MOST else name[: _MOST - 1] + "…"
