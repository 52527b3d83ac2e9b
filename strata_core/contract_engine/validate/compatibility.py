"""What is said of changes and suggestions, before it is held against any: days and windows. Code: E107."""

from __future__ import annotations

from datetime import date

from ...diagnostics import Report
from ..collation.candidate import Candidate
from ..documents import Path


def check_compatibility(candidate: Candidate, report: Report) -> None:
    """E107 for a day that no calendar has, and for a window that ends before it begins."""
    contract = candidate.contract
    days: list[tuple[str, Path]] = [
        (d.at, ("declined_suggestions", i, "at")) for i, d in enumerate(contract.declined_suggestions)
    ]
    told = contract.compatibility
    days += [(a.at, ("compatibility", "approvals", i, "at")) for i, a in enumerate(told.approvals if told else ())]
    window = told.deprecation if told else None
    if window is not None:
        days += [(getattr(window, n), ("compatibility", "deprecation", n)) for n in ("announced", "sunset")]
    wrong = [(day, path) for day, path in days if not _is_day(day)]
    for day, path in wrong:
        report(candidate.finding("E107", f"`{day}` is no day of the calendar", path, "write it as `2026-12-31`"))
    if window is not None and not wrong and window.sunset <= window.announced:
        message = f"the version before goes on {window.sunset}, which is not after {window.announced}"
        where = ("compatibility", "deprecation", "sunset")
        report(candidate.finding("E107", message, where, "leave consumers some time: name a later day"))


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
