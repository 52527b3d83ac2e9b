"""A draft of the migration notes that a breaking change of a live contract needs."""

from __future__ import annotations

from collections.abc import Iterator

from ...contract.changes import Impact
from ..candidate import Candidate, SuggestedEdit
from ..documents import Document, value_at
from ..pipeline import Checked


def migration_notes(checked: Checked, document: Document, candidate: Candidate) -> Iterator[SuggestedEdit]:
    """The notes, where the contract has none and what was promoted is broken."""
    verdict = checked.validated.compatibility.get(candidate.id)
    told = value_at(document.data, ("compatibility", "migration_notes"))
    breaking = [c for c in verdict.changes if c.impact is Impact.MAJOR] if verdict else []
    if verdict is None or verdict.verdict.value != "major-breaking" or told or not breaking:
        return
    lines = [f"- {c.where}: {c.rule.says}" for c in breaking]
    text = f"TODO: say what readers of {verdict.against} have to do.\n" + "\n".join(lines) + "\n"
    path = ("compatibility", "migration_notes")
    reason = f"{len(breaking)} changes break readers of {verdict.against}"
    yield SuggestedEdit(document.file, path, text, None, reason, document.span(()))
