"""What a contract lacks, and what would mend it: edits, each with what motivated it.

A kind of suggestion is a row of `KINDS` and a function here that finds its edits; all are pure.
"""

from __future__ import annotations

from ...frozen import dataclass
from ..candidate import Candidate, SuggestedEdit
from ..parse.parsed import GeneratedAsset
from ..pipeline import Checked
from .descriptions import descriptions
from .documentation import documentation
from .evidence import Evidence
from .expectations import expectations
from .fragments import fragments
from .migration import migration_notes


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit, and which kind of suggestion it is."""

    kind: str
    edit: SuggestedEdit


KINDS = {
    "drift": "Drift reconciled",
    "description": "Missing descriptions",
    "documentation": "Documentation updated",
    "fragment": "New fragments",
    "test": "Tests suggested",
    "migration": "Migration notes drafted",
}


def proposals(checked: Checked, candidate: Candidate, evidence: Evidence | None = None) -> tuple[Proposal, ...]:
    """What to change in the contract of a sound candidate and beside its assets, in the order of `KINDS`."""
    evidence = evidence or Evidence()
    document = next(
        f.contract.document for f in checked.parsed.files if f.path == candidate.file and f.contract is not None
    )
    known: dict[str, GeneratedAsset] = {}
    for table in checked.parsed.generated:  # compiled ones come first, and count
        for ref in table.refs:
            known.setdefault(ref, table)
    found = {
        "drift": candidate.edits,
        "description": descriptions(document, known),
        "documentation": documentation(document, candidate, evidence),
        "fragment": fragments(checked, document, candidate, known),
        "test": expectations(document, candidate, known, evidence),
        "migration": migration_notes(checked, document, candidate),
    }
    places: dict[tuple[str, tuple[str | int, ...]], Proposal] = {}
    for kind in KINDS:
        for edit in found[kind]:
            places.setdefault((edit.file, edit.path), Proposal(kind, edit))
    return tuple(places.values())
