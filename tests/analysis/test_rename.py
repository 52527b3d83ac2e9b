"""Renaming: literal texts before and after, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.analysis.editing.index import Index, build_index
from strata_core.analysis.editing.rename import RenameRefusedError, nameable, rename
from strata_core.diagnostics.edits import applied
from strata_core.language.parser import parse_module

FILES = {
    "sources.strata": """\
domain code = string
source orders(csv: "o.csv") {
  columns: { order_id: int64 primary_key, country: code, amount: decimal(10,2) nonnull, buyer: int64 }
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, `e-mail`: string } }
""",
    "paid.strata": """\
contract Paid { order_id: int64 primary_key  amount: decimal(10,2) nonnull  mail: string }
model paid -> contract Paid {
  from orders
  join_left people as p on orders.buyer == p.id expect many_to_one
  let big = amount > 100
  filter big
  select { order_id, orders.amount, mail = p.`e-mail` }
}
""",
    "use.strata": """\
model mails { from paid  select { paid.mail } }
model all_mails { from mails  union mails }
model twice { from paid  derive { amount = amount * 2 } }
model few { from all_mails  filter mail is not none  select { mail, x = 1 } }
pipeline prod { models: ["paid", mails] }
test paid { expect amount > 0  expect mail in few.mail }
""",
}


def index(files: dict[str, str]) -> Index:
    return build_index([parse_module(text, path).module for path, text in files.items()])


def renamed(file: str, marked: str, name: str, files: dict[str, str] = FILES) -> dict[str, list[str]]:
    """The changed lines of each file after a rename of what stands at `‸` in the line `marked`; the rest is checked
    to be what it was, and to hold together."""
    known = index(files)
    lines = files[file].splitlines()
    line = lines.index(marked.replace("‸", "")) + 1
    here = known.at(file, line, marked.index("‸") + 1)
    renaming = rename(nameable(here[0], known).symbol, name, known, files.get)
    after = {path: applied(text, renaming.edits.get(path, ())) for path, text in files.items()}
    compiled = compile_project([parse_module(text, path).module for path, text in after.items()])
    assert [d for d in compiled.diagnostics if d.blocks] == []
    changed = {
        p: [b for a, b in zip(files[p].splitlines(), after[p].splitlines(), strict=True) if a != b] for p in after
    }
    return {path: found for path, found in changed.items() if found}


def test_the_files_of_these_tests_hold_together() -> None:
    compiled = compile_project([parse_module(text, path).module for path, text in FILES.items()])
    assert [d for d in compiled.diagnostics if d.blocks] == []


def test_a_column_of_a_model_through_its_contract_and_its_readers() -> None:
    expected = {
        "paid.strata": [
            "contract Paid { order_id: int64 primary_key  amount: decimal(10,2) nonnull  email: string }",
            "  select { order_id, orders.amount, email = p.`e-mail` }",
        ],
        "use.strata": [
            "model mails { from paid  select { mail = paid.email } }",
            "test paid { expect amount > 0  expect email in few.mail }",
        ],
    }
    assert renamed("paid.strata", "  select { order_id, orders.amount, ma‸il = p.`e-mail` }", "email") == expected
    field = "contract Paid { order_id: int64 primary_key  amount: decimal(10,2) nonnull  mail‸: string }"
    assert renamed("paid.strata", field, "email") == expected


def test_a_column_that_comes_through_is_renamed_on_all_its_way() -> None:
    assert renamed("use.strata", "model mails { from paid  select { paid.ma‸il } }", "address") == {
        "use.strata": [
            "model mails { from paid  select { address = paid.mail } }",
            "model few { from all_mails  filter address is not none  select { mail = address, x = 1 } }",
        ]
    }


def test_a_replaced_column_keeps_replacing() -> None:
    source = "  columns: { order_id: int64 primary_key, country: code, amou‸nt: decimal(10,2) nonnull, buyer: int64 }"
    assert renamed("sources.strata", source, "price") == {
        "sources.strata": [source.replace("amou‸nt", "price")],
        "paid.strata": ["  let big = price > 100", "  select { order_id, amount = orders.price, mail = p.`e-mail` }"],
    }
    contract = "contract Paid { order_id: int64 primary_key  am‸ount: decimal(10,2) nonnull  mail: string }"
    assert renamed("paid.strata", contract, "price") == {
        "paid.strata": [
            contract.replace("am‸ount", "price"),
            "  select { order_id, price = orders.amount, mail = p.`e-mail` }",
        ],
        "use.strata": [
            "model twice { from paid  derive { price = price * 2 } }",
            "test paid { expect price > 0  expect mail in few.mail }",
        ],
    }


def test_a_model_with_its_readers_pipelines_and_tests() -> None:
    assert renamed("paid.strata", "model ‸paid -> contract Paid {", "sold") == {
        "paid.strata": ["model sold -> contract Paid {"],
        "use.strata": [
            "model mails { from sold  select { sold.mail } }",
            "model twice { from sold  derive { amount = amount * 2 } }",
            'pipeline prod { models: ["sold", mails] }',
            "test sold { expect amount > 0  expect mail in few.mail }",
        ],
    }


ASOF = """\
source prices(csv: "p.csv") {
  columns: { symbol: string, day: date, seen: date, price: float64 }
  valid_from: day
  available_time: seen
}
source orders(csv: "o.csv") { columns: { id: int64, symbol: string, placed: date } }
model priced {
  from orders
  join_asof prices as p on p.symbol == orders.symbol at p.day <= placed available_as_of: placed
  select { id, p.price }
}
"""


def test_names_in_an_as_of_join_and_in_the_clocks_of_a_source() -> None:
    assert renamed("a.strata", "  valid_from: da‸y", "since", {"a.strata": ASOF}) == {
        "a.strata": [
            "  columns: { symbol: string, since: date, seen: date, price: float64 }",
            "  valid_from: since",
            "  join_asof prices as p on p.symbol == orders.symbol at p.since <= placed available_as_of: placed",
        ]
    }
    assert renamed(
        "a.strata",
        'source orders(csv: "o.csv") { columns: { id: int64, symbol: string, plac‸ed: date } }',
        "bought",
        {"a.strata": ASOF},
    ) == {
        "a.strata": [
            'source orders(csv: "o.csv") { columns: { id: int64, symbol: string, bought: date } }',
            "  join_asof prices as p on p.symbol == orders.symbol at p.day <= bought available_as_of: bought",
        ]
    }


SMALL = {
    ("paid.strata", "  join_left people as ‸p on orders.buyer == p.id expect many_to_one", "who"): {
        "paid.strata": [
            "  join_left people as who on orders.buyer == who.id expect many_to_one",
            "  select { order_id, orders.amount, mail = who.`e-mail` }",
        ]
    },
    ("paid.strata", "  filter bi‸g", "large"): {"paid.strata": ["  let large = amount > 100", "  filter large"]},
    ("paid.strata", "model paid -> contract Pa‸id {", "Sold"): {
        "paid.strata": [
            "contract Sold { order_id: int64 primary_key  amount: decimal(10,2) nonnull  mail: string }",
            "model paid -> contract Sold {",
        ]
    },
    ("sources.strata", "domain co‸de = string", "iso"): {
        "sources.strata": [
            "domain iso = string",
            "  columns: { order_id: int64 primary_key, country: iso, amount: decimal(10,2) nonnull, buyer: int64 }",
        ]
    },
    # What is no bare name, or is a word of the language, is written in backquotes.
    ("use.strata", "model few { from all_mails  filter mail is not none  select { mail, ‸x = 1 } }", "from"): {
        "use.strata": ["model few { from all_mails  filter mail is not none  select { mail, `from` = 1 } }"]
    },
    ("use.strata", "model few { from all_mails  filter mail is not none  select { mail, ‸x = 1 } }", "`a b`"): {
        "use.strata": ["model few { from all_mails  filter mail is not none  select { mail, `a b` = 1 } }"]
    },
    ("use.strata", "model few { from all_mails  filter mail is not none  select { mail, ‸x = 1 } }", "x"): {},
}  # fmt: skip


@pytest.mark.parametrize("place", SMALL, ids=lambda place: f"{place[1].strip()} to {place[2]}")
def test_other_names(place: tuple[str, str, str]) -> None:
    assert renamed(*place) == SMALL[place]


REFUSED = {
    ("paid.strata", "model ‸paid -> contract Paid {", "few"): "there is already a table `few`",
    ("paid.strata", "model ‸paid -> contract Paid {", "a/b"): "`a/b` cannot name a table",
    ("paid.strata", "  select { order_id, orders.amount, ma‸il = p.`e-mail` }", "amount"): (
        "there is already a column `amount` of `paid`"
    ),
    ("paid.strata", "  filter bi‸g", "order_id"): "`order_id` would mean something else in paid.strata, line 7",
    ("paid.strata", "  filter bi‸g", ""): "a name has at least one character",
    ("paid.strata", "  filter bi‸g", "a`b"): "a name has at least one character, and no backquote",
    ("paid.strata", "  join_left people as ‸p on orders.buyer == p.id expect many_to_one", "orders"): (
        "`paid` already reads a table as `orders`"
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", REFUSED, ids=lambda place: f"{place[1].strip()} to {place[2]}")
def test_what_is_refused(place: tuple[str, str, str]) -> None:
    with pytest.raises(RenameRefusedError, match=REFUSED[place]):
        renamed(*place)


def test_functions_and_what_is_declared_nowhere_have_no_new_name() -> None:
    known = index({"m.strata": "model m { from nothing derive { x = upper(y) } }"})
    for at, message in ((16, "`nothing` is declared nowhere"), (38, "`upper` is a function of the language")):
        (here,) = known.at("m.strata", 1, at)
        with pytest.raises(RenameRefusedError, match=message):
            nameable(here, known)


NAMES = [(o.symbol, o.span) for found in index(FILES).found for o in found[1].occurrences if o.defines]
NEW = st.sampled_from(["total", "mail", "id", "paid", "x", "mails", "q q", "select", "orders", "e-mail", "big", "p"])


@given(st.sampled_from(NAMES), NEW)
@settings(max_examples=200, deadline=None)
def test_a_rename_is_refused_or_keeps_every_meaning_and_can_be_taken_back(named: tuple, new: str) -> None:
    symbol, _ = named
    known = index(FILES)
    try:
        renaming = rename(symbol, new, known, FILES.get)
    except RenameRefusedError:
        return
    after = {path: applied(text, renaming.edits.get(path, ())) for path, text in FILES.items()}
    compiled = compile_project([parse_module(text, path).module for path, text in after.items()])
    assert [d for d in compiled.diagnostics if d.blocks] == []
    again = index(after)
    back = next(s for s in again.symbols if (s.kind, s.name, s.place) == (symbol.kind, new, symbol.place)
                and s.owner in (symbol.owner, new))  # fmt: skip
    rename(back, symbol.name, again, after.get)
