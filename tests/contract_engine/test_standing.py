"""What is served is refreshed as it stands, and tells whether it may be read (Seed 2, "Runtime Observations")."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from strata_core.cli.contracts.verbs import contract_engine
from strata_core.contract_engine import promotions
from strata_core.contract_engine.observations import Observations, SeenCheck, SeenRun, SeenTest, seen_in_files
from strata_core.contract_engine.pipeline import examine, open_setting
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, prepare, publish, publishing
from strata_core.contract_engine.serving.refresh import KEPT_SECONDS, Refreshed, refresh
from strata_core.contract_engine.serving.standing import served_products, standing
from strata_core.diagnostics import StrataError

from .projects import ORDERS, PLACE, TODAY, checked, write

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TESTED = (
    ORDERS.replace("0.1.0", "1.0.0").replace("draft", "active")
    + "freshness: {max_age: 24h}\n"
    + "tests: [{id: none, kind: sql, severity: blocking, sql: 'select * from orders where amount < 0'}]\n"
    + "agent_permissions: [{agent: chat, actions: [query], purpose: answers, expires: 2026-12-24}]\n"
)
MADE = SeenRun("orders", "r1", "succeeded", "2026-11-30T10:00:00Z", None, "d1", 3)
PASSED = SeenTest("shop.orders", "none", "passed", "2026-11-30T10:00:00Z", 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = checked(tmp_path, {PLACE: TESTED})
    seen = Observations((PASSED,), runs=(MADE,))
    publish(prepare(found, (), seen, Provenance("ana", "c0ffee", "0.1.0", NOW)), TARGETS, tmp_path / "out")
    return tmp_path


def renewed(root: Path, *seen: Any, now: datetime = NOW) -> Refreshed:
    others = Observations(
        tests=tuple(s for s in seen if isinstance(s, SeenTest)),
        runs=(MADE, *(s for s in seen if isinstance(s, SeenRun))),
        checks=tuple(s for s in seen if isinstance(s, SeenCheck)),
    )
    return refresh(examine(open_setting(root, TODAY)), root / "out", lambda: now, "0.1.0", set(), others=lambda: others)


def state(root: Path, now: datetime = NOW, agent: str | None = None) -> tuple[str, bool, list[str]]:
    found = standing(root / "out", "shop.orders", now, agent)
    return found.state, found.readable, [f"{r.code}: {r.message}" for r in found.reasons]


def test_a_refresh_shows_what_was_seen_since_and_promotes_nothing(root: Path) -> None:
    write(root, {PLACE: TESTED.replace("1.0.0", "1.1.0")})
    late = SeenRun("orders", "r2", "succeeded", "2026-11-30T11:00:00Z", None, "d2", 4)
    view = renewed(root, late, now=NOW + timedelta(hours=1)).views["shop.orders"]
    assert (view.version, view.provenance.promotion, view.provenance.projected_at) == (
        "1.0.0",
        1,
        "2026-11-30T13:00:00Z",
    )
    assert [(r.run_id, r.data_version, r.rows) for r in view.latest_runs] == [("r2", "d2", 4)]
    assert promotions.head(root / "contracts/.promotions") == 1


def test_a_test_that_was_not_run_again_keeps_the_result_that_is_served(root: Path) -> None:
    assert [(t.outcome, t.at) for t in renewed(root).views["shop.orders"].tests] == [("passed", PASSED.at)]
    later = SeenTest("shop.orders", "none", "failed", "2026-11-30T11:00:00Z", 2, "2 rows are wrong")
    renewed(root, later)
    assert state(root) == ("blocked", False, ["test-failed: 2 rows are wrong"])
    renewed(root)
    assert state(root)[0] == "blocked"


@pytest.mark.parametrize("broken", ["apiVersion: [", TESTED.replace("int64", "bigint"), None])
def test_a_contract_that_is_broken_by_now_keeps_nobody_from_seeing_how_its_product_stands(
    root: Path, broken: str | None
) -> None:
    if broken is None:
        (root / PLACE).unlink()
    else:
        write(root, {PLACE: broken})
    refused = SeenCheck("orders", "write_pin", "failed", "degrading", "2026-11-30T11:00:00Z", "E081 1 row has a null")
    renewed(root, refused)
    assert state(root) == ("degraded", True, ["check-failed: write_pin failed: E081 1 row has a null"])


def test_a_check_of_what_is_live_blocks_and_a_passed_one_later_makes_it_good(root: Path) -> None:
    lost = SeenCheck("orders", "last_known_good", "failed", "blocking", "2026-11-30T11:00:00Z", "E094")
    renewed(root, lost)
    assert state(root) == ("blocked", False, ["check-failed: last_known_good failed: E094"])
    renewed(root, lost, SeenCheck("orders", "last_known_good", "passed", "blocking", "2026-11-30T11:30:00Z"))
    assert state(root) == ("healthy", True, [])


def test_what_nobody_renews_grows_old_in_the_answer(root: Path) -> None:
    assert state(root) == ("healthy", True, [])
    told = "stale: latest is 2026-11-30T10:00:00Z, and at most 24h old is promised"
    assert state(root, NOW + timedelta(days=1)) == ("degraded", True, [told])


def test_an_agent_may_do_what_the_contract_lets_it_until_that_expires(root: Path) -> None:
    assert standing(root / "out", "shop.orders", NOW, "chat").actions == ("query",)
    assert state(root, agent="spider") == (
        "healthy",
        False,
        ["not-permitted: the contract gives `spider` no permission"],
    )
    assert not state(root, datetime(2026, 12, 25, tzinfo=UTC), "chat")[1]


def test_a_product_that_is_promised_an_age_that_nothing_tells_is_not_called_healthy(root: Path) -> None:
    found = examine(open_setting(root, TODAY))
    refresh(found, root / "out", lambda: NOW, "0.1.0", set())
    told = "age-unknown: at most 24h old is promised, and nothing tells how old it is"
    assert state(root) == ("degraded", True, [told])


def test_releases_that_nobody_reads_are_collected_and_recorded_ones_stay(root: Path) -> None:
    releases = root / "out" / "releases"
    recorded = {p.name for p in releases.iterdir()}
    for hour in range(1, 4):
        run = SeenRun("orders", f"r{hour}", "succeeded", f"2026-11-30T1{hour}:00:00Z")
        renewed(root, run, now=NOW + timedelta(hours=hour))
    assert len(list(releases.iterdir())) == 4
    for place in releases.iterdir():
        os.utime(place, (0, 0))
    last = SeenRun("orders", "r9", "succeeded", "2026-11-30T19:00:00Z")
    renewed(root, last, now=datetime.fromtimestamp(KEPT_SECONDS * 2, UTC))
    assert {p.name for p in releases.iterdir()} == recorded | {(root / "out/current").resolve().name}


def test_what_did_not_change_and_was_not_asked_for_stays_the_same_files(root: Path) -> None:
    renewed(root)
    page, view = (root / "out/current" / p for p in ("docs/shop/orders.html", "views/shop/orders.json"))
    before = [(p.stat().st_ino, p.read_bytes()) for p in (page, view)]
    hour = NOW + timedelta(hours=1)
    renewed(root, now=hour)
    assert [(p.stat().st_ino, p.read_bytes()) for p in (page, view)] == before
    late = SeenRun("orders", "r2", "succeeded", "2026-11-30T11:00:00Z", None, "d2", 4)
    renewed(root, late, now=hour)
    assert json.loads(view.read_text())["provenance"]["projected_at"] == "2026-11-30T13:00:00Z"
    assert view.stat().st_ino != before[1][0]


def test_publications_take_turns_and_what_is_seen_is_seen_when_it_is_ones_turn(root: Path) -> None:
    later = SeenTest("shop.orders", "none", "failed", "2026-11-30T11:00:00Z", 2, "2 rows are wrong")
    with publishing(root / "out"):
        other = threading.Thread(target=renewed, args=(root,))
        other.start()
        other.join(0.3)
        assert other.is_alive()
        found = examine(open_setting(root, TODAY))
        seen = Observations((later,), runs=(MADE,))
        publish(prepare(found, (), seen, Provenance("ana", "c0ffee", "0.1.0", NOW)), TARGETS, root / "out")
    other.join()
    assert state(root) == ("blocked", False, ["test-failed: 2 rows are wrong"])


def told(root: Path, *arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(contract_engine, [*arguments, "--project", str(root)], standalone_mode=False)
    return result.return_value, result.stdout


def test_status_answers_by_text_json_and_exit_code(root: Path) -> None:
    out = ("--out", str(root / "out"))
    renewed(root, SeenTest("shop.orders", "none", "failed", "2026-11-30T11:00:00Z", 2, "2 rows are wrong"))
    code, text = told(root, "status", "shop.orders", *out)
    assert (code, text.splitlines()[0]) == (
        1,
        "shop.orders 1.0.0: blocked, is not to be read, as of 2026-11-30T12:00:00Z",
    )
    assert "  2 rows are wrong (test-failed)" in text
    code, text = told(root, "status", "--format", "json", *out)
    (one,) = json.loads(text)
    assert (code, one["product"], one["readable"], one["state"]) == (1, "shop.orders", False, "blocked")
    code, text = told(root, "status")
    assert (code, text) == (
        1,
        "shop.orders: not published, is not to be read\n"
        "  no version of it was promoted and published here (not-published)\n",
    )
    view = root / "out/current/views/shop/orders.json"
    view.write_text("{")
    code, text = told(root, "status", *out)
    assert code == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b"<html>", "Expecting value: line 1 column 1 (char 0)"),
        (b"[]", "expected a JSON object, found list"),
        (b"[" * 100_000, "it nests too deep"),
        (b'{"id": "shop.orders"}', "it is no runtime view"),
        (b'{"contract": {}, "status": [], "freshness": 7}', "it is no runtime view"),
    ],
)
def test_what_is_served_and_is_no_view_is_told(root: Path, content: bytes, why: str) -> None:
    place = root / "out/current/views/shop/orders.json"
    place.chmod(0o644)
    place.write_bytes(content)
    with pytest.raises(StrataError) as caught:
        state(root)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E160", f"`{place}` cannot be read: {why}")
    assert found.fix == "publish again: `contract-engine publish`"


@pytest.mark.parametrize("content", [b"{}", b'{"products": {}}', b'{"products": [7]}', b'{"products": [{"id": 7}]}'])
def test_an_index_that_is_none_is_told(root: Path, content: bytes) -> None:
    place = root / "out/current/index.json"
    place.chmod(0o644)
    place.write_bytes(content)
    with pytest.raises(StrataError, match="it is no index of products"):
        served_products(root / "out")


def test_refresh_from_the_command_line_renews_what_was_promoted_and_nothing_else(root: Path) -> None:
    out = ("--out", str(root / "out"))
    before = os.readlink(root / "out/current")
    assert told(root, "refresh", *out)[0] == 0
    assert os.readlink(root / "out/current") != before
    assert told(root, "status", *out)[0] == 0
    assert promotions.head(root / "contracts/.promotions") == 1
    write(root / "fresh", {"strata.toml": "", PLACE: ORDERS})
    assert told(root / "fresh", "refresh") == (0, "")
    assert not (root / "fresh/.generated/contracts/current").exists()


MANIFEST = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
    "nodes": {
        "model.p.orders": {"resource_type": "model", "name": "orders", "unique_id": "model.p.orders", "columns": {}},
        "test.p.u.1": {"resource_type": "test", "name": "u", "unique_id": "test.p.u.1"},
    },
    "sources": {
        "source.p.raw.orders": {
            "resource_type": "source",
            "name": "orders",
            "source_name": "raw",
            "unique_id": "source.p.raw.orders",
            "columns": {},
        }
    },
}


def results(which: str) -> str:
    timing = [{"name": "execute", "completed_at": "2026-11-30T10:00:00.5Z"}]
    rows = [
        {"unique_id": "model.p.orders", "status": "success", "timing": timing},
        {"unique_id": "test.p.u.1", "status": "fail", "failures": 3, "message": "Got 3 results", "timing": timing},
    ]
    return json.dumps({"metadata": {"invocation_id": "i1"}, "args": {"which": which}, "results": rows})


AGES = {
    "metadata": {"invocation_id": "i2"},
    "results": [
        {
            "unique_id": "source.p.raw.orders",
            "max_loaded_at": "2026-11-28T10:00:00+00:00",
            "snapshotted_at": "2026-11-30T11:00:00+00:00",
            "status": "error",
        }
    ],
}


def test_dbts_state_artifacts_are_observations_of_runs_tests_and_ages(tmp_path: Path) -> None:
    generated = '[contract_engine]\ngenerated = ["manifest.json", "run_results.json", "sources.json"]\n'
    files = {"manifest.json": json.dumps(MANIFEST), "sources.json": json.dumps(AGES), PLACE: ORDERS}
    seen = seen_in_files(checked(tmp_path, {**files, "run_results.json": results("build")}, generated).parsed)
    assert {(r.ref, r.run_id, r.state, r.at) for r in seen.runs} == {
        (ref, "dbt i1", "succeeded", "2026-11-30T10:00:00Z") for ref in ("orders", "model.p.orders")
    }
    assert [(t.test, t.outcome, t.offenders, t.message) for t in seen.tests] == [("u", "failed", 3, "Got 3 results")]
    assert seen.loaded["raw.orders"] == "2026-11-28T10:00:00Z"
    late = "the newest row was loaded at 2026-11-28T10:00:00+00:00, which is late"
    found = {c.ref: (c.check, c.outcome, c.weight, c.at, c.message) for c in seen.checks}
    assert "orders" not in found
    assert found["raw.orders"] == ("dbt_source_freshness", "failed", "degrading", "2026-11-30T11:00:00Z", late)
    compiled = checked(tmp_path, {**files, "run_results.json": results("compile")}, generated).parsed
    assert seen_in_files(compiled).runs == ()
