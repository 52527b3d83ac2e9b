"""What is offered at a cursor (`‸`): literal candidates, the likely ones first; and what hovers say."""

from __future__ import annotations

import pytest

from strata_core.analysis.editing.candidates import Candidate, Names, Sort
from strata_core.analysis.editing.completion import candidates
from strata_core.analysis.editing.describe import Facts, describe
from strata_core.analysis.editing.index import Index, build_index
from strata_core.analysis.editing.scope_at import Known, facts_of
from strata_core.analysis.editing.symbols import Kind, Symbol
from strata_core.analysis.memory import Memory
from strata_core.analysis.project import recompile
from strata_core.language import ast
from strata_core.language.cursor import cursor_at
from strata_core.language.parser import parse_module
from strata_core.language.recovery import recover_module

PROJECT = """\
domain country_code = string
source orders(csv: "o.csv") {
  columns: {
    order_id: int64 primary_key,
    country: country_code nonnull enum {ES, MX},
    amount: decimal(10,2) nonnull,
    customer_id: int64,
    placed: date,
  }
  description: "what was ordered"
}
source customers(csv: "c.csv") {
  columns: { customer_id: int64 primary_key, email: string classification: "pii" mask: hash }
}
contract Paid {
  order_id: int64 primary_key
  country: string nonnull enum {ES, MX}
  email: string classification: "pii" mask: hash
  total: decimal(12,2) nonnull
}
model paid -> contract Paid {
  owner: "finance"
  from orders
  join_left customers on orders.customer_id == customers.customer_id
  select { order_id, country, customers.email, total = cast(amount, "decimal(12,2)") }
}
model totals { from paid  group { country } ( aggregate { n = count(), total = sum(total) } ) }
"""


def known(text: str = PROJECT) -> tuple[Known, Names, Facts, Index]:
    module = recover_module(text, "m.strata")
    compiled, memory = recompile([parse_module(text, "m.strata").module], Memory())
    index = build_index([module])
    all_known = Known(memory.tables, memory.domains, compiled.contracts)
    models = frozenset(n for n, d in index.tables.items() if isinstance(d, ast.Model))
    promising: dict[str, tuple[str, ...]] = {"Paid": ("paid",)}
    return (
        all_known,
        Names(all_known, models, promising, ("sales.orders",)),
        Facts(compiled, all_known, index.tables),
        index,
    )


def offered(marked: str) -> list[Candidate]:
    text = f"{PROJECT}{marked}"
    cursor = cursor_at(text.replace("‸", ""), text.index("‸"))
    assert cursor is not None
    return candidates(cursor, known(text.replace("‸", ""))[1])


def texts(marked: str, *sorts: Sort) -> list[str]:
    return [c.text for c in offered(marked) if c.sort in sorts]


COLUMNS = ["order_id", "country", "amount", "customer_id", "placed"]
PLACES = {
    ("model m { from ‸", Sort.TABLE): ["customers", "orders", "paid", "totals"],
    ("model m { from orders join_left ‸", Sort.TABLE): ["customers", "orders", "paid", "totals"],
    ("model m { from orders join_asof ‸", Sort.TABLE): ["customers", "orders", "paid", "totals"],
    ("model m { from orders join_asof customers on ‸", Sort.FIELD): ["orders.customer_id == customers.customer_id"],
    ("model m { from orders join_asof orders as o on order_id == o.order_id at ‸", Sort.COLUMN): ["placed"],
    ("model m { from orders join_asof orders as o at o.‸", Sort.COLUMN): ["placed"],
    ("source s(csv: \"s.csv\") { columns: { a: int64, at: date, on: date } valid_from: ‸", Sort.COLUMN): ["at", "on"],
    ("model m { from orders union ‸", Sort.TABLE): ["customers", "orders", "paid", "totals"],
    ("model m -> contract ‸", Sort.CONTRACT): ["Paid"],
    ("pipeline p { models: [paid, ‸", Sort.TABLE): ["totals"],
    ("test ‸", Sort.TABLE): ["paid", "totals"],
    ("import ‸", Sort.MODULE): ["sales.orders"],
    ("model m { from orders filter ‸", Sort.COLUMN): COLUMNS,
    ("model m { from orders filter coun‸ }", Sort.COLUMN): COLUMNS,
    ("model m { from orders filter amount > 1 and ‸ select { order_id } }", Sort.COLUMN): COLUMNS,
    ("model m { from orders as o filter o.‸", Sort.COLUMN): COLUMNS,
    ("model m { from orders filter orders.‸ select { order_id } }", Sort.COLUMN): COLUMNS,
    ("model m { from orders derive { x = amount * ‸", Sort.COLUMN): COLUMNS,
    ("model m { from orders let x = 1 derive { y = 2 } filter ‸", Sort.COLUMN): [*COLUMNS, "y", "x"],
    ("model m { from orders select { order_id } sort { ‸", Sort.COLUMN): ["order_id"],
    ("model m { from orders select { * except { ‸", Sort.COLUMN): COLUMNS,
    ("model m { from orders join_left customers as c on orders.customer_id == c.customer_id select { ‸", Sort.COLUMN): [
        *COLUMNS,
        "c.email",
    ],
    ("model m { from orders join_left customers on customers.‸", Sort.COLUMN): ["customer_id", "email"],
    ("model m { from orders join_left customers on ‸", Sort.FIELD): ["orders.customer_id == customers.customer_id"],
    ("model m { from orders group { c = country } ( aggregate { n = max(‸", Sort.COLUMN): [*COLUMNS, "c"],
    ("model m { from orders group { country } ( aggregate { n = count() } filter ‸", Sort.COLUMN): ["country", "n"],
    ("model m { from orders filter country == \"‸\" }", Sort.VALUE): ["ES", "MX"],
    ("model m { from orders filter country in [\"ES\", \"‸\"] }", Sort.VALUE): ["ES", "MX"],
    ("model m { from orders derive { d = date_trunc(placed, ‸", Sort.VALUE): [
        "day", "hour", "minute", "month", "quarter", "second", "week", "year",
    ],
    ("model m { from orders derive { d = date_add(placed, ‸da", Sort.COLUMN): COLUMNS,
    ("model m { from orders derive { x = cast(amount, \"‸\") } }", Sort.TYPE): [
        "int64", "float64", "string", "bool", "date", "timestamp", "uuid", "json", "decimal", "money", "array", "map",
        "struct",
    ],
    ("contract C { a: ‸", Sort.DOMAIN): ["country_code"],
    ("contract C { a: string ‸", Sort.KEYWORD): [
        "classification", "enum", "freshness", "mask", "nonnull", "partition_by", "primary_key", "protected", "unique",
    ],
    ("contract C { a: string mask: ‸", Sort.VALUE): ["hash", "null", "drop", "partial"],
    ("source s(‸", Sort.PROPERTY): ["csv", "parquet", "duckdb", "dbt", "table", "ns", "dataset", "store"],
    ("source s(store: \"gdp\", ‸", Sort.PROPERTY): [
        *("as_of", "valid_as_of", "available_as_of", "vintage", "csv", "parquet", "duckdb", "dbt", "table", "ns"),
        "dataset",
    ],
    ("source s(duckdb: \"f\", ‸", Sort.PROPERTY): ["table"],
    ("model m { own‸", Sort.PROPERTY): [
        *("owner", "description", "label"),
        *("partition_start", "partition_every", "partition_end"),
    ],
    ("model m { ‸", Sort.KEYWORD): ["from"],
    ("test paid { expect ‸", Sort.COLUMN): ["order_id", "country", "email", "total"],
    ("test paid { expect ‸", Sort.VALUE): ["row_count"],
    ("source s(csv: \"f\") { columns: { a: int64 } filter: ‸ }", Sort.COLUMN): ["a"],
    ("model m -> contract Paid { from orders select { order_id, ‸ } }", Sort.FIELD): [
        "country", "email = ", "total = ",
    ],
    ("model m -> contract Paid { from orders derive { ‸ = 1 } }", Sort.FIELD): [
        "order_id", "country", "email", "total",
    ],
    ("model m { from orders incremental { strategy: append, cursor: ‸", Sort.COLUMN): COLUMNS,
    ("model m { from orders incremental { strategy: ‸", Sort.KEYWORD): ["append", "replace", "upsert"],
    ("model m { from orders incremental { key: [‸", Sort.COLUMN): COLUMNS,
    ("test paid { given ‸", Sort.TABLE): ["customers", "orders", "paid", "totals"],
    ("test paid { given orders { | order_id | ‸", Sort.COLUMN): ["country", "amount", "customer_id", "placed"],
    ("test paid { expect { | order_id | ‸", Sort.COLUMN): ["country", "email", "total"],
    ("model m { from orders filter amount > 0 // ‸\n", Sort.COLUMN): None,
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0]} {place[1]}")
def test_what_is_offered(place: tuple[str, Sort]) -> None:
    marked, sort = place
    if PLACES[place] is None:
        assert cursor_at(marked.replace("‸", ""), marked.index("‸")) is None
    else:
        assert texts(marked, sort) == PLACES[place]


def test_columns_come_first_with_their_types_and_functions_after_them() -> None:
    found = offered("model m { from orders filter ‸")
    assert [(c.label, c.detail) for c in found[:3]] == [
        ("order_id", "int64 nonnull"), ("country", "string nonnull"), ("amount", "decimal(10,2) nonnull"),
    ]  # fmt: skip
    upper = next(c for c in found if c.label == "upper")
    assert (upper.detail, upper.snippet, found.index(upper) > 5) == ("upper(text: string) -> string", "upper($0)", True)


def test_aggregates_are_offered_where_they_may_stand() -> None:
    assert "sum" not in texts("model m { from orders filter ‸", Sort.FUNCTION)
    assert "sum" in texts("model m { from orders aggregate { x = ‸", Sort.FUNCTION)


def test_statements_are_offered_once_there_is_a_table() -> None:
    words = texts("model m { from orders ‸", Sort.KEYWORD)
    assert {"filter", "select", "join_left", "group"} <= {*words}
    assert "from" not in words


def test_a_contract_is_offered_the_columns_that_its_models_have() -> None:
    half = PROJECT.replace("  total: decimal(12,2) nonnull\n", "  ‸\n")
    cursor = cursor_at(half.replace("‸", ""), half.index("‸"))
    assert cursor is not None
    text = half.replace("‸", "")
    assert [(c.text) for c in candidates(cursor, known(text)[1]) if c.sort is Sort.FIELD] == [
        "total: decimal(12,2) nonnull"
    ]


DESCRIBED = {
    Symbol(Kind.COLUMN, "email", "paid"): (
        "```strata\npaid.email: string\n```\n\nfrom `customers.email` (passthrough, through a join)\n\n"
        "- type: proven (type inference: string, carried from customers.email)\n\nclassified as `pii`, masked by `hash`"
    ),
    Symbol(Kind.COLUMN, "country", "orders"): (
        "```strata\norders.country: string nonnull\n```\n\nvalues: `ES`, `MX`\n\n"
        "declared: `string nonnull enum {ES, MX}`"
    ),
    Symbol(Kind.COLUMN, "order_id", "orders"): (
        "```strata\norders.order_id: int64 nonnull\n```\n\nunique: no two rows have the same\n\n"
        "declared: `int64 primary_key`"
    ),
    Symbol(Kind.TABLE, "orders"): (
        "```strata\nsource orders {\n  order_id: int64 nonnull\n  country: string nonnull\n"
        "  amount: decimal(10,2) nonnull\n  customer_id: int64\n  placed: date\n}\n```\n\ncsv: `o.csv`\n\n"
        "what was ordered"
    ),
    Symbol(Kind.TABLE, "totals"): (
        "```strata\nmodel totals {\n  country: string nonnull\n  n: int64 nonnull\n  total: decimal(12,2) nonnull\n}\n"
        "```\n\nreads `paid`"
    ),
    Symbol(Kind.CONTRACT, "Paid"): (
        "```strata\ncontract Paid {\n  order_id: int64 primary_key\n  country: string nonnull enum {ES, MX}\n"
        "  email: string\n  total: decimal(12,2) nonnull\n}\n```\n\n"
        "model `paid`: 9 proven, 0 asserted at the write pin"
    ),
    Symbol(Kind.FIELD, "order_id", "Paid"): (
        "```strata\nPaid.order_id: int64 primary_key\n```\n\nin model `paid`:\n"
        "- type: proven (type inference: int64 nonnull, carried from orders.order_id)\n"
        "- nonnull: proven (type inference: int64 nonnull, carried from orders.order_id)\n"
        "- primary key: proven (key: order_id)"
    ),
    Symbol(Kind.DOMAIN, "country_code"): "```strata\ndomain country_code = string\n```",
    Symbol(Kind.FUNCTION, "upper"): None,
    Symbol(Kind.FUNCTION, "nothing"): None,
    Symbol(Kind.TABLE, "nothing"): None,
}


@pytest.mark.parametrize("symbol", DESCRIBED, ids=str)
def test_what_is_said_of_a_name(symbol: Symbol) -> None:
    found = describe(symbol, known()[2])
    if symbol.name == "upper":
        assert found is not None
        assert found.startswith("```strata\nupper(text: string) -> string\n```\n\nThe text in upper case")
    else:
        assert found == DESCRIBED[symbol]


def test_the_type_of_each_name_in_a_model() -> None:
    text = (
        f"{PROJECT}model m {{ from orders as o  join_left customers as c on o.customer_id == c.customer_id "
        'let e = coalesce(c.email, "")  filter placed is not none  '
        "group { day = placed } ( aggregate { n = count(distinct e), top = max(amount) }  filter n > 1 ) }\n"
    )
    all_known, _, _, index = known(text)
    model = index.tables["m"]
    assert isinstance(model, ast.Model)
    line = text.splitlines()[model.span.line - 1]
    found = {
        f"{line[s.column - 1 : s.end_column - 1]}@{s.column}": str(getattr(fact, "inferred", fact))
        for s, fact in sorted(facts_of(model, all_known).items())
    }
    assert [*found.values()] == [
        "int64", "int64", "string nonnull", "string nonnull", "string", "date", "date nonnull", "date nonnull",
        "int64 nonnull", "string nonnull", "decimal(10,2) nonnull", "decimal(10,2) nonnull", "int64 nonnull",
    ]  # fmt: skip
