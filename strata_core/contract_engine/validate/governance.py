"""Governance intent: does it hold together? The policy engine enforces it, not we (Seed 2, "Non-goals").

Codes: E151 (it does not), W153 (a label that has no level).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...contract.model import ContractError
from ...diagnostics import Report, Severity
from ...diagnostics.suggest import did_you_mean
from ...types.spelling import TypeSpellingError, parse_type
from ..authored import ColumnContract, MaskingIntent
from ..collation.candidate import Candidate
from ..documents import Path
from ..levels import Levels
from ..lowering import parse_mask
from ..naming import split_ref


def check_governance(candidate: Candidate, levels: Levels, report: Report) -> None:
    """E151 and W153 of one contract."""
    contract, governance = candidate.contract, candidate.contract.governance
    for label, path in _labels(candidate):
        if not levels.known(label):
            fix = did_you_mean(label, levels.named(), f'add it to `[classification] labels`: `{label} = "restricted"`')
            message = f"`{label}` has no level: it counts as the highest"
            report(candidate.finding("W153", message, path, fix, severity=Severity.WARNING))
    highest = max(
        ((levels.rank(c.classification), i, j) for i, a in enumerate(contract.assets) for j, c in enumerate(a.columns)),
        default=(0, 0, 0),
    )
    rank, i, j = highest
    if governance is None:
        return
    if governance.classification is not None and levels.rank(governance.classification) < rank:
        column = contract.assets[i].columns[j]
        message = (
            f"the product is classified as `{governance.classification}`, but its column "
            f"`{contract.assets[i].id}.{column.name}` as `{column.classification}`, which is higher"
        )
        fix = f"write `classification: {column.classification}`, or take the column out"
        report(candidate.finding("E151", message, ("governance", "classification"), fix))
    seen: set[str] = set()
    for k, intent in enumerate(governance.masking):
        path = ("governance", "masking", k)
        if intent.column in seen:
            message = f"`{intent.column}` is masked twice"
            report(candidate.finding("E151", message, path, "keep one of the two"))
        seen.add(intent.column)
        product, asset, name = split_ref(intent.column)
        if product not in (None, contract.id):
            message = f"`{intent.column}` is a column of another product: only its owner masks it"
            report(candidate.finding("E151", message, (*path, "column"), "mask columns of this product"))
            continue
        masked = next((c for a in contract.assets if a.id == asset for c in a.columns if c.name == name), None)
        own = masked.mask if masked is not None else None
        if own is None and masked is not None:
            _check_fits(candidate, masked, intent, (*path, "rule"), report)
        if own is not None and own != intent.rule:
            message = f"`{intent.column}` is masked by `{own}` at the column, and by `{intent.rule}` here"
            report(candidate.finding("E151", message, (*path, "rule"), "make the two the same, or leave one out"))


def _check_fits(
    candidate: Candidate, column: ColumnContract, intent: MaskingIntent, path: Path, report: Report
) -> None:
    mask = parse_mask(intent.rule)
    try:
        type_ = parse_type(column.type) if column.type is not None else None
        if mask is not None and type_ is not None:
            mask.require_fits(type_)
    except TypeSpellingError:
        pass  # E072 at the column
    except ContractError as error:
        report(candidate.finding("E151", f"`{intent.column}`: {error.message}", path, error.fix))


def _labels(candidate: Candidate) -> Iterator[tuple[str, Path]]:
    contract = candidate.contract
    if contract.governance and contract.governance.classification:
        yield contract.governance.classification, ("governance", "classification")
    for i, asset in enumerate(contract.assets):
        for j, column in enumerate(asset.columns):
            if column.classification:
                yield column.classification, ("assets", i, "columns", j, "classification")
    for i, permission in enumerate(contract.agent_permissions):
        if permission.constraints.max_classification:
            yield (
                permission.constraints.max_classification,
                ("agent_permissions", i, "constraints", "max_classification"),
            )
