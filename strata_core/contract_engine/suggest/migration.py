"""What goes with a change since the version that was promoted: the version that says it, and of a breaking change of a
live contract drafts of what readers have to know."""

from __future__ import annotations

from collections.abc import Iterator

from ...contract.changes import Impact
from ...diagnostics.listing import listed
from ..collation.candidate import Candidate, Confidence, SuggestedEdit
from ..compatibility.changes import ProductChange, changes_of
from ..compatibility.classify import next_version
from ..compatibility.verdict import Compatibility
from ..documents import Document, value_at
from ..pipeline import Checked
from ..placeholders import ASKED

_SHOWN = 12


def migration_notes(checked: Checked, document: Document, candidate: Candidate) -> Iterator[SuggestedEdit]:
    """The version where it does not cover the changes (E130); the impact on consumers and the notes where the contract
    has none and what was promoted is broken."""
    verdict = checked.validated.compatibility.get(candidate.id)
    if verdict is None or verdict.against is None:
        return
    yield from _version(document, candidate, verdict, verdict.against)
    breaking = changes_of(verdict.changes, Impact.MAJOR) if verdict.verdict.value == "major-breaking" else ()
    drafts = {
        "consumer_impact": _impact(breaking, verdict.against),
        "migration_notes": _notes(breaking, verdict.against),
    }
    for name, text in drafts.items():
        path = ("compatibility", name)
        if breaking and not value_at(document.data, path):
            count = f"{len(breaking)} change{' breaks' if len(breaking) == 1 else 's break'}"
            reason = f"{count} readers of {verdict.against}"
            yield SuggestedEdit(document.file, path, text, None, reason, document.span(()), Confidence.HIGH)


def _version(document: Document, candidate: Candidate, verdict: Compatibility, against: str) -> Iterator[SuggestedEdit]:
    fault = next((d for d in verdict.diagnostics if d.code == "E130"), None)
    if fault is not None:
        version, path = next_version(against, verdict.verdict), ("version",)
        span = candidate.span(path)
        yield SuggestedEdit(
            document.file, path, version, candidate.contract.version, fault.message, span, Confidence.HIGH
        )


def _notes(breaking: tuple[ProductChange, ...], against: str) -> str:
    lines = [f"- {c.where}: {c.rule.says}{_sides(c)}" for c in breaking]
    return f"{ASKED}: say what readers of {against} have to do.\n" + "\n".join(lines) + "\n"


def _sides(change: ProductChange) -> str:
    sides = [f"{word} `{side}`" for word, side in (("was", change.before), ("is", change.after)) if side]
    return f" ({', '.join(sides)})" if sides else ""


def _impact(breaking: tuple[ProductChange, ...], against: str) -> str:
    """Who reads what breaks, as lineage knows it."""
    lines = [
        f"- {c.where}: {f'read by {listed(c.consumers, _SHOWN)}' if c.consumers else 'nothing here reads it'}"
        for c in breaking
    ]
    return f"{ASKED}: say what this does to readers of {against}.\n" + "\n".join(lines) + "\n"
