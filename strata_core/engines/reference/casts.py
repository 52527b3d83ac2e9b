"""Casts: every pair of types that `castable` allows, with one rule for rounding and one spelling for text.

Rounding (design `engines.md`): decimal or float64 to decimal or money goes half away from zero, float64 to int64
half even, decimal to int64 half away. A float64 is read as the shortest decimal that names it, so that
`cast(1.115, "decimal(10,2)")` is 1.12. Text is read as `types.texts` says.

To text: the shortest spelling that reads back; float64 with a point or exponent as Python's `repr`, -0.0 as `0.0`;
a timestamp with a space, its fraction without trailing zeros. All text spelled here is ASCII but for strings.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from typing import NoReturn, TypeVar

from ...types import (
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Int64,
    Json,
    Map,
    Money,
    String,
    Struct,
    Timestamp,
    Unknown,
    Uuid,
    ValueType,
)
from ...types.texts import (
    read_bool,
    read_date,
    read_decimal,
    read_float,
    read_int,
    read_json,
    read_timestamp,
    read_uuid,
    text_of,
)
from .values import EXACT, MisfitError, Value, fit

T = TypeVar("T")


def cast(value: Value, target: ValueType) -> Value:
    """`value` as a value of `target`; null stays null. Raises `MisfitError` where it does not fit.

    >>> from strata_core.types import INT64, STRING, Decimal
    >>> cast(2.5, INT64), cast(1.115, Decimal(10, 2)), cast(-0.0, STRING)
    (2, Decimal('1.12'), '0.0')
    """
    match target, value:
        case _, None:
            return None
        case String(), _:
            return text_of(value)
        case Array(), list():
            return [cast(v, target.element) for v in value]
        case ((Map() | Struct() | Unknown()), _):
            return value
        case Int64(), _:
            return fit(_to_int(value), target)
        case Float64(), _:
            return _to_float(value)
        case ((Decimal() | Money()), _):
            return fit(_to_decimal(value), target)
        case Bool(), str():
            return _read(read_bool, value)
        case Bool(), int():
            return bool(value)
        case Date(), str():
            return _read(read_date, value)
        case Date(), datetime.datetime():
            return value.date()
        case Timestamp(), str():
            return _read(read_timestamp, value)
        case Timestamp(), datetime.date() if not isinstance(value, datetime.datetime):
            return datetime.datetime(value.year, value.month, value.day)
        case Uuid(), str():
            return _read(read_uuid, value)
        case Json(), str():
            return _read(read_json, value)
        case _:
            return value


def _no(what: str) -> NoReturn:
    raise MisfitError(f"the value is no {what}")


def _to_int(value: Value) -> int:
    match value:
        case int():
            return int(value)
        case float():
            if not math.isfinite(value):
                _no("int64")
            return round(value)
        case decimal.Decimal():
            return int(value.to_integral_value(decimal.ROUND_HALF_UP, EXACT))
        case str():
            return _read(read_int, value)
        case _:
            _no("int64, which is written as digits")


def _to_float(value: Value) -> float:
    match value:
        case int() | float() | decimal.Decimal():
            return float(value)
        case str():
            return _read(read_float, value)
        case _:
            _no("float64, which is written as in `-1.5` or `1e9`")


def _to_decimal(value: Value) -> decimal.Decimal:
    match value:
        case int() | decimal.Decimal():
            return decimal.Decimal(value)
        case float():
            if not math.isfinite(value):
                _no("decimal")
            return decimal.Decimal(repr(value))
        case str():
            return _read(read_decimal, value)
        case _:
            _no("decimal, which is written as in `-1.50`")


def _read(reader: Callable[[str], T], text: str) -> T:
    try:
        return reader(text)
    except ValueError as error:
        raise MisfitError(str(error)) from None
