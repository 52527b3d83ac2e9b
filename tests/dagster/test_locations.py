"""What can be wrong about a code location beside its models: keys that collide, a shared store, no daemon, clocks."""

import re
import time
from datetime import timedelta

import dagster as dg
import pytest

from strata_core.planning.project import open_project
from strata_core.store.orphans import orphans
from strata_core.store.store import Store
from strata_dagster import DagsterStrataTranslator, StrataProject, StrataResource, observable_sources, strata_assets

HOUR = 3_600_000_000_000
TAKES_OVER = """
source people(csv: "people.csv") { columns: { id: int64 nonnull primary_key } }
contract People { order_id: int64 primary_key }
model paid -> contract People { from people select { order_id = id } }
"""
READS = """
source totals(store: "by_country", ns: "shop") { columns: { country: string nonnull, orders: int64 nonnull } }
contract Mine { country: string nonnull  orders: int64 nonnull }
model mine -> contract Mine { from totals }
"""


def models_of(project, **options):
    @strata_assets(project=project, **options)
    def models(context: dg.AssetExecutionContext, strata: StrataResource):
        yield from strata.apply(context).stream()

    return models


def defined(shop, *assets):
    dg.Definitions(assets=list(assets), resources={"strata": StrataResource(shop.root)}).get_repository_def()


def test_two_models_of_one_key_are_told_with_both_places(shop) -> None:
    class Same(DagsterStrataTranslator):
        def get_asset_key(self, project, model):
            return dg.AssetKey("all" if model.name != "rate" else "rate")

    with pytest.raises(dg.DagsterInvalidDefinitionError) as caught:
        models_of(shop.project, translator=Same())
    said = str(caught.value)
    assert said.startswith("E023: model `by_country` (models/sales/orders.strata:")
    assert "and model `paid` (models/sales/orders.strata:" in said
    assert "have one asset key, `all`" in said


def test_a_model_of_the_key_of_a_source_is_told_with_both_places(shop) -> None:
    class Same(DagsterStrataTranslator):
        def get_asset_key(self, project, model):
            return dg.AssetKey("orders" if model.name == "paid" else model.name)

    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"E023: model `paid` .* and source `orders` "):
        models_of(shop.project, translator=Same())


def test_an_asset_of_another_op_with_the_key_of_a_model_is_refused_and_named(shop) -> None:
    @dg.asset(name="paid")
    def other() -> None: ...

    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"Duplicate asset key: AssetKey\(\['paid'\]\)"):
        defined(shop, models_of(shop.project), other)


def beside(shop, name: str, **files: str) -> StrataProject:
    """Another project on the shop's store."""
    root = shop.root.parent / name
    (root / "models").mkdir(parents=True)
    (root / "strata.toml").write_text(f'[project]\nname = "{name}"\n[store]\nroot = "{shop.root}/.strata/store"\n')
    for path, text in files.items():
        (root / path.replace("__", "/").replace("_strata", ".strata").replace("_csv", ".csv")).write_text(text)
    return StrataProject(root)


def ran(project, instance, environment="prod"):
    return dg.materialize(
        [models_of(project)],
        instance=instance,
        resources={"strata": StrataResource(project, environment)},
        raise_on_error=False,
    )


def test_two_locations_on_one_store_publish_side_by_side_and_do_not_break_each_other(shop) -> None:
    assert shop.run(assets=shop.assets()[:1]).success
    reader = beside(shop, "reader", models__mine_strata=READS)
    assert ran(reader, shop.instance).success
    assert {row["orders"] for row in shop.live("by_country")} == {2, 1}

    shop.edit("models/sales/orders.strata", "  orders: int64 nonnull\n", "")
    shop.edit("models/sales/orders.strata", "orders = count(), ", "")
    broken = shop.run(assets=shop.assets()[:1])
    assert not broken.success
    assert set(broken.made) == {"paid", "rate"}
    assert "E030" in broken.checks["by_country.write_pin"].metadata["findings"].value
    assert {row["orders"] for row in shop.live("by_country")} == {2, 1}


def test_a_location_that_takes_the_name_of_another_ones_table_is_refused(shop) -> None:
    assert shop.run(assets=shop.assets()[:1]).success
    thief = beside(shop, "thief", models__paid_strata=TAKES_OVER, people_csv="id\n1\n")
    done = ran(thief, shop.instance)
    assert not done.success
    (pin,) = (c for c in done.get_asset_check_evaluations() if c.check_name == "write_pin")
    assert "is one that project shop has published" in pin.metadata["findings"].value
    assert len(shop.live("paid")) == 3


def test_old_and_new_deployments_of_one_project_in_turn_each_publish_what_they_mean(shop) -> None:
    """While one is rolled out both run: whichever ran last is live, whole, and the other finds that it is stale."""
    assert shop.run(assets=shop.assets()[:1]).success
    old = {row["country"]: row["total"] for row in shop.live("by_country")}
    shop.edit("models/sales/orders.strata", "total = sum(amount)", "total = sum(amount) + sum(amount)")
    assert shop.run(assets=shop.assets()[:1]).success
    assert {row["country"]: row["total"] for row in shop.live("by_country")} == {c: 2 * t for c, t in old.items()}
    shop.edit("models/sales/orders.strata", "total = sum(amount) + sum(amount)", "total = sum(amount)")
    again = shop.run(assets=shop.assets()[:1])
    assert again.made["by_country"].metadata["reused"].value
    assert {row["country"]: row["total"] for row in shop.live("by_country")} == old


def test_a_run_of_a_model_that_is_gone_since_the_location_was_loaded_says_to_reload_it(shop) -> None:
    assert shop.run().success
    loaded = shop.assets()[:1]
    shop.edit("models/rates.strata", "model rate ", "model rate_two ")
    rate = dg.AssetKey("rate")
    pin = dg.AssetSelection.checks(dg.AssetCheckKey(rate, "write_pin"))
    for selection in (["rate"], pin, None):
        run = shop.run(selection, loaded)
        assert not run.success
        assert "E027: there is no model `rate`" in run.failure
        assert run.verdicts["rate"] == (False, "ERROR")
        found = str(run.checks["rate.write_pin"].metadata["findings"].value)
        assert (
            "reload the code location, which was loaded from other files; models are by_country, paid, rate_two"
            in found
        )
        assert run.made == {}
    assert shop.run(["paid"], loaded).success
    assert sorted(Store.open(shop.root / ".strata/store").environment("prod").head().models) == [
        "by_country", "paid", "rate",
    ]  # fmt: skip


def test_no_daemon_is_needed_for_runs_checks_or_staleness(shop_on_disk) -> None:
    """The instance has no daemon that ever reported: everything but schedules, sensors and conditions works."""
    shop = shop_on_disk
    assert shop.instance.get_daemon_heartbeats() == {}
    assert shop.run(assets=shop.assets()[:1]).success
    shop.observe()
    assert not {"paid", "by_country", "rate"} & set(shop.stale())


def test_workers_whose_clocks_disagree_publish_in_one_order(shop, good_orders, monkeypatch) -> None:
    """Versions strictly increase, nothing is taken for stale or for newer by the clock, no age is negative."""
    real, skew = time.time_ns, [0]
    monkeypatch.setattr(time, "time_ns", lambda: real() + skew[0])
    for turn, ahead in enumerate((5, -20, 3, -1)):
        skew[0] = ahead * HOUR
        shop.write("data/orders.csv", good_orders + f"{turn + 10},MX,{turn}.00,\n")
        run = shop.run(assets=shop.assets()[:1])
        assert run.success
        assert {name for name, made in run.made.items() if not made.metadata["reused"].value} >= {"paid", "by_country"}
        assert "live for -" not in str(run.checks["paid.last_known_good"].description)
        assert shop.run(assets=shop.assets()[:1]).made["paid"].metadata["reused"].value
    told = str(run.checks["paid.last_known_good"].description)  # versions follow one another, whatever clocks say
    assert re.fullmatch(r"live for 0s \(written by a clock that is (4h 59min|5h) ahead\), sound", told), told
    store = open_project(project=shop.root).store
    versions = list(store.environment("prod").history())
    instants = [version.at for version in reversed(versions)]
    assert instants == sorted(set(instants))
    assert [version.number for version in versions] == list(range(len(versions), 0, -1))
    assert {row["order_id"] for row in shop.live("paid")} == {1, 2, 3, 13}
    needed = {(name, p.address) for v in versions for name, p in v.models.items()}
    kept = timedelta(days=365)
    assert not needed & {(o.table, o.address) for o in orphans(store, keep=kept, grace=timedelta(0))}


def test_observing_goes_on_beside_other_locations_that_name_the_same_file(shop) -> None:
    """A source is an asset of its name: two projects that call theirs alike need a translator, and are told so."""
    other = beside(shop, "other", models__a_strata='source orders(csv: "o.csv") { columns: { id: int64 nonnull } }\n')
    first = observable_sources(project=shop.project, name="first")
    second = observable_sources(project=other, name="second")
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"Duplicate asset key: AssetKey\(\['orders'\]\)"):
        defined(shop, *first, *second)
