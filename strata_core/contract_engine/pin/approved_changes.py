"""Which changes of tables their owners approved, as a plan asks for it.

A plan names a change of a Strata model by its fingerprint (`strata plan`, E030 to E032), a guard one of a guarded
table; the product contract that has it as an asset allows it by an approval of kind `owner`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..approvals import approved, who_approves
from ..authored import AuthoredContract

if TYPE_CHECKING:  # a plan that breaks nobody needs none of this
    from ...planning.catalog import Approved
    from ..promotions import Promotion


def approved_changes(root: Path) -> tuple[Approved, ...]:
    """What the contracts of the project in `root` approve of its models and guarded tables. A contract that is not
    sound approves nothing: what is wrong with it is told by `contract-engine validate`."""
    from ..discover import InputKind, discover
    from ..parse import parse_file
    from ..pipeline import open_setting
    from ..promotions import latest

    setting = open_setting(root)
    inputs = discover(setting.tree, setting.config, setting.root).of_kind(InputKind.CONTRACT)
    parsed = (parse_file(one, setting.tree).contract for one in inputs)
    contracts = [AuthoredContract.of(c.document.data) for c in parsed if c is not None and c.sound]
    promoted, _ = latest(setting.promotions, {c.id for c in contracts})
    return tuple(one for contract in contracts for one in _of_tables(contract, promoted.get(contract.id)))


def _of_tables(contract: AuthoredContract, promotion: Promotion | None) -> Iterator[Approved]:
    from ...planning.catalog import Approved

    given = contract.compatibility.approvals if contract.compatibility else ()
    before = AuthoredContract.of(promotion.contract) if promotion else None
    tables = [asset.table for asset in contract.assets]
    for change, one in approved(given, "owner", who_approves(contract, before)):
        yield from (Approved(table, change, one.by) for table in tables)
