"""JSON documents as values: their type, their canonical text, and reading them without surprises."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

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
    document = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    if not isinstance(document, dict):
        raise ValueError(f"expected a JSON object, found {type(document).__name__}")
    return document


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return found


def _refuse(constant: str) -> JSON:
    raise ValueError(f"{constant} is not JSON")
