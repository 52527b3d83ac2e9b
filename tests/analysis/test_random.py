"""`random(seed: …, key: …)`, and what has no place in a language whose rows must come out the same (Seed 0 §6)."""

from __future__ import annotations

import pytest

from strata_core.types.functions.banned import BANNED

from .programs import marked, outputs, project


def errors(expression: str) -> list[tuple[str, str, str | None]]:
    text = f"model m {{ from orders select {{ x = {expression} }} }}"
    return [(d.code, marked(text, d), d.fix) for d in project(text).diagnostics if d.blocks]


@pytest.mark.parametrize(
    "expression",
    [
        "random(seed: 42, key: order_id)",
        "random(key: order_id, seed: 42)",
        "random(42, key: order_id)",
        "random(42, order_id)",
    ],
)
def test_seed0_s6_random_takes_a_seed_and_a_key(expression: str) -> None:
    assert outputs(f"from orders select {{ x = {expression} }}") == {"x": "float64 nonnull"}


def test_the_order_of_named_arguments_means_nothing() -> None:
    first, second = (
        project(f"model m {{ from orders select {{ x = random({a}) }} }}").models["m"].relation
        for a in ("seed: 1, key: note", "key: note, seed: 1")
    )
    assert first == second


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        ("random()", "random()"),
        ("random(seed: 42)", "random(seed: 42)"),
        ("random(key: order_id)", "random(key: order_id)"),
        ("random(42, seed: 42)", "random(42, seed: 42)"),
        ("random(seed: order_id, key: order_id)", "order_id"),
        ("random(seed: 42, key: weight)", "weight"),
        ("random(seed: 42, kee: order_id)", "kee"),
    ],
)
def test_a_call_that_is_none(expression: str, place: str) -> None:
    found = errors(expression)
    assert found[0][:2] == ("E060", place)


def test_without_a_key_it_says_what_a_key_is() -> None:
    ((_, _, fix),) = errors("random(seed: 42)")
    assert fix == "add a column that tells the rows apart: `random(seed: 42, key: order_id)`"


@pytest.mark.parametrize("name", BANNED)
def test_seed0_s6_what_is_not_deterministic_says_what_to_write(name: str) -> None:
    assert errors(f"{name}()") == [("E065", name, BANNED[name])]


def test_in_any_case() -> None:
    assert [e[0] for e in errors("NOW()")] == ["E065"]
    assert [e[0] for e in errors("current_dte()")] == ["E025"]
