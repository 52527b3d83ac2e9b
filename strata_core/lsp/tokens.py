"""Semantic tokens: what each name is, for colours that a grammar alone cannot give."""

from __future__ import annotations

import math

from lsprotocol import types as lsp

from .legend import LEGEND, TYPES
from .state import State


def semantic_tokens(state: State, path: str, part: lsp.Range | None = None) -> lsp.SemanticTokens:
    """The names of a file, or a part of it, in the protocol's packed form: five numbers each, relative to the one
    before."""
    text = state.text(path)
    first, last = (text.place(part.start)[0], text.place(part.end)[0]) if part is not None else (0, math.inf)
    placed: dict[tuple[int, int], tuple[int, int, int]] = {}
    for one in state.index.in_file(path):
        span = state.standing(one.span)
        if not first <= span.line <= last:
            continue
        range_ = state.range(span)
        if range_.start.line != range_.end.line:
            continue
        length = range_.end.character - range_.start.character
        type_ = LEGEND.token_types.index(TYPES[one.symbol.kind.value])
        start = (range_.start.line, range_.start.character)
        if start not in placed or one.defines:
            placed[start] = (length, type_, int(one.defines))
    data: list[int] = []
    line = character = 0
    for (row, column), (length, type_, modifiers) in sorted(placed.items()):
        data += [row - line, column - (character if row == line else 0), length, type_, modifiers]
        line, character = row, column
    return lsp.SemanticTokens(data)
