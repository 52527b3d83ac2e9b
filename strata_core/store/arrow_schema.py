"""Arrow types as the store keeps them: one storage type per logical type, and their spelling in JSON.

Engines hand over one and the same column as `string`, `large_string`, `string_view` or a dictionary; the
store keeps one of them, so that neither files nor digests depend on the engine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from types import MappingProxyType

import pyarrow as pa

from ..diagnostics import Diagnostic, StrataError
from .document import JSON
from .manifest import Field

_PLAIN: Mapping[str, pa.DataType] = MappingProxyType(
    {
        str(t): t
        for t in (
            *(pa.bool_(), pa.string(), pa.binary(), pa.date32(), pa.uuid()),
            *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
            *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
            *(pa.float32(), pa.float64()),
            *(pa.time32("ms"), pa.time64("us"), pa.time64("ns")),
            *(pa.duration(unit) for unit in ("ms", "us", "ns")),
        )
    }
)
"""Stored types without parameters, by their Arrow spelling."""

_PARAMETRIC: tuple[tuple[re.Pattern[str], Callable[..., pa.DataType]], ...] = (
    (re.compile(r"decimal128\((\d+), (-?\d+)\)"), lambda p, s: pa.decimal128(int(p), int(s))),
    (re.compile(r"decimal256\((\d+), (-?\d+)\)"), lambda p, s: pa.decimal256(int(p), int(s))),
    (re.compile(r"fixed_size_binary\[(\d+)\]"), lambda width: pa.binary(int(width))),
    (re.compile(r"timestamp\[(ms|us|ns)\]"), pa.timestamp),
    (re.compile(r"timestamp\[(ms|us|ns), tz=(.+)\]"), pa.timestamp),
)
"""Stored types with parameters: their Arrow spelling and what it builds."""

_STORED_AS: Mapping[pa.DataType, pa.DataType] = MappingProxyType(
    {
        pa.large_string(): pa.string(),
        pa.string_view(): pa.string(),
        pa.large_binary(): pa.binary(),
        pa.binary_view(): pa.binary(),
        pa.float16(): pa.float32(),
        pa.date64(): pa.date32(),
        pa.time32("s"): pa.time32("ms"),
        pa.duration("s"): pa.duration("ms"),
    }
)
"""Types that are kept as another one with the same values."""


def stored_schema(schema: pa.Schema) -> pa.Schema:
    """`schema` with the types that the store keeps; E080 names the columns that have none.

    Names are unique (E023): Parquet would keep both columns, and no reader could tell them apart.
    """
    twice = sorted(name for name, count in Counter(schema.names).items() if count > 1)
    if twice:
        names = ", ".join(twice)
        raise StrataError(Diagnostic("E023", f"column {names} appears twice", fix="give each column its own name"))
    return pa.schema([_stored_field(f, f.name) for f in schema], _sorted_metadata(schema.metadata))


def _stored_field(field: pa.Field, path: str) -> pa.Field:
    return pa.field(field.name, _stored_type(field.type, path), field.nullable, _sorted_metadata(field.metadata))


def _sorted_metadata(metadata: dict[bytes, bytes] | None) -> dict[bytes, bytes] | None:
    return dict(sorted(metadata.items())) if metadata else None


def _stored_type(type_: pa.DataType, path: str) -> pa.DataType:
    types = pa.types
    if type_ in _STORED_AS:
        return _STORED_AS[type_]
    if isinstance(type_, pa.JsonType):
        return pa.string()
    if types.is_dictionary(type_):
        return _stored_type(type_.value_type, path)
    if types.is_decimal(type_) and not types.is_decimal256(type_):
        return pa.decimal128(type_.precision, type_.scale)
    if types.is_timestamp(type_) and type_.unit == "s":
        return pa.timestamp("ms", type_.tz)
    if types.is_map(type_):
        key, item = _stored_field(type_.key_field, path), _stored_field(type_.item_field, path)
        return pa.map_(key, item)
    if types.is_fixed_size_list(type_):
        return pa.list_(_stored_field(type_.value_field, path), type_.list_size)
    if types.is_list(type_) or types.is_large_list(type_):
        return pa.list_(_stored_field(type_.value_field, path))
    if types.is_struct(type_) and type_.num_fields:  # Parquet has none without fields
        return pa.struct([_stored_field(f, f"{path}.{f.name}") for f in type_])
    if _plain_type(str(type_)) is None:
        raise StrataError(
            Diagnostic(
                "E080",
                f"column {path} has the type {type_}, which the store does not keep",
                fix="cast the column to a type that a contract can name",
                field_path=path,
            )
        )
    return type_


def _plain_type(spelling: str) -> pa.DataType | None:
    if spelling in _PLAIN:
        return _PLAIN[spelling]
    for pattern, build in _PARAMETRIC:
        if match := pattern.fullmatch(spelling):
            return build(*match.groups())
    return None


def fields_of(schema: pa.Schema) -> tuple[Field, ...]:
    """A stored schema in the manifest's terms."""
    return tuple(
        Field(
            f.name,
            _spell(f.type),
            f.nullable,
            MappingProxyType({k.decode(): v.decode() for k, v in (f.metadata or {}).items()}),
        )
        for f in schema
    )


def schema_of(fields: tuple[Field, ...]) -> pa.Schema:
    """The Arrow schema that `fields_of` spelled; `ValueError` for a type that it never writes."""
    return pa.schema([pa.field(f.name, _read(f.type), f.nullable, dict(f.metadata) or None) for f in fields])


def _spell(type_: pa.DataType) -> JSON:
    types = pa.types
    if types.is_map(type_):
        return {"map": [_spell_child(type_.key_field), _spell_child(type_.item_field)]}
    if types.is_fixed_size_list(type_):
        return {"list": _spell_child(type_.value_field), "size": type_.list_size}
    if types.is_list(type_):
        return {"list": _spell_child(type_.value_field)}
    if types.is_struct(type_):
        return {"struct": [_spell_child(f) for f in type_]}
    return str(type_)


def _spell_child(field: pa.Field) -> JSON:
    return {"name": field.name, "type": _spell(field.type), "nullable": field.nullable}


def _read(document: JSON) -> pa.DataType:
    match document:
        case str(spelling) if (plain := _plain_type(spelling)) is not None:
            return plain
        case {"map": [key, item]}:
            return pa.map_(_read_child(key), _read_child(item))
        case {"list": child, "size": int(size)}:
            return pa.list_(_read_child(child), size)
        case {"list": child}:
            return pa.list_(_read_child(child))
        case {"struct": list(children)}:
            return pa.struct([_read_child(child) for child in children])
        case _:
            raise ValueError(f"not a stored type: {document!r}")


def _read_child(document: JSON) -> pa.Field:
    match document:
        case {"name": str(name), "type": type_, "nullable": bool(nullable)}:
            return pa.field(name, _read(type_), nullable)
        case _:
            raise ValueError(f"not a field: {document!r}")
