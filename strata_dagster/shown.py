"""The context that a guarded op sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from inspect import isasyncgen
from typing import Any

from dagster import AssetCheckKey, AssetExecutionContext, AssetsDefinition


class Shown(AssetExecutionContext):
    """The context that the guarded op sees: that of the op as it was, which has none of the guard's checks.

    dagster-dbt tells dbt to run the tests of every selected check, and would not find these.
    """

    def __init__(self, context: AssetExecutionContext, original: AssetsDefinition) -> None:
        super().__init__(context.op_execution_context)
        self._original = original

    @cached_property
    def assets_def(self) -> AssetsDefinition:
        """The op's assets as they were before they were guarded, as far as they are selected."""
        original, keys = self._original, self.selected_asset_keys
        checks = set(self.selected_asset_check_keys)
        if keys == original.keys and checks == set(original.check_keys):
            return original
        return original.subset_for(keys, checks)

    @cached_property
    def selected_asset_check_keys(self) -> frozenset[AssetCheckKey]:
        """The selected checks that the op had before."""
        return frozenset(super().selected_asset_check_keys) & frozenset(self._original.check_keys)

    def add_output_metadata(
        self, metadata: Mapping[str, Any], output_name: str | None = None, mapping_key: str | None = None
    ) -> None:
        """As Dagster's; an op that had one output need not name it because it has those of checks now."""
        names = [*self._original.op.outs]
        sole = names[0] if len(names) == 1 else None
        super().add_output_metadata(metadata, output_name or sole, mapping_key)


def in_turn(context: AssetExecutionContext, made: Any) -> Iterator[Any]:
    """The events that an op makes; those of an `async` one as Dagster itself takes them."""
    if not isasyncgen(made):
        yield from made
        return
    loop = context.op_execution_context.get_step_execution_context().event_loop
    while True:
        try:
            yield loop.run_until_complete(anext(made))
        except StopAsyncIteration:
            return
