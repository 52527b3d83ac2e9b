"""The text of a suggestion, for reviewers: what the seed asks a pull request to say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import yaml

from ...diagnostics import Diagnostic
from ...diagnostics.markdown import markdown_cell, markdown_code
from ...diagnostics.render import legible
from ...diagnostics.wording import plural
from ..authored import AuthoredContract, Decline
from ..collation.candidate import SuggestedEdit
from .declines import short
from .proposals import KINDS, Proposal


def title(product: str, made: Sequence[Proposal]) -> str:
    """The first line."""
    return f"Contract of {product}: {plural(len(made), 'suggestion')}"


def body(
    contract: AuthoredContract,
    made: Sequence[Proposal],
    declined: Sequence[tuple[Proposal, Decline]],
    found: Sequence[Diagnostic],
    verdict: str,
    before: str,
) -> str:
    """Summary, changes, what was declined before, diagnostics, observations, compatibility and hints for reviewers, as
    Markdown. `found` and `verdict` are what validation says of the changed contract, `before` the verdict without the
    changes."""
    parts = (
        *_summary(contract, made, declined),
        *_observed(made, found),
        *("## Compatibility impact", ""),
        f"{verdict}." if verdict == before else f"{verdict}; without these changes it is {before}.",
        *_for_reviewers(contract, made),
    )
    return legible("\n".join(parts) + "\n")


def _summary(
    contract: AuthoredContract, made: Sequence[Proposal], declined: Sequence[tuple[Proposal, Decline]]
) -> Iterator[str]:
    yield "## Summary"
    yield ""
    yield f"Suggested changes of the contract {markdown_code(contract.id)} {contract.version}. Nothing is promoted."
    for kind, heading in KINDS.items():
        own = [p for p in made if p.kind == kind]
        if own:
            yield from ("", f"### {heading}", "")
            yield from (f"- {said(p)} (`{short(p)}`)" for p in own)
    if declined:
        yield from ("", "### Declined before, and left out", "")
        for one, decline in declined:
            yield f"- {said(one)} (`{short(one)}`): {markdown_cell(decline.by)}, {decline.at}: {_said(decline.reason)}"
    yield ""


def _observed(made: Sequence[Proposal], found: Sequence[Diagnostic]) -> Iterator[str]:
    yield from ("## Validation diagnostics", "")
    yield from (
        f"- {d.severity.value} {d.code}{f' at `{d.span}`' if d.span else ''}: {_said(d.message)}" for d in found
    )
    if not found:
        yield "None: the changed contract is valid."
    yield from ("", "## Observations that motivated it", "")
    yield from dict.fromkeys(
        f"- {_said(p.edit.reason)} (`{p.edit.source}`; {p.edit.confidence.value} confidence)" for p in made
    )
    yield ""


def _for_reviewers(contract: AuthoredContract, made: Sequence[Proposal]) -> Iterator[str]:
    yield from ("", "## For reviewers", "")
    owner = contract.owner
    yield f"- Owner: {markdown_cell(owner.team)}{f' ({markdown_cell(owner.contact)})' if owner.contact else ''}"
    if owner.approvers:
        yield f"- Approvers: {', '.join(map(markdown_cell, owner.approvers))}"
    yield "- What was observed is not what is meant: keep what the product promises, and drop the rest."
    yield from _how_to_decline(made)
    if any(p.kind in ("drift", "documentation") and p.edit.replaces is not None for p in made):
        yield "- Where a value is replaced, the tool may be wrong and the contract right: then mend the data."
    if any(p.edit.path[:1] == ("compatibility",) for p in made):
        yield "- The notes on compatibility are drafts: say what readers have to do before this is merged."


def _how_to_decline(made: Sequence[Proposal]) -> Iterator[str]:
    example = short(made[0])
    yield (
        "- To drop one for good, say so in the contract: "
        f"`declined_suggestions: [{{by: …, at: …, suggestions: [{example}], reason: …}}]`."
    )


def said(proposal: Proposal) -> str:
    """What an edit, or a file that is to be made, changes; as Markdown, in a line."""
    edit = proposal.edit
    if edit.path == ():
        columns = len(edit.value["columns"])
        return f"{markdown_code(edit.file)} is new: {plural(columns, 'column')}"
    return f"{markdown_code(proposal.where)}: {_change(edit)}"


def _change(edit: SuggestedEdit) -> str:
    value = markdown_code(_spelled(edit.value))
    return f"{value} is added" if edit.replaces is None else f"{markdown_code(_spelled(edit.replaces))} becomes {value}"


def _spelled(value: object) -> str:
    """A value in a line, as YAML spells it."""
    if isinstance(value, str):
        return value
    line: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6)
    return line.removesuffix("\n...\n").strip()


def _said(text: str) -> str:
    """A sentence whose names stand between backticks: these stay, and nothing else becomes markup."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        return markdown_cell(text)
    return "".join(markdown_code(p) if n % 2 else _MARKUP.sub(r"\\\g<0>", p) for n, p in enumerate(parts))


_MARKUP = re.compile(r"[\\|*_<>\[\]#]")
