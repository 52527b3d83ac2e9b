"""What cannot be used as a contract says nothing of its blocking tests: they fail closed where they are known, and it
is told where they are not (Seed 0 §5 C)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from strata_core.cli.verbs import strata
from strata_core.contract_engine.pin.blocking import blocking_tests
from strata_core.planning.project import open_project

from .pinned import CONTRACT, GOOD, LIVE, NEGATIVE, PLACE, TESTS, applied, contract, laid_out, promoted, statuses
from .projects import write

CUT = 'apiVersion: strata/v0\nid: "shop.pa\n'
"""YAML that ends in the middle."""
REFUSED = {"paid": "violated", "totals": "skipped", "people_of": "computed"}
run: Callable[[list[str]], Result] = partial(CliRunner().invoke, strata, standalone_mode=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path, TESTS[0] | {"asset": "paid"}, text=LIVE)


def told(root: Path) -> list[str]:
    """The E143 of files and the E144 of tests, as code, place and message."""
    found = blocking_tests(open_project(project=root), "prod", {"paid", "totals", "people_of"})
    return [f"{d.code} {d.span}: {d.message}" for d in (*found.unread, *found.refused)]


NOT_READ = f"`{PLACE}` is part of no contract: blocking tests in it are not asked"


def test_seed0_s5c_what_was_promoted_refuses_rows_while_its_contract_cannot_be_read(root: Path) -> None:
    promoted(root)
    write(root, {PLACE: CUT})
    assert told(root) == [
        f"E143 {PLACE}:3:1: {NOT_READ}",
        f"E144 {PLACE}:3:1: the blocking test `positive` of `shop.paid` was promoted, and its contract cannot be read",
    ]
    first = applied(root, publish="each")
    assert statuses(first) == REFUSED
    (finding,) = first.results["paid"].violations
    assert finding.notes[0].startswith("E101 ")
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"}, text=LIVE)})
    assert statuses(applied(root)) == {"paid": "reused", "totals": "computed", "people_of": "fresh"}


@pytest.mark.parametrize(
    "text", ["", CUT, "- a\n- list\n", "id: 7\n", LIVE.replace("id: shop.paid\n", ""), b"\xff\xfe\x00"]
)
def test_whatever_keeps_a_contract_from_being_read_is_told(root: Path, text: str | bytes) -> None:
    write(root, {PLACE: text})
    assert [line.partition(":")[0] for line in told(root)] == [f"E143 {PLACE}"]
    assert statuses(applied(root)) == {"paid": "computed", "totals": "computed", "people_of": "computed"}
    shutil.rmtree(root / ".strata")
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"}, text=LIVE)})
    promoted(root)
    write(root, {PLACE: text})
    assert statuses(applied(root, publish="each")) == REFUSED


def test_a_file_that_nobody_may_read_or_a_link_out_of_the_project_is_told(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    promoted(root)
    away = tmp_path_factory.mktemp("away") / "contract.yaml"
    (root / PLACE).rename(away)
    (root / PLACE).symlink_to(away)
    assert [line.partition(": ")[0] for line in told(root)] == [f"E143 {PLACE}:1:1", f"E144 {PLACE}:1:1"]


def test_a_contract_of_another_shape_refuses_by_the_tests_that_its_text_has(root: Path) -> None:
    text = contract(TESTS[0] | {"asset": "paid"}, {"id": "two", "kindd": "sql"}, text=CONTRACT)
    write(root, {PLACE: text})
    assert told(root)[1:] == [
        f"E144 {PLACE}:15:5: the blocking test `positive` of `shop.paid` cannot be asked: "
        "its contract does not pass validation"
    ]
    assert statuses(applied(root, publish="each")) == REFUSED


def test_a_blocking_test_that_was_taken_away_without_leave_still_refuses(root: Path) -> None:
    promoted(root)
    write(root, {PLACE: contract(TESTS[2], text=LIVE)})
    assert told(root) == [
        f"E144 {PLACE}:1:1: the blocking test `positive` of `shop.paid` was promoted, and its contract does not pass "
        "validation"
    ]
    assert statuses(applied(root, publish="each")) == REFUSED


def test_a_live_product_without_a_contract_refuses_until_it_is_retired(root: Path) -> None:
    promoted(root)
    (root / PLACE).unlink()
    assert told(root) == [
        "E144 contracts/.promotions/00000000000000000001.json:1:1: the blocking test `positive` of `shop.paid` was "
        "promoted, and its contract is gone, though 1.0.0 is live"
    ]
    assert statuses(applied(root, publish="each")) == REFUSED


@pytest.mark.parametrize(("old", "new"), [("1.0.0", "0.9.0"), ("active", "retired")])
def test_a_draft_or_a_retired_product_may_go_and_its_tests_go_with_it(root: Path, old: str, new: str) -> None:
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"}, text=LIVE.replace(old, new))})
    promoted(root)
    (root / PLACE).unlink()
    assert told(root) == []


def test_a_draft_that_cannot_be_read_is_not_one_that_is_gone(root: Path) -> None:
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"})})
    promoted(root)
    write(root, {PLACE: CUT})
    assert [line[:4] for line in told(root)] == ["E143", "E144"]
    # Another one that cannot be read says nothing of it; one at a place that is nobody's may be it.
    (root / PLACE).unlink()
    write(root, {"contracts/shop/people/contract.yaml": CUT})
    assert [line[:4] for line in told(root)] == ["E143", "E144"]


def test_a_second_contract_of_a_product_is_told(root: Path) -> None:
    promoted(root)
    write(root, {"contracts/a/contract.yaml": contract(TESTS[2], text=LIVE)})
    assert [line.partition(":")[0] for line in told(root)] == [f"E143 {PLACE}", f"E144 {'contracts/a/contract.yaml'}"]


def test_tests_of_a_fragment_that_cannot_be_read_refuse_where_they_were_promoted(root: Path) -> None:
    beside = "models/paid.contract.yaml"
    fragment = f"product: shop.paid\nasset: paid\ntests:\n  - {json.dumps(TESTS[0] | {'asset': 'paid'})}\n"
    write(root, {PLACE: LIVE.replace("1.0.0", "0.9.0"), beside: fragment})
    assert told(root) == []
    promoted(root)
    write(root, {PLACE: LIVE.replace("1.0.0", "0.10.0")})
    for text in (fragment.replace("shop.paid", "shop.payd"), 'product: "shop'):
        write(root, {beside: text})
        assert [line.partition(":")[0] for line in told(root)] == [f"E143 {beside}", f"E144 {beside}"]
        assert statuses(applied(root, publish="each")) | {"people_of": "computed"} == REFUSED
    (root / beside).unlink()
    assert told(root) == []


def test_a_contract_whose_other_product_is_at_fault_is_not_held_against_its_own_rows(root: Path) -> None:
    people = CONTRACT.replace("shop.paid", "shop.people").replace(
        "ref: people_of", "ref: people_of, columns: [{nam: 1}]"
    )
    other = TESTS[1] | {"expectation": TESTS[1]["expectation"] | {"to": ["shop.people/customers.customer"]}}
    write(root, {"contracts/shop/people/contract.yaml": people, PLACE: contract(other, text=CONTRACT)})
    outcome = applied(root, publish="each")
    assert statuses(outcome) == REFUSED
    assert "does not pass validation" in outcome.results["paid"].violations[0].message


@pytest.mark.parametrize("named", ["customers.name", "shop.paid/customers.name"])
def test_an_asset_of_its_own_product_that_a_test_looks_into_is_refused_however_it_is_named(
    tmp_path: Path, named: str
) -> None:
    test = TESTS[1] | {"expectation": {"type": "referential", "columns": ["customer"], "to": [named]}}
    root = laid_out(tmp_path, test, text=LIVE)
    promoted(root)
    write(root, {PLACE: CUT})
    found = blocking_tests(open_project(project=root), "prod", {"people_of"})
    assert [d.code for d in found.refused] == ["E144"]


def test_plan_apply_and_promote_tell_of_what_they_cannot_ask(root: Path) -> None:
    here = ["--project", str(root)]
    run(["apply", "--env", "pr_1", *here])
    write(root, {PLACE: CUT})
    warning = f"warning[E143]: {NOT_READ}"
    for verb in (["plan"], ["apply"], ["promote", "pr_1", "other", "--dry-run"]):
        result = run([*verb, *here])
        assert result.return_value == 0
        assert warning in result.stderr
        assert f"--> {PLACE}:3:1" in result.stderr
    write(root, {PLACE: contract(TESTS[0] | {"asset": "paid"}, text=LIVE)})
    promoted(root)
    write(root, {PLACE: CUT, "data/orders.csv": NEGATIVE})
    planned, applied_, promoting = (run([*v, *here]) for v in (["plan"], ["apply"], ["promote", "pr_1", "other"]))
    assert [r.return_value for r in (planned, applied_, promoting)] == [1, 3, 1]
    for result in (planned, applied_, promoting):
        assert "error[E144]: the blocking test `positive` of `shop.paid` was promoted" in result.stderr
    plan = json.loads(run(["plan", "--format", "json", *here]).stdout)
    assert [lint["code"] for lint in plan["lints"]] == ["E143"]
    assert "version 1 stays live" in applied_.stdout


def test_a_promotion_tells_of_a_test_that_it_could_not_ask(root: Path) -> None:
    away = LIVE.replace("kind: strata_model, ref: people_of", "kind: table, location: data/away.parquet")
    write(root, {PLACE: contract(TESTS[1], text=away)})
    here = ["--project", str(root)]
    run(["apply", "--env", "pr_1", *here])
    result = run(["promote", "pr_1", "prod", *here])
    assert result.return_value == 0
    assert "warning[E143]: the blocking test `known` of `shop.paid` could not be asked" in result.stderr


def test_what_is_not_stale_is_not_asked_and_nothing_is_told(root: Path) -> None:
    applied(root)
    write(root, {PLACE: CUT})
    assert "E143" not in run(["apply", "--project", str(root)]).stderr
    write(root, {"data/orders.csv": GOOD.replace("1.00", "7.00")})
    assert "E143" in run(["apply", "--project", str(root)]).stderr


def test_of_two_tests_of_one_name_nobody_knows_which_is_meant(root: Path) -> None:
    once, again = TESTS[0] | {"asset": "paid"}, TESTS[0] | {"asset": "paid", "sql": "select * from paid where false"}
    write(root, {PLACE: contract(again, once)})
    assert [line[-70:] for line in told(root)] == [
        "`positive` of `shop.paid` cannot be asked: its contract does not pass validation"[-70:]
    ]
    assert statuses(applied(root, publish="each")) == REFUSED


def test_an_asset_that_is_to_be_a_model_and_is_none_is_told(root: Path) -> None:
    misspelt = CONTRACT.replace("{id: paid, kind", "{id: paid, ref: Paid, kind")
    write(root, {PLACE: contract(TESTS[0], text=misspelt)})
    assert told(root) == [
        f"E143 {PLACE}:11:21: `Paid` is no model of this project: blocking tests of `shop.paid` are not asked of it"
    ]
    result = run(["apply", "--project", str(root)])
    assert "help: did you mean `paid`?" in result.stderr
    write(root, {PLACE: contract(TESTS[2], text=misspelt)})
    assert told(root) == []
    elsewhere = misspelt.replace("ref: Paid,", "location: data/orders.csv,")
    write(root, {PLACE: contract(TESTS[0], text=elsewhere)})
    assert told(root) == []


def test_a_folder_of_contracts_that_is_not_there_is_told_where_strata_toml_names_it(root: Path) -> None:
    write(root, {"strata.toml": '[project]\nname = "shop"\ncontracts = ["contracts", "contractz"]\n'})
    assert told(root) == [
        "E143 strata.toml:3:1: there is no folder `contractz`: blocking tests of contracts in it are not asked"
    ]
    write(root, {"strata.toml": '[project]\nname = "shop"\ncontracts = ["contractz"]\n'})
    assert [line[:4] for line in told(root)] == ["E143"]
    shutil.rmtree(root / "contracts")
    write(root, {"strata.toml": '[project]\nname = "shop"\n'})
    assert told(root) == []


def test_a_promotion_record_that_is_damaged_is_told(root: Path) -> None:
    promoted(root)
    next((root / "contracts/.promotions").glob("*.json")).write_text("{")
    assert told(root)[0].partition(": ")[2].startswith("what was promoted is not known: ")
