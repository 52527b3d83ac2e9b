"""What a plan says an apply will take and change."""

from __future__ import annotations

from strata_core.planning.forecast import forecast


def told(shop, *models, **how):
    workspace = shop.workspace(how.pop("environment", "prod"))
    return forecast(workspace, workspace.plan(models or None, **how))


def reused(shop, **how):
    return {name: one.work.reused for name, one in told(shop, **how).items()}


def test_nothing_is_known_of_what_rests_on_rows_that_are_not_there_yet(shop):
    assert reused(shop) == {"enriched": False, "by_country": None, "by_day": None, "top": None}
    works = {name: one.work for name, one in told(shop).items()}
    size = sum((shop.root / name).stat().st_size for name in ("orders.csv", "customers.csv"))
    assert (works["enriched"].rows, works["enriched"].bytes, works["enriched"].seconds) == (None, size, None)


def test_what_another_environment_has_is_reused_through_the_whole_graph(shop):
    shop.apply()
    works = {name: one.work for name, one in told(shop, environment="dev").items()}
    assert {name: work.reused for name, work in works.items()} == dict.fromkeys(works, True)
    assert (works["by_country"].rows, works["top"].rows) == (4, 3)
    assert shop.statuses(environment="dev") == dict.fromkeys(works, "reused")


def test_what_is_forced_is_computed(shop):
    shop.apply()
    assert reused(shop, force=True) == {"enriched": False, "by_country": False, "by_day": False, "top": False}


def test_how_long_it_took_is_that_of_the_live_artifact(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "sum(amount)", "max(amount)")
    work = told(shop)["by_country"].work
    assert isinstance(work.seconds, float)
    assert (work.reused, work.rows) == (False, 4)


def test_changes_of_the_schema_and_whom_they_reach(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "  total: decimal(38,2) nonnull", "  total: decimal(38,2)")
    shop.edit("models/by_country.strata", "sum(amount)", "nullif(sum(amount), 3.00)")
    shop.edit("models/top.strata", "  total: decimal(38,2) nonnull", "  total: decimal(38,2)")
    effect = told(shop)["by_country"].effect
    assert [(c.column, c.rule.id, c.breaks) for c in effect.changes] == [("total", "nonnull-dropped", True)]
    assert (effect.values, effect.other_rows, effect.breaks) == (("total",), False, True)
    assert (effect.reached_values, effect.reached_rows) == (("top.total",), ("top",))


def test_other_rows_reach_all_who_read_them(shop):
    shop.apply()
    shop.edit("models/enriched.strata", "  from orders\n", "  from orders\n  filter amount > 5.00\n")
    effects = {name: one.effect for name, one in told(shop).items()}
    assert (effects["enriched"].values, effects["enriched"].other_rows) == ((), True)
    assert sorted(effects["enriched"].reached_rows) == ["by_country", "by_day", "top"]
    assert effects["by_day"].changes == effects["by_day"].reached_rows == ()


def test_an_added_column_reaches_nobody(shop):
    shop.apply()
    shop.edit("models/by_day.strata", "orders = count()", "orders = count(), first = min(order_id)")
    effect = told(shop)["by_day"].effect
    assert [(c.column, c.rule.id, c.breaks) for c in effect.changes] == [("first", "column-added", False)]
    assert (effect.values, effect.reached_values, effect.reached_rows) == ((), (), ())
