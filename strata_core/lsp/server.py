"""The language server: the protocol's requests become calls, and what comes back becomes answers.

Documents are kept on the desk (`desk.py`), not by pygls, which takes more characters for the end of a line than the
protocol does. What answers a request is loaded when it is first asked for: editors wait for the greeting.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from .legend import LEGEND

if TYPE_CHECKING:
    from .desk import Desk

WATCHED = ("**/*.strata", "**/strata.toml")
TRIGGERS = (".", '"')


class Protocol(LanguageServerProtocol):
    """pygls' protocol without its own documents."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Iterator[Any]:
        """Hand it on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Iterator[Any]:
        """Hand it on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Iterator[Any]:
        """Hand it on."""
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class Server(LanguageServer):
    """The server, and the desk of its editor."""

    def __init__(self, version: str) -> None:
        super().__init__("strata", version, protocol_cls=Protocol, max_workers=1)
        self.dismissed = False

    @cached_property
    def desk(self) -> Desk:
        """What the editor works on. Loads the compiler, for which the editor's greeting need not wait."""
        from .desk import Desk

        def folders() -> list[str]:
            return [*self.workspace.folders] or [uri for uri in [self.workspace.root_uri] if uri]

        return Desk(self.encoding, folders, self.text_document_publish_diagnostics, self.refresh)

    def refresh(self) -> None:
        """Ask the client to ask again for what it shows within the text, if it can."""
        workspace = self.client_capabilities.workspace
        if workspace and workspace.semantic_tokens and workspace.semantic_tokens.refresh_support:
            self.workspace_semantic_tokens_refresh(None)
        if workspace and workspace.inlay_hint and workspace.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    @property
    def encoding(self) -> str:
        """What positions are counted in, as agreed with the client."""
        return self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16


def make_server(version: str) -> Server:
    """The server with all its features."""
    server = Server(version)
    _documents(server)
    _places(server)
    _typing(server)
    _shown(server)
    _changes(server)
    return server


def _documents(server: Server) -> None:
    """What the client says of itself, of documents and of files."""

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.dismissed = True

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.desk.begin()
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace else None
        if watching and watching.dynamic_registration:
            watchers = [lsp.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = lsp.DidChangeWatchedFilesRegistrationOptions(watchers)
            wanted = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([wanted]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.desk.write(document.uri, document.text, document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        changes = [(getattr(change, "range", None), change.text) for change in params.content_changes]
        server.desk.change(document.uri, changes, document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.desk.close(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        server.desk.saved(params.text_document.uri)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.desk.moved([change.uri for change in params.changes])

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        server.desk.rehome()


def _places(server: Server) -> None:
    """What is asked about a place in a text."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        from .hover import hover

        found = await server.desk.state_of(params.text_document.uri)
        return hover(*found, params.position) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        from .navigation import definitions

        found = await server.desk.state_of(params.text_document.uri)
        return definitions(*found, params.position) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: lsp.ImplementationParams) -> list[lsp.Location]:
        from .navigation import implementations

        found = await server.desk.state_of(params.text_document.uri)
        return implementations(*found, params.position) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        from .navigation import references

        found = await server.desk.state_of(params.text_document.uri)
        return references(*found, params.position, params.context.include_declaration) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        from .navigation import highlights

        found = await server.desk.state_of(params.text_document.uri)
        return highlights(*found, params.position) if found else []


def _typing(server: Server) -> None:
    """What helps while one types."""

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=[*TRIGGERS], resolve_provider=True),
    )
    async def completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        from .completion import completion

        found = await server.desk.state_of(params.text_document.uri)
        snippets = _has_snippets(server.client_capabilities)
        typed = params.context.trigger_character if params.context else None
        return completion(*found, params.position, typed, snippets=snippets) if found else []

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        from .completion import document_of, resolved

        uri = document_of(item)
        found = await server.desk.state_of(uri) if uri else None
        return resolved(item, found[0]) if found else item

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["("], retrigger_characters=[","])
    )
    async def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        from .hover import signature_help

        found = await server.desk.state_of(params.text_document.uri)
        return signature_help(*found, params.position) if found else None


def _shown(server: Server) -> None:
    """What is shown of whole texts, in them or beside them."""

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        from .outline import document_symbols

        found = await server.desk.state_of(params.text_document.uri)
        return document_symbols(*found) if found else []

    @server.feature(lsp.WORKSPACE_SYMBOL)
    async def workspace_symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        from .outline import workspace_symbols

        return workspace_symbols(await server.desk.all_states(), params.query)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        from .outline import folding

        found = await server.desk.state_of(params.text_document.uri)
        return folding(*found) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        from .hints import inlay_hints

        found = await server.desk.state_of(params.text_document.uri)
        return inlay_hints(*found, params.range) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    async def semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        from .tokens import semantic_tokens

        found = await server.desk.state_of(params.text_document.uri)
        return semantic_tokens(*found) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    async def semantic_tokens_range(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens | None:
        from .tokens import semantic_tokens

        found = await server.desk.state_of(params.text_document.uri)
        return semantic_tokens(*found, params.range) if found else None


def _changes(server: Server) -> None:
    """Requests for changes of the text."""

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        from .actions import formatting

        text = server.desk.documents.get(params.text_document.uri)
        return None if text is None else formatting(text)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        from .actions import prepare_rename

        found = await server.desk.state_of(params.text_document.uri)
        return prepare_rename(*found, params.position) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        from .actions import rename, workspace_edit

        found = await server.desk.state_of(params.text_document.uri)
        if found is None:
            return None
        renamed = rename(*found, params.position, params.new_name)
        if renamed.warning is not None:
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, renamed.warning))
        return workspace_edit(renamed.edits, server.desk.versions, server.client_capabilities)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite]),
    )
    async def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        from .actions import code_actions, workspace_edit
        from .findings import shown

        found = await server.desk.state_of(params.text_document.uri)
        if found is None:
            return []
        return [
            lsp.CodeAction(
                one.title,
                one.kind,
                diagnostics=list(shown(one.mends, found[0])),
                edit=workspace_edit(one.edits, server.desk.versions, server.client_capabilities),
                is_preferred=one.preferred,
            )
            for one in code_actions(*found, params.range)
        ]


def _has_snippets(capabilities: lsp.ClientCapabilities) -> bool:
    document = capabilities.text_document
    completion_ = document.completion if document is not None else None
    item = completion_.completion_item if completion_ is not None else None
    return bool(item is not None and item.snippet_support)


def serve(version: str) -> bool:
    """Serve one editor over standard input and output; whether it said good-bye before it left."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="strata lsp: %(message)s")
    # pygls tells of every answer that was an error, which the client has been told already.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = make_server(version)
    server.start_io()
    return server.dismissed
