"""A model is typed character by character, as a person does: what is offered and found makes sense all along."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .client import Client, at

SOURCES = """\
source orders(csv: "o.csv") {
  columns: {
    order_id: int64 primary_key,
    country: string nonnull enum {ES, MX},
    amount: decimal(10,2) nonnull,
    buyer: int64,
  }
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, email: string } }
contract Big {
  order_id: int64 primary_key
  country: string nonnull
  email: string
  total: decimal(12,2) nonnull
}
"""
READER = "contract R { total: decimal(12,2) nonnull }\nmodel reader -> contract R { from big  select { total } }\n"
TYPED = """\
model big -> contract Big {
  from orders
  join_left people as p on orders.buyer == p.id expect many_to_one
  filter country == "ES" and amount > 10
  select { order_id, country, p.email, total = cast(amount, "decimal(12,2)") }
}
"""
# What is typed of the last line, and the first that is offered (of what begins like the word at the cursor).
OFFERED = {
    "m": ["model"],
    "model big -> ": ["contract"],
    "model big -> contract ": ["Big"],
    "model big -> contract Big {": ["from", "owner", "description", "label"],
    "  fr": ["from"],
    "  from ": ["orders", "people", "reader"],
    "  join_l": ["join_left"],
    "  join_left ": ["orders", "people", "reader"],
    "  join_left people ": ["as", "on"],
    "  join_left people as p ": ["on"],
    "  join_left people as p on orders.": ["order_id", "country", "amount", "buyer"],
    "  join_left people as p on orders.buyer == p.": ["id", "email"],
    "  join_left people as p on orders.buyer == p.id expect ": ["many_to_one", "one_to_many", "one_to_one"],
    "  fil": ["filter"],
    "  filter co": ["country"],
    '  filter country == "': ["ES", "MX"],
    '  filter country == "ES" and ': ["order_id", "country", "amount", "buyer"],
    '  filter country == "ES" an': ["and"],
    "  select { ": ["order_id", "country", "email", "total"],
    "  select { order_id, country, ": ["email", "total"],
    "  select { order_id, country, p.": ["id", "email"],
    "  select { order_id, country, p.email, to": ["total"],
    '  select { order_id, country, p.email, total = cast(amount, "deci': ["decimal"],
    '  select { order_id, country, p.email, total = cast(amount, "decimal(12,2)") }\n': ["aggregate", "dedup"],
    "}\n": ["contract", "domain"],
}


def fitting(items: Any, word: str) -> list[str]:
    return [item["label"] for item in items if item["label"].lower().startswith(word.lower())]


def test_typing_a_model(tmp_path: Path, editors: Callable[..., Client]) -> None:
    folder = tmp_path.resolve()
    (folder / "models").mkdir()
    (folder / "strata.toml").write_text('[project]\nname = "p"\n')
    for name, text in (("sources", SOURCES), ("reader", READER), ("big", "")):
        (folder / "models" / f"{name}.strata").write_text(text)
    editor = editors(folder)
    uri = editor.open(folder / "models" / "big.strata")
    reader = (folder / "models" / "reader.strata").as_uri()
    line = character = 0
    seen = set()
    typed = ""
    for letter in TYPED:
        editor.type(uri, line, character, letter)
        typed += letter
        line, character = (line + 1, 0) if letter == "\n" else (line, character + 1)
        place = {"textDocument": {"uri": uri}, "position": at(line, character)}
        items = editor.request("textDocument/completion", place)
        last = typed.rstrip("\n").rpartition("\n")[2] + ("\n" if letter == "\n" else "")
        if last in OFFERED:
            seen.add(last)
            word = re.search(r"\w*$", typed)
            assert word is not None
            assert fitting(items, word.group())[: len(OFFERED[last])] == OFFERED[last], last
        # One thing is wrong at a time while a text is half typed, at the place where it is typed.
        found = editor.findings(uri)
        assert len(found) <= 1, (last, found)
        assert all(code == "E001" and int(range_.split(":")[0]) >= line - 1 for code, range_, _ in found), (last, found)
        # Whoever reads the model hears nothing but that it is not there, until its name is.
        others = [d["code"] for d in editor.found.get(reader, [])]
        assert others == ([] if typed.startswith("model big") else ["E020"]), last
        # Hover answers on what is typed already, and so does the definition of the table.
        if "\n  join" in typed:
            hover = editor.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": at(1, 9)})
            assert hover["contents"]["value"].startswith("```strata\nsource orders {"), last
            there = editor.request("textDocument/definition", {"textDocument": {"uri": uri}, "position": at(1, 9)})
            assert there[0]["uri"].endswith("/sources.strata"), last
    assert seen == OFFERED.keys()
    assert editor.findings(uri) == []
    assert editor.found[reader] == []
    assert editor.shutdown() == 0
