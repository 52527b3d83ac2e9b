"""Staleness: code versions are fingerprints, data versions are digests of rows, and both cross the files read."""

from __future__ import annotations

import dagster as dg

CODE, DATA = "CODE", "DATA"


def test_after_a_run_nothing_is_stale(shop) -> None:
    shop.run()
    shop.observe()
    assert shop.stale() == {}


def test_an_edit_marks_the_model_and_what_is_downstream_and_nothing_else(shop) -> None:
    shop.run()
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 0\n")
    assert shop.stale() == {"paid": [(CODE, None)], "by_country": [(CODE, None)]}


def test_an_edit_that_means_the_same_marks_nothing(shop) -> None:
    shop.run()
    shop.edit("models/sales/orders.strata", "// Orders as they came.", "# Other words,\n\n# other lines.")
    assert shop.stale() == {}


def test_a_changed_file_marks_what_reads_it_once_it_is_observed(shop, good_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", good_orders + "5,MX,1.00,\n")
    assert shop.stale() == {}
    shop.observe()
    assert shop.stale() == {"paid": [(DATA, "orders")]}
    shop.run()
    assert shop.stale() == {}


def test_an_apply_notes_the_content_that_it_read_not_the_one_last_observed(shop, good_orders) -> None:
    shop.observe()
    shop.write("data/orders.csv", good_orders + "5,MX,1.00,\n")
    run = shop.run()
    digest = shop.instance.get_latest_data_version_record(dg.AssetKey("orders"), is_source=True)
    noted = run.made["paid"].tags["dagster/input_data_version/orders"]
    assert digest.event_log_entry.tags["dagster/data_version"] == noted
    shop.observe()
    assert shop.stale() == {}


def test_rows_that_came_out_the_same_leave_downstream_fresh(shop, good_orders) -> None:
    shop.run()
    header, *rows = good_orders.splitlines(keepends=True)
    shop.write("data/orders.csv", "".join([header, *reversed(rows)]))
    run = shop.run(selection=dg.AssetSelection.assets("paid"))
    assert run.success
    assert run.made["paid"].metadata["reused"].value is False
    assert shop.stale() == {}
    again = shop.run()
    assert again.made["by_country"].metadata["reused"].value is True
    assert again.made["by_country"].metadata["reason"].value == "fresh: nothing changed"


def test_a_fresh_model_is_materialized_with_the_same_data_version_and_nothing_is_computed(shop) -> None:
    first = shop.run()
    second = shop.run()
    for name in ("paid", "by_country", "rate"):
        assert second.made[name].tags["dagster/data_version"] == first.made[name].tags["dagster/data_version"]
        assert second.made[name].metadata["reused"].value is True
        assert second.made[name].metadata["environment_version"].value == 1
        assert "seconds" not in second.made[name].metadata


def test_recompute_all_computes_what_is_fresh_and_gets_the_same_data_version(shop) -> None:
    first = shop.run()
    forced = shop.run(recompute="all")
    assert forced.made["paid"].metadata["reused"].value is False
    assert forced.made["paid"].metadata["reason"].value == "forced"
    assert forced.made["paid"].tags["dagster/data_version"] == first.made["paid"].tags["dagster/data_version"]
    assert shop.stale() == {}


def test_models_are_told_after_what_they_read(shop) -> None:
    order = shop.run().order
    assert order.index("paid") < order.index("by_country") < order.index("report")


def test_after_a_violation_the_model_stays_stale_and_downstream_is_as_it_was(shop, bad_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    shop.run()
    assert shop.stale() == {"paid": [(DATA, "orders")]}


def test_a_model_that_is_run_alone_reads_what_is_live_upstream(shop) -> None:
    shop.run()
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 1\n")
    shop.edit("models/sales/orders.strata", "orders = count()", "orders = count() + 0")
    run = shop.run(selection=dg.AssetSelection.assets("by_country"))
    assert run.success
    assert set(run.made) == {"by_country"}
    assert shop.live("by_country")[0]["orders"] == 2
    assert shop.stale() == {"paid": [(CODE, None)]}


def test_environments_are_published_apart(shop, good_orders) -> None:
    shop.run()
    shop.environment = "dev"
    shop.write("data/orders.csv", good_orders + "5,MX,1.00,\n")
    run = shop.run()
    assert run.made["paid"].metadata["environment"].value == "dev"
    assert len(shop.live("paid")) == 4
    shop.environment = "prod"
    assert len(shop.live("paid")) == 3
