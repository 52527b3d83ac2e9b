"""What a drawing of lineage is made of: boxes that are products (or tables outside of any), whose rows are assets.
Where there are many on a side, boxes are domains, and their rows are products.

One hop each way: what a product is made of, its assets, who reads them. There are no texts but names, colours are those
of the page, and products are links.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping

from ...frozen import dataclass, replace
from .documented import Documented

ROW = 24
PADDING = 12
CHARACTER = 7.3
_MOST = 34
"""Longer names are cut; the title of the row has them whole."""
_TAIL = 12
_MANY = 16
"""Of more boxes on a side, those of a domain become one."""
OUTSIDE = "outside of products"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a box. `key` is what edges call it, `product` the product that it leads to."""

    key: str
    text: str
    product: str | None = None


@dataclass(frozen=True, slots=True)
class Box:
    """A product, domain or table: its heading, and its rows. `kind` is how it is drawn."""

    kind: str
    head: Row
    rows: tuple[Row, ...] = ()

    @property
    def lines(self) -> tuple[Row, ...]:
        """The heading, and the rows below it."""
        return (self.head, *self.rows)

    @property
    def height(self) -> int:
        return ROW * len(self.lines) + 8

    @property
    def width(self) -> int:
        return round(max(len(cut(row.text)) for row in self.lines) * CHARACTER) + 2 * PADDING

    def shortened(self, most: int) -> Box:
        """The box with `most` rows: the last of them says how many more there are, which the page lists below."""
        if len(self.rows) <= most:
            return self
        rest = Row(f"{self.head.key}…", f"and {len(self.rows) - most + 1} more")
        return replace(self, rows=(*self.rows[: most - 1], rest))


@dataclass(frozen=True, slots=True)
class Sides:
    """What is drawn: what the product is made of, itself, who reads it; and the edges, by the keys of their ends."""

    above: tuple[Box, ...]
    own: Box
    below: tuple[Box, ...]
    edges: tuple[tuple[str, str], ...]
    label: str
    """What the picture says, for those who do not see it."""


def sides(product: Documented, names: Mapping[str, str]) -> Sides:
    """The boxes and edges of a product; its edges are told again in the tables below the picture."""
    id_ = product.view.id
    compiled = {e.product for e in product.view.lineage if e.asset != "*"}
    outside = [e for e in product.view.lineage if e.product != id_]
    made = [e for e in outside if e.asset != "*" or e.product is None or e.product not in compiled]
    title = names.get(id_, id_)
    own = Box("own", Row(id_, title), tuple(Row(f"{id_}/{a.id}", a.id) for a in product.view.contract.assets))
    refs = {a.ref or a.id: a.id for a in product.view.contract.assets}
    known = {r.product for r in product.readers if r.asset != "*"}
    readers = [r for r in product.readers if r.asset != "*" or r.product not in known]
    edges = [(_key("<", e.product, e.upstream), f"{id_}/{e.asset}") for e in made]
    edges += [(f"{id_}/{refs.get(r.upstream, '*')}", _key(">", r.product, r.asset)) for r in readers]
    made_of, read_by = (
        {p or a for p, a in pairs}
        for pairs in (((e.product, e.upstream) for e in made), ((r.product, r.asset) for r in readers))
    )
    label = html.escape(f"Lineage of {title}. Made of: {len(made_of)}. Read by: {len(read_by)}.")
    above = _boxes("<", ((e.product, e.upstream) for e in made))
    return Sides(above, own, _boxes(">", ((r.product, r.asset) for r in readers)), tuple(edges), label)


def _key(side: str, product: str | None, asset: str) -> str:
    """What an edge calls an end of it. A product may stand on both sides."""
    return f"{side}{product or asset}/{'*' if product is None or asset == product else asset}"


def _boxes(side: str, pairs: Iterator[tuple[str | None, str]]) -> tuple[Box, ...]:
    """A box for each product with the assets that are named, and for each table that is of none."""
    rows: dict[tuple[str, str | None], dict[str, None]] = {}
    for product, asset in pairs:
        found = rows.setdefault((product or asset, product), {})
        if product is not None and asset not in ("*", product):
            found[asset] = None
    if len(rows) > _MANY:
        return _domains(side, rows)
    return tuple(
        Box(
            "other" if product else "table",
            Row(f"{side}{name}", name, product),
            tuple(Row(f"{side}{name}/{asset}", asset) for asset in found),
        )
        for (name, product), found in rows.items()
    )


def _domains(side: str, products: Iterable[tuple[str, str | None]]) -> tuple[Box, ...]:
    """A box for each domain with its products, and one for the tables that are of none. Edges lead to the domain: one
    to each product would be a black beam."""
    domains: dict[str, list[Row]] = {}
    for name, product in sorted(products, key=lambda p: (p[1] is None, p[0])):
        domain, _, short = name.partition(".") if product else (OUTSIDE, "", name)
        domains.setdefault(domain, []).append(Row(f"{side}{domain}:{name}", short, product))
    return tuple(
        Box("table" if domain == OUTSIDE else "other", Row(f"{side}{domain}", domain), tuple(rows))
        for domain, rows in domains.items()
    )


def drawn(box: Box, left: float, top: float, width: int, names: Mapping[str, str]) -> str:
    """A box as SVG."""
    frame = f'<rect x="{left:g}" y="{top:g}" width="{width}" height="{box.height}" rx="6"/>'
    texts = "".join(
        _linked(
            f'<text x="{left + PADDING:g}" y="{top + ROW * n + 18:g}" class="{"head" if n == 0 else "row"}">'
            f"<title>{html.escape(row.text)}</title>{html.escape(cut(row.text))}</text>",
            None if n == 0 else row.product,
            names,
        )
        for n, row in enumerate(box.lines)
    )
    return _linked(f'<g class="{box.kind}">{frame}{texts}</g>', box.head.product, names)


def _linked(shape: str, product: str | None, names: Mapping[str, str]) -> str:
    """A part of the picture as a link to a product that has a page."""
    return f'<a href="{{{{{html.escape(product)}}}}}">{shape}</a>' if product in names and product else shape


def picture(shapes: str, width: float, height: float, label: str, kind: str) -> str:
    """The shapes as an `<svg>` element, for pages of a `kind` of width."""
    return (
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img"'
        f' aria-label="{label}">{shapes}</svg>'
    )


def cut(name: str) -> str:
    """A name as it is shown. Long ones are cut in the middle: names of one family differ at their ends.

    >>> cut("a_rather_long_product_name_of_the_number_07")
    'a_rather_long_product…he_number_07'
    """
    return name if len(name) <= _MOST else f"{name[: _MOST - _TAIL - 1]}…{name[-_TAIL:]}"
