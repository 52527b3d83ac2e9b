"""Text inside Markdown, where what people wrote must not become markup."""

from __future__ import annotations


def markdown_cell(text: str) -> str:
    r"""`text` inside one cell of a table: nothing in it ends the cell or starts markup.

    >>> markdown_cell("a|b\n*c*")
    'a\\|b \\*c\\*'
    """
    escaped = "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)
    return " ".join(escaped.split())
