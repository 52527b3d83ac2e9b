"""What is kept between checks changes nothing but the time they take: whatever a verdict depends on, it is found anew
when that changes (Seed 2, "Pipeline")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract_engine import validate
from strata_core.contract_engine.collation.alone import provenance_alone
from strata_core.contract_engine.collation.candidate import Tier
from strata_core.contract_engine.collation.merge import Merge, Part
from strata_core.contract_engine.compatibility.classify import classify
from strata_core.contract_engine.compatibility.compare import compare
from strata_core.contract_engine.compatibility.verdict import unchanged
from strata_core.contract_engine.documents import Document
from strata_core.contract_engine.levels import Levels
from strata_core.contract_engine.pipeline import check, examine, open_setting
from strata_core.contract_engine.promotions import Promotion
from strata_core.contract_engine.yaml_text import read_yaml
from strata_core.planning.config import ClassificationConfig

from .projects import ORDERS, PLACE, TODAY, checked, line, write

TOML = '[project]\nname = "p"\n'
OTHER = "contracts/shop/returns/contract.yaml"
RETURNS = ORDERS.replace("shop.orders", "shop.returns").replace("id: orders", "id: returns")
MEASURE = "semantics: {measures: [{name: m, column: shop.orders/orders.amount}]}\n"
DERIVED = '      - {name: paid, type: "decimal(10,2)", derived_from: {columns: [shop.orders/orders.amount]}}\n'
AGENT = "agent_permissions: [{agent: bot, actions: [read], expires: 2026-12-31}]\n"
DBT = "tests: [{id: t, kind: dbt, severity: blocking, ref: there}]\n"
SECRET = 'type: "decimal(10,2)", classification: restricted'


def manifest(*tests: str) -> str:
    nodes = {f"test.p.{t}": {"resource_type": "test", "name": t, "unique_id": f"test.p.{t}"} for t in tests}
    head = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    return json.dumps({"metadata": head, "nodes": nodes})


CHANGES: dict[str, tuple[Mapping[str, str], Mapping[str, str], date, list[str]]] = {
    "the contract": ({}, {PLACE: ORDERS + "layre: x\n"}, TODAY, [f"E104 {PLACE}:16:1 layre"]),
    "the contract, back again": ({}, {PLACE: ORDERS}, TODAY, []),
    "the layers that are configured": (
        {},
        {"strata.toml": TOML + '[layers.bronze]\nrequires = ["purpose"]\n'},
        TODAY,
        [f"E120 {PLACE}:1:1 purpose", f"E120 {OTHER}:1:1 purpose"],
    ),
    "the day": ({PLACE: ORDERS + AGENT}, {}, date(2027, 1, 1), [f"E152 {PLACE}:16:60 agent_permissions[bot].expires"]),
    "another product that it names": (
        {OTHER: RETURNS + MEASURE},
        {PLACE: ORDERS.replace("name: amount", "name: price")},
        TODAY,
        [f"E122 {OTHER}:16:42 semantics.measures[m].column"],
    ),
    "another product that it is made of": (
        {OTHER: RETURNS + DERIVED},
        {PLACE: ORDERS.replace('type: "decimal(10,2)"', SECRET)},
        TODAY,
        [f"E150 {OTHER}:16:9 assets[returns].columns[paid]"],
    ),
    "a fragment beside it": (
        {},
        {"contracts/shop/orders/x.contract.yaml": "product: shop.orders\nasset: orders\nkind: dbt_model\n"},
        TODAY,
        [f"E114 {PLACE}:12:11 assets[orders].kind"],
    ),
    "the tests that dbt knows": (
        {PLACE: ORDERS + DBT, "target/manifest.json": manifest("there")},
        {"target/manifest.json": manifest("elsewhere")},
        TODAY,
        [f"E141 {PLACE}:16:53 tests[t].ref"],
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_verdict_is_found_anew_when_what_it_depends_on_changes(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after, today, expected = CHANGES[what]
    toml = TOML + '[dbt]\nmanifest = "target/manifest.json"\n'
    write(tmp_path, {"strata.toml": toml, PLACE: ORDERS, OTHER: RETURNS, **before})
    for _ in range(2):
        assert [line(d) for d in check(open_setting(tmp_path, TODAY)).diagnostics] == []
    write(tmp_path, after)
    found = check(open_setting(tmp_path, today))
    assert [line(d) for d in found.diagnostics] == expected
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "empty"))
    assert check(open_setting(tmp_path, today)) == found


def test_findings_name_the_lines_of_the_configuration_as_it_is_laid_out_now(tmp_path: Path) -> None:
    layer = '[layers.bronze]\nrequires = ["purpos"]\n'
    for above, told in (("", 4), ("\n# what we ask for\n", 6), ("", 4)):
        write(tmp_path, {"strata.toml": f"{TOML}{above}{layer}", PLACE: ORDERS})
        found = check(open_setting(tmp_path, TODAY)).diagnostics
        assert [line(d) for d in found] == [f"E073 strata.toml:{told}:1 layers.bronze.requires"]


def test_what_is_found_in_a_contract_alone_is_found_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    own = validate._check_own
    monkeypatch.setattr(validate, "_check_own", lambda c, *rest: (asked.append(c.id), own(c, *rest)))
    files = {"strata.toml": TOML, PLACE: ORDERS + "tests: [{id: t, kind: sql, severity: blocking, sql: selec 1}]\n"}
    write(tmp_path, {**files, OTHER: RETURNS})
    first = examine(open_setting(tmp_path, TODAY))
    assert ([d.code for d in first.diagnostics], asked) == (["E140"], ["shop.orders", "shop.returns"])
    write(tmp_path, {OTHER: RETURNS + "purpose: To know.\n"})
    second = examine(open_setting(tmp_path, TODAY))
    assert (second.diagnostics, asked[2:]) == (first.diagnostics, ["shop.returns"])
    assert second.validated.tables["shop.orders"] == first.validated.tables["shop.orders"]


NAMES = st.sampled_from(["a", "b", "c"])
COLUMN = st.fixed_dictionaries(
    {"name": NAMES}, optional={"type": st.just("int64"), "enum": st.lists(NAMES, min_size=1)}
)
ASSET = st.fixed_dictionaries(
    {"id": NAMES, "kind": st.just("table")},
    optional={"columns": st.lists(COLUMN, max_size=3), "tags": st.lists(NAMES, max_size=3)},
)
CONTRACT = st.fixed_dictionaries(
    {"id": st.just("shop.orders"), "assets": st.lists(ASSET, max_size=3)},
    optional={
        "lineage": st.fixed_dictionaries({}, optional={"upstream": st.lists(st.fixed_dictionaries({"asset": NAMES}))}),
        "tests": st.lists(st.fixed_dictionaries({"id": NAMES, "sql": NAMES}), max_size=3),
        "extensions": st.dictionaries(NAMES, st.none() | st.integers() | st.lists(st.integers(), max_size=2)),
    },
)


@given(CONTRACT)
def test_law_a_contract_alone_is_what_merging_makes_of_it(data: dict[str, Any]) -> None:
    document = read_yaml("c.yaml", json.dumps({**data, "unknown": {"x": [1]}}).encode(), pytest.fail)
    assert document is not None
    known = Document("c.yaml", data, document.values, document.keys, document.written)
    merge = Merge("c.yaml", lambda _: None)
    merged = merge.fields("", (), [Part(Tier.CANONICAL, known, (), data)])
    places = provenance_alone(known)
    if merged == data:
        assert places is not None
        assert dict(places) == merge.provenance
        assert [path in places for path in document.values] == [path in merge.provenance for path in document.values]
    else:
        assert places is None


@pytest.mark.parametrize("version", ["0.1.0", "1.0.0"])
def test_a_product_that_says_what_was_promoted_is_as_if_it_had_been_compared(tmp_path: Path, version: str) -> None:
    text = ORDERS.replace("0.1.0", version) + "compatibility: {renames: [{asset: orders, before: x, after: amount}]}\n"
    (candidate,) = checked(tmp_path, {PLACE: text}).collated.candidates
    promotion = Promotion("shop.orders", version, "first-version", candidate.data, tombstones={"orders.old": "int64"})
    before = validate.promoted_candidate(promotion, "record")
    changes = compare(before, candidate, Levels(ClassificationConfig()))
    assert unchanged(promotion) == classify(candidate, promotion, changes, before.contract, TODAY)
