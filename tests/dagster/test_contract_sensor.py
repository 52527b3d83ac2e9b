"""Data products as assets that a sensor renews: real instances, real files, no product in another's way."""

# Without postponed annotations: Dagster compares those of an op with types.

import json
import os
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster._core.definitions.sensor_definition import SensorExecutionData

from strata_core.contract_engine import promotions
from strata_core.contract_engine.observations import utc_now
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish
from strata_core.contract_engine.serving.standing import served_view, standing
from strata_dagster import StrataResource, strata_contract_assets, strata_contract_sensor
from strata_dagster.contracts.event_pages import KINDS, Marks
from strata_dagster.contracts.sensor import Cursor, cursor_of

CONTRACT = """
apiVersion: strata/v0
kind: DataProductContract
id: sales.NAME
name: All of NAME
version: 1.0.0
status: active
layer: bronze
domain: sales
owner: {team: sales ops, approvers: [ana]}
purpose: To tell how sales go.
assets:
  - {id: ASSET, kind: KIND}
freshness: {max_age: 24h}
tests:
  - {id: few, kind: expectation, severity: blocking, asset: ASSET, expectation: {type: row_count, min: 1, max: 3}}
  - {id: more, kind: expectation, severity: degrading, asset: ASSET, expectation: {type: row_count, min: 9}}
  - {id: hint, kind: expectation, severity: experimental, asset: ASSET, expectation: {type: row_count, min: 9}}
"""


def contract(name: str, asset: str, kind: str = "strata_model") -> str:
    return CONTRACT.replace("NAME", name).replace("ASSET", asset).replace("KIND", kind)


class Location:
    """A code location over a shop, as it is loaded once; `reload` loads it anew."""

    def __init__(self, shop: Any) -> None:
        self.shop = shop
        shop.write("strata.toml", '[project]\nname = "shop"\n[engine]\nname = "duckdb"\n')
        shop.write("contracts/sales/paid/contract.yaml", contract("paid", "paid"))
        shop.write("contracts/sales/rates/contract.yaml", contract("rates", "rate"))
        shop.write("contracts/sales/python/contract.yaml", contract("python", "report", "dagster_asset"))
        self.cursor: str | None = None
        self.reload()

    def reload(self, *more: Any) -> None:
        models, report, *sources = self.shop.assets()
        self.data = [models, report, *sources, *more]
        self.contracts = strata_contract_assets(project=self.shop.project, assets=self.data, resource=self.resource)
        self.sensor = strata_contract_sensor(self.contracts)

    def tick(self) -> SensorExecutionData:
        defs = dg.Definitions(
            assets=[*self.data, *self.contracts], sensors=[self.sensor], resources={"strata": self.resource}
        )
        with dg.build_sensor_context(instance=self.shop.instance, cursor=self.cursor, definitions=defs) as context:
            done = self.sensor.evaluate_tick(context)
        self.cursor = done.cursor
        return done

    def asked(self) -> list[str]:
        """What a tick asks for, by product; the runs are carried out."""
        requests = self.tick().run_requests
        for request in requests:
            assert self.run(list(request.asset_selection)).success
        return sorted(key.path[-1] for request in requests for key in request.asset_selection)

    def run(self, selection: Any) -> dg.ExecuteInProcessResult:
        return dg.materialize(
            [*self.contracts, *self.data], selection=selection, instance=self.shop.instance, raise_on_error=False,
            resources={"strata": self.resource},
        )  # fmt: skip

    @property
    def resource(self) -> Any:
        return StrataResource(project_dir=self.shop.root)

    def promote(self) -> None:
        checked = examine(open_setting(self.shop.root))
        by = Provenance("ana", "c0ffee", "0.1.0", utc_now())
        publish(prepare(checked, (), _nothing(), by), TARGETS, self.out)

    @property
    def out(self) -> Path:
        return self.shop.root / ".generated/contracts"

    def state(self, product: str) -> tuple[str, list[str]]:
        found = standing(self.out, f"sales.{product}", utc_now())
        return found.state, [f"{r.code}: {r.message}" for r in found.reasons]

    def checks(self, product: str) -> dict[str, tuple[bool, str, str]]:
        found = {}
        for check in next(iter(self.contracts)).check_specs:
            if check.asset_key.path[-1] == product:
                record = self.shop.instance.get_latest_asset_check_evaluation_record(check.key)
                if record is not None:
                    said = record.event.dagster_event.asset_check_evaluation_data
                    found[check.name] = (said.passed, said.severity.value, said.description)
        return found


def _nothing() -> Any:
    from strata_core.contract_engine.observations import Observations

    return Observations()


@pytest.fixture
def location(shop: Any) -> Location:
    return Location(shop)


def test_a_first_tick_asks_for_every_product_and_a_second_for_nothing(location: Location) -> None:
    requests = location.tick().run_requests
    assert [sorted(k.to_user_string() for k in r.asset_selection) for r in requests] == [
        ["contract/sales/paid"],
        ["contract/sales/python"],
        ["contract/sales/rates"],
    ]
    assert len({r.run_key for r in requests}) == 3
    again = location.tick()
    assert (again.run_requests, again.skip_message) == ([], "nothing changed")


def test_a_product_that_was_asked_for_and_is_on_its_way_has_the_same_run_key(location: Location) -> None:
    first = {r.run_key for r in location.tick().run_requests}
    location.cursor = None
    assert {r.run_key for r in location.tick().run_requests} == first
    for key in location.contracts.keys.values():
        location.run([key])
    location.cursor = None
    assert location.tick().run_requests == []


def test_what_a_tick_asked_for_in_vain_is_asked_for_by_the_next(location: Location) -> None:
    """Where a reload overtakes the launch of its runs, the tick fails and the cursor stays that of the one before."""
    location.asked()
    location.shop.edit("contracts/sales/rates/contract.yaml", "To tell how", "To say how")
    location.shop.run(selection=["paid"])
    kept = location.cursor

    def keys() -> list[str]:
        return sorted(str(r.run_key).partition(":")[0] for r in location.tick().run_requests)

    assert keys() == ["sales/paid", "sales/rates"]
    location.cursor = kept
    first = location.tick()
    assert sorted(str(r.run_key).partition(":")[0] for r in first.run_requests) == ["sales/paid", "sales/rates"]
    location.cursor = kept
    location.reload()
    again = location.tick()
    assert {r.run_key for r in again.run_requests} == {r.run_key for r in first.run_requests}, "none is made twice"
    assert location.tick().run_requests == []


def test_views_are_fresh_within_one_tick_of_a_materialization(location: Location) -> None:
    location.promote()
    assert location.asked() == ["paid", "python", "rates"]
    assert location.state("paid")[0] == "degraded"
    location.shop.run(selection=["paid"])
    assert location.asked() == ["paid"]
    view = served_view(location.out, "sales.paid")
    record = location.shop.instance.get_latest_materialization_event(dg.AssetKey("paid"))
    (run,) = view["latest_runs"]
    assert (run["run_id"], run["state"], run["rows"]) == (record.run_id, "succeeded", 3)
    assert run["data_version"] == record.asset_materialization.tags["dagster/data_version"]
    assert [f["state"] for f in view["freshness"]] == ["fresh"]
    assert {c["name"] for c in view["observed_schema"][0]["columns"]} == {"order_id", "country", "amount", "email"}
    assert {t["id"]: t["outcome"] for t in view["tests"]} == {"few": "passed", "more": "failed", "hint": "failed"}
    assert location.state("paid")[0] == "degraded"
    assert location.tick().run_requests == []


def test_views_are_fresh_within_one_tick_of_a_failed_check(location: Location, bad_orders: str) -> None:
    location.promote()
    location.shop.run()
    location.asked()
    assert location.asked() == []
    location.shop.write("data/orders.csv", bad_orders)
    assert not location.shop.run(selection=["paid"]).success
    assert location.asked() == ["paid"]
    state, reasons = location.state("paid")
    assert state == "degraded"
    (refused,) = (r for r in reasons if r.startswith("check-failed"))
    assert refused.startswith("check-failed: write_pin failed: E082 1 row has a value of `country` outside")
    (run,) = served_view(location.out, "sales.paid")["latest_runs"]
    assert run["state"] == "failed"
    assert [f["state"] for f in served_view(location.out, "sales.paid")["freshness"]] == ["fresh"]


def test_a_test_that_the_asset_itself_was_checked_by_is_a_test_in_the_view_and_no_check(location: Location) -> None:
    location.promote()
    location.asked()
    few = dg.AssetCheckKey(dg.AssetKey("paid"), "few")
    evaluation = dg.AssetCheckEvaluation(
        few.asset_key,
        few.name,
        False,
        {"outcome": "failed", "offenders": 7},
        None,
        dg.AssetCheckSeverity.ERROR,
        "7 rows",
    )
    assert few in location.contracts.here.tests
    location.shop.instance.report_runless_asset_event(evaluation)
    assert location.asked() == ["paid"]
    view = served_view(location.out, "sales.paid")
    tests = {t["id"]: (t["outcome"], t.get("offenders"), t.get("message")) for t in view["tests"]}
    assert tests["few"] == ("failed", 7, "7 rows")
    assert "few" not in {c["check"] for c in view.get("checks", ())}
    assert location.state("paid")[0] == "blocked"


def test_a_check_alone_and_an_observation_ask_for_their_products(location: Location) -> None:
    location.shop.run()
    location.asked()
    pin = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("rate"), "last_known_good"))
    assert location.run(pin).success
    assert location.asked() == ["rates"]
    observed = dg.AssetObservation(dg.AssetKey("report"), metadata={"seen": 1})
    location.shop.instance.report_runless_asset_event(observed)
    assert location.asked() == ["python"]
    assert location.asked() == []


def test_a_run_that_fails_before_any_check_is_seen(location: Location) -> None:
    @dg.asset
    def report() -> None:
        raise RuntimeError("the printer is on fire")

    location.promote()
    location.asked()
    assert not dg.materialize([report], instance=location.shop.instance, raise_on_error=False).success
    assert location.asked() == ["python"]
    assert [r["state"] for r in served_view(location.out, "sales.python")["latest_runs"]] == ["failed"]
    assert location.asked() == []


def test_what_the_cli_published_asks_for_its_product(location: Location) -> None:
    location.promote()
    location.asked()
    command = [str(Path(sys.executable).parent / "strata"), "apply", "rate", "--project", str(location.shop.root)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    assert location.asked() == ["rates"]
    assert [r["run_id"] for r in served_view(location.out, "sales.rates")["latest_runs"]] == ["prod version 1"]
    assert location.asked() == []


def test_an_edit_asks_for_its_product_alone_and_a_revert_asks_again(location: Location) -> None:
    location.asked()
    path = "contracts/sales/paid/contract.yaml"
    location.shop.edit(path, "how sales go", "how much is sold")
    assert location.asked() == ["paid"]
    location.shop.edit(path, "how much is sold", "how sales go")
    assert location.asked() == ["paid"]
    assert location.asked() == []


def test_a_broken_contract_is_told_once_with_its_place_and_stops_no_other(location: Location) -> None:
    location.promote()
    location.asked()
    location.shop.write("contracts/sales/paid/contract.yaml", "apiVersion: strata/v0\n\tkind: x\n")
    location.shop.edit("contracts/sales/rates/contract.yaml", "layer: bronze", "layer: tin")
    assert location.asked() == ["paid", "rates"]
    paid, rates = location.checks("paid"), location.checks("rates")
    assert paid["valid"][:2] == (False, "ERROR")
    assert "(contracts/sales/paid/contract.yaml:2:1)" in paid["valid"][2]
    assert paid["compatible"] == (False, "WARN", "nothing can be told of its version: it is not valid")
    assert "(contracts/sales/rates/contract.yaml:8:8)" in rates["valid"][2]
    assert location.checks("python")["valid"][:2] == (True, "ERROR")
    assert location.asked() == []
    assert served_view(location.out, "sales.paid")["version"] == "1.0.0"
    location.reload()
    assert sorted(k.path[-1] for k in location.contracts.keys.values()) == ["paid", "python", "rates"]
    location.shop.write("contracts/sales/paid/contract.yaml", contract("paid", "paid"))
    assert location.asked() == ["paid"]
    assert location.checks("paid")["valid"] == (True, "ERROR", "the contract and what it is made of hold")


def test_a_breaking_change_fails_the_check_of_the_version_and_not_that_of_the_contract(location: Location) -> None:
    location.promote()
    location.asked()
    path = "contracts/sales/paid/contract.yaml"
    location.shop.edit(path, "freshness: {max_age: 24h}", "freshness: {max_age: 48h}")
    assert location.asked() == ["paid"]
    checks = location.checks("paid")
    assert checks["valid"][0] is True
    assert checks["compatible"][:2] == (False, "ERROR")
    assert path in checks["compatible"][2]
    view = served_view(location.out, "sales.paid")
    assert view["contract"]["freshness"]["max_age"] == "24h"


def outside(location: Location, rows: int) -> None:
    """A product of a file that no asset of the code location makes or checks."""
    pq.write_table(pa.table({"n": list(range(rows))}), location.shop.root / "data/outside.parquet")
    asset = "{id: outside, kind: table, location: data/outside.parquet}"
    text = contract("outside", "outside").replace("{id: outside, kind: strata_model}", asset)
    location.shop.write("contracts/sales/outside/contract.yaml", text)


def test_tests_of_rows_that_no_asset_is_checked_for_are_checks_of_the_product(location: Location) -> None:
    outside(location, 3)
    location.reload()
    location.asked()
    checks = location.checks("outside")
    assert checks["test_few"] == (True, "WARN", "blocking: passed")
    assert checks["test_more"][:2] == (False, "WARN")
    assert checks["test_more"][2].startswith("degrading: failed: a row is wrong")
    assert checks["test_hint"] == (True, "ERROR", "experimental: its result is for the owners, in the runtime view")
    outside(location, 5)
    location.run([location.contracts.keys["sales", "outside"]])
    assert location.checks("outside")["test_few"][:2] == (False, "ERROR")
    assert location.checks("python")["test_few"][:2] == (False, "WARN")
    assert "not run: its rows are out of reach" in location.checks("python")["test_few"][2]


def test_a_test_that_a_data_asset_is_checked_by_is_one_check_and_is_told_in_the_product_too(location: Location) -> None:
    location.shop.run()
    location.asked()
    assert set(location.checks("paid")) == {"valid", "compatible"}
    names = {c.name for c in location.data[0].check_specs if c.asset_key == dg.AssetKey("paid")}
    assert {"few", "more", "hint"} < names
    key = location.contracts.keys["sales", "paid"]
    metadata = location.shop.instance.get_latest_materialization_event(key).asset_materialization.metadata
    rows = [line.split(" | ")[:4] for line in metadata["tests"].value.splitlines()[2:]]
    assert rows == [
        ["| few", "blocking", "paid", "passed"],
        ["| more", "degrading", "paid", "failed"],
        ["| hint", "experimental", "paid", "for its owners"],
    ]


def test_an_asset_bears_what_the_contract_says_of_it(location: Location) -> None:
    (made,) = location.contracts
    spec = {s.key.path[-1]: s for s in made.specs}["paid"]
    assert [d.asset_key for d in spec.deps] == [dg.AssetKey("paid")]
    assert (spec.group_name, list(spec.owners), dict(spec.tags)["strata/layer"]) == (
        "sales",
        ["team:sales ops"],
        "bronze",
    )
    assert spec.description == "**All of paid**\n\nTo tell how sales go."
    location.promote()
    location.shop.run()
    location.asked()
    key = dg.AssetKey(["contract", "sales", "paid"])
    event = location.shop.instance.get_latest_materialization_event(key)
    metadata = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert (metadata["state"], metadata["served_version"], metadata["promoted"]) == ("degraded", "1.0.0", True)
    assert metadata["docs"].startswith("file:///")
    assert metadata["docs"].endswith("/.generated/contracts/current/docs/sales/paid.html")
    assert Path(metadata["docs_markdown"]).read_text().startswith("# All of paid")
    assert json.loads(Path(metadata["runtime_view"]).read_text())["id"] == "sales.paid"
    assert promotions.head(location.shop.root / "contracts/.promotions") == 1


def test_what_is_never_promoted_is_shown_as_a_draft_and_served_to_nobody(location: Location) -> None:
    location.shop.run()
    location.asked()
    event = location.shop.instance.get_latest_materialization_event(dg.AssetKey(["contract", "sales", "rates"]))
    found = event.asset_materialization.metadata["state"].value
    assert found == "not promoted; as a draft it would be degraded"
    assert not (location.out / "current").exists()


def test_an_asset_that_grows_old_is_seen_though_nothing_happens(
    location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    location.promote()
    location.shop.run()
    location.asked()
    assert location.asked() == []
    due = cursor_of(location.cursor).due
    assert due is not None
    later = due + 60
    monkeypatch.setattr("strata_dagster.contracts.sensor.time.time", lambda: later)
    requests = location.tick().run_requests
    assert sorted(k.path[-1] for r in requests for k in r.asset_selection) == ["paid", "python", "rates"]
    assert location.tick().run_requests == []


# What people get wrong


def test_tests_whose_names_are_one_in_dagster_are_told_apart(location: Location) -> None:
    twice = "{id: a-b, kind: expectation, severity: blocking, asset: outside, expectation: {type: row_count, min: 1}}"
    outside(location, 3)
    path = location.shop.root / "contracts/sales/outside/contract.yaml"
    path.write_text(path.read_text() + f"  - {twice}\n  - {twice.replace('a-b', 'a_b').replace('min: 1', 'min: 9')}\n")
    location.reload()
    location.asked()
    checks = location.checks("outside")
    assert (checks["test_a_b"][0], checks["test_a_b_2"][0]) == (True, False)


@pytest.mark.parametrize("place", ["contract.yaml", "my domain/über/contract.yaml", "a/b/c/d/contract.yaml"])
def test_a_contract_in_an_odd_place_is_an_asset_with_a_finding(location: Location, place: str) -> None:
    location.shop.write(f"contracts/{place}", contract("odd", "by_country"))
    location.reload()
    assert len(location.asked()) == 4
    odd = next(k for k in location.contracts.keys.values() if k.path[1] != "sales")
    assert location.checks(odd.path[-1])["valid"][0] is False


def test_a_place_that_cannot_be_published_to_fails_the_run_and_says_why(location: Location) -> None:
    location.promote()
    (location.out / "current").unlink()
    location.shop.write(".generated/contracts/current/kept.txt", "mine")
    done = location.run([dg.AssetKey(["contract", "sales", "paid"])])
    assert not done.success
    (failure,) = (e.step_failure_data.error.to_string() for e in done.all_events if e.is_step_failure)
    assert "is no link to a release" in failure
    assert (location.out / "current/kept.txt").read_text() == "mine"


def test_a_place_that_cannot_be_published_to_is_tried_again_where_the_op_has_a_retry_policy(location: Location) -> None:
    location.promote()
    location.contracts = strata_contract_assets(
        project=location.shop.project, assets=location.data, resource=location.resource,
        retry_policy=dg.RetryPolicy(max_retries=2),
    )  # fmt: skip
    (location.out / "current").unlink()
    location.shop.write(".generated/contracts/current/kept.txt", "mine")
    done = location.run([dg.AssetKey(["contract", "sales", "paid"])])
    assert not done.success
    assert sum(event.event_type_value == "STEP_UP_FOR_RETRY" for event in done.all_events) == 2


def test_a_store_that_is_damaged_renews_nothing_and_says_why(location: Location) -> None:
    location.promote()
    location.asked()
    location.run([dg.AssetKey("rate")])
    for entry in (location.shop.root / ".strata/store/environments/prod").rglob("*1.json"):
        entry.write_text("{")
    assert "E094" in (location.tick().skip_message or "")
    done = location.run([dg.AssetKey(["contract", "sales", "paid"])])
    (failure,) = (e.step_failure_data.error.to_string() for e in done.all_events if e.is_step_failure)
    assert "no product was renewed" in failure
    assert "E094" in failure


def test_two_contracts_of_one_id_are_each_told_at_their_place(location: Location) -> None:
    location.shop.write("contracts/sales/zweiter/contract.yaml", contract("paid", "paid"))
    location.reload()
    assert location.asked() == ["paid", "python", "rates", "zweiter"]
    said = location.checks("zweiter")["valid"]
    assert said[:2] == (False, "ERROR")
    assert "there are two contracts of `sales.paid` (contracts/sales/zweiter/contract.yaml:4:5)" in said[2]
    assert location.checks("paid")["valid"][0] is True


def test_a_key_that_is_taken_leaves_one_product_out_and_is_told(
    location: Location, caplog: pytest.LogCaptureFixture
) -> None:
    @dg.asset(key=["contract", "sales", "paid"])
    def stranger() -> None: ...

    location.reload(stranger)
    assert "`contracts/sales/paid/contract.yaml` is no asset" in caplog.text
    assert sorted(k.path[-1] for k in location.contracts.keys.values()) == ["python", "rates"]
    assert location.asked() == ["python", "rates"]


def logged(location: Location, capsys: pytest.CaptureFixture[str]) -> tuple[SensorExecutionData, str]:
    capsys.readouterr()
    done = location.tick()
    return done, capsys.readouterr().err


def test_a_broken_strata_toml_is_told_once_and_ends_when_it_is_mended(
    location: Location, capsys: pytest.CaptureFixture[str]
) -> None:
    location.asked()
    good = (location.shop.root / "strata.toml").read_text()
    location.shop.write("strata.toml", "[project\n")
    done, said = logged(location, capsys)
    assert "strata.toml:1" in done.skip_message
    assert "E073" in said
    again, quiet = logged(location, capsys)
    assert (again.run_requests, again.skip_message) == ([], "nothing is renewed until what was told is mended")
    assert "E073" not in quiet
    broken = strata_contract_assets(project=location.shop.project, assets=location.data, resource=location.resource)
    assert broken.definitions == ()
    location.shop.write("strata.toml", good)
    assert location.asked() == []


def test_what_belongs_to_no_product_is_logged_once(location: Location, capsys: pytest.CaptureFixture[str]) -> None:
    location.asked()
    location.shop.write("models/lost.contract.yaml", "product: sales.lost\ndescription: x\n")
    _, said = logged(location, capsys)
    assert "models/lost.contract.yaml:1" in said
    location.shop.write("models/other.contract.yaml", "product: sales.paid\nasset: paid\ndescription: x\n")
    _, quiet = logged(location, capsys)
    assert "lost" not in quiet


def test_a_contract_that_is_new_or_gone_asks_for_a_reload(
    location: Location, capsys: pytest.CaptureFixture[str]
) -> None:
    location.asked()
    location.shop.write("contracts/sales/new/contract.yaml", contract("new", "by_country"))
    (location.shop.root / "contracts/sales/rates/contract.yaml").unlink()
    done, said = logged(location, capsys)
    assert done.run_requests == []
    assert "contracts/sales/new/contract.yaml is no asset `contract/sales/new` yet: it is new" in said
    assert "the contract of contract/sales/rates is gone" in said
    assert location.run([dg.AssetKey(["contract", "sales", "rates"])]).success
    location.reload()
    assert location.asked() == ["new"]


def test_a_missing_manifest_is_a_finding_and_no_obstacle(location: Location) -> None:
    location.shop.write(
        "strata.toml",
        (location.shop.root / "strata.toml").read_text() + '[contract_engine]\ngenerated = ["m/manifest.json"]\n',
    )
    location.reload()
    assert location.asked() == ["paid", "python", "rates"]


def test_a_project_without_contracts_has_no_assets_and_a_sensor_that_skips(shop: Any) -> None:
    contracts = strata_contract_assets(
        project=shop.project, assets=shop.assets(), resource=StrataResource(shop.project)
    )
    assert contracts.definitions == ()
    sensor = strata_contract_sensor(contracts)
    defs = dg.Definitions(
        assets=shop.assets(), sensors=[sensor], resources={"strata": StrataResource(project_dir=shop.root)}
    )
    with dg.build_sensor_context(instance=shop.instance, definitions=defs) as context:
        assert sensor.evaluate_tick(context).run_requests == []


def test_a_sensor_of_something_else_than_products_is_told_when_it_loads(location: Location) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        strata_contract_sensor([*location.contracts])  # type: ignore[arg-type]
    assert str(refused.value) == "the sensor takes what `strata_contract_assets` gives, and not a list"


@pytest.mark.parametrize("text", ["", "17", "{}", "[]", '{"marks": 1}', "no json", '{"marks": {"made": "x"}}'])
def test_a_cursor_that_somebody_else_wrote_begins_anew(text: str) -> None:
    assert cursor_of(text) is None


def test_a_cursor_is_read_as_it_was_written() -> None:
    marks = Marks(dict.fromkeys(KINDS, 9), dict.fromkeys(KINDS, 8), dict.fromkeys(KINDS, 7), 1733011200.25, 3)
    cursor = Cursor("a" * 64, marks, 1.5, "b")
    assert cursor_of(cursor.text()) == cursor
    earlier = cursor.text().replace(',"readings":3', "")
    assert cursor_of(earlier) == replace(cursor, marks=replace(marks, readings=0)), "what earlier releases wrote"


# Size


@pytest.mark.slow
def test_ten_thousand_events_take_the_memory_of_one_page_and_a_cursor_of_fixed_size(location: Location) -> None:
    location.asked()
    instance, size = location.shop.instance, len(location.cursor or "")

    def report(count: int) -> None:
        for number in range(count):
            metadata = {"n": number, "text": "x" * 500}
            instance.report_runless_asset_event(dg.AssetMaterialization("report", metadata=metadata))

    def peak() -> int:
        tracemalloc.start()
        requests = location.tick().run_requests
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert [list(r.asset_selection) for r in requests] == [[dg.AssetKey(["contract", "sales", "python"])]]
        return found

    report(1_000)
    few = peak()
    report(10_000)
    many = peak()
    assert many < 1.3 * few
    assert len(location.cursor or "") <= size + 3 * len(KINDS) * 4  # numbers of four digits more
    assert location.tick().run_requests == []


_opened: list[str] | None = None


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is not None and event in ("open", "sqlite3.connect", "os.listdir", "os.scandir"):
        _opened.append(str(arguments[0]))


@pytest.fixture(scope="module")
def opened() -> None:
    """What is opened while `_opened` is a list. Such a hook stays for the life of a process."""
    sys.addaudithook(_note)


@pytest.mark.usefixtures("opened")
def test_an_idle_tick_reads_no_file_asks_the_event_log_once_and_looks_once_at_each_file(
    shop_on_disk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    global _opened
    location, moment = Location(shop_on_disk), 100.0
    clock = SimpleNamespace(time=lambda: 1e9 + moment, monotonic=lambda: moment)
    monkeypatch.setattr("strata_dagster.contracts.sensor.time", clock)
    location.tick()
    for _ in range(3):  # files and events settle: neither is looked at again when it is
        moment += 31.0
        location.tick()
    looks: list[str] = []
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, *a, **k: looks.append(str(path)) or stat(path, *a, **k))
    _opened = []
    done, connected, _opened = location.tick(), _opened, None
    assert done.skip_message == "nothing changed"
    assert [Path(path).name for path in connected] == ["runs.db", "index.db"]  # the first is Dagster's own, of a tick
    contracts = [
        f"contracts/sales/{name}{file}" for name in ("paid", "python", "rates") for file in ("", "/contract.yaml")
    ]
    models = ["models/rates.strata", "models/sales", "models/sales/orders.strata", "models/sources.strata"]
    states = [f"dbt_project/target/{name}.json" for name in ("manifest", "run_results", "sources")]
    inputs = ["contracts", "contracts/.promotions", "contracts/sales", "models", "strata.toml", ".strata/store"]
    assert sorted(looks) == sorted(str(location.shop.root / p) for p in (*contracts, *models, *states, *inputs))


def test_events_beyond_what_one_tick_reads_are_read_by_the_next(
    location: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert location.asked() != []
    assert location.asked() == []
    monkeypatch.setattr("strata_dagster.contracts.event_pages.PAGE", 2)
    monkeypatch.setattr("strata_dagster.contracts.event_pages.MOST_PAGES", 2)
    for name in ["stranger"] * 5 + ["report"]:
        location.shop.instance.report_runless_asset_event(dg.AssetMaterialization(name))
    first = location.tick()
    assert (first.run_requests, first.skip_message) == ([], "there are more events to read")
    assert location.asked() == ["python"]


DEFINITIONS = """
from pathlib import Path

from dagster import AssetExecutionContext, Definitions

from strata_dagster import (
    StrataProject, StrataResource, strata_assets, strata_contract_assets, strata_contract_sensor,
)

project = StrataProject(Path(__file__).parent)


@strata_assets(project=project)
def models(context: AssetExecutionContext, strata: StrataResource):
    yield from strata.apply(context).stream()


strata = StrataResource(project_dir=project)
contracts = strata_contract_assets(project=project, assets=[models], resource=strata)
defs = Definitions(
    assets=[models, *contracts],
    sensors=[strata_contract_sensor(contracts)],
    resources={"strata": strata},
)
"""


@pytest.mark.slow
def test_a_product_is_materialized_alone_from_the_command_line(shop_on_disk: Any) -> None:
    location = Location(shop_on_disk)
    location.promote()
    shop_on_disk.write("contract_definitions.py", DEFINITIONS)
    home = shop_on_disk.root.parent / "home"
    command = [str(Path(sys.executable).parent / "dagster"), "asset", "materialize", "-m", "contract_definitions"]
    environment = {**os.environ, "DAGSTER_HOME": str(home), "PYTHONWARNINGS": "ignore"}
    started = time.time()
    done = subprocess.run(
        [*command, "--select", "key:contract/sales/paid"],
        cwd=shop_on_disk.root, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    key = dg.AssetKey(["contract", "sales", "paid"])
    event = shop_on_disk.instance.get_latest_materialization_event(key)
    assert event.timestamp >= started
    assert location.checks("paid")["valid"][0] is True
    assert shop_on_disk.instance.get_latest_materialization_event(dg.AssetKey("paid")) is None
