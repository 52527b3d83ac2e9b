"""The plan: which models are stale and why, no more of them than must be (Seed 0 §6)."""

from __future__ import annotations

import shutil

import pytest

from strata_core.diagnostics import StrataError

ALL = ["enriched", "by_country", "by_day", "top"]


def test_seed0_s6_what_was_never_applied_is_missing(shop):
    assert shop.reasons() == {name: ["missing"] for name in ALL}


def test_seed0_s6_what_was_applied_is_fresh(shop):
    shop.apply()
    plan = shop.plan()
    assert (plan.environment, plan.base.number, [m.name for m in plan.models]) == ("prod", 1, ALL)
    assert plan.stale == ()


def test_an_environment_is_stale_by_itself(shop):
    shop.apply()
    assert [m.name for m in shop.plan(environment="dev").stale] == ALL


def test_seed0_s6_own_change_and_what_it_reaches(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    assert shop.reasons() == {"by_country": ["own change"], "top": ["upstream change: by_country"]}


def test_seed0_s6_contract_change(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "orders: int64 nonnull", "orders: int64 nonnull protected")
    assert shop.reasons() == {"by_day": ["contract change"]}


def test_seed0_s6_data_change(shop):
    shop.apply()
    shop.edit("customers.csv", "a@x.es", "z@x.es")
    assert shop.reasons() == {
        "enriched": ["data change: customers"],
        "by_country": ["upstream change: enriched"],
        "by_day": ["upstream change: enriched"],
        "top": ["upstream change: by_country"],
    }


def test_seed0_s6_a_source_declared_anew_is_an_upstream_change(shop):
    shop.apply()
    shop.edit("models/sources.strata", "enum {ES, MX, CO},\n    amount", "enum {ES, MX, CO, FR},\n    amount")
    shop.edit("models/enriched.strata", "enum {ES, MX, CO}", "enum {ES, MX, CO, FR}")
    assert shop.reasons()["enriched"] == ["contract change", "upstream change: orders"]


def test_a_null_text_is_a_data_change(shop):
    shop.apply()
    shop.edit("models/sources.strata", '(csv: "customers.csv")', '(csv: "customers.csv", null_text: "a@x.es")')
    assert shop.reasons()["enriched"] == ["data change: customers"]
    shop.apply()
    assert [row["email"] for row in shop.rows("enriched")] == [None, None, "b@x.mx", None]


def test_a_source_of_other_types_is_computed_anew(shop):
    shop.write("models/kinds.strata", "model kinds { from orders aggregate { n = count(distinct note) } }\n")
    shop.write("orders.csv", "order_id,customer_id,country,amount,placed,note\n1,,ES,1,2026-01-01,1.0\n"
               "2,,ES,1,2026-01-01,1\n")  # fmt: skip
    shop.edit("models/sources.strata", "    placed: date nonnull,\n", "    placed: date nonnull,\n    note: string,\n")
    shop.apply("kinds")
    assert shop.rows("kinds") == [{"n": 2}]
    shop.edit("models/sources.strata", "    note: string,\n", "    note: decimal(5,2),\n")
    assert shop.statuses("kinds") == {"kinds": "computed"}
    assert shop.rows("kinds") == [{"n": 1}]


def test_several_reasons_are_all_told(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    shop.edit("models/by_country.strata", "orders: int64 nonnull", "orders: int64")
    shop.edit("orders.csv", "3.00", "4.00")
    assert shop.reasons()["by_country"] == ["own change", "contract change", "upstream change: enriched"]


def test_a_file_that_is_gone_is_a_data_change(shop):
    shop.apply()
    (shop.root / "customers.csv").unlink()
    assert shop.reasons()["enriched"] == ["data change: customers"]


def test_an_artifact_that_is_gone_is_missing(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "count()", "count(order_id)")
    shutil.rmtree(shop.root / ".strata/store/tables/by_day")
    assert shop.reasons() == {"by_day": ["missing"]}


def test_an_artifact_that_lost_a_file_is_missing_though_nothing_changed(shop):
    shop.apply()
    folder = shop.root / ".strata/store/tables"
    (part,) = (folder / "by_day").rglob("*.parquet")
    part.unlink()
    (manifest,) = (folder / "by_country").rglob("_manifest.json")
    manifest.write_text("{")
    assert shop.reasons() == {
        "by_country": ["missing"],
        "by_day": ["missing"],
        "top": ["upstream change: by_country"],
    }
    assert shop.statuses() == {"enriched": "fresh", "by_country": "computed", "by_day": "computed", "top": "reused"}
    assert shop.reasons() == {}


def test_forced_models_alone_are_forced(shop):
    shop.apply()
    plan = shop.plan("by_country", force=True)
    assert {m.name: [str(c) for c in m.causes] for m in plan.stale} == {"by_country": ["forced"]}
    assert [m.name for m in shop.plan(force=True).stale] == ALL


def test_selected_models_bring_the_stale_ones_that_they_read(shop):
    assert shop.reasons("by_day") == {"enriched": ["missing"], "by_day": ["missing"]}
    shop.apply("by_day")
    assert shop.reasons("top") == {"by_country": ["missing"], "top": ["missing"]}
    assert [m.name for m in shop.plan("by_day").models] == ["by_day"]


def test_without_upstream_models_are_read_as_they_are_live(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    plan = shop.workspace().plan(["top"], with_upstream=False)
    # What `top` reads is unchanged as long as `by_country` is not applied; its meaning is not.
    assert {m.name: [str(c) for c in m.causes] for m in plan.models} == {"top": ["upstream change: by_country"]}


def test_e027_an_unknown_model_has_a_suggestion(shop):
    with pytest.raises(StrataError) as caught:
        shop.plan("by_county")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.fix) == (
        "E027",
        "there is no model `by_county`",
        "did you mean `by_country`?",
    )


def test_a_rollback_makes_what_changed_since_stale_again(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    shop.apply()
    shop.workspace().store.environment("prod").rollback(1)
    assert shop.reasons() == {"by_country": ["own change"], "top": ["upstream change: by_country"]}
    assert shop.statuses() == {"enriched": "fresh", "by_country": "reused", "by_day": "fresh", "top": "reused"}
