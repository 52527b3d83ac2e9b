"""Names and what they mean: where each is declared and used, in a project of literal text."""

from __future__ import annotations

import pytest

from strata_core.analysis.editing.index import Index, build_index
from strata_core.analysis.editing.symbols import Kind, Symbol
from strata_core.language.parser import parse_module
from strata_core.language.recovery import recover_module

PROJECT = """\
domain code = string
source orders(csv: "o.csv") {
  columns: { order_id: int64 primary_key, country: code, amount: decimal(10,2) nonnull, buyer: int64 }
  filter: amount > 0
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, email: string } }
contract Paid { order_id: int64 primary_key  total: decimal(10,2)  email: string }
model paid -> contract Paid {
  from orders
  join_left people as p on orders.buyer == p.id
  let big = amount > 100
  derive { total = amount * 2 }
  filter big
  select { order_id, total, p.email }
  sort { -total }
}
model by_country {
  from orders
  group { country } ( aggregate { n = count(), amount = sum(amount) }  filter n > 1 )
  derive { share = amount / n, c = cast(country, "code") }
}
model all_paid { from paid  union paid }
model few { from all_paid  select { order_id, t = total } }
pipeline prod { env: prod  models: [paid, by_country] }
test paid { expect total > 0  expect order_id in orders.order_id }
"""


def index(text: str = PROJECT) -> Index:
    return build_index([parse_module(text, "m.strata").module])


def line_of(text: str) -> int:
    (number,) = [n for n, line in enumerate(PROJECT.splitlines(), 1) if text in line]
    return number


def lines(symbol: Symbol) -> list[tuple[int, bool]]:
    return [(o.span.line, o.defines) for o in index().references(symbol)]


def column(name: str, table: str) -> Symbol:
    return Symbol(Kind.COLUMN, name, table)


def test_a_source_column_is_known_where_it_is_read_and_where_it_comes_through() -> None:
    assert lines(column("amount", "orders")) == [(3, True), (4, False), (11, False), (12, False), (19, False)]


def test_a_promised_column_is_one_with_its_field_and_with_what_comes_through_it() -> None:
    # The field, the output, the sort after it, what reads it through `all_paid`, and the test.
    assert lines(column("total", "paid")) == [(7, True), (14, True), (15, False), (23, False), (25, False)]
    assert lines(Symbol(Kind.FIELD, "total", "Paid")) == lines(column("total", "paid"))
    assert lines(column("total", "all_paid")) == lines(column("total", "paid"))


def test_a_column_on_its_way_is_another_than_the_output_of_its_name() -> None:
    assert lines(Symbol(Kind.COLUMN, "total", "paid", 4)) == [(12, True), (14, False)]


def test_keys_and_aggregates_of_a_group_are_columns() -> None:
    assert lines(column("n", "by_country")) == [(19, True), (19, False), (20, False)]
    assert lines(column("amount", "by_country")) == [(19, True), (20, False)]
    assert lines(column("country", "by_country")) == [(19, True), (20, False)]
    assert lines(column("country", "orders")) == [(3, True), (19, False)]


def test_lets_aliases_domains_and_tables() -> None:
    assert lines(Symbol(Kind.COLUMN, "big", "paid", 3)) == [(11, True), (13, False)]
    assert lines(Symbol(Kind.ALIAS, "p", "paid", 2)) == [(10, True), (10, False), (14, False)]
    assert lines(Symbol(Kind.DOMAIN, "code")) == [(1, True), (3, False), (20, False)]
    assert lines(Symbol(Kind.TABLE, "paid")) == [(8, True), (22, False), (22, False), (24, False), (25, False)]
    assert lines(Symbol(Kind.CONTRACT, "Paid")) == [(7, True), (8, False)]


# A marked place (`‸` in a line of the project) and the lines of the definitions.
DEFINITIONS = {
    "  join_left people as p on orders.bu‸yer == p.id": [3],
    "  join_left people as p on orders.buyer == p.i‸d": [6],
    "  join_left people as p on orders.buyer == ‸p.id": [10],
    "  join_left peo‸ple as p on orders.buyer == p.id": [6],
    "  select { order_id, tot‸al, p.email }": [14, 12],
    "  select { order_id, total, p.email‸ }": [14, 6],
    "model few { from all_paid  select { order_id, t = tot‸al } }": [14],
    "model few { from all_pa‸id  select { order_id, t = total } }": [22],
    "model paid -> contract Pa‸id {": [7],
    "test paid { expect tot‸al > 0  expect order_id in orders.order_id }": [14],
    "test paid { expect total > 0  expect order_id in orders.order_i‸d }": [3],
    'source orders(csv: "o.csv") {': [],
    '  derive { share = amount / n, c = cast(country, "co‸de") }': [1],
}


@pytest.mark.parametrize("marked", DEFINITIONS)
def test_definitions(marked: str) -> None:
    known = index()
    here = known.at("m.strata", line_of(marked.replace("‸", "")), marked.find("‸") + 1) if "‸" in marked else []
    assert [o.span.line for one in here for o in known.definitions(one.symbol)] == DEFINITIONS[marked]


def test_only_what_an_edit_reaches_is_looked_at_again() -> None:
    def models(share: str) -> list[str]:
        return [
            'source s(csv: "s") { columns: { a: int64, b: int64 } }',
            f"model one {{ from s select {{ {share} }} }}",
            "model two { from one }",
            "model three { from s }",
        ]

    def modules(share: str) -> list:
        return [parse_module(text, f"{n}.strata").module for n, text in enumerate(models(share))]

    first = modules("a")
    before = build_index(first)
    same = build_index([first[0], modules("x = a, a")[1], *first[2:]], before)
    kept = {d.span.file for (d, f), (_, g) in zip(same.found, before.found, strict=True) if f is g}
    assert kept == {"0.strata", "3.strata"}
    # An edit that leaves the columns as they are goes no further.
    other = build_index([first[0], modules("a = b")[1], *first[2:]], before)
    kept = {d.span.file for (d, f), (_, g) in zip(other.found, before.found, strict=True) if f is g}
    assert kept == {"0.strata", "2.strata", "3.strata"}


def test_a_half_typed_model_has_names_too() -> None:
    text = PROJECT.replace("  filter big\n", "  filter big and \n")
    known = build_index([recover_module(text, "m.strata")])
    assert [o.span.line for o in known.references(column("total", "paid"))] == [7, 14, 15, 23, 25]


def test_models_that_form_a_cycle_have_names() -> None:
    text = "contract C { x: int64 }\nmodel a -> contract C { from b select { x } }\nmodel b { from a }\n"
    known = build_index([parse_module(text, "m.strata").module])
    assert [o.span.line for o in known.references(column("x", "a"))] == [1, 2]


UNIT = """\
source raw(csv: "r.csv") { columns: { id: int64 primary_key, at: timestamp } }
model m {
  from raw
  incremental { strategy: upsert, key: [id], cursor: at }
}
test m "t" {
  given raw { | id | at | }
  expect { | id | }
}
"""


def test_a_unit_test_and_an_incremental_model_name_tables_and_columns() -> None:
    found = index(UNIT)
    lines_ = {s: [o.span.line for o in found.references(s)] for s in (column("id", "raw"), Symbol(Kind.TABLE, "raw"))}
    assert lines_ == {column("id", "raw"): [1, 4, 7, 8], Symbol(Kind.TABLE, "raw"): [1, 3, 7]}
    assert [o.span.line for o in found.references(column("at", "m"))] == [1, 4, 7]
