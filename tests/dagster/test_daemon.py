"""What people do in the UI of `dagster dev`, with daemon, webserver and code server as they are."""

import re
import shutil
from datetime import timedelta
from pathlib import Path

import dagster as dg
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.planning.environments import published_environments
from strata_core.store import disk
from strata_core.store.orphans import collect, orphans
from strata_core.store.store import Store

from .served import STATUS, dev, until
from .test_contract_sensor import contract
from .test_deploy_jobs import JOBS, materialized

NONE = timedelta(0)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["adopt", "publish"])
def test_a_run_that_is_terminated_in_the_ui_publishes_nothing_and_leaves_nothing_unlisted(shop_on_disk, moment) -> None:
    shop = shop_on_disk
    shop.write("jobs.py", JOBS)
    with dev(shop.root, shop.root.parent / "home", "jobs", HOLD="publish") as served:
        run = served.launch("paid", "by_country", "rate")
        until((shop.root / "held").exists)
        served.terminate(run)
        assert served.ended(run) == "CANCELED"
    store = Store.open(shop.root / ".strata/store")
    assert store.environment("prod").head().number == 0
    assert materialized(shop) == []
    assert disk.names_in(store.root / "staging") == ()
    left = sorted(orphan.table for orphan in orphans(store, keep=NONE, grace=NONE))
    assert left == ["by_country", "paid", "rate"]
    assert sorted(c.table for c in collect(store, keep=NONE, grace=NONE)) == left
    assert list(orphans(store, keep=NONE, grace=NONE)) == []
    assert list(store.artifacts()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "policy", "runs"),
    [
        (30, "", 1),
        (30, ", backfill_policy=BackfillPolicy.multi_run(10)", 3),
        (8, ", backfill_policy=BackfillPolicy.multi_run(1)", 8),  # as many at once as the daemon allows, on one table
    ],
)
def test_a_backfill_of_partitions_as_one_run_and_as_several(sales, count, policy, runs) -> None:
    days = [f"2024-01-{day:02}" for day in range(1, count + 1)]
    sales.edit("models/sales.strata", '"2024-01-05"', f'"2024-01-{count + 1:02}"')
    rows = "".join(f"{n},{day},a,{n}\n" for n, day in enumerate(days, 1))
    sales.write("sales.csv", f"id,day,kind,n\n{rows}")
    sales.edit("sales_definitions.py", "op_per_model=False", f"op_per_model=False{policy}")
    sales.edit("sales_definitions.py", "import AssetExecutionContext", "import BackfillPolicy, AssetExecutionContext")
    with dev(sales.root, sales.root.parent / "home", "sales_definitions") as served:
        started = served.backfill("daily", days, seconds=300 + 20 * runs)
    assert [run["status"] for run in started] == ["SUCCESS"] * runs
    assert [row["n"] for row in sorted(sales.rows("daily"), key=lambda r: r["id"])] == list(range(1, count + 1))
    assert sorted(sales.versions("daily")) == days
    assert len(set(sales.versions("daily").values())) == count


PAGE = (Path(__file__).resolve().parents[2] / "docs/deploy.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_branch_deployment_from_its_first_run_to_promotion_and_drop(shop_on_disk) -> None:
    shop, home = shop_on_disk, shop_on_disk.root.parent / "home"
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shop.write("deployed.py", code)
    branch = {"DAGSTER_CLOUD_IS_BRANCH_DEPLOYMENT": "1", "DAGSTER_CLOUD_PULL_REQUEST_ID": "12"}

    def live() -> dict[str, dict[str, str]]:
        found = published_environments(shop.project.opened)
        return {name: {m: p.digest for m, p in version.models.items()} for name, version in found.items()}

    assert shop.run().success
    before = live()["prod"]
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 1\n")
    with dev(shop.root, home, "deployed", **branch) as served:
        run = served.launch("paid", "by_country", "rate")
        assert served.ended(run) == "SUCCESS"
        tags = {tag["key"]: tag["value"] for tag in served.ask(STATUS, run=run)["runOrError"]["tags"]}
        assert tags["strata/environment"] == "pr_12"
    assert live()["prod"] == before
    changed = live()["pr_12"]
    assert {m for m in changed if changed[m] != before[m]} == {"paid", "by_country"}
    with dev(shop.root, home, "deployed") as served:
        run = served.launch(job="promote_staging", tags={"strata/promote_from": "pr_12"})
        assert served.ended(run) == "SUCCESS"
    assert live()["prod"] == changed
    dropped = CliRunner().invoke(strata, ["env", "drop", "pr_12", "--project", str(shop.root)], standalone_mode=False)
    assert dropped.output.startswith("pr_12: version 2 is without 3 models\n")
    assert live() == {"prod": changed}


SENSORS = """
from strata_dagster import strata_contract_assets, strata_contract_sensor, strata_stale_sensor

strata = StrataResource(project_dir=project)
data = [models, report, *observable_sources(project=project)]
contracts = strata_contract_assets(project=project, assets=data, resource=strata)
defs = Definitions(
    assets=[*data, *contracts],
    sensors=[
        strata_contract_sensor(contracts, minimum_interval_seconds=1),
        strata_stale_sensor(project=project, resource=strata, minimum_interval_seconds=1),
    ],
    resources={"strata": strata},
)
"""


OVERTAKEN = ("DagsterInvalidSubsetError", "DagsterUserCodeUnreachableError")
"""What a reload between a tick's evaluation and the launch of its runs is told as: what the tick asks for may be gone.
Dagster fails that tick, tries its runs once more, and asks the sensor anew."""


@pytest.mark.slow
def test_the_sensors_go_on_while_models_and_products_are_renamed_and_removed(shop_on_disk) -> None:
    shop = shop_on_disk
    shop.write("shop_definitions.py", (shop.root / "shop_definitions.py").read_text() + SENSORS)
    for name, asset in (("paid", "paid"), ("rates", "rate")):
        shop.write(f"contracts/sales/{name}/contract.yaml", contract(name, asset))

    with dev(shop.root, shop.root.parent / "home", "shop_definitions") as served:

        def made(asset: str) -> bool:
            key = dg.AssetKey(asset.split("/"))
            return shop.instance.get_latest_materialization_event(key) is not None

        def reason(sensor: str) -> str:
            return str(served.ticks(sensor)[0]["skipReason"])

        served.start("strata_stale")
        served.start("strata_contracts")
        until(lambda: all(map(made, ("paid", "by_country", "rate", "contract/sales/paid", "contract/sales/rates"))))

        shop.edit("models/rates.strata", "model rate ", "model rate_two ")
        (shop.root / "contracts/sales/paid").rename(shop.root / "contracts/sales/payments")
        until(
            lambda: (
                "new: `rate_two`; gone: `rate`" in "".join(str(t["skipReason"]) for t in served.ticks("strata_stale"))
            )
        )
        assert served.reload() is None
        until(lambda: made("rate_two") and made("contract/sales/payments"))

        shop.edit("models/sales/orders.strata", "model by_country", "model per_country")
        shop.write("contracts/sales/rates/contract.yaml", contract("rates", "rate_two"))
        shutil.rmtree(shop.root / "contracts/sales/payments")
        assert served.reload() is None
        until(lambda: made("per_country"))
        until(lambda: reason("strata_contracts") == "nothing changed" and reason("strata_stale") != "None")
        for sensor in ("strata_contracts", "strata_stale"):
            failed = [t["error"]["message"] for t in served.ticks(sensor) if t["error"]]
            assert [message for message in failed if not any(name in message for name in OVERTAKEN)] == []
            assert len(failed) <= 2 * 2  # each of two reloads may overtake a tick
