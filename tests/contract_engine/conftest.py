"""Each test keeps what it parses to itself."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("STRATA_CACHE_DIR", str(place))
    return place
