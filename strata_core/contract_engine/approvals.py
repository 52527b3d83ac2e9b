"""Who may approve a change, and what was approved under `compatibility`: by validation, and as a plan asks for it.

A plan names a change of a Strata model by its fingerprint (`strata plan`, E030 to E032); the product contract that has
the model as an asset allows it by an approval of kind `owner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .authored import Approval, ApprovalKind, AuthoredContract

if TYPE_CHECKING:  # validation needs no plan
    from ..planning.catalog import Approved
    from .promotions import Promotion


def who_approves(contract: AuthoredContract, promoted: AuthoredContract | None) -> tuple[str, ...]:
    """Whose approvals count; empty: anybody's. It was settled before the change, by the `promoted` version: nobody
    makes himself an approver along with what he approves."""
    return (promoted.owner.approvers if promoted else ()) or contract.owner.approvers


def approved(
    approvals: Iterable[Approval], kind: ApprovalKind, approvers: Iterable[str]
) -> Iterator[tuple[str, Approval]]:
    """The fingerprints that somebody approved who may, each with the approval."""
    allowed = frozenset(approvers)
    return ((f, a) for a in approvals if a.kind == kind and (not allowed or a.by in allowed) for f in a.changes)


def approvals(root: Path) -> tuple[Approved, ...]:
    """What the contracts of the project in `root` approve of its models. A contract that is not sound approves
    nothing: what is wrong with it is told by `contract-engine validate`."""
    from .discover import InputKind, discover  # a plan that breaks nobody needs none of this
    from .parse import parse_file
    from .pipeline import open_setting
    from .promotions import latest

    setting = open_setting(root)
    inputs = discover(setting.tree, setting.config, setting.root).of_kind(InputKind.CONTRACT)
    parsed = (parse_file(one, setting.tree).contract for one in inputs)
    contracts = [AuthoredContract.of(c.document.data) for c in parsed if c is not None and c.sound]
    promoted, _ = latest(setting.promotions, {c.id for c in contracts})
    return tuple(one for contract in contracts for one in _of_models(contract, promoted.get(contract.id)))


def _of_models(contract: AuthoredContract, promotion: Promotion | None) -> Iterator[Approved]:
    from ..planning.catalog import Approved

    given = contract.compatibility.approvals if contract.compatibility else ()
    before = AuthoredContract.of(promotion.contract) if promotion else None
    models = [asset.ref or asset.id for asset in contract.assets if asset.kind == "strata_model"]
    for change, one in approved(given, "owner", who_approves(contract, before)):
        yield from (Approved(model, change, one.by) for model in models)
