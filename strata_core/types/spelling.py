"""Reading types from their spelling, as in `cast(x, "decimal(10,2)")`; `str(type)` is the inverse."""

from __future__ import annotations

import re
from functools import lru_cache

from .currencies import CURRENCIES, DEFAULT_CURRENCY
from .values import (
    BOOL,
    DATE,
    FLOAT64,
    INT64,
    JSON,
    STRING,
    TIMESTAMP,
    UUID,
    Array,
    Decimal,
    Map,
    Money,
    Struct,
    StructField,
    ValueType,
)

SIMPLE: dict[str, ValueType] = {str(t): t for t in (INT64, FLOAT64, STRING, BOOL, DATE, TIMESTAMP, UUID, JSON)}
FORMS = {
    "decimal": "decimal(precision, scale)",
    "money": "money(EUR)",
    "array": "array(T)",
    "map": "map(string, T)",
    "struct": "struct<name: T, …>",
}
"""How types with parts are written."""
TYPE_NAMES = (*SIMPLE, *FORMS)
_TOKEN = r"\s*([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[(),<>:])"
_MAX_DEPTH = 64


class TypeSpellingError(ValueError):
    """A spelling that is no type; the message says what would be accepted."""


@lru_cache(maxsize=4096)
def parse_type(text: str) -> ValueType:
    """The type that `text` spells; raises `TypeSpellingError`.

    >>> parse_type("array(decimal(10, 2))")
    Array(element=Decimal(precision=10, scale=2), element_nullable=True)
    """
    tokens = _tokens(text)
    type_, rest = _type(tokens, 0, 0)
    if rest != len(tokens):
        raise TypeSpellingError(f"unexpected `{tokens[rest]}` after `{type_}`")
    return type_


def decimal_type(precision: int, scale: int) -> Decimal:
    """A decimal type, or `TypeSpellingError` with the accepted bounds."""
    try:
        return Decimal(precision, scale)
    except ValueError as error:
        raise TypeSpellingError(str(error)) from None


def money_type(currency: str) -> Money:
    """A money type of an ISO 4217 currency, or `TypeSpellingError`."""
    if currency not in CURRENCIES:
        raise TypeSpellingError(f"`{currency}` is not an ISO 4217 currency code such as EUR or USD")
    return Money(currency)


def _tokens(text: str) -> list[str]:
    tokens, position = [], 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = re.compile(_TOKEN).match(stripped, position)
        if match is None:
            raise TypeSpellingError(f"`{text}` is no type: unexpected `{stripped[position]}`")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _type(tokens: list[str], at: int, depth: int) -> tuple[ValueType, int]:
    if at >= len(tokens):
        raise TypeSpellingError(f"a type is missing; types are {', '.join(TYPE_NAMES)}")
    if depth > _MAX_DEPTH:
        raise TypeSpellingError(f"types nest deeper than {_MAX_DEPTH}")
    name, at = tokens[at], at + 1
    if name in SIMPLE:
        return SIMPLE[name], at
    form = FORMS.get(name, "")
    match name:
        case "decimal":
            at = _expect(tokens, at, "(", form)
            precision, at = _number(tokens, at)
            at = _expect(tokens, at, ",", form)
            scale, at = _number(tokens, at)
            return decimal_type(precision, scale), _expect(tokens, at, ")", form)
        case "money":
            if at < len(tokens) and tokens[at] == "(":
                currency = tokens[at + 1] if at + 1 < len(tokens) else ""
                return money_type(currency), _expect(tokens, at + 2, ")", form)
            return Money(DEFAULT_CURRENCY), at
        case "array":
            at = _expect(tokens, at, "(", form)
            element, at = _type(tokens, at, depth + 1)
            nullable, at = _nullable(tokens, at)
            return Array(element, nullable), _expect(tokens, at, ")", form)
        case "map":
            at = _expect(tokens, at, "(", form)
            at = _expect(tokens, at, "string", form)
            at = _expect(tokens, at, ",", form)
            value, at = _type(tokens, at, depth + 1)
            nullable, at = _nullable(tokens, at)
            return Map(value, nullable), _expect(tokens, at, ")", form)
        case "struct":
            return _struct(tokens, at, depth)
        case _:
            raise TypeSpellingError(f"`{name}` is no type; types are {', '.join(TYPE_NAMES)}")


def _struct(tokens: list[str], at: int, depth: int) -> tuple[Struct, int]:
    form = FORMS["struct"]
    at = _expect(tokens, at, "<", form)
    fields: list[StructField] = []
    while True:
        if at >= len(tokens):
            raise TypeSpellingError(f"`{form}` is not closed")
        name = tokens[at]
        at = _expect(tokens, at + 1, ":", form)
        type_, at = _type(tokens, at, depth + 1)
        nullable, at = _nullable(tokens, at)
        fields.append(StructField(name, type_, nullable))
        if at < len(tokens) and tokens[at] == ",":
            at += 1
            continue
        return Struct(tuple(fields)), _expect(tokens, at, ">", form)


def _nullable(tokens: list[str], at: int) -> tuple[bool, int]:
    if at < len(tokens) and tokens[at] == "nonnull":
        return False, at + 1
    return True, at


def _expect(tokens: list[str], at: int, token: str, form: str) -> int:
    if at >= len(tokens) or tokens[at] != token:
        found = f"found `{tokens[at]}`" if at < len(tokens) else "the text ends"
        raise TypeSpellingError(f"`{token}` expected, {found}; the form is `{form}`")
    return at + 1


def _number(tokens: list[str], at: int) -> tuple[int, int]:
    if at >= len(tokens) or not tokens[at].isdigit():
        raise TypeSpellingError(f"a number of digits expected; the form is `{FORMS['decimal']}`")
    return int(tokens[at][:4]), at + 1
