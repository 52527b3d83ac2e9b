"""Blocking tests of products as part of the write pin of Strata's models (Seed 0 §5 C; Seed 2, "Evaluate Tests")."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.contract_engine.governed import governed_promotion
from strata_core.contract_engine.pin.blocking import blocking_tests
from strata_core.diagnostics import StrataError
from strata_core.planning.applying.blocking_tests import NO_TESTS
from strata_core.planning.applying.results import Finished, Outcome
from strata_core.planning.project import open_project
from strata_core.planning.workspace import open_workspace

from .pinned import (
    CONTRACT,
    GOOD,
    NEGATIVE,
    PEOPLE,
    PLACE,
    TESTS,
    UNKNOWN,
    applied,
    contract,
    events,
    laid_out,
    statuses,
    verdicts,
)
from .projects import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


def test_seed0_s5c_rows_that_break_a_blocking_test_never_go_live_and_nothing_is_built_on_them(root: Path) -> None:
    first = applied(root)
    assert verdicts(first) == [("positive", "passed", 0), ("known", "passed", 0)]
    write(root, {"data/orders.csv": NEGATIVE})
    outcome = applied(root)
    assert statuses(outcome) == {"paid": "violated", "totals": "skipped", "people_of": "fresh"}
    assert outcome.version == first.version
    (finding,) = outcome.results["paid"].violations
    assert (finding.code, str(finding.span)) == ("E144", f"{PLACE}:14:12")
    assert finding.message == (
        "the blocking test `positive` of `shop.paid` does not hold: a row is wrong, for instance "
        "amount = -2.00, customer = bob, email = ‹masked›, order_id = 2"
    )


def test_only_blocking_tests_are_asked_and_only_of_what_is_stale(root: Path) -> None:
    applied(root)
    assert verdicts(applied(root)) == []
    write(root, {"data/people.csv": PEOPLE + "eve,FR\n"})
    assert verdicts(applied(root)) == [("known", "passed", 0)]


def test_tables_that_are_published_together_stand_in_for_one_another(root: Path) -> None:
    applied(root)
    write(root, {"data/orders.csv": UNKNOWN})
    assert statuses(applied(root))["paid"] == "violated"
    write(root, {"data/people.csv": PEOPLE.replace("bob", "eve")})
    outcome = applied(root)
    # Nothing is computed twice: what a test refused is there, and is asked again.
    assert statuses(outcome) == {"paid": "reused", "totals": "computed", "people_of": "computed"}
    assert verdicts(outcome) == [("positive", "passed", 0), ("known", "passed", 0)]


def test_a_table_that_others_look_in_is_refused_where_it_loses_what_they_need(root: Path) -> None:
    applied(root)
    write(root, {"data/people.csv": "name,country\nann,ES\n"})
    outcome = applied(root)
    assert statuses(outcome) == {"paid": "fresh", "totals": "fresh", "people_of": "violated"}
    assert "`known`" in outcome.results["people_of"].violations[0].message


def test_where_each_is_published_by_itself_the_others_are_what_is_live(root: Path) -> None:
    first = applied(root, publish="each")
    assert statuses(first) == {"paid": "computed", "totals": "computed", "people_of": "computed"}
    # `paid` is asked for customers only when there are some.
    assert verdicts(first) == [("positive", "passed", 0), ("known", "passed", 0)]
    assert [t.test for t in first.results["people_of"].tests] == ["known"]
    write(root, {"data/orders.csv": UNKNOWN, "data/people.csv": PEOPLE + "eve,FR\n"})
    outcome = applied(root, publish="each")
    assert statuses(outcome) == {"paid": "violated", "totals": "skipped", "people_of": "computed"}
    assert outcome.published == {"people_of"}
    assert statuses(applied(root, publish="each")) == {"paid": "reused", "totals": "computed", "people_of": "fresh"}


def test_a_test_of_another_product_refuses_nothing_of_this_one(root: Path) -> None:
    own = contract(
        text=CONTRACT.replace("shop.paid", "shop.people").replace("  - {id: paid, kind: strata_model, ", "X")
    )
    own = "\n".join(line for line in own.splitlines() if not line.startswith("X") and line != "tests:")
    foreign = TESTS[1] | {"expectation": TESTS[1]["expectation"] | {"to": ["shop.people/customers.name"]}}
    without = CONTRACT.replace("  - {id: customers, kind: strata_model, ref: people_of}\n", "")
    write(root, {"contracts/shop/people/contract.yaml": own, PLACE: contract(foreign, text=without)})
    assert verdicts(applied(root)) == [("known", "passed", 0)]
    write(root, {"data/people.csv": "name,country\nann,ES\n"})
    assert statuses(applied(root))["people_of"] == "computed"
    write(root, {"data/orders.csv": GOOD.replace("2.00", "3.00")})
    assert statuses(applied(root))["paid"] == "violated"


def test_a_contract_at_fault_refuses_what_its_blocking_tests_read_and_nothing_else(root: Path) -> None:
    fault = {"id": "bad", "kind": "sql", "severity": "degrading", "sql": "drop table paid"}
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"}, fault)})
    outcome = applied(root, publish="each")
    assert statuses(outcome) == {"paid": "violated", "totals": "skipped", "people_of": "computed"}
    (finding,) = outcome.results["paid"].violations
    assert finding.message == (
        "the blocking test `positive` of `shop.paid` cannot be asked: its contract does not pass validation"
    )
    assert finding.notes[0].startswith("E140 ")


@pytest.mark.parametrize(("level", "status"), [("warning", "computed"), ("error", "violated")])
def test_a_test_that_cannot_be_asked_warns_or_blocks_as_is_configured(root: Path, level: str, status: str) -> None:
    there = CONTRACT.replace("kind: strata_model, ref: people_of", "kind: table, location: data/away.parquet")
    config = f'[project]\nname = "shop"\n[contract_engine]\nunsupported_executors = "{level}"\n'
    write(root, {PLACE: contract(TESTS[1], text=there), "strata.toml": config})
    outcome = applied(root, "paid")
    assert statuses(outcome) == {"paid": status}
    (told,) = outcome.results["paid"].tests
    assert (told.outcome, told.finding and told.finding.code) == ("not_run", "E143")
    assert len(outcome.results["paid"].unasked) == (level == "warning")


def test_a_promotion_asks_them_of_what_would_go_live(root: Path) -> None:
    applied(root)
    write(root, {PLACE: contract(), "data/orders.csv": NEGATIVE})
    applied(root, environment="pr_1")
    write(root, {PLACE: contract(*TESTS)})
    project = open_project(project=root)
    promotion = governed_promotion(open_workspace(project, "prod"), "pr_1")
    assert [d.code for d in promotion.plan.conflicts] == ["E144"]


def test_rows_that_were_judged_beside_others_are_not_published_beside_newer_ones(root: Path) -> None:
    applied(root)
    write(root, {"data/orders.csv": GOOD.replace("1.00", "3.00")})
    slow = events(root, "paid")
    assert any(isinstance(event, Finished) for event in slow)
    # Meanwhile, and allowed beside the `paid` that is live.
    write(root, {PLACE: contract(), "data/people.csv": "name,country\nann,ES\n"})
    applied(root, "people_of")
    with pytest.raises(StrataError, match="E093"):
        list(slow)


def test_partitions_of_time_are_refused_with_the_table_that_they_would_change(root: Path) -> None:
    models = """\
source sales(csv: "data/sales.csv") { columns: { id: int64 nonnull primary_key, day: date nonnull, amount: int64 } }
model paid { from sales partition_by: [day] partition_start: "2026-01-01" }
"""
    rows = "id,day,amount\n1,2026-01-01,5\n2,2026-01-02,6\n"
    asked = contract(TESTS[0], text=CONTRACT.replace("order_id", "id").replace("customers", "others"))
    write(root, {"models/shop.strata": models, "data/sales.csv": rows, PLACE: asked})
    first = applied(root, publish="each")
    write(root, {"data/sales.csv": rows + "3,2026-01-03,-7\n"})
    outcome = applied(root, publish="each")
    assert statuses(outcome) == {"paid": "violated"}
    assert outcome.version.number == first.version.number
    assert {str(p.status) for p in outcome.results["paid"].pieces.values()} == {"violated"}


def test_a_project_without_blocking_tests_asks_for_nothing(root: Path) -> None:
    project = open_project(project=root)
    assert [t.id for t in blocking_tests(project, "prod", {"paid"}).tests] == ["positive", "known"]
    assert [t.id for t in blocking_tests(project, "prod", {"people_of"}).tests] == ["known"]
    assert blocking_tests(project, "prod", {"totals"}) is NO_TESTS
    write(root, {PLACE: contract(TESTS[2])})
    assert blocking_tests(project, "prod", {"paid"}) is NO_TESTS


def test_plan_and_apply_tell_of_them(root: Path) -> None:
    run = partial(CliRunner().invoke, strata, standalone_mode=False)
    planned = run(["plan", "--project", str(root)])
    assert "blocking tests of shop.paid, before it goes live: positive, known" in planned.stdout
    plan = json.loads(run(["plan", "--project", str(root), "--format", "json"]).stdout)
    assert plan["models"][0]["tests"] == [{"product": "shop.paid", "test": id_} for id_ in ("positive", "known")]
    write(root, {"data/orders.csv": NEGATIVE})
    result = run(["apply", "--project", str(root)])
    assert result.return_value == 3
    assert f"--> {PLACE}:14:12" in result.stderr
    assert "secret-" not in result.output
    told = json.loads(run(["apply", "--project", str(root), "--format", "json"]).stdout)["models"][0]
    assert (told["status"], told["tests"][0]["test"], told["tests"][0]["offenders"]) == ("violated", "positive", 1)
    assert {"file": PLACE, "line": 14, "column": 12}.items() <= told["diagnostics"][0]["span"].items()


def test_a_rollback_is_refused_by_none_and_tells_of_those_that_do_not_hold(root: Path) -> None:
    run = partial(CliRunner().invoke, strata, standalone_mode=False)
    write(root, {PLACE: contract(), "data/orders.csv": NEGATIVE})
    applied(root)
    write(root, {PLACE: contract(*TESTS), "data/orders.csv": GOOD})
    applied(root)
    result = run(["rollback", "1", "--project", str(root)])
    assert (result.return_value, result.stdout) == (0, "prod: version 3 is live, with the 3 models of version 1\n")
    assert "warning[E144]: the blocking test `positive` of `shop.paid` does not hold" in result.stderr
    assert f"--> {PLACE}:14:12" in result.stderr
    assert "secret-" not in result.stderr
    assert run(["rollback", "2", "--project", str(root)]).stderr == ""
    assert run(["rollback", "2", "--project", str(root)]).stderr == "", "nothing is asked of what stays live"
    write(root, {PLACE: "id: ["})
    result = run(["rollback", "1", "--project", str(root)])
    assert "version 6 is live" in result.stdout
    assert "warning[E143]" in result.stderr


def test_a_test_of_a_table_that_is_not_there_and_does_not_come_is_told(root: Path) -> None:
    def told(outcome: Outcome) -> list[str]:
        return [d.message for r in outcome.results.values() for d in r.unasked]

    away = "the blocking test `known` of `shop.paid` could not be asked: its rows are out of reach: "
    assert told(applied(root, "paid")) == [f"{away}`people_of` is not published in prod"]
    assert told(applied(root)) == []
    # The model has another name by now, and the contract has not.
    models = (root / "models/shop.strata").read_text()
    write(root, {"models/shop.strata": models.replace("people_of", "citizens")})
    applied(root)
    write(root, {"data/orders.csv": UNKNOWN})
    assert told(applied(root)) == [f"{away}`people_of` is not published in prod"]
    write(root, {"strata.toml": '[project]\nname = "shop"\n[contract_engine]\nunsupported_executors = "error"\n'})
    write(root, {"data/orders.csv": UNKNOWN.replace("1.00", "3.00")})
    assert statuses(applied(root))["paid"] == "violated"
