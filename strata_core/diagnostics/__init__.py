"""Diagnostics: what is said to people about their input. At the ground of the import order."""

from .codes import CODES
from .diagnostic import (
    Diagnostic,
    Edit,
    Related,
    Report,
    Severity,
    Span,
    StrataError,
    Suggestion,
    has_errors,
    in_order,
)

__all__ = [
    "CODES",
    "Diagnostic",
    "Edit",
    "Related",
    "Report",
    "Severity",
    "Span",
    "StrataError",
    "Suggestion",
    "has_errors",
    "in_order",
]
