"""Every step of a publication, failing or fatal: after any of them the store is as before or as after.

The faults are those of `faults.py`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from strata_core.diagnostics import StrataError
from strata_core.store import EnvironmentVersion, Store, disk

from .faults import Disk, Failure, Killed, intercepted


@pytest.fixture(autouse=True)
def _quick_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is synced is recorded here; thousands of real ones would only cost time."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def publish_first(store: Store, rows: Any) -> None:
    prod = store.environment("prod")
    prod.publish(prod.head(), {"orders": rows.pointer(rows.adopt(store, "orders", 9))}, message="first")


def publish(store: Store, rows: Any) -> EnvironmentVersion:
    """Two models, computed and published together on version 1."""
    prod = store.environment("prod")
    base = prod.head()
    changes = {}
    for model, values in (("orders", (1, 2, 3)), ("customers", (4, 5))):
        changes[model] = rows.pointer(rows.adopt(store, model, *values))
    return prod.publish(base, changes, message="second")


OLD = {"orders": [9]}
NEW = {"orders": [1, 2, 3], "customers": [4, 5]}


def visible(root: Path, rows: Any) -> dict[str, list[int]]:
    """What a reader sees that opens the store: verified rows of every live model."""
    store = Store.open(root, create=False)
    seen = {}
    for model, pointer in store.environment("prod").head().models.items():
        artifact = store.artifact(model, pointer)
        assert artifact.verify() == ()
        seen[model] = rows.read(store, artifact)
    return seen


def recovers(root: Path, rows: Any) -> None:
    """The next apply works, whatever was left, and staging can be swept to nothing."""
    store = Store.open(root)
    publish(store, rows)
    assert visible(root, rows) == NEW
    store.sweep_staging(timedelta(seconds=-1))
    assert disk.names_in(root / "staging") == ()


def calls_of_a_publication(store: Store, rows: Any) -> int:
    names = []
    with intercepted(lambda name, what, call: (names.append(name), call())[1]):
        publish(store, rows)
    return len(names)


def fresh_stores(tmp_path: Path, rows: Any) -> Callable[[], Store]:
    numbers = iter(range(10_000))

    def make() -> Store:
        store = Store.open(tmp_path / f"store-{next(numbers)}")
        publish_first(store, rows)
        return store

    return make


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_at_any_call_leaves_the_old_version_or_the_new_one(tmp_path: Path, rows: Any, after: bool) -> None:
    make = fresh_stores(tmp_path, rows)
    outcomes = []
    for at in range(1, calls_of_a_publication(make(), rows) + 1):
        store = make()
        with intercepted(Failure(at, after, Killed())), pytest.raises(Killed):
            publish(store, rows)
        seen = visible(store.root, rows)
        assert seen in (OLD, NEW)
        outcomes.append(seen == NEW)
        recovers(store.root, rows)
    assert outcomes == sorted(outcomes)  # one moment at which the version changes
    assert True in outcomes
    assert False in outcomes


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("after", [False, True])
def test_a_fault_at_any_call_is_said_and_leaves_nothing_half(tmp_path: Path, rows: Any, after: bool, code: int) -> None:
    make = fresh_stores(tmp_path, rows)
    for at in range(1, calls_of_a_publication(make(), rows) + 1):
        store = make()
        try:
            with intercepted(Failure(at, after, OSError(code, os.strerror(code)))):
                publish(store, rows)
        except StrataError as error:
            codes, fixes = {d.code for d in error.diagnostics}, [d.fix for d in error.diagnostics]
            assert_said(codes, fixes, str(error), store.root)
            assert visible(store.root, rows) in (OLD, NEW)
        else:
            assert visible(store.root, rows) == NEW  # only the removal of a temporary file failed
        recovers(store.root, rows)


def assert_said(codes: set[str], fixes: list[str | None], text: str, root: Path) -> None:
    assert codes == {"E092"}
    assert all(fixes)
    assert str(root) in text


def test_a_power_cut_loses_nothing_that_was_published_and_shows_nothing_that_was_not(tmp_path: Path, rows: Any) -> None:
    (tmp_path / "disk").mkdir()
    recorded = Disk(tmp_path / "disk")
    with intercepted(recorded):
        store = Store.open(tmp_path / "disk" / "store")
        opened = len(recorded.cuts) - 1
        publish_first(store, rows)
        first = len(recorded.cuts) - 1
        publish(store, rows)
    assert len(recorded.cuts) > 40
    seen = []
    for cut in range(opened, len(recorded.cuts)):
        recorded.restore(cut, tmp_path / f"cut-{cut}")
        seen.append(visible(tmp_path / f"cut-{cut}" / "store", rows))
        recovers(tmp_path / f"cut-{cut}" / "store", rows)
    order = [[{}, OLD, NEW].index(found) for found in seen]
    assert order == sorted(order)
    assert seen[first - opened] == OLD
    assert seen[-1] == NEW


def test_a_power_cut_after_a_kill_loses_nothing_that_was_published_between_them(tmp_path: Path, rows: Any) -> None:
    counted = Store.open(tmp_path / "counted" / "store")
    calls: list[str] = []
    with intercepted(lambda name, what, call: (calls.append(name), call())[1]):
        publish_first(counted, rows)
    for at in range(1, len(calls) + 3):
        (tmp_path / f"disk-{at}").mkdir()
        recorded = Disk(tmp_path / f"disk-{at}")
        root = tmp_path / f"disk-{at}" / "store"
        with intercepted(recorded):
            with intercepted(Failure(at, after=True, error=Killed())), pytest.raises(Killed):
                publish_first(Store.open(root), rows)
            publish_first(Store.open(root), rows)
        recorded.restore(-1, tmp_path / f"cut-{at}")
        assert visible(tmp_path / f"cut-{at}" / "store", rows) == OLD
