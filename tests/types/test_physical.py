"""How value types lie in Arrow: the one mapping that engines, store and write pin share."""

from __future__ import annotations

import pyarrow as pa
import pytest

from strata_core.types import Inferred, parse_type
from strata_core.types.physical import arrow_field, arrow_type, widens_physically

LAYOUT = [
    ("int64", pa.int64()),
    ("float64", pa.float64()),
    ("decimal(10,2)", pa.decimal128(10, 2)),
    ("string", pa.string()),
    ("bool", pa.bool_()),
    ("date", pa.date32()),
    ("timestamp", pa.timestamp("us")),
    ("uuid", pa.string()),
    ("json", pa.string()),
    ("array(int64 nonnull)", pa.list_(pa.field("element", pa.int64(), False))),
    ("map(string, date)", pa.map_(pa.string(), pa.date32())),
    ("struct<a: int64 nonnull>", pa.struct([pa.field("a", pa.int64(), False)])),
]


@pytest.mark.parametrize(("spelled", "physical"), LAYOUT, ids=[row[0] for row in LAYOUT])
def test_each_type_has_one_layout(spelled: str, physical: pa.DataType) -> None:
    assert arrow_type(parse_type(spelled)) == physical


def test_seed0_s1_money_is_a_decimal_of_38_and_2_refined_by_its_currency() -> None:
    field = arrow_field("paid", Inferred(parse_type("money(EUR)"), nullable=False))
    assert (field.type, field.nullable) == (pa.decimal128(38, 2), False)
    assert field.metadata == {b"strata.type": b"money(EUR)"}


WIDER = [
    (pa.int32(), pa.int64(), True),
    (pa.uint32(), pa.int64(), True),
    (pa.uint64(), pa.int64(), False),
    (pa.float32(), pa.float64(), True),
    (pa.int64(), pa.float64(), False),
    (pa.decimal128(9, 2), pa.decimal128(10, 2), True),
    (pa.decimal128(10, 3), pa.decimal128(10, 2), False),
    (pa.int64(), pa.decimal128(38, 2), False),
    (pa.large_string(), pa.string(), True),
    (pa.dictionary(pa.int8(), pa.string()), pa.string(), True),
    (pa.timestamp("s"), pa.timestamp("us"), True),
    (pa.timestamp("us", "UTC"), pa.timestamp("us"), False),
    (pa.timestamp("us"), pa.date32(), False),
    (pa.list_(pa.int32()), pa.list_(pa.int64()), True),
    (pa.list_(pa.string()), pa.list_(pa.int64()), False),
    (pa.struct([("a", pa.int32())]), pa.struct([("a", pa.int64())]), True),
    (pa.struct([("b", pa.int32())]), pa.struct([("a", pa.int64())]), False),
    (pa.null(), pa.int64(), True),
]


@pytest.mark.parametrize(("given", "wanted", "expected"), WIDER, ids=[f"{g} as {w}" for g, w, _ in WIDER])
def test_data_is_read_as_a_wider_type_where_no_value_is_lost(
    given: pa.DataType, wanted: pa.DataType, expected: bool
) -> None:
    assert widens_physically(given, wanted) is expected
