"""The compiler's findings, kept by content: of an unchanged project nothing is loaded but them."""

from __future__ import annotations

import re

from ...diagnostics import Diagnostic, Span
from ...frozen import dataclass
from .. import cache
from ..project import Project, content_parts
from ..texts import SourceText

_OF_DBT = re.compile(
    rb"""/\*.*?\*/|(?://|\#)[^\n]*|"(?:\\.|[^"\\])*"|\b(source[ \t]+(?:\w+|`[^`\n]+`))\s*\(\s*dbt\s*:""", re.DOTALL
)
"""A source that dbt makes; comments and texts, which may read as one, before it."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, in order, and how many models there are, sound or not. `dbt` is where the first source that dbt
    makes is declared."""

    diagnostics: tuple[Diagnostic, ...]
    models: int
    dbt: Span | None = None


def findings(project: Project) -> Findings:
    """The findings on `project`, from the cache where its files are unchanged."""
    key = cache.content_key("findings", *content_parts(project))
    kept = cache.load(key)
    if isinstance(kept, Findings):
        return kept
    with cache.uncollected():
        found = _found(project)
    cache.save(key, found)
    return found


def _found(project: Project) -> Findings:
    """The findings on `project`, and the trail for the next check."""
    from .trail import checked  # the compiler, which an unchanged project does not need

    key = cache.content_key("trail", str(project.root).encode(), project.config.name.encode())
    kept = cache.load(key)
    revision, trail = checked(project, kept)
    if trail is not kept:
        cache.save(key, trail)
    compiled = revision.compiled
    # To take it all apart again takes a while, and is for nothing where the process ends: a ring is left to the
    # collector, which a process that lives on has.
    ring: list[object] = [revision]
    ring.append(ring)
    # What a trail left of sources says nothing of where they are: the text does.
    dbt = next((span for file in project.files if (span := _declared_of_dbt(file)) is not None), None)
    return Findings(revision.diagnostics, len(compiled.models) + len(compiled.broken), dbt)


def _declared_of_dbt(file: SourceText) -> Span | None:
    there = _OF_DBT.finditer(file.content) if b"dbt" in file.content else ()
    found = next((one for one in there if one[1] is not None), None)
    if found is None:
        return None
    before, named = (part.decode(errors="replace") for part in (file.content[: found.start(1)], found[1]))
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Span(file.path, line, column, line, column + len(named))
