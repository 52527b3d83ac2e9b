"""Deploy jobs: `strata apply`, `dagster asset materialize` and `dagster job execute` share one state, also at once, and
one that is interrupted publishes nothing."""

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest

from strata_core.store import disk
from strata_core.store.orphans import orphans
from strata_core.store.store import Store

BIN = Path(sys.executable).parent
NONE = timedelta(0)
JOBS = """
import os
import time
from pathlib import Path

import dagster as dg

from strata_core.store.environments import Environment
from strata_core.store.store import Store
from strata_dagster import StrataProject, StrataResource, strata_assets

HERE = Path(__file__).parent
project = StrataProject(HERE)
HELD = {"adopt": Store, "publish": Environment}


@strata_assets(project=project, op_per_model="OP_PER_MODEL" in os.environ)
def models(context: dg.AssetExecutionContext, strata: StrataResource):
    if (name := os.environ.get("HOLD")):  # the run is held just before it does this, until it is interrupted
        def hold(*_arguments, **_options):
            (HERE / "held").touch()
            time.sleep(3600)
        setattr(HELD[name], name, hold)
    yield from strata.apply(context).stream()


defs = dg.Definitions(
    assets=models if isinstance(models, list) else [models],
    resources={"strata": StrataResource(project_dir=project)},
    jobs=[
        dg.define_asset_job("here", "*", executor_def=dg.in_process_executor),
        dg.define_asset_job("apart", "*", executor_def=dg.multiprocess_executor.configured({"max_concurrent": 2})),
    ],
)
"""
MATERIALIZE = ("dagster", "asset", "materialize", "--select", "*", "-m", "jobs")
HERE = ("dagster", "job", "execute", "-m", "jobs", "-j", "here")
APART = ("dagster", "job", "execute", "-m", "jobs", "-j", "apart")
APPLY = ("strata", "apply")


@pytest.fixture
def shop(shop_on_disk):
    shop_on_disk.write("jobs.py", JOBS)
    return shop_on_disk


def start(shop, command, **variables: str) -> subprocess.Popen[str]:
    home = shop.root.parent / "home"
    environment = {**os.environ, "DAGSTER_HOME": str(home), "PYTHONWARNINGS": "ignore", **variables}
    program = [str(BIN / command[0]), *command[1:]]
    if command[0] == "strata":  # not the installed command: this checkout's
        program = [sys.executable, "-c", "from strata_core.cli.main import main; main()", *command[1:]]
    return subprocess.Popen(
        program, cwd=shop.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def ended(process) -> tuple[int, str]:
    said, _ = process.communicate(timeout=300)
    return process.returncode, said


def done(shop, command, **variables: str) -> str:
    code, said = ended(start(shop, command, **variables))
    assert code == 0, said
    return said


def store_of(shop) -> Store:
    return Store.open(shop.root / ".strata/store")


def materialized(shop) -> list[tuple[str, bool, int]]:
    """The model, whether it was reused, and the version of each materialization, oldest first."""
    found = []
    for record in reversed(shop.instance.get_run_records()):
        for entry in shop.instance.all_logs(
            record.dagster_run.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION
        ):
            made = entry.dagster_event.step_materialization_data.materialization
            reused, version = (made.metadata[key].value for key in ("reused", "environment_version"))
            found.append((made.asset_key.to_user_string(), reused, version))
    return found


def orders(turn: int) -> str:
    return f"order_id,country,amount,email\n1,ES,{turn}.00,a@example.com\n2,MX,{turn}.00,\n"


@pytest.mark.slow
def test_they_take_turns_on_one_state(shop) -> None:
    """Each finds what the other has published, and only what became stale since is computed."""
    done(shop, APPLY)
    done(shop, HERE)
    assert sorted(materialized(shop)) == [(name, True, 1) for name in ("by_country", "paid", "rate")]
    shop.write("data/orders.csv", orders(2))
    done(shop, APART, OP_PER_MODEL="1")
    assert {(name, reused) for name, reused, _ in materialized(shop)[3:]} == {
        ("paid", False),
        ("by_country", False),
        ("rate", True),
    }
    assert "nothing to do (3 fresh)" in done(shop, APPLY)
    shop.write("data/orders.csv", orders(3))
    done(shop, MATERIALIZE)
    assert "nothing to do, 3 models fresh" in done(shop, ("strata", "plan"))
    shop.write("data/orders.csv", orders(2))
    assert "(2 reused, 1 fresh)" in done(shop, APPLY).replace("1 fresh, 2 reused", "2 reused, 1 fresh")
    history = json.loads(done(shop, ("strata", "history", "--format", "json")))
    assert [bool(version["message"]) for version in reversed(history)] == [False, True, True, True, False]


@pytest.mark.slow
def test_all_at_once_one_publishes_and_nobody_publishes_half(shop) -> None:
    """Without a lock: one wins, the others find the same, or say E093 and have published nothing."""
    done(shop, APPLY)
    for turn in (2, 3):
        shop.write("data/orders.csv", orders(turn))
        before = store_of(shop).environment("prod").head().number
        together = [start(shop, command) for command in (APPLY, HERE, APPLY, APART)]
        outcomes = [ended(process) for process in together]
        assert any(code == 0 for code, _ in outcomes)
        for code, said in outcomes:
            assert code == 0 or "E093" in said, said
        environment = store_of(shop).environment("prod")
        rows = {row["amount"] for row in shop.live("paid")}
        assert rows == {turn}
        assert {row["total"] for row in shop.live("by_country")} == {turn}
        digests = set()
        for number in range(before + 1, environment.head().number + 1):
            models = environment.at(number).models
            digests.add((models["paid"].digest, models["by_country"].digest))
        assert len(digests) == 1, "no version has one model without the other"
    for name, _, version in materialized(shop):
        assert name in environment.at(version).models


@pytest.mark.slow
@pytest.mark.parametrize("job", [HERE, APART], ids=["in process", "multiprocess"])
@pytest.mark.parametrize("moment", ["adopt", "publish"])
def test_an_interrupted_run_publishes_nothing_and_leaves_nothing_unlisted(shop, job, moment) -> None:
    run = start(shop, job, HOLD=moment)
    pause = threading.Event()
    while not (shop.root / "held").exists():
        assert run.poll() is None, run.communicate()[0]
        pause.wait(0.1)
    run.send_signal(signal.SIGINT)
    code, said = ended(run)
    assert code != 0, said
    store = store_of(shop)
    assert store.environment("prod").head().number == 0
    assert materialized(shop) == []
    assert disk.names_in(store.root / "staging") == ()
    left = sorted(orphan.table for orphan in orphans(store, keep=NONE, grace=NONE))
    assert left == ([] if moment == "adopt" else ["by_country", "paid", "rate"])
    done(shop, HERE)
    assert {reused for _, reused, _ in materialized(shop)} == {moment == "publish"}
    assert list(orphans(store, keep=NONE, grace=NONE)) == []
