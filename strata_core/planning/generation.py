"""Programs for a project from a model: its names for the grammar, and its checker for what was sampled.

sampler = ...                      # any language.constrained.Sampler
generated = generate_in(project, sampler)
generated.program or generated.diagnostics
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ..diagnostics import Diagnostic, in_order
from ..frozen import replace
from ..language import ast
from ..language.constrained import FILE, Generated, Sampler, generate
from ..language.gbnf import gbnf
from ..language.gbnf_names import Vocabulary
from ..language.parser import parse_bytes
from ..language.tables import load_tables
from ..types.functions import CATALOG
from .project import Project, compile_
from .texts import SourceText

_NAMING = (ast.Assign, ast.Let, ast.Parameter, ast.For)
TABLE_SIZE = "row_count"  # what stands for a column in the expectations of a test


def generate_in(project: Project, sampler: Sampler) -> Generated:
    """A module that can be added to `project` as it stands: it names what exists and keeps every contract."""
    grammar = gbnf(vocabulary(project))
    return generate(grammar, sampler, lambda program: check_in(project, program))


def check_in(project: Project, program: str) -> tuple[Diagnostic, ...]:
    """What `strata check` would say if `program` were one more module of `project`, and does not say without it.

    A module of the project that already bears the name `generated.strata` is taken to be replaced.
    """
    others = tuple(file for file in project.files if file.path != FILE)
    with_program = replace(project, files=(*others, SourceText(FILE, program.encode(errors="surrogatepass"))))
    known = {(d.code, d.span, d.message) for d in compile_(project).diagnostics}
    return in_order([d for d in compile_(with_program).diagnostics if (d.code, d.span, d.message) not in known])


def vocabulary(project: Project) -> Vocabulary:
    """The names that exist in `project`: of what is broken there are no columns, and so it is left out."""
    compiled = compile_(project)
    modules = [parse_bytes(file.content, file.path).module for file in project.files]
    tables = {name: tuple(c.name for c in source.columns) for name, source in compiled.sources.items()}
    tables |= {name: model.relation.schema.names for name, model in compiled.models.items()}
    nodes = [node for module in modules for node in _nodes(module)]
    functions = {f.name: f for f in CATALOG.values() if f.surface}
    worded = {name: f for name, f in functions.items() if f.words}
    own = frozenset(n.name.text for n in nodes if isinstance(n, ast.Fn))
    externs = frozenset(n.name.text for n in nodes if isinstance(n, ast.Extern))
    return Vocabulary(
        tables=tables,
        columns=frozenset(n.name.text for n in nodes if isinstance(n, _NAMING)) | {TABLE_SIZE},
        contracts=frozenset(n.name.text for n in nodes if isinstance(n, ast.Contract)),
        functions=frozenset(functions.keys() - worded.keys()) | own | externs,
        generators=own - load_tables().keywords.keys(),
        word_functions=frozenset(worded),
        words=frozenset(word for f in worded.values() for words in f.words.values() for word in words),
    )


def _nodes(root: Any) -> Iterator[Any]:
    """All nodes of a tree."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for field in fields(node):
            value = getattr(node, field.name)
            children = value if isinstance(value, tuple) else (value,)
            pending += [child for child in children if is_dataclass(child)]
