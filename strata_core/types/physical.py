"""How value types lie in Arrow and Parquet: the one mapping that engines, store and write pin share.

Money is decimal128(38,2) with its currency in the field's metadata; uuid and json are text with their
type in the metadata, so that any reader of Parquet can use them.
"""

from __future__ import annotations

import pyarrow as pa

from .inferred import Inferred
from .values import (
    MONEY_SCALE,
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


def arrow_field(name: str, inferred: Inferred) -> pa.Field:
    """The Arrow field of a column, its Strata type spelled in the metadata."""
    return pa.field(name, arrow_type(inferred.type), inferred.nullable, {TYPE_KEY: str(inferred.type).encode()})
