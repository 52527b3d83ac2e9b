"""JSON documents as values: their type, their canonical text, and reading them without surprises."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import PurePath
from typing import TypeAlias

from ..diagnostics import Diagnostic

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
"""What a JSON document can hold. NaN and infinities are not JSON and are refused."""


def to_text(document: Mapping[str, JSON]) -> str:
    """The canonical text of `document`: sorted keys, no spaces, non-ASCII kept.

    >>> to_text({"b": [1, None], "a": "é"})
    '{"a":"é","b":[1,null]}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def from_text(text: str | bytes) -> dict[str, JSON]:
    """The object that `text` spells; `ValueError` for anything else, duplicate keys included."""
    try:
        document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it nests too deep") from None
    if not isinstance(document, dict):
        raise ValueError(f"expected a JSON object, found {type(document).__name__}")
    return document


def spelled(value: object) -> JSON:
    """A value of a column as a JSON scalar: what JSON has no word for as text.

    >>> spelled(datetime.date(2024, 1, 31)), spelled(Decimal("1.50")), spelled(None)
    ('2024-01-31', '1.50', None)
    """
    match value:
        case None | bool() | int() | str():
            return value
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case datetime.date():
            return value.isoformat()
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return found


def _refuse(constant: str) -> JSON:
    raise ValueError(f"{constant} is not JSON")


def too_new(path: PurePath, found: int, known: int) -> Diagnostic:
    """E092: the file was written by a later release."""
    return Diagnostic(
        "E092",
        f"{path} has format {found}; this release reads formats up to {known}",
        fix="use the release of Strata that wrote it, or a later one",
    )
