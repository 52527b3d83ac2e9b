"""What an apply of a plan would make, told apart before it is made: who starts applies by itself asks for each once.

A candidate is what a model means together with what it would read: of data that is there its digest, of what is stale
upstream the candidate that it will be. While that stays, another apply would make the same, or fail in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..digests import hexdigest
from ..periods import Period
from .asked_periods import tables_of
from .pieces import inputs_of
from .plan import Plan, PlannedModel
from .workspace import Workspace

Key = tuple[str, str | None]
"""A model, and one of its partitions of time where it was planned by these."""


def candidates(workspace: Workspace, plan: Plan) -> dict[Key, str]:
    """The digest of each candidate of `plan`, upstream first."""
    live = workspace.live(plan.base)
    found: dict[Key, str] = {}
    planned_by_name = {planned.name: planned for planned in plan.stale}
    for planned in plan.stale:
        tables = tables_of(planned, live)
        own = (planned.fingerprint.local, planned.fingerprint.merkle)
        read = inputs_of(workspace.compiled.models[planned.name], (p for _, p in _periods(planned) if p), tables)
        whole = {name: upstream.digest for name, upstream in tables.items()}
        for key, period in _periods(planned):
            there = whole if period is None else read[period]
            above = _above(planned, period, planned_by_name, found)
            found[planned.name, key] = hexdigest(
                "candidate", *own, key or "", *(text for pair in sorted(there.items()) for text in pair), *above
            )
    return found


def _periods(planned: PlannedModel) -> Iterator[tuple[str | None, Period | None]]:
    if planned.periods is None:
        yield None, None
    else:
        yield from ((p.key, p.period) for p in planned.periods if p.causes)


def _above(
    planned: PlannedModel, period: Period | None, stale: dict[str, PlannedModel], found: dict[Key, str]
) -> Iterator[str]:
    """What will be made of what is stale upstream."""
    for name in sorted(u for u in planned.inputs if u in stale):
        for key, own in _periods(stale[name]):
            if period is None or own is None or own.overlaps(period):
                yield from (name, key or "", found[name, key])
