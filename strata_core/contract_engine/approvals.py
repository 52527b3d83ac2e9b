"""Who may approve a change, and which of the approvals under `compatibility` count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .authored import Approval, AuthoredContract
from .words import ApprovalKind


def who_approves(contract: AuthoredContract, promoted: AuthoredContract | None) -> tuple[str, ...]:
    """Whose approvals count: the approvers that the owner names, else the owning team. It was settled before the
    change, by the `promoted` version: nobody makes himself an approver along with what he approves."""
    owner = (promoted or contract).owner
    return owner.approvers or (owner.team,)


def approved(
    approvals: Iterable[Approval], kind: ApprovalKind, approvers: Iterable[str]
) -> Iterator[tuple[str, Approval]]:
    """The fingerprints that somebody approved who may, each with the approval."""
    allowed = frozenset(approvers)
    return ((f, a) for a in approvals if a.kind == kind and a.by in allowed for f in a.changes)
