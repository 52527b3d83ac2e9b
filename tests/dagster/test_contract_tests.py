"""Tests of product contracts as checks of Strata's models: severities, runs alone, every path told, nothing leaked."""

# Without postponed annotations: Dagster compares those of an op with types.

from datetime import UTC, datetime

import dagster as dg
import pytest

from strata_core.contract_engine.observations import Observations
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish
from strata_dagster import StrataResource, strata_assets
from strata_dagster.contracts.covering import Landscape
from strata_dagster.contracts.observing import seen_in_dagster

from .guarded import CONTRACT as _GUARDED  # the same tests, of a model

CONTRACT = (
    _GUARDED.replace("id: orders\n    kind: dagster_asset", "id: paid\n    kind: strata_model")
    .replace("id: shop.orders", "id: shop.paid")
    .replace("asset: orders", "asset: paid")
    .replace("from orders where id", "from paid where order_id")
    .replace("{name: id, type: int64, primary_key: true}", "{name: order_id, type: int64}", 1)
)
TESTS = {"positive", "many", "known", "try_out"}


@pytest.fixture
def covered(shop):
    shop.write("contracts/shop/paid/contract.yaml", CONTRACT)
    return shop


def told(run, asset: str = "paid") -> dict[str, tuple[bool, str]]:
    return {k.partition(".")[2]: (c.passed, c.severity.value) for k, c in run.checks.items() if k.startswith(asset)}


def test_a_model_has_a_check_for_each_test_of_the_product_that_covers_it(covered) -> None:
    run = covered.run()
    assert run.success, run.failure
    assert told(run) == {
        "write_pin": (True, "ERROR"),
        "last_known_good": (True, "ERROR"),
        "freshness": (True, "WARN"),
        "positive": (True, "WARN"),
        "many": (True, "WARN"),
        "known": (False, "WARN"),
        "try_out": (True, "ERROR"),
    }
    assert set(told(run, "by_country")) == {"write_pin", "last_known_good"}
    assert run.checks["paid.positive"].blocking
    assert run.checks["paid.known"].metadata["offenders"].value == 1
    assert "email = ‹masked›" in run.checks["paid.known"].description
    assert run.checks["paid.freshness"].metadata["max_age_seconds"].value == 86_400


def test_a_blocking_test_fails_the_run_keeps_downstream_from_running_and_is_not_retried(covered) -> None:
    covered.options = {"retry_policy": dg.RetryPolicy(max_retries=1)}
    covered.write("data/orders.csv", "order_id,country,amount,email\n-1,ES,1.00,\n")
    run = covered.run()
    assert not run.success
    assert run.retries == 0
    assert "report" not in run.made
    assert "contract violated: paid" in run.failure
    assert "E144 the blocking test `positive` of `shop.paid` does not hold" in run.failure
    assert run.made == {}
    assert told(run)["positive"] == (False, "ERROR")
    assert told(run)["write_pin"] == (False, "ERROR")


def test_seed0_s5c_rows_that_a_blocking_test_refuses_leave_what_is_live_and_say_so(covered) -> None:
    covered.run()
    before = covered.live("paid")
    covered.write("data/orders.csv", "order_id,country,amount,email\n-1,ES,1.00,\n")
    run = covered.run()
    assert covered.live("paid") == before
    assert set(run.made) == {"rate"}, "which is fresh"
    check = run.checks["paid.positive"]
    assert check.metadata["published"].value is False
    assert check.metadata["offenders"].value == 1
    assert check.description == (
        "blocking: failed: a row is wrong, for instance amount = 1.00, country = ES, email = ‹masked›, order_id = -1: "
        "not published; version 1 of prod stays live"
    )
    assert "contracts/shop/paid/contract.yaml:" in run.checks["paid.write_pin"].metadata["write_pin"].value
    # Alone, it is asked of what is live.
    alone = covered.run(selection=dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("paid"), "positive")))
    assert alone.success
    assert "published" not in alone.checks["paid.positive"].metadata


def test_what_a_blocking_test_gave_before_the_rows_went_live_is_its_result(covered) -> None:
    check = covered.run().checks["paid.positive"]
    assert check.passed
    assert check.metadata["published"].value is True
    assert check.description == "blocking: passed, before the rows went live"


def test_a_view_tells_of_what_is_live_and_not_of_a_candidate_that_a_test_refused(covered) -> None:
    covered.run()
    covered.write("data/orders.csv", "order_id,country,amount,email\n-1,ES,1.00,\n")
    covered.run()
    key = dg.AssetKey("paid")
    here = Landscape(
        by_name={"paid": frozenset([key])},
        checks={key: tuple(dg.AssetCheckKey(key, n) for n in ("positive", "write_pin"))},
        dbt=frozenset(),
        tests={dg.AssetCheckKey(key, "positive"): ("shop.paid", "positive")},
    )
    seen = seen_in_dagster(covered.instance, here, {key: ("paid",)})
    assert seen.tests == ()
    assert [(c.check, c.outcome, c.weight) for c in seen.checks] == [("write_pin", "failed", "degrading")]


def test_tests_run_alone_and_compute_nothing(covered) -> None:
    covered.run()
    only = dg.AssetSelection.checks(*(dg.AssetCheckKey(dg.AssetKey("paid"), n) for n in ("many", "freshness")))
    run = covered.run(selection=only)
    assert run.success, run.failure
    assert run.made == {}
    assert told(run) == {"many": (True, "WARN"), "freshness": (True, "WARN")}


def test_every_test_is_told_where_the_model_was_refused_and_asked_of_what_is_live(covered, bad_orders) -> None:
    covered.run()
    covered.write("data/orders.csv", bad_orders)
    run = covered.run()
    assert not run.success
    assert told(run)["positive"] == (True, "WARN")
    assert set(told(run)) == {*TESTS, "write_pin", "last_known_good", "freshness"}


def test_every_test_is_told_where_nothing_was_ever_live(covered, bad_orders) -> None:
    covered.write("data/orders.csv", bad_orders)
    run = covered.run()
    assert {name for name, (passed, _) in told(run).items() if passed} == {"try_out"}
    assert set(told(run)) == {*TESTS, "write_pin", "last_known_good", "freshness"}
    assert "blocking: not run: its rows are out of reach" in run.checks["paid.positive"].description


@pytest.mark.parametrize("broken", ["strata.toml", "contracts/shop/paid/contract.yaml", "models/sales/orders.strata"])
def test_every_test_is_told_and_none_passes_where_a_file_broke_after_loading(covered, broken) -> None:
    covered.run()
    assets = covered.assets()[:2]
    covered.write(broken, "[[[")
    run = covered.run(assets=assets)
    assert not run.success
    assert set(told(run)) == {*TESTS, "write_pin", "last_known_good", "freshness"}
    if broken != "models/sales/orders.strata":
        assert not any(told(run)[name][0] for name in TESTS)


def test_an_op_per_model_tells_its_own_tests(covered) -> None:
    @strata_assets(project=covered.project, op_per_model=True)
    def models(context: dg.AssetExecutionContext, strata: StrataResource):
        yield from strata.apply(context).stream()

    run = covered.run(assets=models)
    assert run.success, run.failure
    assert set(told(run)) == {*TESTS, "write_pin", "last_known_good", "freshness"}


def test_two_products_may_have_tests_of_one_name(covered) -> None:
    covered.write("contracts/shop/more/contract.yaml", CONTRACT.replace("shop.paid", "shop.more"))
    names = {c.name for c in covered.assets()[0].check_specs if c.asset_key.path == ["paid"]}
    assert {"shop_paid__many", "shop_more__many", "freshness"} <= names
    assert "many" not in names


def test_a_freshness_of_runs_is_the_policy_of_the_asset(covered) -> None:
    spec = covered.assets()[0].specs_by_key[dg.AssetKey("paid")]
    assert spec.freshness_policy.fail_window.to_timedelta().total_seconds() == 86_400
    assert covered.assets()[0].specs_by_key[dg.AssetKey("rate")].freshness_policy is None


@pytest.mark.parametrize(
    ("age", "seconds", "told"),
    [
        ("1min", 60, ": the freshness policy goes on counting."),
        (
            "59s",
            None,
            ", and nothing goes on counting: Dagster's freshness policies are of a minute at least.",
        ),
    ],
)
def test_a_freshness_of_less_than_a_minute_is_a_check_alone_and_says_so(covered, age, seconds, told) -> None:
    covered.edit("contracts/shop/paid/contract.yaml", "max_age: 1d", f"max_age: {age}")
    models = covered.assets()[0]
    policy = models.specs_by_key[dg.AssetKey("paid")].freshness_policy
    assert (policy and policy.fail_window.to_timedelta().total_seconds()) == seconds
    (check,) = (c for c in models.check_specs if c.name == "freshness")
    assert check.description.endswith(
        f"as the contract of `shop.paid` promises. Its age is that of the last execution{told}"
    )
    assert covered.run().success


def test_seed0_s5c_a_contract_that_cannot_be_read_is_told_in_the_runs_log_and_what_was_promoted_refuses(
    covered,
) -> None:
    def log() -> str:
        runs = covered.instance.get_runs()
        return "\n".join(e.user_message for e in covered.instance.all_logs(runs[0].run_id))

    contract = CONTRACT.replace("0.1.0", "1.0.0").replace("draft", "active").replace("restricted", "pii")
    setting = open_setting(covered.root)
    covered.write("contracts/shop/paid/contract.yaml", contract[:60])
    assert covered.run().success
    assert "warning[E143]: `contracts/shop/paid/contract.yaml` is part of no contract" in log()
    covered.write("contracts/shop/paid/contract.yaml", contract)
    by = Provenance("ana", "c0ffee", "0.1.0", datetime(2026, 11, 30, tzinfo=UTC))
    publish(prepare(examine(setting), (), Observations(), by), TARGETS, covered.root / "out")
    covered.write("contracts/shop/paid/contract.yaml", contract[:60])
    covered.write("data/orders.csv", "order_id,country,amount,email\n-1,ES,1.00,\n")
    run = covered.run()
    assert not run.success
    assert (
        "E144 the blocking test `positive` of `shop.paid` was promoted, and its contract cannot be read" in run.failure
    )
    assert told(run)["write_pin"] == (False, "ERROR")
    assert len(covered.live("paid")) == 3


def test_no_event_of_a_run_shows_a_value_of_a_classified_column(covered) -> None:
    secrets = "order_id,country,amount,email\n-1,ES,1.00,secret-1@x\n1,FR,2.00,secret-2@x\n500,MX,2.00,secret-3@x\n"
    covered.write("data/orders.csv", secrets)
    covered.run()
    covered.write("data/orders.csv", secrets.replace("FR", "MX"))
    covered.run()
    entries = [e for record in covered.instance.get_runs() for e in covered.instance.all_logs(record.run_id)]
    assert len(entries) > 50
    assert [e for e in entries if "secret-" in repr(e)] == []
