"""A job that promotes an environment: what is live is materialized as it is, and a refusal publishes nothing."""

import dagster as dg
import pytest

from strata_dagster import StrataResource, strata_assets, strata_promotion_job

from .conftest import RATES


@pytest.fixture
def promote(shop):
    """Runs the promotion job in the shop's instance; `tags` of the launch override its own."""

    def run(source="pr_1", tags=None, **options):
        project = shop.project

        @strata_assets(project=project, **options)
        def models(context: dg.AssetExecutionContext, strata: StrataResource):
            yield from strata.apply(context).stream()

        job = dg.Definitions(
            assets=models if isinstance(models, list) else [models],
            resources={"strata": StrataResource(project_dir=shop.root)},
            jobs=[strata_promotion_job(models, source=source)],
        ).resolve_job_def("promote")
        return job.execute_in_process(instance=shop.instance, raise_on_error=False, tags=tags)

    return run


def made(result):
    return {
        e.asset_key.to_user_string(): e.step_materialization_data.materialization
        for e in result.get_asset_materialization_events()
    }


def verdicts(result):
    return {
        (c.asset_key.to_user_string(), c.check_name): c.passed
        for c in result.get_asset_check_evaluations()
        if c.check_name == "write_pin"
    }


def in_branch(shop, name="pr_1"):
    shop.environment = name
    assert shop.run(assets=shop.assets()[:1]).success
    shop.environment = "prod"


def test_a_promotion_materializes_what_goes_live_and_leaves_nothing_stale(shop, promote) -> None:
    in_branch(shop)
    done = promote()
    assert done.success
    events = made(done)
    assert set(events) == {"paid", "by_country", "rate"}
    assert {(e.metadata["reused"].value, e.metadata["reason"].value) for e in events.values()} == {
        (True, "promoted: pr_1")
    }
    assert {e.metadata["environment_version"].value for e in events.values()} == {1}
    assert all(verdicts(done).values())
    assert len(verdicts(done)) == 3
    assert len(shop.live("paid")) == 3
    assert {name for name in shop.stale() if name in events} == set()
    assert all(e.metadata["reused"].value for e in shop.run(assets=shop.assets()[:1]).made.values())


def test_a_job_is_called_as_it_is_to_be(shop) -> None:
    models = shop.assets()[:1]
    assert strata_promotion_job(models, source="staging").name == "promote"
    assert strata_promotion_job(models, source="staging", name="promote_staging").name == "promote_staging"
    for source in ("", "a b", "../x", None):
        with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
            strata_promotion_job(models, source=source)
        assert str(refused.value).startswith(f"`{source}` cannot name an environment: use a letter or _, then letters")


def test_what_was_looked_at_goes_live_and_not_what_came_since(shop, promote, good_orders) -> None:
    in_branch(shop)
    shop.write("data/orders.csv", good_orders + "5,MX,2.00,\n")
    assert promote().success
    assert len(shop.live("paid")) == 3


def test_a_refusal_fails_every_pin_and_publishes_nothing(shop, promote) -> None:
    assert shop.run(assets=shop.assets()[:1]).success
    in_branch(shop)
    shop.edit("models/sales/orders.strata", "total = sum(amount)", "total = sum(amount) + sum(amount)")
    in_branch(shop, "pr_2")
    shop.edit("models/sales/orders.strata", "total = sum(amount) + sum(amount)", "total = sum(amount)")
    refused = promote("pr_2")
    assert not refused.success
    assert made(refused).keys() == {"paid", "rate"}, "those are live, and the same in both"
    assert verdicts(refused)["by_country", "write_pin"] is False
    failure = next(e for e in refused.all_events if e.is_step_failure).step_failure_data.error.to_string()
    assert "E035" in failure


def test_the_launch_may_name_another_environment(shop, promote) -> None:
    in_branch(shop)
    missing = promote("nope")
    assert not missing.success
    assert set(verdicts(missing).values()) == {False}
    assert promote("nope", tags={"strata/promote_from": "pr_1"}).success


def test_with_an_op_of_each_model_they_are_promoted_one_after_the_other(shop, promote) -> None:
    in_branch(shop)
    done = promote(op_per_model=True)
    assert done.success
    assert set(made(done)) == {"paid", "by_country", "rate"}
    assert len(shop.live("by_country")) == 2


def test_of_a_project_with_errors_what_compiles_is_promoted_and_nothing_is_taken_back(
    shop, promote, good_orders
) -> None:
    assert shop.run().success
    shop.write("data/orders.csv", good_orders + "5,MX,2.00,\n")
    (shop.root / "models/rates.strata").unlink()  # in the branch too
    in_branch(shop)
    shop.write("models/sales/odd.strata", "model odd { from from }\n")
    shop.on_error = "check"
    done = promote()
    assert not done.success, "what does not compile fails its pin"
    assert set(made(done)) == {"paid", "by_country"}
    assert verdicts(done) == {
        ("paid", "write_pin"): True,
        ("by_country", "write_pin"): True,
        ("odd", "write_pin"): False,
    }
    shop.on_error = "fail"
    (shop.root / "models/sales/odd.strata").unlink()
    shop.write("models/rates.strata", RATES)
    assert (len(shop.live("paid")), len(shop.live("rate"))) == (4, 2)
