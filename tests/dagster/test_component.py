"""`StrataProjectComponent`: a project in the YAML of a `dg` project."""

from __future__ import annotations

import dagster as dg
import pytest
import yaml
from dagster.components.core.component_tree import ComponentTreeException
from pydantic import ValidationError

from strata_dagster import StrataProjectComponent, StrataResource, strata_contract_assets, strata_stale_sensor

from .test_contract_sensor import contract

DAYS = """
source sold(csv: "data/sold.csv") { columns: { day: date nonnull primary_key, n: int64 nonnull } }
model days { from sold partition_by: [day] partition_start: "2024-01-01" }
"""


def loaded(sandbox, project, **attributes) -> dg.Definitions:
    body = {
        "type": "strata_dagster.StrataProjectComponent",
        "attributes": {"project": str(project), **attributes},
    }
    path = sandbox.scaffold_component(StrataProjectComponent, "shop", defs_yaml_contents=body)
    with sandbox.load_component_and_build_defs(path) as (component, defs):
        assert isinstance(component, StrataProjectComponent)
        return defs


def whole(error: BaseException | None) -> str:
    """What an error and those that it came from say."""
    return f"{error}\n{whole(error.__cause__ or error.__context__)}" if error is not None else ""


def keys(defs: dg.Definitions) -> set[str]:
    return {s.key.to_user_string() for s in defs.resolve_all_asset_specs()}


def test_a_project_is_its_assets_and_its_files_and_runs(shop, sandbox) -> None:
    defs = loaded(sandbox, shop.root)
    assert keys(defs) == {"paid", "by_country", "rate", "orders", "rates"}
    (state,) = sandbox.project_root.rglob("state")
    assert "StrataProjectComponent" in str(state)
    assert b'"paid"' in state.read_bytes()
    assert not (shop.root / ".strata/manifest.json").exists(), "there is one manifest"
    job = defs.resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(instance=shop.instance).success
    assert len(shop.live("paid")) == 3


def test_a_path_is_from_the_folder_of_the_yaml(shop, sandbox) -> None:
    inside = sandbox.defs_folder_path / "shop/project"
    inside.parent.mkdir(parents=True)
    shop.root.rename(inside)
    assert "paid" in keys(loaded(sandbox, "project"))


def test_selection_op_and_environment(shop, sandbox) -> None:
    defs = loaded(
        sandbox,
        shop.root,
        select="+by_country",
        exclude="paid",
        environment="dev",
        op={"name": "transform", "tags": {"team": "sales"}, "pool": "duckdb"},
    )
    models = defs.get_assets_def("by_country")
    assert {k.to_user_string() for k in models.keys} == {"by_country"}
    assert (models.op.name, models.op.tags["team"], models.op.pool) == ("transform", "sales", "duckdb")


def test_an_op_of_each_model(shop, sandbox) -> None:
    defs = loaded(sandbox, shop.root, op_per_model=True, op={"name": "shop"})
    assert {defs.get_assets_def(name).op.name for name in ("paid", "rate")} == {"shop__paid", "shop__rate"}


def test_everything_that_is_said_of_the_op_holds(shop, sandbox) -> None:
    policy = {"type": "multi_run", "max_partitions_per_run": 7}
    defs = loaded(sandbox, shop.root, op={"description": "What was sold.", "backfill_policy": policy})
    models = defs.get_assets_def("paid")
    assert models.op.description == "What was sold."
    assert models.backfill_policy == dg.BackfillPolicy.multi_run(7)


@pytest.mark.parametrize("op_per_model", [False, True])
@pytest.mark.parametrize("block", [False, True])
def test_unit_tests_block_where_the_yaml_says_so(shop, sandbox, block, op_per_model) -> None:
    shop.write(
        "models/sales/tests.strata",
        'test paid "free" {\n  given orders {\n    | order_id | country |\n    | 1 | ES |\n  }\n'
        "  expect {\n    | order_id | country |\n    | 2 | ES |\n  }\n}\n",
    )
    defs = loaded(sandbox, shop.root, block_on_unit_tests=block, op_per_model=op_per_model)
    checks = {s.name: s for a in defs.resolve_asset_graph().assets_defs for s in a.check_specs}
    assert checks["unit_tests"].blocking is block
    job = defs.resolve_implicit_global_asset_job_def()
    result = job.execute_in_process(instance=shop.instance, raise_on_error=False)
    made = {e.asset_key.to_user_string() for e in result.get_asset_materialization_events()}
    assert result.success is not block
    assert made == ({"rate"} if block else {"paid", "by_country", "rate"})


def test_partitions_take_the_place_of_those_of_models_that_have_some(shop, sandbox) -> None:
    shop.write("models/days.strata", DAYS)
    narrow = {"type": "daily", "start_date": "2024-01-02", "end_date": "2024-01-04"}
    defs = loaded(sandbox, shop.root, partitions_def=narrow)
    found = {s.key.to_user_string(): s.partitions_def for s in defs.get_assets_def("days").specs}
    expected = dg.DailyPartitionsDefinition("2024-01-02", end_date="2024-01-04")
    assert found == {"days": expected, "paid": None, "by_country": None, "rate": None}


def test_translation_changes_keys_for_readers_too(shop, sandbox) -> None:
    defs = loaded(
        sandbox,
        shop.root,
        translation={
            "key": "warehouse/{{ model.name }}",
            "group_name": "all_{{ model.contract | lower }}",
            "tags": {"module": "{{ model.module }}"},
        },
    )
    assert {"warehouse/paid", "warehouse/by_country", "warehouse/rate", "orders"} <= keys(defs)
    spec = next(s for s in defs.resolve_all_asset_specs() if s.key == dg.AssetKey(["warehouse", "by_country"]))
    assert [d.asset_key for d in spec.deps] == [dg.AssetKey(["warehouse", "paid"])]
    assert spec.group_name == "all_bycountry"
    assert spec.tags["module"] == "sales.orders"
    assert spec.code_version is not None
    job = defs.resolve_implicit_global_asset_job_def()
    assert job.execute_in_process(instance=shop.instance).success


def test_data_products_and_their_sensor_come_along_where_they_are_asked_for(shop, sandbox) -> None:
    shop.write("contracts/sales/paid/contract.yaml", contract("paid", "paid"))
    without = loaded(sandbox, shop.root)
    assert [k for k in keys(without) if k.startswith("contract/")] == []
    assert list(without.sensors or ()) == []
    defs = loaded(sandbox, shop.root, contracts=True, environment="dev", op={"name": "transform"})
    spec = next(s for s in defs.resolve_all_asset_specs() if s.key == dg.AssetKey(["contract", "sales", "paid"]))
    assert [d.asset_key for d in spec.deps] == [dg.AssetKey("paid")]
    assert defs.resolve_implicit_global_asset_job_def().execute_in_process(instance=shop.instance).success
    made = shop.instance.get_latest_materialization_event(spec.key).asset_materialization
    assert made.metadata["state"].value.startswith("not promoted; as a draft it would be")
    with dg.build_sensor_context(instance=shop.instance, repository_def=defs.get_repository_def()) as context:
        asked = defs.get_sensor_def("transform_contracts").evaluate_tick(context)
    assert asked.run_requests == [], "what the run renewed is that of the component's environment"


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"block_on_unit_tests": "perhaps"}, "block_on_unit_tests"),
        ({"selekt": "paid"}, "selekt"),
        ({"select": "payed"}, "did you mean `paid`"),
        ({"on_error": "ignore"}, "on_error"),
        ({"op_per_model": "perhaps"}, "op_per_model"),
        ({"contracts": "perhaps"}, "contracts"),
        ({"contracts": "true"}, "contracts is `true` or `false`, not 'true'"),
        ({"select": " "}, "error[E027]: `select` is empty, and names no model\n  = help: leave it out for all of them"),
        ({"environment": "my env"}, "`my env` cannot name an environment: use a letter or _"),
        ({"environment": ""}, "`` cannot name an environment: use a letter or _"),
        ({"environment": "../prod"}, "`../prod` cannot name an environment: use a letter or _"),
        ({"stale_sensor": "yes"}, "stale_sensor is `true`, or its `name`, `minimum_"),
        ({"stale_sensor": {"default_status": "on"}}, "default_status is `running` or `stopped`, not 'on'"),
        ({"translation": {"key": "all"}}, "(`key` of the `translation` in YAML) give each its own"),
    ],
)
def test_what_the_yaml_says_wrongly_is_told(shop, sandbox, attributes, told) -> None:
    with pytest.raises((ComponentTreeException, ValidationError)) as caught:
        loaded(sandbox, shop.root, **attributes)
    assert told in whole(caught.value)


def test_a_deployment_without_state_loads_and_says_what_to_run(shop, sandbox, monkeypatch, caplog) -> None:
    monkeypatch.delenv("DAGSTER_IS_DEV_CLI")
    assert "paid" in keys(loaded(sandbox, shop.root))
    assert "has no compiled state" in caplog.text
    assert "dg utils refresh-defs-state" in caplog.text


def test_a_deployment_loads_from_the_manifest_that_was_shipped_with_the_project(
    shop, sandbox, monkeypatch, caplog
) -> None:
    monkeypatch.delenv("DAGSTER_IS_DEV_CLI")
    shop.project.compile()
    assert "paid" in keys(loaded(sandbox, shop.root))
    assert "no compiled state" not in caplog.text
    shop.edit("models/rates.strata", "select {", "filter rate > 0\n  select {")
    with pytest.raises(ComponentTreeException) as caught:
        loaded(sandbox, shop.root)
    assert "E099" in whole(caught.value)
    assert "`models/rates.strata` changed since it was made" in whole(caught.value)


def test_scaffolding_writes_the_path_of_the_project(shop, sandbox) -> None:
    path = sandbox.scaffold_component(
        StrataProjectComponent, "scaffolded", scaffold_params={"project_path": str(sandbox.project_root / "transform")}
    )
    assert yaml.safe_load((path / "defs.yaml").read_text()) == {
        "type": "strata_dagster.component.StrataProjectComponent",
        "attributes": {"project": "{{ context.project_root }}/transform"},
    }


def test_sensors_are_as_the_yaml_has_them(shop, sandbox) -> None:
    shop.write("contracts/sales/paid/contract.yaml", contract("paid", "paid"))
    options = {"default_status": "running", "minimum_interval_seconds": 90, "name": "renews"}
    defs = loaded(sandbox, shop.root, contracts=True, contract_sensor=options, stale_sensor=True, select="paid")
    found = {s.name: (s.default_status.value, s.minimum_interval_seconds) for s in defs.sensors}
    assert found == {"renews": ("RUNNING", 90), "shop_stale": ("STOPPED", 30)}
    with dg.build_sensor_context(instance=shop.instance, repository_def=defs.get_repository_def()) as context:
        asked = defs.get_sensor_def("shop_stale").evaluate_tick(context)
    assert [[k.to_user_string() for k in r.asset_selection] for r in asked.run_requests] == [["paid"]]


@pytest.mark.parametrize(("given", "sensors"), [("{{ 1 == 1 }}", ["shop_stale"]), ("{{ 1 == 2 }}", [])])
def test_a_template_may_say_whether_there_is_a_sensor(shop, sandbox, given, sensors) -> None:
    assert [s.name for s in loaded(sandbox, shop.root, stale_sensor=given).sensors or ()] == sensors


def test_a_sensor_of_products_without_products_is_told(shop, sandbox) -> None:
    with pytest.raises(ComponentTreeException) as told:
        loaded(sandbox, shop.root, contract_sensor=True)
    assert "contract_sensor renews data products: say `contracts: true` too" in whole(told.value)


def test_an_environment_that_a_variable_names_is_that_of_products_and_of_what_is_stale(shop, monkeypatch) -> None:
    monkeypatch.setenv("SHOP_ENVIRONMENT", "dev")
    strata = StrataResource(shop.project, environment=dg.EnvVar("SHOP_ENVIRONMENT"))
    shop.write("contracts/sales/paid/contract.yaml", contract("paid", "paid"))
    assert strata_contract_assets(project=shop.project, assets=[], resource=strata).environment == "dev"
    sensor = strata_stale_sensor(project=shop.project, resource=strata)
    shop.environment = "dev"
    assert shop.run().success
    defs = dg.Definitions(assets=shop.assets(), sensors=[sensor], resources={"strata": strata})
    with dg.build_sensor_context(instance=shop.instance, definitions=defs) as context:
        assert not sensor.evaluate_tick(context).run_requests
