"""Which suggestions were declined: as an approval of a change, a decline in the contract names a fingerprint, and holds
as long as the suggestion proposes the same for the same reason."""

from __future__ import annotations

from collections.abc import Iterable

from ...digests import hexdigest
from ...frozen import dataclass
from ..authored import AuthoredContract, Decline
from ..collation.merge_rules import canonical
from .proposals import Proposal


@dataclass(frozen=True, slots=True)
class Sorted:
    """Proposals as people decided: those that are open, those that were declined, and the fingerprints that were
    declined and are not proposed: what they rested on has changed, or the contract says it by now."""

    open: tuple[Proposal, ...]
    declined: tuple[tuple[Proposal, Decline], ...]
    idle: tuple[tuple[str, Decline], ...]


def fingerprint(proposal: Proposal) -> str:
    """What a decline is given to: what is proposed, where, in place of what, and for which reason."""
    edit = proposal.edit
    sides = canonical(edit.replaces), canonical(edit.value)
    return hexdigest("suggestion-1", proposal.kind, edit.file, proposal.where, *sides, edit.evidence or edit.reason)


def short(proposal: Proposal) -> str:
    """The fingerprint as people write it."""
    return fingerprint(proposal)[:12]


def sorted_out(proposals: Iterable[Proposal], contract: AuthoredContract) -> Sorted:
    """`proposals`, by what the contract declines."""
    given = [(f, d) for d in contract.declined_suggestions for f in d.suggestions]
    open_, declined, used = [], [], set[str]()
    for one in proposals:
        own = fingerprint(one)
        found = [(f, d) for f, d in given if own.startswith(f)]
        used.update(f for f, _ in found)
        if found:
            declined.append((one, found[0][1]))
        else:
            open_.append(one)
    return Sorted(tuple(open_), tuple(declined), tuple((f, d) for f, d in given if f not in used))
