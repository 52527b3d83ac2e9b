"""The nearest name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.diagnostics.suggest import nearest

COLUMNS = ["order_id", "customer_id", "amount", "country", "email", "id", "day"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ammount", "amount"),
        ("amuont", "amount"),
        ("Amount", "amount"),
        ("orderid", "order_id"),
        ("custmer_id", "customer_id"),
        ("contry", "country"),
        ("dya", None),
        ("days", "day"),
        ("x", None),
        ("", None),
        ("colour", None),
        ("z" * 1000, None),
    ],
)
def test_nearest(name, expected):
    assert nearest(name, COLUMNS) == expected


def test_the_order_of_the_candidates_does_not_matter():
    assert nearest("ab1", ["ab3", "ab2"]) == nearest("ab1", ["ab2", "ab3"])


def test_an_equal_name_is_no_suggestion():
    assert nearest("amount", ["amount"]) is None


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=10))
def test_the_nearest_is_a_candidate(name, candidates):
    assert nearest(name, candidates) in {None, *candidates}
