"""kill -9 of the run worker at any moment: what is live is whole, what is told is live, and a later run heals.

The workers are forked from a process that has loaded the code location once, as a run launcher with a warm process
would: each is a process of its own that executes one run against the instance on disk, and it is that which is killed.
A moment is a step of the run, not a time: the n-th file or database that the worker is about to touch.
"""

import os
import random
import signal
import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import dagster as dg
import pytest

from strata_core.store import disk
from strata_core.store.orphans import collect, orphans
from strata_core.store.store import Store

KILLS = 100
HEALED_EVERY = 10
NONE = timedelta(0)
FORKS = """
import os, signal, sys
import dagster as dg
from strata_core.engines.duckdb.engine import DuckDBEngine
import strata_dagster.application, strata_core.store.writer
from shop_definitions import models, project
from strata_dagster import StrataResource

job = dg.Definitions(
    assets=[models],
    resources={"strata": StrataResource(project_dir=project)},
    jobs=[dg.define_asset_job("everything", "*")],
).resolve_job_def("everything")

class Steps:
    seen = 0

    def __init__(self, last):
        self.last = last

    def __call__(self, event, arguments):
        if event == "open" or event.startswith(("os.", "sqlite3.connect")):
            self.seen += 1
            if self.seen == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

print("ready", flush=True)
for asked in sys.stdin:
    run_id, last = asked.split()
    child = os.fork()
    if not child:
        steps = Steps(int(last))
        os.dup2(os.open("worker.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        with dg.DagsterInstance.get() as instance:
            sys.addaudithook(steps)
            ran = job.execute_in_process(instance=instance, run_id=run_id, raise_on_error=False)
            taken = steps.seen
        print("steps", taken, flush=True)
        os._exit(0 if ran.success else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Workers:
    """Runs, each in a process of its own."""

    def __init__(self, shop) -> None:
        home = shop.root.parent / "home"
        environment = {**os.environ, "DAGSTER_HOME": str(home), "PYTHONWARNINGS": "ignore"}
        self.log = shop.root / "worker.log"
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKS],
            cwd=shop.root,
            env={**environment, "PYTHONPATH": os.pathsep.join([str(shop.root), os.environ.get("PYTHONPATH", "")])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, run_id: str, last_step: int = 0) -> int:
        """The exit code of a run, or the signal, negative: it is killed at its `last_step`, if it comes to that."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{run_id} {last_step}\n")
        self._process.stdin.flush()
        return int(self._line())

    def steps(self) -> int:
        """How many steps the run that has ended last took."""
        return int(self.log.read_text().rsplit("steps ", 1)[1])

    def close(self) -> None:
        self._process.communicate(timeout=60)


def orders(turn: int) -> str:
    """Other rows at each turn, the same total in both models."""
    rows = "\n".join(f"{n},{'ES' if n % 2 else 'MX'},{turn}.00,x{n}@example.com" for n in range(1, 60))
    return f"order_id,country,amount,email\n{rows}\n"


def totals(shop) -> tuple[int, int]:
    """The total of `paid`, and that of what was computed from it."""
    paid = sum(row["amount"] for row in shop.live("paid"))
    return int(paid), int(sum(row["total"] for row in shop.live("by_country")))


def told_is_live(shop, store, run_id: str) -> int:
    """How many materializations the run told; each is of what the named version of the environment has."""
    told = 0
    for entry in shop.instance.all_logs(run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION):
        made = entry.dagster_event.step_materialization_data.materialization
        version = store.environment("prod").at(made.metadata["environment_version"].value)
        name = made.asset_key.to_user_string()
        assert version.models[name].digest == made.tags["dagster/data_version"], name
        told += 1
    return told


@pytest.mark.slow
def test_a_hundred_kills_never_leave_half_a_publication_nor_tell_what_is_not_live(shop_on_disk) -> None:
    shop, choose = shop_on_disk, random.Random(7)
    workers = Workers(shop)
    try:
        store = Store.open(shop.root / ".strata/store")
        for turn in (1, 2):  # the second takes as many steps as those that are killed
            shop.write("data/orders.csv", orders(turn))
            run_id = str(uuid4())
            assert workers.run(run_id) == 0, workers.log.read_text()
            assert told_is_live(shop, store, run_id) == 3
        live, published, untold, killed = 2, 0, 0, 0
        whole = workers.steps()
        assert whole > KILLS
        moments = [1 + whole * n // KILLS for n in range(KILLS)]
        choose.shuffle(moments)
        for turn, moment in enumerate(moments, start=3):
            shop.write("data/orders.csv", orders(turn))
            before, run_id = store.environment("prod").head(), str(uuid4())
            killed += workers.run(run_id, moment) == -signal.SIGKILL

            head = store.environment("prod").head()
            assert head.number - before.number in (0, 1)
            live = turn if head.number != before.number else live
            assert totals(shop) == (59 * live, 59 * live)
            for name, pointer in head.models.items():
                assert store.artifact(name, pointer).verify() == ()
            published += head.number != before.number
            told = told_is_live(shop, store, run_id)
            assert head.number != before.number or told <= 1, "`rate` alone is live as it was"
            untold += head.number != before.number and told < 3
            if turn % HEALED_EVERY == 0:
                healed = str(uuid4())
                assert workers.run(healed) == 0, workers.log.read_text()
                live = turn
                assert totals(shop) == (59 * turn, 59 * turn)
                assert told_is_live(shop, store, healed) == 3
                assert not {"paid", "by_country", "rate"} & set(shop.stale())
        assert killed > KILLS * 0.9, "a run takes a few steps more or less than another"
        assert published > 0, "some were killed after they had published"
        assert untold > 0, "and some between their publication and its being told"

        needed = {(name, p.address) for name, p in store.environment("prod").head().models.items()}
        assert not needed & {(o.table, o.address) for o in orphans(store, keep=NONE, grace=NONE)}
        list(collect(store, keep=NONE, grace=NONE))
        store.sweep_staging(NONE)
        assert {(table, address) for table, address, _ in store.artifacts()} == needed
        assert disk.names_in(store.root / "staging") == ()
    finally:
        workers.close()
