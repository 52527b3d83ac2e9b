"""Inlay hints: the type of each column that a model derives or chooses, where it is not written."""

from __future__ import annotations

from lsprotocol import types as lsp

from ..analysis.editing.scope_at import facts_of
from ..analysis.editing.symbols import Kind
from ..language import ast
from ..relation.schema import Column
from .state import State


def inlay_hints(state: State, path: str, range_: lsp.Range) -> list[lsp.InlayHint]:
    """The hints in a part of a file."""
    text = state.text(path)
    first, last = text.place(range_.start)[0], text.place(range_.end)[0]
    named = {o.span for o in state.index.in_file(path) if o.defines and o.symbol.kind is Kind.COLUMN}
    found: list[lsp.InlayHint] = []
    for model in state.index.declarations.get(path, ()):
        if not isinstance(model, ast.Model):
            continue
        whole = state.standing(model.span)
        if whole.line > last or whole.end_line < first:
            continue
        for span, fact in sorted(facts_of(model, state.known).items()):
            place = state.standing(span)
            if span in named and first <= place.line <= last and isinstance(fact, Column):
                found.append(lsp.InlayHint(state.range(place).end, f": {fact.inferred}", lsp.InlayHintKind.Type))
    return found
