"""Suggestions: each, applied to the text, gives the text that stands beside it, and the finding is gone."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.diagnostics import Diagnostic
from strata_core.diagnostics.edits import applied
from strata_core.language.parser import parse_module

from .programs import SOURCES


def found(text: str) -> list[Diagnostic]:
    parsed = [parse_module(SOURCES, "sources.strata"), parse_module(text, "m.strata")]
    compiled = compile_project([p.module for p in parsed])
    return [*parsed[1].diagnostics, *compiled.diagnostics]


ORDER = "contract C { order_id: int64 primary_key  amount: decimal(10,2) nonnull }\n"
NOTE = "contract C { order_id: int64 primary_key  note: string nonnull }\n"

# A code, a title, the text, and the text after the change.
MENDED = [
    (
        "E021",
        "write `amount`",
        "model m { from orders filter ammount > 1 }",
        "model m { from orders filter amount > 1 }",
    ),
    ("E020", "write `orders`", "model m { from order }", "model m { from orders }"),
    (
        "E025",
        "write `upper`",
        "model m { from orders derive { x = uper(note) } }",
        "model m { from orders derive { x = upper(note) } }",
    ),
    (
        "E024",
        "write `Co`",
        "contract Co { order_id: int64 }\nmodel m -> contract Coo { from orders }",
        "contract Co { order_id: int64 }\nmodel m -> contract Co { from orders }",
    ),
    ("E072", "write `int64`", "contract C { a: int46 }", "contract C { a: int64 }"),
    (
        "E021",
        "write `customers.email`",
        "model m { from orders join_left customers on orders.customer_id == customers.customer_id "
        "select { x = email } }",
        "model m { from orders join_left customers on orders.customer_id == customers.customer_id "
        "select { x = customers.email } }",
    ),
    (
        "E051",
        "cast it to money(EUR)",
        "model m { from orders filter total > 0 }",
        'model m { from orders filter total > cast(0, "money(EUR)") }',
    ),
    (
        "E051",
        "cast it to date",
        'model m { from orders filter "2020-01-01" < placed }',
        'model m { from orders filter cast("2020-01-01", "date") < placed }',
    ),
    (
        "E054",
        "cast it to int64",
        "model m { from orders derive { x = coalesce(order_id, note) } }",
        'model m { from orders derive { x = coalesce(order_id, cast(note, "int64")) } }',
    ),
    (
        "E011",
        "cast `amount` to decimal(10,2)",
        ORDER + "model m -> contract C { from orders select { order_id, amount = amount * 2 } }",
        ORDER + 'model m -> contract C { from orders select { order_id, amount = cast(amount * 2, "decimal(10,2)") } }',
    ),
    (
        "E011",
        "cast `note` to int64",
        "contract C { note: int64 }\nmodel m -> contract C { from orders select { orders.note } }",
        "contract C { note: int64 }\n"
        'model m -> contract C { from orders select { note = cast(orders.note, "int64") } }',
    ),
    (
        "E012",
        "keep the rows that have `note`",
        NOTE + "model m -> contract C { from orders select { order_id, note } }",
        NOTE + "model m -> contract C { from orders filter note is not none\n  select { order_id, note } }",
    ),
    (
        "E010",
        "add `amount`",
        ORDER + "model m -> contract C { from orders select { order_id } }",
        ORDER + "model m -> contract C { from orders select { order_id, amount } }",
    ),
    (
        "E010",
        "add `customers.email`",
        "contract C { order_id: int64 primary_key  email: string }\nmodel m -> contract C { from orders "
        "join_left customers on orders.customer_id == customers.customer_id expect many_to_one select { order_id } }",
        "contract C { order_id: int64 primary_key  email: string }\nmodel m -> contract C { from orders "
        "join_left customers on orders.customer_id == customers.customer_id expect many_to_one "
        "select { order_id, customers.email } }",
    ),
    (
        "E010",
        "name `amounts` `amount`",
        ORDER + "model m -> contract C { from orders select { order_id, amounts = amount } }",
        ORDER + "model m -> contract C { from orders select { order_id, amount = amount } }",
    ),
    (
        "E010",
        "add `extra` without a value",
        "contract C { order_id: int64 primary_key  extra: string }\n"
        "model m -> contract C { from orders select { order_id } }",
        "contract C { order_id: int64 primary_key  extra: string }\n"
        'model m -> contract C { from orders select { order_id, extra = cast(none, "string") } }',
    ),
    ("E001", "write `filter`", "model m { from orders filtr amount > 1 }", "model m { from orders filter amount > 1 }"),
    ("E001", "write `==`", "model m { from orders filter amount = 1 }", "model m { from orders filter amount == 1 }"),
    (
        "E001",
        "write ``from``",
        "model m { from orders select { from = amount } }",
        "model m { from orders select { `from` = amount } }",
    ),
    ("E001", "add `}`", "model m { from orders", "model m { from orders\n}"),
]


@pytest.mark.parametrize(("code", "title", "before", "after"), MENDED)
def test_a_suggestion_mends_its_finding(code: str, title: str, before: str, after: str) -> None:
    (suggestion,) = [s for d in found(before) if d.code == code for s in d.suggestions if s.title == title]
    assert applied(before, suggestion.edits) == after
    assert [d for d in found(after) if d.code == code] == []
