"""`dagster asset materialize` in a process of its own: exit codes, log and summary, on an instance on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from strata_dagster.summary import Summary, latest_run, lines


def call(shop, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DAGSTER_HOME": str(shop.root.parent / "home"), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(arguments, cwd=shop.root, env=environment, capture_output=True, text=True, check=False)


def materialize(shop) -> subprocess.CompletedProcess[str]:
    dagster = str(Path(sys.executable).parent / "dagster")
    return call(shop, dagster, "asset", "materialize", "--select", "*", "-m", "shop_definitions")


def summary(shop) -> subprocess.CompletedProcess[str]:
    return call(shop, sys.executable, "-m", "strata_dagster.summary")


@pytest.mark.slow
def test_a_bad_batch_exits_with_1_keeps_the_last_known_good_and_the_repaired_one_publishes(
    shop_on_disk, bad_orders, good_orders
) -> None:
    shop = shop_on_disk
    first = materialize(shop)
    assert first.returncode == 0, first.stderr
    said = summary(shop)
    assert said.returncode == 0
    assert "paid" in said.stdout
    assert "3 rows  computed  pin passed" in said.stdout
    assert "3 Strata models, live as prod version 1; 1 other asset\n" in said.stdout
    assert "6 of 6 checks passed" in said.stdout
    report = shop.instance.get_latest_materialization_event(dg.AssetKey("report")).run_id

    shop.write("data/orders.csv", bad_orders)
    bad = materialize(shop)
    assert bad.returncode == 1
    log = bad.stdout + bad.stderr
    assert "error[E082]: 1 row has a value of `country` outside what contract `Paid` promises" in log
    assert "contract violated: paid" in log
    assert "Dependencies for step report failed" in log
    assert shop.instance.get_latest_materialization_event(dg.AssetKey("report")).run_id == report
    assert len(shop.live("paid")) == 3
    said = summary(shop)
    assert said.returncode == 1
    assert "FAILED write_pin of paid: E082 1 row has a value of `country` outside" in said.stdout
    assert "the run FAILED; 4 of 6 checks passed" in said.stdout

    shop.write("data/orders.csv", good_orders + "5,MX,2.00,\n")
    again = materialize(shop)
    assert again.returncode == 0, again.stderr
    assert len(shop.live("paid")) == 4


def test_the_summary_of_an_instance_without_runs_says_how_to_make_one(shop_on_disk) -> None:
    said = summary(shop_on_disk)
    assert said.returncode == 1
    assert "has no run yet: `dagster asset materialize" in said.stdout


def test_the_summary_passes_over_runs_that_renew_data_products() -> None:
    @dg.op
    def nothing() -> None: ...

    @dg.job
    def job() -> None:
        nothing()

    with dg.DagsterInstance.ephemeral() as instance:
        assert latest_run(instance) is None
        mine = job.execute_in_process(instance=instance)
        for _ in range(3):
            job.execute_in_process(instance=instance, tags={"strata/product": "shop/orders"})
        found = latest_run(instance)
    assert found is not None
    assert found.run_id == mine.run_id


def test_the_summary_tells_models_from_guarded_tables_and_names_the_newest_version_of_each_environment() -> None:
    def made(name: str, environment: str, version: int, **more: str) -> dg.AssetMaterialization:
        common = {"dagster/row_count": 3, "reused": False, "environment": environment, "environment_version": version}
        return dg.AssetMaterialization(dg.AssetKey(name), metadata={**common, **more})

    latest = Summary(
        "run",
        True,
        2.0,
        (made("planes", "prod", 9, place="planes.csv"), made("paid", "prod", 10), dg.AssetMaterialization("report")),
        (),
    )
    assert list(lines(latest)) == [
        "  planes          3 rows  computed",
        "  paid            3 rows  computed",
        "1 Strata model and 1 guarded table, live as prod version 10; 1 other asset",
        "0 of 0 checks passed; 2.0 s",
    ]


def test_the_summary_tells_a_model_with_partitions_once() -> None:
    known = {"dagster/row_count": 90, "environment": "prod", "environment_version": 3}
    days = [("2024-01-01", True), ("2024-01-02", False)]
    made = [dg.AssetMaterialization("days", partition=day, metadata={**known, "reused": old}) for day, old in days]
    assert list(lines(Summary("run", True, 2.0, tuple(made), ()))) == [
        "  days         90 rows  computed  2 partitions",
        "1 Strata model, live as prod version 3",
        "0 of 0 checks passed; 2.0 s",
    ]
