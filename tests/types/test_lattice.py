from __future__ import annotations

import itertools

import pytest

from strata_core.types import TypeSpellingError, least_upper_bound, parse_type, widens

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
