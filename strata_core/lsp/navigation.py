"""From a name to where it is declared, promised or used."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from lsprotocol import types as lsp

from ..analysis.editing.symbols import Kind, Occurrence
from ..diagnostics import Span
from ..language import ast
from .state import State


def definitions(state: State, path: str, position: lsp.Position) -> list[lsp.Location]:
    """Where what stands at a position is declared. A column that a bare item hands on is followed to where it comes
    from."""
    here = state.at(path, position)
    # A bare item declares an output and reads a column: one that asks there wants to know of the latter.
    asked = [o for o in here if not o.defines] or here
    places: list[Occurrence] = []
    for one in asked:
        if one.symbol.kind is Kind.MODULE:
            return _module(state, one.symbol.name)
        places += state.index.definitions(one.symbol)
    return _locations(places, state)


def _module(state: State, dotted: str) -> list[lsp.Location]:
    """The files that an import means."""
    wanted = tuple(dotted.split("."))
    start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    paths = [p for p in state.revision.modules if PurePosixPath(p).with_suffix("").parts[-len(wanted) :] == wanted]
    return [lsp.Location(state.uri_of(path), start) for path in paths]


def implementations(state: State, path: str, position: lsp.Position) -> list[lsp.Location]:
    """Of a promise, or a contract, what keeps it: the columns and models."""
    places: list[Occurrence] = []
    for one in state.at(path, position):
        match one.symbol.kind:
            case Kind.FIELD | Kind.COLUMN:
                places += [o for o in state.index.references(one.symbol) if o.defines and o.symbol.kind is Kind.COLUMN]
            case Kind.CONTRACT:
                models = (d for d in state.index.tables.values() if isinstance(d, ast.Model))
                kept = [m for m in models if m.contract is not None and m.contract.text == one.symbol.name]
                names = {model.name.span for model in kept}
                places += [o for m in kept for o in state.index.in_file(m.span.file) if o.span in names and o.defines]
            case _:
                places += state.index.definitions(one.symbol)
    return _locations(places, state)


def references(state: State, path: str, position: lsp.Position, with_declarations: bool) -> list[lsp.Location]:
    """Every place that names what stands at a position, in the whole project."""
    found = _named(state, path, position)
    return _locations((o for o in found if with_declarations or not o.defines), state)


def highlights(state: State, path: str, position: lsp.Position) -> list[lsp.DocumentHighlight]:
    """The places in the same file."""
    found: dict[Span, lsp.DocumentHighlightKind] = {}
    for one in _named(state, path, position):
        if one.span.file == path:
            kind = lsp.DocumentHighlightKind.Write if one.defines else lsp.DocumentHighlightKind.Read
            found.setdefault(state.standing(one.span), kind)
    return [lsp.DocumentHighlight(state.range(span), kind) for span, kind in sorted(found.items())]


def _named(state: State, path: str, position: lsp.Position) -> list[Occurrence]:
    here = state.at(path, position)
    return state.index.references(here[0].symbol) if here else []


def _locations(places: Iterable[Occurrence], state: State) -> list[lsp.Location]:
    spans = {state.standing(one.span) for one in places}
    return [state.location(span) for span in sorted(spans)]
