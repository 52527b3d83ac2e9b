"""Column types between Strata and the standard: a logical type, and the spelling as the physical one."""

from __future__ import annotations

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


def logical(spelled: str) -> str | None:
    """The logical type of a Strata type; None where `spelled` is none.

    >>> logical("decimal(10,2)"), logical("array(string)"), logical("int65")
    ('number', 'array', None)
    """
    try:
        return _LOGICAL.get(type(parse_type(spelled)))
    except TypeSpellingError:
        return None


def strata(logical_type: str | None, physical: str | None) -> str | None:
    """The Strata type of a column with these types; None where none is meant. The physical one counts where it says
    more and does not contradict.

    >>> strata("number", "NUMERIC(12,2)"), strata("integer", None), strata("string", "decimal(10, 2)")
    ('decimal(12,2)', 'int64', 'string')
    """
    for spelled in (physical, strata_type(physical)):
        if spelled is not None and (found := logical(spelled)) is not None and logical_type in (None, found):
            return spelled
    return _FROM_LOGICAL.get(logical_type) if logical_type is not None else None
