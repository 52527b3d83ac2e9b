"""Promotion: a record, a release, all of it or nothing (Seed 2, "Publish", "Promotion Rules")."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from strata_core.contract_engine import promotions
from strata_core.contract_engine.observations import Observations, SeenRun, SeenSchema, SeenTest
from strata_core.contract_engine.pipeline import Checked, examine, open_setting
from strata_core.contract_engine.schemas import RUNTIME_VIEW
from strata_core.contract_engine.serving import publish as publishing
from strata_core.contract_engine.serving.publish import TARGETS, Provenance, Published, Target, prepare, publish
from strata_core.contract_engine.shapes import valid
from strata_core.diagnostics import StrataError

from .projects import ORDERS, PLACE, TODAY, checked, write

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BY = Provenance("ana", "c0ffee", "0.1.0", NOW)
LIVE = ORDERS.replace("0.1.0", "1.0.0").replace("draft", "active")
TESTED = LIVE + "tests: [{id: none, kind: sql, severity: blocking, sql: 'select * from orders where amount < 0'}]\n"


def promoted(found: Checked, seen: Observations | None = None, *products: str, **more: Any) -> Published:
    out = found.setting.root / "out"
    return publish(prepare(found, products, seen or Observations(), BY), more.get("targets", TARGETS), out)


def test_a_view_leads_to_its_contract_wherever_contracts_lie(tmp_path: Path) -> None:
    files = {
        "products/shop/orders/contract.yaml": LIVE,
        "models/a.contract.yaml": "product: shop.orders\nasset: orders\ndescription: Orders.\n",
    }
    toml = 'contracts = ["products"]\n'
    promoted(checked(tmp_path, files, toml))
    at = {"rel": "source", "href": "products/shop/orders/contract.yaml", "title": "the authored contract"}
    assert view(tmp_path)["links"][0] == at
    (tmp_path / "products/shop/orders/contract.yaml").unlink()  # what is served is what was promoted
    write(tmp_path, {"products/shop/other/contract.yaml": LIVE.replace("shop.orders", "shop.other")})
    promoted(examine(open_setting(tmp_path, TODAY)), None, "shop.other")
    assert view(tmp_path)["links"][0] == at


def view(root: Path, product: str = "shop/orders") -> dict[str, Any]:
    read: dict[str, Any] = json.loads((root / "out" / "current" / "views" / f"{product}.json").read_text())
    return read


def everything(root: Path) -> dict[str, bytes]:
    places = [p for p in root.rglob("*") if p.is_file() and not p.is_symlink()]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in places}


def test_seed2_publish_records_who_when_commit_digests_approvals_and_verdict(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    done = promoted(found)
    (entry,) = promotions.history(found.setting.promotions, "shop.orders")
    assert done.promoted == (entry,)
    assert (entry.version, entry.by, entry.commit, entry.verdict, entry.number) == (
        "1.0.0",
        "ana",
        "c0ffee",
        "first-version",
        1,
    )
    assert entry.inputs == {PLACE: found.setting.tree.digest(PLACE)}
    assert (entry.release, entry.contract["id"]) == (done.release.name, "shop.orders")
    served = view(tmp_path)
    assert valid(served, RUNTIME_VIEW)
    assert served["provenance"] == {
        "git_commit": "c0ffee",
        "inputs": [{"path": PLACE, "sha256": entry.inputs[PLACE]}],
        "promoted_at": "2026-11-30T12:00:00Z",
        "promoted_by": "ana",
        "promotion": 1,
        "engine_version": "0.1.0",
        "projected_at": "2026-11-30T12:00:00Z",
    }
    index = json.loads((tmp_path / "out/current/index.json").read_text())
    assert [(p["id"], p["version"], p["view"]) for p in index["products"]] == [
        ("shop.orders", "1.0.0", "views/shop/orders.json")
    ]


def test_seed2_later_versions_are_held_against_the_promoted_one_not_the_latest_file(tmp_path: Path) -> None:
    promoted(checked(tmp_path, {PLACE: LIVE}))
    column = "      - {name: note, type: string}\n"
    later = checked(tmp_path, {PLACE: LIVE.replace("1.0.0", "1.0.1") + column})
    (found,) = later.diagnostics
    assert (found.code, found.fix) == ("E130", "write `version: 1.1.0`")
    assert examine(later.setting).validated.compatibility["shop.orders"].against == "1.0.0"
    better = checked(tmp_path, {PLACE: LIVE.replace("1.0.0", "1.1.0") + column})
    assert better.diagnostics == ()
    promoted(better)
    gone = checked(tmp_path, {PLACE: LIVE.replace("1.0.0", "2.0.0")})
    assert {d.code for d in gone.diagnostics} == {"E131"}


def test_what_did_not_change_is_published_without_a_new_promotion(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    promoted(found)
    again = promoted(examine(open_setting(tmp_path, TODAY)))
    assert again.promoted == ()
    assert promotions.head(found.setting.promotions) == 1


def test_seed2_nothing_is_promoted_while_anything_blocks(tmp_path: Path) -> None:
    other = "contracts/shop/returns/contract.yaml"
    files = {PLACE: LIVE, other: LIVE.replace("shop.orders", "shop.returns").replace("int64", "bigint")}
    found = checked(tmp_path, files)
    before = everything(tmp_path)
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [d.code for d in stopped.value.diagnostics] == ["E072", "E160"]
    assert everything(tmp_path) == before
    assert [p.product for p in promoted(found, None, "shop.orders").promoted] == ["shop.orders"]


@pytest.mark.parametrize("key", ["scan", "generated"])
def test_nothing_is_promoted_while_the_configuration_leads_out_of_the_project(tmp_path: Path, key: str) -> None:
    """Fragments that cannot be read may say more of a product than its contract does."""
    found = checked(tmp_path, {PLACE: LIVE}, f'[contract_engine]\n{key} = ["../models"]\n')
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [(d.code, str(d.span)) for d in stopped.value.diagnostics] == [
        ("E109", "strata.toml:4:1"),
        ("E160", f"{PLACE}:1:1"),
    ]


def test_seed2_a_failed_blocking_test_blocks_promotion_and_others_do_not(tmp_path: Path) -> None:
    failed = Observations((SeenTest("shop.orders", "none", "failed", "2026-11-30T10:00:00Z", 3, "3 rows"),))
    with pytest.raises(StrataError) as stopped:
        promoted(checked(tmp_path / "a", {PLACE: TESTED}), failed)
    assert [(d.code, d.field_path) for d in stopped.value.diagnostics] == [("E160", "tests[none]")]
    degrading = TESTED.replace("severity: blocking", "severity: degrading")
    promoted(checked(tmp_path / "b", {PLACE: degrading}), failed)
    assert view(tmp_path / "b")["status"]["state"] == "degraded"
    informational = TESTED.replace("severity: blocking", "severity: informational")
    promoted(checked(tmp_path / "c", {PLACE: informational}), failed)
    assert view(tmp_path / "c")["status"] == {"state": "healthy", "reasons": []}
    assert view(tmp_path / "c")["tests"][0]["outcome"] == "failed"


def test_seed2_a_test_that_fails_later_blocks_the_product_that_is_served(tmp_path: Path) -> None:
    promoted(checked(tmp_path, {PLACE: TESTED}))
    failed = Observations((SeenTest("shop.orders", "none", "failed"),))
    promoted(examine(open_setting(tmp_path, TODAY)), failed)
    assert view(tmp_path)["status"]["state"] == "blocked"


def test_seed2_experimental_tests_are_for_the_owner(tmp_path: Path) -> None:
    promoted(checked(tmp_path, {PLACE: TESTED.replace("severity: blocking", "severity: experimental")}))
    assert view(tmp_path)["tests"][0]["visible_to"] == ["orders", "head-of-orders"]


def test_seed2_the_view_shows_what_was_seen_and_the_contract_stays_as_authored(tmp_path: Path) -> None:
    text = LIVE + "freshness: {max_age: 24h}\n"
    seen = Observations(
        (),
        (SeenSchema("orders", (("order_id", "int64", False), ("amount", "string", True))),),
        (SeenRun("orders", "r1", "succeeded", "2026-11-28T12:00:00Z", "http://runs/r1"),),
    )
    promoted(checked(tmp_path, {PLACE: text}), seen)
    served = view(tmp_path)
    assert served["freshness"] == [
        {"asset": "orders", "expected": "24h", "latest": "2026-11-28T12:00:00Z", "state": "stale"}
    ]
    assert served["observed_schema"][0]["drift"] == ["`amount` is string, and decimal(10,2) is promised"]
    assert served["latest_runs"] == [
        {
            "asset": "orders",
            "run_id": "r1",
            "state": "succeeded",
            "at": "2026-11-28T12:00:00Z",
            "url": "http://runs/r1",
        }
    ]
    assert [r["code"] for r in served["status"]["reasons"]] == ["stale", "schema-drift"]
    assert (tmp_path / PLACE).read_text() == text


def _fails(_: object) -> Mapping[str, bytes]:
    raise StrataError(*checked_faults())


def checked_faults() -> list[Any]:
    from strata_core.diagnostics import Diagnostic

    return [Diagnostic("E160", "the target is away")]


def test_a_file_in_the_place_of_the_promotion_record_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (one,) = checked(tmp_path, {PLACE: LIVE, "contracts/.promotions": ""}).diagnostics
    assert (one.code, str(one.span), one.blocks) == ("E161", "contracts/.promotions:1:1", True)
    assert one.message == "the promotion record cannot be used: a file stands where its folder should be"


def test_a_check_from_before_another_promotion_promotes_nothing(tmp_path: Path) -> None:
    before = checked(tmp_path, {PLACE: LIVE})
    promoted(examine(open_setting(tmp_path, TODAY)))
    found = everything(tmp_path)
    with pytest.raises(StrataError) as stopped:
        promoted(before)
    (conflict,) = stopped.value.diagnostics
    assert (conflict.code, conflict.fix) == ("E093", "publish again; nothing was published")
    assert everything(tmp_path) == found


def test_seed2_promotion_publishes_all_targets_or_none(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    before = everything(tmp_path)
    with pytest.raises(StrataError):
        promoted(found, targets=(*TARGETS, Target("away", _fails)))
    assert everything(tmp_path) == before
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "releases").write_text("in the way")
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [d.code for d in stopped.value.diagnostics] == ["E160"]
    assert promotions.head(found.setting.promotions) == 0


def test_who_publishes_second_finds_that_another_came_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    staged = publishing._stage

    def meanwhile(out: Path, files: Mapping[str, bytes]) -> Path:
        monkeypatch.setattr(publishing, "_stage", staged)
        promoted(found)
        return staged(out, files)

    monkeypatch.setattr(publishing, "_stage", meanwhile)
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [d.code for d in stopped.value.diagnostics] == ["E093"]
    assert promotions.head(found.setting.promotions) == 1
    assert view(tmp_path)["provenance"]["promotion"] == 1


def test_a_product_that_left_the_files_is_served_as_it_was_promoted(tmp_path: Path) -> None:
    returns = "contracts/shop/returns/contract.yaml"
    promoted(checked(tmp_path, {PLACE: LIVE, returns: LIVE.replace("shop.orders", "shop.returns")}))
    (tmp_path / returns).unlink()
    promoted(examine(open_setting(tmp_path, TODAY)))
    assert view(tmp_path, "shop/returns")["id"] == "shop.returns"


@pytest.mark.parametrize("damage", ["{", '{"format": 1}', ""])
def test_a_damaged_record_is_told_and_nothing_is_compared_with_it(tmp_path: Path, damage: str) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    promoted(found)
    (record,) = found.setting.promotions.iterdir()
    os.chmod(record, 0o644)
    record.write_text(damage)
    again = examine(open_setting(tmp_path, TODAY))
    place = "contracts/.promotions/00000000000000000001.json"
    assert [(d.code, d.blocks, str(d.span)) for d in again.diagnostics] == [("E161", True, f"{place}:1:1")]
    assert "`00000000000000000001.json`" in again.diagnostics[0].message
    assert str(tmp_path) not in again.diagnostics[0].message
    assert again.diagnostics[0].fix == "restore it from Git: `git checkout -- 00000000000000000001.json` in its folder"
    with pytest.raises(StrataError) as stopped:
        promoted(again)
    assert [d.code for d in stopped.value.diagnostics] == ["E161", "E160"]


def test_an_unknown_product_is_told(tmp_path: Path) -> None:
    with pytest.raises(StrataError) as stopped:
        promoted(checked(tmp_path, {PLACE: LIVE}), None, "shop.odrers")
    assert [(d.code, d.fix) for d in stopped.value.diagnostics] == [("E073", "did you mean `shop.orders`?")]


def test_a_cache_does_not_hide_a_change(tmp_path: Path) -> None:
    from strata_core.contract_engine.pipeline import check

    write(tmp_path, {"strata.toml": "", PLACE: LIVE})
    setting = open_setting(tmp_path, TODAY)
    assert check(setting) == check(setting)
    assert [p.version for p in check(setting).products] == ["1.0.0"]
    write(tmp_path, {PLACE: LIVE.replace("1.0.0", "1.0.1").replace("name: Orders", "name: [x]")})
    changed = check(setting)
    assert ([p.version for p in changed.products], [d.code for d in changed.diagnostics]) == (["1.0.1"], ["E105"])


def test_values_that_json_has_no_word_for_are_told(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: LIVE + "extensions: {a: .nan, b: .inf}\n"})
    assert [d.code for d in found.diagnostics] == ["E105", "E105"]


def test_what_is_served_names_the_files_that_were_promoted(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: LIVE})
    digest = found.setting.tree.digest(PLACE)
    promoted(found)
    returns = "contracts/shop/returns/contract.yaml"
    later = checked(tmp_path, {PLACE: LIVE + "# a remark\n", returns: LIVE.replace("shop.orders", "shop.returns")})
    promoted(later, None, "shop.returns")
    assert view(tmp_path)["provenance"]["inputs"] == [{"path": PLACE, "sha256": digest}]


def test_who_dies_after_the_record_is_followed_by_one_who_turns_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = checked(tmp_path, {PLACE: LIVE})

    def die(out: Path, release: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "_turn", die)
        with pytest.raises(KeyboardInterrupt):
            promoted(found)
    assert promotions.head(found.setting.promotions) == 1
    assert not (tmp_path / "out" / "current").exists()
    again = promoted(examine(open_setting(tmp_path, TODAY)))
    assert (again.promoted, view(tmp_path)["provenance"]["promotion"]) == ((), 1)


def test_what_stands_in_the_place_of_the_link_is_told(tmp_path: Path) -> None:
    (tmp_path / "out" / "current").mkdir(parents=True)
    (tmp_path / "out" / "current" / "mine.txt").write_text("keep")
    found = checked(tmp_path, {PLACE: LIVE})
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [d.code for d in stopped.value.diagnostics] == ["E160"]
    assert (tmp_path / "out" / "current" / "mine.txt").read_text() == "keep"
    assert promotions.head(found.setting.promotions) == 0
