"""Blocks as Markdown, for agents and for places that show Markdown. Nothing that people wrote becomes markup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from ...diagnostics.markdown import markdown_cell, markdown_code
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
    Source,
    Table,
    To,
)


def page_markdown(page: Page, href: Callable[[str], str]) -> str:
    """The page of a product."""
    lines = [f"# {markdown_cell(page.title)}", "", f"{markdown_code(page.product)} · {_line(page.marks, href, ' · ')}"]
    if page.summary:
        lines += ["", f"> {markdown_cell(page.summary)}"]
    for section in page.sections:
        lines += ["", f"## {section.title}"]
        for block in section.blocks:
            lines += _block(block, href)
    return "\n".join(lines) + "\n"


def _block(block: Block, href: Callable[[str], str]) -> Iterator[str]:
    match block:
        case Paragraph(line=line):
            yield ""
            yield _line(line, href)
        case Facts(rows=rows):
            yield ""
            yield from (f"- {label}: {_line(line, href)}" for label, line in rows)
        case Listing(items=items):
            yield ""
            yield from (f"- {_line(item, href)}" for item in items)
        case Table(head=head, rows=rows):
            yield ""
            yield f"| {' | '.join(head)} |"
            yield "|" + "---|" * len(head)
            yield from (f"| {' | '.join(_line(cell, href) for cell in row.cells)} |" for row in rows)
        case Source(text=text, language=language):
            longest = max((len(run) for run in _ticks(text)), default=0)
            fence = "`" * max(3, longest + 1)
            yield ""
            yield f"{fence}{language}\n{text}\n{fence}"
        case Drawing():
            pass  # the tables beside it say the same
        case Folded(title=title, blocks=blocks):
            yield ""
            yield f"**{markdown_cell(title)}**"
            for inner in blocks:
                yield from _block(inner, href)
        case Part(heading=heading, blocks=blocks):
            yield ""
            yield f"### {_line(heading, href)}"
            for inner in blocks:
                yield from _block(inner, href)
        case _:
            assert_never(block)


def _ticks(text: str) -> Iterator[str]:
    run = ""
    for character in text:
        if character == "`":
            run += character
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _line(line: Line, href: Callable[[str], str], between: str = "") -> str:
    return between.join(_inline(part, href) for part in line)


def _inline(part: Inline, href: Callable[[str], str]) -> str:
    match part:
        case str():
            lead, tail = part[:1] if part[:1] == " " else "", " " if part[-1:] == " " and part.strip() else ""
            return f"{lead}{markdown_cell(part)}{tail}"
        case Code(text=text):
            # Within a table a bar ends the cell even in a code span.
            return markdown_code(text).replace("|", "\\|")
        case Mark(text=text):
            return f"*{markdown_cell(text)}*"
        case To(product=product, text=text, anchor=anchor):
            return f"[{markdown_cell(text)}]({href(product)}{f'#{anchor}' if anchor and not anchor.count('.') else ''})"
    assert_never(part)
