"""Changes of the text: the layout, renames, and what mends a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from ..analysis.editing.rename import RenameRefusedError, nameable
from ..analysis.editing.rename import rename as renaming_of
from ..analysis.promise import contract_of
from ..diagnostics import Diagnostic, Edit, Span
from ..language import ast
from ..language.format import format_text
from ..language.names import spelled
from ..planning.lints import IN_VAIN, LINTS
from .state import State
from .text import Text

FileEdits = Mapping[str, Sequence[lsp.TextEdit]]
"""The edits of each document, by its URI."""


class RefusedError(JsonRpcException):
    """A request that is answered with why not, for the user to read."""

    CODE = int(lsp.LSPErrorCodes.RequestFailed)
    MESSAGE = "refused"


def formatting(text: Text) -> list[lsp.TextEdit] | None:
    """The lines that the canonical layout changes; None where the text does not parse."""
    before = text.program
    after = format_text(before, "").text
    if after is None:
        return None
    if after == before:
        return []
    # What is alike at both ends stays, so that the cursor and the marks of the editor do.
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    return [lsp.TextEdit(text.range_of(start, len(before) - end), after[start : len(after) - end])]


def _alike(a: str, b: str) -> int:
    """How many characters two texts begin with in common, in whole lines."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if a[:middle] == b[:middle] else (low, middle - 1)
    return low if low == len(a) == len(b) else a.rfind("\n", 0, low) + 1


def prepare_rename(state: State, path: str, position: lsp.Position) -> lsp.PrepareRenamePlaceholder | None:
    """The name that a rename at a position is about; raises `RefusedError`."""
    here = state.at(path, position)
    if not here:
        return None
    try:
        one = nameable(here[0], state.index)
    except RenameRefusedError as error:
        raise RefusedError(str(error)) from None
    return lsp.PrepareRenamePlaceholder(state.range(state.standing(one.span)), one.symbol.name)


@dataclass(frozen=True, slots=True)
class Renamed:
    """The edits of a rename, and what its user should know."""

    edits: FileEdits
    warning: str | None


def rename(state: State, path: str, position: lsp.Position, name: str) -> Renamed:
    """Rename what stands at a position; raises `RefusedError`."""
    here = state.at(path, position)
    if not here:
        raise RefusedError("there is no name here")
    try:
        symbol = nameable(here[0], state.index).symbol
        renaming = renaming_of(symbol, name, state.standing_index, lambda file: state.text(file).program)
    except RenameRefusedError as error:
        raise RefusedError(str(error)) from None
    edits = {state.uri_of(file): _text_edits(those, state) for file, those in renaming.edits.items()}
    warning = None
    if renaming.sources:
        tables = ", ".join(f"`{source}`" for source in renaming.sources)
        warning = f"the declared columns of {tables} changed: the data must have the new name too"
    return Renamed(edits, warning)


def _text_edits(edits: Iterable[Edit], state: State) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(state.range(edit.span), edit.text) for edit in edits]


def workspace_edit(
    edits: FileEdits, versions: Mapping[str, int], capabilities: lsp.ClientCapabilities
) -> lsp.WorkspaceEdit:
    """`edits` as the client takes them: bound to the versions of its documents where it can."""
    workspace = capabilities.workspace
    versioned = workspace.workspace_edit.document_changes if workspace and workspace.workspace_edit else False
    if not versioned:
        return lsp.WorkspaceEdit(changes={uri: [*those] for uri, those in edits.items()})
    return lsp.WorkspaceEdit(
        document_changes=[
            lsp.TextDocumentEdit(lsp.OptionalVersionedTextDocumentIdentifier(uri, versions.get(uri)), [*those])
            for uri, those in edits.items()
        ]
    )


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that an editor offers to do."""

    title: str
    kind: lsp.CodeActionKind
    edits: FileEdits
    mends: tuple[Diagnostic, ...] = ()
    preferred: bool = False


def code_actions(state: State, path: str, range_: lsp.Range) -> list[Action]:
    """What mends the findings in a part of a file, and what else can be done there."""
    text = state.text(path)
    first, last = text.place(range_.start), text.place(range_.end)
    here = [d for d in state.revision.diagnostics if d.span is not None and _touches(d.span, path, first, last)]
    return [*_fixes(here, state), *_allowances(here, state), *_contracts(path, range_, state)]


def _touches(span: Span, path: str, first: tuple[int, int], last: tuple[int, int]) -> bool:
    return span.file == path and (span.line, span.column) <= last and first <= (span.end_line, span.end_column)


def _fixes(here: Iterable[Diagnostic], state: State) -> Iterator[Action]:
    for finding in here:
        for suggestion in finding.suggestions:
            by_file: dict[str, list[Edit]] = {}
            for edit in suggestion.edits:
                by_file.setdefault(edit.span.file, []).append(edit)
            edits = {state.uri_of(file): _text_edits(those, state) for file, those in by_file.items()}
            only = len(finding.suggestions) == 1
            yield Action(suggestion.title, lsp.CodeActionKind.QuickFix, edits, (finding,), only)


def _allowances(here: Iterable[Diagnostic], state: State) -> Iterator[Action]:
    """A lint can be allowed where it is found, with a reason that is to be written."""
    for finding in here:
        if finding.code not in LINTS or finding.code == IN_VAIN:
            continue
        assert finding.span is not None
        line = state.text(finding.span.file).program.split("\n")[finding.span.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        at = Span(finding.span.file, finding.span.line, 1, finding.span.line, 1)
        edit = Edit(at, f"{indent}// strata: allow {finding.code} because …\n")
        edits = {state.uri_of(finding.span.file): _text_edits([edit], state)}
        yield Action(f"allow {finding.code} here, with a reason", lsp.CodeActionKind.QuickFix, edits, (finding,))


def _contracts(path: str, range_: lsp.Range, state: State) -> Iterator[Action]:
    """A sound model without a contract can be given one that promises what is proven of it."""
    model = state.declaration_at(path, range_.start)
    if not isinstance(model, ast.Model) or model.contract is not None:
        return
    compiled = state.revision.compiled.models.get(model.name.text)
    name = state.standing(model.name.span)
    if compiled is None or state.text(path).place(range_.start)[0] != name.line:
        return
    promise = contract_of(compiled, frozenset(state.known.contracts))
    edits = [
        Edit(state.standing(model.span).start, f"{promise.text}\n"),
        Edit(name.end, f" -> contract {spelled(promise.name)}"),
    ]
    found = tuple(d for d in state.revision.diagnostics if d.code == "W001" and d.span == name)
    title = f"promise its columns in a contract `{promise.name}`"
    yield Action(title, lsp.CodeActionKind.RefactorRewrite, {state.uri_of(path): _text_edits(edits, state)}, found)
