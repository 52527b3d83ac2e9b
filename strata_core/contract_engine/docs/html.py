"""Blocks as HTML. Everything that people wrote is escaped here; styles and scripts are inline and allowed by their
digests alone (`Content-Security-Policy`), so that nothing else is loaded or run even where an escape were missing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import assert_never

from ...digests import policy_source
from .blocks import (
    Block,
    Code,
    Drawing,
    Facts,
    Folded,
    Inline,
    Line,
    Listing,
    Mark,
    Page,
    Paragraph,
    Part,
    Row,
    Section,
    Source,
    Table,
    To,
)

Href = Callable[[str], str]
"""The address of a product's page, as seen from the page that is written."""


def page_html(page: Page, href: Href, index: str, beside: Mapping[str, str]) -> str:
    """The page of a product. `index` is where the index is; `beside` the page's other forms, by what they are."""
    toc = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in page.sections)
    forms = "".join(f'<a href="{escape(where)}">{escape(what)}</a>' for what, where in beside.items())
    return filled(
        "product.html",
        {
            "title": escape(page.title),
            "id": escape(page.product),
            "index": escape(index),
            "marks": _line(page.marks, href),
            "summary": f'<p class="purpose">{_text(page.summary)}</p>' if page.summary else "",
            "toc": toc,
            "sections": "\n".join(_section(s, href) for s in page.sections),
            "forms": forms,
        },
        script="product.js",
    )


def filled(template: str, values: Mapping[str, str], script: str) -> str:
    """A template with its places filled; it holds the styles, the script and the policy that allows them."""
    style, code = _asset("style.css"), _asset(script)
    policy = (
        f"default-src 'none'; style-src {policy_source(style)}; script-src {policy_source(code)}; form-action 'self'; "
        "base-uri 'none'"
    )
    known = {**values, "policy": policy, "style": style, "script": code}
    return re.sub(r"\{\{(\w+)\}\}", lambda place: known[place[1]], _asset(template))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _section(section: Section, href: Href) -> str:
    anchor, title = section.anchor, escape(section.title)
    blocks = "\n".join(_block(b, href) for b in section.blocks)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">'
        f'<h2 id="{anchor}-title"><a href="#{anchor}">{title}</a></h2>\n{blocks}</section>'
    )


def _block(block: Block, href: Href) -> str:
    match block:
        case Paragraph(line=line):
            paragraphs = _line(line, href).split("\n\n")
            return "".join(f"<p>{p}</p>" for p in paragraphs)
        case Facts(rows=rows):
            return f"<dl>{''.join(f'<div><dt>{escape(k)}</dt><dd>{_line(v, href)}</dd></div>' for k, v in rows)}</dl>"
        case Listing(items=items):
            return f"<ul>{''.join(f'<li>{_line(i, href)}</li>' for i in items)}</ul>"
        case Table():
            return _table(block, href)
        case Source(text=text):
            return f'<pre tabindex="0"><code>{escape(text)}</code></pre>'
        case Drawing(svg=svg):
            linked = re.sub(r"\{\{([a-z0-9_.]+)\}\}", lambda place: escape(href(place[1])), svg)
            return f'<div class="drawing" tabindex="0" role="region" aria-label="Lineage, drawn">{linked}</div>'
        case Folded(title=title, blocks=blocks):
            inside = "\n".join(_block(b, href) for b in blocks)
            return f"<details><summary>{escape(title)}</summary>{inside}</details>"
        case Part(anchor=anchor, heading=heading, blocks=blocks):
            inside = "\n".join(_block(b, href) for b in blocks)
            return f'<div class="part" id="{escape(anchor)}"><h3>{_line(heading, href)}</h3>\n{inside}</div>'
    assert_never(block)


def _table(table: Table, href: Href) -> str:
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in table.head)
    rows = "\n".join(_row(row, table.head, href) for row in table.rows)
    # Roles stand here because phones show rows as cards: with `display: block`, browsers forget that this is a table.
    return (
        f'<table role="table"><caption>{escape(table.caption)}</caption><thead role="rowgroup"><tr role="row">{head}'
        f'</tr></thead>\n<tbody role="rowgroup">{rows}</tbody></table>'
    )


def _row(row: Row, head: tuple[str, ...], href: Href) -> str:
    anchor = f' id="{escape(row.anchor)}"' if row.anchor else ""
    first, *others = row.cells
    cells = "".join(
        f'<td role="cell" data-label="{escape(label)}"><div>{_line(cell, href)}</div></td>'
        if cell and cell != ("",)
        else '<td role="cell" class="empty"></td>'
        for label, cell in zip(head[1:], others, strict=True)
    )
    return f'<tr role="row"{anchor}><th scope="row" role="rowheader">{_line(first, href)}</th>{cells}</tr>'


def _line(line: Line, href: Href) -> str:
    return "".join(_inline(part, href) for part in line)


def _inline(part: Inline, href: Href) -> str:
    match part:
        case str():
            return _text(part)
        case Code(text=text):
            return f"<code>{_breakable(text)}</code>"
        case Mark(text=text, tone=tone, title=title):
            told = f' title="{escape(title)}"' if title else ""
            return f'<span class="mark {tone}"{told}>{escape(text)}</span>'
        case To(product=product, text=text, anchor=anchor):
            return f'<a href="{escape(href(product) + (f"#{anchor}" if anchor else ""))}">{_breakable(text)}</a>'
    assert_never(part)


def _text(text: str) -> str:
    return re.sub(r"\S{17,}", lambda word: re.sub(r"([._/-])(?=[\w&])", r"\1<wbr>", word[0]), escape(text))


def _breakable(text: str) -> str:
    """A name that may break after its dots, underscores and slashes."""
    return re.sub(r"([._/])(?=\w)", r"\1<wbr>", escape(text))
