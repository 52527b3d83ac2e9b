"""Files of a table that a disk has changed: every reader tells it as StorePartDamaged or E094, never as it came."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.store import Store
from strata_core.store.tables import StoreError, Table

from .conftest import GDP, GDP_TYPES, World, rows, stamp


def days(count: int, value: int) -> pa.Table:
    """A thousand vintages a day: enough for dictionaries, filters and several pages."""
    since = stamp("2014-01-01")
    return rows(
        GDP_TYPES,
        *(
            (
                f"series-{i % 50}",
                since + dt.timedelta(days=i),
                dt.date(2015, 1, 1),
                float(i),
                f"{value}-{i}",
            )
            for i in range(count)
        ),
    )


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot, a run after it, and an artifact of a model."""
    root = tmp_path_factory.mktemp("sound") / "store"
    table = World(root).declare(GDP)
    table.land(days(600, 1))
    table.fold()
    table.land(days(300, 2))
    store = Store.open(root)
    data = pa.table({"n": list(range(500)), "s": [f"text {i}" for i in range(500)]})
    store.adopt(store.stage("orders", data.schema, data.to_batches()), "c0ffee", {})
    return root


def artifact(store: Store) -> object:
    found = store.find("orders", "c0ffee")
    assert found is not None
    return store.reader(found).read_all()


READERS: dict[str, Callable[[Store, Table], object]] = {
    "read": lambda _, table: table.read().arrow(),
    "stream": lambda _, table: sum(b.num_rows for b in table.read(available_as_of="2015-02-01").reader()),
    "lazy": lambda _, table: table.read().lazy().collect(),
    "fold": lambda _, table: table.fold(),
    "vintage landing": lambda _, table: table.land(days(100, 3)),
    "artifact": lambda store, _: artifact(store),
}
KINDS = {
    "snapshot": ("tables/gdp/data/snapshots", "part-*"),
    "run": ("tables/gdp/data/runs", "part-*"),
    "artifact": ("tables/orders/data/artifacts", "part-*"),
    "manifest": ("tables", "_manifest.json"),
    "log": ("tables/gdp/log", "*.json"),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(st.data())
def test_damage_at_any_place_is_told_in_words(kind: str, sound: Path, data: st.DataObject) -> None:
    folder, pattern = KINDS[kind]
    path = data.draw(st.sampled_from(sorted((sound / folder).rglob(pattern))))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    damaged = data.draw(
        st.sampled_from(
            [
                before[:at],
                before[:at] + bytes([before[at] ^ data.draw(st.integers(1, 255))]) + before[at + 1 :],
                before[:at] + bytes(min(64, len(before) - at)) + before[at + 64 :],
            ]
        )
    )
    name = data.draw(st.sampled_from(sorted(READERS)))
    left = {file: file.read_bytes() for file in sound.rglob("*") if file.is_file()}
    path.write_bytes(damaged)
    try:
        store = Store.open(sound)
        try:
            READERS[name](store, store.tables._open("gdp"))
        except StrataError as error:
            (told, *_) = error.diagnostics
            told_as = (told.code, isinstance(error, StoreError) and error.code)
        else:
            return  # what the reader did not look at, or a value: `verify` tells
        assert told_as[0] in ("E092", "E094", "E096"), told
        if told_as[1]:
            assert told_as[1] in ("StorePartDamaged", "StoreTableUndeclared")
        assert told.fix
        if told_as[1] == "StorePartDamaged":
            assert str(path) in told.message
            assert "strata store verify gdp" in told.fix
    finally:
        for file in sorted(sound.rglob("*")):
            if file.is_file() and file not in left:
                file.unlink()
        for file, content in left.items():
            file.write_bytes(content)


@pytest.mark.parametrize("kind", ["snapshot", "run"])
@settings(max_examples=25)
@given(st.data())
def test_verify_finds_every_changed_byte_of_a_part(kind: str, sound: Path, data: st.DataObject) -> None:
    folder, pattern = KINDS[kind]
    path = data.draw(st.sampled_from(sorted((sound / folder).rglob(pattern))))
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    path.write_bytes(before[:at] + bytes([before[at] ^ 1]) + before[at + 1 :])
    try:
        (finding,) = World(sound).tables.table("gdp").verify().findings
        assert (finding.code, str(path) in finding.message) == ("E094", True)
    finally:
        path.write_bytes(before)
