"""The store that a project's `strata.toml` names."""

from __future__ import annotations

from pathlib import Path

from ..store.roots import is_url
from ..store.store import Store
from .config import ProjectConfig


def store_of(root: Path, config: ProjectConfig) -> Store:
    """The store of the project in `root`, not looked at yet; raises `StrataError` E092 for a URL that names none."""
    place = config.store_root if is_url(config.store_root) else root / config.store_root
    return Store.at(place, endpoint=config.store_endpoint, region=config.store_region)
