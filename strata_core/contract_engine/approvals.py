"""What owners approved under `compatibility`, as a plan asks for it: changes of Strata models that break consumers.

A plan names a change by its fingerprint (`strata plan`, E030 to E032); the product contract that has the model as an
asset allows it by an approval of kind `owner`, given by one of the owner's approvers where it names any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..planning.consumers import Approval


def approvals(root: Path) -> tuple[Approval, ...]:
    """The approvals in the contracts of the project in `root`. A contract that is not sound approves nothing: what is
    wrong with it is told by `contract-engine validate`."""
    from .discover import InputKind, discover  # a plan that breaks nobody needs none of this
    from .parse import parse_file
    from .pipeline import open_setting

    setting = open_setting(root)
    inputs = discover(setting.tree, setting.config, setting.root).of_kind(InputKind.CONTRACT)
    contracts = (parse_file(one, setting.tree).contract for one in inputs)
    return tuple(a for c in contracts if c is not None and c.sound for a in _approvals(c.document.data))


def _approvals(data: Mapping[str, Any]) -> Iterator[Approval]:
    from .authored import AuthoredContract

    contract = AuthoredContract.of(data)
    given = contract.compatibility.approvals if contract.compatibility else ()
    approvers = contract.owner.approvers
    models = [asset.ref or asset.id for asset in contract.assets if asset.kind == "strata_model"]
    for one in given:
        if one.kind == "owner" and (not approvers or one.by in approvers):
            yield from (Approval(model, change, one.by) for model in models for change in one.changes)
