"""What changed between two table contracts: each row of the table literally, and the laws of comparing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract.changes import RULES, Aspect, Change, Demand, Direction, Impact, compare_contracts
from strata_core.contract.model import ContractField, Freshness, Mask, MaskRule, TableContract
from strata_core.diagnostics import Span
from strata_core.types import DATE, FLOAT64, INT64, STRING, Array, Decimal, Money

from .test_model import contracts

KEEP = ContractField("keep", STRING)


def table(*fields: ContractField, **rest: object) -> TableContract:
    return TableContract("T", fields, **rest)


def spelled(change: Change) -> tuple[str, str | None, str | None, str | None, str]:
    return change.rule.id, change.column, change.before, change.after, change.impact.value


def field(**rest: object) -> TableContract:
    given = {"name": "x", "type": STRING} | rest
    return table(KEEP, ContractField(**given))


DAY = timedelta(days=1)

CASES: list[tuple[TableContract, TableContract, list[tuple[str, str | None, str | None, str | None, str]]]] = [
    (table(KEEP), field(), [("column-added", "x", None, "string", "minor")]),
    (table(KEEP), field(nullable=False), [("column-added", "x", None, "string nonnull", "minor")]),
    (field(), table(KEEP), [("column-removed", "x", "string", None, "major")]),
    (field(type=INT64), field(type=FLOAT64), [("type-widened", "x", "int64", "float64", "minor")]),
    (field(type=FLOAT64), field(type=INT64), [("type-narrowed", "x", "float64", "int64", "major")]),
    (
        field(type=Decimal(10, 2)),
        field(type=Decimal(12, 2)),
        [("type-widened", "x", "decimal(10,2)", "decimal(12,2)", "minor")],
    ),
    (
        field(type=Decimal(10, 2)),
        field(type=Decimal(10, 3)),
        [("type-changed", "x", "decimal(10,2)", "decimal(10,3)", "major")],
    ),
    (field(type=Money("EUR")), field(type=Money("USD")), [("type-changed", "x", "money(EUR)", "money(USD)", "major")]),
    (
        field(type=Array(INT64)),
        field(type=Array(INT64, element_nullable=False)),
        [("type-narrowed", "x", "array(int64)", "array(int64 nonnull)", "major")],
    ),
    (field(), field(nullable=False), [("nonnull-added", "x", "nullable", "nonnull", "minor")]),
    (field(nullable=False), field(), [("nonnull-dropped", "x", "nonnull", "nullable", "major")]),
    (field(), field(enum=("b", "a")), [("enum-narrowed", "x", None, "enum {a, b}", "minor")]),
    (field(enum=("a",)), field(), [("enum-widened", "x", "enum {a}", None, "major")]),
    (field(enum=("a",)), field(enum=("a", "b")), [("enum-widened", "x", "enum {a}", "enum {a, b}", "major")]),
    (field(enum=("a", "b")), field(enum=("b",)), [("enum-narrowed", "x", "enum {a, b}", "enum {b}", "minor")]),
    (field(enum=("a", "b")), field(enum=("b", "c")), [("enum-changed", "x", "enum {a, b}", "enum {b, c}", "major")]),
    (field(), field(unique=True), [("unique-added", "x", None, "unique", "minor")]),
    (field(unique=True), field(), [("unique-dropped", "x", "unique", None, "major")]),
    (field(), field(protected=True), [("protection-added", "x", None, "protected", "minor")]),
    (field(protected=True), field(), [("protection-dropped", "x", "protected", None, "major")]),
    (field(), field(classification="pii"), [("classification-added", "x", None, "pii", "minor")]),
    (field(classification="pii"), field(), [("classification-dropped", "x", "pii", None, "major")]),
    (
        field(classification="pii"),
        field(classification="internal"),
        [("classification-changed", "x", "pii", "internal", "review")],
    ),
    (field(), field(mask=Mask(MaskRule.HASH)), [("mask-strengthened", "x", None, "hash", "minor")]),
    (
        field(mask=Mask(MaskRule.HASH)),
        field(mask=Mask(MaskRule.PARTIAL)),
        [("mask-weakened", "x", "hash", "partial(4)", "major")],
    ),
    (
        field(mask=Mask(MaskRule.PARTIAL, 8)),
        field(mask=Mask(MaskRule.PARTIAL, 2)),
        [("mask-strengthened", "x", "partial(8)", "partial(2)", "minor")],
    ),
    (field(), field(partition_by=True), [("partitioning-changed", "x", None, "partition_by", "minor")]),
    (
        field(type=DATE, freshness=DAY),
        field(type=DATE, freshness=2 * DAY),
        [("freshness-loosened", "x", "1d", "2d", "major")],
    ),
    (field(type=DATE), field(type=DATE, freshness=DAY), [("freshness-tightened", "x", None, "1d", "minor")]),
    (field(), field(description="of it"), [("description-changed", "x", None, "of it", "patch")]),
    (table(KEEP, freshness=Freshness(DAY)), table(KEEP), [("freshness-loosened", None, "<= 1d", None, "major")]),
    (
        replace(field(type=DATE), freshness=Freshness(DAY)),
        replace(field(type=DATE), freshness=Freshness(DAY, "x")),
        [("freshness-changed", None, "<= 1d", "x <= 1d", "major")],
    ),
    (table(KEEP), table(KEEP, closed=True), [("closed-added", None, None, "closed", "minor")]),
    (table(KEEP, closed=True), table(KEEP), [("closed-dropped", None, "closed", None, "minor")]),
    (
        table(ContractField("a", INT64, primary_key=True), ContractField("b", INT64, primary_key=True)),
        table(ContractField("a", INT64, False), ContractField("b", INT64, False)),
        [("key-dropped", None, "a, b", None, "major")],
    ),
    (
        table(ContractField("a", INT64, False), ContractField("b", INT64, False)),
        table(ContractField("a", INT64, primary_key=True), ContractField("b", INT64, primary_key=True)),
        [("key-added", None, None, "a, b", "minor")],
    ),
    (
        table(
            ContractField("a", INT64, primary_key=True),
            ContractField("b", INT64, primary_key=True),
            ContractField("c", INT64, False),
        ),
        table(
            ContractField("a", INT64, primary_key=True),
            ContractField("b", INT64, False),
            ContractField("c", INT64, primary_key=True),
        ),
        [("key-changed", None, "a, b", "a, c", "major")],
    ),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_each_kind_of_change(
    before: TableContract, after: TableContract, expected: list[tuple[str, str | None, str | None, str | None, str]]
) -> None:
    assert list(map(spelled, compare_contracts(before, after))) == expected


def test_every_row_of_the_table_has_a_case_and_its_own_id() -> None:
    ids = [rule.id for rule in RULES.values()]
    assert len(set(ids)) == len(ids)
    shown = {case[0] for _, _, expected in CASES for case in expected} | {"column-renamed"}
    assert shown == set(ids)


def test_a_rename_that_is_known_is_told_as_one_and_its_promises_are_compared() -> None:
    before = table(ContractField("a", INT64, primary_key=True), KEEP)
    after = table(KEEP, ContractField("b", FLOAT64, primary_key=True))
    assert list(map(spelled, compare_contracts(before, after, {"a": "b"}))) == [
        ("column-renamed", "a", "a", "b", "major"),
        ("type-widened", "a", "int64", "float64", "minor"),
    ]


def test_without_a_known_rename_a_column_goes_and_another_comes() -> None:
    before, after = table(ContractField("a", INT64)), table(ContractField("b", INT64))
    assert [c.rule.id for c in compare_contracts(before, after)] == ["column-removed", "column-added"]


def test_two_columns_that_changed_names_are_two_renames() -> None:
    before = table(ContractField("a", INT64), ContractField("b", STRING))
    after = table(ContractField("a", STRING), ContractField("b", INT64))
    assert list(map(spelled, compare_contracts(before, after, {"a": "b", "b": "a"}))) == [
        ("column-renamed", "a", "a", "b", "major"),
        ("column-renamed", "b", "b", "a", "major"),
    ]


def test_a_column_whose_name_another_took_is_gone() -> None:
    before = table(ContractField("a", INT64), ContractField("b", STRING))
    after = table(ContractField("b", INT64))
    assert list(map(spelled, compare_contracts(before, after, {"a": "b"}))) == [
        ("column-renamed", "a", "a", "b", "major"),
        ("column-removed", "b", "string", None, "major"),
    ]


def test_seed0_s3_whatever_touches_a_protected_column_breaks_its_consumers() -> None:
    old = ContractField("x", INT64, protected=True)
    for new in (replace(old, type=FLOAT64), replace(old, nullable=False), replace(old, name="y")):
        changes = compare_contracts(table(old), table(new), {"x": new.name})
        assert [c.breaks for c in changes] == [True]
    described = compare_contracts(table(old), table(replace(old, description="words")))
    assert [c.impact for c in described] == [Impact.PATCH]


def test_weakening_what_is_hidden_asks_for_an_approval() -> None:
    hidden = field(classification="pii", mask=Mask(MaskRule.HASH))
    assert {c.rule.demand for c in compare_contracts(hidden, field())} == {Demand.APPROVAL}
    assert {c.rule.demand for c in compare_contracts(field(), hidden)} == {Demand.NOTICE}


def test_the_fingerprint_of_a_change_does_not_ask_where_it_stands() -> None:
    at = replace(field(), fields=(KEEP, ContractField("x", STRING, span=Span("a.strata", 1, 1, 1, 2))))
    (one,) = compare_contracts(field(nullable=False), field())
    (other,) = compare_contracts(field(nullable=False), at)
    assert one.fingerprint == other.fingerprint
    (third,) = compare_contracts(field(), field(nullable=False))
    assert one.fingerprint != third.fingerprint


def test_impacts_have_an_order() -> None:
    assert max(Impact, key=lambda i: i.weight) is Impact.MAJOR
    assert Impact.MINOR.weight < Impact.REVIEW.weight


MIRROR = {Direction.TIGHTENS: Direction.LOOSENS, Direction.LOOSENS: Direction.TIGHTENS}
WHAT: dict[str, tuple[Aspect, Direction]] = {rule.id: key for key, rule in RULES.items()}


def seen(changes: tuple[Change, ...], turn: Callable[[Direction], Direction]) -> set[tuple[Aspect, Direction, str]]:
    parts = [(WHAT[c.rule.id], c.column or "") for c in changes]
    return {(aspect, turn(direction), column) for (aspect, direction), column in parts}


@given(contracts(), contracts())
def test_law_nothing_changed_where_the_digest_says_so(before: TableContract, after: TableContract) -> None:
    promised = [c for c in compare_contracts(before, after) if c.rule.impact is not Impact.PATCH]
    assert (promised == []) == (before.digest == after.digest)


@given(contracts(), contracts())
def test_law_the_way_back_mirrors_each_direction(before: TableContract, after: TableContract) -> None:
    there, back = compare_contracts(before, after), compare_contracts(after, before)
    assert seen(there, lambda d: d) == seen(back, lambda d: MIRROR.get(d, d))


@given(contracts(), contracts(), st.randoms(use_true_random=False))
def test_law_the_order_of_columns_is_no_change(before: TableContract, after: TableContract, random: Random) -> None:
    fields = list(after.fields)
    random.shuffle(fields)
    shuffled = replace(after, fields=tuple(fields))
    there, again = compare_contracts(before, after), compare_contracts(before, shuffled)
    assert {(c.rule, c.column) for c in there} == {(c.rule, c.column) for c in again}
