"""The repository's own code location on the real data, and the walk-through of the README (needs `make staged`)."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import dagster as dg
import pytest

from strata_dagster import StrataProject

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("models", "dbt_project", "data", "demo", "contracts", "definitions.py", "strata.toml")
MODELS = 16
PRODUCTS = {f"contract/{p}" for p in ("finance/fuel_costs", "finance/fuel_prices", "finance/fuel_quotes")} | {
    f"contract/flights/{p}" for p in ("staged", "operations", "punctuality")
}
STAGED = {"stg_flights", "stg_airlines", "stg_airports", "stg_planes", "stg_weather"}
DOWNSTREAM = [dg.AssetKey(name) for name in ("fuel_price", "leg_fuel", "fuel_cost_by_carrier")]
BAD = {
    "null": "E081 1 row has a null in `usd_per_gallon`",
    "enum": "E082 1 row has a value of `market` outside",
    "duplicate": "E083 1 row repeats a value of `price_month`",
    "type": "E080 12 rows have text that is no decimal(5,3) in `usd_per_gallon`",
}


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    """A copy of the demo, staged but with nothing published and a new Dagster instance."""
    root = tmp_path / "demo"
    root.mkdir()
    for part in PARTS:
        source = ROOT / part
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / part)
    (root / ".dagster").mkdir()
    shutil.copy(ROOT / "deploy/dagster.yaml", root / ".dagster")
    StrataProject(root).compile()
    assert (root / "dbt_project/target/manifest.json").exists(), "run `make staged` first"
    return root


def loaded(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo_definitions", root / "definitions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_every_asset_materializes_and_a_bad_batch_leaves_the_last_known_good(demo) -> None:
    environment = {**os.environ, "DAGSTER_HOME": str(demo / ".dagster"), "PYTHONWARNINGS": "ignore"}
    command = [str(Path(sys.executable).parent / "dagster"), "asset", "materialize", "-m", "definitions", "--select"]
    year = "2013-01-01...2013-12-01"
    for selected in (['not key:"airport_days"'], ["airport_days", "--partition-range", year]):  # as `make demo` does
        done = subprocess.run([*command, *selected], cwd=demo, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]

    job = loaded(demo).defs.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.from_config(str(demo / ".dagster")) as instance:
        made = {k.to_user_string() for k in instance.get_asset_keys() if instance.get_latest_materialization_event(k)}
        assert made >= STAGED | PRODUCTS
        assert made - STAGED - PRODUCTS >= {"fuel_cost_shares", "fuel_cost_by_carrier"}
        assert len(made) == MODELS + len(STAGED) + len(PRODUCTS) + 1
        months = instance.get_materialized_partitions(dg.AssetKey("airport_days"))
        assert months == {f"2013-{month:02}-01" for month in range(1, 13)}
        command = [str(Path(sys.executable).parent / "contract-engine"), "status", "flights.punctuality"]
        told = subprocess.run(command, cwd=demo, capture_output=True, text=True)
        assert (told.returncode, told.stdout[:50]) == (0, "flights.punctuality 1.0.0: healthy, may be read, a")

        command = [str(Path(sys.executable).parent / "strata"), "history"]
        told = subprocess.run(command, cwd=demo, capture_output=True, text=True)
        published = [(line[:5], line[29:]) for line in told.stdout.splitlines()]
        readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
        first = next(i for i, line in enumerate(readme) if line.endswith("strata history") and line[0] == "$")
        assert published == [(line[:5], line[29:]) for line in readme[first + 2 : first + 5]]

        def version(name: str) -> str:
            event = instance.get_latest_materialization_event(dg.AssetKey(name))
            return event.asset_materialization.tags["dagster/data_version"]

        def run() -> dg.ExecuteInProcessResult:
            return job.execute_in_process(instance=instance, asset_selection=DOWNSTREAM, raise_on_error=False)

        before = version("fuel_cost_by_carrier")
        landing = demo / "data/landing/fuel_prices.csv"
        for batch, finding in BAD.items():
            shutil.copy(demo / f"demo/batches/{batch}.csv", landing)
            result = run()
            assert not result.success, batch
            assert result.get_asset_materialization_events() == []
            pins = {
                c.asset_key.to_user_string(): c
                for c in result.get_asset_check_evaluations()
                if c.check_name == "write_pin"
            }
            assert pins["fuel_price"].description.startswith(finding)
            assert pins["leg_fuel"].severity is dg.AssetCheckSeverity.WARN
            assert version("fuel_cost_by_carrier") == before

        shutil.copy(demo / "demo/batches/repaired.csv", landing)
        assert run().success
        assert version("fuel_cost_by_carrier") != before
