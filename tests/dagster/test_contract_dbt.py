"""Products of dbt models, by a manifest that no adapter is needed for: what dbt says of them renews them, and what it
says of everything else does not."""

import json
from typing import Any

import dagster as dg
import pytest
from dagster_dbt import DagsterDbtTranslator
from dagster_dbt.dbt_manifest import validate_manifest

from strata_core.contract_engine.observations import Observations, utc_now
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish
from strata_core.contract_engine.serving.standing import served_view
from strata_dagster import StrataResource, strata_contract_assets, strata_contract_sensor

CONTRACT = """
apiVersion: strata/v0
kind: DataProductContract
id: sales.orders
name: Orders
version: 1.0.0
status: active
layer: bronze
domain: sales
owner: {team: sales}
assets:
  - id: stg_orders
    kind: dbt_model
    columns: [{name: order_id, type: int64}, {name: amount, type: "decimal(10,2)"}, {name: paid_at, type: timestamp}]
tests: [{id: unique_ids, kind: dbt, severity: blocking, asset: stg_orders, ref: unique_stg_orders_order_id}]
"""
TYPES = {
    "snowflake": ("NUMBER(38,0)", "NUMBER(10,2)", "TIMESTAMP_NTZ(9)"),
    "bigquery": ("INT64", "NUMERIC(10,2)", "TIMESTAMP"),
    "postgres": ("bigint", "numeric(10,2)", "timestamp(6) without time zone"),
}
CASES = [(adapter, version) for adapter in TYPES for version in (10, 11, 12)]


def node(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "unique_id": f"{kind}.shop.{name}", "resource_type": kind, "package_name": "shop", "name": name, "alias": name,
        "schema": "main", "database": "shop", "path": f"{name}.sql", "original_file_path": f"models/{name}.sql",
        "fqn": ["shop", name], "tags": [], "meta": {}, "description": "", "columns": {},
        "depends_on": {"nodes": [], "macros": []}, "checksum": {"name": "sha256", "checksum": name},
        "relation_name": f"SHOP.MAIN.{name}", "config": {"materialized": "table"}, **more,
    }  # fmt: skip


def manifest(adapter: str, version: int, at: str = "2026-11-30T10:00:00Z", **more: Any) -> str:
    columns = {
        name: {"name": name, "data_type": type_, "description": f"What {name} is.", "constraints": []}
        for name, type_ in zip(("order_id", "amount", "paid_at"), TYPES[adapter], strict=True)
    }
    orders = node("stg_orders", "model", columns=columns, **more)
    other = node("other", "model", compiled_code=f"select 1 -- {at}", created_at=at)
    test = node("unique_stg_orders_order_id", "test", attached_node="model.shop.stg_orders")
    metadata = {
        "dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/v{version}.json", "project_name": "shop",
        "adapter_type": adapter, "generated_at": at, "invocation_id": at,
    }  # fmt: skip
    names = "sources exposures metrics semantic_models saved_queries unit_tests child_map parent_map"
    empty: dict[str, Any] = {name: {} for name in names.split()}
    return json.dumps({"metadata": metadata, "nodes": {n["unique_id"]: n for n in (orders, other, test)}, **empty})


class Location:
    """A code location of dbt models and the product that they are."""

    def __init__(self, shop: Any, adapter: str, version: int) -> None:
        self.shop, self.cursor = shop, None
        shop.write("strata.toml", '[project]\nname = "shop"\n[dbt]\nmanifest = "dbt/target/manifest.json"\n')
        shop.write("dbt/target/manifest.json", manifest(adapter, version))
        shop.write("contracts/sales/orders/contract.yaml", CONTRACT)
        read = validate_manifest(shop.root / "dbt/target/manifest.json")
        spec = DagsterDbtTranslator().get_asset_spec(read, "model.shop.stg_orders", None)
        check = dg.AssetCheckSpec("unique_stg_orders_order_id", asset=spec.key)

        @dg.multi_asset(specs=[spec], check_specs=[check], can_subset=True)
        def staging() -> Any:
            yield dg.MaterializeResult(
                spec.key, check_results=[dg.AssetCheckResult(passed=True, check_name=check.name)]
            )

        self.data = [staging]
        self.contracts = strata_contract_assets(
            project=shop.project, assets=self.data, resource=StrataResource(shop.project)
        )
        self.sensor = strata_contract_sensor(self.contracts)
        self.defs = dg.Definitions(assets=[*self.data, *self.contracts], sensors=[self.sensor])
        self.out = shop.root / ".generated/contracts"

    def asked(self) -> int:
        with dg.build_sensor_context(self.shop.instance, self.cursor, definitions=self.defs) as context:
            done = self.sensor.evaluate_tick(context)
        self.cursor = done.cursor
        for request in done.run_requests or ():
            assert dg.materialize(
                [*self.contracts, *self.data], selection=list(request.asset_selection), instance=self.shop.instance
            ).success
        return len(done.run_requests or ())

    def test_result(self) -> tuple[str, str, int | None]:
        view = served_view(self.out, "sales.orders")
        return view["status"]["state"], view["tests"][0]["outcome"], view["tests"][0].get("offenders")


@pytest.mark.parametrize(("adapter", "version"), CASES)
def test_a_manifest_of_any_adapter_and_version_is_known_without_it(shop: Any, adapter: str, version: int) -> None:
    location = Location(shop, adapter, version)
    checked = examine(open_setting(shop.root))
    assert [d for d in checked.diagnostics if d.blocks] == []
    (product,) = (c.contract for c in checked.collated.candidates)
    assert [(c.name, c.type, c.description) for c in product.assets[0].columns] == [
        ("order_id", "int64", "What order_id is."),
        ("amount", "decimal(10,2)", "What amount is."),
        ("paid_at", "timestamp", "What paid_at is."),
    ]
    (made,) = location.contracts
    (spec,) = made.specs
    assert [d.asset_key for d in spec.deps] == [dg.AssetKey("stg_orders")]


def test_a_manifest_that_was_only_parsed_again_renews_nothing_and_one_that_says_more_does(shop: Any) -> None:
    location = Location(shop, "snowflake", 12)
    assert location.asked() == 1
    shop.write("dbt/target/manifest.json", manifest("snowflake", 12, "2026-12-01T11:11:11Z"))
    assert location.asked() == 0
    shop.write("dbt/target/manifest.json", manifest("snowflake", 12, description="Orders as they came."))
    assert location.asked() == 1
    assert location.asked() == 0


def test_dbts_results_and_dagsters_are_one_history_of_which_the_later_counts(shop: Any) -> None:
    location = Location(shop, "bigquery", 11)
    by = Provenance("ana", "c0ffee", "0.1.0", utc_now())
    publish(prepare(examine(open_setting(shop.root)), (), Observations(), by), TARGETS, location.out)
    location.asked()
    assert location.test_result() == ("healthy", "not_run", None)
    done = [{"name": "execute", "completed_at": "2026-11-30T10:00:00Z"}]
    failed = {"unique_id": "test.shop.unique_stg_orders_order_id", "status": "fail", "failures": 2, "timing": done}
    results = {"metadata": {"invocation_id": "i1"}, "args": {"which": "build"}, "results": [failed]}
    shop.write("dbt/target/run_results.json", json.dumps(results))
    assert location.asked() == 1
    assert location.test_result() == ("blocked", "failed", 2)
    assert dg.materialize(location.data, instance=shop.instance).success
    assert location.asked() == 1
    assert location.test_result() == ("healthy", "passed", None)
    assert [r["state"] for r in served_view(location.out, "sales.orders")["latest_runs"]] == ["succeeded"]


def test_a_truncated_manifest_is_told_at_its_place_and_the_product_stays(
    shop: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    location = Location(shop, "postgres", 10)
    location.asked()
    whole = manifest("postgres", 10)
    shop.write("dbt/target/manifest.json", whole[: len(whole) // 2])
    capsys.readouterr()
    location.asked()
    assert "dbt/target/manifest.json:1" in capsys.readouterr().err
    assert location.asked() == 0
    shop.write("dbt/target/manifest.json", whole)
    assert location.asked() == 1
