"""Guarded assets in processes of their own: `dagster asset materialize` with both executors, dbt itself, and the pages.

What a run writes anywhere (its events, both streams of the command) shows no value of a classified column.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from .guarded import CONTRACT
from .test_web import asked, seen, webserver

DEFINITIONS = """
import os

import dagster as dg
import polars as pl

from strata_dagster import StrataProject, StrataResource, guard

HERE = os.path.dirname(os.path.abspath(__file__))
project = StrataProject(HERE)


@dg.asset
def orders() -> pl.DataFrame:
    return pl.read_csv(HERE + "/data/rows.csv")


@dg.asset
def report(orders: pl.DataFrame) -> int:
    return len(orders)


defs = dg.Definitions(
    assets=[guard(orders, project=project), report],
    executor=dg.in_process_executor if os.environ.get("IN_PROCESS") else dg.multiprocess_executor,
    resources={"strata": StrataResource(project_dir=project)},
)
"""
GOOD = "id,country,email\n1,ES,secret-1@x\n2,MX,secret-2@x\n"
BAD = GOOD + "3,FR,secret-3@x\n-4,ES,secret-4@x\n"


@pytest.fixture
def place(shop_on_disk):
    shop = shop_on_disk
    shop.write("contracts/shop/orders/contract.yaml", CONTRACT)
    shop.write("models/sources.strata", "")
    shop.write("models/sales/orders.strata", "contract Unused { id: int64 }\n")
    shop.write("models/rates.strata", "")
    shop.write("data/rows.csv", GOOD)
    shop.write("shop_definitions.py", DEFINITIONS)
    return shop


def materialize(shop, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "dagster"), "asset", "materialize", "--select", "*", *options]
    home = {"DAGSTER_HOME": str(shop.root.parent / "home"), "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [*command, "-m", "shop_definitions"],
        cwd=shop.root,
        env={**os.environ, **home, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


BY_COUNTRY = """
import os

import dagster as dg
import polars as pl

from strata_dagster import StrataProject, StrataResource, guard

HERE = os.path.dirname(os.path.abspath(__file__))
project = StrataProject(HERE)
countries = dg.StaticPartitionsDefinition(["DE", "ES", "MX"])


@dg.asset(partitions_def=countries, backfill_policy=dg.BackfillPolicy.single_run())
def orders(context) -> None:
    rows = pl.read_csv(HERE + "/data/rows.csv")
    rows.filter(pl.col("country").is_in(context.partition_keys)).write_parquet(HERE + "/data/orders.parquet")


defs = dg.Definitions(
    assets=[guard(orders, project=project)], resources={"strata": StrataResource(project_dir=project)}
)
"""


@pytest.mark.slow
def test_a_range_of_the_command_line_publishes_its_sound_partitions(place, instance_on_disk) -> None:
    contract = CONTRACT.replace("name: country,", "name: country, partition_by: true,")
    contract = contract.replace(
        "    kind: dagster_asset\n", "    kind: dagster_asset\n    location: data/orders.parquet\n"
    )
    place.write("contracts/shop/orders/contract.yaml", contract)
    place.write("shop_definitions.py", BY_COUNTRY)
    place.write("data/rows.csv", GOOD + "3,DE,secret-3@x\n4,ES,secret-4@x\n")
    ran = materialize(place, "--partition-range", "DE...MX")
    assert ran.returncode == 1
    assert "contract violated: orders (partitions DE)" in ran.stderr
    assert [row["id"] for row in place.live("orders")] == [1, 4, 2]
    assert instance_on_disk.get_materialized_partitions(dg.AssetKey("orders")) == {"ES", "MX"}
    place.write("data/rows.csv", GOOD)
    assert materialize(place, "--partition-range", "ES...MX").returncode == 0
    assert [row["id"] for row in place.live("orders")] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("executor", ["in process", "multiprocess"])
def test_refused_rows_exit_with_1_keep_the_last_known_good_and_leak_nothing(place, executor) -> None:
    chosen = {"IN_PROCESS": "1"} if executor == "in process" else {}
    first = materialize(place, **chosen)
    assert first.returncode == 0, first.stderr
    place.write("data/rows.csv", BAD)
    bad = materialize(place, **chosen)
    assert bad.returncode == 1
    assert "contract violated: orders" in bad.stdout + bad.stderr
    assert "E082" in bad.stdout + bad.stderr
    assert len(place.live("orders")) == 2
    key = dg.AssetKey("orders")
    latest = place.instance.get_latest_materialization_event(key)
    assert latest.asset_materialization.metadata["environment_version"].value == 1
    entries = [e for record in place.instance.get_runs() for e in place.instance.all_logs(record.run_id)]
    assert [e for e in entries if "secret-" in repr(e)] == []
    assert "secret-" not in first.stdout + first.stderr + bad.stdout + bad.stderr
    place.write("data/rows.csv", GOOD + "3,ES,secret-3@x\n")
    assert materialize(place, **chosen).returncode == 0
    assert len(place.live("orders")) == 3


CHECKS = """{ assetNodes { assetKey { path } assetChecksOrError { ... on AssetChecks { checks {
  name blocking executionForLatestMaterialization { status evaluation { success severity
    metadataEntries { label ... on IntMetadataEntry { intValue } } } } } } } } }"""


@pytest.mark.slow
@pytest.mark.browser
def test_the_pages_show_checks_and_draw_what_is_counted(place, tmp_path) -> None:
    def run() -> bool:
        spec = importlib.util.spec_from_file_location("shop_definitions_here", place.root / "shop_definitions.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        job = module.defs.resolve_implicit_global_asset_job_def()
        return job.execute_in_process(instance=place.instance, raise_on_error=False).success

    for n in range(3):
        place.write("data/rows.csv", GOOD + "".join(f"{i},ES,secret-{i}@x\n" for i in range(3, 4 + n)))
        assert run()
    place.write("data/rows.csv", BAD)
    assert not run()
    with webserver(place) as address:
        nodes = asked(address, CHECKS)["assetNodes"]
        asset = seen(address, "/assets/orders", "guarded-asset", tmp_path)
        events = seen(address, "/assets/orders?view=events", "guarded-events", tmp_path)
        pin = seen(address, "/assets/orders?view=checks&checkDetail=write_pin", "guarded-pin", tmp_path)
        test = seen(address, "/assets/orders?view=checks&checkDetail=positive", "guarded-test", tmp_path)
    orders = next(n for n in nodes if n["assetKey"]["path"] == ["orders"])
    blocking = {c["name"] for c in orders["assetChecksOrError"]["checks"] if c["blocking"]}
    assert blocking == {"write_pin", "positive"}
    assert "decimal" not in asset
    assert "classification: restricted" in asset
    assert "dagster/row_count" in events
    assert "E082 1 row has a value of" in pin
    assert "version 3 of prod stays live" in pin
    assert "blocking: failed" in test
    assert all("secret-" not in page for page in (asset, events, pin, test))


DBT_DEFINITIONS = """
import os
import sys
from pathlib import Path

import dagster as dg
from dagster_dbt import DbtCliResource, DbtProject, dbt_assets

from strata_dagster import StrataProject, StrataResource, guard

HERE = Path(__file__).parent
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
dbt_project = DbtProject(project_dir=HERE / "dbt_project")
project = StrataProject(HERE)


@dbt_assets(manifest=dbt_project.manifest_path, project=dbt_project)
def staging(context: dg.AssetExecutionContext, dbt: DbtCliResource):
    yield from dbt.cli(["build"], context=context).stream()


@dg.asset(deps=["totals"])
def report() -> None: ...


defs = dg.Definitions(
    assets=[guard(staging, project=project, contracts="shop.staged"), report],
    resources={"dbt": DbtCliResource(project_dir=dbt_project), "strata": StrataResource(project_dir=project)},
)
"""
DBT_FILES = {
    "strata.toml": '[project]\nname = "shop"\n[dbt]\nmanifest = "dbt_project/target/manifest.json"\n'
    'database = "dbt_project/dev.duckdb"\n',
    "dbt_project/dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n"
    "seed-paths: [seeds]\nflags: {send_anonymous_usage_stats: false}\nmodels: {+materialized: table}\n",
    "dbt_project/profiles.yml": "shop:\n  target: dev\n  outputs:\n"
    "    dev: {type: duckdb, path: dev.duckdb, threads: 1}\n",
    "dbt_project/models/orders.sql": "select id::bigint as id, country, email from read_csv('{rows}')",
    "dbt_project/models/totals.sql": "select country, count(*) as orders from {{ ref('orders') }} group by country",
    "dbt_project/models/other.sql": "select 1 as one",
    "dbt_project/models/schema.yml": "version: 2\nmodels:\n  - name: orders\n    columns:\n"
    "      - name: email\n        data_tests: [not_null]\n",
}
DBT_CONTRACT = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.staged
name: Staged
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {team: orders}
assets:
  - id: orders
    kind: dbt_model
    columns:
      - {name: id, type: int64, primary_key: true}
      - {name: country, type: string, enum: [ES, MX]}
      - {name: email, type: string, classification: restricted, mask: hash}
tests:
  - {id: emails, kind: dbt, severity: blocking, asset: orders, ref: not_null_orders_email}
"""


@pytest.mark.slow
def test_a_dbt_model_is_judged_as_dbt_built_it_and_what_dbt_made_of_it_is_not_materialized(place) -> None:
    shop = place
    (shop.root / "contracts/shop/orders/contract.yaml").unlink()
    for path, text in DBT_FILES.items():
        shop.write(path, text.replace("{rows}", str(shop.root / "data/rows.csv")))
    shop.write("contracts/shop/staged/contract.yaml", DBT_CONTRACT)
    shop.write("shop_definitions.py", DBT_DEFINITIONS)
    dbt = [str(Path(sys.executable).parent / "dbt"), "parse", "--quiet", "--profiles-dir", "."]
    subprocess.run(dbt, cwd=shop.root / "dbt_project", check=True, capture_output=True)

    def latest(name: str) -> str | None:
        event = shop.instance.get_latest_materialization_event(dg.AssetKey(name))
        return event.run_id if event else None

    first = materialize(shop)
    assert first.returncode == 0, first.stdout + first.stderr
    run = latest("orders")
    assert (run, latest("totals"), latest("other")) == (run, run, run)
    assert len(shop.live("orders")) == 2
    shop.write("data/rows.csv", BAD)
    bad = materialize(shop)
    assert bad.returncode == 1
    assert "contract violated: orders" in bad.stdout + bad.stderr
    assert (latest("orders"), latest("totals")) == (run, run)
    assert latest("other") != run  # nothing of it is made of what was refused
    assert latest("report") == run
    assert len(shop.live("orders")) == 2
    with duckdb.connect(str(shop.root / "dbt_project/dev.duckdb")) as connection:
        assert connection.execute("select count(*) from orders").fetchone() == (4,)  # dbt had built it by then
    # a blocking test of dbt's counts as one of ours: what it says comes after the rows, and before they are live
    shop.write("data/rows.csv", "id,country,email\n1,ES,\n")
    blocked = materialize(shop)
    assert blocked.returncode == 1
    checks = shop.instance.get_latest_asset_check_evaluation_record
    records = {n: checks(dg.AssetCheckKey(dg.AssetKey("orders"), n)) for n in ("write_pin", "emails")}
    evaluations = {n: r.event.dagster_event.asset_check_evaluation_data for n, r in records.items()}
    assert not evaluations["emails"].passed
    assert evaluations["emails"].metadata["offenders"].value == 1
    assert "E144" in evaluations["write_pin"].description
    assert len(shop.live("orders")) == 2
    entries = [e for record in shop.instance.get_runs() for e in shop.instance.all_logs(record.run_id)]
    assert [e for e in entries if "secret-" in repr(e)] == []
    assert "secret-" not in first.stdout + first.stderr + bad.stdout + bad.stderr + blocked.stdout + blocked.stderr
