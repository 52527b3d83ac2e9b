"""Collation: who is believed, what is told, and that nothing depends on the order of files (Seed 2, "Collate")."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract_engine.collation.candidate import Tier
from strata_core.contract_engine.collation.collate import Collated, collate
from strata_core.contract_engine.collation.merge_rules import RULES, canonical
from strata_core.contract_engine.discover import InputKind
from strata_core.contract_engine.parse.contracts import fragment_of
from strata_core.contract_engine.parse.parsed import (
    ContractText,
    GeneratedAsset,
    GeneratedColumn,
    Parsed,
    ParsedFile,
)
from strata_core.contract_engine.yaml_text import read_yaml_text
from strata_core.diagnostics import Diagnostic, Span

from .projects import ORDERS, PLACE, checked, line


def contract_file(text: str = ORDERS, path: str = PLACE) -> ParsedFile:
    document = read_yaml_text(path, text, lambda d: pytest.fail(str(d)))
    assert document is not None
    return ParsedFile(path, InputKind.CONTRACT, "0", ContractText(document, True))


def fragment_file(data: dict[str, Any], path: str = "models/f.contract.yaml") -> ParsedFile:
    problems: list[Diagnostic] = []
    document = read_yaml_text(path, yaml.safe_dump(data, sort_keys=False), problems.append)
    assert document is not None
    fragment = fragment_of(document, None, problems.append)
    assert fragment is not None, problems
    return ParsedFile(path, InputKind.FRAGMENT, "0", fragments=(fragment,))


def collated(*files: ParsedFile, compiled: tuple[GeneratedAsset, ...] = ()) -> Collated:
    return collate(Parsed(files, compiled))


def only(found: Collated) -> dict[str, Any]:
    (candidate,) = found.candidates
    return dict(candidate.data)


def column(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(c for c in data["assets"][0]["columns"] if c["name"] == name)


TARGET = {"product": "shop.orders", "asset": "orders"}


def test_seed2_fragments_fill_gaps() -> None:
    fragment = fragment_file({**TARGET, "columns": [{"name": "amount", "description": "Gross."}]})
    found = collated(contract_file(), fragment)
    assert found.diagnostics == ()
    assert column(only(found), "amount") == {"name": "amount", "type": "decimal(10,2)", "description": "Gross."}
    (candidate,) = found.candidates
    source = candidate.provenance["assets", 0, "columns", 1, "description"]
    assert (source.tier, str(source.span)) == (Tier.FRAGMENT, "models/f.contract.yaml:5:16")
    kept = candidate.provenance["assets", 0, "columns", 1, "type"]
    assert (kept.tier, str(kept.span)) == (Tier.CANONICAL, f"{PLACE}:15:30")


def test_seed2_fragments_never_overwrite_and_the_conflict_names_both_places() -> None:
    fragment = fragment_file({**TARGET, "columns": [{"name": "amount", "type": "string"}]})
    found = collated(contract_file(), fragment)
    assert column(only(found), "amount")["type"] == "decimal(10,2)"
    (conflict,) = found.diagnostics
    assert line(conflict) == f"E114 {PLACE}:15:30 assets[orders].columns[amount].type"
    assert [str(r.span) for r in conflict.related] == ["models/f.contract.yaml:5:9"]
    (candidate,) = found.candidates
    (edit,) = candidate.edits
    assert (edit.path, edit.value, edit.replaces) == (
        ("assets", 0, "columns", 1, "type"),
        "string",
        "decimal(10,2)",
    )


def test_types_agree_by_the_lattice_and_not_by_their_text() -> None:
    same = fragment_file({**TARGET, "columns": [{"name": "amount", "type": "decimal(10, 2)"}]})
    assert collated(contract_file(), same).diagnostics == ()


def generated(*columns: GeneratedColumn, complete: bool = True, **more: Any) -> GeneratedAsset:
    return GeneratedAsset("table", ("orders",), columns, (), Span("catalog.json", 1, 1, 1, 1), complete, **more)


ID = GeneratedColumn("order_id", "int64", False)


def test_seed2_generated_metadata_fills_what_is_observed_and_promises_nothing() -> None:
    text = ORDERS.replace(', type: "decimal(10,2)"', "")
    known = generated(ID, GeneratedColumn("amount", "decimal(9,2)", False, "what was paid"))
    found = collated(contract_file(text), compiled=(known,))
    assert found.diagnostics == ()
    assert column(only(found), "amount") == {"name": "amount", "type": "decimal(9,2)", "description": "what was paid"}


def test_a_narrower_table_keeps_a_wider_promise_and_a_wider_one_does_not() -> None:
    narrow = generated(ID, GeneratedColumn("amount", "decimal(8,2)"))
    assert collated(contract_file(), compiled=(narrow,)).diagnostics == ()
    wide = generated(ID, GeneratedColumn("amount", "decimal(12,2)"))
    assert [d.code for d in collated(contract_file(), compiled=(wide,)).diagnostics] == ["E114"]


def test_a_column_that_may_be_null_breaks_the_promise_that_none_is() -> None:
    known = generated(replace(ID, nullable=True), GeneratedColumn("amount", "decimal(10,2)"))
    text = ORDERS.replace("primary_key: true", "nullable: false")
    (found,) = collated(contract_file(text), compiled=(known,)).diagnostics
    assert line(found) == f"E114 {PLACE}:14:49 assets[orders].columns[order_id].nullable"


def test_columns_that_a_table_lacks_or_has_besides() -> None:
    lacking = generated(ID)
    (found,) = collated(contract_file(), compiled=(lacking,)).diagnostics
    assert line(found) == f"E114 {PLACE}:15:9 assets[orders].columns[amount]"
    extra = generated(ID, GeneratedColumn("amount", "decimal(10,2)"), GeneratedColumn("note", "string"))
    outcome = collated(contract_file(), compiled=(extra,))
    (found,) = outcome.diagnostics
    assert (found.code, found.blocks) == ("W110", False)
    (edit,) = outcome.candidates[0].edits
    assert (edit.path, edit.value) == (("assets", 0, "columns", 2), {"name": "note", "type": "string"})
    closed = ORDERS.replace("    kind: table\n", "    kind: table\n    closed: true\n")
    (found,) = collated(contract_file(closed), compiled=(extra,)).diagnostics
    assert (found.code, found.blocks) == ("E114", True)


def test_an_asset_without_columns_takes_those_of_the_tool() -> None:
    text = ORDERS.split("    columns:")[0]
    found = collated(contract_file(text), compiled=(generated(ID, GeneratedColumn("amount", "decimal(10,2)")),))
    assert only(found)["assets"][0]["columns"] == [
        {"name": "amount", "type": "decimal(10,2)"},
        {"name": "order_id", "type": "int64", "nullable": False},
    ]


def test_another_wording_blocks_nothing() -> None:
    text = ORDERS.replace("    kind: table\n", "    kind: table\n    description: Orders.\n")
    (found,) = collated(
        contract_file(text), compiled=(generated(ID, complete=False, description="All orders."),)
    ).diagnostics
    assert (found.code, found.blocks) == ("W111", False)


def test_tests_are_united_by_their_ids() -> None:
    a = {"id": "a", "kind": "sql", "severity": "blocking", "sql": "select 1 from orders"}
    b = {**a, "id": "b"}
    found = collated(contract_file(ORDERS + f"tests: [{json.dumps(b)}]\n"), fragment_file({**TARGET, "tests": [a, b]}))
    assert found.diagnostics == ()
    assert [t["id"] for t in only(found)["tests"]] == ["b", "a"]
    other = fragment_file({**TARGET, "tests": [{**b, "severity": "degrading"}]})
    (conflict,) = collated(contract_file(ORDERS + f"tests: [{json.dumps(b)}]\n"), other).diagnostics
    assert conflict.code == "E114"


def test_an_asset_of_a_fragment_that_has_a_kind_is_added() -> None:
    found = collated(contract_file(), fragment_file({"product": "shop.orders", "asset": "lines", "kind": "table"}))
    assert [a["id"] for a in only(found)["assets"]] == ["orders", "lines"]


def test_an_asset_or_a_column_that_is_listed_twice(tmp_path: Path) -> None:
    text = ORDERS + "      - {name: amount, type: int64}\n  - {id: orders, kind: table}\n"
    found = checked(tmp_path, {PLACE: text})
    assert [line(d) for d in found.diagnostics] == [
        f"E023 {PLACE}:16:9 assets[orders].columns[amount]",
        f"E023 {PLACE}:17:5 assets[orders]",
    ]


# -- laws --

WORDS = st.sampled_from(["amount", "order_id", "note", "day"])
COLUMN = st.fixed_dictionaries(
    {"name": WORDS},
    optional={
        "type": st.sampled_from(["int64", "decimal(10,2)", "decimal(10, 2)", "string"]),
        "description": st.sampled_from(["a", "b"]),
        "classification": st.sampled_from(["internal", "restricted"]),
        "enum": st.sampled_from([["x", "y"], ["y", "x"], ["z"]]),
        "unique": st.booleans(),
    },
)
FRAGMENT = st.fixed_dictionaries(
    {"columns": st.lists(COLUMN, max_size=4, unique_by=lambda c: str(c["name"]))},
    optional={
        "description": st.sampled_from(["one", "two"]),
        "tags": st.lists(st.sampled_from(["a", "b", "c"]), unique=True),
        "lineage": st.sampled_from(
            [{"upstream": [{"asset": "x"}]}, {"upstream": [{"asset": "y"}, {"asset": "x", "description": "d"}]}]
        ),
    },
)


def outcome(files: list[ParsedFile]) -> tuple[str, list[tuple[str, str | None]]]:
    found = collated(contract_file(), *files)
    conflicts = sorted({(d.code, d.field_path or "") for d in found.diagnostics})
    return canonical(only(found)), [(code, path or None) for code, path in conflicts]


@given(st.lists(FRAGMENT, max_size=4), st.randoms(use_true_random=False))
def test_law_the_order_of_files_does_not_matter(fragments: list[dict[str, Any]], order: random.Random) -> None:
    files = [fragment_file({**TARGET, **f}, f"models/{i}.contract.yaml") for i, f in enumerate(fragments)]
    mixed = files[:]
    order.shuffle(mixed)
    assert outcome(files) == outcome(mixed)


@given(st.lists(FRAGMENT, min_size=1, max_size=3))
def test_law_a_file_that_is_there_twice_changes_nothing(fragments: list[dict[str, Any]]) -> None:
    files = [fragment_file({**TARGET, **f}, f"models/{i}.contract.yaml") for i, f in enumerate(fragments)]
    again = [fragment_file({**TARGET, **f}, f"models/again{i}.contract.yaml") for i, f in enumerate(fragments)]
    assert outcome(files) == outcome([*files, *again])


@given(st.lists(FRAGMENT, min_size=1, max_size=3))
def test_law_a_fragment_may_be_cut_into_pieces(fragments: list[dict[str, Any]]) -> None:
    whole = [fragment_file({**TARGET, **f}, f"models/{i}.contract.yaml") for i, f in enumerate(fragments)]
    pieces = []
    for i, fragment in enumerate(fragments):
        parts: list[dict[str, Any]] = [{k: v} for k, v in fragment.items() if k != "columns"]
        for one in fragment["columns"]:
            facts = {k: v for k, v in one.items() if k != "name"}
            parts += [{"columns": [{"name": one["name"], k: v}]} for k, v in facts.items()]
            parts += [] if facts else [{"columns": [one]}]
        pieces += [fragment_file({**TARGET, **p}, f"models/{i}_{j}.contract.yaml") for j, p in enumerate(parts)]
    assert outcome(whole) == outcome(pieces)


@given(st.lists(FRAGMENT, max_size=4))
def test_law_the_canonical_contract_is_kept_word_for_word(fragments: list[dict[str, Any]]) -> None:
    files = [fragment_file({**TARGET, **f}, f"models/{i}.contract.yaml") for i, f in enumerate(fragments)]
    own = yaml.safe_load(ORDERS)
    found = only(collated(contract_file(), *files))
    assert {k: v for k, v in found.items() if k not in ("assets", "lineage", "tests")} == {
        k: v for k, v in own.items() if k != "assets"
    }
    for mine in own["assets"][0]["columns"]:
        assert mine.items() <= column(found, mine["name"]).items()


def test_the_merge_rules_name_fields_once() -> None:
    places = [r.where for r in RULES]
    assert len(places) == len(set(places))
    assert all(set(r.fill) <= set(Tier) for r in RULES)
    assert list(itertools.chain(*[r.keys for r in RULES if r.how == "by name"])) == ["id", "name"]


def test_a_warehouse_that_folds_the_case_of_names_is_no_conflict() -> None:
    known = generated(GeneratedColumn("ORDER_ID", "int64"), GeneratedColumn("AMOUNT", "decimal(10,2)"))
    assert collated(contract_file(), compiled=(known,)).diagnostics == ()
