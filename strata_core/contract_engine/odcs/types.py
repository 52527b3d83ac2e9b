"""Column types between Strata and the standard: a logical type, the spelling as the physical one, and the parts of
lists, records and maps in `items`, `properties` and `map`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

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
    Uuid,
    ValueType,
)
from ...types.spelling import TypeSpellingError, parse_type
from ..parse.sql_types import strata_type

_LOGICAL: dict[type[ValueType], str] = {
    Int64: "integer",
    Float64: "number",
    Decimal: "number",
    Money: "number",
    String: "string",
    Uuid: "string",
    Bool: "boolean",
    Date: "date",
    Timestamp: "timestamp",
    Json: "object",
    Map: "object",
    Struct: "object",
    Array: "array",
}
_FROM_LOGICAL = {
    "integer": "int64",
    "number": "float64",
    "string": "string",
    "boolean": "bool",
    "date": "date",
    "timestamp": "timestamp",
    "object": "json",
    "map": "json",
}
_LONGEST = 4000
"""Characters of a type that a contract takes."""
_DEEPEST = 16


def logical(spelled: str) -> str | None:
    """The logical type of a Strata type; None where `spelled` is none.

    >>> logical("decimal(10,2)"), logical("array(string)"), logical("int65")
    ('number', 'array', None)
    """
    try:
        return _LOGICAL.get(type(parse_type(spelled)))
    except TypeSpellingError:
        return None


def said_of(spelled: str, version: str) -> dict[str, Any]:
    """What a property says of its type, in a version of the standard.

    >>> said_of("array(int64)", "3.2")["items"]
    {'logicalType': 'integer', 'physicalType': 'int64'}
    """
    try:
        return {**_parts(parse_type(spelled), version), "physicalType": spelled}
    except TypeSpellingError:
        return {"physicalType": spelled}


def _parts(type_: ValueType, version: str) -> dict[str, Any]:
    found: dict[str, Any] = {"logicalType": _LOGICAL[type(type_)]} if type(type_) in _LOGICAL else {}
    match type_:
        case Array(element, nullable):
            found["items"] = _part(element, nullable, version)
        case Struct(fields):
            found["properties"] = [{"name": f.name, **_part(f.type, f.nullable, version)} for f in fields]
        case Map(value, nullable) if version != "3.1":
            found["logicalType"] = "map"
            found["map"] = {"key": {"logicalType": "string"}, "value": _part(value, nullable, version)}
    return found


def _part(type_: ValueType, nullable: bool, version: str) -> dict[str, Any]:
    return {
        **_parts(type_, version),
        "physicalType": str(type_),
        **({} if nullable else {"required": True}),
    }


def strata(said: Mapping[str, Any], depth: int = 0) -> str | None:
    """The Strata type of a property; None where none is meant. A physical type counts where it says more than the
    logical one and does not contradict it, and the parts of a list, record or map where the physical one has none.

    >>> strata({"logicalType": "number", "physicalType": "NUMERIC(12,2)"}), strata({"logicalType": "integer"})
    ('decimal(12,2)', 'int64')
    >>> strata({"logicalType": "string", "physicalType": "decimal(10, 2)"})
    'string'
    >>> strata({"logicalType": "array", "physicalType": "ARRAY", "items": {"logicalType": "date", "required": True}})
    'array(date nonnull)'
    """
    name, physical = said.get("logicalType"), said.get("physicalType")
    asked = name if isinstance(name, str) else None
    physical = physical if isinstance(physical, str) else None
    if physical is not None and _agrees(asked, physical):
        return physical
    whole = _of_parts(asked, said, depth) if depth < _DEEPEST else None
    if whole is not None and len(whole) <= _LONGEST:
        return whole
    if (known := strata_type(physical)) is not None and _agrees(asked, known):
        return known
    return _FROM_LOGICAL.get(asked) if asked is not None else None


def _agrees(asked: str | None, spelled: str) -> bool:
    found = logical(spelled)
    return found is not None and asked in (None, found, "map" if spelled.startswith("map") else found)


def _of_parts(asked: str | None, said: Mapping[str, Any], depth: int) -> str | None:
    """The type that the parts of a property make; None where they make none."""
    match asked, said:
        case "array", {"items": Mapping() as items}:
            inner = _inner(items, depth)
            return f"array({inner})" if inner else None
        case "map", {"map": {"key": {"logicalType": "string"}, "value": Mapping() as value}}:
            inner = _inner(value, depth)
            return f"map(string, {inner})" if inner else None
        case "object", {"properties": [*fields]} if fields:
            found: dict[str, str] = {}
            for field in fields:
                name = field.get("name") if isinstance(field, Mapping) else None
                inner = _inner(field, depth) if isinstance(field, Mapping) else None
                if inner is None or not isinstance(name, str) or not _NAME.fullmatch(name) or name in found:
                    return None
                found[name] = inner
            return f"struct<{', '.join(f'{name}: {inner}' for name, inner in found.items())}>"
    return None


def _inner(said: Mapping[str, Any], depth: int) -> str | None:
    found = strata(said, depth + 1)
    return f"{found} nonnull" if found and said.get("required") is True else found


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
