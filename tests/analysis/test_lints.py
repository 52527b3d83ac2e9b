"""Lints: what compiles and runs, and is still not what was meant; and what looks like it and is not."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import Severity

from .programs import findings, marked, text_of


def told(body: str) -> list[tuple[str, str]]:
    """The warnings but for W001, each with the text that it marks."""
    found = findings(body, severity=Severity.WARNING)
    assert not findings(body), findings(body)
    return [(d.code, marked(text_of(body), d)) for d in found if d.code != "W001"]


def message(body: str) -> tuple[str, str | None]:
    (found,) = [d for d in findings(body, severity=Severity.WARNING) if d.code != "W001"]
    return found.message, found.fix


VISITS = "join_inner visits on orders.customer_id == visits.customer_id"
CUSTOMERS = "join_left customers on orders.customer_id == customers.customer_id"

FAN_OUTS = {
    "a sum of the left side": (
        f"from orders {VISITS} group {{ country }} ( aggregate {{ x = sum(amount) }} )",
        "sum(amount)",
    ),
    "a mean of it": (f"from orders {VISITS} aggregate {{ x = avg(amount) }}", "avg(amount)"),
    "a count of values": (f"from orders {VISITS} aggregate {{ x = count(note) }}", "count(note)"),
    "a value that is computed of it": (
        f"from orders {VISITS} let double = amount * 2 filter paid aggregate {{ x = 1 + sum(double) }}",
        "sum(double)",
    ),
    "a sum of the right side, whose rows several rows match": (
        "from visits join_left orders on visits.customer_id == orders.customer_id aggregate { x = sum(orders.amount) }",
        "sum(orders.amount)",
    ),
    "a cross join": ("from orders join_cross customers aggregate { x = sum(amount) }", "sum(amount)"),
    "an element": ("from orders expand tags as tag aggregate { x = sum(amount) }", "sum(amount)"),
}


@pytest.mark.parametrize(("body", "place"), FAN_OUTS.values(), ids=FAN_OUTS)
def test_w007_an_aggregate_over_rows_that_are_repeated(body, place):
    assert told(body) == [("W007", place)]


def test_w007_names_the_keys_that_are_not_unique():
    body = f"from orders {VISITS} aggregate {{ x = sum(amount) }}"
    assert message(body) == (
        "`sum` meets a row once for each match: `visits` may have several by `customer_id`",
        "aggregate `visits` to one row by `customer_id` first, or state `expect many_to_one`",
    )


@pytest.mark.parametrize(
    "body",
    [
        f'from orders {CUSTOMERS} group {{ customers.email }} ( aggregate {{ x = sum(amount) }} ) filter email != ""',
        f"from orders {VISITS} expect many_to_one aggregate {{ x = sum(amount) }}",
        f"from orders {VISITS} aggregate {{ x = max(amount), y = count(distinct note), n = count() }}",
        "from orders join_inner visits on orders.order_id == visits.customer_id aggregate { n = count(visits.page) }",
        "from orders join_semi visits on orders.customer_id == visits.customer_id aggregate { x = sum(amount) }",
        "from orders aggregate { x = sum(amount) }",
    ],
    ids=["a key", "an expectation", "indifferent aggregates", "the side that is not repeated", "semi", "no join"],
)
def test_w007_what_repeats_nothing(body):
    assert [code for code, _ in told(body) if code == "W007"] == []


def test_w007_the_side_that_many_rows_match_is_repeated():
    # Each customer's row is met once for each of his orders.
    body = f"from orders {CUSTOMERS} aggregate {{ x = count(customers.email) }}"
    assert told(body) == [("W007", "count(customers.email)")]


@pytest.mark.parametrize(
    "condition", ['customers.email == "x"', "not customers.email like note", 'customers.email like "a%"']
)
def test_w008_a_filter_that_undoes_an_outer_join(condition):
    body = f"from orders {CUSTOMERS} filter {condition} select {{ order_id, email = customers.email }}"
    assert told(body) == [("W008", condition)]


@pytest.mark.parametrize(
    "condition",
    [
        "customers.email is not none",
        'customers.email == "x" or customers.email is none',
        'coalesce(customers.email, "") == "x"',
        "paid",
        'customers.country == "ES"',  # none there may mean that the customer has no country
    ],
)
def test_w008_a_filter_that_keeps_or_means_it(condition):
    body = f"from orders {CUSTOMERS} filter {condition} select {{ order_id, email = customers.email }}"
    assert told(body) == []


def test_w009_a_group_of_rows_without_a_match():
    body = f"from orders {CUSTOMERS} group {{ customers.email }} ( aggregate {{ n = count() }} )"
    assert told(body) == [("W009", "customers.email")]
    filtered = f"from orders {CUSTOMERS} filter customers.email is not none"
    assert told(f"{filtered} group {{ customers.email }} ( aggregate {{ n = count() }} )") == []


def test_w011_a_take_without_a_total_order():
    assert told("from orders sort { -amount } take 5") == [("W011", "take 5")]
    assert told("from orders take 5") == [("W011", "take 5")]
    assert message("from orders sort { -amount } take 5")[1] == "add `order_id` to the `sort`"
    assert message("from orders take 5")[1] == "write `sort { order_id }` before it"
    assert told("from orders sort { -amount, order_id } take 5") == []
    assert told("from visits group { country } ( aggregate { n = count() } ) sort { country } take 5") == []


def test_w012_floats_compared():
    assert told("from orders filter weight == 1.5") == [("W012", "weight == 1.5")]
    assert told("from orders derive { same = weight != amount / 2 }") == [("W012", "weight != amount / 2")]
    assert told("from orders filter weight == 0 or weight > 1.5") == []
    assert told("from orders filter amount == 1.5") == []


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ('from orders filter country == "ESP"', ['"ESP"']),
        ('from orders filter "ESP" != country', ['"ESP"']),
        ('from orders filter country in ["ES", "MEX", "CO"]', ['"MEX"']),
        ('from orders filter upper(country) == "es"', ['"es"']),
        ('from orders derive { x = if(country == "PT", 1, 0) }', ['"PT"']),
        ('from orders filter country != "ES" filter country == "ES"', ['"ES"']),
        ('from orders filter country == "ES" or note == "PT"', []),
        ('from orders filter country == "ES" or country like "P%" or country > "PT"', []),
        (f'from orders {CUSTOMERS} filter customers.email is not none and customers.country == "PT"', []),
        ('from orders filter country == note', []),
    ],
)  # fmt: skip
def test_w020_a_text_that_the_column_never_is(body, places):
    assert told(body) == [("W020", place) for place in places]


def test_w020_says_what_it_can_be():
    assert message('from orders filter country == "ESS"') == ('`country` is never "ESS" here', 'write `"ES"`')
    assert message('from orders filter upper(country) == "PT"') == (
        'this is never "PT" here',
        'it can be `"CO"`, `"ES"`, `"MX"`',
    )


def test_w013_money_as_a_float():
    assert told('from orders derive { f = cast(total, "float64") }') == [("W013", 'cast(total, "float64")')]
    assert told('from orders derive { f = cast(total, "decimal(38,2)"), g = cast(amount, "float64") }') == []


def test_w014_a_hidden_column_that_nothing_reads():
    assert told("from orders let double = amount * 2 filter paid") == [("W014", "double")]
    assert told("from orders let double = amount * 2 derive { x = double }") == []
    assert told("from orders let a = amount * 2 let b = a + 1 derive { x = b }") == []


def test_w015_rows_without_a_key_match_each_other():
    body = "from orders join_semi visits on coalesce(orders.customer_id, 0) == coalesce(visits.customer_id, 0)"
    assert told(body) == [("W015", "coalesce(orders.customer_id, 0)"), ("W015", "coalesce(visits.customer_id, 0)")]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (
            "join_inner visits on customer_id == customer_id select { amount, visits.page }",
            "customer_id == customer_id",
        ),
        (
            "join_left visits on visits.customer_id == visits.customer_id select { amount, visits.page }",
            "visits.customer_id == visits.customer_id",
        ),
        ("join_semi visits on amount > 1", "amount > 1"),
        ("join_semi visits on visits.customer_id > 1", None),
        ("join_inner visits on true select { amount, visits.page }", None),
        ("join_cross visits select { amount, visits.page }", None),
        ("join_inner visits on customer_id > visits.customer_id select { amount, visits.page }", None),
    ],
)
def test_w018_a_condition_that_compares_nothing(body, place):
    assert told(f"from orders {body}") == ([] if place is None else [("W018", place)])
