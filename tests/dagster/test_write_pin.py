"""The write pin as a blocking check: the table of design `dagster.md`, row by row, and every status of a model."""

from __future__ import annotations

import dagster as dg
import pytest

from strata_core.diagnostics import Diagnostic, StrataError

ALL = {"paid", "by_country", "rate"}


def test_the_first_run_publishes_and_its_passing_checks_belong_to_the_new_materializations(shop) -> None:
    run = shop.run()
    assert run.success
    assert set(run.made) == {*ALL, "report"}
    assert run.verdicts == dict.fromkeys(ALL, (True, "ERROR"))
    for check in run.checks.values():
        assert check.target_materialization_data.run_id == run.result.run_id
    assert shop.live("by_country") == [
        {"country": "ES", "orders": 2, "total": pytest.approx(15.75)},
        {"country": "MX", "orders": 1, "total": pytest.approx(20)},
    ]


def test_row_1_a_violation_fails_the_run_keeps_the_check_and_materializes_nothing(shop, bad_orders) -> None:
    first = shop.run()
    before = shop.live("by_country")
    shop.write("data/orders.csv", bad_orders)
    run = shop.run(selection=dg.AssetSelection.assets("paid").downstream())
    assert not run.success
    assert run.made == {}  # neither the models nor `report`, which stands downstream in another op
    assert run.verdicts == {"paid": (False, "ERROR"), "by_country": (False, "WARN")}
    assert run.checks["paid.write_pin"].target_materialization_data.run_id == first.result.run_id
    assert run.checks["paid.write_pin"].blocking
    assert shop.live("by_country") == before
    assert "contract violated: paid" in run.failure
    assert "version 1 of prod stays live" in run.failure


def test_row_1_the_repaired_data_publish(shop, bad_orders, good_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    assert not shop.run().success
    shop.write("data/orders.csv", good_orders + "5,MX,2.00,\n")
    run = shop.run()
    assert run.success
    assert run.made["paid"].metadata["environment_version"].value == 2
    assert len(shop.live("paid")) == 4


def test_a_violation_on_the_first_run_leaves_nothing_live(shop, bad_orders) -> None:
    shop.write("data/orders.csv", bad_orders)
    run = shop.run()
    assert not run.success
    assert run.made == {}
    assert run.checks["paid.write_pin"].description == (
        "E082 1 row has a value of `country` outside what contract `Paid` promises: enum {ES, MX}: "
        "not published; nothing was live before"
    )
    assert run.checks["paid.write_pin"].metadata["live_version"].value == "none"


def test_the_failing_check_is_readable_counts_offenders_and_masks_samples(shop, bad_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    check = shop.run().checks["paid.write_pin"]
    table = check.metadata["write_pin"].value
    assert isinstance(check.metadata["write_pin"], dg.MarkdownMetadataValue)
    assert "**Not published**; version 1 of prod stays live" in table
    assert "| country | enum | enum {ES, MX} | **violated** E082 | values compared | 1 | order\\_id = 4" in table
    assert "| field | rule | promised | result | how | offenders | samples |" in table
    assert "#### What to do" in table
    assert "eve@example.com" not in str(check.metadata)
    assert check.metadata["published"].value is False
    assert check.metadata["rows"].value == 4
    assert check.metadata["live_version"].value == "1"


def test_a_violation_is_never_retried(shop, bad_orders) -> None:
    shop.options = {"retry_policy": dg.RetryPolicy(max_retries=2)}
    shop.write("data/orders.csv", bad_orders)
    run = shop.run()
    assert not run.success
    assert run.retries == 0


def test_a_fault_of_the_store_is_retried_and_its_checks_are_told(shop) -> None:
    shop.options = {"retry_policy": dg.RetryPolicy(max_retries=1)}
    shop.write(".strata/store", "a file where the store should be")
    run = shop.run()
    assert not run.success
    assert run.retries == 1
    assert run.verdicts == dict.fromkeys(ALL, (False, "ERROR"))
    assert "E092" in run.failure


def test_a_violated_source_fails_the_models_that_read_it_and_names_file_and_rows(shop) -> None:
    shop.run()
    shop.write("data/rates.csv", "country,rate\nES,1.000\nES,0.900\nMX,0.050\n")
    run = shop.run()
    assert not run.success
    assert set(run.made) == {"paid", "by_country"}  # what is fresh is live as it was
    table = run.checks["rate.write_pin"].metadata["write_pin"].value
    assert "#### Input: `rates`, `data/rates.csv`" in table
    assert "| country | primary key | primary\\_key | **violated** E083 |" in table


def test_together_a_sound_candidate_is_held_back_and_told_so(shop, bad_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    shop.write("data/rates.csv", "country,rate\nES,1.000\nMX,0.060\n")
    run = shop.run()
    assert run.made == {}
    assert run.verdicts == {"paid": (False, "ERROR"), "by_country": (False, "WARN"), "rate": (True, "ERROR")}
    held = run.checks["rate.write_pin"]
    assert held.metadata["published"].value is False
    assert "not published, because its environment publishes all tables of a run together" in held.description
    assert "because `paid` was not" in run.checks["by_country.write_pin"].description


def test_each_independent_branches_publish_while_the_violated_one_stays(shop, bad_orders) -> None:
    shop.write("strata.toml", (shop.root / "strata.toml").read_text() + '[environments.prod]\npublish = "each"\n')
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    shop.write("data/rates.csv", "country,rate\nES,1.000\nMX,0.060\n")
    run = shop.run()
    assert not run.success
    assert set(run.made) == {"rate"}
    assert run.verdicts == {"paid": (False, "ERROR"), "by_country": (False, "WARN"), "rate": (True, "ERROR")}
    assert [str(r["rate"]) for r in shop.live("rate")] == ["1.000", "0.060"]
    assert "went live with the others" in run.failure


def test_a_fresh_model_beside_a_violated_one_is_live_and_reused(shop, bad_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    run = shop.run()
    assert set(run.made) == {"rate"}
    assert run.made["rate"].metadata["reused"].value is True
    assert run.verdicts["rate"] == (True, "ERROR")


def test_a_failed_computation_fails_its_check_and_is_not_retried(shop) -> None:
    shop.options = {"retry_policy": dg.RetryPolicy(max_retries=1)}
    shop.run()
    (shop.root / "data/orders.csv").unlink()
    run = shop.run()
    assert not run.success
    assert run.retries == 0
    check = run.checks["paid.write_pin"]
    assert (check.passed, check.severity.value) == (False, "ERROR")
    assert "E030" in check.description
    assert "not computed, so not published; version 1 of prod stays live" in check.description
    assert "**E030**" in check.metadata["findings"].value
    assert run.verdicts["by_country"] == (False, "WARN")
    assert len(shop.live("paid")) == 3


def test_another_apply_that_publishes_first_is_told_and_retried(shop, monkeypatch) -> None:
    from strata_core.store.environments import Environment

    shop.options = {"retry_policy": dg.RetryPolicy(max_retries=1)}
    publish, tries = Environment.publish, []

    def second(self, *arguments, **options):
        tries.append(1)
        if len(tries) == 1:
            raise StrataError(Diagnostic("E093", "version 1 has other rows of paid"))
        return publish(self, *arguments, **options)

    monkeypatch.setattr(Environment, "publish", second)
    run = shop.run()
    assert run.success
    assert run.retries == 1
    held = next(c for c in run.result.get_asset_check_evaluations() if c.check_name == "write_pin")
    assert "not published, because the apply stopped (E093)" in held.description
    assert run.made["paid"].metadata["reused"].value is True  # the candidate of the first try was kept


def test_a_project_that_broke_after_it_was_loaded_fails_every_check(shop) -> None:
    shop.run()
    assets = shop.assets()[:2]
    shop.edit("models/rates.strata", "select { country, rate }", "select { country, price }")
    run = shop.run(assets=assets)
    assert not run.success
    assert run.made == {}
    assert run.verdicts == dict.fromkeys(ALL, (False, "ERROR"))
    assert "E021" in run.failure


def test_a_model_that_left_the_project_after_it_was_loaded_is_named(shop) -> None:
    assets = shop.assets()[:2]
    shop.edit("models/rates.strata", "model rate ->", "model rates_now ->")
    run = shop.run(assets=assets)
    assert not run.success
    assert run.verdicts == dict.fromkeys(ALL, (False, "ERROR"))
    assert "E027" in run.failure


def test_an_unselected_check_is_not_told_but_a_violation_still_fails_the_run(shop, bad_orders) -> None:
    shop.write("data/orders.csv", bad_orders)
    run = shop.run(selection=dg.AssetSelection.assets("paid").without_checks())
    assert not run.success
    assert run.checks == {}
    assert run.made == {}


def test_a_check_selected_without_its_model_fails_where_nothing_is_live(shop) -> None:
    only = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("paid"), "write_pin"))
    run = shop.run(selection=only)
    assert not run.success
    assert run.verdicts == {"paid": (False, "ERROR")}


def test_the_run_log_has_code_place_and_fix(shop, bad_orders) -> None:
    shop.write("data/orders.csv", bad_orders)
    run = shop.run()
    logged = [e.message for e in shop.instance.all_logs(run.result.run_id) if "E082" in (e.user_message or "")]
    text = "\n".join(logged)
    assert "error[E082]" in text
    assert "models/sales/orders.strata:4:" in text
    assert "= help:" in text
    assert "\x1b" not in text


def test_a_pin_that_runs_alone_does_not_make_good_what_failed(shop, bad_orders) -> None:
    pin = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("paid"), "write_pin"))
    shop.run()
    fresh = shop.run(selection=pin)
    assert fresh.verdicts == {"paid": (True, "ERROR")}
    shop.write("data/orders.csv", bad_orders)
    assert not shop.run().success
    alone = shop.run(selection=pin)
    assert alone.verdicts == {"paid": (False, "WARN")}
    assert alone.checks["paid.write_pin"].description == (
        "stale (data change: orders): its candidate is pinned when it is materialized; version 1 stays live"
    )
