"""Joins: keys that survive, and what `expect` proves, leaves to the run, or cannot check."""

from __future__ import annotations

import pytest

from .programs import model

EXPECTATIONS: dict[str, tuple[str, list[tuple[str, ...]]]] = {
    "proven by the right side's key": (
        "from orders join_left customers as c on orders.customer_id == c.customer_id expect many_to_one",
        [],
    ),
    "proven by a part of the condition": (
        "from orders join_left customers as c on orders.customer_id == c.customer_id and orders.country == c.country "
        "expect many_to_one",
        [],
    ),
    "left to the run": (
        "from orders join_left visits as v on orders.customer_id == v.customer_id expect many_to_one",
        [("customer_id",)],
    ),
    "of several columns": (
        "from orders join_left visits as v on v.customer_id == orders.customer_id and orders.country == v.country "
        "expect many_to_one",
        [("customer_id", "country")],
    ),
    "with a condition on one side": (
        'from orders join_left visits as v on orders.customer_id == v.customer_id and v.page == "x" and paid '
        "expect many_to_one",
        [("customer_id",)],
    ),
    "of what is computed": (
        "from orders join_left visits as v on orders.country == upper(v.country) expect many_to_one",
        [("key 1",)],
    ),
    "one to one, both proven": (
        "from orders join_inner customers as c on order_id == c.customer_id expect one_to_one",
        [],
    ),
    "one to one, neither proven": (
        "from visits join_inner orders as o on visits.customer_id == o.customer_id expect one_to_one",
        [("customer_id",), ("customer_id",)],
    ),
    "one to many": (
        "from visits join_inner orders as o on visits.customer_id == o.customer_id expect one_to_many",
        [("customer_id",)],
    ),
}


@pytest.mark.parametrize("case", EXPECTATIONS)
def test_expectation(case: str) -> None:
    body, expected = EXPECTATIONS[case]
    found = model(body).expectations
    assert [e.columns for e in found] == expected
    assert all(e.relation.schema.names == e.columns for e in found)


def test_an_expectation_keeps_its_place_and_words() -> None:
    (one,) = model(EXPECTATIONS["left to the run"][0]).expectations
    assert one.text == "join_left visits expect many_to_one"
    assert one.span.line == 1


KEYS = {
    "an expected many to one keeps the left key": (
        "from orders join_left visits as v on orders.customer_id == v.customer_id expect many_to_one "
        "select { order_id, v.page }",
        {("order_id",)},
    ),
    "a join that multiplies does not": (
        "from orders join_left visits as v on orders.customer_id == v.customer_id select { order_id, v.page }",
        set(),
    ),
    "a group has its keys": ("from orders group { country, placed } ()", {("country", "placed")}),
    "a group by a key and more": ("from orders group { order_id, placed } ()", {("order_id",)}),
    "one row": ("from orders aggregate { n = count() }", {()}),
    "renamed": ("from orders select { id = order_id }", {("id",)}),
    "dropped": ("from orders select { note }", set()),
    "a row number": (
        "from orders select { country, n = row_number() over (partition_by: [country], sort: [placed]) }",
        {("country", "n")},
    ),
}


@pytest.mark.parametrize("case", KEYS)
def test_keys(case: str) -> None:
    body, expected = KEYS[case]
    assert {tuple(sorted(key)) for key in model(body).relation.schema.keys} == expected
