"""`strata test` with unit tests: no data, no store, and beside the data tests."""

from __future__ import annotations

import re

import pytest

SECONDS = re.compile(r"\(\d+\.\d\d s\)")
UNIT = """\
test paid "drops free sales" {
  given sales {
    | id | country | amount |
    | 1  | ES      | 2.00   |
    | 2  | ES      | 0      |
  }
  expect {
    | id | amount |
    | 1  | 2      |
  }
}
"""


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb"), ("--unit",)])
def test_a_unit_test_needs_no_data_and_no_store(cli, engine):
    cli.write("models/tests.strata", UNIT)
    (cli.root / "sales.csv").unlink()
    ran = cli("test", *engine)
    assert (ran.code, ran.out, SECONDS.sub("(_)", ran.err)) == (0, "", "1 unit test of 1 model: 0 failed (_)\n")
    assert not (cli.root / ".strata").exists()


def test_one_that_fails(cli):
    cli.write("models/tests.strata", UNIT.replace("| 1  | 2      |", "| 1  | 3      |"))
    ran = cli("test")
    assert (ran.code, SECONDS.sub("(_)", ran.err)) == (3, "1 unit test of 1 model: 1 failed (_)\n")
    assert (
        ran.out
        == """\
error[E089]: `paid` fails 'drops free sales': 1 row is missing and 1 row is not expected
  --> models/tests.strata:7:10
   |
 7 |     expect {
   |  __________^
 8 | |     | id | amount |
 9 | |     | 1  | 3      |
10 | |   }
   | |___^
   |
   = note:   | id | amount |
   = note: - | 1  | 3.00   |
   = note: + | 1  | 2.00   |
   = help: mend the model, or expect what it should make (`-` is expected and missing, `+` is made and not expected)

"""
    )


def test_they_keep_a_model_and_its_readers_from_being_applied_where_that_is_asked_for(cli):
    cli.write("models/tests.strata", UNIT.replace("| 1  | 2      |", "| 1  | 3      |"))
    cli.edit("models/paid.strata", "model paid", "model other { from sales }\nmodel paid")
    ran = cli("apply", "--block-on-unit-tests")
    assert (ran.code, ran.out) == (3, "prod: version 1 is live (1 computed)\n")
    assert "error[E089]: `paid` fails 'drops free sales'" in ran.err
    document = cli("apply", "--block-on-unit-tests", "--format", "json").document
    assert (document["published"], [d["code"] for d in document["diagnostics"]]) == ([], ["E089"])
    cli.write("models/tests.strata", UNIT)
    ran = cli("apply", "--block-on-unit-tests")
    assert (ran.code, ran.out) == (0, "prod: version 2 is live (1 fresh, 2 computed)\n")


def test_beside_data_tests(cli):
    cli.write("models/tests.strata", UNIT + "test paid { expect row_count > 1 }")
    ran = cli("test")
    assert (ran.code, ran.clean) == (2, True)
    assert "E095" in ran.err
    assert "1 unit test of 1 model: 0 failed" in ran.err
    assert cli("test", "--unit").code == 0
    cli("apply")
    ran = cli("test", "--format", "json")
    assert ran.code == 0
    assert [(t["kind"], t["model"], t["title"], t["broken"]) for t in ran.document] == [
        ("unit", "paid", "drops free sales", 0),
        ("expectation", "paid", "", 0),
    ]


def test_a_cell_that_is_not_valid_is_found_by_check(cli):
    cli.write("models/tests.strata", UNIT.replace("| 1  | ES      | 2.00   |", "| 1  | FR      | 2.005  |"))
    ran = cli("check")
    assert ran.code == 1
    assert ran.out.count("error[E074]") == 2
    assert cli("test").code == 1
