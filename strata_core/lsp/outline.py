"""The outline of a file, the names of the workspace, and what can be folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lsprotocol import types as lsp

from ..diagnostics import Span
from ..language import ast
from ..language.recovery import MISSING
from ..language.scanner import scan
from ..language.tables import load_tables
from .state import State
from .text import Text

KINDS = {
    ast.Source: lsp.SymbolKind.Struct,
    ast.Model: lsp.SymbolKind.Class,
    ast.Contract: lsp.SymbolKind.Interface,
    ast.Domain: lsp.SymbolKind.TypeParameter,
    ast.Pipeline: lsp.SymbolKind.Package,
    ast.Test: lsp.SymbolKind.Event,
    ast.Fn: lsp.SymbolKind.Function,
    ast.Extern: lsp.SymbolKind.Function,
}
WORDS = {
    "source": lsp.SymbolKind.Struct,
    "model": lsp.SymbolKind.Class,
    "contract": lsp.SymbolKind.Interface,
    "domain": lsp.SymbolKind.TypeParameter,
    "pipeline": lsp.SymbolKind.Package,
    "test": lsp.SymbolKind.Event,
    "fn": lsp.SymbolKind.Function,
}
MOST_SYMBOLS = 500


def document_symbols(state: State, path: str) -> list[lsp.DocumentSymbol]:
    """The declarations of a file, with their columns."""
    found = []
    for declaration in state.index.declarations.get(path, ()):
        head = _head(declaration)
        if head is not None:
            name, kind, detail = head
            children = [_column(one, span, state) for one, span in _columns(declaration, state)]
            found.append(_symbol(name, kind, detail, declaration.span, state, children))
    return found


def _head(declaration: ast.Declaration) -> tuple[ast.Name, lsp.SymbolKind, str] | None:
    name = getattr(declaration, "name", None)
    if not isinstance(name, ast.Name) or not name.text or name.text == MISSING:
        return None
    match declaration:
        case ast.Model(contract=ast.Name() as contract):
            return name, lsp.SymbolKind.Class, f"model -> contract {contract}"
        case ast.Broken(word=word):
            return name, WORDS.get(word, lsp.SymbolKind.Object), f"{word}, in error"
        case _:
            kind = KINDS.get(type(declaration), lsp.SymbolKind.Object)
            return name, kind, type(declaration).__name__.lower()


def _symbol(
    name: ast.Name,
    kind: lsp.SymbolKind,
    detail: str,
    whole: Span,
    state: State,
    children: list[lsp.DocumentSymbol] | None = None,
) -> lsp.DocumentSymbol:
    range_, selected = (state.range(state.standing(span)) for span in (whole, name.span))
    return lsp.DocumentSymbol(name.text, kind, range_, selected, detail=detail, children=children or None)


def _columns(declaration: ast.Declaration, state: State) -> Iterator[tuple[ast.Name, Span]]:
    """The fields or outputs that are written in a declaration."""
    match declaration:
        case ast.Contract(fields=fields) | ast.Source(columns=tuple() as fields):
            yield from ((field.name, field.span) for field in fields if field.name.text != MISSING)
        case ast.Model(name=model):
            for column in state.index.columns.get(model.text, {}).values():
                for place in state.index.of(column):
                    if place.defines and place.span.file == declaration.span.file:
                        yield ast.Name(column.name, place.span), place.span
        case _:
            return


def _column(name: ast.Name, span: Span, state: State) -> lsp.DocumentSymbol:
    return _symbol(name, lsp.SymbolKind.Field, "", span, state)


def workspace_symbols(states: Iterable[State], query: str) -> list[lsp.WorkspaceSymbol]:
    """The declarations and columns of all projects whose names hold the letters of `query` in their order."""
    found: list[lsp.WorkspaceSymbol] = []
    wanted = re.compile(".*?".join(map(re.escape, query)), re.IGNORECASE)
    for state in states:
        for module in state.modules:
            for declaration in module.declarations:
                head = _head(declaration)
                if head is None:
                    continue
                name, kind, _ = head
                if wanted.search(name.text):
                    found.append(lsp.WorkspaceSymbol(state.location(state.standing(name.span)), name.text, kind))
                if query:
                    found += [
                        lsp.WorkspaceSymbol(
                            state.location(state.standing(one.span)),
                            one.text,
                            lsp.SymbolKind.Field,
                            container_name=name.text,
                        )
                        for one, _ in _columns(declaration, state)
                        if wanted.search(one.text)
                    ]
                if len(found) >= MOST_SYMBOLS:
                    return found[:MOST_SYMBOLS]
    return found


def folding(state: State, path: str) -> list[lsp.FoldingRange]:
    """What stands between brackets over several lines, and comments over several lines."""
    found: dict[tuple[int, int], lsp.FoldingRange] = {}
    parsed = state.revision.modules.get(path)
    first = 0
    for piece in parsed.pieces if parsed is not None else ():
        for start, end, kind in _folds(piece.text):
            found.setdefault((first + start, first + end), lsp.FoldingRange(first + start, first + end, kind=kind))
        first += _lines(piece.text)
    return sorted(found.values(), key=lambda one: (one.start_line, -one.end_line))


Fold = tuple[int, int, lsp.FoldingRangeKind | None]


@lru_cache(maxsize=4096)
def _folds(piece: str) -> tuple[Fold, ...]:
    """The folds of a part of a text, in lines counted from its first."""
    text = Text(piece)
    found: list[Fold] = []
    opened: list[int] = []
    for token in scan(piece, load_tables())[:-1]:
        if token.text in ("{", "(", "["):
            opened.append(token.start)
        elif token.text in ("}", ")", "]") and opened:
            range_ = text.range_of(opened.pop(), token.start)
            if range_.end.line - 1 > range_.start.line:
                found.append((range_.start.line, range_.end.line - 1, None))
    for match in _COMMENTS.finditer(piece):
        range_ = text.range_of(match.start(), match.start() + len(match.group().rstrip("\n")))
        if range_.end.line > range_.start.line:
            found.append((range_.start.line, range_.end.line, lsp.FoldingRangeKind.Comment))
    return tuple(found)


@lru_cache(maxsize=4096)
def _lines(piece: str) -> int:
    """The lines that a part of a text ends, as the protocol counts them."""
    return Text(piece).position(len(piece)).line


_COMMENTS = re.compile(r"(?:^[ \t]*(?://|#)[^\n]*(?:\n|$)){2,}|/\*.*?\*/", re.MULTILINE | re.DOTALL)
