"""A project in memory while its files change: an editor's, or a code location's that is loaded again and again.

A `Revision` is the project as it stands, compiled. `revised` gives the next one; its cost is that of what the edit
reaches, wherever in its file. Every revision, placed, equals what `compile_` makes of the same text; it is never
written to disk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath

from ...analysis.compiled import CompiledProject
from ...analysis.memory import Memory
from ...analysis.project import recompile
from ...diagnostics import Diagnostic, Span, in_order
from ...diagnostics.placing import placed
from ...frozen import dataclass, replace
from ...language.parser import ParseResult, parse_bytes
from ...language.pieces import known_before
from ...relation.expressions import Expr
from ...relation.nodes import Relation
from ..cache import uncollected
from ..lints import ruled
from ..project import Project
from ..texts import SourceText

NOTHING_KNOWN = Memory()


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a project. `modules` are its parsed files by path, `memory` is what the next compilation spares,
    `diagnostics` are all findings in order, as `strata check` gives them.

    `compiled` and `memory` name lines by their numbers (`language/numbering.py`), findings are where the text has them.
    """

    project: Project
    modules: Mapping[str, ParseResult]
    compiled: CompiledProject
    memory: Memory
    diagnostics: tuple[Diagnostic, ...]

    def placed(self, span: Span) -> Span:
        """Where the text has `span`."""
        module = self.modules.get(span.file)
        return module.numbering.placed(span) if module is not None else span

    def standing(self) -> CompiledProject:
        """What is compiled, all of it where the text has it: as `compile_` gives it."""
        compiled = replace(self.compiled, diagnostics=self.diagnostics)
        if all(module.numbering.is_plain for module in self.modules.values()):
            return compiled
        return placed(compiled, self.placed, leaves=(Relation, Expr, Diagnostic))


def first_revision(project: Project) -> Revision:
    """`project` as it stands."""
    with uncollected():
        return compiled_from(project, {file.path: parse_bytes(file.content, file.path) for file in project.files})


def revised(before: Revision, edits: Mapping[str, bytes | None]) -> Revision:
    """The revision after `edits`: the new content of files by their paths as in `Project.files`, `None` for a file
    that is gone. A path that was not there is a new file."""
    files = {file.path: file for file in before.project.files}
    for path, content in edits.items():
        if content is None:
            files.pop(path, None)
        elif path not in files or files[path].content != content:
            files[path] = SourceText(path, content)
    if files.keys() != before.modules.keys():
        files = {path: files[path] for path in sorted(files, key=partial(_place, before.project.config.models))}
    project = replace(before.project, files=tuple(files.values()))
    unchanged = {id(file) for file in before.project.files}
    modules = before.modules

    def parsed(file: SourceText) -> ParseResult:
        if id(file) in unchanged:
            return modules[file.path]
        old = modules.get(file.path)
        return parse_bytes(file.content, file.path, known_before(old.pieces if old else ()))

    with uncollected():
        return compiled_from(project, {file.path: parsed(file) for file in project.files}, before.memory)


def changed_findings(before: Revision | None, after: Revision) -> dict[str, tuple[Diagnostic, ...]]:
    """The findings of each file whose findings are others than before (none, where they are gone), by path.

    Those without a place stand under the empty path.
    """
    old = _by_file(before.diagnostics) if before is not None else {}
    new = _by_file(after.diagnostics)
    return {path: new.get(path, ()) for path in dict.fromkeys((*old, *new)) if old.get(path, ()) != new.get(path, ())}


def _place(roots: Sequence[str], path: str) -> tuple[int, PurePosixPath]:
    """Where a file stands among the others: as in `read_project`, by the folder that names it, then by its path."""
    file = PurePosixPath(path)
    within = (i for i, root in enumerate(roots) if file.is_relative_to(root))
    return next(within, len(roots)), file


def compiled_from(project: Project, modules: Mapping[str, ParseResult], memory: Memory = NOTHING_KNOWN) -> Revision:
    """The revision of `project` whose files are parsed as `modules`, with what an earlier one left."""
    compiled, memory = recompile([result.module for result in modules.values()], memory)
    revision = Revision(project, modules, compiled, memory, ())
    problems = [diagnostic for result in modules.values() for diagnostic in result.diagnostics]
    found = in_order((*problems, *placed(compiled.diagnostics, revision.placed)))
    return replace(revision, diagnostics=ruled(found, project.files, project.config.lint))


def _by_file(diagnostics: tuple[Diagnostic, ...]) -> dict[str, tuple[Diagnostic, ...]]:
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        found.setdefault(diagnostic.span.file if diagnostic.span else "", []).append(diagnostic)
    return {path: tuple(those) for path, those in found.items()}
