"""Text inside Markdown, where what people wrote must not become markup."""

from __future__ import annotations


def markdown_cell(text: str) -> str:
    r"""`text` inside one cell of a table: nothing in it ends the cell or starts markup.

    >>> markdown_cell("a|b\n*c*")
    'a\\|b \\*c\\*'
    """
    escaped = "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)
    return " ".join(escaped.split())


def markdown_code(name: str) -> str:
    """`name` as a code span outside tables; a span shows backslashes, so that nothing in it is escaped.

    >>> markdown_code("fuel_prices")
    '`fuel_prices`'
    """
    text = " ".join(name.replace("`", "'").split())
    return f"`{text}`"
