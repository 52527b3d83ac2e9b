"""`strata test`: expectations of `test` blocks on what is published."""

from __future__ import annotations

import re

SECONDS = re.compile(r"\(\d+\.\d\d s\)")
TESTS = """\
test paid {
  expect row_count > 1
  expect id in sales.id
  expect amount > cast(3, "money(EUR)")
}
test totals { expect country in paid.country }
"""


def test_expectations_that_hold_and_one_that_does_not(cli):
    cli.write("models/tests.strata", TESTS)
    assert cli("apply").code == 0
    ran = cli("test")
    assert (ran.code, SECONDS.sub("(_)", ran.err)) == (3, "4 expectations of 2 models: 1 broken (_)\n")
    assert (
        ran.out
        == """\
error[E086]: a row breaks this expectation of `paid`
 --> models/tests.strata:4:3
  |
4 |   expect amount > cast(3, "money(EUR)")
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = note: for instance id = 2, country = MX, amount = 2.50
  = help: mend the model or its data, or expect what is meant

"""
    )


def test_a_model_alone(cli):
    cli.write("models/tests.strata", TESTS)
    cli("apply")
    ran = cli("test", "totals")
    assert (ran.code, ran.out, SECONDS.sub("(_)", ran.err)) == (0, "", "1 expectation of 1 model: 0 broken (_)\n")


def test_as_json(cli):
    cli.write("models/tests.strata", TESTS)
    cli("apply")
    ran = cli("test", "--format", "json", "paid")
    assert ran.code == 3
    assert [(t["model"], t["line"], t["broken"]) for t in ran.document] == [
        ("paid", 2, 0),
        ("paid", 3, 0),
        ("paid", 4, 1),
    ]
    assert ran.document[2]["message"] == "a row breaks this expectation of `paid`"


def test_the_whole_table(cli):
    cli.write("models/tests.strata", "test paid { expect row_count == 0 }")
    cli("apply")
    ran = cli("test")
    assert (ran.code, ran.out.splitlines()[0]) == (3, "error[E086]: the table `paid` breaks this")


def test_values_that_a_contract_hides_are_not_shown(cli):
    cli.edit(
        "models/paid.strata", "  country: string nonnull", '  country: string nonnull classification: "pii" mask: hash'
    )
    cli.write("models/tests.strata", TESTS)
    assert cli("apply").code == 0
    ran = cli("test", "paid")
    assert "country = ‹masked›" in ran.out
    assert "MX" not in ran.out


def test_what_is_not_published_or_not_there(cli):
    cli.write("models/tests.strata", TESTS)
    ran = cli("test")
    assert (ran.code, ran.clean) == (2, True)
    assert "E095" in ran.err
    ran = cli("test", "nothing")
    assert (ran.code, ran.clean) == (2, True)
    assert "E027" in ran.err


def test_a_table_that_was_published_with_other_columns(cli):
    cli.write("models/tests.strata", TESTS)
    cli("apply")
    cli.edit("models/totals.strata", "total: money(EUR) nonnull\n", "total: money(EUR) nonnull\n  n: int64\n")
    cli.edit("models/totals.strata", "total = sum(amount)", "total = sum(amount), n = count()")
    ran = cli("test", "totals")
    assert ran.code == 2
    assert "`totals` is published with other columns than it has now" in ran.err


def test_a_project_that_is_not_sound(cli):
    cli.write("models/tests.strata", "test paid { expect amuont > 0 }")
    ran = cli("test")
    assert ran.code == 1
    assert "E021" in ran.err


def test_no_expectations(cli):
    cli("apply")
    ran = cli("test")
    assert (ran.code, SECONDS.sub("(_)", ran.err)) == (0, "0 expectations of 0 models: 0 broken (_)\n")
