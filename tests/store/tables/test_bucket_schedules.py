"""Many writers and readers of one bucket, under a seeded scheduler: one request takes place at a time, in an order that
the seed gives, and some fail before they took effect, after it, or take effect later than their fault was told."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.diagnostics import StrataError
from strata_core.store import bucket
from strata_core.store.bucket import BucketFiles, BucketPath
from strata_core.store.part_cache import PartCache
from strata_core.store.tables import StoreError, Table, Tables
from strata_core.store.tables.declaration import read_declarations
from strata_core.store.tables.entries import RunCommit

from .conftest import START

(DECLARED,) = read_declarations('[[pipeline.tables]]\nname = "t"\nretain_runs = "1h"\n')
TRIES = 40


@dataclass
class Contents:
    """What lies in the bucket."""

    held: dict[str, bytes] = field(default_factory=dict)

    def create(self, key: str, content: bytes) -> None:
        from obstore.exceptions import AlreadyExistsError

        if key in self.held:
            raise AlreadyExistsError("412")
        self.held[key] = content

    def put(self, key: str, content: bytes | memoryview) -> None:
        self.held[key] = bytes(content)

    def get(self, key: str) -> Iterable[bytes]:
        if key not in self.held:
            raise FileNotFoundError(key)
        return [self.held[key]]

    def size(self, key: str) -> int:
        return sum(map(len, self.get(key)))

    def keys(self, prefix: str, after: str) -> Iterator[str]:
        return iter(sorted(k for k in self.held if k.startswith(f"{prefix}/") and k > after))

    def names(self, prefix: str) -> Iterable[str]:
        return {f"{prefix}/{k[len(prefix) + 1 :].partition('/')[0]}" for k in self.keys(prefix, "")}

    def delete(self, key: str) -> None:
        self.held.pop(key, None)


CHANGES = ("create", "put", "delete")


class Scheduler:
    """Lets one request of one actor take place at a time."""

    def __init__(self, seed: int, contents: Contents) -> None:
        self.random, self.contents = random.Random(seed), contents
        self.turn = threading.Condition()
        self.alive: set[int] = set()
        self.waiting: set[int] = set()
        self.chosen: int | None = None
        self.late: list[Callable[[], None]] = []
        self.faults = True

    def run(self, actors: list[Callable[[], None]]) -> None:
        """Runs the actors to their end; raises what one of them raised."""
        raised: list[BaseException] = []

        def live(number: int, actor: Callable[[], None]) -> None:
            CURRENT.number = number
            try:
                actor()
            except BaseException as fault:
                raised.append(fault)
            with self.turn:
                self.alive.discard(number)
                self._choose()

        self.alive = set(range(len(actors)))
        threads = [threading.Thread(target=live, args=one) for one in enumerate(actors)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for effect in self.late:
            effect()
        if raised:
            raise raised[0]

    def request(self, name: str, call: Callable[[], Any]) -> Any:
        """`call`, once it is this actor's turn; its fate is drawn."""
        me = CURRENT.number
        with self.turn:
            self.waiting.add(me)
            self._choose()
            self.turn.wait_for(lambda: self.chosen == me)
            try:
                return self._fated(name, call)
            finally:
                self.chosen = None
                self.waiting.discard(me)

    def _choose(self) -> None:
        if self.chosen is None and self.alive and self.waiting >= self.alive:
            self.chosen = self.random.choice(sorted(self.waiting))
            self.turn.notify_all()

    def _fated(self, name: str, call: Callable[[], Any]) -> Any:
        from obstore.exceptions import AlreadyExistsError, GenericError

        if self.late and self.random.random() < 0.2:
            self.late.pop(self.random.randrange(len(self.late)))()
        drawn = self.random.random()
        if drawn < 0.06:  # it was refused, or never came there
            raise GenericError("HTTP error: error sending request")
        if drawn < 0.12:  # its answer was lost
            call()
            raise GenericError("status code: 503")
        if name in CHANGES and drawn < 0.15:  # it is still on its way

            def effect() -> None:
                try:
                    call()
                except AlreadyExistsError:
                    return

            self.late.append(effect)
            raise GenericError("status code: 408")
        if name == "create" and drawn < 0.18:  # the client tried again by itself
            call()
            raise AlreadyExistsError("412")
        return call()


class _Current(threading.local):
    number = -1


CURRENT = _Current()


@dataclass(frozen=True)
class Scheduled:
    """The contents behind the scheduler."""

    scheduler: Scheduler

    def __getattr__(self, name: str) -> Callable[..., Any]:
        real = getattr(self.scheduler.contents, name)
        return lambda *arguments: self.scheduler.request(name, lambda: real(*arguments))


def table_of(objects: object, copies: Path, clock: Callable[[], int]) -> Table:
    """The table as a process of its own sees it."""
    files = BucketFiles(objects, PartCache(copies), at_once=1)  # type: ignore[arg-type]
    return Tables(BucketPath("s3://lake"), files, clock=clock)._open("t")


def tried(call: Callable[[], Any]) -> Any:
    """What people do: the same again, until it works. None when it never does."""
    for _ in range(TRIES):
        try:
            return call()
        except StrataError as error:
            if {d.code for d in error.diagnostics} - {"E092", "E093"}:
                raise
    return None


def history(seed: int, copies: Path) -> None:
    """One random history, and what must hold after it."""
    contents = Contents()
    scheduler = Scheduler(seed, contents)
    clock = itertools.count(START, 60 * 10**9).__next__
    Tables(BucketPath("s3://lake"), table_of(contents, copies, clock).log.files, clock).declare(DECLARED)
    landed: dict[str, int] = {}
    seen: list[tuple[int, list[str]]] = []

    def open_() -> Table:
        return table_of(Scheduled(scheduler), copies / str(CURRENT.number), clock)

    def lander(name: str) -> None:
        table = open_()
        for number in range(4):
            run = f"{name}{number}"
            made = tried(lambda run=run: table.land(pa.table({"run": [run, run]}), run_id=run))
            if made is not None:
                landed[run] = made.commit_seq

    def folder() -> None:
        table = open_()
        for _ in range(3):
            tried(table.fold)

    def collector() -> None:
        table = open_()
        for _ in range(2):
            tried(lambda: table.collect(grace="0s" if seed % 2 else "1h"))

    def reader() -> None:
        table = open_()
        for _ in range(4):

            def read() -> tuple[int, list[str]]:
                found = table.read()
                return found.entry.number, [row["run"] for row in found.arrow().to_pylist()]

            try:
                found = tried(read)
            except StoreError as error:
                assert "collected meanwhile" in str(error)  # noqa: PT017
                continue
            if found is not None:
                seen.append(found)

    scheduler.run([lambda: lander("a"), lambda: lander("b"), lambda: lander("c"), folder, collector, reader])

    table = table_of(contents, copies, clock)
    head = table.log.head()
    runs = {e.number: e.commit.run_id for e in table.log.entries(0, head.number) if isinstance(e.commit, RunCommit)}
    assert len(set(runs.values())) == len(runs), "a run landed twice"
    assert {run: number for number, run in runs.items() if run in landed} == landed
    for number, rows in [*seen, (head.number, table.read().arrow().column("run").to_pylist())]:
        assert rows == [run for n, run in sorted(runs.items()) if n <= number for _ in range(2)]
    findings = table.verify().findings
    assert [f for f in findings if "is not marked" not in f.message] == []
    tried(lambda: table.collect(grace="0s"))
    assert table.verify().findings == ()


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bucket.time, "sleep", lambda seconds: None)


@pytest.mark.parametrize("tries", [1, 4])
def test_seeded_histories_of_a_bucket_lose_nothing_and_show_nothing_half(
    tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one try, an answer that does not come leaves a writer in the dark much oftener than in life."""
    monkeypatch.setattr(bucket, "CREATE_TRIES", tries)
    for seed in range(tries * 100, tries * 100 + 30):
        history(seed, tmp_path / str(seed))


@pytest.mark.slow
def test_five_hundred_seeded_histories_of_a_bucket(tmp_path: Path) -> None:
    for seed in range(1_000, 1_500):
        history(seed, tmp_path / str(seed))
