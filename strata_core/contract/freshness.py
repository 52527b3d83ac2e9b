"""Freshness of tables as a whole: their age is told from when they were written, not from a value in them (E085)."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..diagnostics import Diagnostic, Span
from .model import Freshness
from .rules import rough_age, spelled_age

CLOCKS_DIFFER = timedelta(minutes=1)
"""Clocks of machines are never quite the same."""


def age_at(then: datetime, now: datetime) -> timedelta:
    """How old what is of `then` is `now`, in whole seconds: never less than nothing, whatever clocks say."""
    return timedelta(seconds=max(0, int((now - then).total_seconds())))


def clock_note(then: datetime, now: datetime) -> str:
    """What is said beside an age where `then` lies ahead of `now`, so that it cannot be told; else nothing.

    >>> clock_note(datetime(2026, 1, 1, 14), datetime(2026, 1, 1, 12))
    ' (written by a clock that is 2h ahead)'
    """
    ahead = then - now
    return f" (written by a clock that is {rough_age(ahead)} ahead)" if ahead > CLOCKS_DIFFER else ""


def outdated(
    promised: Freshness | None, age: timedelta, what: str, promiser: str, span: Span | None
) -> Diagnostic | None:
    """E085 where a freshness of no column is `promised`, and the table is of a greater `age`. `what` happened that long
    ago ("it was published"), and `promiser` is what promises otherwise."""
    if promised is None or promised.column is not None or age <= promised.max_age:
        return None
    message = f"{what} {rough_age(age)} ago, but {promiser} promises freshness <= {spelled_age(promised.max_age)}"
    fix = "find out why nothing later came, or let the promised freshness be longer"
    return Diagnostic("E085", message, span, fix=fix)
