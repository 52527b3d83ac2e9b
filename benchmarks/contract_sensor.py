"""A tick of the contract sensor over 1,000 products, and a full collate of them: in one process, in turn, so that a
busy machine slows both alike. Also what the first tick, a tick after one edit, and the event log cost.

usage: python benchmarks/contract_sensor.py
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from contracts import COLUMNS, project
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_dagster import StrataProject, StrataResource, strata_contract_assets, strata_contract_sensor

PRODUCTS = 1000
PAIRS = 5
EVENTS = 2000


def main() -> None:
    """Print the rows of the results table."""
    with tempfile.TemporaryDirectory() as folder:
        root, home = project(Path(folder) / "p", PRODUCTS), Path(folder) / "home"
        os.environ["STRATA_CACHE_DIR"] = str(Path(folder) / "cache")
        home.mkdir()
        (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        data = [dg.AssetSpec(f"t{number}") for number in range(PRODUCTS)]
        with dg.DagsterInstance.from_config(str(home)) as instance:
            measure(root, Path(folder) / "cache", data, instance)


def measure(root: Path, cache: Path, data: list[dg.AssetSpec], instance: dg.DagsterInstance) -> None:
    """Measure ticks on an instance on disk, whose event log has an event of each product's asset."""
    project = StrataProject(root)
    contracts = strata_contract_assets(project=project, assets=data, resource=StrataResource(project))
    sensor = strata_contract_sensor(contracts)
    repository = dg.Definitions(assets=[*data, *contracts], sensors=[sensor]).get_repository_def()
    for number in range(PRODUCTS):
        instance.report_runless_asset_event(dg.AssetMaterialization(f"t{number % PRODUCTS}"))
    cursor: str | None = None
    asked = 0

    def tick() -> None:
        nonlocal cursor, asked
        with dg.build_sensor_context(instance, cursor, repository_def=repository) as context:
            done = sensor.evaluate_tick(context)
        cursor, asked = done.cursor, len(done.run_requests or ())

    def collate() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        examine(open_setting(root))

    first = cpu(tick)
    assert asked == PRODUCTS
    tick()
    time.sleep(2.1)  # longer than the coarsest clock of a file system: then the tree is settled
    tick()
    pairs = [(cpu(tick), cpu(collate)) for _ in range(PAIRS)]
    assert asked == 0
    idle, whole = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(a / b for a, b in pairs)
    what = f"a tick of the contract sensor, {PRODUCTS:,} products, nothing changed, against a full collate"
    print(f"| {what} | {1000 * idle:.1f} ms CPU | {whole:.2f} s CPU | {ratio:.4f} CPU | ≤ 0.02 |")
    for number in range(EVENTS):
        instance.report_runless_asset_event(dg.AssetMaterialization(f"t{number % 10}"))
    events = cpu(tick)
    assert asked == 10
    what = f"the same with {EVENTS:,} events of ten of them since the last one"
    print(f"| {what} | {events:.2f} s CPU | | {1000 * events / EVENTS:.2f} ms an event | |")
    print(f"| its first tick, which asks for all of them | {first:.2f} s CPU | | | |")
    path = root / "contracts" / "d1" / "p1" / "contract.yaml"
    path.write_text(path.read_text().replace("To measure", "To tell"))
    edited = cpu(tick)
    print(f"| its tick after one contract of {COLUMNS} columns was edited, nothing kept | {edited:.2f} s CPU | | | |")


def cpu(act: Callable[[], None]) -> float:
    """Seconds of CPU of this process."""
    before = time.process_time()
    act()
    return time.process_time() - before


if __name__ == "__main__":
    main()
