"""Casts: DuckDB's own where they mean the same as Strata's (`reference/casts.py`), guarded forms where they do not.

DuckDB reads text leniently (white space, `1_000`, `1.5` as int64, `24:00`), so that text is matched first and a
misfit aborts with the value; a float64 becomes a decimal by way of its shortest spelling.
"""

from __future__ import annotations

from sqlglot import exp

from ...types import (
    Array,
    Bool,
    Date,
    Decimal,
    Float64,
    Int64,
    Json,
    Money,
    String,
    Timestamp,
    Unknown,
    Uuid,
    ValueType,
)
from . import sql
from .sql import SqlExpr

_YEAR = "(000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_DATE = rf"{_YEAR}-[0-9]{{2}}-[0-9]{{2}}"
_NUMBER = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?Z?"

PATTERNS: tuple[tuple[type, str, str], ...] = (
    (Int64, "[+-]?[0-9]+", "int64, which is written as digits"),
    (
        Float64,
        f"(?i)({_NUMBER}(e[+-]?[0-9]+)?|[+-]?inf(inity)?|nan)",
        "float64, which is written as in `-1.5` or `1e9`",
    ),
    (Decimal, _NUMBER, "decimal, which is written as in `-1.50`"),
    (Money, _NUMBER, "decimal, which is written as in `-1.50`"),
    (Bool, "(?i)true|false", "bool, which is written `true` or `false`"),
    (Date, _DATE, "date, which is written YYYY-MM-DD"),
    (Timestamp, f"{_DATE}([ T]{_TIME})?", "timestamp, which is written YYYY-MM-DD HH:MM:SS"),
    (
        Uuid,
        "(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "uuid, which is written as 32 hexadecimal digits in five groups",
    ),
)
"""How text spells each type, as `reference/casts.py` says, and what a misfit is told."""


def cast_value(operand: SqlExpr, source: ValueType, target: ValueType, *, safe: bool = False) -> SqlExpr:
    """`operand` of type `source` as a value of `target`; null where it does not fit if `safe`, else an error."""
    match source, target:
        case Unknown(), _:
            return sql.null(sql.sql_type(target))
        case String(), _ if not isinstance(target, String):
            return _read(operand, target, safe)
        case Float64(), String():
            # No function tells -0.0 from 0.0, so its text is that of 0.0.
            return sql.cast(exp.Add(this=sql.paren(operand), expression=sql.float_literal(0.0)), sql.VARCHAR)
        case Decimal(whole_digits=0), String():
            # DuckDB writes `.5`, which is not even JSON; every other decimal has a digit before its point.
            text = sql.cast(operand, sql.VARCHAR)
            return sql.fn("regexp_replace", text, sql.string(r"^(-?)\."), sql.string(r"\10."))
        case Float64(), Decimal(whole_digits=0):
            return sql.once(
                "text", sql.cast(operand, sql.VARCHAR), lambda t: _plain(_without_exponent(t), target, safe)
            )
        case Float64(), (Decimal() | Money()):
            return _plain(sql.cast(operand, sql.VARCHAR), target, safe)
        case Array(), Array() if sql.sql_type(source) != sql.sql_type(target) or source.element != target.element:
            name = f"{sql.RESERVED}element"
            element = cast_value(sql.column(name), source.element, target.element, safe=safe)
            elements = sql.fn("list_transform", operand.copy(), sql.lambda_of([name], element))
            return _if_all_fit(operand, elements, name, element) if safe else elements
        case _ if sql.sql_type(source) == sql.sql_type(target):
            return operand
        case _:
            return _plain(operand, target, safe)


def _without_exponent(text: SqlExpr) -> SqlExpr:
    """The text of a float64 with its zeros: DuckDB reads `1e-05` as no decimal that has no whole digits."""
    sign = sql.fn("regexp_extract", text.copy(), sql.string("^-?"))
    exponent = sql.cast(sql.fn("regexp_extract", text.copy(), sql.string("[0-9]+$")), sql.BIGINT)
    zeros = sql.fn("repeat", sql.string("0"), exp.Sub(this=exponent, expression=sql.number(1)))
    digits = sql.fn("regexp_replace", text.copy(), sql.string("[-.]|e.*"), sql.string(""), sql.string("g"))
    small = sql.fn("contains", text.copy(), sql.string("e-"))
    return sql.when((small, sql.join(sign, sql.string("0."), zeros, digits)), otherwise=text.copy())


def _if_all_fit(array: SqlExpr, elements: SqlExpr, name: str, element: SqlExpr) -> SqlExpr:
    """`elements`, to which those of `array` are cast; null where one of them does not fit."""
    misfit = sql.both(sql.negated(sql.is_null(sql.column(name))), sql.is_null(sql.paren(element.copy())))
    misfits = sql.fn("list_filter", array.copy(), sql.lambda_of([name], misfit))
    return sql.when((exp.EQ(this=sql.fn("len", misfits), expression=sql.number(0)), elements))


def _plain(operand: SqlExpr, target: ValueType, safe: bool) -> SqlExpr:
    return (sql.try_cast if safe else sql.cast)(operand, sql.sql_type(target))


def _read(text: SqlExpr, target: ValueType, safe: bool) -> SqlExpr:
    """Text as a value of `target`: the spelling is checked before DuckDB reads it."""
    type_ = sql.sql_type(target)
    if isinstance(target, Json):
        return _checked(text, _is_json(text), text, "JSON", type_, safe)
    for kind, pattern, what in PATTERNS:
        if isinstance(target, kind):
            spelled: SqlExpr = sql.fn("regexp_full_match", text.copy(), sql.string(pattern))
            value: SqlExpr
            match target:
                case Uuid():
                    value = exp.Lower(this=text.copy())
                case Timestamp():
                    value = _plain(sql.fn("rtrim", text.copy(), sql.string("Z")), target, safe)
                case Float64():
                    value = _plain(text.copy(), target, safe)
                    spelled = sql.both(spelled, _not_too_large(text))
                case _:
                    value = _plain(text.copy(), target, safe)
            return _checked(text, spelled, value, what, type_, safe)
    raise ValueError(f"no text spells {target}")


def _checked(text: SqlExpr, spelled: SqlExpr, value: SqlExpr, what: str, type_: exp.DataType, safe: bool) -> SqlExpr:
    if safe:
        return sql.when((spelled, value))
    shown = exp.Left(this=text.copy(), expression=sql.number(60))
    message = sql.join(sql.string("`cast` failed on `"), shown, sql.string(f"`: the value is no {what}"))
    return sql.when(
        (sql.is_null(text.copy()), sql.null(type_)), (spelled, value), otherwise=sql.raise_error(message, type_)
    )


def _not_too_large(text: SqlExpr) -> SqlExpr:
    """DuckDB reads `1e999` as infinity, which only the word spells."""
    infinite = sql.fn("isinf", sql.try_cast(text.copy(), sql.DOUBLE))
    word = sql.fn("regexp_matches", text.copy(), sql.string("(?i)inf"))
    return exp.Paren(this=exp.Or(this=word, expression=sql.negated(sql.fn("coalesce", infinite, exp.false()))))


def _is_json(text: SqlExpr) -> SqlExpr:
    """RFC 8259: DuckDB's reader also takes `NaN`, `Infinity`, comments and trailing commas."""
    bare = sql.fn("regexp_replace", text.copy(), sql.string(r'"([^"\\]|\\.)*"'), sql.string('""'), sql.string("g"))
    words = sql.fn("regexp_matches", bare, sql.string(r"(?i)nan|inf|/|,\s*[\]}]"))
    return sql.both(sql.fn("json_valid", text.copy()), sql.negated(words))
