"""`op_per_model`: an op of each model, so that they run in parallel and are retried alone."""

# Without postponed annotations: Dagster compares those of an op with types.

import sys

import dagster as dg
import pytest

from strata_dagster import StrataResource, strata_assets

DEFINITIONS = """
from pathlib import Path

from dagster import AssetExecutionContext, Definitions, asset, define_asset_job

from strata_dagster import StrataProject, StrataResource, strata_assets

project = StrataProject(Path(__file__).parent)


@strata_assets(project=project, op_per_model=True)
def models(context: AssetExecutionContext, strata: StrataResource):
    yield from strata.apply(context).stream()


defs = Definitions(
    assets=models,
    resources={"strata": StrataResource(project_dir=project)},
    jobs=[define_asset_job("everything", "*")],
)


def everything():
    return defs.resolve_job_def("everything")
"""


@pytest.fixture
def apart(shop):
    """Runs the shop's models, each in its op."""

    def run(selection=None, **options):
        @strata_assets(project=shop.project, op_per_model=True, **options)
        def models(context: dg.AssetExecutionContext, strata: StrataResource):
            yield from strata.apply(context).stream()

        return shop.run(selection, assets=models)

    return run


def steps(run) -> set[str]:
    return {e.step_key for e in run.result.all_events if e.event_type_value == "STEP_START"}


def test_each_model_is_an_op_and_is_told_once(apart, shop) -> None:
    run = apart()
    assert run.success
    assert steps(run) == {"models__paid", "models__by_country", "models__rate"}
    assert sorted(run.order) == ["by_country", "paid", "rate"]
    assert set(run.verdicts.values()) == {(True, "ERROR")}
    assert shop.stale() == {}


def test_a_violation_stops_what_is_downstream_and_leaves_the_others(apart, shop, bad_orders) -> None:
    apart()
    shop.write("data/orders.csv", bad_orders)
    shop.write("data/rates.csv", "country,rate\nES,1.000\nMX,0.060\n")
    run = apart()
    assert not run.success
    assert set(run.made) == {"rate"}
    assert steps(run) == {"models__paid", "models__rate"}
    assert run.verdicts == {"paid": (False, "ERROR"), "rate": (True, "ERROR")}
    assert len(shop.live("paid")) == 3


def test_a_run_of_one_model_tells_its_fresh_reader_and_a_run_of_all_tells_each_once(apart, shop) -> None:
    apart()
    shop.edit("models/sales/orders.strata", "\n  order_id: int64 primary", "\n  more: int64\n  order_id: int64 primary")
    shop.edit("models/sales/orders.strata", "amount, email }", "amount, email, more = order_id + 1 }")
    one = apart(dg.AssetSelection.assets("paid"))
    assert one.made["by_country"].metadata["reason"].value == "fresh: what it reads of paid did not change"
    assert shop.stale() == {}
    shop.edit("models/sales/orders.strata", "more = order_id + 1", "more = order_id + 2")
    assert sorted(apart().order) == ["by_country", "paid", "rate"]
    assert shop.stale() == {}


def test_names_and_selection_apply(apart) -> None:
    run = apart(name="shop", select="+by_country")
    assert steps(run) == {"shop__paid", "shop__by_country"}


@pytest.mark.slow
def test_processes_publish_side_by_side(shop_on_disk, monkeypatch) -> None:
    shop = shop_on_disk
    more = "\n".join(f"model m{n} {{ from rates filter rate > 0.00{n} select {{ country, rate }} }}" for n in range(2))
    shop.write("models/more.strata", more)
    shop.write("apart_definitions.py", DEFINITIONS)
    monkeypatch.syspath_prepend(str(shop.root))
    monkeypatch.chdir(shop.root)  # where the processes of steps look for the module
    sys.modules.pop("apart_definitions", None)
    import apart_definitions

    with dg.execute_job(dg.reconstructable(apart_definitions.everything), shop.instance) as result:
        assert result.success
        made = [e.asset_key.to_user_string() for e in result.get_asset_materialization_events()]
    assert sorted(made) == ["by_country", "m0", "m1", "paid", "rate"]
    assert {str(r["rate"]) for r in shop.live("m1")} == {"1.000", "0.050"}
