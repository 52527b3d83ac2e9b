"""The rules of compatibility, one by one and together (Seed 2, "Compatibility Rules")."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract.changes import Impact
from strata_core.contract_engine.collation.candidate import Candidate
from strata_core.contract_engine.compatibility.changes import ProductChange
from strata_core.contract_engine.compatibility.classify import classify
from strata_core.contract_engine.compatibility.compare import compare
from strata_core.contract_engine.compatibility.examples import BASE, EXAMPLES
from strata_core.contract_engine.compatibility.rules import ALL_RULES
from strata_core.contract_engine.compatibility.verdict import Compatibility, Verdict
from strata_core.contract_engine.levels import Levels
from strata_core.contract_engine.promotions import Promotion
from strata_core.contract_engine.schemas import AUTHORED
from strata_core.contract_engine.shapes import valid
from strata_core.planning.config import ClassificationConfig

from .projects import TODAY

LEVELS = Levels(ClassificationConfig())


def candidate(data: Mapping[str, Any]) -> Candidate:
    assert valid(dict(data), AUTHORED), data
    return Candidate("contract.yaml", data["id"], data, {}, True)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ProductChange, ...]:
    return compare(candidate(before), candidate(after), LEVELS)


def test_every_rule_has_an_example() -> None:
    assert EXAMPLES.keys() == ALL_RULES.keys()


@pytest.mark.parametrize("rule", EXAMPLES)
def test_seed2_compatibility_an_example_raises_its_rule(rule: str) -> None:
    before, after, _ = EXAMPLES[rule].contracts()
    assert [c.rule.id for c in changes(before, after)] == [rule]


@pytest.mark.parametrize("rule", EXAMPLES)
def test_seed2_compatibility_the_other_change_does_not_raise_the_rule(rule: str) -> None:
    before, _, instead = EXAMPLES[rule].contracts()
    assert rule not in [c.rule.id for c in changes(before, instead)]


@pytest.mark.parametrize("rule", EXAMPLES)
def test_nothing_changes_from_a_contract_to_itself(rule: str) -> None:
    before, after, _ = EXAMPLES[rule].contracts()
    assert changes(before, copy.deepcopy(before)) == ()
    assert changes(after, copy.deepcopy(after)) == ()


IMPACTS = {
    # The design's table, row by row (`contract-engine.md`, "Compatibility").
    "column-removed": Impact.MAJOR,
    "asset-removed": Impact.MAJOR,
    "column-renamed": Impact.MAJOR,
    "column-aliased": Impact.MINOR,
    "column-added": Impact.MINOR,
    "type-narrowed": Impact.MAJOR,
    "type-widened": Impact.MINOR,
    "nonnull-dropped": Impact.MAJOR,
    "nonnull-added": Impact.MINOR,
    "enum-widened": Impact.MAJOR,
    "enum-narrowed": Impact.MINOR,
    "key-changed": Impact.MAJOR,
    "unique-dropped": Impact.MAJOR,
    "freshness-loosened": Impact.MAJOR,
    "product-freshness-loosened": Impact.MAJOR,
    "blocking-test-removed": Impact.MAJOR,
    "blocking-test-loosened": Impact.MAJOR,
    "blocking-test-demoted": Impact.MAJOR,
    "classification-dropped": Impact.MAJOR,
    "classification-lowered": Impact.MAJOR,
    "mask-weakened": Impact.MAJOR,
    "masking-dropped": Impact.MAJOR,
    "classification-raised": Impact.MINOR,
    "retention-cut": Impact.MAJOR,
    "availability-cut": Impact.MAJOR,
    "partitioning-changed": Impact.MINOR,
    "partitioning-moved": Impact.MAJOR,
    "asset-moved": Impact.MAJOR,
    "grain-changed": Impact.REVIEW,
    "meaning-changed": Impact.REVIEW,
    "usage-prohibited": Impact.MAJOR,
    "agent-widened": Impact.MAJOR,
    "agent-narrowed": Impact.MAJOR,
    "owner-changed": Impact.PATCH,
    "status-deprecated": Impact.MINOR,
    "test-changed": Impact.REVIEW,
    "description-changed": Impact.PATCH,
    "text-changed": Impact.PATCH,
    "sunset-earlier": Impact.MAJOR,
}


@pytest.mark.parametrize(("rule", "impact"), IMPACTS.items())
def test_seed2_compatibility_class_of_a_change(rule: str, impact: Impact) -> None:
    before, after, _ = EXAMPLES[rule].contracts()
    assert [c.impact for c in changes(before, after)] == [impact]


def test_touching_a_protected_column_breaks() -> None:
    before, after, _ = EXAMPLES["type-widened"].contracts()
    for contract in (before, after):
        contract["assets"][0]["columns"][1]["protected"] = True
    assert [(c.rule.id, c.impact) for c in changes(before, after)] == [("type-widened", Impact.MAJOR)]


# -- the version and what a breaking change needs --


def judged(before: Mapping[str, Any], after: Mapping[str, Any], **promotion: Any) -> Compatibility:
    verdict = promotion.pop("verdict", "")
    promoted = Promotion("shop.orders", before["version"], verdict, dict(before), number=1, **promotion)
    old = candidate(before)
    return classify(candidate(after), promoted, changes(before, after), old.contract, TODAY)


def at(contract: Mapping[str, Any], version: str, **fields: Any) -> dict[str, Any]:
    return {**copy.deepcopy(dict(contract)), "version": version, **fields}


def codes(outcome: Compatibility) -> list[str]:
    return [d.code for d in outcome.diagnostics]


WIDER = EXAMPLES["type-widened"].contracts()[1]
NARROWER = EXAMPLES["type-narrowed"].contracts()[1]


@pytest.mark.parametrize(
    ("after", "verdict", "found"),
    [
        (at(BASE, "1.0.0"), Verdict.PATCH, []),
        (at(BASE, "1.0.1"), Verdict.PATCH, []),
        (at(BASE, "0.9.0"), Verdict.PATCH, ["E130"]),
        (at(BASE, "1.0.0-rc.1"), Verdict.PATCH, ["E130"]),
        (at(BASE, "1.0.0", purpose="to bill"), Verdict.PATCH, ["E130"]),
        (at(BASE, "1.0.1", purpose="to bill"), Verdict.PATCH, []),
        (at(WIDER, "1.0.1"), Verdict.MINOR, ["E130"]),
        (at(WIDER, "1.1.0"), Verdict.MINOR, []),
        (at(WIDER, "2.0.0"), Verdict.MINOR, []),
        (at(NARROWER, "1.1.0"), Verdict.MAJOR, ["E130", "E131", "E131", "E131", "E131"]),
        (at(NARROWER, "2.0.0"), Verdict.MAJOR, ["E131", "E131", "E131", "E131"]),
    ],
)
def test_seed2_the_version_covers_the_changes(after: dict[str, Any], verdict: Verdict, found: list[str]) -> None:
    outcome = judged(BASE, after)
    assert (outcome.verdict, codes(outcome)) == (verdict, found)


def approved(kind: str, *fingerprints: str, by: str = "head-of-orders") -> dict[str, Any]:
    return {
        "approvals": [{"kind": kind, "by": by, "at": "2026-11-30", "changes": list(fingerprints)}],
        "consumer_impact": "reports round",
        "migration_notes": "read amount as decimal(8,2)",
        "deprecation": {"announced": "2026-11-30", "sunset": "2027-01-31"},
    }


def test_seed2_a_breaking_change_with_all_that_it_needs_passes() -> None:
    (change,) = changes(BASE, NARROWER)
    assert codes(judged(BASE, at(NARROWER, "2.0.0", compatibility=approved("owner", change.short)))) == []


@pytest.mark.parametrize("missing", ["consumer_impact", "migration_notes", "deprecation", "approvals"])
def test_seed2_each_thing_that_a_breaking_change_needs_is_asked_for(missing: str) -> None:
    (change,) = changes(BASE, NARROWER)
    told = approved("owner", change.short)
    del told[missing]
    (found,) = judged(BASE, at(NARROWER, "2.0.0", compatibility=told)).diagnostics
    assert (found.code, found.blocks) == ("E131", True)
    assert missing in (found.fix or "")


def test_seed2_what_was_told_of_the_break_before_tells_nothing_of_this_one() -> None:
    (change,) = changes(BASE, NARROWER)
    told = approved("owner", change.short)
    before = {**copy.deepcopy(dict(BASE)), "compatibility": told}
    after = at(NARROWER, "2.0.0", compatibility=told)
    found = judged(before, after, verdict="major-breaking").diagnostics
    assert [(d.code, d.message.partition(", and ")[2]) for d in found] == [
        ("E131", "`consumer_impact` is still that of what broke with 1.0.0"),
        ("E131", "`migration_notes` is still that of what broke with 1.0.0"),
    ]
    over = {**told, "deprecation": {"announced": "2026-08-01", "sunset": "2026-11-30"}}
    after = at(NARROWER, "2.0.0", compatibility=over)
    found = judged({**before, "compatibility": over}, after, verdict="major-breaking").diagnostics
    assert found[-1].message.endswith("`deprecation` is still that of what broke with 1.0.0")
    # What was announced with a version that broke nothing was told in time.
    assert codes(judged(before, at(NARROWER, "2.0.0", compatibility=told), verdict="minor-compatible")) == []


def test_seed2_a_window_that_is_over_when_it_is_announced_is_none() -> None:
    (change,) = changes(BASE, NARROWER)
    told = {**approved("owner", change.short), "deprecation": {"announced": "2026-08-01", "sunset": "2026-11-30"}}
    (found,) = judged(BASE, at(NARROWER, "2.0.0", compatibility=told)).diagnostics
    assert (found.code, found.field_path) == ("E131", "compatibility.deprecation.sunset")
    assert found.fix == "leave consumers some time: `deprecation: {announced: 2026-11-30, sunset: 2027-02-28}`"
    announced = {**copy.deepcopy(dict(BASE)), "compatibility": {"deprecation": told["deprecation"]}}
    assert codes(judged(announced, at(NARROWER, "2.0.0", compatibility=told))) == []


def test_an_approval_holds_in_every_commit_that_leaves_the_change_as_it_is() -> None:
    (change,) = changes(BASE, NARROWER)
    later = at(NARROWER, "2.0.0", purpose="to bill", compatibility=approved("owner", change.fingerprint))
    assert codes(judged(BASE, later)) == []
    other = at(NARROWER, "2.0.0", compatibility=approved("owner", change.short))
    other["assets"][0]["columns"][1]["type"] = "decimal(6,2)"
    assert codes(judged(BASE, other)) == ["E131"]


def test_nobody_makes_himself_an_approver_along_with_the_change() -> None:
    (change,) = changes(BASE, NARROWER)
    told = approved("owner", change.short, by="me")
    owner = {"team": "orders", "approvers": ["me"]}
    assert codes(judged(BASE, at(NARROWER, "2.0.0", owner=owner, compatibility=told))) == ["E131"]


def test_where_no_approver_is_named_the_owning_team_approves_and_nobody_else() -> None:
    before, after = ({**copy.deepcopy(dict(c)), "owner": {"team": "orders"}} for c in (BASE, at(NARROWER, "2.0.0")))
    (change,) = changes(before, after)
    for by, found in (("me", ["E131"]), ("orders", [])):
        told = approved("owner", change.short, by=by)
        outcome = judged(before, {**after, "compatibility": told})
        assert codes(outcome) == found
        assert [d.notes[1:] for d in outcome.diagnostics] == [
            ("the approval by `me` does not count: the promoted version names `orders`",)
        ][: len(found)]
        mine = {"team": "orders", "approvers": ["me"]}
        assert codes(judged(before, {**after, "owner": mine, "compatibility": told})) == found


def test_a_weaker_classification_needs_a_governance_approval_besides() -> None:
    before, after, _ = EXAMPLES["classification-lowered"].contracts()
    (change,) = changes(before, after)
    told = approved("owner", change.short)
    assert codes(judged(before, at(after, "2.0.0", compatibility=told))) == ["E131"]
    told["approvals"] += approved("governance", change.short)["approvals"]
    assert codes(judged(before, at(after, "2.0.0", compatibility=told))) == []


def test_what_cannot_be_decided_waits_for_the_owner() -> None:
    before, after, _ = EXAMPLES["grain-changed"].contracts()
    (found,) = judged(before, at(after, "1.1.0")).diagnostics
    assert (found.code, found.severity, found.blocks) == ("E132", "warning", True)
    (change,) = changes(before, after)
    seen = {"approvals": approved("owner", change.short)["approvals"]}
    assert codes(judged(before, at(after, "1.1.0", compatibility=seen))) == []


def test_seed2_drafts_before_1_0_may_break() -> None:
    draft = at(BASE, "0.3.0")
    outcome = judged(draft, at(NARROWER, "0.4.0"))
    assert (outcome.verdict, codes(outcome)) == (Verdict.DRAFT, [])
    assert codes(judged(draft, at(NARROWER, "0.3.0"))) == ["E130"]
    assert codes(judged(draft, at(NARROWER, "1.0.0"))) == []
    assert codes(judged(BASE, at(NARROWER, "0.4.0")))[0] == "E130"


def test_a_removed_name_does_not_come_back_as_something_else() -> None:
    stones = {"orders.note": "string", "lines": "table"}
    after = at(BASE, "1.1.0")
    after["assets"][0]["columns"].append({"name": "note", "type": "int64"})
    assert codes(judged(BASE, after, tombstones=stones)) == ["E133"]
    after["assets"][0]["columns"][-1]["type"] = "string"
    outcome = judged(BASE, after, tombstones=stones)
    assert codes(outcome) == []
    assert outcome.tombstones == {"lines": "table"}


def test_removed_names_leave_tombstones() -> None:
    before = EXAMPLES["asset-removed"].contracts()[0]
    after = at(BASE, "2.0.0")
    del after["assets"][0]["columns"][2]
    assert judged(before, after).tombstones == {"lines": "table", "orders.country": "string"}


def test_a_change_of_a_table_has_one_fingerprint_for_contracts_and_for_plans() -> None:
    from strata_core.contract.changes import compare_contracts
    from strata_core.contract_engine.lowering import table_contracts

    tables = [table_contracts(candidate(c), lambda d: pytest.fail(str(d)))["orders"] for c in (BASE, NARROWER)]
    (of_table,) = compare_contracts(*tables)
    (of_product,) = changes(BASE, NARROWER)
    assert of_product.fingerprint == of_table.fingerprint


def shuffled(value: Any, order: random.Random) -> Any:
    """`value` with the items of its lists in another order, but of texts, whose order people read."""
    if isinstance(value, dict):
        return {k: shuffled(v, order) for k, v in value.items()}
    if isinstance(value, list):
        items = [shuffled(v, order) for v in value]
        if items and isinstance(items[0], dict):
            order.shuffle(items)
        return items
    return value


@given(st.sampled_from(sorted(EXAMPLES)), st.randoms(use_true_random=False))
def test_law_the_order_of_items_is_no_change_and_changes_no_fingerprint(rule: str, order: random.Random) -> None:
    before, after, _ = EXAMPLES[rule].contracts()
    assert changes(before, shuffled(before, order)) == ()
    found = {c.fingerprint for c in changes(before, after)}
    assert {c.fingerprint for c in changes(shuffled(before, order), shuffled(after, order))} == found


def test_law_changes_that_differ_have_fingerprints_that_differ() -> None:
    """Of all pairs of rules: an approval of the one is none of the other."""
    found = [changes(before, after) for before, after, _ in (EXAMPLES[name].contracts() for name in sorted(EXAMPLES))]
    told = {(c.rule.id, c.where, c.before, c.after): c.fingerprint for (c,) in found}
    assert len(set(told.values())) == len(told) > 70
