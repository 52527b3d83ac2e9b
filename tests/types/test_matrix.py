"""Seed 0 §1 and §2 to the letter: each operator on each pair of types, and each aggregate on each type, whole tables.

What stands in no row is no operation: its code is that of the operator.
"""

from __future__ import annotations

import itertools

import pytest

from .rules import resolve

TYPES = (
    *("int64", "float64", "decimal(9,2)", "string", "bool", "date", "timestamp", "uuid", "json"),
    *("money(EUR)", "money(USD)", "array(int64)"),
)
NUMBERS = ("int64", "float64", "decimal(9,2)")
FLOAT_PAIRS = dict.fromkeys(itertools.product(NUMBERS, NUMBERS), "float64")
TWO_CURRENCIES = {("money(EUR)", "money(USD)"): "E052", ("money(USD)", "money(EUR)"): "E052"}
ONE_CURRENCY = {(c, c): c for c in ("money(EUR)", "money(USD)")}
ROUNDED = {(c, n): "E057" for c in ("money(EUR)", "money(USD)") for n in ("int64", "decimal(9,2)")}
COMPARED = dict.fromkeys(itertools.product(NUMBERS, NUMBERS), "bool") | {
    (t, t): "bool" for t in ("string", "date", "timestamp", "uuid", "money(EUR)", "money(USD)")
}
SUMS = {
    **FLOAT_PAIRS,
    ("int64", "int64"): "int64",
    ("decimal(9,2)", "decimal(9,2)"): "decimal(10,2)",
    **ONE_CURRENCY,
    **TWO_CURRENCIES,
}
OPERATORS: dict[str, tuple[str, dict[tuple[str, str], str]]] = {
    "add": ("E050", {**SUMS, ("string", "string"): "string"}),
    "subtract": ("E050", SUMS),
    "multiply": (
        "E050",
        {
            **FLOAT_PAIRS,
            ("int64", "int64"): "int64",
            ("decimal(9,2)", "decimal(9,2)"): "decimal(18,4)",
            **TWO_CURRENCIES,
            **ROUNDED,
            **{(n, c): "E057" for c, n in ROUNDED},
        },
    ),
    # No integer division; a divisor that may be zero makes the result nullable.
    "divide": (
        "E050",
        {
            **dict.fromkeys(FLOAT_PAIRS, "float64?"),
            **dict.fromkeys(ONE_CURRENCY, "float64?"),
            **TWO_CURRENCIES,
            **ROUNDED,
        },
    ),
    "modulo": (
        "E050",
        {**dict.fromkeys(FLOAT_PAIRS, "float64?"), ("int64", "int64"): "int64?", **TWO_CURRENCIES},
    ),
    "concat_op": ("E050", {("string", "string"): "string"}),
    **{name: ("E051", {**COMPARED, ("bool", "bool"): "bool", **TWO_CURRENCIES}) for name in ("eq", "ne")},
    **{name: ("E051", {**COMPARED, **TWO_CURRENCIES}) for name in ("lt", "le", "gt", "ge")},
    "and": ("E053", {("bool", "bool"): "bool"}),
    "or": ("E053", {("bool", "bool"): "bool"}),
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize(("left", "right"), list(itertools.product(TYPES, TYPES)))
def test_seed0_s2_each_operator_on_each_pair_of_types(name, left, right):
    code, readings = OPERATORS[name]
    expected = readings.get((left, right), code)
    nullable = expected if expected.endswith("?") or expected.startswith("E") else f"{expected}?"
    assert [resolve(name, (a, b)) for a in (left, f"{left}?") for b in (right, f"{right}?")] == [
        expected,
        nullable,
        nullable,
        nullable,
    ]


ORDERED = (*NUMBERS, "string", "bool", "date", "timestamp", "uuid", "money(EUR)", "money(USD)")
AGGREGATES: dict[str, dict[str, str]] = {
    "count": dict.fromkeys(TYPES, "int64"),
    "sum": {t: f"{t}?" for t in (*NUMBERS, "money(EUR)", "money(USD)")},
    "avg": {**dict.fromkeys(NUMBERS, "float64?"), "money(EUR)": "money(EUR)?", "money(USD)": "money(USD)?"},
    "min": {t: f"{t}?" for t in ORDERED},
    "max": {t: f"{t}?" for t in ORDERED},
}


@pytest.mark.parametrize("name", AGGREGATES)
@pytest.mark.parametrize("type_", TYPES)
def test_seed0_s2_each_aggregate_on_each_type(name, type_):
    expected = AGGREGATES[name].get(type_, "E060")
    assert [resolve(name, (type_,)), resolve(name, (f"{type_}?",))] == [expected, expected]


UNARY: dict[str, tuple[str, tuple[str, ...], str | None]] = {
    "negate": ("E050", (*NUMBERS, "money(EUR)", "money(USD)"), None),
    "not": ("E053", ("bool",), None),
    "upper": ("E060", ("string",), None),
    "lower": ("E060", ("string",), None),
    "is_null": ("", TYPES, "bool"),
    "is_not_null": ("", TYPES, "bool"),
}
"""The code of what is no operation, the types that have a reading, and the result where it is another type."""


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("type_", TYPES)
def test_seed0_s2_each_operator_of_one_operand_on_each_type(name, type_):
    code, taken, result = UNARY[name]
    read = [result, result] if result else [type_, f"{type_}?"]
    expected = read if type_ in taken else [code, code]
    assert [resolve(name, (type_,)), resolve(name, (f"{type_}?",))] == expected
