"""Casts of a text that is written out: that such a text is no value of the type is known before any run.

A module of its own, loaded where there is such a cast.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable

from ..diagnostics import Diagnostic
from ..language import ast
from ..types import Bool, Date, Decimal, Float64, Int64, Json, Money, Timestamp, Uuid, ValueType
from ..types.texts import (
    read_bool,
    read_date,
    read_decimal,
    read_float,
    read_int,
    read_json,
    read_timestamp,
    read_uuid,
)
from ..types.values import MONEY_SCALE

_EXACT = decimal.Context(prec=800, Emin=-9999, Emax=9999, rounding=decimal.ROUND_HALF_UP)
_READERS: tuple[tuple[type[ValueType], Callable[[str], object], str], ...] = (
    (Int64, read_int, '"12"'),
    (Float64, read_float, '"1.5"'),
    (Bool, read_bool, '"true"'),
    (Date, read_date, '"2024-01-31"'),
    (Timestamp, read_timestamp, '"2024-01-31 12:00:00"'),
    (Uuid, read_uuid, '"123e4567-e89b-12d3-a456-426614174000"'),
    (Json, read_json, '"[1, 2]"'),
    (Decimal, read_decimal, '"1.50"'),
    (Money, read_decimal, '"1.50"'),
)


def unreadable(node: ast.Literal, text: str, type_: ValueType) -> Diagnostic | None:
    """E003 where the `text` of `node` is no value of `type_`, so that its cast would fail on every row."""
    for kind, read, example in _READERS:
        if isinstance(type_, kind):
            fix = f'write it as in `cast({example}, "{type_}")`; `try_cast` gives `none` for what is no such value'
            try:
                value = read(text)
            except ValueError as error:
                why = str(error)
                told = why.replace("the value", "this text", 1) if why.startswith("the value") else None
                return Diagnostic("E003", told or f"this text is no {type_}: {why}", node.span, fix=fix)
            if not _fits(value, type_):
                return Diagnostic("E003", f"this text is too large for {type_}", node.span, fix=fix)
    return None


def _fits(value: object, type_: ValueType) -> bool:
    match value:
        case int() if isinstance(type_, Int64):
            return -(2**63) <= value < 2**63
        case decimal.Decimal() if isinstance(type_, Decimal | Money):
            precision, scale = (38, MONEY_SCALE) if isinstance(type_, Money) else (type_.precision, type_.scale)
            rounded = value.quantize(decimal.Decimal(1).scaleb(-scale), context=_EXACT)
            return abs(rounded) < decimal.Decimal(10) ** (precision - scale)
        case _:
            return True
