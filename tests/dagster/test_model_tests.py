"""`test` blocks as checks of models: unit tests without data, expectations of what is live."""

# Without postponed annotations: Dagster compares those of an op with types.

import dagster as dg
import pytest

TESTS = """
test by_country "adds up" {
  given paid {
    | order_id | country | amount |
    | 1        | ES      | 1.50   |
    | 2        | ES      | 2.50   |
  }
  expect {
    | country | orders | total |
    | ES      | 2      | 4.00  |
  }
}
test by_country {
  expect orders >= 1
  expect row_count == 2
}
"""
ALONE = dg.AssetSelection.checks(*(dg.AssetCheckKey(dg.AssetKey("by_country"), n) for n in ("unit_tests",)))


@pytest.fixture
def tested(shop):
    shop.write("models/sales/tests.strata", TESTS)
    return shop


def told(run) -> dict[str, tuple[bool, str]]:
    checks = {name.partition(".")[2]: c for name, c in run.checks.items() if name.startswith("by_country.")}
    return {name: (c.passed, c.severity.value) for name, c in checks.items()}


def test_a_model_with_test_blocks_has_a_check_of_each_kind(tested) -> None:
    specs = {s.name: s for s in tested.assets()[0].check_specs if s.asset_key.path == ["by_country"]}
    assert set(specs) == {"write_pin", "last_known_good", "unit_tests", "expectations"}
    assert not specs["unit_tests"].blocking
    assert specs["unit_tests"].description == (
        "1 unit test: rows in, rows out, without any data. A failure keeps nothing from going live."
    )
    assert specs["expectations"].description == "2 expectations of `test` blocks, asked of what is live."
    assert {s.name for s in tested.assets()[0].check_specs if s.asset_key.path == ["paid"]} == {
        "write_pin",
        "last_known_good",
    }


def test_unit_tests_run_alone_without_data_or_store(tested) -> None:
    (tested.root / "data/orders.csv").unlink()
    run = tested.run(selection=ALONE)
    assert run.success, run.failure
    assert run.checks["by_country.unit_tests"].description == "1 unit test passed"
    assert told(run) == {"unit_tests": (True, "ERROR")}
    assert not (tested.root / ".strata/store").exists()


def test_a_failing_unit_test_is_shown_with_its_rows_and_keeps_nothing_from_going_live(tested) -> None:
    tested.edit("models/sales/tests.strata", "4.00", "5.00")
    run = tested.run()
    assert run.success, run.failure
    assert "by_country" in run.made
    check = run.checks["by_country.unit_tests"]
    assert (check.passed, check.metadata["asked"].value, check.metadata["failed"].value) == (False, 1, 1)
    assert check.description.startswith("1 of 1 unit test failed: E089 `by_country` fails 'adds up'")
    assert '- | "ES"    | 2      | 5.00  |' in check.metadata["findings"].value
    assert told(run)["expectations"] == (True, "ERROR")


def test_where_they_block_a_model_that_fails_them_is_not_applied_nor_what_reads_it(tested) -> None:
    tested.options = {"block_on_unit_tests": True}
    tested.run()
    tested.write(
        "models/sales/tests.strata",
        'test paid "free" {\n  given orders {\n    | order_id | country |\n    | 1 | ES |\n  }\n'
        "  expect {\n    | order_id | country |\n    | 2 | ES |\n  }\n}\n",
    )
    tested.edit("models/sales/orders.strata", "orders = count()", "orders = count() + 1")
    before = tested.live("by_country")
    run = tested.run()
    assert not run.success
    assert set(run.made) == {"rate"}
    assert "unit tests fail: paid" in run.failure
    assert run.checks["paid.unit_tests"].blocking
    assert run.verdicts["paid"] == run.verdicts["by_country"] == (False, "ERROR")
    assert tested.live("by_country") == before


def test_an_expectation_that_does_not_hold_fails_its_check_and_no_more(tested) -> None:
    tested.edit("models/sales/tests.strata", "row_count == 2", "row_count == 3")
    run = tested.run()
    assert run.success, run.failure
    assert told(run)["expectations"] == (False, "ERROR")
    assert run.checks["by_country.expectations"].description.startswith("1 of 2 expectations failed: E086 the table")


@pytest.mark.parametrize("broken", ["strata.toml", "models/sales/orders.strata"])
def test_both_are_told_where_a_file_broke_after_loading(tested, broken) -> None:
    assets = tested.assets()[:2]
    tested.write(broken, "[[[")
    run = tested.run(assets=assets)
    assert not run.success
    assert {n: told(run)[n] for n in ("unit_tests", "expectations")} == {
        "unit_tests": (False, "WARN"),
        "expectations": (False, "WARN"),
    }
