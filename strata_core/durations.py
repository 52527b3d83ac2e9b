"""Durations as people write them: of retention and lags in nanoseconds, of freshness and as-of joins in seconds.

Apart from instants, since who only spells a duration needs no time zones.
"""

from __future__ import annotations

import re

SECOND = 1_000_000_000
UNITS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "min": 60 * SECOND,
    "m": 60 * SECOND,
    "h": 3_600 * SECOND,
    "d": 86_400 * SECOND,
    "w": 7 * 86_400 * SECOND,
}
"""The units of durations in nanoseconds, the first of a size being that which is written."""
WRITTEN_OUT = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("wk", "wks", "week", "weeks"), "w"),
}
"""Units as people also write them, and what they are here."""
_DURATION = f"([0-9]{{1,9}})({'|'.join(UNITS)})"


def duration(text: str) -> int:
    """Nanoseconds of a duration such as `7d`, `36h`, `90min` (or `90m`); `ValueError` for anything else or nothing.

    >>> duration("7d")
    604800000000000
    """
    found = re.fullmatch(_DURATION, text.strip()) if isinstance(text, str) else None
    if found is None or int(found[1]) == 0:
        meant = meant_duration(text) if isinstance(text, str) else None
        fix = f"write {meant}" if meant else "give a number above zero and a unit, such as 7d, 36h or 90min"
        raise ValueError(f"{text!r} is no duration: {fix}")
    return int(found[1]) * UNITS[found[2]]


def meant_duration(text: str) -> str | None:
    """The duration that `text` is meant to be, where its unit is written out.

    >>> meant_duration("90 Minutes"), meant_duration("2hrs"), meant_duration("7x")
    ('90min', '2h', None)
    >>> meant_duration("5M") is None  # months, or millions
    True
    """
    found = re.fullmatch("([1-9][0-9]{0,8})[ _-]?([A-Za-z]+)", text.strip())
    if found is None or found[2] == "M":
        return None
    written = found[2].lower()
    unit = WRITTEN_OUT.get(written) or (written if written in UNITS else None)
    return None if unit is None else f"{found[1]}{unit}"


def spelled_duration(seconds: int) -> str:
    """A duration in the largest unit that divides it.

    >>> spelled_duration(604_800), spelled_duration(5_400)
    ('7d', '90min')
    """
    for unit in ("d", "h", "min"):
        if seconds * SECOND % UNITS[unit] == 0:
            return f"{seconds * SECOND // UNITS[unit]}{unit}"
    return f"{seconds}s"


def rough_duration(seconds: int) -> str:
    """A time that has passed, in its two largest units: people want no seconds of what is days old.

    >>> rough_duration(142_837), rough_duration(7_200), rough_duration(0)
    ('1d 15h', '2h', '0s')
    """
    rest = seconds * SECOND
    parts: list[str] = []
    for unit in ("d", "h", "min", "s"):
        count, rest = divmod(rest, UNITS[unit])
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
    return " ".join(filter(None, parts[:2])) or "0s"
