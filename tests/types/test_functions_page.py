"""docs/functions.md lists what the catalog holds. Run this file to write the page anew."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from strata_core.types.functions import CATALOG, Example, Function, Kind

PAGE = Path(__file__).parents[2] / "docs" / "functions.md"
INTRODUCTION = """\
# Functions

Everything that can be called, and every operator. The page is written from the catalog; each example runs as a test on
every engine. `T` is any type, the same wherever it stands twice; what stands in `[…]` may be left out.

Most functions of a null are null. Aggregates stand in `aggregate`, and with `over` in `derive` and `select`; windows
need `over`. `cast(x, "decimal(10,2)")` converts to the type that it names, and the run fails where a value does not
fit.
"""


def spelled(value: object) -> str:
    match value:
        case None:
            return "none"
        case list():
            return f"[{listed(value)}]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def listed(values: Iterable[object]) -> str:
    return ", ".join(map(spelled, values))


def instance(function: Function, example: Example) -> str:
    """A window's value has one element a row, as what it is computed of has."""
    rows = example.value if " over " in example.call else None
    value = code(listed(rows) if isinstance(rows, list) else spelled(example.value))
    of = "" if function.kind is Kind.SCALAR else f" of {code(listed(example.rows))}"
    return f"{code(example.call)}{of} is {value}"


def code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`"


def words(function: Function) -> str:
    """The words that stand for themselves; three for an example where there are more than a person reads."""
    lists = [[*sorted(found)] for found in function.words.values()]
    return "".join(f" Words: {', '.join(map(code, w if len(w) < 10 else [*w[:3], '…']))}." for w in lists)


def row(function: Function) -> str:
    doc = function.doc.replace("|", "\\|")
    return f"| {code(function.signature)} | {doc}{words(function)} | {instance(function, function.examples[0])} |"


def page() -> str:
    parts = [INTRODUCTION]
    for family in dict.fromkeys(f.family for f in CATALOG.values()):
        rows = "\n".join(row(f) for f in CATALOG.values() if f.family == family)
        title = family.upper() if family == "json" else family.capitalize()
        parts.append(f"## {title}\n\n| call | meaning | for instance |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def test_the_page_lists_the_catalog() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it anew: python {Path(__file__).name}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
