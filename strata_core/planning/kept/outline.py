"""The outline of a project: what is known of its sources and models without running anything, small and kept.

An orchestrator loads it at every start, so it holds plain values only: no relations, no syntax trees. It is
kept by the content of the project's files (`cache.py`); of an unchanged project neither the compiler nor
its types are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Span
from ...frozen import dataclass
from ...periods import Periods
from .. import cache
from ..project import Project, content_parts


@dataclass(frozen=True, slots=True)
class ColumnOutline:
    """One column: its type as spelled in a cast, what is promised of it, and the upstream columns it comes from.

    `origins` are (model or source, column). `enum` is empty where no value set is promised.
    """

    name: str
    type: str
    nullable: bool
    unique: bool = False
    primary_key: bool = False
    protected: bool = False
    enum: tuple[str, ...] = ()
    classification: str | None = None
    description: str | None = None
    origins: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SourceOutline:
    """A source: its columns and where it is declared to be (`kind` as in `Resource`, `location` as written)."""

    name: str
    kind: str
    location: str
    columns: tuple[ColumnOutline, ...]
    description: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class ModelOutline:
    """A model. `module` is the dotted path of its file below the project's folder of models; `fingerprint` is the
    one that includes everything upstream; `attributes` are its `key: "text"` lines; `upstream` names the models
    and sources that it reads. `periods` are its partitions of time; `own_time` names the models upstream of which such
    a partition reads its own time alone. `unit_tests` and `expectations` count what its `test` blocks have of either.
    """

    name: str
    module: str
    fingerprint: str
    contract: str | None
    columns: tuple[ColumnOutline, ...]
    upstream: tuple[str, ...]
    attributes: Mapping[str, str]
    description: str | None
    span: Span
    periods: Periods | None = None
    own_time: tuple[str, ...] = ()
    unit_tests: int = 0
    expectations: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """Models in topological order, sources, and the compiler's findings. `broken` names the models that have errors or
    read from one that has; they are in no other member."""

    models: Mapping[str, ModelOutline]
    sources: Mapping[str, SourceOutline]
    diagnostics: tuple[Diagnostic, ...]
    broken: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep models from being run."""
        return tuple(d for d in self.diagnostics if d.blocks)


def outline(project: Project) -> Outline:
    """The outline of `project`, from the cache where its files are unchanged."""
    roots = "\0".join(project.config.models).encode()
    key = cache.content_key("outline", roots, *content_parts(project))
    kept = cache.load(key)
    if isinstance(kept, Outline):
        return kept
    from .outlining import make_outline  # compiles, which an unchanged project does not need

    made = make_outline(project)
    cache.save(key, made)
    return made
