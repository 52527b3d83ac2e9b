"""Diagnostics as text for people, with the source lines and the marked operand, and as JSON for programs.

`render_text` shows each finding so (colours aside):

    error[E012]: `amount` may be null, and the contract promises nonnull
      --> models/orders.strata:12:12
       |
    12 |   select { amount }
       |            ^^^^^^ nullable since the left join
       |
       = note: …
       = help: …
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any
from unicodedata import category, east_asian_width

from ..frozen import dataclass
from .diagnostic import Diagnostic, Severity, Span

TAB = 4
_RESET, _BOLD, _BLUE, _CYAN = "\x1b[0m", "\x1b[1m", "\x1b[1;34m", "\x1b[1;36m"
_SEVERITY = {Severity.ERROR: "\x1b[1;31m", Severity.WARNING: "\x1b[1;33m", Severity.INFO: _CYAN}
_NARROWEST = 20
# A span over more lines than this is shown by its first and last lines.
_MOST_LINES = 6


def render_text(
    diagnostics: Iterable[Diagnostic], sources: Callable[[str], str | None], color: bool, width: int
) -> str:
    """The findings in the order given, a blank line after each.

    `sources` gives the text of a file, or None where it is unknown: then the place is named but not shown.
    Source lines wider than `width` terminal cells are cut around the mark. `color` adds ANSI codes.
    """

    @cache
    def lines(file: str) -> Sequence[str]:
        source = sources(file)
        # A byte order mark counts in no column.
        return source.removeprefix("\ufeff").split("\n") if source is not None else ()

    return "".join(f"{_one(diagnostic, lines, color, width)}\n" for diagnostic in diagnostics)


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The findings as a JSON array, one object each, in the order given. The shape is stable:

    `code`, `severity` ("error", "warning", "info"), `message`, `span`, `label`, `fix`, `notes` (strings),
    `related` (objects of `span` and `message`), `field_path`, `blocks` (whether it blocks publication or promotion),
    `suggestions` (objects of `title` and `edits`, which are objects of `span` and `text`). What is absent is null.
    A span has `file`, `line`, `column`, `end_line`, `end_column`, counted from 1 in code points, the end exclusive.
    """
    import json

    return json.dumps([diagnostic_as_json(diagnostic) for diagnostic in diagnostics], indent=2)


def diagnostic_as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding in the shape of `render_json`, for documents that hold findings among other things."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "span": _plain_span(diagnostic.span),
        "label": diagnostic.label,
        "fix": diagnostic.fix,
        "notes": list(diagnostic.notes),
        "related": [{"span": _plain_span(r.span), "message": r.message} for r in diagnostic.related],
        "field_path": diagnostic.field_path,
        "blocks": diagnostic.blocks,
        "suggestions": [
            {"title": s.title, "edits": [{"span": _plain_span(e.span), "text": e.text} for e in s.edits]}
            for s in diagnostic.suggestions
        ],
    }


def _plain_span(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _one(diagnostic: Diagnostic, source: Callable[[str], Sequence[str]], color: bool, width: int) -> str:
    def paint(code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if color and text else text

    spans = [span for span in (diagnostic.span, *(r.span for r in diagnostic.related)) if span is not None]
    gutter = max((len(str(span.end_line)) for span in spans), default=1)
    edge = f"{' ' * gutter} {paint(_BLUE, '|')}"

    def place(span: Span, label: str, tone: str) -> Iterator[str]:
        yield f"{' ' * gutter}{paint(_BLUE, '-->')} {printable(str(span))}"
        rows = _snippet(span, source(span.file), printable(label), max(_NARROWEST, width - gutter - 3))
        if rows:
            yield edge
        for row in rows:
            match row:
                case _Code(number, text):
                    yield f"{paint(_BLUE, f'{number:>{gutter}} |')} {text}".rstrip(" ")
                case _Mark(text):
                    yield f"{edge} {paint(tone, text)}"
                case _Gap():
                    yield paint(_BLUE, "...")

    tone = _SEVERITY[diagnostic.severity]
    head = f"{diagnostic.severity.value}[{diagnostic.code}]"
    lines = [paint(tone, head) + paint(_BOLD, f": {printable(diagnostic.message)}")]
    if diagnostic.span is not None:
        lines += place(diagnostic.span, diagnostic.label or "", tone)
    remarks = [("note", note) for note in diagnostic.notes]
    remarks += [("help", diagnostic.fix)] if diagnostic.fix is not None else []
    if remarks and diagnostic.span is not None:
        lines.append(edge)
    for word, text in remarks:
        lines.append(f"{' ' * gutter} {paint(_BLUE, '=')} {paint(_BOLD, word)}: {printable(text)}")
    for related in diagnostic.related:
        lines.append(paint(_CYAN, "note") + paint(_BOLD, f": {printable(related.message)}"))
        lines += place(related.span, "", _CYAN)
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class _Code:
    """A line of source."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """The mark under a line of source."""

    text: str


@dataclass(frozen=True, slots=True)
class _Gap:
    """Lines left out."""


def _snippet(span: Span, lines: Sequence[str], label: str, width: int) -> list[_Code | _Mark | _Gap]:
    """The rows that show `span` in a text of those lines: none if it does not have that place (any more)."""
    if span.end_line > len(lines):
        return []
    if span.line == span.end_line:
        text, before, marked = _cut(lines[span.line - 1], span.column - 1, span.end_column - 1, width)
        mark = " " * before + "^" * max(1, marked)
        return [_Code(span.line, text), _Mark(f"{mark} {label}".rstrip())]
    shown = range(span.line, span.end_line + 1)
    inside = width - 2
    rows: list[_Code | _Mark | _Gap] = []
    first, before, _ = _cut(lines[span.line - 1], span.column - 1, span.column, inside)
    if first[:before].strip():
        rows += [_Code(span.line, f"  {first}"), _Mark(f" {'_' * (before + 1)}^")]
    else:
        rows.append(_Code(span.line, f"/ {first}"))
    for number in shown[1:]:
        if len(shown) > _MOST_LINES and span.line + 2 < number < span.end_line - 1:
            rows += [_Gap()] if number == span.line + 3 else []
            continue
        rows.append(_Code(number, f"| {_cut(lines[number - 1], 0, 0, inside)[0]}"))
    # The end is exclusive: the last marked character stands before it.
    last = max(0, span.end_column - 2)
    text, before, _ = _cut(lines[span.end_line - 1], last, last + 1, inside)
    rows[-1] = _Code(span.end_line, f"| {text}")
    rows.append(_Mark(f"|{'_' * (before + 1)}^ {label}".rstrip()))
    return rows


def _cut(line: str, start: int, end: int, width: int) -> tuple[str, int, int]:
    """`line` as it is shown in at most `width` cells, and the cells before and within the mark from `start` to `end`.

    Where the line is wider, the part around the mark is shown between `…`.
    """
    line = line.removesuffix("\r")
    # No character is narrower than nothing: only this stretch can be shown, however long the line is.
    left = max(0, start - width)
    right = min(len(line), left + 4 * width)
    cells: list[str] = []
    at = [0]
    for character in line[left:right]:
        cells.append(_cell(character, at[-1]))
        at.append(at[-1] + terminal_width(cells[-1]))
    mark_start = at[min(start - left, len(cells))]
    mark_end = at[max(min(end - left, len(cells)), min(start - left, len(cells)))]
    # What is missing at the end of a line is marked one cell behind it.
    if left == 0 and right == len(line) and max(at[-1], mark_start + 1) <= width:
        return "".join(cells), mark_start, mark_end - mark_start
    room = width - 2
    offset = max(0, min(mark_start - room // 3, at[-1] - room if right == len(line) else mark_start))
    first = next(i for i, cell in enumerate(at) if cell >= offset)
    last = max(i for i, cell in enumerate(at) if cell - at[first] <= room)
    head = "…" if left or first else ""
    tail = "…" if last < len(cells) or right < len(line) else ""
    visible = min(mark_end, at[last]) - mark_start
    return head + "".join(cells[first:last]) + tail, mark_start - at[first] + len(head), max(0, visible)


def _cell(character: str, column: int) -> str:
    if character == "\t":
        return " " * (TAB - column % TAB)
    return printable(character)


def terminal_width(shown: str) -> int:
    """The terminal cells that `shown` takes."""
    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in ("W", "F") else 1 for c in shown)


def printable(text: str) -> str:
    """`text` in a line, without characters that steer a terminal or turn the direction of writing: they are made
    visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_VISIBLE.get(c, "�" if category(c) in ("Cc", "Cf", "Cs") else c) for c in text)


def legible(text: str) -> str:
    """`text` of any lines as a document shows it: what steers a terminal, or turns the direction of what follows, is
    made visible; what people write with (joiners of emoji and of letters, marks of direction) stays."""
    return _STEERING.sub(lambda found: _VISIBLE.get(found[0], "�"), text)


_VISIBLE = {chr(code): chr(0x2400 + code) for code in range(32)}
_VISIBLE |= {"\n": " ", "\t": " ", "\u2028": " ", "\u2029": " ", "\x7f": "␡"}
_STEERING = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
