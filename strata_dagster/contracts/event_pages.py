"""What happened to assets since a mark, read in pages: materializations, observations, checks, runs that failed.

A page is folded and let go, so that ten thousand events take the memory of one page. A reading ends after a number of
pages; the marks say where the next one goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dagster import AssetKey, DagsterEventType, DagsterInstance, EventLogRecord, EventRecordsFilter
from dagster._core.storage.event_log.sql_event_log import SqlEventLogStorage

PAGE = 500
MOST_PAGES = 20
"""Pages of a kind that one reading takes; what is left is read by the next."""
KINDS: Mapping[str, DagsterEventType] = {
    "made": DagsterEventType.ASSET_MATERIALIZATION,
    "observed": DagsterEventType.ASSET_OBSERVATION,
    "checked": DagsterEventType.ASSET_CHECK_EVALUATION,
    "failed": DagsterEventType.RUN_FAILURE,
    "canceled": DagsterEventType.RUN_CANCELED,
}
"""What is read, each kind with a mark of its own."""
Marks = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Reading:
    """How far it came, and whether more is there."""

    marks: Marks
    more: bool


def newest(instance: DagsterInstance) -> Marks:
    """The marks behind everything that has happened."""
    found = {}
    for kind in KINDS:
        records = _page(instance, kind, None, 1, ascending=False)
        found[kind] = records[0].storage_id if records else 0
    return found


def read(instance: DagsterInstance, marks: Marks, take: Callable[[AssetKey, int, EventLogRecord], None]) -> Reading:
    """Give `take` each event behind `marks`, with the asset that it is about and its number."""
    now, more = dict(marks), False
    for kind in KINDS:
        for _ in range(MOST_PAGES):
            records = _page(instance, kind, now.get(kind, 0), PAGE, ascending=True)
            for record in records:
                for key in _assets(instance, record):
                    take(key, record.storage_id, record)
            if records:
                now[kind] = records[-1].storage_id
            if len(records) < PAGE:
                break
        else:
            more = True
    return Reading(now, more)


def _page(
    instance: DagsterInstance, kind: str, after: int | None, limit: int, *, ascending: bool
) -> Sequence[EventLogRecord]:
    storage, wanted = instance.event_log_storage, EventRecordsFilter(KINDS[kind], after_cursor=after)
    if isinstance(storage, SqlEventLogStorage):
        # Dagster's default storage keeps a database per run and mirrors all of these in an index, which the methods of
        # its base class read and its own override, for checks, passes by.
        return SqlEventLogStorage.get_event_records(storage, wanted, limit, ascending)
    return storage.get_event_records(wanted, limit, ascending)


def _assets(instance: DagsterInstance, record: EventLogRecord) -> Iterator[AssetKey]:
    """The assets that an event is about; of a run that failed, those that it was to make."""
    event = record.event_log_entry.dagster_event
    if event is None:
        return
    match event.event_type:
        case DagsterEventType.RUN_FAILURE | DagsterEventType.RUN_CANCELED:
            yield from _planned(instance, record.run_id)
        case DagsterEventType.ASSET_CHECK_EVALUATION:
            yield event.asset_check_evaluation_data.asset_key
        case _:
            if event.asset_key is not None:
                yield event.asset_key


def _planned(instance: DagsterInstance, run_id: str) -> Iterator[AssetKey]:
    cursor: str | None = None
    while True:
        found = instance.get_records_for_run(run_id, cursor, DagsterEventType.ASSET_MATERIALIZATION_PLANNED, PAGE)
        for record in found.records:
            event = record.event_log_entry.dagster_event
            if event is not None and event.asset_key is not None:
                yield event.asset_key
        if not found.has_more:
            return
        cursor = found.cursor
