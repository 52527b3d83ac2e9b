from __future__ import annotations

import itertools

import pytest

from strata_core.types import INT64, Inferred, TypeSpellingError, castable, least_upper_bound, parse_type, widens

# inferred, promised, whether a boundary accepts it silently
WIDENING = [
    ("int64", "float64", True),
    ("int64", "decimal(38,2)", True),
    ("int64", "decimal(18,0)", False),
    ("int64", "decimal(19,0)", True),
    ("decimal(10,2)", "decimal(12,3)", True),
    ("decimal(10,2)", "decimal(10,3)", False),
    ("float64", "decimal(38,2)", False),
    ("float64", "int64", False),
    ("date", "timestamp", False),
    ("timestamp", "date", False),
    ("money(EUR)", "decimal(38,2)", False),
    ("decimal(38,2)", "money(EUR)", False),
    ("money(EUR)", "money(USD)", False),
    ("string", "json", False),
    ("array(int64)", "array(int64)", True),
    ("array(int64)", "array(float64)", False),
    ("array(int64 nonnull)", "array(int64)", True),
    ("array(int64)", "array(int64 nonnull)", False),
    ("map(string, int64 nonnull)", "map(string, int64)", True),
    ("struct<a: int64 nonnull>", "struct<a: int64>", True),
    ("struct<a: int64>", "struct<b: int64>", False),
]


@pytest.mark.parametrize(("inferred", "promised", "expected"), WIDENING)
def test_seed0_s1_subtyping(inferred: str, promised: str, expected: bool) -> None:
    assert widens(parse_type(inferred), parse_type(promised)) is expected


def test_seed0_s1_narrowing_is_never_implicit() -> None:
    narrowing = [
        ("float64", "decimal(38,2)"),
        ("float64", "int64"),
        ("decimal(38,2)", "int64"),
        ("decimal(10,2)", "decimal(10,1)"),
        ("timestamp", "date"),
        ("array(int64)", "array(int64 nonnull)"),
    ]
    assert [widens(parse_type(a), parse_type(b)) for a, b in narrowing] == [False] * 6


def test_seed0_s1_what_the_seed_marks_cast_only_is_castable_and_does_not_widen() -> None:
    cast_only = [
        ("float64", "decimal(38,2)"),
        ("date", "timestamp"),
        ("money(EUR)", "decimal(38,2)"),
        ("decimal(38,2)", "money(EUR)"),
    ]
    assert [castable(parse_type(a), parse_type(b)) for a, b in cast_only] == [True] * 4
    assert [widens(parse_type(a), parse_type(b)) for a, b in cast_only] == [False] * 4


def test_seed0_s1_no_cast_leads_from_one_currency_to_another() -> None:
    assert not castable(parse_type("money(EUR)"), parse_type("money(USD)"))
    assert castable(parse_type("money(EUR)"), parse_type("money(EUR)"))


@pytest.mark.parametrize(
    ("one", "other"),
    [("array(int64)", "array(float64)"), ("array(date)", "array(timestamp)"), ("array(decimal(9,2))", "array(int64)")],
)
def test_seed0_s1_arrays_are_invariant(one: str, other: str) -> None:
    assert not widens(parse_type(one), parse_type(other))
    assert least_upper_bound(parse_type(one), parse_type(other)) is None
    assert widens(parse_type(one), parse_type(one))


def test_seed0_s1_nullability_is_a_flag_beside_the_type() -> None:
    assert Inferred(INT64, nullable=True).type == Inferred(INT64, nullable=False).type
    assert [str(Inferred(INT64, nullable)) for nullable in (True, False)] == ["int64", "int64 nonnull"]


BOUNDS = [
    ("int64", "float64", "float64"),
    ("int64", "decimal(10,2)", "decimal(21,2)"),
    ("decimal(10,2)", "decimal(5,4)", "decimal(12,4)"),
    ("decimal(38,0)", "decimal(38,38)", None),
    ("float64", "decimal(10,2)", None),
    ("date", "timestamp", None),
    ("money(EUR)", "money(USD)", None),
    ("array(int64 nonnull)", "array(int64)", "array(int64)"),
    ("array(int64)", "array(float64)", None),
    ("string", "string", "string"),
]


@pytest.mark.parametrize(("a", "b", "expected"), BOUNDS)
def test_seed0_s2_least_upper_bound(a: str, b: str, expected: str | None) -> None:
    bound = least_upper_bound(parse_type(a), parse_type(b))
    assert (None if bound is None else str(bound)) == expected
    assert least_upper_bound(parse_type(b), parse_type(a)) == bound


SPELLINGS = sorted({t for row in WIDENING for t in row[:2]})


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_spelling_is_read_back(spelled: str) -> None:
    assert str(parse_type(spelled)) == spelled


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(SPELLINGS, 2)))
def test_a_bound_holds_both(a: str, b: str) -> None:
    bound = least_upper_bound(parse_type(a), parse_type(b))
    assert bound is None or (widens(parse_type(a), bound) and widens(parse_type(b), bound))


@pytest.mark.parametrize(
    ("spelled", "message"),
    [
        ("decimal(39,2)", "decimal(39,2) is outside decimal(1..38, 0..precision)"),
        ("decimal(5,6)", "decimal(5,6) is outside decimal(1..38, 0..precision)"),
        ("decimal(10 2)", "`,` expected, found `2`; the form is `decimal(precision, scale)`"),
        ("money(XXX)", "`XXX` is not an ISO 4217 currency code such as EUR or USD"),
        ("array<int64>", "`(` expected, found `<`; the form is `array(T)`"),
        (
            "integer",
            "`integer` is no type; types are int64, float64, string, bool, date, timestamp, uuid, json, "
            "decimal, money, array, map, struct",
        ),
        ("map(int64, int64)", "`string` expected, found `int64`; the form is `map(string, T)`"),
        ("int64 int64", "unexpected `int64` after `int64`"),
    ],
)
def test_a_bad_spelling_says_what_is_accepted(spelled: str, message: str) -> None:
    with pytest.raises(TypeSpellingError) as error:
        parse_type(spelled)
    assert str(error.value) == message
