"""Every step of a landing, a fold and a collection: failing, killed, torn, or undone by a power cut.

After any of them the table is as before or as after, `verify` finds nothing wrong, and the same call again works.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.diagnostics import StrataError
from strata_core.store.tables import Table

from ..faults import Disk, Failure, Killed, Torn, intercepted
from .conftest import GDP, Clock, World, gdp, rows

KEYED = '[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\nretain_runs = "1d"\n'
TYPES = {"k": pa.string(), "v": pa.int64()}


def begun(world: World) -> Table:
    """Runs and snapshots: five commits, the last ones a day later."""
    table = world.declare(KEYED)
    table.land(rows(TYPES, ("a", 1), ("b", 1)), run_id="one")
    table.fold()
    table.land(rows(TYPES, ("b", 2)), run_id="two")
    world.clock.advance(days=2)
    table.fold()
    world.clock.advance(days=2)
    table.land(rows(TYPES, ("c", 3)), run_id="three")
    return table


@dataclass(frozen=True)
class Operation:
    """What is interrupted, and what a reader sees before and after it."""

    call: Callable[[Table], Any]
    before: tuple[object, ...]
    after: tuple[object, ...]


def state(table: Table) -> tuple[object, ...]:
    """The rows, the number of runs, of snapshots, and whether the first state is still answered."""
    history = table.log
    entries = list(history.entries(0, history.head().number))
    kinds = [type(e.commit).__name__ for e in entries]
    try:
        first: object = table.read(as_of=entries[1].at, columns=["v"]).arrow().column(0).to_pylist()
    except StrataError:
        first = None
    seen = table.read().arrow().sort_by("k").column("v").to_pylist()
    return seen, kinds.count("RunCommit"), kinds.count("SnapshotCommit"), first


OPERATIONS = {
    "land": Operation(
        lambda t: t.land(rows(TYPES, ("a", 9)), run_id="four"),
        ([1, 2, 3], 3, 2, [1, 1]),
        ([9, 2, 3], 4, 2, [1, 1]),
    ),
    "fold": Operation(lambda t: t.fold(), ([1, 2, 3], 3, 2, [1, 1]), ([1, 2, 3], 3, 3, [1, 1])),
    "collect": Operation(lambda t: t.collect(grace="0s"), ([1, 2, 3], 3, 2, [1, 1]), ([1, 2, 3], 3, 2, None)),
}


def reopened(root: Path, clock: Clock) -> Table:
    return World(root, clock).tables.table("t")


def sound(table: Table, operation: Operation) -> bool:
    """Whether the operation has happened; it has or it has not, and no file contradicts the log."""
    seen = state(table)
    assert seen in (operation.before, operation.after)
    findings = [d.message for d in table.verify().findings]
    assert [m for m in findings if "a collection was interrupted" not in m] == []
    return seen == operation.after


def recovers(root: Path, clock: Clock, name: str) -> None:
    operation = OPERATIONS[name]
    table = reopened(root, clock)
    if name != "fold" or state(table) == operation.before:
        operation.call(table)
    assert state(table) == operation.after
    assert table.verify().findings == ()
    clock.advance(days=3)
    table.collect(grace="0s")
    named = {table.log.folder(e.commit) for e in table.history() if hasattr(e.commit, "rows")}
    data = root / "tables/t/data"
    left = {p.parent for p in data.rglob("*") if p.is_file()} - named
    assert left == set()  # what the interrupted attempt left is swept


def calls_of(world: World, name: str) -> int:
    table = begun(world)
    seen: list[str] = []
    with intercepted(lambda call, what, go: (seen.append(call), go())[1]):
        OPERATIONS[name].call(table)
    return len(seen)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_kill_at_any_call_leaves_the_state_before_or_after(tmp_path: Path, name: str, after: bool) -> None:
    outcomes = []
    for at in range(1, calls_of(World(tmp_path / "counted"), name) + 1):
        world = World(tmp_path / f"store-{at}")
        table = begun(world)
        with intercepted(Failure(at, after, Killed())), pytest.raises(Killed):
            OPERATIONS[name].call(table)
        outcomes.append(sound(reopened(world.root, world.clock), OPERATIONS[name]))
        recovers(world.root, world.clock, name)
    assert outcomes == sorted(outcomes)  # one moment at which it happens
    assert {True, False} == set(outcomes)


def said(error: StrataError) -> None:
    assert {d.code for d in error.diagnostics} == {"E092"}
    assert all(d.fix for d in error.diagnostics)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_fault_at_any_call_is_said_and_leaves_nothing_half(tmp_path: Path, name: str, after: bool) -> None:
    for at in range(1, calls_of(World(tmp_path / "counted"), name) + 1):
        world = World(tmp_path / f"store-{at}")
        table = begun(world)
        try:
            with intercepted(Failure(at, after, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))):
                OPERATIONS[name].call(table)
        except StrataError as error:
            said(error)
            sound(reopened(world.root, world.clock), OPERATIONS[name])
        else:
            assert state(reopened(world.root, world.clock)) == OPERATIONS[name].after
        recovers(world.root, world.clock, name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_torn_write_is_never_seen(tmp_path: Path, name: str) -> None:
    at, killed = 1, True
    while killed:
        world = World(tmp_path / f"store-{at}")
        table = begun(world)
        try:
            with intercepted(Torn(at)):
                OPERATIONS[name].call(table)
            killed = False
        except Killed:
            sound(reopened(world.root, world.clock), OPERATIONS[name])
            recovers(world.root, world.clock, name)
            at += 1
    assert at > 2


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_power_cut_loses_nothing_that_was_committed(tmp_path: Path, name: str) -> None:
    (tmp_path / "disk").mkdir()
    recorded = Disk(tmp_path / "disk")
    world = World(tmp_path / "disk" / "store")
    with intercepted(recorded):
        table = begun(world)
        begun_at = len(recorded.cuts) - 1
        OPERATIONS[name].call(table)
    now = world.clock.now
    outcomes = []
    for cut in range(begun_at, len(recorded.cuts)):
        recorded.restore(cut, tmp_path / f"cut-{cut}")
        clock = Clock(now)
        root = tmp_path / f"cut-{cut}" / "store"
        outcomes.append(sound(reopened(root, clock), OPERATIONS[name]))
        recovers(root, clock, name)
    assert outcomes == sorted(outcomes)
    assert outcomes[0] is False
    assert outcomes[-1] is True


def test_a_run_that_was_committed_and_not_acknowledged_lands_once(tmp_path: Path) -> None:
    """The answer to the commit is lost: the same landing again finds its own run, of vintages too."""
    for toml, table_name, data in ((KEYED, "t", rows(TYPES, ("a", 1))), (GDP, "gdp", gdp((1.0, "2014-04-30")))):
        for after in (False, True):
            at = 0
            while True:
                at += 1
                world = World(tmp_path / f"{table_name}-{at}-{after}")
                table = world.declare(toml)
                try:
                    with intercepted(Failure(at, after, Killed())):
                        table.land(data, run_id="r")
                    break
                except Killed:
                    again = world.reopened().tables.table(table_name)
                    again.land(data, run_id="r")
                    assert again.read().arrow().num_rows == 1
                    assert again.log.head().number == 2
