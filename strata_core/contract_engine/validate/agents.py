"""Agent permission intent: what agents may do, held against the rest of the contract. Code: E152."""

from __future__ import annotations

from datetime import date

from ...diagnostics import Related, Report
from ..authored import AgentPermission, AuthoredContract
from ..collation.candidate import Candidate
from ..documents import Path
from ..levels import Levels
from ..naming import split_ref

READS = frozenset({"read", "query", "export"})
"""Actions by which an agent sees values of rows."""


def check_agents(candidate: Candidate, levels: Levels, today: date, report: Report) -> None:
    """E152 for each permission that cannot be meant."""
    contract = candidate.contract
    seen: dict[str, int] = {}
    prohibited = {u.casefold() for u in (contract.usage.prohibited if contract.usage else ())}
    for i, permission in enumerate(contract.agent_permissions):
        path: Path = ("agent_permissions", i)
        if permission.agent in seen:
            first = candidate.span(("agent_permissions", seen[permission.agent]))
            message = f"`{permission.agent}` has two permissions"
            related = (Related(first, "the first is here"),)
            report(candidate.finding("E152", message, (*path, "agent"), "make one of the two", related=related))
        seen.setdefault(permission.agent, i)
        if permission.purpose and permission.purpose.casefold() in prohibited:
            message = f"the purpose of `{permission.agent}` is a prohibited usage of the product"
            report(candidate.finding("E152", message, (*path, "purpose"), "change one of the two"))
        if (expired := _expired(permission, today)) is not None:
            report(candidate.finding("E152", expired[0], (*path, "expires"), expired[1]))
        if (exposed := _exposed(permission, contract, levels)) is not None:
            fix = "add `constraints: {masked: true}`, raise `max_classification`, or name other `columns`"
            report(candidate.finding("E152", exposed, path, fix))
        unmasked = READS & set(permission.actions) and not permission.constraints.masked
        if permission.agent == "*" and unmasked and any(c.classification for a in contract.assets for c in a.columns):
            message, fix = "every agent may read classified columns unmasked", "add `constraints: {masked: true}`"
            report(candidate.finding("E152", message, path, fix))


def _expired(permission: AgentPermission, today: date) -> tuple[str, str] | None:
    """What is wrong with the day on which a permission ends, and the way out."""
    if permission.expires is None:
        return None
    try:
        until = date.fromisoformat(permission.expires)
    except ValueError:
        return f"`{permission.expires}` is no day of the calendar", "write it as `2026-12-31`"
    if until >= today:
        return None
    return f"the permission of `{permission.agent}` ended on {until}", "take the permission out, or extend it"


def _exposed(permission: AgentPermission, contract: AuthoredContract, levels: Levels) -> str | None:
    """Which column an agent would see above its own bound."""
    bound = permission.constraints
    if bound.max_classification is None or bound.masked or not READS & set(permission.actions):
        return None
    named = {split_ref(ref)[1:] for ref in bound.columns}
    for asset in contract.assets:
        if permission.assets and asset.id not in permission.assets:
            continue
        for column in asset.columns:
            if named and (asset.id, column.name) not in named:
                continue
            if levels.rank(column.classification) > levels.rank(bound.max_classification):
                return (
                    f"`{permission.agent}` may see up to `{bound.max_classification}`, but reads "
                    f"`{asset.id}.{column.name}`, which is `{column.classification}`"
                )
    return None
