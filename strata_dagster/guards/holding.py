"""Partitions that wait for those of other assets of the same op, as they would if a run made each of them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from dagster import AssetKey

from strata_core.contract_engine.observations import SeenTest
from strata_core.contract_engine.pin.guard import Guard
from strata_core.contract_engine.pin.judging import Verdict
from strata_core.contract_engine.pin.partitions import admitted


def held_back(
    guard: Guard,
    judged: Mapping[AssetKey, Verdict],
    seen: Callable[[AssetKey], Mapping[str, SeenTest] | None],
    above: Mapping[AssetKey, Set[AssetKey]],
    *,
    together: bool,
) -> dict[AssetKey, Verdict]:
    """`judged` without the partitions of which another asset is not going live: one that theirs are made of (`above`),
    or, where all of a run go live together, any. `seen` gives what dbt's tests of this run gave of an asset."""
    found, changed = dict(judged), True
    while changed:
        changed = False
        for key, verdict in found.items():
            others = {*found} - {key} if together else above[key] & found.keys()
            out = {p for other in others for p in found[other].partitions if p not in found[other].going_live}
            if verdict.partitions and out & {*verdict.going_live}:
                found[key] = admitted(guard, verdict, {*verdict.going_live} - out, seen(key))
                changed = True
    return found
