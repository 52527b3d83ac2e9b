"""SQL types, as warehouses and tools spell them, in Strata's terms."""

from __future__ import annotations

import re

_SPELLINGS = {
    "int64": "bigint int int2 int4 int8 integer smallint tinyint long hugeint int64 int32 int16 ubigint number byteint "
    "serial bigserial smallserial",
    "string": "varchar text string char character bpchar nvarchar nchar character_varying enum",
    "float64": "double float real float4 float8 float64 float32 double_precision",
    "bool": "bool boolean",
    "timestamp": "timestamp datetime timestamptz timestamp_ntz timestamp_tz timestamp_ltz timestamp_with_time_zone "
    "timestamp_without_time_zone",
    "date": "date",
    "uuid": "uuid",
    "json": "json jsonb variant object super",
    "array(json)": "array",
}
SIMPLE = {spelling: type_ for type_, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_DECIMALS = frozenset({"decimal", "numeric", "number", "dec", "bignumeric"})
_LIST = re.compile(r"(?:array|list)\s*<(.*)>", re.IGNORECASE | re.DOTALL)
_PRECISE = re.compile(r"^(timestamp|time)\s*\([0-9]+\)\s*(with.*)$", re.IGNORECASE)
_FORM = re.compile(r"([a-z_0-9 ]+?)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?((?:\[\])*)", re.IGNORECASE)


def strata_type(sql: str | None) -> str | None:
    """The Strata type that a SQL type means; None where there is none.

    >>> strata_type("NUMERIC(10, 2)"), strata_type("character varying(20)"), strata_type("BIGINT[]")
    ('decimal(10,2)', 'string', 'array(int64)')
    >>> strata_type("ARRAY<INT64>"), strata_type("NUMBER(38,0)"), strata_type("timestamp(6) with time zone")
    ('array(int64)', 'int64', 'timestamp')
    >>> strata_type("geometry") is None
    True
    """
    if sql and (inner := _LIST.fullmatch(sql.strip())) is not None:
        element = strata_type(inner[1])
        return f"array({element})" if element else None
    match = _FORM.fullmatch(_PRECISE.sub(r"\1 \2", sql.strip())) if sql else None
    if match is None:
        return None
    name = re.sub(r"\s+", "_", match[1].lower())
    if name == "number" and match[2] and int(match[3] or 0) == 0:
        found: str | None = "int64"  # what Snowflake calls every integer
    elif name in _DECIMALS and match[2]:
        precision, scale = int(match[2]), int(match[3] or 0)
        found = f"decimal({precision},{scale})" if 1 <= precision <= 38 and scale <= precision else None
    else:
        found = SIMPLE.get(name)
    for _ in range(match[4].count("[]")):
        found = f"array({found})" if found else None
    return found
