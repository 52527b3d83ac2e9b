"""Many processes at once: writers, folders and readers on one table. No run is lost, no read is torn, stamps increase.

Each run holds rows that sum to zero, so that a reader who sees a part of one, or of a fold, sees another sum.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.store import Store
from strata_core.store.tables import StoreError

LOG = '[[pipeline.tables]]\nname = "log"\nretain_runs = "1s"\n'
KEYED = '[[pipeline.tables]]\nname = "keyed"\nprimary_key = ["k"]\n'
ROWS = 40
LEAST = 3
"""Runs that each writer lands, however slow the machine is."""
STARTED = 120.0
"""Seconds by which all processes have begun, on a machine that has other work."""


def _rows(name: str) -> pa.Table:
    values = list(range(1, ROWS))
    return pa.table({"k": [f"{name}-{i}" for i in range(ROWS)], "v": pa.array([*values, -sum(values)], pa.int64())})


def _write(root: Path, name: str, until: float, said: Queue[Any]) -> None:
    store = Store.open(root)
    data = _rows(name)
    count = 0
    while count < LEAST or time.time() < until:
        for table in ("log", "keyed"):
            run = store.table(table).land(data, run_id=f"{name}-{count}")
            assert run.rows == ROWS
        count += 1
    said.put(("writer", name, count))


def _fold(root: Path, name: str, until: float, said: Queue[Any]) -> None:
    store = Store.open(root)
    tried = made = 0
    while tried < LEAST or time.time() < until:
        for table in ("log", "keyed"):
            made += store.table(table).fold() is not None
        store.table("log").collect(grace="1h")
        tried += 1
    said.put(("folder", name, made))


def _read(root: Path, name: str, until: float, said: Queue[Any]) -> None:
    store = Store.open(root)
    seen, least = 0, {"log": 0, "keyed": 0}
    while seen < LEAST or time.time() < until:
        for table in ("log", "keyed"):
            read = store.table(table).read(columns=["v", "_commit_seq"])
            rows = read.arrow()
            assert sum(rows.column("v").to_pylist()) == 0
            assert rows.num_rows % ROWS == 0
            assert rows.num_rows >= least[table]  # nothing that was seen disappears
            least[table] = rows.num_rows
            entry = store.table(table).log.entry(read.entry.number // 2)
            with suppress(StoreError):  # retention may have taken it away
                then = store.table(table).read(as_of=entry.at, columns=["v"]).arrow()
                assert sum(then.column("v").to_pylist()) == 0
            seen += 1
    said.put(("reader", name, seen))


def _guarded(
    work: Callable[..., None], root: Path, name: str, seconds: float, start: Barrier, said: Queue[Any]
) -> None:
    try:
        for module in ("collecting", "folding", "landing", "reading"):  # they load when they are used
            importlib.import_module(f"strata_core.store.tables.{module}")
        start.wait(STARTED)
        work(root, name, time.time() + seconds, said)
    except BaseException as error:
        said.put(("failed", name, f"{type(error).__name__}: {error}"))
        raise


def together(root: Path, seconds: float, writers: int, folders: int, readers: int) -> None:
    """Lets them work for `seconds` and looks at what is there then."""
    store = Store.open(root)
    for table in store.declare(LOG + KEYED):
        table.land(_rows("first"), run_id="first-0")
    context = multiprocessing.get_context("spawn")
    said: Queue[Any] = context.Queue()
    who = [(_write, f"w{i}") for i in range(writers)]
    who += [(_fold, f"f{i}") for i in range(folders)] + [(_read, f"r{i}") for i in range(readers)]
    start = context.Barrier(len(who))
    processes = [context.Process(target=_guarded, args=(work, root, name, seconds, start, said)) for work, name in who]
    for process in processes:
        process.start()
    told = [said.get(timeout=seconds + 2 * STARTED) for _ in processes]
    for process in processes:
        process.join()
    assert [t for t in told if t[0] == "failed"] == []
    landed = {(name, i) for kind, name, count in told if kind == "writer" for i in range(count)}
    assert len(landed) >= LEAST * writers
    landed.add(("first", 0))
    for name in ("log", "keyed"):
        table = store.table(name)
        entries = list(table.history())[::-1]
        runs = [e.commit.run_id for e in entries if hasattr(e.commit, "run_id")]
        assert sorted(runs) == sorted(f"{w}-{i}" for w, i in landed)  # none lost, none twice
        assert all(one.at < other.at for one, other in pairwise(entries))
        assert table.verify(contents=False).findings == ()
    assert store.table("log").read().arrow().num_rows == ROWS * len(landed)
    assert store.table("keyed").read().arrow().num_rows == ROWS * (writers + 1)
    assert sum(made for kind, _, made in told if kind == "folder") > 0


SECONDS = float(os.environ.get("STRATA_TOGETHER_SECONDS", "5"))
"""How long they work side by side; a minute or more on request."""


@pytest.mark.slow
def test_eight_writers_two_folders_and_four_readers_lose_no_run_and_see_no_torn_state(tmp_path: Path) -> None:
    together(tmp_path / "store", SECONDS, writers=8, folders=2, readers=4)
