"""Hover, and help while the arguments of a call are typed."""

from __future__ import annotations

from lsprotocol import types as lsp

from ..analysis.editing.describe import describe
from ..analysis.editing.scope_at import facts_of
from ..analysis.editing.signatures import CAST_DOC
from ..analysis.editing.symbols import Kind, Occurrence
from ..language import ast
from ..language.scanner import scan
from ..language.tables import load_tables
from ..relation.schema import Column
from ..types import Inferred
from ..types.functions import CATALOG
from .state import State


def hover(state: State, path: str, position: lsp.Position) -> lsp.Hover | None:
    """What is known of the name at a position."""
    here = state.at(path, position)
    if not here:
        return None
    one = here[0]
    shown = describe(one.symbol, state.facts, fact_of(one, path, position, state))
    if shown is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, shown), state.range(state.standing(one.span)))


def fact_of(one: Occurrence, path: str, position: lsp.Position, state: State) -> Column | Inferred | None:
    """What is known of a column or a call right where it stands inside a model."""
    model = state.declaration_at(path, position)
    if not isinstance(model, ast.Model) or one.symbol.kind not in (Kind.COLUMN, Kind.FUNCTION):
        return None
    if one.symbol.kind is Kind.COLUMN and not one.symbol.place and one.symbol.owner != model.name.text:
        return None
    return facts_of(model, state.known).get(one.span)


def signature_help(state: State, path: str, position: lsp.Position) -> lsp.SignatureHelp | None:
    """The signature of the call whose arguments stand at a position, and which of them it is."""
    text = state.text(path)
    offset = text.program_offset(position)
    piece, start = state.piece(path, offset)
    found = _call(piece, offset - start)
    if found is None:
        return None
    name, argument = found
    signature, doc = CAST_DOC.get(name, ("", ""))
    function = CATALOG.get(name)
    if function is not None and function.surface:
        signature, doc = function.signature, function.doc
    if not signature:
        return None
    parameters = _parameters(signature)
    active = min(argument, len(parameters) - 1) if parameters else None
    information = lsp.SignatureInformation(
        signature,
        lsp.MarkupContent(lsp.MarkupKind.Markdown, doc),
        [lsp.ParameterInformation(parameter) for parameter in parameters],
        active,
    )
    return lsp.SignatureHelp([information], 0, active)


def _call(program: str, offset: int) -> tuple[str, int] | None:
    """The name before the innermost open parenthesis, and how many commas stand between."""
    tables = load_tables()
    tokens = [t for t in scan(program, tables)[:-1] if t.end <= offset or t.start < offset]
    depth = commas = 0
    for place in range(len(tokens) - 1, -1, -1):
        text = tokens[place].text
        if tokens[place].end > offset or (text.startswith('"') and tokens[place].end >= offset > tokens[place].start):
            continue
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "["):
            if depth == 0 and text == "(":
                return (tokens[place - 1].text, commas) if place and tokens[place - 1].text.isidentifier() else None
            depth = max(depth - 1, 0)
        elif text in ("{", "}"):
            return None
        elif text == "," and depth == 0:
            commas += 1
    return None


def _parameters(signature: str) -> list[str]:
    """The parameters in a signature such as `round(x: number[, digits: int64]) -> number`."""
    inside = signature.partition("(")[2].rpartition(") ->")[0].partition(" | ")[0]
    found: list[str] = []
    depth, start = 0, 0
    for place, character in enumerate(inside):
        if character in "(<":
            depth += 1
        elif character in ")>":
            depth -= 1
        elif character == "," and depth == 0:
            found.append(inside[start:place])
            start = place + 1
    found.append(inside[start:])
    return [part for parameter in found if (part := parameter.strip(" []"))]
