"""Date and timestamp functions of the reference interpreter, on values that are not null.

Dates run from year 1 to 9999; what leaves them is an error. Weeks begin on Monday. A date stays a date.
"""

from __future__ import annotations

import calendar
import datetime
from collections.abc import Callable
from typing import TypeVar

from ...types.functions.dates import DAY_NAMES, MONTH_NAMES
from .values import MisfitError, Value

Moment = TypeVar("Moment", datetime.date, datetime.datetime)

MONTHS = {"year": 12, "quarter": 3, "month": 1}
SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
EPOCH = datetime.datetime(1970, 1, 1)


def date_trunc(moment: Moment, unit: str) -> Moment:
    """The beginning of the unit in which `moment` lies."""
    if unit in MONTHS:
        month = (moment.month - 1) // MONTHS[unit] * MONTHS[unit] + 1
        return _midnight(moment).replace(month=month, day=1)
    if unit == "week":
        return _moved(_midnight(moment), -moment.weekday() * SECONDS["day"])
    if unit == "day":
        return _midnight(moment)
    if not isinstance(moment, datetime.datetime):
        return moment
    seconds = (moment.hour * 3600 + moment.minute * 60 + moment.second) // SECONDS[unit] * SECONDS[unit]
    return _midnight(moment) + datetime.timedelta(seconds=seconds)


def _midnight(moment: Moment) -> Moment:
    if isinstance(moment, datetime.datetime):
        return moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return moment


def _moved(moment: Moment, seconds: int) -> Moment:
    try:
        return moment + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise MisfitError("the result is outside the years 1 to 9999") from None


def date_add(moment: Moment, count: int, unit: str) -> Moment:
    """`moment` moved by `count` units; a day that a month lacks becomes its last."""
    if unit not in MONTHS:
        return _moved(moment, count * SECONDS[unit])
    months = moment.year * 12 + moment.month - 1 + count * MONTHS[unit]
    year, month = months // 12, months % 12 + 1
    if not 1 <= year <= 9999:
        raise MisfitError("the result is outside the years 1 to 9999")
    return moment.replace(year=year, month=month, day=min(moment.day, calendar.monthrange(year, month)[1]))


def date_sub(moment: Moment, count: int, unit: str) -> Moment:
    """`moment` moved back by `count` units."""
    return date_add(moment, -count, unit)


def date_diff(start: Moment, end: Moment, unit: str) -> int:
    """How many boundaries of the unit lie between `start` and `end`; negative where `end` is earlier."""
    return _ordinal(end, unit) - _ordinal(start, unit)


def _ordinal(moment: Moment, unit: str) -> int:
    """The number of the unit in which `moment` lies, counted from a fixed one that begins with its boundary."""
    if unit in MONTHS:
        return (moment.year * 12 + moment.month - 1) // MONTHS[unit]
    if unit == "week":
        return (moment.toordinal() - 1) // 7
    days = moment.toordinal()
    if not isinstance(moment, datetime.datetime) or unit == "day":
        return days
    return (days * 86_400 + moment.hour * 3600 + moment.minute * 60 + moment.second) // SECONDS[unit]


def make_date(year: int, month: int, day: int) -> datetime.date:
    """The date of its parts."""
    return make_timestamp(year, month, day, 0, 0, 0).date()


def make_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: int) -> datetime.datetime:
    """The timestamp of its parts."""
    try:
        return datetime.datetime(year, month, day, hour, minute, second)
    except (ValueError, OverflowError):
        raise MisfitError("the parts make no date or time") from None


def from_unix(seconds: int) -> datetime.datetime:
    """The timestamp so many seconds after the beginning of 1970."""
    return _moved(EPOCH, seconds)


def to_unix(moment: datetime.datetime) -> int:
    """The whole seconds since the beginning of 1970, rounded down."""
    return (moment - EPOCH) // datetime.timedelta(seconds=1)


def last_day(moment: Moment) -> datetime.date:
    """The last day of the month."""
    return datetime.date(moment.year, moment.month, days_in_month(moment))


def days_in_month(moment: Moment) -> int:
    """How many days the month has."""
    return calendar.monthrange(moment.year, moment.month)[1]


def from_unix_ms(milliseconds: int) -> datetime.datetime:
    """The timestamp so many milliseconds after the beginning of 1970."""
    seconds, rest = divmod(milliseconds, 1000)
    return _moved(EPOCH, seconds).replace(microsecond=rest * 1000)


DATES: dict[str, Callable[..., Value]] = {
    "date_trunc": date_trunc,
    "date_add": date_add,
    "date_sub": date_sub,
    "date_diff": date_diff,
    "year": lambda moment: moment.year,
    "quarter": lambda moment: (moment.month + 2) // 3,
    "month": lambda moment: moment.month,
    "week": lambda moment: moment.isocalendar().week,
    "day": lambda moment: moment.day,
    "day_of_week": lambda moment: moment.isoweekday(),
    "day_of_year": lambda moment: moment.timetuple().tm_yday,
    "hour": lambda moment: moment.hour,
    "minute": lambda moment: moment.minute,
    "second": lambda moment: moment.second,
    "to_date": lambda moment: moment.date() if isinstance(moment, datetime.datetime) else moment,
    "make_date": make_date,
    "make_timestamp": make_timestamp,
    "from_unix": from_unix,
    "to_unix": to_unix,
    "iso_year": lambda moment: moment.isocalendar().year,
    "days_in_month": days_in_month,
    "last_day": last_day,
    "month_name": lambda moment: MONTH_NAMES[moment.month - 1],
    "day_name": lambda moment: DAY_NAMES[moment.weekday()],
    "from_unix_ms": from_unix_ms,
    "to_unix_ms": lambda moment: (moment - EPOCH) // datetime.timedelta(milliseconds=1),
}
