"""One state of a project in an editor: a revision, and what features look up in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from lsprotocol.types import Location, Position, Range

from ..analysis.editing.candidates import Names
from ..analysis.editing.describe import Facts
from ..analysis.editing.index import Index, build_index
from ..analysis.editing.scope_at import Known
from ..analysis.editing.symbols import Occurrence
from ..diagnostics import Diagnostic, Span
from ..language import ast
from ..language.parser import ParseResult
from ..language.recovery import recover_module, recovered
from ..planning.kept.revisions import Revision
from .text import Text


@dataclass(frozen=True)
class State:
    """A revision with the texts that it was made from. `before` is the index of an earlier state; paths are those of
    `Project.files`, and `uri_of` says what the editor calls them; `faults` are wrong with the project itself.

    Trees, the index and what is compiled name lines by their numbers (`language/numbering.py`): `place` gives the
    number that a position has, `standing` where the text has a span of theirs. Findings are where the text has them.
    """

    revision: Revision
    texts: Mapping[str, Text]
    uri_of: Callable[[str], str]
    before: Index | None = None
    recovered: dict[str, tuple[ParseResult, ast.Module]] = field(default_factory=dict)
    faults: tuple[Diagnostic, ...] = ()

    @cached_property
    def modules(self) -> tuple[ast.Module, ...]:
        """The modules, broken declarations repaired where that can be done."""
        return tuple(self._module(path, parsed) for path, parsed in self.revision.modules.items())

    def _module(self, path: str, parsed: ParseResult) -> ast.Module:
        kept = self.recovered.get(path)
        if kept is None or kept[0] is not parsed:
            kept = self.recovered[path] = (parsed, recovered(parsed))
        return kept[1]

    def piece(self, path: str, offset: int) -> tuple[str, int]:
        """The part of a text that an edit at `offset` parses anew, and where it begins: whole declarations."""
        parsed, program = self.revision.modules.get(path), self.text(path).program
        start = 0
        for piece in parsed.pieces if parsed is not None else ():
            end = start + len(piece.text)
            if offset < end or end == len(program):
                return (piece.text, start) if program.startswith(piece.text, start) else (program, 0)
            start = end
        return program, 0

    @cached_property
    def index(self) -> Index:
        """The names of the project."""
        return build_index(self.modules, self.before, self.revision.memory.calls)

    @cached_property
    def known(self) -> Known:
        """What the compiler knows by name."""
        return Known(self.revision.memory.tables, self.revision.memory.domains, self.revision.compiled.contracts)

    @cached_property
    def facts(self) -> Facts:
        """What descriptions are made from."""
        return Facts(self.revision.compiled, self.known, self.index.tables, self.names.functions, self.names.externs)

    @cached_property
    def names(self) -> Names:
        """What completion offers."""
        models = {name: d for name, d in self.index.tables.items() if isinstance(d, ast.Model)}
        promising: dict[str, tuple[str, ...]] = {}
        for name, model in models.items():
            if model.contract is not None:
                promising[model.contract.text] = (*promising.get(model.contract.text, ()), name)
        paths = [PurePosixPath(path).with_suffix("").parts for path in self.revision.modules]
        functions = {d.name.text: d for module in self.modules for d in module.declarations if isinstance(d, ast.Fn)}
        externs = {d.name.text: d for module in self.modules for d in module.declarations if isinstance(d, ast.Extern)}
        dotted = tuple(".".join(path) for path in paths)
        return Names(self.known, frozenset(models), promising, dotted, functions, externs)

    def text(self, path: str) -> Text:
        """The text of a file; an empty one where there is none."""
        return self.texts.get(path) or Text("")

    @cached_property
    def standing_index(self) -> Index:
        """The names of the project where the texts have them: what edits of the texts are made from."""
        plain = {path for path, module in self.revision.modules.items() if module.numbering.is_plain}
        modules = tuple(m if m.path in plain else self._reread(m.path) for m in self.modules)
        return self.index if len(plain) == len(modules) else build_index(modules, self.index)

    def _reread(self, path: str) -> ast.Module:
        return recover_module(self.text(path).program, path)

    def place(self, path: str, position: Position) -> tuple[int, int]:
        """The line, by its number, and the column of a position."""
        line, column = self.text(path).place(position)
        parsed = self.revision.modules.get(path)
        return (line if parsed is None else parsed.numbering.number(line)), column

    def standing(self, span: Span) -> Span:
        """Where the text has `span`."""
        return self.revision.placed(span)

    def at(self, path: str, position: Position) -> list[Occurrence]:
        """The names at a position."""
        return self.index.at(path, *self.place(path, position))

    def declaration_at(self, path: str, position: Position) -> ast.Declaration | None:
        """The declaration around a position; within a template, the first model that is made of it."""
        place = self.place(path, position)
        model = self.index.generated_at(path, *place)
        if model is not None:
            return model
        for declaration in self.index.declarations.get(path, ()):
            span = declaration.span
            if (span.line, span.column) <= place <= (span.end_line, span.end_column):
                return declaration
        return None

    def range(self, span: Span) -> Range:
        """`span`, where the text has it, as a range of its file."""
        return self.text(span.file).range(span)

    def location(self, span: Span) -> Location:
        """`span`, where the text has it, as a place in its file."""
        return Location(self.uri_of(span.file), self.range(span))


def relative(path: Path, root: Path) -> str:
    """A file as `Project.files` names it."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
