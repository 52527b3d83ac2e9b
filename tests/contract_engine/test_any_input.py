"""Whatever stands in the files: findings with places, never an exception, and the same each time."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.contract_engine.pipeline import examine, open_setting

from .projects import PLACE, TODAY, write

ROOT = Path(__file__).resolve().parents[2]
FULL = yaml.safe_load((ROOT / "contracts/flights/punctuality/contract.yaml").read_text())
FULL["layer"] = "gold"

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["", "a", "orders.x", "a.b/c.d", "1.0.0", "24h", "é"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["id", "name", "kind"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for k, v in items for p in places(v, (*path, k)))]


PLACES = [p for p in places(FULL) if p]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(PLACES), ANY), min_size=1, max_size=3), st.booleans())
def test_law_any_value_anywhere_is_told_and_never_raises(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[tuple[Any, ...], Any]], fragment: bool
) -> None:
    document = copy.deepcopy(FULL)
    for path, value in changes:
        here = document
        try:
            for step in path[:-1]:
                here = here[step]
            here[path[-1]] = value
        except (TypeError, KeyError, IndexError):
            continue
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    root = tmp_path_factory.mktemp("project")
    files: dict[str, str | bytes] = {"strata.toml": "", PLACE: text.encode()}
    if fragment:
        files["models/f.contract.yaml"] = text.encode()
    write(root, files)
    found = examine(open_setting(root, TODAY))
    assert all(d.span is not None for d in found.diagnostics)
    assert examine(open_setting(root, TODAY)).diagnostics == found.diagnostics


TEXT = (ROOT / "contracts/finance/fuel_costs/contract.yaml").read_bytes()


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, len(TEXT) - 1), st.binary(max_size=3), st.integers(0, 3)), max_size=4))
def test_law_any_bytes_are_told_and_never_raise(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, bytes, int]]
) -> None:
    content = TEXT
    for at, put, gone in changes:
        content = content[:at] + put + content[at + gone :]
    root = write(tmp_path_factory.mktemp("project"), {"strata.toml": "", PLACE: content})
    for d in examine(open_setting(root, TODAY)).diagnostics:
        assert d.span is not None
        assert d.span.file == PLACE
