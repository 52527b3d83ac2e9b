"""Tables in a store whose clock the test sets."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.store.bucket import BucketPath
from strata_core.store.tables import StoreError, Table, Tables
from strata_core.store.tables.declaration import read_declarations
from tests.buckets import folder_as_bucket

DAY = 86_400 * 1_000_000_000
START = 1_767_225_600 * 1_000_000_000
"""2026-01-01T00:00:00Z, when the tests' clock begins."""


@dataclass
class Clock:
    """A clock that stands until it is moved."""

    now: int = START

    def __call__(self) -> int:
        return self.now

    def advance(self, days: float = 0, ns: int = 0) -> int:
        self.now += int(days * DAY) + ns
        return self.now


@dataclass
class World:
    """A store in a folder, its clock, and what is declared in it."""

    root: Path
    clock: Clock = field(default_factory=Clock)
    in_bucket: bool = False
    tables: Tables = field(init=False)

    def __post_init__(self) -> None:
        if self.in_bucket:
            files = folder_as_bucket(self.root, self.root.with_name("cache"))
            self.tables = Tables(BucketPath("s3://lake"), files, clock=self.clock)
        else:
            self.tables = Tables(self.root, clock=self.clock)

    def declare(self, toml: str) -> Table:
        """Declares the tables of `toml` and gives the first one."""
        first, *_ = (self.tables.declare(declared) for declared in read_declarations(toml))
        return first

    def reopened(self) -> World:
        """The same folder, seen by another process."""
        return World(self.root, self.clock, self.in_bucket)


@pytest.fixture(autouse=True)
def _quick_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be synced, and when, is the matter of test_crash.py; here it would only cost time."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture(params=["folder", "bucket"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A store in a folder, and one in a bucket: one suite holds for both."""
    return World(tmp_path / "store", in_bucket=request.param == "bucket")


@pytest.fixture
def folder_world(tmp_path: Path) -> World:
    """A store in a folder, for what only a filesystem has: links, and parts whose absence tells of a collection."""
    return World(tmp_path / "store")


def stamp(text: str) -> dt.datetime:
    """A UTC timestamp without a zone, as valid-time columns have it."""
    return dt.datetime.fromisoformat(text)


def rows(types: dict[str, pa.DataType], *values: tuple[Any, ...]) -> pa.Table:
    """A table of `values`, one tuple a row."""
    columns = list(zip(*values, strict=True)) if values else [()] * len(types)
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types.values(), strict=True)]
    return pa.table(arrays, names=list(types))


def refused(code: str, call: Callable[[], object]) -> StoreError:
    """The error of that code which `call` raises."""
    with pytest.raises(StoreError) as error:
        call()
    assert error.value.code == code
    return error.value


GDP = """
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
content_hash_column = "content_hash"
[pipeline.tables.valid_time]
from = "period_start"
[pipeline.tables.available_time]
column = "published"
"""
GDP_TYPES = {
    "series": pa.string(),
    "period_start": pa.timestamp("us"),
    "published": pa.date32(),
    "value": pa.float64(),
    "content_hash": pa.string(),
}
Q1 = stamp("2014-01-01")


def gdp(*vintages: tuple[float, str], series: str = "gdp", period: dt.datetime = Q1) -> pa.Table:
    """First-quarter measurements: value and date of publication."""
    return rows(GDP_TYPES, *((series, period, dt.date.fromisoformat(day), v, f"h{v}") for v, day in vintages))
