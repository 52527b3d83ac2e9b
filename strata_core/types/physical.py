"""How value types lie in Arrow and Parquet: the one mapping that engines, store and write pin share.

Money is decimal128(38,2) with its currency in the field's metadata; uuid and json are text with their
type in the metadata, so that any reader of Parquet can use them.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from .inferred import Inferred
from .values import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    MONEY_SCALE,
    STRING,
    TIMESTAMP,
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
    StructField,
    Timestamp,
    Unknown,
    Uuid,
    ValueType,
)

TYPE_KEY = b"strata.type"


def arrow_type(type_: ValueType) -> pa.DataType:
    """The Arrow type that holds values of `type_`."""
    match type_:
        case Int64():
            return pa.int64()
        case Float64():
            return pa.float64()
        case Decimal():
            return pa.decimal128(type_.precision, type_.scale)
        case Money():
            return pa.decimal128(38, MONEY_SCALE)
        case String() | Uuid() | Json():
            return pa.string()
        case Bool():
            return pa.bool_()
        case Date():
            return pa.date32()
        case Timestamp():
            return pa.timestamp("us")
        case Array():
            return pa.list_(pa.field("element", arrow_type(type_.element), type_.element_nullable))
        case Map():
            value = pa.field("value", arrow_type(type_.value), type_.value_nullable)
            return pa.map_(pa.field("key", pa.string(), False), value)
        case Struct():
            return pa.struct([pa.field(f.name, arrow_type(f.type), f.nullable) for f in type_.fields])
        case Unknown():
            raise ValueError("a finished relation holds no unknown type")


def value_type(given: pa.DataType) -> ValueType | None:
    """The narrowest type that holds every value of Arrow type `given`, read as `widens_physically` allows; None where
    there is none.

    >>> str(value_type(pa.int16())), str(value_type(pa.list_(pa.string()))), value_type(pa.timestamp("us", "UTC"))
    ('int64', 'array(string)', None)
    """
    types = pa.types
    if isinstance(given, pa.ExtensionType):
        return None
    if types.is_dictionary(given):
        return value_type(given.value_type)
    if types.is_list(given) or types.is_large_list(given):
        element = value_type(given.value_type)
        return None if element is None else Array(element)
    if types.is_map(given):
        value = value_type(given.item_type)
        return None if value is None or value_type(given.key_type) != STRING else Map(value)
    if types.is_struct(given):
        fields = [(f.name, value_type(f.type)) for f in given]
        known = tuple(StructField(name, type_) for name, type_ in fields if type_ is not None)
        return Struct(known) if len(known) == len(fields) > 0 else None
    if types.is_decimal128(given):
        return Decimal(given.precision, given.scale) if 0 <= given.scale <= given.precision else None
    if types.is_timestamp(given) and given.unit == "ns":
        return None  # a value may be finer than a microsecond
    return next((type_ for type_ in _SIMPLE if widens_physically(given, arrow_type(type_))), None)


def arrow_field(name: str, inferred: Inferred) -> pa.Field:
    """The Arrow field of a column, its Strata type spelled in the metadata."""
    return pa.field(name, arrow_type(inferred.type), inferred.nullable, {TYPE_KEY: str(inferred.type).encode()})


def widens_physically(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether data of Arrow type `given` is read as `wanted` without losing a value."""
    types = pa.types
    if given == wanted:
        return True
    if isinstance(given, pa.ExtensionType):
        return bool(types.is_string(wanted))
    if types.is_null(given):
        return True
    if types.is_dictionary(given):
        return widens_physically(given.value_type, wanted)
    if types.is_list(wanted):
        lists = types.is_list(given) or types.is_large_list(given)
        return lists and widens_physically(given.value_type, wanted.value_type)
    if types.is_map(wanted):
        return types.is_map(given) and widens_physically(given.item_type, wanted.item_type)
    if types.is_struct(wanted):
        return (
            types.is_struct(given)
            and [f.name for f in given] == [f.name for f in wanted]
            and all(widens_physically(g.type, w.type) for g, w in zip(given, wanted, strict=True))
        )
    if types.is_decimal(wanted):
        whole = wanted.precision - wanted.scale
        return bool(types.is_decimal(given) and given.scale <= wanted.scale and given.precision - given.scale <= whole)
    return any(is_wanted(wanted) and is_given(given) for is_wanted, is_given in _WIDER)


_SIMPLE: tuple[ValueType, ...] = (INT64, FLOAT64, STRING, BOOL, DATE, TIMESTAMP)
_WIDER: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType], bool]], ...] = (
    (pa.types.is_int64, lambda given: bool(pa.types.is_integer(given)) and given != pa.uint64()),
    (pa.types.is_float64, pa.types.is_floating),
    (pa.types.is_string, pa.types.is_large_string),
    (pa.types.is_string, pa.types.is_string_view),
    (pa.types.is_timestamp, lambda given: bool(pa.types.is_timestamp(given)) and given.tz is None),
    (pa.types.is_date32, pa.types.is_date64),
)
