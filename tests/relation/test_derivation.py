"""How columns are computed, told apart from which rows there are (`relation/derivation.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata_core.planning.project import compile_, read_project
from strata_core.relation.derivation import StepKind, derivation
from strata_core.relation.spelling import spelled_output
from tests.analysis.programs import model

ROOT = Path(__file__).resolve().parents[2]

SAME: dict[str, tuple[str, str]] = {
    "a let": ("from orders let x = amount * 2 select { y = x + 1 }", "from orders select { y = amount * 2 + 1 }"),
    "a rename on the way": (
        "from orders derive { a = note } select { b = upper(a) }",
        "from orders select { b = upper(note) }",
    ),
    "operands that commute": (
        "from orders select { x = order_id + customer_id }",
        "from orders select { x = customer_id + order_id }",
    ),
    "conditions apart": (
        "from orders filter paid and amount > 1.00 select { order_id }",
        "from orders filter amount > 1.00 filter paid select { order_id }",
    ),
    "a filter below a projection": (
        "from orders select { x = order_id } filter x > 3",
        "from orders filter order_id > 3 select { x = order_id }",
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_means_the_same_is_derived_alike(one: str, other: str) -> None:
    a, b = derivation(model(one).written), derivation(model(other).written)
    assert (a.columns, a.rows) == (b.columns, b.rows)


def test_rows_do_not_change_how_a_column_is_computed() -> None:
    plain = derivation(model("from orders select { x = amount * 2 }").written)
    for body in (
        "from orders filter paid select { x = amount * 2 }",
        "from orders join_semi customers on orders.customer_id == customers.customer_id select { x = amount * 2 }",
        "from orders sort { order_id } take 3 select { x = amount * 2 }",
    ):
        found = derivation(model(body).written)
        assert found.columns == plain.columns
        assert found.rows != plain.rows


def test_a_join_as_of_says_how_far_back_it_looks() -> None:
    sources = (
        'source prices(csv: "p.csv") { columns: { symbol: string nonnull, day: date nonnull, price: float64 } }\n'
        'source asked(csv: "a.csv") { columns: { symbol: string nonnull, day: date nonnull } }'
    )
    joined = "join_asof prices on prices.symbol == asked.symbol at prices.day <= asked.day within 7d"
    found = derivation(
        model(f"from asked {joined} select {{ asked.symbol, price = prices.price }}", sources=sources).written
    )
    assert [step.word for step in found.steps if step.kind is StepKind.JOIN] == ["asof left within 7d on"]


def test_types_are_no_part_of_a_derivation() -> None:
    text = 'source s(csv: "s.csv") {{ columns: {{ n: {} nonnull, d: int64 nonnull }} }}'
    found = [
        derivation(model("from s select { x = n * d, y = n / d, z = sum(n) over () }", sources=text.format(t)).written)
        for t in ("int64", "float64", "decimal(10,2)")
    ]
    assert found[0].columns == found[1].columns == found[2].columns


def test_text_put_together_has_an_order() -> None:
    bodies = ("from orders select { x = note || country }", "from orders select { x = country || note }")
    a, b = (derivation(model(body).written) for body in bodies)
    assert a.columns != b.columns


def test_each_step_that_decides_about_rows_is_named() -> None:
    body = (
        "from orders filter paid join_inner customers as c on orders.customer_id == c.customer_id "
        "expand tags as tag group { tag } ( aggregate { n = count() } ) sort { n } take 2"
    )
    kinds = [s.kind for s in derivation(model(body).written).steps]
    assert sorted(kinds) == sorted(
        [
            StepKind.READ,
            StepKind.READ,
            StepKind.FILTER,
            StepKind.JOIN,
            StepKind.EXPAND,
            StepKind.GROUP,
            StepKind.TAKE,
        ]
    )


def test_law_the_canonical_form_derives_what_was_written() -> None:
    """The oracle is the other route: of each model of the repository, written and canonical are derived alike."""
    models = compile_(read_project(ROOT)).models
    assert len(models) > 10
    for one in models.values():
        assert derivation(one.written).columns == derivation(one.relation).columns, one.name
        assert derivation(one.written).rows == derivation(one.relation).rows, one.name


SPELLED: dict[str, str] = {
    "from orders select { x = amount * 2 + 1 }": "(amount * 2) + 1",
    "from orders select { x = note is not none and not paid }": "note is not none and not paid",
    'from orders select { x = country in ["ES", "MX"] }': 'country in ["ES", "MX"]',
    "from orders select { x = cast(weight, \"int64\") }": 'cast(weight, "int64")',
    "from orders group { country } ( aggregate { x = count(distinct customer_id) } )": "count(distinct customer_id)",
    "from orders select { x = rank() over (partition_by: [country], sort: [-amount]) }": (
        "rank() over (partition_by: [country], sort: [-amount])"
    ),
    "from orders expand tags as x select { x }": "an element of tags",
    "from visits join_left customers as c on visits.customer_id == c.customer_id select { x = c.email }": (
        "customers.email"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "text"), SPELLED.items())
def test_an_output_is_spelled_for_people(body: str, text: str) -> None:
    assert spelled_output(model(body).relation, "x") == text
