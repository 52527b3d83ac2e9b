"""Custom properties: where the standard keeps what it has no field for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PREFIX = "strata."


def custom(name: str, value: Any) -> dict[str, Any]:
    """The custom property of a field of contracts."""
    return {"property": f"{PREFIX}{name}", "value": value}


def taken(thing: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of contracts that a thing's custom properties hold."""
    return {
        item["property"].removeprefix(PREFIX): item.get("value")
        for item in members(thing.get("customProperties"))
        if isinstance(item.get("property"), str) and item["property"].startswith(PREFIX)
    }


def members(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects in a list, whatever else stands where one is expected."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            yield item
