"""What a contract lacks, and what would mend it: edits, each with what motivated it.

A kind of suggestion is a row of `KINDS` and a function here that finds its edits; all are pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...frozen import dataclass
from ..collation.candidate import Candidate, SuggestedEdit
from ..documents import item_name, spell_path
from ..pipeline import Checked
from .descriptions import descriptions
from .documentation import documentation, is_wording
from .evidence import Evidence
from .expectations import expectations
from .fragments import fragments
from .migration import migration_notes


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit, which kind of suggestion it is, and the place of the contract that it is about, as people read it; of a
    file that is to be made, nothing."""

    kind: str
    edit: SuggestedEdit
    where: str


KINDS = {
    "drift": "Drift reconciled",
    "description": "Missing descriptions",
    "documentation": "Documentation updated",
    "fragment": "New fragments",
    "test": "Tests suggested",
    "migration": "Version and migration notes",
}


def proposals(checked: Checked, candidate: Candidate, evidence: Evidence) -> tuple[Proposal, ...]:
    """What to change in the contract of a sound candidate and beside its assets, in the order of `KINDS`."""
    document = next(
        f.contract.document for f in checked.parsed.files if f.path == candidate.file and f.contract is not None
    )
    found = {
        "drift": (edit for edit in candidate.edits if not is_wording(edit)),
        "description": descriptions(document, candidate, evidence.known),
        "documentation": documentation(document, candidate, evidence),
        "fragment": fragments(checked, document, candidate, evidence.known),
        "test": expectations(document, candidate, evidence),
        "migration": migration_notes(checked, document, candidate),
    }
    places: dict[tuple[str, tuple[str | int, ...]], Proposal] = {}
    for kind in KINDS:
        for edit in found[kind]:
            places.setdefault((edit.file, edit.path), Proposal(kind, edit, _where(document.data, edit)))
    return tuple(places.values())


def _where(data: Mapping[str, Any], edit: SuggestedEdit) -> str:
    """The place of an edit; an item that is to be added to a list is called by its own name, not by its number."""
    name = item_name(edit.value)
    if edit.path and isinstance(edit.path[-1], int) and edit.replaces is None and name is not None:
        return f"{spell_path(data, edit.path[:-1])}[{name}]"
    return spell_path(data, edit.path)
