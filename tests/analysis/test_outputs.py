"""The output schema that each statement leaves: literal tables of names, types and nullability."""

from __future__ import annotations

from decimal import Decimal

import pytest

from strata_core.analysis import compile_project
from strata_core.language.parser import parse_module
from strata_core.relation.canonical import canonical
from strata_core.relation.expressions import Literal, walk
from strata_core.relation.nodes import Project

from .programs import SOURCES, model, outputs

CUSTOMER = {"customer_id": "int64 nonnull", "email": "string nonnull", "country": "string", "since": "date"}

OUTPUTS = {
    "from alone leaves every column": ("from customers", CUSTOMER),
    "filter keeps columns and proves nonnull": (
        "from customers filter country is not none",
        {**CUSTOMER, "country": "string nonnull"},
    ),
    "let is hidden": ("from customers let x = upper(email)", CUSTOMER),
    "let is seen by later statements": (
        "from customers let x = upper(email) select { x, y = x }",
        {"x": "string nonnull", "y": "string nonnull"},
    ),
    "let shadows without changing the output": ("from customers let email = 1 filter email > 0", CUSTOMER),
    "derive adds": ("from customers derive { n = 1 }", {**CUSTOMER, "n": "int64 nonnull"}),
    "derive replaces in place": (
        "from customers derive { email = length(email) }",
        {**CUSTOMER, "email": "int64 nonnull"},
    ),
    "derive sees the columns before it": (
        "from customers derive { email = 1, twice = email }",
        {**CUSTOMER, "email": "int64 nonnull", "twice": "string nonnull"},
    ),
    "select is exact": (
        "from customers select { country, id = customers.customer_id }",
        {"country": "string", "id": "int64 nonnull"},
    ),
    "a qualified bare item keeps its name": ("from customers as c select { c.email }", {"email": "string nonnull"}),
    "a filter after select sees the selection": (
        "from customers select { n = length(email) } filter n > 3",
        {"n": "int64 nonnull"},
    ),
    "star": ("from customers select { * }", CUSTOMER),
    "star less some": (
        "from customers select { * except { since, country }, x = 1 }",
        {"customer_id": "int64 nonnull", "email": "string nonnull", "x": "int64 nonnull"},
    ),
    "right columns only by their table": (
        "from visits join_inner customers on visits.customer_id == customers.customer_id",
        {"customer_id": "int64 nonnull", "page": "string nonnull", "country": "string"},
    ),
    "left join makes the right side nullable": (
        "from visits join_left customers on visits.customer_id == customers.customer_id "
        "select { page, customers.email }",
        {"page": "string nonnull", "email": "string"},
    ),
    "full join makes both sides nullable": (
        "from visits join_full customers on visits.customer_id == customers.customer_id "
        "select { page, customers.email }",
        {"page": "string", "email": "string"},
    ),
    "inner join proves what it compares": (
        "from visits join_inner customers on visits.customer_id == customers.customer_id select { customer_id }",
        {"customer_id": "int64 nonnull"},
    ),
    "semi join keeps the left side": (
        "from visits join_semi customers on visits.customer_id == customers.customer_id",
        {"customer_id": "int64 nonnull", "page": "string nonnull", "country": "string"},
    ),
    "anti join keeps the left side": (
        "from visits join_anti customers on visits.customer_id == customers.customer_id",
        {"customer_id": "int64", "page": "string nonnull", "country": "string"},
    ),
    "cross join": (
        "from visits join_cross customers as c select { page, c.* }",
        {"page": "string nonnull", **CUSTOMER},
    ),
    "a star of a joined table": (
        "from visits join_left customers as c on visits.customer_id == c.customer_id "
        "select { c.* except { country }, visits.country }",
        {"customer_id": "int64", "email": "string", "since": "date", "country": "string"},
    ),
    "a self join through an alias": (
        "from customers join_left customers as parent on customers.customer_id == parent.customer_id "
        "select { email, above = parent.email }",
        {"email": "string nonnull", "above": "string"},
    ),
    "group keys are outputs": (
        "from visits group { country, page } ()",
        {"country": "string", "page": "string nonnull"},
    ),
    "group keys without a name": (
        "from visits group { upper(page), length(page), long = length(page) > 3 } ( aggregate { n = count() } )",
        {"g0": "string nonnull", "g1": "int64 nonnull", "long": "bool nonnull", "n": "int64 nonnull"},
    ),
    "aggregates in a group": (
        "from orders group { country } ( aggregate { n = count(*), ids = count(distinct customer_id), "
        "s = sum(amount), m = max(placed), avg = avg(amount), e = sum(total) } )",
        {
            "country": "string",
            "n": "int64 nonnull",
            "ids": "int64 nonnull",
            "s": "decimal(10,2) nonnull",
            "m": "date",
            "avg": "float64 nonnull",
            "e": "money(EUR) nonnull",
        },
    ),
    "arithmetic around aggregates": (
        "from orders group { country } ( aggregate { share = sum(amount) / count(), label = upper(country), "
        "again = country } )",
        {"country": "string", "share": "float64 nonnull", "label": "string", "again": "string"},
    ),
    "a repeated key is one output": (
        "from visits group { country } ( aggregate { country, n = count() } )",
        {"country": "string", "n": "int64 nonnull"},
    ),
    "having, sort and take in a group": (
        "from orders group { country } ( aggregate { latest = max(placed) } filter max(placed) is not none "
        "sort { -latest } take 3 )",
        {"country": "string", "latest": "date nonnull"},
    ),
    "an aggregate alone is one row": (
        "from orders aggregate { n = count(), s = sum(amount) }",
        {"n": "int64 nonnull", "s": "decimal(10,2)"},
    ),
    "a group of nothing is the whole table": (
        "from orders group { } ( aggregate { s = sum(amount) } )",
        {"s": "decimal(10,2)"},
    ),
    "statements after a group": (
        "from orders group { c = upper(note) } ( aggregate { n = count() } ) derive { half = n / 2 } filter half > 1.0",
        {"c": "string", "n": "int64 nonnull", "half": "float64 nonnull"},
    ),
    "windows in outputs": (
        "from orders derive { nth = row_number() over (partition_by: [country], sort: [-amount]), "
        "share = amount / sum(amount) over (partition_by: [country]), before = lag(placed) over (sort: [order_id]) } "
        "select { nth, share, before }",
        {"nth": "int64 nonnull", "share": "float64", "before": "date"},
    ),
    "a window over aggregates": (
        "from orders group { country } ( aggregate { s = sum(amount), "
        "place = rank() over (sort: [sum(amount) desc]) } )",
        {"country": "string", "s": "decimal(10,2) nonnull", "place": "int64 nonnull"},
    ),
    "an ordered aggregate takes the sort before the group": (
        "from orders sort { placed } group { country } ( aggregate { ids = array_agg(order_id) } )",
        {"country": "string", "ids": "array(int64 nonnull) nonnull"},
    ),
    "sort and take keep the columns": ("from customers sort { -since, email } take 5..10", CUSTOMER),
    "take without an order": ("from customers take 10", CUSTOMER),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_outputs(case: str) -> None:
    body, expected = OUTPUTS[case]
    assert outputs(body) == expected


EXPRESSIONS = {
    "1 + 2": "int64 nonnull",
    "-1": "int64 nonnull",
    "-amount": "decimal(10,2) nonnull",
    "1 / order_id": "float64",
    "amount + 0.5": "decimal(11,2) nonnull",
    "amount * 0.125": "decimal(13,5) nonnull",
    "amount > 0": "bool nonnull",
    "weight > amount": "bool",
    'note == "x" and paid': "bool",
    "not paid": "bool nonnull",
    "note is none": "bool nonnull",
    "note is not none": "bool nonnull",
    'note like "a%"': "bool",
    'country in ["ES", "MX"]': "bool",
    "order_id in [1, 2]": "bool nonnull",
    'note || "!"': "string",
    'note + "!"': "string",
    'if(paid, "yes", "no")': "string nonnull",
    'case(paid, 1, note == "x", 2)': "int64",
    "if(paid, order_id, none)": "int64",
    'coalesce(note, "none")': "string nonnull",
    "coalesce(customer_id, order_id)": "int64 nonnull",
    'cast(amount, "decimal(20,4)")': "decimal(20,4) nonnull",
    'cast(note, "short")': "int64",
    'cast(tags, "array(code)")': "array(string)",
    'try_cast(order_id, "bool")': "bool",
    'cast(none, "date")': "date",
    "total + total": "money(EUR) nonnull",
    "total / total": "float64",
    "round(total * 2, 2, half_even)": "money(EUR) nonnull",
    "round(1.5 * total, 2, half_up)": "money(EUR) nonnull",
    "round(total / 3, 2, half_even)": "money(EUR) nonnull",
    "round(amount * 2.5, 1, half_even)": "decimal(11,1) nonnull",
    "date_trunc(placed, month)": "date",
    'date_trunc(placed, "month")': "date",
    "date_add(placed, days: 3)": "date",
    "date_diff(placed, placed, day)": "int64",
    "upper(country)": "string",
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression: str) -> None:
    sources = SOURCES + "domain short = int64\ndomain code = string"
    found = outputs(f"from orders select {{ x = {expression} }}", sources=sources)
    assert found == {"x": EXPRESSIONS[expression]}


def test_a_float_literal_beside_a_decimal_keeps_its_digits() -> None:
    wide = 'cast(amount, "decimal(30,19)")'
    relation = canonical(model(f"from orders select {{ x = {wide} == 0.1234567890123456789 }}").relation)
    assert isinstance(relation, Project)
    literals = [e.value for e in walk(relation.items[0].expr) if isinstance(e, Literal)]
    assert literals == [Decimal("0.1234567890123456789")]


def test_value_sets_flow_through_filters_case_and_enums() -> None:
    body = 'from orders filter country != "CO" select { country, size = if(paid, "big", "small") }'
    columns = model(body).relation.schema.by_name
    assert columns["country"].inferred.values == {"ES", "MX"}
    assert columns["size"].inferred.values == {"big", "small"}


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("derive { q = row_number() over (sort: [i]), i = zz }", ["E021"]),
        ("derive { j = lag(i) over (sort: [id]), i = zz } dedup", ["E021"]),
        ("derive { i = zz, q = row_number() over (sort: [id]) } union t", ["E021", "E021"]),
        ("derive { i = zz, q = row_number() over (sort: [id]) } select { q, id }", ["E021"]),
    ],
)
def test_a_window_keeps_its_column_beside_one_that_is_replaced_in_error(body: str, codes: list[str]) -> None:
    source = "source t() { columns: { id: int64 nonnull primary_key, i: int64, j: int64 } }"
    compiled = compile_project([parse_module(f"{source}\nmodel m {{ from t {body} }}", "f.strata").module])
    assert [d.code for d in compiled.diagnostics if d.blocks] == codes
