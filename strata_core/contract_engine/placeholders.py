"""What stands in a contract where only a person knows: drafts bear it, and a live contract must not (E124)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..diagnostics import Report, Severity
from .collation.candidate import Candidate
from .documents import Path
from .naming import is_draft

ASKED = "TODO"
_LEFT = re.compile(rf"{ASKED}(:|\s*$)")
_NO_PROSE = frozenset({"enum", "values", "name", "id", "ref", "column", "pattern", "sql", "extensions"})
"""Fields whose texts are data and names: a task may well have the state `TODO`."""


def check_placeholders(candidate: Candidate, report: Report) -> None:
    """E124 for each text that is still to be written: a warning in a draft, an error from 1.0.0 on."""
    live = not is_draft(candidate.contract.version)
    for path in _asked(candidate.data, ()):
        message = f"`{candidate.spelled(path)}` is still `{ASKED}`: nobody has said what is meant"
        fix = "write what is meant, or leave the field out where it may be"
        severity = Severity.ERROR if live else Severity.WARNING
        report(candidate.finding("E124", message, path, fix, severity=severity))


def _asked(data: Any, path: Path) -> Iterator[Path]:
    if isinstance(data, str):
        if _LEFT.match(data):
            yield path
    elif isinstance(data, Mapping):
        for name, value in data.items():
            if name not in _NO_PROSE:
                yield from _asked(value, (*path, name))
    elif isinstance(data, list | tuple):
        for number, value in enumerate(data):
            yield from _asked(value, (*path, number))
