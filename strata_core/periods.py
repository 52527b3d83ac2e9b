"""Periods: the stretches of time that a table is made and published by (`partition_start` of a model).

A period is told by the instant at which it begins, spelled as Dagster spells the keys of its partitions, so that one
key means the same everywhere. Instants are civil times without a zone, as dates and timestamps of tables are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from enum import StrEnum

from .frozen import dataclass

MOST_PERIODS = 100_000
"""Periods of one request at most: more is a slip of the pen."""
LAST = datetime(9999, 1, 1)
"""No partition begins here or later: what has no date is often dated to the end of time."""
_KEY = r"(?a)(\d{4}-\d{2}(?:-\d{2})?)(?:[-T ](\d{2}:\d{2})(?::00)?)?"


class Every(StrEnum):
    """How long a period is. Weeks begin on Monday."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def floor(self, at: datetime) -> datetime:
        """The beginning of the period that `at` lies in."""
        if self is Every.HOUR:
            return at.replace(minute=0, second=0, microsecond=0)
        day = at.replace(hour=0, minute=0, second=0, microsecond=0)
        if self is Every.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Every.MONTH else day

    def after(self, start: datetime) -> datetime:
        """The beginning of the period that follows the one that begins at `start`."""
        if start >= LAST:
            return datetime.max
        if self is Every.MONTH:
            return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        return start + LENGTHS[self]


LENGTHS = {Every.HOUR: timedelta(hours=1), Every.DAY: timedelta(days=1), Every.WEEK: timedelta(weeks=1)}


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """The instants from `start` up to `end`, without `end` itself."""

    start: datetime
    end: datetime

    def overlaps(self, other: Period) -> bool:
        """Whether some instant lies in both."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Periods:
    """The periods of a table: those of the values of `column`, from `start` on, up to `end` where it is given.

    `start` and `end` are texts in ISO form and begin a period each; `dates` says that the column holds dates.
    """

    column: str
    every: str
    start: str
    end: str | None
    dates: bool

    @property
    def length(self) -> Every:
        """How long a period is."""
        return Every(self.every)

    @property
    def bounds(self) -> Period:
        """From the first period to the end, which is that of time where none is given."""
        end = LAST if self.end is None else datetime.fromisoformat(self.end)
        return Period(datetime.fromisoformat(self.start), end)

    def at(self, instant: date) -> Period:
        """The period that a value of the column lies in."""
        whole = instant if isinstance(instant, datetime) else datetime.combine(instant, time())
        start = self.length.floor(whole)
        return Period(start, self.length.after(start))

    def last_of(self, stretch: Period) -> Period:
        """The last period that overlaps `stretch`."""
        return self.at(stretch.end - timedelta(microseconds=1))

    def key(self, period: Period) -> str:
        """How `period` is written.

        >>> hourly = Periods("placed", "hour", "2013-01-01", None, False)
        >>> hourly.key(hourly.at(datetime(2013, 1, 5, 14, 30)))
        '2013-01-05-14:00'
        """
        day = period.start.date().isoformat()
        return f"{day}-{period.start:%H:%M}" if self.length is Every.HOUR else day

    def read(self, key: str) -> Period:
        """The period that `key` names; raises `ValueError`, whose text says what would be accepted.

        >>> monthly = Periods("day", "month", "2013-01-01", None, True)
        >>> monthly.key(monthly.read("2013-02")), monthly.key(monthly.read("2013-02-01"))
        ('2013-02-01', '2013-02-01')
        """
        bounds = self.bounds
        at = instant_of(key, short=self.length is Every.MONTH)
        if at is None:
            raise ValueError(f"partitions are written as `{self.key(self.at(bounds.start))}`")
        period = self.at(at)
        if period.start != at:
            raise ValueError(f"the partition of that time is written as `{self.key(period)}`")
        if not bounds.start <= at < bounds.end:
            raise ValueError(f"they are those from {self.start} up to, and without, {self.end or LAST.date()}")
        return period

    def between(self, first: Period, last: Period) -> tuple[Period, ...]:
        """The periods from `first` to `last`, both included; raises `ValueError` for more than `MOST_PERIODS`."""
        return tuple(self._walk(first.start, last.end))

    def _walk(self, start: datetime, end: datetime) -> Iterator[Period]:
        count = 0
        while start < end:
            if (count := count + 1) > MOST_PERIODS:
                raise ValueError(f"ask for {MOST_PERIODS:,} at most")
            following = self.length.after(start)
            yield Period(start, following)
            start = following

    def value(self, instant: datetime) -> date:
        """`instant` as a value of the column."""
        return instant.date() if self.dates else instant


def instant_of(key: str, *, short: bool = False) -> datetime | None:
    """The beginning of the period that `key` names, None where it is no key; `short` allows a month without its day.

    >>> instant_of("2013-01-05-14:00"), instant_of("2013-02"), instant_of("2013-02-30")
    (datetime.datetime(2013, 1, 5, 14, 0), None, None)
    """
    if (found := re.fullmatch(_KEY, key)) is None:
        return None
    day, clock = found.groups()
    if len(day) == 7 and not short:
        return None
    try:
        at = datetime.fromisoformat(f"{day}-01" if len(day) == 7 else day)
        return at if clock is None else datetime.combine(at, time.fromisoformat(clock))
    except ValueError:
        return None


def period_of(key: str, every: str) -> Period | None:
    """The period of that length that `key` names, without asking whether it is one of a table's."""
    at, length = instant_of(key), Every(every)
    return None if at is None or length.floor(at) != at else Period(at, length.after(at))
