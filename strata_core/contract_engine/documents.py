"""Documents: plain values with the place of every key and value, whatever they were written in.

A path is a tuple of field names and list positions: `("assets", 0, "columns", 3, "type")`. Places are kept apart from
the values, so that a document is the same value however it is laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..diagnostics import Diagnostic, Related, Severity, Span
from ..frozen import dataclass, field

Path = tuple[str | int, ...]
Mark = tuple[int, int, int, int]
"""Line, column, end line, end column, from 1, the end exclusive."""

NAMED_BY = ("id", "name", "product", "asset", "agent", "column")
"""What names an item of a list in a spelled path, the first that it has."""


@dataclass(frozen=True, slots=True)
class Document:
    """One value of a file: a contract, a fragment. `values` and `keys` give the places by path, `written` the text of
    values that are no text, where it says more than the value (`1.10`, `012`)."""

    file: str
    data: Any
    values: Mapping[Path, Mark] = field(repr=False)
    keys: Mapping[Path, Mark] = field(repr=False)
    written: Mapping[Path, str] = field(repr=False, default_factory=dict)

    def span(self, path: Path) -> Span:
        """Where the value at `path` stands; of one that is absent, where the nearest part around it stands."""
        return Span(self.file, *self._mark(path, self.values))

    def key_span(self, path: Path) -> Span:
        """Where the key at `path` stands, else the value."""
        return Span(self.file, *(self.keys.get(path) or self._mark(path, self.values)))

    def _mark(self, path: Path, places: Mapping[Path, Mark]) -> Mark:
        while path and path not in places:
            path = path[:-1]
        return places.get(path, (1, 1, 1, 1))

    def spelled(self, path: Path) -> str:
        """`path` as people read it, items of lists by their names: `assets[legs].columns[seats].type`."""
        return spell_path(self.data, path)


def spell_path(data: Any, path: Path) -> str:
    """`path` of `data` as people read it.

    >>> spell_path({"assets": [{"id": "legs", "columns": [{"name": "seats"}]}]}, ("assets", 0, "columns", 0, "type"))
    'assets[legs].columns[seats].type'
    """
    text, here = "", data
    for step in path:
        if isinstance(step, int):
            here = here[step] if isinstance(here, list | tuple) and 0 <= step < len(here) else None
            text += f"[{item_name(here) or step}]"
        else:
            here = here.get(step) if isinstance(here, Mapping) else None
            text += f".{step}" if text else step
    return text


def item_name(item: Any) -> str | None:
    """What names an item of a list; None where nothing does."""
    if not isinstance(item, Mapping):
        return None
    return next((item[word] for word in NAMED_BY if isinstance(item.get(word), str)), None)


def value_at(data: Any, path: Iterable[str | int]) -> Any:
    """The value at `path`; None where there is none."""
    for step in path:
        if isinstance(step, int):
            if not isinstance(data, list | tuple) or step >= len(data):
                return None
            data = data[step]
        elif isinstance(data, Mapping):
            data = data.get(step)
        else:
            return None
    return data


def finding(
    code: str,
    message: str,
    document: Document,
    path: Path,
    fix: str | None = None,
    *,
    at_key: bool = False,
    severity: Severity = Severity.ERROR,
    blocking: bool | None = None,
    label: str | None = None,
    notes: tuple[str, ...] = (),
    related: tuple[Related, ...] = (),
) -> Diagnostic:
    """A diagnostic at a place of `document`."""
    span = document.key_span(path) if at_key else document.span(path)
    return Diagnostic(
        code,
        message,
        span,
        severity,
        label,
        fix,
        notes,
        related,
        document.spelled(path) or None,
        blocking,
    )
