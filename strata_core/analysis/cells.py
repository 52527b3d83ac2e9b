"""The cells of literal tables as values of their columns' types. E074 for what does not fit, at the cell.

A value is plain Python, as the reference engine has it: int, float, Decimal, str, bool, date, datetime, list (array),
dict (map, struct) or None (null). Nothing is rounded and nothing narrowed: a cell says exactly what the column holds.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal as Number
from typing import TypeAlias, assert_never

from ..diagnostics import Diagnostic, Report, Span
from ..language import ast
from ..types import (
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
from ..types.texts import read_date, read_json, read_timestamp, read_uuid
from ..types.values import MAX_PRECISION, MONEY_SCALE
from .names import unknown

CellValue: TypeAlias = (
    "int | float | Number | str | bool | datetime.date | datetime.datetime"
    " | list[CellValue] | dict[str, CellValue] | None"
)
SPELLED: dict[type[ValueType], str] = {
    Int64: "a whole number such as `12`",
    Float64: "a number such as `1.5`",
    Decimal: "a number such as `1.50`",
    Money: "an amount such as `1.50`",
    String: 'a string such as `"a"`',
    Bool: "`true` or `false`",
    Date: "a date such as `2024-01-31`",
    Timestamp: "a timestamp such as `2024-01-31 10:00:00`",
    Uuid: "a uuid in double quotes",
    Json: "JSON in double quotes",
    Array: "a list such as `[1, 2]`",
    Map: "a record such as `{a: 1}`",
    Struct: "a record such as `{a: 1}`",
}
NOT_NUMBERS = {"nan": math.nan, "inf": math.inf}
"""The numbers of float64 that have no digits."""


class CellError(Exception):
    """A cell that is no value of the type asked for."""

    def __init__(self, span: Span, message: str, fix: str) -> None:
        super().__init__(message)
        self.span, self.message, self.fix = span, message, fix


def cell_value(cell: ast.Cell, type_: ValueType, nullable: bool, column: str, report: Report) -> CellValue:
    """The value of `cell` in a column of that type; where it has none, E074 is reported and the value is null."""
    try:
        return _value(cell, type_, nullable, column)
    except CellError as error:
        report(Diagnostic("E074", error.message, error.span, fix=error.fix))
        return None


def _value(cell: ast.Cell, type_: ValueType, nullable: bool, column: str) -> CellValue:
    if isinstance(cell, ast.Literal) and cell.value is None:
        if not nullable:
            raise CellError(cell.span, f"`{column}` is never null", f"write {SPELLED[type(type_)]}")
        return None
    match type_, cell:
        case Int64(), ast.Literal(value=int() as number) if not isinstance(number, bool):
            return number
        case Float64(), ast.Literal(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case Float64(), ast.Name(text=text) if text in NOT_NUMBERS:
            return NOT_NUMBERS[text]
        case Decimal(), ast.Literal(value=int() | float() as number) if not isinstance(number, bool):
            return _exact(cell, type_.precision, type_.scale, type_, column)
        case Money(), ast.Literal(value=int() | float() as number) if not isinstance(number, bool):
            return _exact(cell, MAX_PRECISION, MONEY_SCALE, type_, column)
        case String(), ast.Literal(value=str() as text):
            return text
        case String(), ast.Name(text=text):
            return text
        case Bool(), ast.Literal(value=bool() as truth):
            return truth
        case Date(), ast.Moment(text=text) | ast.Literal(value=str() as text):
            return _read(read_date, text, cell, column)
        case Timestamp(), ast.Moment(text=text) | ast.Literal(value=str() as text):
            return _read(read_timestamp, text, cell, column)
        case Uuid(), ast.Literal(value=str() as text):
            return _read(read_uuid, text, cell, column)
        case Json(), ast.Literal(value=str() as text):
            return _read(read_json, text, cell, column)
        case Array(), ast.ListCell(items=items):
            return [_value(item, type_.element, type_.element_nullable, column) for item in items]
        case Map(), ast.Record():
            members = _members(cell)
            return {n: _value(m.value, type_.value, type_.value_nullable, column) for n, m in members.items()}
        case Struct(), ast.Record():
            return _struct(cell, type_, column)
        case _:
            fix = f"write {SPELLED.get(type(type_), 'a value')}{' or `none`' if nullable else ''}"
            raise CellError(cell.span, f"`{column}` is {type_}, but this is {_kind(cell)}", fix)


def _kind(cell: ast.Cell) -> str:
    match cell:
        case ast.Literal(value=bool()):
            return "a bool"
        case ast.Literal(value=int()):
            return "a whole number"
        case ast.Literal(value=float()):
            return "a number"
        case ast.Literal():
            return "a string"
        case ast.Moment():
            return "a timestamp" if " " in cell.text else "a date"
        case ast.Name():
            return "a word"
        case ast.ListCell():
            return "a list"
        case ast.Record():
            return "a record"
        case _:
            assert_never(cell)


def _exact(cell: ast.Literal, precision: int, scale: int, type_: ValueType, column: str) -> Number:
    """The decimal, unless it would have to be rounded."""
    number = Number(cell.text or str(cell.value))
    placed = number.quantize(Number(1).scaleb(-scale)) if number.adjusted() + 1 + scale <= MAX_PRECISION else None
    if placed is None or placed != number or len(placed.as_tuple().digits) > precision:
        fix = f"write at most {precision - scale} digits before the point and {scale} after it"
        raise CellError(cell.span, f"`{column}` is {type_}, which does not hold {number}", fix)
    return placed


def _read(reader: Callable[[str], CellValue], text: str, cell: ast.Cell, column: str) -> CellValue:
    try:
        return reader(text)
    except ValueError as error:
        raise CellError(cell.span, f"`{column}`: {error}", "write a value of the column's type") from None


def _members(cell: ast.Record) -> dict[str, ast.Member]:
    found: dict[str, ast.Member] = {}
    for member in cell.members:
        if member.name.text in found:
            raise CellError(member.name.span, f"`{member.name}` stands twice in the record", "keep one of the two")
        found[member.name.text] = member
    return found


def _struct(cell: ast.Record, type_: Struct, column: str) -> CellValue:
    """The struct; fields that are left out are null."""
    members, fields = _members(cell), {f.name: f for f in type_.fields}
    for name, member in members.items():
        if name not in fields:
            found = unknown("E074", f"`{column}` has no field `{name}`", member.name, fields.keys())
            raise CellError(member.name.span, found.message, found.fix or "leave it out")
    for name, field in fields.items():
        if name not in members and not field.nullable:
            fix = f"add `{name}: …`, {SPELLED[type(field.type)]}"
            raise CellError(cell.span, f"`{column}.{name}` is never null", fix)
    return {
        f.name: _value(members[f.name].value, f.type, f.nullable, f"{column}.{f.name}") if f.name in members else None
        for f in type_.fields
    }
