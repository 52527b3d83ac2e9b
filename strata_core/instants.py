"""Instants and days as people write them become nanoseconds, in the right zone.

An instant carries nine fractional digits at most and an offset; without an offset it is wall-clock time in the zone
asked for. Here it is an integer: nanoseconds since 1970-01-01T00:00:00Z. A date alone is the whole day: as an upper
bound, the start of the next day, exclusive (Seed 1 *instant-comparison*).
"""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from functools import lru_cache
from zoneinfo import ZoneInfo

Literal = str | int | datetime.date | datetime.datetime
"""RFC 3339 text, a date's text, a Python date or datetime, or nanoseconds since 1970 as an integer."""

ACCEPTED = "an instant such as 2014-05-01T09:30:00Z or a date such as 2014-05-01"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(?:\.(\d{1,9}))?\s*(Z|z|[+-]\d{2}:\d{2})?", re.ASCII
)
_DAY = datetime.timedelta(days=1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
EARLIEST, LATEST = -(2**63) + 1, 2**63 - 1
"""The instants that 64 bits of nanoseconds hold: 1677-09-21 to 2262-04-11."""
_SPELLED_EARLIEST, _SPELLED_LATEST = "1677-09-21T00:12:43.145224193Z", "2262-04-11T23:47:16.854775807Z"


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on a clock: instants up to `at`, without `at` itself where it is not `inclusive`."""

    at: int
    inclusive: bool

    @property
    def last(self) -> int:
        """The last instant within the bound: instants are whole nanoseconds."""
        return self.at if self.inclusive else self.at - 1


def bound(literal: Literal, zone: str = "UTC") -> Bound:
    """The bound that `literal` means; `ValueError` says what would be accepted.

    >>> bound("2014-05-01")
    Bound(at=1398988800000000000, inclusive=False)
    >>> bound("2014-05-01T00:00:00.000000001Z")
    Bound(at=1398902400000000001, inclusive=True)
    """
    day = _day(literal)
    if day is not None:
        return Bound(start_of_day(_next_day(day), zone), False)
    return Bound(instant(literal, zone), True)


def iso_seconds(at: str | datetime.datetime) -> str:
    """An instant as views and records spell it: in UTC, to the second; without an offset it is one of UTC. `ValueError`
    for a text that is none, or one that Python's calendar has no day for.

    >>> iso_seconds("2026-11-30T10:00:00.5+02:00"), iso_seconds(datetime.datetime(33, 4, 3))
    ('2026-11-30T08:00:00Z', '0033-04-03T00:00:00Z')
    """
    told = datetime.datetime.fromisoformat(at) if isinstance(at, str) else at
    try:
        whole = told.astimezone(datetime.UTC) if told.tzinfo is not None else told
    except OverflowError:
        raise ValueError(f"{at!r} is not within the years 1 to 9999") from None
    return f"{whole.replace(tzinfo=None).isoformat(timespec='seconds')}Z"


def instant(literal: Literal, zone: str = "UTC") -> int:
    """The instant that `literal` means; a date is the start of its day. `ValueError` for anything else.

    >>> instant("2014-05-01", "America/New_York") == instant("2014-05-01T04:00:00Z")
    True
    """
    day = _day(literal)
    if day is not None:
        return start_of_day(day, zone)
    match literal:
        case bool():
            raise ValueError(f"{literal!r} is no instant: give {ACCEPTED}")
        case int():
            return _within(literal, str(literal))
        case datetime.datetime():
            return _of_datetime(literal, zone)
        case str() if found := _INSTANT.fullmatch(literal.strip()):
            date, minutes, seconds, fraction, offset = found.groups()
            text = f"{date}T{minutes}{seconds or ':00'}"
            try:
                whole = datetime.datetime.fromisoformat(text + ("" if offset is None else offset.upper()))
            except ValueError as cause:
                raise ValueError(f"{literal!r} is no instant ({cause}): give {ACCEPTED}") from None
            return _within(_of_datetime(whole, zone) + int((fraction or "0").ljust(9, "0")), literal)
        case _:
            raise ValueError(f"{literal!r} is no instant: give {ACCEPTED}")


def start_of_day(day: datetime.date, zone: str) -> int:
    """The first instant of `day` in `zone`, also where midnight is skipped or comes twice.

    >>> start_of_day(datetime.date(2018, 11, 4), "America/Sao_Paulo") == instant("2018-11-04T03:00:00Z")
    True
    """
    return _of_datetime(datetime.datetime.combine(day, datetime.time()), zone)


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """The time zone of that IANA name; `ValueError` where there is none."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(f"{name!r} is no time zone: give an IANA name such as America/New_York or UTC") from None


def _day(literal: Literal) -> datetime.date | None:
    match literal:
        case datetime.datetime():
            return None
        case datetime.date():
            return literal
        case str() if _DATE.fullmatch(literal.strip()):
            try:
                return datetime.date.fromisoformat(literal.strip())
            except ValueError as cause:
                raise ValueError(f"{literal!r} is no date ({cause}): give {ACCEPTED}") from None
        case _:
            return None


def _next_day(day: datetime.date) -> datetime.date:
    try:
        return day + _DAY
    except OverflowError:
        raise ValueError(f"{day} has no next day: give an instant up to {_SPELLED_LATEST}") from None


def _of_datetime(value: datetime.datetime, zone: str) -> int:
    """Where a wall-clock time comes twice, the first is meant; one that is skipped is the end of the gap."""
    aware = value if value.tzinfo is not None else _on_the_clock(value, zone_of(zone))
    return _within((aware - _EPOCH) // _MICROSECOND * 1_000, str(value))


def _on_the_clock(value: datetime.datetime, zone: ZoneInfo) -> datetime.datetime:
    local = value.replace(tzinfo=zone)
    there = local.astimezone(datetime.UTC)
    if there.astimezone(zone).replace(tzinfo=None) == value:
        return there
    # Skipped: fold=0 counts with the offset before the gap and fold=1 with the one after it; the end of the gap is
    # where the clock first reads a time later than `value`.
    before = local.replace(fold=1).astimezone(datetime.UTC)
    while there - before > datetime.timedelta(seconds=1):
        middle = before + (there - before) / 2
        if middle.astimezone(zone).replace(tzinfo=None) > value:
            there = middle
        else:
            before = middle
    return there.replace(microsecond=0)


def _within(instant_: int, written: str) -> int:
    if not EARLIEST <= instant_ <= LATEST:
        raise ValueError(f"{written!r} is outside {_SPELLED_EARLIEST} to {_SPELLED_LATEST}")
    return instant_
