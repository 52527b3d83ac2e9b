"""The actions of names and literals: text to values. Codes: E001 for what is no interpolation, E003 for numbers out of
range. Whether interpolation may stand where it does is told by `limits.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..diagnostics import Diagnostic, Report, Span
from . import ast
from .units import SECONDS

Action = Callable[[list[Any], Span, Report], Any]

INT_MAX = 2**63 - 1
DECIMAL_DIGITS = 38
_SPECIAL = r"(?s:\\(.))|\$\{"
_HOLE = r"\$\{\s*(?P<first>[A-Za-z_][A-Za-z0-9_]*)\s*(?:\.\s*(?P<field>[A-Za-z_][A-Za-z0-9_]*)\s*)?\}"
_ESCAPED = {"n": "\n", "t": "\t"}


Parts = tuple[str | ast.ColumnRef, ...]


def name(c: list[Any], span: Span, report: Report) -> ast.Name:
    """The name, without backquotes. In backquotes, what looks like no interpolation is a part of the name."""
    text: str = c[0]
    if text[0] != "`":
        return ast.Name(text, span)
    body = text[1:-1]
    if "${" in body and re.search(_HOLE, body):
        parts: list[str | ast.ColumnRef] = []
        end = 0
        for match in re.finditer(_HOLE, body):
            parts += [body[end : match.start()], _hole(match, text, 1, span)]
            end = match.end()
        return ast.NameTemplate(body, span, (*parts, body[end:]))
    return ast.Name(body, span)


def _string_value(raw: str, span: Span, report: Report) -> tuple[str, Parts]:
    """What a string literal says, and its parts where there is interpolation in it."""
    body = raw[1:-1]
    if "\\" not in body and "${" not in body:
        return body, ()
    parts: list[str | ast.ColumnRef] = [""]
    end = 0
    for match in re.finditer(_SPECIAL, body):
        before = body[end : match.start()]
        end = match.end()
        if match[1]:
            parts[-1] = f"{parts[-1]}{before}{_ESCAPED.get(match[1], match[1])}"
            continue
        parts[-1] = f"{parts[-1]}{before}"
        if hole := re.compile(_HOLE).match(body, match.start()):
            parts += [_hole(hole, raw, 1, span), ""]
            end = hole.end()
        else:
            place = _within(span, raw, match.start() + 1, match.end() + 1)
            fix = "write `${name}`, or `\\$` for a dollar sign before a brace"
            report(Diagnostic("E001", "`${` takes the name of a parameter and a closing brace", place, fix=fix))
    parts[-1] = f"{parts[-1]}{body[end:]}"
    return (body, tuple(parts)) if len(parts) > 1 else (str(parts[0]), ())


def _hole(match: re.Match[str], raw: str, shift: int, span: Span) -> ast.ColumnRef:
    """What stands in `${…}`; `match` is in `raw` from `shift` on, which stands at `span`."""

    def named(group: str) -> ast.Name:
        return ast.Name(match[group], _within(span, raw, match.start(group) + shift, match.end(group) + shift))

    first = named("first")
    if match["field"] is None:
        return ast.ColumnRef(None, first, first.span)
    field = named("field")
    return ast.ColumnRef(first, field, first.span.to(field.span))


def _within(span: Span, raw: str, start: int, end: int) -> Span:
    """The place of `raw[start:end]`, where `raw` stands at `span`."""

    def place(offset: int) -> tuple[int, int]:
        newline = raw.rfind("\n", 0, offset)
        column = offset - newline if newline >= 0 else span.column + offset
        return span.line + raw.count("\n", 0, offset), column

    return Span(span.file, *place(start), *place(end))


def string(c: list[Any], span: Span, report: Report) -> ast.Literal:
    """A string literal."""
    text, parts = _string_value(c[0], span, report)
    return ast.Template(text, span, parts=parts) if parts else ast.Literal(text, span)


def text_name(c: list[Any], span: Span, report: Report) -> ast.Name:
    """A string that names something."""
    text, parts = _string_value(c[0], span, report)
    if not text:
        report(Diagnostic("E001", "a name is empty", span, fix="write at least one character"))
    return ast.NameTemplate(text, span, parts) if parts else ast.Name(text, span)


def int_value(digits: str, span: Span, report: Report, limit: int = INT_MAX + 1) -> int:
    """The number, or 0 and E003 beyond `limit` (2⁶³ is left for `limits.py`: it may stand under a minus)."""
    digits = digits.replace("_", "").lstrip("0") or "0"
    if len(digits) <= 19 and int(digits) <= limit:
        return int(digits)
    report(int_range(span))
    return 0


def int_range(span: Span) -> Diagnostic:
    """The E003 for an integer at `span` that int64 does not hold."""
    return Diagnostic(
        "E003",
        "the integer does not fit into int64",
        span,
        label="beyond 9223372036854775807",
        fix='write it as a decimal: cast("…", "decimal(38,0)")',
    )


def int_literal(c: list[Any], span: Span, report: Report) -> ast.Literal:
    """An integer literal."""
    return ast.Literal(int_value(c[0], span, report), span)


def float_literal(c: list[Any], span: Span, report: Report) -> ast.Literal:
    """A float literal, with its digits. E003 beyond 38 digits or the range of float64."""
    text: str = c[0].replace("_", "")
    digits = text.lower().partition("e")[0].replace(".", "").lstrip("0")
    if len(digits) > DECIMAL_DIGITS:
        fix = f"write at most {DECIMAL_DIGITS} digits"
        report(Diagnostic("E003", f"the number has more than {DECIMAL_DIGITS} digits", span, fix=fix))
        return ast.Literal(0.0, span, "0.0")
    value = float(text)
    if value == float("inf") or (value == 0 and digits):
        report(Diagnostic("E003", "the number does not fit into float64", span, fix="write a number within ±1.8e308"))
        return ast.Literal(0.0, span, "0.0")
    return ast.Literal(value, span, text)


def constant(value: bool | None) -> Action:
    """An action for a literal that is one word."""
    return lambda c, span, report: ast.Literal(value, span)


def duration(c: list[Any], span: Span, report: Report) -> ast.Duration:
    """A duration in seconds."""
    text: str = c[0]
    unit = text.lstrip("0123456789_")
    digits = text[: -len(unit)].replace("_", "").lstrip("0") or "0"
    # Only as many are read as may fit: of many digits Python would compute for long.
    seconds = int(digits) * SECONDS[unit] if len(digits) <= len(str(INT_MAX)) else INT_MAX + 1
    if seconds > INT_MAX:
        fix = f"write {INT_MAX // SECONDS[unit]:_}{unit} at most"
        report(Diagnostic("E003", "a duration of so many seconds does not fit into int64", span, fix=fix))
        seconds = 0
    return ast.Duration(seconds, span)
