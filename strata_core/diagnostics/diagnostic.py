"""What the program says about a person's input: one type for language, store and contract engine.

A `Diagnostic` is a value. Passes return diagnostics; only `StrataError` carries one upward as an
exception, where a caller asked for a result that cannot exist.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from ..frozen import dataclass, replace


class Severity(StrEnum):
    """How much a diagnostic matters: an error blocks the model, a warning does not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one source file. Lines and columns count from 1 in code points; the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __post_init__(self) -> None:
        if self.end_line <= self.line and (self.end_line < self.line or self.end_column < self.column):
            raise ValueError(f"span ends before it starts: {self}")

    def to(self, other: Span) -> Span:
        """The stretch from the start of this span to the end of `other`, in the same file."""
        return replace(self, end_line=other.end_line, end_column=other.end_column)

    @property
    def start(self) -> Span:
        """The empty span before it."""
        return replace(self, end_line=self.line, end_column=self.column)

    @property
    def end(self) -> Span:
        """The empty span behind it."""
        return replace(self, line=self.end_line, column=self.end_column)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains a diagnostic ("declared nonnull here")."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in the place of what stands at `span`; where the span is empty, it is put in there."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change of the source text that mends a finding, for editors and `--format json`: `title` says it in words."""

    title: str
    edits: tuple[Edit, ...]


def replacement(span: Span, text: str) -> Suggestion:
    """The suggestion to write `text` at `span`."""
    return Suggestion(f"write `{text}`", (Edit(span, text),))


def wrapping(title: str, span: Span, before: str, after: str) -> Suggestion:
    """The suggestion to put something around what stands at `span`."""
    return Suggestion(title, (Edit(span.start, before), Edit(span.end, after)))


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: a stable code, a place, what is wrong (`message`), and how to fix it (`fix`).

    `span` is absent only where no source text exists (a missing file, an unreadable store).
    `label` is the short remark printed under the marked operand. `field_path` names a place inside
    a structured document or table (`contracts.PaidOrders.amount`). `blocking` says that it blocks although it is no
    error, or that it does not although it is one; None leaves that to the severity. `suggestions` are fixes that a
    program can make. `about` is the name that it speaks of, for a pass that knows more of that name.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    label: str | None = None
    fix: str | None = None
    notes: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    field_path: str | None = None
    blocking: bool | None = None
    suggestions: tuple[Suggestion, ...] = ()
    about: str | None = None

    @property
    def blocks(self) -> bool:
        """Whether this finding blocks compilation, publication or promotion (Seed 2, "Diagnostics")."""
        return self.severity is Severity.ERROR if self.blocking is None else self.blocking


Report = Callable[[Diagnostic], None]
"""Where a pass puts what it finds."""


class StrataError(Exception):
    """A request that cannot be answered, with the diagnostics that say why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        if not diagnostics:
            raise ValueError("a StrataError carries at least one diagnostic")
        super().__init__("; ".join(f"{d.code}: {d.message}" for d in diagnostics))
        self.diagnostics = diagnostics


def has_errors(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> bool:
    """Whether any of `diagnostics` blocks."""
    return any(d.blocks for d in diagnostics)


def in_order(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """`diagnostics` without repetitions, by file, place and code; those without a place come first."""

    def key(d: Diagnostic) -> tuple[Span, str, str]:
        return d.span or Span("", 0, 0, 0, 0), d.code, d.message

    return tuple(sorted(dict.fromkeys(diagnostics), key=key))
