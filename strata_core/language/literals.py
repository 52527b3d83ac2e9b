"""The actions of names and literals: text to values. Codes: E001 for interpolation, E003 for numbers out of range."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..diagnostics import Diagnostic, Report, Span
from . import ast

Action = Callable[[list[Any], Span, Report], Any]

INT_MAX = 2**63 - 1
DECIMAL_DIGITS = 38
SECONDS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 604800}
"""The units of a duration."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t"}


def name(c: list[Any], span: Span, report: Report) -> ast.Name:
    """The name, without backquotes."""
    text: str = c[0]
    return ast.Name(text[1:-1] if text[0] == "`" else text, span)


def _string_value(raw: str, span: Span, report: Report) -> str:
    """What a string literal says. Interpolation belongs to compile-time functions alone."""
    body = raw[1:-1]
    if "${" in _ESCAPE.sub("", body):
        message = "`${…}` is only allowed within a compile-time function"
        report(Diagnostic("E001", message, span, fix="write `\\$` for a dollar sign before a brace"))
    if "\\" not in body:
        return body
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), body)


def string(c: list[Any], span: Span, report: Report) -> ast.Literal:
    """A string literal."""
    return ast.Literal(_string_value(c[0], span, report), span)


def text_name(c: list[Any], span: Span, report: Report) -> ast.Name:
    """A string that names something."""
    text = _string_value(c[0], span, report)
    if not text:
        report(Diagnostic("E001", "a name is empty", span, fix="write at least one character"))
    return ast.Name(text, span)


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
    digits = re.split("[eE]", text)[0].replace(".", "").lstrip("0")
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
    count = int_value(text[: -len(unit)], span, report)
    seconds = count * SECONDS[unit]
    if seconds > INT_MAX:
        report(int_range(span))
        seconds = 0
    return ast.Duration(seconds, span)
