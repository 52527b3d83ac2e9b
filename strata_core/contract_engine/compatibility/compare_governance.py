"""What changed of governance, of what agents may do, and of the window of a deprecation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..authored import AgentPermission, AuthoredContract, Governance
from ..documents import Path
from ..levels import Levels
from .changes import ProductChange, Sides, age_direction, by_id


def compare_governance(
    sides: Sides, old: AuthoredContract, new: AuthoredContract, levels: Levels
) -> Iterator[ProductChange]:
    """Each change of what governance intends; labels are compared by their `levels`."""
    before, after = old.governance or Governance(), new.governance or Governance()
    path: Path = ("governance",)
    if before.classification != after.classification:
        change = levels.rank(after.classification) - levels.rank(before.classification)
        rule = "classification-raised" if change > 0 else "classification-lowered"
        texts = before.classification, after.classification
        yield sides.change(rule, "governance.classification", *texts, path, (*path, "classification"))
    ages = tuple(g.retention.period if g.retention else None for g in (before, after))
    if direction := age_direction(ages[0], ages[1]):
        rule = "retention-extended" if direction > 0 else "retention-cut"
        yield sides.change(rule, "governance.retention", ages[0], ages[1], path, (*path, "retention"))
    had, has = before.availability or 0.0, after.availability or 0.0
    if had != has:
        rule = "availability-cut" if has < had else "availability-raised"
        texts = (f"{had:g}" if had else None), (f"{has:g}" if has else None)
        yield sides.change(rule, "governance.availability", *texts, path, (*path, "availability"))
    if set(before.residency) != set(after.residency):
        texts_ = sorted(before.residency), sorted(after.residency)
        yield sides.change("residency-changed", "governance.residency", *texts_, path, (*path, "residency"))
    if before.lawful_basis != after.lawful_basis:
        bases = before.lawful_basis, after.lawful_basis
        yield sides.change("lawful-basis-changed", "governance.lawful_basis", *bases, path, (*path, "lawful_basis"))
    masks = {m.column: m.rule for m in before.masking}, {m.column: m.rule for m in after.masking}
    for column in sorted(masks[0].keys() | masks[1].keys()):
        said, says = masks[0].get(column), masks[1].get(column)
        if said != says:
            rule = "masking-added" if said is None else "masking-dropped" if says is None else "masking-changed"
            yield sides.change(rule, f"governance.masking[{column}]", said, says, path, (*path, "masking"))


def compare_agents(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    """Each change of what an agent may do: more, less, or both."""
    before, after = by_id(old.agent_permissions, "agent"), by_id(new.agent_permissions, "agent")
    path: Path = ("agent_permissions",)
    for agent, (i, had) in before.items():
        where = f"agent_permissions[{agent}]"
        if agent not in after:
            yield sides.change("agent-removed", where, _granted(had), None, (*path, i), path)
            continue
        j, has = after[agent]
        said, says = _granted(had), _granted(has)
        if said == says:
            continue
        wider, narrower = _granted_more(had, has), _granted_more(has, had)
        for rule, holds in (("agent-widened", wider), ("agent-narrowed", narrower)):
            if holds:
                yield sides.change(rule, where, said, says, (*path, i), (*path, j))
        if not wider and not narrower:
            yield sides.change("text-changed", where, said, says, (*path, i), (*path, j))
    for agent, (j, has) in after.items():
        if agent not in before:
            yield sides.change("agent-added", f"agent_permissions[{agent}]", None, _granted(has), path, (*path, j))


def _granted(permission: AgentPermission) -> dict[str, Any]:
    return permission.plain(("agent",), defaults=False)


def _granted_more(before: AgentPermission, after: AgentPermission) -> bool:
    """Whether `after` grants anything that `before` does not."""
    old, new = before.constraints, after.constraints
    return (
        not set(after.actions) <= set(before.actions)
        or _beyond(before.assets, after.assets)
        or _beyond(old.columns, new.columns)
        or (before.expires is not None and (after.expires is None or after.expires > before.expires))
        or (old.row_limit is not None and (new.row_limit is None or new.row_limit > old.row_limit))
        or (bool(old.masked) and not new.masked)
        or (bool(old.requires_approval) and not new.requires_approval)
        or (old.max_classification is not None and old.max_classification != new.max_classification)
    )


def _beyond(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether `after` names more than `before`; an empty list names all."""
    return bool(before) and (not after or not set(after) <= set(before))


def compare_window(sides: Sides, old: AuthoredContract, new: AuthoredContract) -> Iterator[ProductChange]:
    """A sunset that was moved to an earlier day."""
    said = old.compatibility.deprecation if old.compatibility else None
    says = new.compatibility.deprecation if new.compatibility else None
    # A window that a later breaking change opens anew is another one.
    if said and says and says.announced == said.announced and says.sunset < said.sunset:
        path: Path = ("compatibility", "deprecation", "sunset")
        yield sides.change("sunset-earlier", "compatibility.deprecation.sunset", said.sunset, says.sunset, path, path)
