"""Ages as people write them: `12h`, `2d`, `daily`."""

from __future__ import annotations

from datetime import timedelta

from ..durations import SECOND, duration

AGES: dict[str, timedelta | None] = {
    "hourly": timedelta(hours=1),
    "daily": timedelta(days=1),
    "weekly": timedelta(weeks=1),
    "monthly": timedelta(days=31),
    "incremental": None,
}
"""Words for ages; the last sets no limit."""


def parse_age(text: str) -> timedelta | None:
    """The age that `text` spells; None where there is none.

    >>> parse_age("90m"), parse_age("daily"), parse_age("soon")
    (datetime.timedelta(seconds=5400), datetime.timedelta(days=1), None)
    """
    if text in AGES:
        return AGES[text]
    try:
        seconds, rest = divmod(duration(text), SECOND)
    except ValueError:
        return None
    return None if rest else age_of(seconds)


def age_of(seconds: int) -> timedelta | None:
    """Some seconds as an age; None where they are no age that a clock can tell."""
    return timedelta(seconds=seconds) if 0 < seconds <= timedelta.max.days * 86_400 else None
