"""A guarded op in a run: which of its assets are guarded, what it makes of them, and which checks a run selects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetsDefinition,
    AssetSpec,
    MaterializeResult,
    Output,
)

from ..names import CONTRACT


@dataclass(frozen=True)
class GuardedOp:
    """The op of `original` as `context` runs it. Its assets `required` have to be made where they are selected."""

    context: AssetExecutionContext
    original: AssetsDefinition
    required: frozenset[AssetKey]

    @cached_property
    def guarded(self) -> Mapping[AssetKey, AssetSpec]:
        """The guarded assets, selected or not."""
        return {s.key: s for s in self.context.assets_def.specs if CONTRACT in s.metadata}

    @cached_property
    def above(self) -> Mapping[AssetKey, frozenset[AssetKey]]:
        """The guarded assets that each asset of the op is made of, directly or not."""
        return {key: self._above(key) for key in self.original.keys}

    def _above(self, key: AssetKey) -> frozenset[AssetKey]:
        deps, found, stack = self.original.asset_deps, set[AssetKey](), [key]
        while stack:
            for upstream in deps.get(stack.pop(), ()):
                if upstream in deps and upstream not in found:
                    found.add(upstream)
                    stack.append(upstream)
        return frozenset(found & self.guarded.keys())

    @property
    def skippable(self) -> frozenset[AssetKey]:
        """The assets whose op may well make nothing (`output_required=False`)."""
        if self.original.can_subset:  # all outputs may be left out, by runs that do not select them
            return frozenset()
        optional = {name for name, out in self.original.op.outs.items() if not out.is_required}
        return frozenset(key for name, key in self.original.keys_by_output_name.items() if name in optional)

    def holds(self, key: AssetKey) -> bool:
        """Whether what is made of `key` waits for a verdict: it is guarded, or made of what is."""
        return key in self.guarded or bool(self.above[key])

    @property
    def selected(self) -> frozenset[AssetKey]:
        """The assets that are to be made."""
        return frozenset(self.context.selected_asset_keys)

    def key_of(self, event: Any) -> AssetKey | None:
        """The asset of the op that an event says was made."""
        match event:
            case Output(output_name=name):
                return self.original.node_keys_by_output_name.get(name)
            case MaterializeResult(asset_key=key) | AssetMaterialization(asset_key=key):
                sole = next(iter(self.original.keys)) if len(self.original.keys) == 1 else None
                return key if key in self.original.keys else sole if key is None else None
            case _:
                return None

    def output_of(self, key: AssetKey) -> str:
        """The output of the op that an asset is."""
        return next(name for name, made in self.original.keys_by_output_name.items() if made == key)

    def partitions(self, key: AssetKey) -> tuple[str, ...]:
        """The partitions that the run makes of a guarded asset; none where it has none, or the run is of checks
        alone."""
        of_some = self.context.has_partition_key or self.context.has_partition_key_range
        if self.guarded[key].partitions_def is None or not of_some:
            return ()
        return tuple(map(str, self.context.partition_keys))

    def asked(self, check: AssetCheckResult) -> bool:
        """Whether the run selects the check that `check` is the result of."""
        return check_key(check) in self.context.selected_asset_check_keys

    @property
    def checks(self) -> list[AssetCheckSpec]:
        """The selected checks that the guard has put on the op."""
        own = set(self.context.selected_asset_check_keys) - set(self.original.check_keys)
        return [s for s in self.context.assets_def.check_specs if s.key in own]


def check_key(check: AssetCheckResult) -> AssetCheckKey:
    """The check that a result of ours is of: ours name both."""
    assert check.asset_key is not None, "a result of the guard names its asset"
    assert check.check_name is not None, "a result of the guard names its check"
    return AssetCheckKey(check.asset_key, check.check_name)
