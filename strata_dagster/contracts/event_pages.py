"""What happened to assets since a mark, read in pages: materializations, observations, checks, runs that failed.

A page is folded and let go, so that ten thousand events take the memory of one page. A reading ends after a number of
pages; the marks say where the next one goes on.

Databases number an event before they commit it, so that a lower number may become visible after a higher one. What was
read in the last seconds is therefore read again, and told once. Where nothing was written since, and that time is over,
a reading is one question.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from dagster import AssetKey, DagsterEventType, DagsterInstance, EventLogEntry, EventRecordsFilter
from dagster._core.storage.event_log.base import EventLogStorage

PAGE = 500
MOST_PAGES = 20
"""Pages of a kind that one reading takes, not counting what is read again; what is left is read by the next."""
LATEST_COMMIT = 30.0
"""Seconds that an event may be on its way into the log while later ones overtake it."""
KINDS: Mapping[str, DagsterEventType] = {
    "made": DagsterEventType.ASSET_MATERIALIZATION,
    "observed": DagsterEventType.ASSET_OBSERVATION,
    "checked": DagsterEventType.ASSET_CHECK_EVALUATION,
    "failed": DagsterEventType.RUN_FAILURE,
    "canceled": DagsterEventType.RUN_CANCELED,
}
"""What is read, each kind with a mark of its own."""
Numbers = Mapping[str, int]
Take = Callable[[AssetKey, int, EventLogEntry], None]


@dataclass(frozen=True, slots=True)
class Marks:
    """How far each kind was read: now; at `since`; and at least `LATEST_COMMIT` before, from where on it is read
    again. `readings` counts those that told something: marks behind them are others, also where no number is."""

    read: Numbers = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    recent: Numbers = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    settled: Numbers = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    since: float = 0.0
    readings: int = 0

    def at(self, now: float, newest: int) -> Marks:
        """What counts at `now`, where the log ends with the event `newest`: before a mark, where a database was emptied
        or its last runs were deleted and their numbers are given again."""
        marks = self
        if any(number > newest for number in self.read.values()):
            read, recent, settled = (_upto(m, newest) for m in (self.read, self.recent, self.settled))
            marks = replace(self, read=read, recent=recent, settled=settled)
        if not 0 <= now - self.since < LATEST_COMMIT:
            settled = marks.recent if now >= self.since else marks.settled
            return replace(marks, recent=marks.read, settled=settled, since=now)
        return marks

    def nothing_since(self, newest: int) -> bool:
        """Whether the log ends where it was read to, and nothing before can come to light."""
        return all(number == newest for m in (self.read, self.settled) for number in m.values())


def _upto(numbers: Numbers, most: int) -> Numbers:
    return {kind: min(number, most) for kind, number in numbers.items()}


@dataclass(frozen=True, slots=True)
class Reading:
    """How far it came, and whether more is there."""

    marks: Marks
    more: bool


def behind_everything(instance: DagsterInstance, now: float) -> Marks:
    """The marks behind all that has happened."""
    numbers = dict.fromkeys(KINDS, _newest(instance))
    return Marks(numbers, numbers, numbers, now)


class _Told:
    """Events, by number and time, for a run that is deleted may leave its numbers to others; 16 bytes each."""

    def __init__(self) -> None:
        self.numbers, self.times = array("q"), array("d")

    def add(self, number: int, time: float) -> None:
        """One with a higher number than those before."""
        self.numbers.append(number)
        self.times.append(time)

    def has(self, number: int, time: float) -> bool:
        at = bisect_left(self.numbers, number)
        return at < len(self.numbers) and (self.numbers[at], self.times[at]) == (number, time)


class EventReader:
    """Reads on from marks. It remembers what it told of the events that are read again: where a process begins anew, or
    the marks that it gave were not kept, those are told once more, which costs a run and loses nothing."""

    def __init__(self) -> None:
        self.given: Marks | None = None
        self.told: dict[str, _Told] = {}

    def read(self, instance: DagsterInstance, marks: Marks, now: float, take: Take) -> Reading:
        """Give `take` each event behind `marks`, with the asset that it is about and its number."""
        before = self.told if marks == self.given else {}
        newest = _newest(instance)
        marks, more, told = marks.at(now, newest), False, before
        if not marks.nothing_since(newest):
            reached, told, some = {}, {}, False
            for kind in KINDS:
                told[kind] = _Told()
                end, new = _read(instance, kind, marks, before.get(kind, _Told()), told[kind], take)
                reached[kind] = max(newest, marks.read[kind]) if end is None else end
                more, some = more or end is not None, some or new
            marks = replace(marks, read=reached, readings=marks.readings + some)
        self.given, self.told = marks, told  # at the end: of a reading that fails halfway nothing is known
        return Reading(marks, more)


def _read(
    instance: DagsterInstance, kind: str, marks: Marks, before: _Told, told: _Told, take: Take
) -> tuple[int | None, bool]:
    """Read the events of a kind, and add them to `told`; the number of the last one, where there may be more, and
    whether any was told that was not `before`."""
    after, read, new, some = marks.settled[kind], marks.read[kind], 0, False
    while new < MOST_PAGES * PAGE:
        page = _page(instance.event_log_storage, KINDS[kind], after)
        for number, entry in page.items():
            told.add(number, entry.timestamp)
            if not before.has(number, entry.timestamp):
                some = True
                for key in _assets(instance, entry):
                    take(key, number, entry)
        after = max(page, default=after)
        new += sum(number > read for number in page)
        if len(page) < PAGE:
            break
    return (after if len(page) == PAGE else None), some


def _page(storage: EventLogStorage, kind: DagsterEventType, after: int) -> Mapping[int, EventLogEntry]:
    try:
        return storage.get_logs_for_all_runs_by_log_id(after, kind, PAGE)
    except NotImplementedError:  # of Dagster+; that of SQLite, in turn, has other numbers in `get_event_records`
        records = storage.get_event_records(EventRecordsFilter(kind, after_cursor=after), PAGE, ascending=True)
        return {record.storage_id: record.event_log_entry for record in records}


def _newest(instance: DagsterInstance) -> int:
    return instance.event_log_storage.get_maximum_record_id() or 0


def _assets(instance: DagsterInstance, entry: EventLogEntry) -> Iterator[AssetKey]:
    """The assets that an event is about; of a run that failed, those that it was to make."""
    event = entry.dagster_event
    if event is None:
        return
    match event.event_type:
        case DagsterEventType.RUN_FAILURE | DagsterEventType.RUN_CANCELED:
            yield from _planned(instance, entry.run_id)
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
