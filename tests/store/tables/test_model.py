"""The store against its definition: random histories, each read compared with a plain-Python oracle.

A history is up to 60 operations: landings (duplicate keys, nulls in interval ends, columns that are added, run ids
that come again, replacing runs), folds, collections, holds, pins, a clock that jumps both ways, another handle on
the same files, and reads under every combination of bounds.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from strata_core.store.tables import StoreError, Table, Tables, folding, merging
from strata_core.store.tables.declaration import declaration

from .memory import MemoryFiles
from .oracle import Oracle, Row, Spec, UnretainedError

SECOND = 1_000_000_000
NOON = 1_767_225_600 * SECOND
TIMES = st.integers(0, 6)
"""Instants of valid and availability time: a few seconds, so that bounds meet them."""
BOUNDS = st.one_of(st.none(), st.integers(-1, 7).flatmap(lambda s: st.sampled_from([s * SECOND, s * SECOND - 1])))
BACK = st.none() | st.integers(-1, 40)
"""Half seconds before the newest commit."""
VINTAGES = st.sampled_from(["latest", "first"])

SPECS: dict[str, tuple[Spec, dict[str, Any]]] = {
    "unkeyed": (Spec(), {}),
    "keyed": (Spec(key=("k",), retain_runs=20 * SECOND), {"primary_key": ["k"], "retain_runs": "20s"}),
    "ordered": (
        Spec(key=("k", "j"), order_by="v", retain_runs=1 * SECOND),
        {"primary_key": ["k", "j"], "order_by": "v", "retain_runs": "1s"},
    ),
    "intervals": (
        Spec(key=("k",), from_="f", to="t", retain_runs=5 * SECOND),
        {"primary_key": ["k"], "valid_time": {"from": "f", "to": "t"}, "retain_runs": "5s"},
    ),
    "versions": (
        Spec(from_="f", to="t", available="a"),
        {"valid_time": {"from": "f", "to": "t"}, "available_time": {"column": "a"}},
    ),
    "vintages": (
        Spec(key=("k",), from_="f", available="a", hash="h", retain_runs=20 * SECOND),
        {
            "primary_key": ["k"],
            "valid_time": {"from": "f"},
            "available_time": {"column": "a"},
            "content_hash_column": "h",
            "retain_runs": "20s",
        },
    ),
    "ordered vintages": (
        Spec(key=("k",), order_by="v", from_="f", to="t", available="a", hash="h"),
        {
            "primary_key": ["k"],
            "order_by": "v",
            "valid_time": {"from": "f", "to": "t"},
            "available_time": {"column": "a"},
            "content_hash_column": "h",
        },
    ),
    "young": (
        Spec(key=("k",), retain_rows=("_ingested_at", 15 * SECOND)),
        {"primary_key": ["k"], "retain_rows": {"column": "_ingested_at", "age": "15s"}},
    ),
    "young by column": (
        Spec(key=("k",), order_by="v", retain_rows=("s", 15 * SECOND), retain_runs=5 * SECOND),
        {
            "primary_key": ["k"],
            "order_by": "v",
            "retain_rows": {"column": "s", "age": "15s"},
            "retain_runs": "5s",
        },
    ),
}
TYPES = {
    "k": pa.string(),
    "j": pa.int64(),
    "v": pa.int64(),
    "f": pa.timestamp("us"),
    "t": pa.timestamp("ms", "Asia/Tokyo"),
    "a": pa.timestamp("us", "UTC"),
    "h": pa.int64(),
    "s": pa.timestamp("us"),
    "extra": pa.int64(),
}
NULL = {
    "f": st.none() | TIMES,
    "t": st.none() | TIMES,
    "v": st.none() | st.integers(0, 3),
    "h": st.none() | st.integers(0, 2),
}


@st.composite
def row(draw: st.DrawFn) -> Row:
    made: Row = {
        "k": draw(st.sampled_from("abc")),
        "j": draw(st.integers(0, 1)),
        "a": draw(TIMES) * SECOND,
        "s": NOON + draw(st.integers(-40, 40)) * SECOND,
        "extra": draw(st.integers(0, 9)),
        **{name: draw(values) for name, values in NULL.items()},
    }
    for name in ("f", "t"):
        made[name] = None if made[name] is None else made[name] * SECOND
    return made


def arrow(rows: list[Row], extra: bool) -> pa.Table:
    columns = {}
    for name, type_ in TYPES.items():
        if name == "extra" and not extra:
            continue
        values = [r[name] for r in rows]
        if pa.types.is_timestamp(type_):
            per = {"us": 1_000, "ms": 1_000_000}[type_.unit]
            columns[name] = pa.array([None if v is None else v // per for v in values], pa.int64()).cast(type_)
        else:
            columns[name] = pa.array(values, type_)
    return pa.table(columns)


COLUMNS = ("k", "j", "v", "f", "t", "a", "h", "s", "_ingested_at", "_run_id", "_row_seq", "_commit_seq")


def comparable(rows: list[Row], extra: bool) -> list[tuple[Any, ...]]:
    names = (*COLUMNS, "extra") if extra else COLUMNS
    return sorted((tuple(r.get(n) for n in names) for r in rows), key=repr)


class Histories(RuleBasedStateMachine):
    """One table and its oracle."""

    table: Table
    oracle: Oracle

    @initialize(name=st.sampled_from(sorted(SPECS)))
    def declare(self, name: str) -> None:
        spec, document = SPECS[name]
        self.oracle = Oracle(spec, NOON)
        self.files = MemoryFiles()
        self.tables = self.opened()
        self.table = self.tables.declare(declaration({"name": "t", **document}))
        self.oracle.commit()
        self.extra = False
        self.runs: dict[str, tuple[list[Row], bool, bool]] = {}

    def opened(self) -> Tables:
        return Tables(Path("store"), self.files, lambda: self.oracle.clock)

    @rule(step=st.sampled_from([1, SECOND // 2, SECOND, 7 * SECOND, 17 * SECOND, -SECOND, -18 * SECOND]))
    def move_the_clock(self, step: int) -> None:
        self.oracle.clock += step

    @rule(rows=st.lists(row(), min_size=1, max_size=6), extra=st.booleans())
    def land_more(self, rows: list[Row], extra: bool) -> None:
        self.land(rows, extra, False)

    @rule(rows=st.lists(row(), max_size=6), extra=st.booleans(), replaces=st.sampled_from([False] * 5 + [True]))
    def land(self, rows: list[Row], extra: bool, replaces: bool) -> None:
        replaces = replaces and not (self.oracle.spec.key and self.oracle.spec.available)
        run_id = f"r{len(self.runs)}"
        self.runs[run_id] = (rows, extra, replaces)
        given = [r if extra else {**r, "extra": None} for r in rows]
        expected = self.oracle.land(run_id, given, replaces)
        self.extra |= extra
        made = self.table.land(arrow(rows, extra), run_id=run_id, mode="replace" if replaces else "append")
        assert (made.rows, made.ingested_at, made.commit_seq) == (expected, self.oracle.last_at, self.oracle.number)

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def land_again(self, data: st.DataObject) -> None:
        run_id = data.draw(st.sampled_from(sorted(self.runs)))
        rows, extra, replaces = self.runs[run_id]
        mode = "replace" if replaces else "append"
        assert self.table.land(arrow(rows, extra), run_id=run_id, mode=mode).repeated
        with pytest.raises(StoreError) as error:
            self.table.land(arrow([*rows, *rows, {**SAMPLE}], extra), run_id=run_id, mode=mode)
        assert error.value.code == "StoreRunConflict"

    @rule()
    def fold(self) -> None:
        assert (self.table.fold() is not None) == self.oracle.fold()

    @rule(grace=st.sampled_from(["0s", "1h"]))
    def collect(self, grace: str) -> None:
        self.oracle.collect()
        self.table.collect(grace=grace)

    @rule(name=st.sampled_from(["h1", "h2"]), back=st.none() | st.integers(0, 12))
    def hold(self, name: str, back: int | None) -> None:
        bound = None if back is None else self.oracle.last_at - back * SECOND // 2
        self.agree(lambda: self.oracle.hold(name, bound), lambda: self.table.hold(name, as_of=bound))

    @precondition(lambda self: self.oracle.holds)
    @rule()
    def release(self) -> None:
        name = min(self.oracle.holds)
        self.oracle.release(name)
        self.table.release(name)

    @rule(back=st.none() | st.integers(0, 12))
    def pin(self, back: int | None) -> None:
        bound = None if back is None else self.oracle.last_at - back * SECOND // 2
        self.agree(lambda: self.oracle.pin("build", bound), lambda: self.table.pin("build", as_of=bound))

    def agree(self, expected: Any, got: Any) -> None:
        """Both happen, or both find the state unretained."""
        try:
            expected()
        except UnretainedError:
            with pytest.raises(StoreError) as error:
                got()
            assert error.value.code == "StoreAsOfUnretained"
        else:
            got()

    @rule()
    def reopen(self) -> None:
        self.table = self.opened().table("t")

    @rule(back=BACK, valid=BOUNDS, available=BOUNDS, vintage=VINTAGES, pinned=st.booleans())
    def read(self, back: int | None, valid: int | None, available: int | None, vintage: str, pinned: bool) -> None:
        self.read_at(
            None if back is None else self.oracle.last_at - back * SECOND // 2, valid, available, vintage, pinned
        )

    def read_at(self, as_of: int | None, valid: int | None, available: int | None, vintage: str, pinned: bool) -> None:
        spec = self.oracle.spec
        valid = valid if spec.from_ else None
        available = available if spec.available else None
        vintage = vintage if spec.available and spec.key else "latest"
        pin = "build" if pinned and self.oracle.pins else None
        upper = [b for b in (as_of, self.oracle.pins.get("build") if pin else None) if b is not None]

        def asked() -> pa.Table:
            return self.table.read(
                as_of=as_of,
                valid_as_of=valid,
                available_as_of=available,
                vintage=vintage,
                pin=pin,
                columns=[*COLUMNS, *(["extra"] if self.extra else [])],
            ).arrow()

        try:
            expected = self.oracle.read(min(upper) if upper else None, valid, available, vintage)
        except UnretainedError:
            with pytest.raises(StoreError) as error:
                asked()
            assert error.value.code == "StoreAsOfUnretained"
            return
        if self.runs:
            assert comparable(in_nanoseconds(asked()).to_pylist(), self.extra) == comparable(expected, self.extra)

    @precondition(lambda self: self.oracle.spec.from_)
    @rule(valid=st.integers(0, 7))
    def read_at_an_instant(self, valid: int) -> None:
        self.read(None, valid * SECOND, None, "latest", False)

    @precondition(lambda self: self.oracle.spec.available)
    @rule(back=BACK, available=st.integers(0, 6), vintage=VINTAGES)
    def read_what_was_known(self, back: int | None, available: int, vintage: str) -> None:
        self.read(back, None, available * SECOND, vintage, False)

    @rule(back=st.integers(-1, 30))
    def read_the_past(self, back: int) -> None:
        self.read(back, None, None, "latest", False)

    @precondition(lambda self: self.oracle.holds)
    @rule()
    def read_what_is_held(self) -> None:
        for held in self.oracle.holds.values():
            self.read_at(held.at, None, None, "latest", False)

    @rule()
    def read_all(self) -> None:
        self.read(None, None, None, "latest", False)


SAMPLE: Row = {"k": "a", "j": 0, "v": 0, "f": 0, "t": 0, "a": 0, "h": 0, "s": NOON, "extra": 0}


def in_nanoseconds(table: pa.Table) -> pa.Table:
    """Times as the oracle has them."""
    for i, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            per = {"ns": 1, "us": 1_000, "ms": 1_000_000}[field.type.unit]
            values = [None if v is None else v * per for v in table.column(i).cast(pa.int64()).to_pylist()]
            table = table.set_column(i, field.name, pa.array(values, pa.int64()))
    return table


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots of vintages have row groups of two rows, so that landings skip some by footers and filters; folds merge
    stretches of two rows and more, and sort a dozen rows at once."""
    monkeypatch.setattr(folding, "GROUP_ROWS", 2)
    monkeypatch.setattr(merging, "BATCH_ROWS", 2)
    monkeypatch.setattr(merging, "CHUNK_BYTES", 1000)


HISTORIES = int(os.environ.get("STRATA_HISTORIES", "2000"))
"""How many histories a run tries; more on request."""


def histories(count: int) -> settings:
    return settings(max_examples=count, stateful_step_count=60, deadline=None, suppress_health_check=list(HealthCheck))


def test_a_few_random_histories_agree_with_the_oracle() -> None:
    run_state_machine_as_test(Histories, settings=histories(40))


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_random_histories_agree_with_the_oracle(share: int) -> None:
    """2,000 histories in four shares, each with its own seed, so that two cores share the work."""
    from hypothesis import seed

    seeded = seed(share)(type(f"Histories{share}", (Histories,), {}))
    run_state_machine_as_test(seeded, settings=histories(HISTORIES // 4))
