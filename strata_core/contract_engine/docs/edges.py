"""The lineage of a product: drawn, and in tables that say which asset is made of which. Of a product that many read,
or that is made of many, there is a table for each domain, opened on demand: nobody reads a hundred rows to find one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...diagnostics.wording import plural
from .blocks import Block, Code, Drawing, Folded, Inline, Paragraph, Part, Row, Table, To, compact, joined
from .boxes import OUTSIDE
from .documented import Documented
from .drawing import drawing
from .stacked import stacked

_MANY = 12
"""More rows than these are told by domain."""
_Rows = dict[tuple[str, ...], list[str]]
"""What stands in the same row, by what tells rows apart."""


def lineage(product: Documented, names: Mapping[str, str]) -> Iterator[Block]:
    """What a product is made of, and who reads it."""
    if not product.view.lineage and not product.readers:
        yield Paragraph(("Nothing is known of what it is made of, and no product here is made of it.",))
        return
    yield Drawing(drawing(product, names) + stacked(product, names))
    above = _gathered(((e.product or "", e.upstream, e.basis), e.asset) for e in product.view.lineage)
    if above:
        yield _side("Made of", ("made of", "of product", "into", "known by"), _made_of(above, names))
    told = {r.product for r in product.readers if r.asset != "*"}
    # That a product says so of itself is of no use where it is known of its assets.
    readers = (r for r in product.readers if r.asset != "*" or r.product not in told)
    below = _gathered(((r.product, r.asset), r.upstream) for r in readers)
    if below:
        yield _side("Read by", ("read by", "into", "reads"), _read_by(below, names))


def _gathered(edges: Iterable[tuple[tuple[str, ...], str]]) -> _Rows:
    found: _Rows = {}
    for key, end in edges:
        found.setdefault(key, []).append(end)
    return found


_Told = Iterator[tuple[str, Row]]
"""Rows, each with the product that is on the other side, where there is one."""


def _made_of(edges: _Rows, names: Mapping[str, str]) -> _Told:
    for (other, upstream, basis), assets in edges.items():
        of = To(other, names[other]) if other in names else other
        yield other, Row(((Code(upstream),), (of,), joined(map(_asset, dict.fromkeys(assets))), (basis,)))


def _read_by(edges: _Rows, names: Mapping[str, str]) -> _Told:
    for (other, asset), reads in edges.items():
        by = To(other, names.get(other, other))
        yield other, Row(((by,), (_asset(asset),), joined(map(Code, dict.fromkeys(reads)))))


def _asset(asset: str) -> Inline:
    return "the product" if asset == "*" else Code(asset)


def _side(caption: str, head: tuple[str, ...], rows: _Told) -> Part:
    """One side, under a heading: on phones rows are cards, which do not say of which table they are."""
    anchor = f"lineage~{caption.lower().replace(' ', '-')}"  # no asset can be called so
    return Part(anchor, (caption,), tuple(_by_domain(caption, head, rows)))


def _by_domain(caption: str, head: tuple[str, ...], rows: _Told) -> Iterator[Block]:
    domains: dict[str, list[tuple[str, Row]]] = {}
    for other, row in rows:
        domains.setdefault(other.partition(".")[0] or OUTSIDE, []).append((other, row))
    if sum(map(len, domains.values())) <= _MANY:
        yield compact(Table(caption, head, tuple(row for told in domains.values() for _, row in told)))
        return
    for domain, told in sorted(domains.items(), key=lambda item: (item[0] == OUTSIDE, item[0])):
        count = plural(len(told), "table") if domain == OUTSIDE else plural(len({p for p, _ in told}), "product")
        table = compact(Table(f"{caption}: {domain}", head, tuple(row for _, row in told)))
        yield Folded(f"{count} {'' if domain == OUTSIDE else 'of '}{domain}", (table,))
