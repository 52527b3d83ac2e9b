"""Who may approve a change, and what was approved under `compatibility`: by validation, and as a plan asks for it.

A plan names a change of a Strata model by its fingerprint (`strata plan`, E030 to E032), a guard one of a guarded
table; the product contract that has it as an asset allows it by an approval of kind `owner`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .authored import Approval, AuthoredContract
from .words import ApprovalKind

if TYPE_CHECKING:  # validation needs no plan
    from ..planning.catalog import Approved
    from .serving.promotions import Promotion


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


def approvals(root: Path) -> tuple[Approved, ...]:
    """What the contracts of the project in `root` approve of its models and guarded tables. A contract that is not
    sound approves nothing: what is wrong with it is told by `contract-engine validate`."""
    from .discover import InputKind, discover  # a plan that breaks nobody needs none of this
    from .parse import parse_file
    from .pipeline import open_setting
    from .serving.promotions import latest

    setting = open_setting(root)
    inputs = discover(setting.tree, setting.config, setting.root).of_kind(InputKind.CONTRACT)
    parsed = (parse_file(one, setting.tree).contract for one in inputs)
    contracts = [AuthoredContract.of(c.document.data) for c in parsed if c is not None and c.sound]
    promoted, _ = latest(setting.promotions, {c.id for c in contracts})
    return tuple(one for contract in contracts for one in _of_tables(contract, promoted.get(contract.id)))


def _of_tables(contract: AuthoredContract, promotion: Promotion | None) -> Iterator[Approved]:
    from ..planning.catalog import Approved

    given = contract.compatibility.approvals if contract.compatibility else ()
    before = AuthoredContract.of(promotion.contract) if promotion else None
    tables = [asset.table for asset in contract.assets]
    for change, one in approved(given, "owner", who_approves(contract, before)):
        yield from (Approved(table, change, one.by) for table in tables)
