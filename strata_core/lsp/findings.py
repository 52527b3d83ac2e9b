"""Diagnostics as the protocol has them."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types as lsp

from ..diagnostics import Diagnostic, Severity
from .state import State

SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}
UNNECESSARY = frozenset({"W005", "W090"})
"""What these codes mark could be left out: editors fade it."""


def shown(found: Iterable[Diagnostic], state: State) -> tuple[lsp.Diagnostic, ...]:
    """`found`, each at its place; what has none is at the beginning."""
    return tuple(_one(diagnostic, state) for diagnostic in found)


def _one(found: Diagnostic, state: State) -> lsp.Diagnostic:
    start = lsp.Position(0, 0)
    range_ = state.range(found.span) if found.span is not None else lsp.Range(start, start)
    parts = [found.message, *(f"note: {note}" for note in found.notes)]
    parts += [f"help: {found.fix}"] if found.fix is not None else []
    related = [lsp.DiagnosticRelatedInformation(state.location(r.span), r.message) for r in found.related]
    if found.label is not None and found.span is not None:
        related.insert(0, lsp.DiagnosticRelatedInformation(state.location(found.span), found.label))
    return lsp.Diagnostic(
        range_,
        "\n".join(parts),
        SEVERITIES[found.severity],
        code=found.code,
        source="strata",
        tags=[lsp.DiagnosticTag.Unnecessary] if found.code in UNNECESSARY else None,
        related_information=related or None,
    )
