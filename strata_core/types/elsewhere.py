"""Names that functions and types have in other languages, and what they are called here: one table each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("nvl", "ifnull", "fillna"), "coalesce(x, y)"),
        **dict.fromkeys(("iff", "iif", "where"), "if(condition, a, b)"),
        **dict.fromkeys(("len", "char_length", "strlen"), "length(x)"),
        **dict.fromkeys(("substr", "mid"), "substring(x, 1, 3)"),
        **dict.fromkeys(("instr", "charindex", "strpos"), "position(x, part)"),
        **dict.fromkeys(("dateadd", "timestampadd", "timedelta"), "date_add(x, days: 1)"),
        **dict.fromkeys(("datediff", "timestampdiff"), "date_diff(from, to, day)"),
        **dict.fromkeys(("extract", "date_part", "datepart"), "year(x)"),
        **dict.fromkeys(("mean", "average"), "avg(x)"),
        **dict.fromkeys(("nunique", "count_distinct", "approx_count_distinct"), "count(distinct x)"),
        **dict.fromkeys(("string_agg", "listagg", "group_concat"), 'array_join(array_agg(x), ", ")'),
        **dict.fromkeys(("std", "stdev", "stddev_samp"), "stddev(x)"),
        **dict.fromkeys(("var", "var_samp"), "variance(x)"),
        **dict.fromkeys(("collect", "collect_list", "array_collect"), "array_agg(x)"),
        "concat_ws": 'array_join(list(x, y), ", ")',
        **dict.fromkeys(("safe_cast", "to_number", "to_decimal", "numeric"), 'try_cast(x, "decimal(18,2)")'),
        **dict.fromkeys(("str", "varchar", "text", "to_char", "to_string"), 'cast(x, "string")'),
        **dict.fromkeys(("int", "integer", "bigint", "to_int", "toint"), 'cast(x, "int64")'),
        **dict.fromkeys(("float", "double", "to_float", "todouble"), 'cast(x, "float64")'),
        **dict.fromkeys(("boolean", "to_bool"), 'cast(x, "bool")'),
        "to_timestamp": 'cast(x, "timestamp")',
        **dict.fromkeys(("strftime", "date_format", "format_date", "format_datetime"), 'cast(x, "string")'),
        **dict.fromkeys(("isna", "isnull"), "x is none"),
        **dict.fromkeys(("notna", "notnull", "not_null", "isnotnull"), "x is not none"),
        **dict.fromkeys(("unique", "is_unique"), "count(distinct x) == row_count"),
        "accepted_values": 'x in ["a", "b"]',
        **dict.fromkeys(("relationships", "references", "foreign_key"), "x in other.id"),
        **dict.fromkeys(("decode", "switch"), "case(condition, value, …, otherwise)"),
    }
)
"""By name in lower case: a call that does it."""

TYPES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("text", "varchar", "char", "str", "nvarchar", "utf8"), "string"),
        **dict.fromkeys(("int", "integer", "bigint", "smallint", "tinyint", "int32", "long", "number"), "int64"),
        **dict.fromkeys(("float", "double", "real", "float32"), "float64"),
        **dict.fromkeys(("numeric", "dec"), "decimal(18,2)"),
        **dict.fromkeys(("boolean", "bit"), "bool"),
        **dict.fromkeys(("datetime", "timestamptz", "time"), "timestamp"),
        **dict.fromkeys(("jsonb", "variant", "object"), "json"),
        "list": "array(string)",
        "dict": "map(string, string)",
    }
)
"""By name in lower case: the type that holds the same values."""
