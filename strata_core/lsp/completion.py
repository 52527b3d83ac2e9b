"""Completion: the candidates at a cursor, as the protocol has them."""

from __future__ import annotations

from lsprotocol import types as lsp

from ..analysis.editing.candidates import Candidate, Sort
from ..analysis.editing.completion import candidates
from ..analysis.editing.describe import describe
from ..analysis.editing.symbols import Kind, Symbol
from ..language.cursor import cursor_at
from .state import State

KINDS = {
    Sort.COLUMN: lsp.CompletionItemKind.Field,
    Sort.TABLE: lsp.CompletionItemKind.Class,
    Sort.CONTRACT: lsp.CompletionItemKind.Interface,
    Sort.DOMAIN: lsp.CompletionItemKind.TypeParameter,
    Sort.FUNCTION: lsp.CompletionItemKind.Function,
    Sort.TYPE: lsp.CompletionItemKind.TypeParameter,
    Sort.KEYWORD: lsp.CompletionItemKind.Keyword,
    Sort.PROPERTY: lsp.CompletionItemKind.Property,
    Sort.FIELD: lsp.CompletionItemKind.Field,
    Sort.VALUE: lsp.CompletionItemKind.EnumMember,
    Sort.MODULE: lsp.CompletionItemKind.Module,
}


def completion(
    state: State, path: str, position: lsp.Position, typed: str | None = None, *, snippets: bool
) -> list[lsp.CompletionItem]:
    """What can be written at a position, the likely first. `typed` is the character that made the editor ask: the quote
    that ends a string offers nothing."""
    text = state.text(path)
    offset = text.program_offset(position)
    piece, start = state.piece(path, offset)
    cursor = cursor_at(piece, offset - start, path)
    if cursor is None or (typed == '"' and not cursor.literal):
        return []
    # What is behind the cursor stays: a word that is there is not swallowed.
    range_ = text.range_of(start + cursor.start, offset)
    uri = state.uri_of(path)
    return [_item(one, range_, uri, snippets) for one in candidates(cursor, state.names)]


def _item(one: Candidate, range_: lsp.Range, uri: str, snippets: bool) -> lsp.CompletionItem:
    snippet = one.snippet if snippets else None
    data = None
    if one.symbol is not None:
        data = {"uri": uri, "kind": one.symbol.kind.value, "name": one.symbol.name, "owner": one.symbol.owner}
    return lsp.CompletionItem(
        one.label,
        kind=KINDS[one.sort],
        detail=one.detail or None,
        sort_text=f"{one.rank}{one.label}",
        filter_text=one.label,
        insert_text_format=lsp.InsertTextFormat.Snippet if snippet else lsp.InsertTextFormat.PlainText,
        text_edit=lsp.TextEdit(range_, snippet or one.text),
        data=data,
    )


def document_of(item: lsp.CompletionItem) -> str | None:
    """The document that an item was offered in."""
    uri = item.data.get("uri") if isinstance(item.data, dict) else None
    return uri if isinstance(uri, str) else None


def resolved(item: lsp.CompletionItem, state: State) -> lsp.CompletionItem:
    """`item` with what is known of it."""
    data = item.data
    if isinstance(data, dict) and data.get("kind") in {*Kind}:
        symbol = Symbol(Kind(data["kind"]), str(data.get("name")), str(data.get("owner", "")))
        shown = describe(symbol, state.facts)
        if shown is not None:
            item.documentation = lsp.MarkupContent(lsp.MarkupKind.Markdown, shown)
    return item
