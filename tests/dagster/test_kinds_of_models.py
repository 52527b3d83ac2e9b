"""What the language and the planner can do, as a Dagster run shows it: each on a real instance."""

from __future__ import annotations

import dagster as dg
import pytest

from strata_core.planning.project import open_project
from strata_core.planning.workspace import open_workspace
from strata_dagster import DagsterStrataTranslator

CODE, DATA = "CODE", "DATA"
UNREAD = ("amount, email }", "amount, email, twice = order_id + order_id }")


def widen(shop) -> None:
    """`paid` gets a column that nobody reads."""
    shop.edit(
        "models/sales/orders.strata",
        "\n  order_id: int64 primary",
        "\n  twice: int64 nonnull\n  order_id: int64 primary",
    )
    shop.edit("models/sales/orders.strata", *UNREAD)


def planned_stale(shop) -> set[str]:
    return {m.name for m in open_workspace(open_project(project=shop.root), shop.environment, write=False).plan().stale}


def test_a_column_that_is_not_read_marks_its_model_alone(shop) -> None:
    shop.run()
    widen(shop)
    assert shop.stale() == {"paid": [(CODE, None)]}
    assert planned_stale(shop) == {"paid"}


def test_a_run_of_the_changed_model_alone_leaves_its_fresh_reader_without_a_badge(shop) -> None:
    first = shop.run()
    widen(shop)
    run = shop.run(selection=dg.AssetSelection.assets("paid"))
    assert run.success
    assert run.made["paid"].tags["dagster/data_version"] != first.made["paid"].tags["dagster/data_version"]
    told = run.made["by_country"]
    assert told.tags["dagster/data_version"] == first.made["by_country"].tags["dagster/data_version"]
    assert told.metadata["reused"].value is True
    assert told.metadata["reason"].value == "fresh: what it reads of paid did not change"
    assert set(run.made) == {"paid", "by_country"}  # `rate` reads nothing that changed
    assert planned_stale(shop) == set()
    assert shop.stale() == {}


def test_a_code_version_of_the_translators_own_does_not_hide_a_fresh_reader(shop) -> None:
    class Mine(DagsterStrataTranslator):
        def get_code_version(self, project, model):
            return f"v:{model.fingerprint}"

    shop.run(assets=shop.assets(Mine())[:1])
    widen(shop)
    run = shop.run(selection=dg.AssetSelection.assets("paid"), assets=shop.assets(Mine())[:1])
    assert run.made["by_country"].tags["dagster/code_version"].startswith("v:")


def test_a_reader_that_left_the_project_after_it_was_loaded_is_passed_over(shop) -> None:
    shop.run()
    assets = shop.assets()[:1]
    widen(shop)
    shop.edit("models/sales/orders.strata", "model by_country", "model per_country")
    run = shop.run(selection=dg.AssetSelection.assets("paid"), assets=assets)
    assert run.success
    assert set(run.made) == {"paid"}


def test_a_model_that_comes_out_the_same_tells_nothing_of_its_readers(shop) -> None:
    shop.run()
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 0\n")
    shop.run()
    run = shop.run(selection=dg.AssetSelection.assets("paid"), recompute="all")
    assert set(run.made) == {"paid"}


def test_a_reader_of_changed_rows_is_not_told_as_fresh(shop, good_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", good_orders + "5,MX,1.00,\n")
    run = shop.run(selection=dg.AssetSelection.assets("paid"))
    assert set(run.made) == {"paid"}
    assert planned_stale(shop) == {"by_country"}
    assert shop.stale() == {"by_country": [(DATA, "paid")]}


def test_a_reader_that_is_stale_for_another_reason_is_not_told_as_fresh(shop) -> None:
    shop.run()
    widen(shop)
    shop.edit("models/sales/orders.strata", "orders = count()", "orders = count() + 0 * 2 + 1")
    run = shop.run(selection=dg.AssetSelection.assets("paid"))
    assert set(run.made) == {"paid"}
    assert "by_country" in shop.stale()


def test_a_reader_that_dagster_never_saw_is_not_materialized_for_it(shop) -> None:
    shop.run(selection=dg.AssetSelection.assets("paid"))
    widen(shop)
    assert set(shop.run(selection=dg.AssetSelection.assets("paid")).made) == {"paid"}


SHARED = '[project]\nname = "{name}"\n[store]\nroot = "../store"\n'
MARTS = """
source sold(store: "paid", ns: "shop") {
  columns: { order_id: int64 nonnull primary_key, country: string nonnull, email: string }
}
model contacts {
  owner: "marketing"
  from sold
  select { order_id, email }
}
"""


@pytest.fixture
def read_elsewhere(shop):
    """`shop` shares its store with another project, which reads `paid.email`."""
    from strata_core.planning.applying.apply import apply_plan

    shop.write("strata.toml", SHARED.format(name="shop"))
    assert shop.run().success
    shop.write("../marts/strata.toml", SHARED.format(name="marts"))
    shop.write("../marts/models/contacts.strata", MARTS)
    workspace = open_workspace(open_project(project=shop.root.parent / "marts"), "prod")
    *_, outcome = apply_plan(workspace, workspace.plan(), workspace.engine())
    assert outcome.published == {"contacts"}
    return shop


def test_seed0_s5b_a_run_that_would_break_another_project_fails_and_publishes_nothing(read_elsewhere) -> None:
    shop = read_elsewhere
    shop.edit("models/sales/orders.strata", '  email: string classification: "pii" mask: hash\n', "")
    shop.edit("models/sales/orders.strata", "amount, email }", "amount }")
    run = shop.run()
    assert not run.success
    assert set(run.made) == {"by_country", "rate"}  # fresh, and told as they were
    assert "E030" in run.failure
    assert "`paid.email`" in run.failure
    assert run.verdicts["paid"] == (False, "ERROR")
    check = run.checks["paid.write_pin"]
    assert "**E030**" in check.metadata["findings"].value
    logged = "\n".join(e.message for e in shop.instance.all_logs(run.result.run_id))
    assert "read by `contacts` of project marts, owner marketing" in logged
    assert "email" in shop.live("paid")[0]
    assert run.retries == 0


def test_a_run_of_all_models_takes_back_what_is_no_model_any_more(shop) -> None:
    shop.run()
    (shop.root / "models/rates.strata").unlink()
    part = shop.run(selection=dg.AssetSelection.assets("paid"))
    assert part.success
    environment = open_workspace(open_project(project=shop.root), "prod").store.environment("prod")
    assert set(environment.head().models) == {"paid", "by_country", "rate"}
    told = [e.message for e in shop.instance.all_logs(part.result.run_id) if "no model" in e.message]
    why = "no model of the project any more, stays live until an op applies all models, or `strata apply`"
    assert told == [f"rate: {why}"]
    run = shop.run()
    assert run.success
    assert set(environment.head().models) == {"paid", "by_country"}
    logged = "\n".join(e.message for e in shop.instance.all_logs(run.result.run_id))
    assert "prod: version 2 is live, without rate: no model of the project any more" in logged


def test_seed0_s5b_taking_back_what_another_project_reads_fails_the_run(read_elsewhere) -> None:
    shop = read_elsewhere
    text = (shop.root / "models/sales/orders.strata").read_text().replace("model paid", "model bought")
    shop.write("models/sales/orders.strata", text.replace("from paid", "from bought"))
    run = shop.run()
    assert not run.success
    assert "removed with its model" in run.failure
    assert "bought" not in run.made
    assert len(shop.live("by_country")) == 2


LOG = """
source visits(csv: "data/visits.csv") { columns: { id: int64 nonnull, at: timestamp nonnull, day: date nonnull } }
model visit_log {
  from visits
  select { id, at, day }
  partition_by: [day]
  incremental { strategy: append, cursor: at }
}
"""
FIRST = "id,at,day\n1,2024-01-01 10:00,2024-01-01\n2,2024-01-02 11:00,2024-01-02\n"


def test_an_incremental_model_tells_the_way_it_was_computed_and_its_partitions(shop) -> None:
    shop.write("models/visits.strata", LOG)
    shop.write("data/visits.csv", FIRST)
    only = dg.AssetSelection.assets("visit_log")
    made = shop.run(selection=only).made["visit_log"].metadata
    assert (made["way"].value, made["partitions"].value) == ("full: there are no live rows yet", 2)
    shop.write("data/visits.csv", FIRST + "3,2024-01-03 09:00,2024-01-03\n")
    made = shop.run(selection=only).made["visit_log"].metadata
    assert made["way"].value.startswith("incremental: ")
    assert (made["partitions"].value, made["dagster/row_count"].value) == (3, 3)
    again = shop.run(selection=only).made["visit_log"].metadata
    assert again["reused"].value is True
    assert "way" not in again


def test_a_full_refresh_computes_incremental_models_from_all_rows_and_no_others(shop) -> None:
    shop.write("models/visits.strata", LOG)
    shop.write("data/visits.csv", FIRST)
    shop.run()
    shop.write("data/visits.csv", FIRST + "3,2024-01-03 09:00,2024-01-03\n")
    run = shop.run(recompute="full_refresh")
    assert run.made["visit_log"].metadata["way"].value == "full: asked for"
    assert run.made["visit_log"].metadata["reason"].value == "data change: visits; full refresh"
    reused = {name for name, made in run.made.items() if "reused" in made.metadata and made.metadata["reused"].value}
    assert reused == {"paid", "by_country", "rate"}


GENERATED = """
fn by_market(codes: List<Str>) -> List<Model> {
  [
    model "paid_in_${c}" {
      owner: "sales"
      from paid
      filter country == c
      select { order_id, amount }
    }
    for c in codes
  ]
}
by_market(["ES", "MX"])
"""


def test_generated_models_are_assets_like_those_that_are_written(shop) -> None:
    shop.write("models/markets.strata", GENERATED)
    run = shop.run()
    assert run.success
    assert {"paid_in_ES", "paid_in_MX"} <= set(run.made)
    assert [r["order_id"] for r in shop.live("paid_in_ES")] == [1, 3]
    spec = next(s for s in shop.assets()[0].specs if s.key == dg.AssetKey("paid_in_MX"))
    assert spec.metadata["dagster/code_references"].code_references[0].file_path.endswith("models/markets.strata")
    assert shop.stale() == {}


UNIT = """
test by_country "counts by country" {
  given orders {
    | order_id | country | amount | email |
    | 1        | "ES"    | 1.00   | none  |
  }
  expect { | country | orders | total |
           | "ES"    | 1      | 1.00  | }
}
"""


def test_a_unit_test_marks_nothing_stale_and_a_run_does_not_depend_on_it(shop) -> None:
    shop.run()
    shop.write("models/tests.strata", UNIT)
    assert shop.stale() == {}
    assert shop.run().success
    shop.edit("models/tests.strata", "| 1.00  | }", "| 2.00  | }")
    assert shop.stale() == {}
    assert shop.run().success
