"""What a run made of a guarded asset: its rows as a whole, or those of each partition, and the verdict on them.

A run of several partitions makes their rows in one go. Each is judged alone where it can be told which rows are whose:
the asset returns a table by key, or a file for each is where `{partition}` says, or the contract marks the columns of
the partition (`partition_by`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dagster import AssetKey, MultiPartitionsDefinition, PartitionsDefinition, TimeWindowPartitionsDefinition
from dagster import MultiPartitionKey as KeyOfDimensions

from strata_core.contract.physical import check_physical
from strata_core.contract_engine.observations import SeenTest
from strata_core.contract_engine.pin.guard import Guard, Promise, rows_of
from strata_core.contract_engine.pin.judging import Verdict, judge
from strata_core.contract_engine.pin.partitions import PARTITION, Made, in_files, judge_partitions, place_of_partition
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.protocol import ArrowTable, CsvTable, TableInput
from strata_core.frozen import dataclass
from strata_core.planning.guarded.partitions import live_whole
from strata_core.planning.guarded.shares import Share, Stretch, Value, outside, partition_columns, shares_of

from ..names import LOCATION
from .frames import Frame
from .op import GuardedOp

VALUE = "the value that the asset returned"
SEVERAL = (
    "mark the column of the partition with `partition_by: true` in the contract, return a mapping of keys to tables, "
    "or let a run make one of them (`backfill_policy=BackfillPolicy.multi_run(1)`)"
)


@dataclass(frozen=True, slots=True)
class Looking:
    """One guarded asset `key` of `op`, which is held to `promise`; `seen` are results of dbt's tests of this run."""

    op: GuardedOp
    guard: Guard
    key: AssetKey
    promise: Promise
    seen: Mapping[str, SeenTest] | None = None
    keeping: bool = True

    def judged(self, value: Frame | Mapping[str, Frame] | None) -> Verdict:
        """The verdict on rows that are a value, by key of partition or in one, or else on those that lie where they are
        said to be. Raises `StrataError` E030, E033, E036 where there are none, E037 where it is not known which of them
        are of which partition."""
        keys = self.op.partitions(self.key)
        if value is None:
            return self._lying(keys)
        if isinstance(value, Mapping):
            return self._by_partition(_by_key(value, keys), VALUE)
        if not keys:
            return self._whole(ArrowTable(value.table, ()), VALUE)
        if len(keys) == 1:
            return self._by_partition(Made({keys[0]: ArrowTable(value.table, ())}), VALUE)
        shares = self.shares(keys)
        if other := outside(value.table, shares.values()):
            message = f"{other} of the {value.table.num_rows} rows are of none of the partitions that the run makes"
            raise StrataError(Diagnostic("E037", message, fix="return the rows of `context.partition_keys` alone"))
        return self._by_partition(Made(shares_of(self.guard.engine, ArrowTable(value.table, ()), shares)), VALUE)

    def shares(self, keys: tuple[str, ...]) -> dict[str, Share]:
        """By which columns the rows of each partition are known. Raises `StrataError` E037 where they are not."""
        columns = partition_columns(self.promise.table)
        if not columns:
            name = self.key.to_user_string()
            message = f"the run makes {len(keys)} partitions of `{name}` at once, and rows do not say of which"
            raise StrataError(Diagnostic("E037", message, fix=SEVERAL))
        partitions = self.op.guarded[self.key].partitions_def
        assert partitions is not None, "an asset of which a run makes partitions has them"
        return {key: tuple(_conditions(partitions, key, columns)) for key in keys}

    def _lying(self, keys: tuple[str, ...]) -> Verdict:
        location = self.op.guarded[self.key].metadata.get(LOCATION)
        place = None if location is None else str(location)
        if place is not None and PARTITION in place:
            if not keys:
                message = f"`{place}` is the place of a partition, and the run is of none"
                raise StrataError(Diagnostic("E036", message, fix="choose a partition"))
            made = in_files(self.guard, self.promise, place, keys)
            if made.faults and len(keys) == 1:
                raise StrataError(*made.faults[keys[0]])
            return self._by_partition(made, place)
        table, place = rows_of(self.guard, self.promise, place)
        if not keys or not partition_columns(self.promise.table) or isinstance(table, CsvTable):
            return self._whole(table, place)
        if live_whole(self.guard.store, self.promise.name, self.guard.base):
            return self._whole(table, place)
        shares = self.shares(keys)
        if check_physical(self.guard.engine.physical_schema(table), self.promise.table):
            return judge(self.guard, self.promise, table, place, seen=self.seen, keeping=False)
        return self._by_partition(Made(shares_of(self.guard.engine, table, shares)), place)

    def _whole(self, table: TableInput, place: str) -> Verdict:
        return judge(self.guard, self.promise, table, place, seen=self.seen, keeping=self.keeping)

    def _by_partition(self, made: Made, place: str) -> Verdict:
        if len(made.tables) != 1 or made.faults:
            return judge_partitions(self.guard, self.promise, made, place, seen=self.seen, keeping=self.keeping)
        ((key, table),) = made.tables.items()
        where = place_of_partition(place, key)
        return judge(self.guard, self.promise, table, where, seen=self.seen, keeping=self.keeping, partition=key)


def _by_key(value: Mapping[str, Frame], keys: tuple[str, ...]) -> Made:
    if other := [key for key in value if key not in keys]:
        message = f"the asset returned rows of `{other[0]}`, which is no partition that the run makes"
        raise StrataError(Diagnostic("E037", message, fix="return the rows of `context.partition_keys` alone"))
    unmade = Diagnostic("E037", "nothing was returned of it", fix="return an empty table where it has no rows")
    tables = {key: ArrowTable(frame.table, ()) for key, frame in value.items()}
    return Made(tables, {key: (unmade,) for key in keys if key not in value})


def _conditions(partitions: PartitionsDefinition, key: str, columns: tuple[str, ...]) -> Iterator[Value | Stretch]:
    """What holds of the rows of a partition; dimensions are called as their columns."""
    if not isinstance(partitions, MultiPartitionsDefinition):
        if len(columns) > 1:
            raise _ambiguous(columns)
        yield _condition(partitions, key, columns[0])
        return
    own: KeyOfDimensions = partitions.get_partition_key_from_str(key)
    for dimension in partitions.partitions_defs:
        if dimension.name not in columns:
            raise _ambiguous(columns, f"`{dimension.name}`")
        yield _condition(dimension.partitions_def, own.keys_by_dimension[dimension.name], dimension.name)


def _condition(partitions: PartitionsDefinition, key: str, column: str) -> Value | Stretch:
    if isinstance(partitions, TimeWindowPartitionsDefinition):
        window = partitions.time_window_for_partition_key(key)
        return Stretch(column, window.start.replace(tzinfo=None), window.end.replace(tzinfo=None))
    return Value(column, key)


def _ambiguous(columns: tuple[str, ...], dimension: str = "the partition") -> StrataError:
    named = ", ".join(f"`{name}`" for name in columns)
    message = f"the contract marks {named} with `partition_by`, and which of them holds {dimension} is not known"
    fix = "mark one column, or of an asset with several dimensions the columns that are called as these"
    return StrataError(Diagnostic("E037", message, fix=fix))
