"""What may go live of what a guarded op has made and judged: the rule for one publication, without publishing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass

from dagster import AssetKey

from strata_core.contract_engine.pin.judging import Verdict

from .op import GuardedOp


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdicts that may go live, if any may (`publishes`). `refused` broke their contract, or some partitions of
    theirs did, or their contract cannot be used; `missing` was to be made and was not."""

    sound: Mapping[AssetKey, Verdict]
    publishes: bool
    refused: frozenset[AssetKey]
    missing: tuple[AssetKey, ...]


def decided(
    op: GuardedOp,
    judged: Mapping[AssetKey, Verdict],
    made: Collection[AssetKey],
    unusable: Set[AssetKey],
    *,
    together: bool,
    failed: bool,
) -> Decision:
    """What may go live of `judged`. `made` is what the op has yielded, `unusable` what is held to contracts that cannot
    be used; `together` says that all of a run goes live or nothing, `failed` that the op raised."""
    wanted = op.guarded.keys() & op.selected
    unsound = {key for key, one in judged.items() if not one.sound and (one.refused or not one.partitions)}
    whole = frozenset(wanted & (unusable | unsound))
    refused = whole | {key for key, one in judged.items() if one.refused}
    missing = () if failed else tuple(key for key in sorted(op.required & op.selected) if key not in made)

    def waits(key: AssetKey, verdict: Verdict) -> bool:
        """Whether what it is made of is refused. What has no partitions goes with all of those that others have."""
        above = op.above[key]
        return bool(above & whole) or (not verdict.partitions and bool(refused if together else above & refused))

    sound = {key: one for key, one in judged.items() if one.sound and not waits(key, one)}
    incomplete = bool(whole or missing or (failed and len(judged) < len(wanted)))
    return Decision(sound, bool(sound) and not (together and incomplete), refused, missing)
