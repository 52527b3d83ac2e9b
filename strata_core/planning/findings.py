"""The compiler's findings, kept by content: of an unchanged project nothing is loaded but them."""

from __future__ import annotations

from ..diagnostics import Diagnostic
from ..frozen import dataclass
from . import cache
from .project import Project, content_parts


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found, in order, and how many models there are, sound or not."""

    diagnostics: tuple[Diagnostic, ...]
    models: int


def findings(project: Project) -> Findings:
    """The findings on `project`, from the cache where its files are unchanged."""
    key = cache.content_key("findings", *content_parts(project))
    kept = cache.load(key)
    if isinstance(kept, Findings):
        return kept
    from .trail import checked  # the compiler, which an unchanged project needs not

    trail_key = cache.content_key("trail", str(project.root).encode(), project.config.name.encode())
    with cache.uncollected():
        revision, trail = checked(project, cache.load(trail_key))
        compiled = revision.compiled
        found = Findings(compiled.diagnostics, len(compiled.models) + len(compiled.broken))
        cache.save(key, found)
        if trail is not None:
            cache.save(trail_key, trail)
    return found
