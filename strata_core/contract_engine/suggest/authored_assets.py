"""The assets as the canonical file has them, and what tools know of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..documents import Document
from ..parse.parsed import GeneratedAsset


def assets_of(document: Document) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The assets of a contract with their numbers."""
    yield from enumerate(document.data.get("assets", ()))


def table_of(asset: Mapping[str, Any], known: Mapping[str, GeneratedAsset]) -> GeneratedAsset | None:
    """What a tool knows of an asset, by its name where it is made."""
    return known.get(asset.get("ref") or asset["id"]) or known.get(asset["id"])
