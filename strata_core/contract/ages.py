"""Ages as people write them: `12h`, `2d`, `daily`."""

from __future__ import annotations

from datetime import timedelta

from ..language.units import SECONDS

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

    >>> parse_age("90min"), parse_age("daily"), parse_age("soon")
    (datetime.timedelta(seconds=5400), datetime.timedelta(days=1), None)
    """
    if text in AGES:
        return AGES[text]
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = SECONDS.get(text[len(digits) :])
    if unit is None or not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return None
    return age_of(int(digits) * unit)


def age_of(seconds: int) -> timedelta | None:
    """Some seconds as an age; None where they are no age that a clock can tell."""
    return timedelta(seconds=seconds) if 0 < seconds <= timedelta.max.days * 86_400 else None
