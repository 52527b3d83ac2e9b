"""Instants: integer nanoseconds since 1970-01-01 UTC, spelled RFC 3339 with nine digits and a `Z`.

Python's `datetime` stops at microseconds; transaction time does not (Seed 1 *echo*).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

Instant: TypeAlias = int
"""Nanoseconds since 1970-01-01T00:00:00Z."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPELLING = re.compile(r"(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d{9})Z")
_SECOND = 1_000_000_000


def now() -> Instant:
    """The machine's clock."""
    return time.time_ns()


def next_instant(previous: Instant, clock: Callable[[], Instant] = now) -> Instant:
    """The clock's instant, but later than `previous`: a log's instants strictly increase."""
    return max(clock(), previous + 1)


def spell(instant: Instant) -> str:
    """RFC 3339 text of `instant`.

    >>> spell(1_700_000_000_000_000_001)
    '2023-11-14T22:13:20.000000001Z'
    """
    seconds, nanoseconds = divmod(instant, _SECOND)
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"


def spelled_second(instant: Instant) -> str:
    """`instant` in UTC as lists show it to people, to the second.

    >>> spelled_second(1_700_000_000_000_000_001)
    '2023-11-14 22:13:20'
    """
    return moment(instant).isoformat(" ", "seconds").removesuffix("+00:00")


def moment(instant: Instant) -> datetime:
    """`instant` as a datetime in UTC, to the microsecond.

    >>> moment(1_700_000_000_000_001_999)
    datetime.datetime(2023, 11, 14, 22, 13, 20, 1, tzinfo=datetime.timezone.utc)
    """
    return _EPOCH + timedelta(microseconds=instant // 1_000)


def parse(text: str) -> Instant:
    """The instant that `spell` wrote; `ValueError` for any other spelling.

    >>> parse('2023-11-14T22:13:20.000000001Z')
    1700000000000000001
    """
    match = _SPELLING.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an instant: expected YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ")
    whole = datetime.fromisoformat(match[1]).replace(tzinfo=UTC) - _EPOCH
    return (whole.days * 86_400 + whole.seconds) * _SECOND + int(match[2])
