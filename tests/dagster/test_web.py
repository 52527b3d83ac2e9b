"""The Dagster UI on a real webserver: GraphQL and, in headless Chromium, the pages that people look at.

Screenshots are left in `.generated/screenshots/` (git-ignored), to be looked at.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / ".generated" / "screenshots"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1600,1200",
    "--virtual-time-budget=30000",
)
STALE = "{ assetNodes { assetKey { path } staleStatus staleCauses { category } } }"


@contextmanager
def webserver(shop) -> Iterator[str]:
    """The address of a webserver on the loopback interface that shows the shop's code location."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "dagster-webserver"), "-m", "shop_definitions"]
    environment = {**os.environ, "DAGSTER_HOME": str(shop.root.parent / "home"), "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [*command, "-h", "127.0.0.1", "-p", str(port)],
        cwd=shop.root,
        env=environment,
        stderr=subprocess.STDOUT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "Serving dagster-webserver" in line:
                break
        else:
            pytest.fail("the webserver did not start:\n" + "".join(said))
        _await(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _await(port: int, process: subprocess.Popen[str]) -> None:
    """Return once the port answers: the webserver says that it serves just before it does."""
    pause = threading.Event()
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            pause.wait(0.05)
        else:
            return
    pytest.fail("the webserver ended")


def asked(address: str, query: str) -> dict:
    body = json.dumps({"query": query}).encode()
    request = urllib.request.Request(f"{address}/graphql", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["data"]


def seen(address: str, path: str, name: str, profile: Path) -> str:
    """The page's text after its scripts ran; a screenshot of it is kept as `name`."""
    assert CHROMIUM, "the browser tests need chromium (apt-get install chromium)"
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    screenshot = f"--screenshot={SCREENSHOTS / name}.png"
    command = (CHROMIUM, *FLAGS, f"--user-data-dir={profile / name}", screenshot, "--dump-dom", f"{address}{path}")
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.slow
def test_the_stale_status_that_graphql_gives_follows_an_edit(shop_on_disk) -> None:
    shop = shop_on_disk
    assert shop.run().success
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 0\n")
    with webserver(shop) as address:
        nodes = asked(address, STALE)["assetNodes"]
    assert {
        n["assetKey"]["path"][-1]: (n["staleStatus"], [c["category"] for c in n["staleCauses"]]) for n in nodes
    } == {
        "orders": ("FRESH", []),
        "rates": ("FRESH", []),
        "paid": ("STALE", ["CODE"]),
        "by_country": ("STALE", ["CODE"]),
        "rate": ("FRESH", []),
        "report": ("FRESH", []),
    }


@pytest.mark.slow
def test_graphql_calls_stale_what_the_plan_calls_stale_before_and_after_a_column_that_nobody_reads(
    shop_on_disk,
) -> None:
    shop = shop_on_disk
    assert shop.run().success
    shop.edit("models/sales/orders.strata", "\n  order_id: int64 primary", "\n  more: int64\n  order_id: int64 primary")
    shop.edit("models/sales/orders.strata", "amount, email }", "amount, email, more = order_id + 1 }")

    def stale(address: str) -> dict[str, list[str]]:
        nodes = asked(address, STALE)["assetNodes"]
        found = [n for n in nodes if n["staleStatus"] != "FRESH"]
        return {n["assetKey"]["path"][-1]: [c["category"] for c in n["staleCauses"]] for n in found}

    with webserver(shop) as address:
        assert stale(address) == {"paid": ["CODE"]}
        assert shop.run(selection=["paid"]).success
        assert stale(address) == {}


@pytest.mark.slow
@pytest.mark.browser
def test_pages_show_graph_schema_lineage_checks_a_failed_pin_and_the_stale_badge(
    shop_on_disk, bad_orders, tmp_path
) -> None:
    shop = shop_on_disk
    assert shop.run().success
    shop.write("data/orders.csv", bad_orders)
    assert not shop.run().success
    shop.edit("models/sales/orders.strata", "orders = count()", "orders = count() + 0")
    with webserver(shop) as address:
        graph = seen(address, "/assets/by_country?view=lineage&lineageDepth=5", "graph", tmp_path)
        asset = seen(address, "/assets/paid", "asset", tmp_path)
        check = seen(address, "/assets/paid?view=checks&checkDetail=write_pin", "failed-pin", tmp_path)
        health = seen(address, "/assets/paid?view=checks&checkDetail=last_known_good", "last-known-good", tmp_path)
        stale = seen(address, "/assets/by_country", "stale", tmp_path)
    for name in ("orders", "paid", "by_country", "report"):
        assert name in graph
    for text in ("Orders that were paid.", "decimal(10,2)", "non-nullable", "primary key", "classification: pii"):
        assert text in asset
    assert "from orders.email" in asset
    assert "models/sales/orders.strata:" in asset
    assert "E082 1 row has a value of" in check
    assert "version 1 of prod stays live" in check
    assert "This is a" in check
    assert "blocking" in check
    assert "live for" in health
    assert "Unsynced" in stale


CONTRACT = """
apiVersion: strata/v0
kind: DataProductContract
id: sales.orders
name: Paid orders
version: 0.1.0
status: draft
layer: bronze
domain: sales
owner: {team: sales}
purpose: To tell how sales go.
assets: [{id: paid, kind: strata_model}]
freshness: {max_age: 24h}
tests:
  - {id: some, kind: expectation, severity: blocking, asset: paid, expectation: {type: row_count, min: 1}}
"""
CONTRACTS = """
from strata_dagster import strata_contract_assets, strata_contract_sensor

strata = StrataResource(project_dir=project)
contracts = strata_contract_assets(project=project, assets=[models, report], resource=strata)
defs = Definitions(
    assets=[models, report, *observable_sources(project=project), *contracts],
    sensors=[strata_contract_sensor(contracts)],
    resources={"strata": strata},
)
"""


@pytest.mark.slow
@pytest.mark.browser
def test_a_product_shows_its_state_and_its_findings_with_file_and_line(shop_on_disk, tmp_path) -> None:
    shop = shop_on_disk
    place = "contracts/sales/orders/contract.yaml"
    shop.write(place, CONTRACT)
    shop.write("shop_definitions.py", (shop.root / "shop_definitions.py").read_text() + CONTRACTS)
    environment = {**os.environ, "DAGSTER_HOME": str(shop.root.parent / "home"), "PYTHONWARNINGS": "ignore"}
    command = [str(Path(sys.executable).parent / "dagster"), "asset", "materialize", "-m", "shop_definitions"]
    subprocess.run([*command, "--select", "*"], cwd=shop.root, env=environment, check=True, capture_output=True)
    with webserver(shop) as address:
        page = seen(address, "/assets/contract/sales/orders", "product", tmp_path)
        shop.write(place, CONTRACT.replace("bronze", "tin"))
        one = [*command, "--select", 'key:"contract/sales/orders"']
        subprocess.run(one, cwd=shop.root, env=environment, check=True, capture_output=True)
        check = seen(address, "/assets/contract/sales/orders?view=checks&checkDetail=valid", "product-check", tmp_path)
    for text in ("To tell how sales go.", "as a draft it would be healthy", "strata/layer: bronze", "strata_contracts"):
        assert text in page
    assert f"{place}:8:8" in check
    assert "there is no layer" in check


PARTITIONED = """
source sales(csv: "data/sales.csv") { columns: { id: int64 primary_key, day: date nonnull, n: int64 nonnull } }
model daily {
  from sales
  partition_by: [day]
  partition_start: "2024-01-01"
  partition_end: "2024-01-05"
}
"""
PARTITIONS = """{ assetNodes(assetKeys: [{path: ["daily"]}]) {
  partitionStats { numPartitions numMaterialized }
  staleStatusByPartition: staleStatus(partition: "2024-01-01")
  assetMaterializations(limit: 1) { metadataEntries { label ... on MarkdownMetadataEntry { mdStr } } }
} }"""


@pytest.mark.slow
@pytest.mark.browser
def test_a_partitioned_asset_shows_its_partitions_and_a_summary_of_them(shop_on_disk, tmp_path) -> None:
    import dagster as dg

    from strata_dagster import StrataResource

    shop = shop_on_disk
    shop.write("models/sales/daily.strata", PARTITIONED)
    shop.write("data/sales.csv", "id,day,n\n1,2024-01-01,1\n2,2024-01-02,2\n")
    for day in ("2024-01-01", "2024-01-02"):
        resources = {"strata": StrataResource(project_dir=shop.root)}
        made = dg.materialize(
            shop.assets()[:1], selection=["daily"], partition_key=day, instance=shop.instance, resources=resources
        )
        assert made.success
        shop.write("data/sales.csv", "id,day,n\n1,2024-01-01,1\n2,2024-01-02,20\n")
    with webserver(shop) as address:
        (node,) = asked(address, PARTITIONS)["assetNodes"]
        page = seen(address, "/assets/daily?view=partitions&partition=2024-01-02", "partitions", tmp_path)
    assert node["partitionStats"] == {"numPartitions": 4, "numMaterialized": 2}
    (event,) = node["assetMaterializations"]
    (summary,) = [e["mdStr"] for e in event["metadataEntries"] if e["label"] == "partitions_summary"]
    assert summary.startswith("2 live; 1 stale: 2024-01-01\n")
    assert "| 2024-01-01 | 1 | data change: sales |" in summary
    assert "2024-01-02" in page
