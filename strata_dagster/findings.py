"""Diagnostics as Dagster shows them: in logs and errors, in a check's metadata, in descriptions; and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from strata_core.diagnostics import Diagnostic
from strata_core.diagnostics.render import render_text
from strata_core.planning.project import Project

LOG_WIDTH = 110
SHOWN = 50
"""The most findings of a list: an event of Dagster is no place for thousands."""


def findings(diagnostics: Iterable[Diagnostic], project: Project | None) -> str:
    """Diagnostics as plain text for logs and errors, with their source lines where the project is known."""
    return render_text(diagnostics, project.line_source if project else _unknown, color=False, width=LOG_WIDTH)


def fenced(diagnostics: Iterable[Diagnostic], project: Project | None) -> str:
    """Diagnostics with their source lines as a block of Markdown, in which columns stay under one another."""
    found = [*diagnostics]
    more = f"\n… and {len(found) - SHOWN:,} more\n" if len(found) > SHOWN else ""
    return f"````text\n{findings(found[:SHOWN], project)}{more}````\n"


def _unknown(_path: str) -> None:
    return None


def list_of(diagnostics: Iterable[Diagnostic]) -> str:
    """Findings with their places, notes and what to do about them, as a Markdown list."""
    found = [*diagnostics]
    lines = [_item(d) for d in found[:SHOWN]]
    lines += [f"- … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return "\n".join(lines) + "\n"


def _item(diagnostic: Diagnostic) -> str:
    places = [str(place) for place in (diagnostic.span, diagnostic.field_path) if place is not None]
    head = " ".join([f"- **{diagnostic.code}**", *(f"`{place}`" for place in places), diagnostic.message])
    return "\n  - ".join([head, *diagnostic.notes, *filter(None, [diagnostic.fix])])


def failure_lines(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """Each of the findings in a line of a run's failure, once."""
    found = [*dict.fromkeys(diagnostics)]
    for d in found[:SHOWN]:
        yield f"  {d.code} {d.message}" + (f" ({d.fix})" if d.fix else "")
    if len(found) > SHOWN:
        yield f"  … and {len(found) - SHOWN:,} more"
