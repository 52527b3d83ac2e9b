"""Durations as people write them: of retention and lags in nanoseconds, of freshness and as-of joins in seconds.

Apart from instants, since who only spells a duration needs no time zones.
"""

from __future__ import annotations

import re

_DURATION = re.compile(r"(\d{1,9})(ns|us|ms|s|m|h|d|w)")
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3_600 * 1_000_000_000,
    "d": 86_400 * 1_000_000_000,
    "w": 7 * 86_400 * 1_000_000_000,
}


def duration(text: str) -> int:
    """Nanoseconds of a duration such as `7d`, `36h`, `90m`; `ValueError` for anything else or nothing.

    >>> duration("7d")
    604800000000000
    """
    found = _DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None or int(found[1]) == 0:
        raise ValueError(f"{text!r} is no duration: give a number above zero and a unit, such as 7d, 36h or 90m")
    return int(found[1]) * _UNITS[found[2]]


def spelled_duration(seconds: int) -> str:
    """A duration in the largest unit that divides it.

    >>> spelled_duration(604_800), spelled_duration(5_400)
    ('7d', '90min')
    """
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
