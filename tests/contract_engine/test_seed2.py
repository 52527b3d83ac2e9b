"""Clauses of Seed 2 that go through several steps at once: what fragments contribute, what blocks promotion, what a
finding says, what each mode puts out, and the command line as the seed writes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from strata_core.contract_engine import promotions
from strata_core.contract_engine.compatibility.verdict import Verdict
from strata_core.contract_engine.observations import Observations, SeenEdge, SeenTest
from strata_core.contract_engine.schemas import AUTHORED, RUNTIME_VIEW
from strata_core.contract_engine.shapes import valid
from strata_core.diagnostics import StrataError
from strata_core.diagnostics.render import render_json

from .projects import ORDERS, PLACE, checked, line, told, write
from .test_cli import committed, run
from .test_publish import LIVE, TESTED, everything, promoted, view

# -- Inputs --


def test_seed2_unknown_top_level_fields_fail_unless_they_stand_under_extensions(tmp_path: Path) -> None:
    (found,) = checked(tmp_path / "a", {PLACE: ORDERS + "cost_center: 4711\n"}).diagnostics
    assert (line(found), found.blocks) == (f"E104 {PLACE}:16:1 cost_center", True)
    assert "extensions" in (found.fix or "")
    assert told(tmp_path / "b", {PLACE: ORDERS + "extensions: {cost_center: 4711}\n"}) == []


CONTRIBUTES: dict[str, tuple[str, tuple[str | int, ...], Any]] = {
    "asset references": ("kind: table\nref: shop.orders_v2\n", ("assets", 0, "ref"), "shop.orders_v2"),
    "column metadata": (
        "columns: [{name: amount, nullable: false, classification: internal}]\n",
        ("assets", 0, "columns", 1),
        {"name": "amount", "type": "decimal(10,2)", "nullable": False, "classification": "internal"},
    ),
    "test definitions": (
        "tests: [{id: t, kind: sql, severity: degrading, sql: select * from orders}]\n",
        ("tests", 0),
        {"id": "t", "kind": "sql", "severity": "degrading", "sql": "select * from orders"},
    ),
    "descriptions": ("description: One row per order.\n", ("assets", 0, "description"), "One row per order."),
    "freshness hints": ("freshness: {max_age: 24h}\n", ("assets", 0, "freshness"), {"max_age": "24h"}),
    "source references": ("location: data/orders.parquet\n", ("assets", 0, "location"), "data/orders.parquet"),
    "lineage hints": ("lineage: {upstream: [{asset: raw}]}\n", ("lineage", "upstream"), [{"asset": "raw"}]),
    "documentation fragments": (
        "documentation: Paid alone.\n",
        ("assets", 0, "documentation"),
        "Paid alone.",
    ),
}


@pytest.mark.parametrize("what", CONTRIBUTES)
def test_seed2_a_fragment_contributes(tmp_path: Path, what: str) -> None:
    text, path, expected = CONTRIBUTES[what]
    found = checked(tmp_path, {PLACE: ORDERS, "models/f.contract.yaml": f"product: shop.orders\nasset: orders\n{text}"})
    assert [line(d) for d in found.diagnostics] == []
    value: Any = found.collated.by_id["shop.orders"].data
    for step in path:
        value = value[step]
    assert value == expected


def test_seed2_a_fragment_beside_a_dlt_source_names_the_resource(tmp_path: Path) -> None:
    """dlt exports a schema, and what people know besides stands beside it; the latter counts more."""
    schema = (
        "name: shop\nengine_version: 11\ntables:\n  orders:\n    columns:\n      order_id: {data_type: bigint}\n"
        "      amount: {data_type: decimal, precision: 10, scale: 2}\n      note: {data_type: text}\n"
    )
    files = {
        PLACE: ORDERS.replace("kind: table", "kind: dlt_resource").split("    columns:")[0],
        "sources/shop.schema.yaml": schema,
        "sources/shop.contract.yaml": "asset: orders\ncolumns:\n- {name: order_id}\n- {name: amount}\n"
        "- {name: note, description: What the buyer wrote.}\n",
    }
    found = checked(tmp_path, files, '[contract_engine]\nscan = ["sources"]\n')
    assert [line(d) for d in found.diagnostics] == []
    assert found.collated.by_id["shop.orders"].data["assets"][0]["columns"] == [
        {"name": "amount", "type": "decimal(10,2)"},
        {"name": "note", "description": "What the buyer wrote.", "type": "string"},
        {"name": "order_id", "type": "int64"},
    ]


# -- Diagnostics --


def test_seed2_a_diagnostic_says_all_seven_things(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: ORDERS.replace("int64", "bigint")}).diagnostics
    (told,) = json.loads(render_json(found))
    assert {key: told[key] for key in ("severity", "code", "field_path", "fix", "blocks")} == {
        "severity": "error",
        "code": "E072",
        "field_path": "assets[orders].columns[order_id].type",
        "fix": "write `int64`",
        "blocks": True,
    }
    assert told["message"].startswith("`bigint` is no type; types are int64, ")
    assert (told["span"]["file"], told["span"]["line"], told["span"]["column"]) == (PLACE, 14, 32)


# -- Promotion Rules --

Files = Mapping[str, str]
OTHER = "contracts/shop/returns/contract.yaml"
BESIDE = "models/f.contract.yaml"
SECRET = LIVE.replace("amount, type", "amount, classification: restricted, type")
BLOCKED: dict[str, tuple[Files | None, Files, str]] = {
    "a contract that does not parse": (None, {PLACE: LIVE + "purpose: 'a\n"}, "E101"),
    "one that is against the JSON Schema": (None, {PLACE: LIVE + "purpose: 3\n"}, "E105"),
    "missing required layer fields": (None, {PLACE: LIVE.replace("layer: bronze", "layer: silver")}, "E120"),
    "a breaking live contract change without approval or migration notes": (
        {PLACE: LIVE},
        {PLACE: LIVE.replace("1.0.0", "2.0.0").replace("decimal(10,2)", "decimal(8,2)")},
        "E131",
    ),
    "a version that does not cover the change": (
        {PLACE: LIVE},
        {PLACE: LIVE + "      - {name: note, type: string}\n"},
        "E130",
    ),
    "invalid governance intent": (
        None,
        {PLACE: LIVE + "governance: {masking: [{column: orders.amonut, rule: hash}]}\n"},
        "E122",
    ),
    "an unapproved classification weakening": (
        {PLACE: SECRET},
        {PLACE: SECRET.replace("1.0.0", "2.0.0").replace("restricted", "internal")},
        "E131",
    ),
    "invalid agent permission intent": (
        None,
        {PLACE: LIVE + "agent_permissions: [{agent: bot, actions: [read], expires: 2020-01-01}]\n"},
        "E152",
    ),
    "an unresolved merge conflict": (
        None,
        {PLACE: LIVE, BESIDE: "product: shop.orders\nasset: orders\ncolumns: [{name: amount, type: string}]\n"},
        "E114",
    ),
    "a test that cannot be one": (
        None,
        {PLACE: LIVE + "tests: [{id: t, kind: sql, severity: blocking, sql: 'drop table orders'}]\n"},
        "E140",
    ),
}


@pytest.mark.parametrize("what", BLOCKED)
def test_seed2_promotion_is_blocked_by(tmp_path: Path, what: str) -> None:
    live, files, code = BLOCKED[what]
    if live is not None:
        promoted(checked(tmp_path, live))
    found = checked(tmp_path, files)
    before = everything(tmp_path)
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert {d.code for d in stopped.value.diagnostics} == {code, "E160"}
    assert all(d.fix for d in stopped.value.diagnostics)
    assert everything(tmp_path) == before


def test_seed2_promotion_is_blocked_by_a_runtime_view_that_has_not_its_shape(tmp_path: Path) -> None:
    found = checked(tmp_path, {PLACE: TESTED})
    before = everything(tmp_path)
    with pytest.raises(StrataError) as stopped:
        promoted(found, Observations((SeenTest("shop.orders", "none", "passed", "yesterday"),)))
    assert [(d.code, d.message) for d in stopped.value.diagnostics] == [
        ("E160", "the runtime view of `shop.orders` does not have the shape of its schema")
    ]
    assert everything(tmp_path) == before


def test_seed2_promotion_is_blocked_where_its_provenance_cannot_be_recorded(tmp_path: Path) -> None:
    write(tmp_path, {"contracts/.promotions": "a file where the record should be"})
    found = checked(tmp_path, {PLACE: LIVE})
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [d.code for d in stopped.value.diagnostics] == ["E161", "E160"]
    assert not (tmp_path / "out" / "current").exists()


def test_seed2_a_contract_that_does_not_parse_keeps_no_other_product_that_is_named_from_promotion(
    tmp_path: Path,
) -> None:
    files = {PLACE: LIVE + "purpose: 'a\n", OTHER: LIVE.replace("shop.orders", "shop.returns")}
    found = checked(tmp_path, files)
    with pytest.raises(StrataError) as stopped:
        promoted(found)
    assert [(d.code, d.message) for d in stopped.value.diagnostics][1:] == [
        ("E160", f"`{PLACE}` cannot be promoted: it is no contract as it stands")
    ]
    with pytest.raises(StrataError) as stopped:
        promoted(found, None, "shop.orders")
    assert [(d.code, str(d.span or "")) for d in stopped.value.diagnostics] == [("E101", f"{PLACE}:17:1"), ("E073", "")]
    assert [p.product for p in promoted(found, None, "shop.returns").promoted] == ["shop.returns"]


# -- Compatibility Rules --


def test_seed2_a_change_is_of_one_of_four_classes(tmp_path: Path) -> None:
    promoted(checked(tmp_path, {PLACE: LIVE}))
    changed = {
        Verdict.PATCH: LIVE.replace("name: Orders", "name: All orders").replace("1.0.0", "1.0.1"),
        Verdict.MINOR: LIVE.replace("1.0.0", "1.1.0") + "      - {name: note, type: string}\n",
        Verdict.MAJOR: LIVE.replace("1.0.0", "2.0.0").replace("name: amount", "name: price"),
    }
    for verdict, text in changed.items():
        found = checked(tmp_path, {PLACE: text}).validated.compatibility["shop.orders"]
        assert (found.verdict, found.against) == (verdict, "1.0.0")
    drafts = tmp_path / "drafts"
    promoted(checked(drafts, {PLACE: ORDERS}))
    narrower = ORDERS.replace("decimal(10,2)", "decimal(8,2)").replace("0.1.0", "0.2.0")
    later = checked(drafts, {PLACE: narrower})
    assert (later.validated.compatibility["shop.orders"].verdict, later.diagnostics) == (Verdict.DRAFT, ())


# -- Project Runtime View --


def test_seed2_the_view_is_a_snapshot_and_no_store_of_lineage_policy_or_runs(tmp_path: Path) -> None:
    """Of many results of a test the latest, of a chain of tables one hop."""
    text = TESTED + "lineage: {upstream: [{product: shop.carts}]}\n"
    carts = LIVE.replace("shop.orders", "shop.carts").replace("id: orders", "id: carts")
    carts += "lineage: {upstream: [{asset: clicks}]}\n"
    seen = Observations(
        tests=tuple(
            SeenTest("shop.orders", "none", "failed" if hour < 9 else "passed", f"2026-11-30T{hour:02}:00:00Z")
            for hour in range(10)
        ),
        edges=(SeenEdge("orders", "carts"), SeenEdge("carts", "clicks"), SeenEdge("clicks", "logs")),
    )
    promoted(checked(tmp_path, {PLACE: text, "contracts/shop/carts/contract.yaml": carts}), seen)
    served = view(tmp_path)
    assert [(t["id"], t["outcome"], t["at"]) for t in served["tests"]] == [("none", "passed", "2026-11-30T09:00:00Z")]
    assert {edge["upstream"] for edge in served["lineage"]} == {"carts", "shop.carts"}


# -- Modes, Outputs, CLI --


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, {"strata.toml": '[project]\nname = "p"\n', ".gitignore": ".generated\n", PLACE: LIVE})
    committed(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_seed2_the_command_line_is_as_the_seed_writes_it(project: Path) -> None:
    for arguments in (
        ["discover"],
        ["validate", "--contract", PLACE],
        ["project", "--contract", PLACE, "--out", ".generated/contracts/"],
        ["docs", "--contract", PLACE, "--out", ".generated/docs/"],
        ["suggest", "--product", "shop.orders"],
    ):
        assert run(*arguments)[0] == 0, arguments
    written = {p.relative_to(project / ".generated").as_posix() for p in (project / ".generated").rglob("*.*")}
    assert {"contracts/shop/orders.json", "docs/shop/orders.html", "docs/index.html"} <= written
    assert json.loads((project / ".generated/contracts/shop/orders.json").read_text())["id"] == "shop.orders"


def test_seed2_a_promotion_puts_out_everything_that_is_required(project: Path) -> None:
    """Effective contract, validation report, runtime view, documentation, diagnostics; a discovery index and a static
    site besides."""
    code, out, _ = run("validate", "--mode", "promotion", "--format", "json")
    assert (code, json.loads(out)) == (0, [])
    assert run("publish", "--by", "ana")[0] == 0
    current = project / ".generated/contracts/current"
    served = json.loads((current / "views/shop/orders.json").read_text())
    assert valid(served, RUNTIME_VIEW)
    assert valid(served["contract"], AUTHORED)
    index = json.loads((current / "index.json").read_text())
    assert [p["id"] for p in index["products"]] == ["shop.orders"]
    assert {"index.html", "llms.txt"} <= {p.name for p in (current / "docs").iterdir()}
    (entry,) = promotions.history(project / "contracts/.promotions", "shop.orders")
    assert (entry.by, entry.verdict) == ("ana", "first-version")


def test_seed2_who_promotes_is_recorded_and_asked_for_where_no_name_is_known(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose user is a number."""

    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr("getpass.getuser", unknown)
    code, _, err = run("publish")
    assert (code, err.splitlines()[0]) == (1, "error[E160]: nobody can tell later who promoted this: no user is known")
    assert "say who promotes with `--by NAME`" in err
    assert run("publish", "--by", "ana")[0] == 0


@pytest.mark.parametrize("mode", ["ci", "suggestion"])
def test_seed2_ci_and_suggestion_mode_publish_nothing_and_change_no_file(project: Path, mode: str) -> None:
    before = everything(project)
    assert run("validate", "--mode", mode)[0] == 0
    assert everything(project) == before
