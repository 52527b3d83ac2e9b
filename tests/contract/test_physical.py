"""Seed 0 §5 C, physical types: what is accepted as each promised type, and what is not."""

from __future__ import annotations

import pyarrow as pa
import pytest

from strata_core.contract.model import ContractField, TableContract
from strata_core.contract.physical import PhysicalFinding, accepted, check_physical, holds
from strata_core.types import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    JSON,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    UUID,
    Decimal,
    Inferred,
    Money,
    parse_type,
)
from strata_core.types.physical import TYPE_KEY, arrow_field, arrow_type

TEXT = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
NOT_TEXT = [pa.binary(), pa.int64(), pa.dictionary(pa.int32(), pa.int64()), pa.null()]
ROWS = [
    ("int64", [pa.int64()], [pa.int32(), pa.uint64(), pa.float64(), pa.decimal128(19, 0), pa.string()]),
    ("float64", [pa.float64()], [pa.float32(), pa.int64()]),
    ("bool", [pa.bool_()], [pa.int8()]),
    ("date", [pa.date32()], [pa.date64(), pa.timestamp("us"), pa.string()]),
    (
        "timestamp",
        [pa.timestamp("us")],
        [
            pa.timestamp("ns"),
            pa.timestamp("ms"),
            pa.timestamp("us", tz="UTC"),
            pa.timestamp("us", tz="Europe/Madrid"),
            pa.date32(),
        ],
    ),
    (
        "decimal(10,2)",
        [pa.decimal128(10, 2)],
        [pa.decimal128(10, 3), pa.decimal128(12, 2), pa.decimal256(10, 2), pa.int64(), pa.float64()],
    ),
    ("money(EUR)", [pa.decimal128(38, 2)], [pa.decimal128(18, 2), pa.float64()]),
    ("string", TEXT, NOT_TEXT),
    ("uuid", TEXT, NOT_TEXT),
    ("json", TEXT, NOT_TEXT),
    (
        "array(int64)",
        [pa.list_(pa.int64()), pa.large_list(pa.int64())],
        [pa.list_(pa.int32()), pa.list_(pa.int64(), 3), pa.int64()],
    ),
    (
        "map(string, int64)",
        [pa.map_(pa.string(), pa.int64())],
        [pa.map_(pa.int64(), pa.int64()), pa.map_(pa.string(), pa.int32())],
    ),
    (
        "struct<a: int64, b: string>",
        [pa.struct([("a", pa.int64()), ("b", pa.large_string())])],
        [
            pa.struct([("b", pa.string()), ("a", pa.int64())]),
            pa.struct([("a", pa.int64())]),
            pa.struct([("a", pa.int32()), ("b", pa.string())]),
        ],
    ),
]


@pytest.mark.parametrize(("promised", "good", "bad"), ROWS, ids=[r[0] for r in ROWS])
def test_seed0_s5c_physical_types_are_exact(promised: str, good: list[pa.DataType], bad: list[pa.DataType]) -> None:
    type_ = parse_type(promised)
    assert arrow_type(type_) in good or holds(arrow_type(type_), type_)
    assert [t for t in good if not holds(t, type_)] == []
    assert [t for t in bad if holds(t, type_)] == []


def findings(
    schema: pa.Schema, *fields: ContractField, closed: bool = False, text: bool = False
) -> list[tuple[str, ...]]:
    found: tuple[PhysicalFinding, ...] = check_physical(schema, TableContract("C", fields, closed=closed), text=text)
    return [(f.code, f.fact.field, f.found, f.fix) for f in found]


def test_seed0_s5c_an_int_where_a_decimal_was_promised_is_e080() -> None:
    schema = pa.schema([("amount", pa.int64())])
    assert findings(schema, ContractField("amount", Decimal(10, 2))) == [
        (
            "E080",
            "amount",
            "int64",
            "cast it to decimal(10,2) where the data is made: accepted is decimal128(10, 2), exactly",
        )
    ]


def test_seed0_s5c_a_missing_column_is_e084_and_offers_a_near_name() -> None:
    schema = pa.schema([("Amount", pa.int64())])
    assert findings(schema, ContractField("amount", INT64), ContractField("zone", STRING)) == [
        (
            "E084",
            "amount",
            "no such column",
            "is it the column `Amount`? Name it `amount`, or take it out of the contract",
        ),
        ("E084", "zone", "no such column", "write `zone` into the data, or take it out of the contract"),
    ]


def test_seed0_s5c_two_columns_of_one_name_are_e080() -> None:
    schema = pa.schema([("a", pa.int64()), ("a", pa.int64())])
    assert findings(schema, ContractField("a", INT64)) == [
        ("E080", "a", "2 columns of this name", "give each column its own name")
    ]


def test_further_columns_matter_only_to_a_closed_contract() -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("c", pa.int64())])
    assert findings(schema, ContractField("a", INT64)) == []
    assert findings(schema, ContractField("a", INT64), closed=True) == [
        ("E088", "the table", "`b`, `c`", "leave them out of the data, or promise them in the contract")
    ]


def test_seed0_s1_money_of_another_currency_is_e080() -> None:
    schema = pa.schema([arrow_field("x", Inferred(Money("USD"), False))])
    assert findings(schema, ContractField("x", Money("EUR"))) == [
        (
            "E080",
            "x",
            "money(USD) (as decimal128(38, 2))",
            "cast it to money(EUR) where the data is made: accepted is decimal128(38, 2) of EUR",
        )
    ]
    assert findings(schema, ContractField("x", Money("USD"))) == []


@pytest.mark.parametrize("spelled", [b"money(EUR", b"\xff\xfe", b"array(" * 5000])
def test_metadata_that_spells_no_type_is_not_believed(spelled: bytes) -> None:
    schema = pa.schema([pa.field("x", pa.int64(), metadata={TYPE_KEY: spelled})])
    ((code, field, found, _),) = findings(schema, ContractField("x", INT64))
    assert (code, field) == ("E080", "x")
    assert len(found) < 100


def test_a_field_of_unknown_type_is_kept_by_no_data() -> None:
    ((code, field, _, _),) = findings(pa.schema([("x", pa.int64())]), ContractField("x", UNKNOWN))
    assert (code, field) == ("E080", "x")


def test_nested_nulls_in_the_metadata_are_no_finding_because_they_are_counted() -> None:
    schema = pa.schema([arrow_field("x", Inferred(parse_type("array(int64)"), False))])
    assert findings(schema, ContractField("x", parse_type("array(int64 nonnull)"))) == []


def test_csv_has_columns_but_no_types() -> None:
    schema = pa.schema([("a", pa.string())])
    assert findings(schema, ContractField("a", INT64), ContractField("b", INT64), text=True) == [
        ("E084", "b", "no such column", "write `b` into the data, or take it out of the contract")
    ]


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (INT64, "accepted is int64"),
        (FLOAT64, "accepted is double"),
        (BOOL, "accepted is bool"),
        (DATE, "accepted is date32[day]"),
        (TIMESTAMP, "accepted is timestamp[us] without a time zone, holding UTC"),
        (STRING, "accepted is string, large_string, string_view or dictionary-encoded text"),
        (UUID, "accepted is string, large_string, string_view or dictionary-encoded text"),
        (JSON, "accepted is string, large_string, string_view or dictionary-encoded text"),
        (parse_type("array(int64)"), "accepted is a list or large_list; of its elements, accepted is int64"),
        (parse_type("map(string, bool)"), "accepted is a map from text; of its values, accepted is bool"),
        (parse_type("struct<a: int64, b: bool>"), "accepted is a struct of a, b, in this order"),
        (UNKNOWN, "its declared type was never resolved"),
    ],
)
def test_the_fix_says_what_is_accepted(type_: object, text: str) -> None:
    assert accepted(type_) == text
