"""Promotion of an environment: the same artifacts, one version, and what it refuses."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import StrataError
from strata_core.planning.applying.results import Outcome, Published
from strata_core.planning.environments import published_environments
from strata_core.planning.live.dropping import drop_environment
from strata_core.planning.live.promotion import plan_promotion, promote
from strata_core.planning.project import compile_, open_project
from strata_core.planning.workspace import open_workspace

READER = """\
source by_country(store: "by_country", ns: "shop") { columns: { country: string nonnull, orders: int64 nonnull } }
contract Mine { country: string nonnull  orders: int64 nonnull }
model mine -> contract Mine { from by_country }
"""


def planned(shop, *models, source="pr_1", target="prod"):
    workspace = shop.workspace(target)
    return workspace, plan_promotion(workspace, source, models or None)


def promoted(shop, *models, source="pr_1", target="prod"):
    workspace, promotion = planned(shop, *models, source=source, target=target)
    return list(promote(workspace, promotion))


def refusal(shop, *models, **how):
    """The code, the message and the help of what keeps the promotion from being made."""
    _, promotion = planned(shop, *models, **how)
    return [(d.code, d.message, d.fix) for d in promotion.plan.conflicts]


def pointers(shop, environment="prod"):
    models = shop.workspace(environment).store.environment(environment).head().models
    return {name: pointer.address for name, pointer in models.items()}


def test_one_version_of_the_target_has_what_the_source_has_and_nothing_is_left_to_apply(shop):
    shop.apply(environment="pr_1")
    *_, published, outcome = promoted(shop)
    assert isinstance(published, Published)
    assert isinstance(outcome, Outcome)
    assert outcome.published == {"enriched", "by_country", "by_day", "top"}
    assert shop.head() == 1
    assert pointers(shop) == pointers(shop, "pr_1")
    version = shop.workspace().store.environment("prod").head()
    assert version.message == "promoted from pr_1, version 1"
    assert shop.statuses() == dict.fromkeys(("enriched", "by_country", "by_day", "top"), "fresh")
    assert [type(e) for e in promoted(shop)] == [Outcome], "nothing is left to promote"
    assert shop.head() == 1


def test_what_was_looked_at_is_published_though_a_file_changed_since(shop):
    shop.apply(environment="pr_1")
    seen = shop.rows("by_country", "pr_1")
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    promoted(shop)
    assert shop.rows("by_country") == seen
    assert shop.reasons()["enriched"] == ["data change: orders"], "the next apply takes it in"


def test_some_models_take_what_they_read_with_them(shop):
    shop.apply()
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    shop.apply(environment="pr_1")
    before = pointers(shop)
    *_, outcome = promoted(shop, "by_country")
    assert outcome.published == {"enriched", "by_country"}
    assert pointers(shop)["by_day"] == before["by_day"]


def test_age_counts_from_the_first_publication_and_not_from_the_promotion(shop):
    shop.apply(environment="pr_1")
    promoted(shop)
    store = shop.workspace().store
    one, other = (store.environment(name).head().models["top"].published_at for name in ("pr_1", "prod"))
    assert one == other


def test_a_checkout_of_another_meaning_refuses(shop):
    shop.apply(environment="pr_1")
    shop.edit("models/top.strata", "take 1", "take 2")
    assert refusal(shop) == [
        (
            "E035",
            "`top` of pr_1 would be stale in prod: own change",
            "check out the revision that pr_1 was applied from, or run `strata apply --env pr_1` here",
        )
    ]
    workspace, promotion = planned(shop)
    with pytest.raises(StrataError, match="would be stale"):
        list(promote(workspace, promotion))
    assert shop.head() == 0


def test_an_upstream_that_has_moved_on_beneath_it_refuses(shop):
    """`by_country` of pr_1 was computed from rows of `enriched` that pr_1 itself no longer has."""
    shop.apply(environment="pr_1")
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    shop.apply("enriched", environment="pr_1")
    found = refusal(shop)
    assert [(code, message) for code, message, _ in found] == [
        ("E035", "`by_country` of pr_1 would be stale in prod: upstream change: enriched"),
        ("E035", "`top` of pr_1 would be stale in prod: upstream change: by_country"),
    ]
    assert found[0][2] == "promote all models, or run `strata apply --env pr_1` first"


def test_a_sample_does_not_go_live_as_the_whole(shop):
    shop.write("sample.csv", (shop.root / "orders.csv").read_text().split("3,11")[0])
    shop.write(
        "strata.toml",
        '[project]\nname = "shop"\n[engine]\nname = "reference"\n'
        '[environments.dev]\nsources = { orders = "sample.csv" }\n',
    )
    shop.apply(environment="dev")
    assert refusal(shop, source="dev") == [
        (
            "E035",
            "the two environments read source `orders` in different places: `sample.csv` in dev, `orders.csv` in prod",
            "run `strata apply --env prod`, which reads what belongs there",
        )
    ]


def test_a_damaged_artifact_refuses(shop):
    shop.apply(environment="pr_1")
    store = shop.workspace("pr_1").store
    artifact = store.artifact("top", store.environment("pr_1").head().models["top"])
    artifact.paths[0].unlink()
    assert {code for code, _, _ in refusal(shop)} >= {"E094"}


def test_what_is_older_than_its_contract_allows_refuses(shop, monkeypatch):
    shop.edit("models/by_day.strata", "from enriched", "from enriched\n  freshness <= 1h")
    shop.apply(environment="pr_1")
    import strata_core.planning.live.promotion as module

    class Later(module.datetime):
        @classmethod
        def now(cls, zone):
            return super().now(zone) + (module.datetime(2026, 1, 3) - module.datetime(2026, 1, 1))

    monkeypatch.setattr(module, "datetime", Later)
    assert [code for code, _, _ in refusal(shop)] == ["E085"]


def test_other_projects_that_read_the_target_are_not_broken(shop, empty_shop):
    shop.apply()
    reader = empty_shop("reader")
    reader.write("strata.toml", f'[project]\nname = "reader"\n[store]\nroot = "{shop.root}/.strata/store"\n')
    reader.write("models/mine.strata", READER)
    reader.apply()
    shop.edit("models/by_country.strata", "orders: int64 nonnull\n", "")
    shop.edit("models/by_country.strata", "orders = count(), ", "")
    shop.apply(environment="pr_1")
    found = refusal(shop)
    assert [(code, message) for code, message, _ in found] == [
        ("E030", "`by_country.orders`: removed, and other projects read it")
    ]


def test_what_is_no_model_any_more_is_taken_back(shop):
    shop.apply()
    (shop.root / "models/top.strata").unlink()
    shop.apply(environment="pr_1")
    promoted(shop)
    assert set(pointers(shop)) == {"enriched", "by_country", "by_day"}


def test_of_a_project_with_errors_nothing_is_taken_back(shop):
    """What a file with errors declares is not known; the models that are known are promoted all the same."""
    shop.apply()
    (shop.root / "models/top.strata").unlink()
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    shop.apply(environment="pr_1")
    shop.write("models/other.strata", "model other { from from }")
    project = open_project(project=shop.root)
    workspace = open_workspace(project, "prod", compile_(project))
    promotion = plan_promotion(workspace, "pr_1")
    assert (promotion.plan.removed, promotion.plan.conflicts) == ((), ())
    list(promote(workspace, promotion))
    (shop.root / "models/other.strata").unlink()
    assert set(pointers(shop)) == {"enriched", "by_country", "by_day", "top"}
    assert pointers(shop)["by_day"] == pointers(shop, "pr_1")["by_day"]
    assert planned(shop)[1].plan.removed == ("top",)


def test_another_apply_that_published_meanwhile_wins(shop):
    shop.apply(environment="pr_1")
    workspace, promotion = planned(shop)
    shop.edit("orders.csv", "3,11,MX,3.00", "3,11,MX,4.00")
    shop.apply()
    with pytest.raises(StrataError, match="nothing was published in prod: version 1"):
        list(promote(workspace, promotion))
    assert shop.head() == 1


@pytest.mark.parametrize(
    ("models", "how", "code"),
    [
        ((), {"source": "prod"}, "E035"),
        ((), {"source": "nope"}, "E095"),
        (("nope",), {}, "E027"),
        (("top",), {}, "E095"),
    ],
)
def test_what_cannot_be_asked(shop, models, how, code):
    shop.apply("by_country", environment="pr_1")
    with pytest.raises(StrataError) as raised:
        planned(shop, *models, **how)
    assert [d.code for d in raised.value.diagnostics] == [code]


def test_a_dropped_environment_is_not_listed_and_can_be_rolled_back(shop):
    shop.apply()
    shop.apply("by_day", environment="pr_1")
    assert {n: len(v.models) for n, v in published_environments(shop.project).items()} == {"pr_1": 2, "prod": 4}
    dropped = drop_environment(shop.project, "pr_1")
    assert (dropped.removed, dropped.left, dropped.version.number) == (("by_day", "enriched"), (), 2)
    assert list(published_environments(shop.project)) == ["prod"]
    with pytest.raises(StrataError, match="nothing of shop is published in `pr_1`"):
        drop_environment(shop.project, "pr_1")
    shop.workspace("pr_1").store.environment("pr_1").rollback(1)
    assert list(published_environments(shop.project)) == ["pr_1", "prod"]


def test_an_environment_that_another_project_reads_is_not_dropped(shop, empty_shop):
    shop.apply()
    reader = empty_shop("reader")
    reader.write("strata.toml", f'[project]\nname = "reader"\n[store]\nroot = "{shop.root}/.strata/store"\n')
    reader.write("models/mine.strata", READER)
    reader.apply()
    with pytest.raises(StrataError) as raised:
        drop_environment(shop.project, "prod")
    assert {d.code for d in raised.value.diagnostics} == {"E030"}
    dropped = drop_environment(reader.project, "prod")
    assert (dropped.removed, dropped.left) == (("mine",), ("by_country", "by_day", "enriched", "top"))
    assert drop_environment(shop.project, "prod").left == ()


def test_a_checkout_without_a_model_that_the_source_has_does_not_take_it_back(shop):
    """Of a model that another revision has, this one says no more than that it does not know it."""
    shop.apply()
    shop.apply(environment="pr_1")
    (shop.root / "models/top.strata").unlink()
    assert refusal(shop) == [
        (
            "E035",
            "`top` is live in pr_1, and no model of this project",
            "check out the revision that pr_1 was applied from, or run `strata apply --env pr_1` here",
        )
    ]
    assert refusal(shop, "by_day") == [], "a selection takes nothing back"
    shop.apply(environment="pr_1")
    promoted(shop)
    assert sorted(pointers(shop)) == ["by_country", "by_day", "enriched"]


def test_a_dropped_environment_has_nothing_to_promote(shop):
    shop.apply()
    shop.apply(environment="pr_1")
    drop_environment(shop.project, "pr_1")
    with pytest.raises(StrataError) as error:
        planned(shop)
    (found,) = error.value.diagnostics
    assert (found.code, found.message, found.fix) == (
        "E095",
        "nothing of shop is published in `pr_1`",
        "run `strata apply --env pr_1`",
    )


def test_an_environment_with_protected_columns_that_nobody_reads_is_dropped(shop):
    """`protected` keeps a column while its table is made; who drops a branch's environment ends that on purpose."""
    kept = (
        "contract Kept { country: string protected }\nmodel kept -> contract Kept { from orders select { country } }\n"
    )
    shop.write("models/kept.strata", kept)
    shop.apply("kept", environment="pr_1")
    assert drop_environment(shop.project, "pr_1").removed == ("kept",)
