"""How text spells a value of each type: strictly, without white space around it.

An int64 is `[+-]digits`, a decimal also has a point, a float64 also an exponent, or is `inf`, `infinity`, `nan`; a bool
is `true` or `false`, in any case. A date is `YYYY-MM-DD`; a timestamp a date, or a date, a space or `T`,
`HH:MM[:SS[.ffffff]]` and perhaps `Z`; a uuid has hyphens, in any case; JSON is that of RFC 8259. Each reader raises
`ValueError` that says what is wrong.

And the other way: a value as text, the same in `cast(x, "string")`, in reports and in tables for people.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
import re
from typing import NoReturn

_INT = re.compile(r"[+-]?[0-9]+", re.ASCII)
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)", re.ASCII)
_FLOAT = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf|infinity)|nan", re.ASCII | re.IGNORECASE)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)
_TIME = re.compile(r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?Z?", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def _no(what: str) -> NoReturn:
    raise ValueError(f"the value is no {what}")


def read_int(text: str) -> int:
    """The integer, of any size that a type could hold."""
    if _INT.fullmatch(text) is None:
        _no("int64, which is written as digits")
    return int(text) if len(text) < 4000 else _no("int64")


def read_float(text: str) -> float:
    """The nearest float64."""
    if _FLOAT.fullmatch(text) is None:
        _no("float64, which is written as in `-1.5` or `1e9`")
    number = float(text)
    if math.isinf(number) and "i" not in text.lower():
        _no("float64: it is too large")
    return number


def read_decimal(text: str) -> decimal.Decimal:
    """The exact number."""
    if _DECIMAL.fullmatch(text) is None or len(text) >= 700:
        _no("decimal, which is written as in `-1.50`")
    return decimal.Decimal(text)


def read_bool(text: str) -> bool:
    """The truth value."""
    if text.lower() not in ("true", "false"):
        _no("bool, which is written `true` or `false`")
    return text.lower() == "true"


def read_date(text: str) -> datetime.date:
    """The date.

    >>> read_date("2024-02-29")
    datetime.date(2024, 2, 29)
    """
    match = _DATE.fullmatch(text)
    if match is None:
        _no("date, which is written YYYY-MM-DD")
    return datetime.date(int(match[1]), int(match[2]), int(match[3]))


def read_timestamp(text: str) -> datetime.datetime:
    """The timestamp; a date alone is its midnight.

    >>> read_timestamp("2024-02-29T10:00:00.5Z")
    datetime.datetime(2024, 2, 29, 10, 0, 0, 500000)
    """
    day = read_date(text[:10])
    if len(text) == 10:
        return datetime.datetime(day.year, day.month, day.day)
    match = _TIME.fullmatch(text[11:])
    if match is None or text[10] not in " T":
        _no("timestamp, which is written YYYY-MM-DD HH:MM:SS")
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    fraction = int((match[4] or "").ljust(6, "0"))
    return datetime.datetime(day.year, day.month, day.day, hour, minute, second, fraction)


def read_uuid(text: str) -> str:
    """The uuid in lower case."""
    lower = text.lower()
    if _UUID.fullmatch(lower) is None:
        _no("uuid, which is written as 32 hexadecimal digits in five groups")
    return lower


def read_json(text: str) -> str:
    """The text, which is JSON."""

    def constant(_: str) -> NoReturn:
        _no("JSON value")

    try:
        json.loads(text, parse_constant=constant)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the value is no JSON: {error}") from None
    return text


def text_of(value: object) -> str:
    """The spelling of a value that is neither null nor nested.

    >>> text_of(datetime.datetime(2024, 2, 29, 10, 0, 0, 500000)), text_of(True), text_of(-0.0)
    ('2024-02-29 10:00:00.5', 'true', '0.0')
    """
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value if value != 0 else 0.0)
        case decimal.Decimal():
            return f"{value:f}"
        case datetime.datetime():
            whole = value.replace(microsecond=0).isoformat(sep=" ")
            return f"{whole}.{value.microsecond:06d}".rstrip("0") if value.microsecond else whole
        case datetime.date():
            return value.isoformat()
        case _:
            return str(value)


def shown_text(value: object) -> str:
    """A value for people: `none` for null, nested ones as JSON.

    >>> shown_text(None), shown_text([1, None]), shown_text(decimal.Decimal("1E+2"))
    ('none', '[1, null]', '100')
    """
    if value is None:
        return "none"
    if isinstance(value, list | tuple | dict):
        return json.dumps(json_of(value), ensure_ascii=False)
    return text_of(value)


def json_of(value: object) -> object:
    """A value for `json.dumps`: what JSON cannot hold without loss is text."""
    match value:
        case dict():
            return {k: json_of(v) for k, v in value.items()}
        case list() | tuple():
            return [json_of(v) for v in value]
        case decimal.Decimal():
            return text_of(value)
        case datetime.datetime():
            return text_of(value).replace(" ", "T")
        case datetime.date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return text_of(value)
        case _:
            return value
