"""The language server: the protocol's requests become calls, and what comes back becomes answers.

Edits are gathered for a moment, then the project is made anew (what the edit reaches) in a thread, and the findings of
files whose findings changed are sent. A request waits for that, so that its positions mean the text as it is; if it
takes long, it is answered from the last state. Documents are kept here, not by pygls, which takes more characters for
the end of a line than the protocol does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ..planning.config import CONFIG_NAME
from ..planning.project import SUFFIX
from ..planning.revisions import changed_findings
from . import actions, completion, hints, hover, navigation, outline, tokens
from .findings import shown
from .projects import EditedProject, Home, home_of, path_of
from .state import State
from .text import Text

log = logging.getLogger("strata.lsp")

DEBOUNCE = 0.02
"""Seconds without an edit after which the project is made anew; a project that takes long waits as long."""
PATIENCE = 2.0
"""Seconds after which a request is answered from the last state."""
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
    """The server with its documents and projects."""

    def __init__(self, version: str) -> None:
        super().__init__("strata", version, protocol_cls=Protocol, max_workers=1)
        self.documents: dict[str, Text] = {}
        self.versions: dict[str, int] = {}
        self.homes: dict[str, Home] = {}
        self.projects: dict[Home, EditedProject] = {}
        self.timers: dict[Home, asyncio.TimerHandle] = {}
        self.tasks: dict[Home, asyncio.Task[None]] = {}
        self.spent: dict[Home, float] = {}
        self.worker = ThreadPoolExecutor(1, "strata")

    # --- documents

    @property
    def encoding(self) -> str:
        """What positions are counted in, as agreed with the client."""
        return self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16

    @property
    def folders(self) -> list[Path]:
        """The folders of the workspace."""
        uris = [*self.workspace.folders] or [uri for uri in [self.workspace.root_uri] if uri]
        return [path for path in map(path_of, uris) if path is not None]

    def project_of(self, uri: str) -> EditedProject:
        """The project that a document belongs to."""
        home = self.homes.get(uri)
        if home is None:
            home = self.homes[uri] = home_of(uri, self.folders)
        return self.project(home)

    def project(self, home: Home) -> EditedProject:
        """The project at `home`."""
        return self.projects.setdefault(home, EditedProject(home, self.encoding))

    def write(self, uri: str, text: Text, version: int | None) -> None:
        """A document has this text now."""
        self.documents[uri] = text
        self.versions[uri] = version or 0
        project = self.project_of(uri)
        project.written(uri, text)
        self.schedule(project)

    def close(self, uri: str) -> None:
        """The client lets go of a document."""
        if self.documents.pop(uri, None) is None:
            return
        self.versions.pop(uri, None)
        project = self.project_of(uri)
        self.homes.pop(uri, None)
        project.closed(uri)
        if project.home.alone is not None:
            self.projects.pop(project.home, None)
            self.publish(project, {uri: ()})
        else:
            self.schedule(project)

    def rehome(self) -> None:
        """Documents may belong to other projects now: a configuration came, went or changed, or a folder did."""
        before = dict(self.homes)
        self.homes.clear()
        for uri, text in self.documents.items():
            project = self.project_of(uri)
            old = before.get(uri)
            if old is not None and old != project.home and old in self.projects:
                self.projects[old].closed(uri)
            project.written(uri, text)
        for home in [h for h in self.projects if h not in self.homes.values() and not _is_wanted(h, self.folders)]:
            project = self.projects.pop(home)
            self.publish(project, dict.fromkeys(project.published, ()))
        for project in self.projects.values():
            project.reread()
            self.schedule(project)

    def begin(self) -> None:
        """Take up the projects of the workspace's folders."""
        for folder in self.folders:
            if (folder / CONFIG_NAME).is_file():
                self.schedule(self.project(Home(folder.resolve())))

    # --- states

    def schedule(self, project: EditedProject) -> None:
        """Settle `project` as soon as nothing is typed for a moment."""
        timer = self.timers.pop(project.home, None)
        if timer is not None:
            timer.cancel()
        delay = max(DEBOUNCE, min(self.spent.get(project.home, 0.0), 1.0))
        loop = asyncio.get_running_loop()
        self.timers[project.home] = loop.call_later(delay, lambda: self.settle(project))

    def settle(self, project: EditedProject) -> asyncio.Task[None]:
        """The task after which the project's state is that of its texts as they are now."""
        task = self.tasks.get(project.home)
        if task is None or task.done():
            task = self.tasks[project.home] = asyncio.get_running_loop().create_task(self._settle(project))
        return task

    async def _settle(self, project: EditedProject) -> None:
        loop = asyncio.get_running_loop()
        while project.unsettled:
            timer = self.timers.pop(project.home, None)
            if timer is not None:
                timer.cancel()
            before, job, started = project.state, project.job(), loop.time()
            try:
                state = await loop.run_in_executor(self.worker, job)
            except Exception:  # the last line of defence: the next edit starts afresh
                log.exception("the project in %s could not be compiled", project.home.root)
                project.stale = True
                return
            self.spent[project.home] = loop.time() - started
            project.state = state
            self._tell(project, before, state)

    def _tell(self, project: EditedProject, before: State | None, state: State) -> None:
        """Send what is found in the files whose findings changed."""
        changed = changed_findings(before.revision if before is not None else None, state.revision)
        own = changed.pop("", ())
        found = {project.uri(path): shown(those, state) for path, those in changed.items()}
        faults = (*project.faults, *own)
        if project.home.alone is None and (faults or project.config_uri in project.published):
            found[project.config_uri] = shown(faults, state)
        # A file that has just been opened, under another name than before, is told of again.
        for path, uri in project.uris.items():
            if uri not in project.published and uri not in found:
                found[uri] = shown((d for d in state.revision.diagnostics if _file(d) == path), state)
        self.publish(project, found)

    def publish(self, project: EditedProject, found: dict[str, tuple[lsp.Diagnostic, ...] | tuple[()]]) -> None:
        """Send the findings of some documents."""
        for uri, those in found.items():
            self.text_document_publish_diagnostics(
                lsp.PublishDiagnosticsParams(uri, list(those), self.versions.get(uri))
            )
        project.published = (project.published - found.keys()) | {uri for uri, those in found.items() if those}

    async def state_of(self, uri: str) -> tuple[State, str] | None:
        """The state of the project of a document, and the document's path in it; None where there is none yet."""
        project = self.project_of(uri)
        if project.unsettled or self._busy(project):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self.settle(project)), PATIENCE)
        return None if project.state is None else (project.state, project.path(uri))

    def _busy(self, project: EditedProject) -> bool:
        task = self.tasks.get(project.home)
        return task is not None and not task.done()

    async def all_states(self) -> list[State]:
        """The states of all projects."""
        for project in [*self.projects.values()]:
            if project.unsettled or self._busy(project):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.shield(self.settle(project)), PATIENCE)
        return [project.state for project in self.projects.values() if project.state is not None]


def _is_wanted(home: Home, folders: list[Path]) -> bool:
    return home.alone is None and home.root in [folder.resolve() for folder in folders]


def _file(finding: Any) -> str:
    return finding.span.file if finding.span is not None else ""


def make_server(version: str) -> Server:
    """The server with all its features."""
    server = Server(version)
    _documents(server)
    _questions(server)
    _changes(server)
    return server


def _documents(server: Server) -> None:
    """What the client says of documents and files."""

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        server.begin()
        watching = (
            server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        )
        if watching and watching.dynamic_registration:
            patterns = [f"**/*{SUFFIX}", f"**/{CONFIG_NAME}"]
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(p) for p in patterns])
            wanted = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(lsp.RegistrationParams([wanted]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.write(document.uri, Text(document.text, server.encoding), document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        text = server.documents.get(uri) or Text("", server.encoding)
        for change in params.content_changes:
            text = Text(text.changed(getattr(change, "range", None), change.text), server.encoding)
        server.write(uri, text, params.text_document.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None and path.name == CONFIG_NAME:
            server.rehome()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
        if any(path.name == CONFIG_NAME for path in paths):
            server.rehome()
            return
        for path in paths:
            home = home_of(path.as_uri(), server.folders)
            if home in server.projects and home.alone is None:
                project = server.projects[home]
                project.moved(project.path(path.as_uri()))
                server.schedule(project)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        server.rehome()
        server.begin()


def _questions(server: Server) -> None:
    """Requests that change nothing."""

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover_(params: lsp.HoverParams) -> lsp.Hover | None:
        found = await server.state_of(params.text_document.uri)
        return hover.hover(*found, params.position) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        found = await server.state_of(params.text_document.uri)
        return navigation.definitions(*found, params.position) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_IMPLEMENTATION)
    async def implementation(params: lsp.ImplementationParams) -> list[lsp.Location]:
        found = await server.state_of(params.text_document.uri)
        return navigation.implementations(*found, params.position) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        found = await server.state_of(params.text_document.uri)
        return navigation.references(*found, params.position, params.context.include_declaration) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    async def highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        found = await server.state_of(params.text_document.uri)
        return navigation.highlights(*found, params.position) if found else []

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=[*TRIGGERS], resolve_provider=True),
    )
    async def completion_(params: lsp.CompletionParams) -> lsp.CompletionList:
        found = await server.state_of(params.text_document.uri)
        snippets = _has_snippets(server.client_capabilities)
        items = completion.completion(*found, params.position, snippets=snippets) if found else []
        return lsp.CompletionList(is_incomplete=False, items=items)

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    async def resolve(item: lsp.CompletionItem) -> lsp.CompletionItem:
        uri = completion.document_of(item)
        found = await server.state_of(uri) if uri else None
        return completion.resolved(item, found[0]) if found else item

    @server.feature(
        lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=["("], retrigger_characters=[","])
    )
    async def signature_help(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        found = await server.state_of(params.text_document.uri)
        return hover.signature_help(*found, params.position) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        found = await server.state_of(params.text_document.uri)
        return outline.document_symbols(*found) if found else []

    @server.feature(lsp.WORKSPACE_SYMBOL)
    async def workspace_symbols(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        return outline.workspace_symbols(await server.all_states(), params.query)

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    async def folding(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        found = await server.state_of(params.text_document.uri)
        return outline.folding(*found) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        found = await server.state_of(params.text_document.uri)
        return hints.inlay_hints(*found, params.range) if found else []

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, tokens.LEGEND)
    async def semantic_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens | None:
        found = await server.state_of(params.text_document.uri)
        return tokens.semantic_tokens(*found) if found else None


def _changes(server: Server) -> None:
    """Requests for changes of the text."""

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        text = server.documents.get(params.text_document.uri)
        return None if text is None else actions.formatting(text)

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: lsp.PrepareRenameParams) -> lsp.PrepareRenamePlaceholder | None:
        found = await server.state_of(params.text_document.uri)
        return actions.prepare_rename(*found, params.position) if found else None

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        found = await server.state_of(params.text_document.uri)
        if found is None:
            return None
        renamed = actions.rename(*found, params.position, params.new_name)
        if renamed.warning is not None:
            message = lsp.ShowMessageParams(lsp.MessageType.Warning, renamed.warning)
            server.window_show_message(message)
        return actions.workspace_edit(renamed.edits, server.versions, server.client_capabilities)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite]),
    )
    async def code_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        found = await server.state_of(params.text_document.uri)
        if found is None:
            return []
        made = actions.code_actions(*found, params.range)
        return [
            lsp.CodeAction(
                one.title,
                one.kind,
                diagnostics=list(shown(one.mends, found[0])),
                edit=actions.workspace_edit(one.edits, server.versions, server.client_capabilities),
                is_preferred=one.preferred,
            )
            for one in made
        ]


def _has_snippets(capabilities: lsp.ClientCapabilities) -> bool:
    document = capabilities.text_document
    completion_ = document.completion if document is not None else None
    item = completion_.completion_item if completion_ is not None else None
    return bool(item is not None and item.snippet_support)


def serve(version: str) -> None:
    """Serve one editor over standard input and output, until it says good-bye."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="strata lsp: %(message)s")
    # pygls tells of every answer that was an error, which the client has been told already.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    make_server(version).start_io()
