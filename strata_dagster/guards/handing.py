"""Some partitions of a run are handed to the IO manager, others are not: Dagster itself hands on all or none."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from dagster import AssetKey, AssetMaterialization, MultiPartitionKey, PartitionsDefinition
from dagster._core.execution.plan.outputs import StepOutputHandle

from strata_core.planning.guarded.shares import which

from .frames import Frame, rows_where
from .made import Looking
from .op import GuardedOp


def values_of(looking: Looking, frame: Frame | Mapping[str, Frame], keys: Collection[str]) -> dict[str, Any]:
    """The value of each partition of `keys`, of one that has all of a run."""
    if isinstance(frame, Mapping):
        return {key: frame[key].value for key in keys}
    shares = looking.shares(looking.op.partitions(looking.key))
    return {key: rows_where(frame, which(frame.table, shares[key])) for key in keys}


def handed(op: GuardedOp, key: AssetKey, values: Mapping[str, Any]) -> Iterator[AssetMaterialization]:
    """Hand each of `values` to the IO manager of an asset as if a run of its partition had made it. Materializations
    are those that the IO manager tells of by itself."""
    step = op.context.op_execution_context.get_step_execution_context()
    partitions = op.guarded[key].partitions_def
    assert partitions is not None, "an asset of which a run makes partitions has them"
    output = StepOutputHandle(step.step.key, op.output_of(key))
    manager = step.get_io_manager(output)
    for partition, value in values.items():
        context = step.get_output_context(output)
        context._partition_key = _key(partitions, partition)
        context._asset_partitions_subset = partitions.subset_with_partition_keys([partition])
        told: Any = manager.handle_output(context, value)
        if inspect.isgenerator(told):
            yield from (one for one in told if isinstance(one, AssetMaterialization))


def _key(partitions: PartitionsDefinition, partition: str) -> str | MultiPartitionKey:
    found = getattr(partitions, "get_partition_key_from_str", None)
    return partition if found is None else found(partition)
