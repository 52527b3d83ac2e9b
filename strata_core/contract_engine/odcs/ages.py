"""Durations between contracts (`24h`) and the standard (a value and a unit)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_UNITS = {
    **dict.fromkeys(("s", "second", "seconds"), "s"),
    **dict.fromkeys(("min", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hour", "hours"), "h"),
    **dict.fromkeys(("d", "day", "days"), "d"),
    **dict.fromkeys(("w", "week", "weeks"), "w"),
}


def promised(name: str, age: str, **more: Any) -> dict[str, Any]:
    """A duration as a service level: `{property: name, value: 24, unit: h}`."""
    match = re.fullmatch(r"([0-9]+)([a-z]+)", age)
    # `m` is months to some, so minutes are never written so, and what others mean by it is not guessed.
    said = {"value": int(match[1]), "unit": "min" if match[2] == "m" else match[2]} if match else {"value": age}
    return {"property": name, **said, **more}


def age_of(level: Mapping[str, Any]) -> str | None:
    """The duration that a service level says; None where contracts cannot say it."""
    value, unit = level.get("value"), level.get("unit")
    if isinstance(value, str) and value in ("hourly", "daily", "weekly", "monthly") and unit is None:
        return value
    if isinstance(value, str) and unit is None and (match := re.fullmatch(r"([0-9]+)\s*([a-z]+)", value.strip())):
        value, unit = int(match[1]), match[2]
    known = _UNITS.get(str(unit).casefold())
    fits = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
    return f"{value}{known}" if fits and known else None
