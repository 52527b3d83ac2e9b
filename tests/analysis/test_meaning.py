"""Texts that mean the same have one form, and so one fingerprint (design `architecture.md`, Decision 3)."""

from __future__ import annotations

import pytest

from strata_core.relation.build import sort_rows
from strata_core.relation.canonical import canonical, columns_scanned
from strata_core.relation.form import fingerprint_form
from strata_core.relation.nodes import Scan, walk_relation

from .programs import model

BASE = "from orders as o join_left customers as c on o.customer_id == c.customer_id "
SAME = {
    "the name of a let": (
        "from orders let x = amount * 2.5 select { order_id, y = x + 1.0 }",
        "from orders let double = amount * 2.5 select { order_id, y = double + 1.0 }",
    ),
    "a let that is not used": ("from orders let x = upper(note)", "from orders"),
    "a let written out": (
        "from orders let x = amount * 2.5 select { y = x + x }",
        "from orders select { y = amount * 2.5 + amount * 2.5 }",
    ),
    "the name of an alias": (
        BASE + "select { order_id, c.email }",
        BASE.replace("c.", "who.").replace("as c", "as who") + "select { order_id, who.email }",
    ),
    "an alias before a take": (
        BASE + "take 10 select { order_id, c.email }",
        BASE.replace("c.", "z.").replace("as c", "as z") + "take 10 select { order_id, z.email }",
    ),
    "a let before a take": ("from visits let a = upper(page) take 3", "from visits take 3"),
    "an alias before a window": (
        "from visits as a derive { n = row_number() over (sort: [page]) }",
        "from visits derive { n = row_number() over (sort: [page]) }",
    ),
    "the order of outputs": ("from customers select { email, since }", "from customers select { since, email }"),
    "the order of conjuncts": (
        "from orders filter paid and amount > 3",
        "from orders filter amount > 3 and paid",
    ),
    "filters apart": ("from orders filter paid and amount > 3", "from orders filter amount > 3 filter paid"),
    "a filter twice": ("from orders filter paid filter paid", "from orders filter paid"),
    "a filter before a let": (
        "from orders filter paid let x = amount * 2.5 select { x }",
        "from orders let x = amount * 2.5 filter paid select { x }",
    ),
    "mirrored comparisons": ("from orders filter amount > 3", "from orders filter 3 < amount"),
    "select in two steps": (
        "from orders derive { a = amount } select { a, paid } select { a }",
        "from orders select { a = amount }",
    ),
    "where": ("from orders where paid", "from orders filter paid"),
    "a star": ("from visits select { * }", "from visits select { customer_id, page, country }"),
    "aggregates in another order": (
        "from orders group { country, placed } ( aggregate { n = count(), m = max(at) } )",
        "from orders group { placed, country } ( aggregate { m = max(orders.at), n = count(*) } )",
    ),
    "a sort key twice": ("from orders sort { amount, amount } take 3", "from orders sort { amount } take 3"),
}
OTHER = {
    "another column": ("from orders select { x = placed }", "from orders select { x = date_add(placed, 0, day) }"),
    "a filter and a take": (
        "from orders filter paid sort { placed } take 3",
        "from orders sort { placed } take 3 filter paid",
    ),
    "a filter and a window": (
        "from orders filter paid derive { r = rank() over (sort: [placed]) }",
        "from orders derive { r = rank() over (sort: [placed]) } filter paid",
    ),
    "kinds of join": (
        "from visits join_semi customers as c on visits.customer_id == c.customer_id",
        "from visits join_anti customers as c on visits.customer_id == c.customer_id",
    ),
    "left or inner": (
        BASE + "select { order_id }",
        BASE.replace("join_left", "join_inner") + "select { order_id }",
    ),
    "distinct": (
        "from orders aggregate { n = count(country) }",
        "from orders aggregate { n = count(distinct country) }",
    ),
    "the name of an output": ("from orders select { a = paid }", "from orders select { b = paid }"),
    "literals": ("from orders select { a = 1 }", "from orders select { a = 1.0 }"),
}


def form(body: str) -> bytes:
    return fingerprint_form(model(body).relation)


@pytest.mark.parametrize("case", SAME)
def test_same(case: str) -> None:
    one, other = SAME[case]
    assert form(one) == form(other)


@pytest.mark.parametrize("case", OTHER)
def test_other(case: str) -> None:
    one, other = OTHER[case]
    assert form(one) != form(other)


@pytest.mark.parametrize("case", [*SAME, *OTHER])
def test_the_canonical_relation_has_the_same_form(case: str) -> None:
    for body in (SAME | OTHER)[case]:
        written = model(body).written
        small = canonical(written)
        assert fingerprint_form(small) == fingerprint_form(written)
        assert small.schema == written.schema
        scans = [node for node in walk_relation(canonical(sort_rows(small, ()))) if isinstance(node, Scan)]
        assert columns_scanned(written) == {
            table: frozenset(n for s in scans if s.table == table for n in s.schema.names)
            for table in {s.table for s in scans}
        }
