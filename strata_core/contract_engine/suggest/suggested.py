"""The suggestions for one product as a whole: what would change in which files, and how that is told to reviewers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ...diagnostics import Diagnostic, Report, Severity
from ...frozen import dataclass, replace
from ..authored import Decline
from ..collation.candidate import Candidate, Confidence, SuggestedEdit
from ..compatibility.classify import next_version
from ..pipeline import Checked, Setting, examine
from ..tree import LeftOut, Tree
from .body import body, said, title
from .declines import short, sorted_out
from .edits import edited_files
from .evidence import evidence
from .known import Known
from .proposals import Proposal, proposals


@dataclass(frozen=True, slots=True)
class Suggested:
    """What is suggested for a candidate: the proposals that can be carried out, the new texts of files, and what was
    declined."""

    checked: Checked
    candidate: Candidate
    proposals: tuple[Proposal, ...]
    texts: Mapping[str, str]
    declined: tuple[tuple[Proposal, Decline], ...] = ()
    idle: tuple[tuple[str, Decline], ...] = ()

    @property
    def title(self) -> str:
        """The first line of what reviewers read."""
        return title(self.candidate.id, self.proposals)


def suggested(checked: Checked, candidate: Candidate, known: Known) -> Suggested:
    """What is suggested for a sound candidate, with the version that covers it. `known` is what is known around it
    (`known_around`)."""
    found = sorted_out(proposals(checked, candidate, evidence(checked, candidate, known)), candidate.contract)
    empty = Suggested(checked, candidate, (), {}, found.declined, found.idle)
    return _versioned(_carried_out(empty, found.open))


def _carried_out(made: Suggested, wanted: Iterable[Proposal]) -> Suggested:
    """The proposals that can be carried out, with the texts that they make."""
    wanted = tuple(wanted)
    texts, edits = edited_files(lambda file: made.checked.setting.tree.read(file).decode(), (p.edit for p in wanted))
    kept = tuple(p for p in wanted if any(p.edit is edit for edit in edits))
    return replace(made, proposals=kept, texts=texts)


def _versioned(made: Suggested) -> Suggested:
    """The same with the version that covers what is suggested: who merges it has a contract that holds."""
    candidate, path = made.candidate, ("version",)
    promoted = made.checked.promotions.get(candidate.id)
    if promoted is None or not made.proposals or any(p.edit.path == path for p in made.proposals):
        return made
    verdict = examine(changed_setting(made)).validated.compatibility.get(candidate.id)
    if verdict is None or verdict.against is None or all(d.code != "E130" for d in verdict.diagnostics):
        return made
    new, now = next_version(verdict.against, verdict.verdict), candidate.contract.version
    reason = f"with what is suggested here, the contract is {verdict.verdict} with {verdict.against}"
    edit = SuggestedEdit(candidate.file, path, new, now, reason, candidate.span(path), Confidence.HIGH)
    return _carried_out(made, (*made.proposals, Proposal("migration", edit, "version")))


def told(made: Suggested, changed: Setting) -> str:
    """What reviewers read below the title, of a project in which the suggestions are carried out."""
    after = examine(changed)
    again = after.collated.by_id[made.candidate.id]
    found = [d for d in after.diagnostics if d.span is not None and d.span.file in again.inputs]
    contract = again.contract if again.sound else made.candidate.contract
    verdicts = _verdict(after, again), _verdict(made.checked, made.candidate)
    return body(contract, made.proposals, made.declined, found, *verdicts)


def findings(made: Suggested) -> Iterator[Diagnostic]:
    """W180 for each suggestion, where it would be written; W181 for each decline that no suggestion is left for."""
    candidate = made.candidate
    for one in made.proposals:
        edit = one.edit
        new = edit.path == ()
        span = edit.source if edit.source.file == candidate.file else candidate.span(() if new else edit.path)
        fix = f"`contract-engine suggest` writes it, for review: {said(one)}"
        notes = (f"confidence: {edit.confidence.value}", f"to decline it, name `{short(one)}`")
        field_path = None if new else one.where
        yield Diagnostic("W180", edit.reason, span, Severity.INFO, fix=fix, notes=notes, field_path=field_path)
    yield from idle_declines(made)


def idle_declines(made: Suggested) -> Iterator[Diagnostic]:
    """W181 for each decline that no suggestion is left for."""
    places = {d: ("declined_suggestions", n) for n, d in enumerate(made.candidate.contract.declined_suggestions)}
    for name, decline in made.idle:
        message = f"`{name}`, which {decline.by} declined, is not suggested now: it rests on something else"
        fix = "take it out, unless what it rests on is out of reach here; what is suggested instead is told by another"
        yield made.candidate.finding("W181", message, places[decline], fix, severity=Severity.INFO)


def changed_setting(made: Suggested) -> Setting:
    """The project as it would be with the suggestions; nothing is written."""
    setting = made.checked.setting
    return replace(setting, tree=_ChangedTree(setting.tree, {f: t.encode() for f, t in made.texts.items()}))


@dataclass(frozen=True, slots=True)
class _ChangedTree:
    """A tree with other, or more, files in it."""

    tree: Tree
    contents: Mapping[str, bytes]

    def below(self, folder: str, report: Report, left_out: LeftOut | None = None) -> Iterator[str]:
        """The files in `folder`, the new ones last."""
        listed = list(self.tree.below(folder, report, left_out))
        inside = (f for f in self.contents if folder == "." or f.startswith(f"{folder.rstrip('/')}/"))
        yield from listed
        yield from (f for f in inside if f not in listed)

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at `path`."""
        return path in self.contents or self.is_folder(path) or self.tree.exists(path)

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`."""
        return any(f.startswith(f"{path}/") for f in self.contents) or self.tree.is_folder(path)

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return self.contents[path] if path in self.contents else self.tree.read(path)

    def digest(self, path: str) -> str:
        """SHA-256 of a file's content."""
        return hashlib.sha256(self.contents[path]).hexdigest() if path in self.contents else self.tree.digest(path)

    def measured(self, path: str) -> tuple[str, int]:
        """The digest of a file and its number of bytes."""
        return (self.digest(path), len(self.contents[path])) if path in self.contents else self.tree.measured(path)

    def local(self, path: str) -> Path | None:
        """Where a file lies that is not changed."""
        return None if path in self.contents else self.tree.local(path)


def _verdict(checked: Checked, candidate: Candidate) -> str:
    found = checked.validated.compatibility.get(candidate.id)
    return found.verdict.value if found else "not classified"
