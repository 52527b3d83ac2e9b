"""Values and rows as literal tables spell them (`language.md`, "Declarations")."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..language.names import can_be_written
from ..language.names import spelled as spelled_name
from ..types.texts import text_of


def spelled(value: object) -> str:
    """A value as a cell.

    >>> import decimal
    >>> spelled(None), spelled("a|b"), spelled([1, None]), spelled({"a": decimal.Decimal("1.50"), "from": "x"})
    ('none', '"a|b"', '[1, none]', '{a: 1.50, `from`: "x"}')
    """
    match value:
        case None:
            return "none"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(spelled, value))}]"
        case dict():
            return f"{{{', '.join(f'{_name(k)}: {spelled(v)}' for k, v in value.items())}}}"
        case _:
            return text_of(value)


def _name(name: str) -> str:
    return spelled_name(name) if can_be_written(name) else json.dumps(name, ensure_ascii=False)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of spelled cells as lines, with their columns below one another.

    >>> aligned([["id", "name"], ["1", "none"]])
    ['| id | name |', '| 1  | none |']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [f"| {' | '.join(c.ljust(w) for c, w in zip(row, widths, strict=True))} |" for row in rows]
