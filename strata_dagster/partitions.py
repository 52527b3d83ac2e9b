"""Partitions of time of models as those of Dagster, and what a run asks for of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dagster import (
    AllPartitionMapping,
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    AssetSpec,
    DagsterInvalidDefinitionError,
    Failure,
    PartitionsDefinition,
    TimeWindowPartitionMapping,
    TimeWindowPartitionsDefinition,
)

from strata_core.periods import Every, Periods, period_of
from strata_core.planning.kept.outline import ModelOutline

from .names import CODE_VERSION_TAG, DATA_VERSION_TAG, INPUT_POINTER_TAG, INPUT_VERSION_TAG, MODEL

if TYPE_CHECKING:  # a code location does without planning and its libraries
    from strata_core.planning.partitions.asked_periods import Asked

CRON = {Every.HOUR: "0 * * * *", Every.DAY: "0 0 * * *", Every.WEEK: "0 0 * * 1", Every.MONTH: "0 0 1 * *"}


def time_windows(periods: Periods) -> TimeWindowPartitionsDefinition:
    """`periods` in UTC, with the keys that Strata gives them. Without an end, one is there once its time is over."""
    fmt = "%Y-%m-%d-%H:%M" if periods.length is Every.HOUR else "%Y-%m-%d"
    bounds = periods.bounds
    end = bounds.end.strftime(fmt) if periods.end is not None else None
    return TimeWindowPartitionsDefinition(
        start=bounds.start.strftime(fmt), end=end, fmt=fmt, cron_schedule=CRON[periods.length], timezone="UTC"
    )


def with_partitions(
    specs: Sequence[AssetSpec], chosen: PartitionsDefinition[str] | None, models: Mapping[str, ModelOutline]
) -> list[AssetSpec]:
    """`specs` with the partitions that are `chosen` in place of those of all that have some. Raises
    `DagsterInvalidDefinitionError` where the partitions of an asset are none of its model: a run would make other rows
    than the partition is of."""
    found = [
        spec if chosen is None or spec.partitions_def is None else spec.replace_attributes(partitions_def=chosen)
        for spec in specs
    ]
    given: dict[tuple[Periods | None, PartitionsDefinition[str]], ModelOutline] = {}
    for spec in found:
        model = models.get(str(spec.metadata[MODEL]))
        if model is not None and spec.partitions_def is not None:
            given.setdefault((model.periods, spec.partitions_def), model)
    for (periods, partitions), model in given.items():
        _require_alike(model, periods, partitions)
    return found


def _require_alike(model: ModelOutline, periods: Periods | None, given: PartitionsDefinition[str]) -> None:
    named = f"model `{model.name}` ({model.span})"
    if periods is None:
        told = f"{named} has no partitions of time, and its asset is given some"
        fix = "let `get_partitions_def` of the translator give None, or give the model a `partition_start`"
        raise DagsterInvalidDefinitionError(f"E037: {told}: {fix}")
    if not isinstance(given, TimeWindowPartitionsDefinition):
        return  # its keys are none of time, or nobody knows them before a run
    window = given.get_next_partition_window(given.start, respect_bounds=False)
    if window is None:
        return
    key, following = window.start.strftime(given.fmt), window.end.strftime(given.fmt)
    period = period_of(key, periods.every)
    if period is None or periods.key(period) != key or period_of(following, periods.every) != periods.at(period.end):
        first = periods.key(periods.at(periods.bounds.start))
        told = f"a partition of {named} is one {periods.every}, written as `{first}`, and those given are others"
        fix = "Give `partitions_def` the same length, or let `get_partitions_def` of the translator decide for each"
        raise DagsterInvalidDefinitionError(f"E037: {told}: {given} {fix}")


def in_one_op(specs: Sequence[AssetSpec]) -> list[AssetSpec]:
    """`specs` as one op can have them: Dagster takes one partition mapping for each asset that an op reads.

    Where one of them reads all partitions of an asset, as one without partitions does, and another those of its own
    time, the latter says nothing: its mapping is the one that Dagster infers from partitions of time on both sides,
    which does not let the asset begin later. One without partitions cannot run alone under a mapping of time.
    """
    read = {
        dep.asset_key
        for spec in specs
        for dep in spec.deps
        if spec.partitions_def is None or isinstance(dep.partition_mapping, AllPartitionMapping)
    }

    def inferred(dep: AssetDep) -> AssetDep:
        if dep.asset_key in read and isinstance(dep.partition_mapping, TimeWindowPartitionMapping):
            return AssetDep(dep.asset_key, metadata=dep.metadata)
        return dep

    return [spec.replace_attributes(deps=[inferred(dep) for dep in spec.deps]) if read else spec for spec in specs]


def asked_of(context: AssetExecutionContext, selected: Collection[AssetKey]) -> Asked | None:
    """The partitions that a run asks for of the `selected` assets; None where none of these has any.

    Raises `Failure` where some have and the run names none.
    """
    from strata_core.planning.partitions.asked_periods import Asked

    partitioned = [k for k in selected if context.assets_def.specs_by_key[k].partitions_def is not None]
    if not partitioned:
        return None
    if context.has_partition_key:
        return Asked(context.partition_key, context.partition_key)
    if context.has_partition_key_range:
        return Asked(context.partition_key_range.start, context.partition_key_range.end)
    named = ", ".join(sorted(key.to_user_string() for key in partitioned))
    message = f"these assets are materialized by their partitions, and the run names none: {named}"
    raise Failure(f"{message}. Choose a partition or a range of them.", allow_retries=False)


def waited_for(context: AssetExecutionContext, key: AssetKey) -> bool:
    """Whether an asset of another op of the run reads the asset `key`: that op runs only after an output of it."""
    graph, own = context.job_def.asset_layer, context.assets_def.keys
    others = graph.selected_asset_keys - own
    return any(key in graph.get(other).parent_keys for other in others)


def provenance_tags(context: AssetExecutionContext, key: AssetKey, partition: str) -> Iterator[tuple[str, str]]:
    """The tags from which Dagster tells whether a partition is stale: versions of code and of what it read. It gives
    them to what an op yields, but the same to each partition of a range."""
    node = context.job_def.asset_layer.get(key)
    if node.code_version is not None:
        yield CODE_VERSION_TAG, node.code_version
    for parent in sorted(node.parent_keys):
        above = context.job_def.asset_layer.get(parent)
        same = partition if above.partitions_def == node.partitions_def and above.is_partitioned else None
        # In the graph of a run, what it does not select is external, though another run may have materialized it.
        record = context.instance.get_latest_data_version_record(parent)
        own = context.instance.get_latest_data_version_record(parent, partition_key=same) if same else record
        tags = own.event_log_entry.tags if own else {}
        yield f"{INPUT_VERSION_TAG}/{parent.to_user_string()}", tags.get(DATA_VERSION_TAG, "INITIAL")
        pointer = "NULL" if record is None else str(record.storage_id)
        yield f"{INPUT_POINTER_TAG}/{parent.to_user_string()}", pointer
