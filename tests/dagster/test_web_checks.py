"""What the UI shows of checks over runs, of freshness and of what is stale, in one project after several runs."""

# Without postponed annotations: Dagster compares those of an op with types.

from typing import Any

import dagster as dg
import pytest

from strata_core.planning.partitions.asked_periods import Asked
from strata_core.planning.project import open_project
from strata_core.planning.workspace import open_workspace
from strata_dagster import StrataResource

from .test_web import CONTRACT, PARTITIONED, STALE, asked, seen, webserver

LAYOUT = PARTITIONED[PARTITIONED.index("  partition_by") :]
READERS = f"""
model per_day {{
  from daily
  group {{ day }} ( aggregate {{ total = sum(n) }} )
{LAYOUT}
model total {{ from daily aggregate {{ total = sum(n) }} }}
"""
DAILY = (
    CONTRACT.replace("sales.orders", "sales.daily")
    .replace("asset: paid", "asset: daily")
    .replace("id: paid, kind: strata_model", "id: daily, kind: strata_model, freshness: {max_age: 24h, column: day}")
)
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")
HISTORY = """{ assetCheckExecutions(assetKey: {path: ["paid"]}, checkName: "write_pin", limit: 10) {
  status evaluation { metadataEntries { label ... on IntMetadataEntry { intValue } } } } }"""
CHECKS = """{ assetNodes(assetKeys: [{path: ["paid"]}, {path: ["daily"]}]) {
  assetKey { path }
  internalFreshnessPolicy { ... on TimeWindowFreshnessPolicy { failWindowSeconds } }
  assetChecksOrError { ... on AssetChecks { checks {
    name executionForLatestMaterialization { status evaluation { severity description } } } } } } }"""
PARTITIONED_BADGES = """{{ assetNodes(assetKeys: [{{path: ["daily"]}}, {{path: ["per_day"]}}]) {{
  assetKey {{ path }} {} }} }}""".format(" ".join(f'd{n}: staleStatus(partition: "{d}")' for n, d in enumerate(DAYS)))


def run(shop: Any, *names: str, days: tuple[str, str] | None = None) -> bool:
    ranged = {} if days is None else dict(zip(("start", "end"), days, strict=True))
    return dg.materialize(
        shop.assets()[:1],
        selection=[*names],
        instance=shop.instance,
        resources={"strata": StrataResource(project_dir=shop.root)},
        tags={f"dagster/asset_partition_range_{side}": day for side, day in ranged.items()},
        raise_on_error=False,
    ).success


def badges(address: str) -> set[str]:
    """The assets, and partitions of those that have some, that carry the badge."""
    whole = {n["assetKey"]["path"][-1] for n in asked(address, STALE)["assetNodes"] if n["staleStatus"] == "STALE"}
    parted = asked(address, PARTITIONED_BADGES)["assetNodes"]
    stale = {
        f"{n['assetKey']['path'][-1]} {day}" for n in parted for i, day in enumerate(DAYS) if n[f"d{i}"] == "STALE"
    }
    return whole | stale


def planned(shop: Any) -> set[str]:
    """The models, and partitions of models that have some, that the plan calls stale."""
    workspace = open_workspace(open_project(project=shop.root), "prod", write=False)
    asked_for = Asked(DAYS[0], DAYS[-1])
    whole = workspace.plan(["paid", "by_country", "rate", "total"], with_upstream=False).models
    parted = workspace.plan(["daily", "per_day"], with_upstream=False, asked=asked_for).models
    parts = {f"{m.name} {p.key}" for m in parted for p in m.periods or () if p.causes}
    return parts | {m.name for m in whole if m.stale}


@pytest.fixture
def ran(shop_on_disk, good_orders, bad_orders) -> Any:
    """Three runs of `paid`, the last of them refused; three partitions with their readers."""
    shop = shop_on_disk
    shop.write("models/sales/daily.strata", PARTITIONED + READERS)
    shop.write("data/sales.csv", "id,day,n\n1,2024-01-01,1\n2,2024-01-02,2\n3,2024-01-03,3\n")
    shop.write("contracts/sales/orders/contract.yaml", CONTRACT)
    shop.write("contracts/sales/daily/contract.yaml", DAILY)
    assert run(shop, "paid", "by_country", "rate")
    shop.write("data/orders.csv", good_orders + "4,MX,1.00,\n")
    assert run(shop, "paid", "by_country")
    shop.write("data/orders.csv", bad_orders + "5,IT,1.00,secret@example.com\n")
    assert not run(shop, "paid", "by_country")
    assert run(shop, "daily", "per_day", days=(DAYS[0], DAYS[-1]))
    assert run(shop, "total")
    return shop


@pytest.mark.slow
@pytest.mark.browser
def test_history_and_plots_of_checks_freshness_and_exactly_the_stale_badges(ran, good_orders, tmp_path) -> None:
    shop = ran
    with webserver(shop) as address:
        executions = asked(address, HISTORY)["assetCheckExecutions"]
        plotted = [
            (e["status"], m["intValue"])
            for e in executions
            for m in e["evaluation"]["metadataEntries"]
            if m["label"] == "offenders/country enum"
        ]
        assert plotted == [("FAILED", 2), ("SUCCEEDED", 0), ("SUCCEEDED", 0)]

        nodes = {n["assetKey"]["path"][-1]: n for n in asked(address, CHECKS)["assetNodes"]}
        checks = {
            name: {c["name"]: c["executionForLatestMaterialization"] for c in node["assetChecksOrError"]["checks"]}
            for name, node in nodes.items()
        }
        assert nodes["paid"]["internalFreshnessPolicy"] == {"failWindowSeconds": 86_400}
        assert nodes["daily"]["internalFreshnessPolicy"] is None  # of values, which a check looks at
        assert {name: (e["status"], e["evaluation"]["severity"]) for name, e in checks["paid"].items()} == {
            "write_pin": ("FAILED", "ERROR"),
            "last_known_good": ("SUCCEEDED", "ERROR"),
            "freshness": ("SUCCEEDED", "WARN"),
            "some": ("SUCCEEDED", "WARN"),
        }
        assert checks["paid"]["freshness"]["evaluation"]["description"].endswith("s old, promised is at most 1d")
        late = checks["daily"]["freshness"]
        assert (late["status"], late["evaluation"]["severity"]) == ("FAILED", "WARN")

        pin = seen(address, "/assets/paid?view=checks&checkDetail=write_pin", "history", tmp_path)
        assert "Plots" in pin
        assert "offenders/country enum" in pin
        assert "secret@example.com" not in pin
        freshness = seen(address, "/assets/daily?view=checks&checkDetail=freshness", "late", tmp_path)
        assert "Not evaluated" not in freshness
        assert "promised is at most 1d" in freshness

        shop.write("data/orders.csv", good_orders + "4,MX,1.00,\n")
        assert run(shop, "paid", "by_country")
        assert badges(address) == planned(shop) == set()
        shop.write("data/sales.csv", "id,day,n\n1,2024-01-01,1\n2,2024-01-02,20\n3,2024-01-03,3\n")
        assert run(shop, "daily", days=(DAYS[0], DAYS[-1]))
    shop.edit("models/sales/orders.strata", "orders = count()", "orders = count() + 0")
    with webserver(shop) as address:
        # Dagster looks at no partitions of which an asset reads all: only the plan calls `total` stale.
        assert planned(shop) == {"by_country", "per_day 2024-01-02", "total"}
        assert badges(address) == {"by_country", "per_day 2024-01-02"}
    shop.edit("models/sales/daily.strata", "  from sales\n", "  from sales\n  filter n > 0\n")
    with webserver(shop) as address:
        everything = {"by_country", "total", *(f"{name} {day}" for name in ("daily", "per_day") for day in DAYS)}
        assert badges(address) == planned(shop) == everything
        page = seen(address, "/assets/per_day?view=partitions&partition=2024-01-01", "stale-partition", tmp_path)
    assert "Unsynced" in page
