"""`contract-engine init`: what is drafted of which tools, and what is told of what they do not say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from strata_core.contract_engine.pipeline import examine, open_setting

from .projects import ORDERS, PLACE, TODAY, checked, line, write
from .test_cli import run

TOML = '[project]\nname = "p"\n[dbt]\nmanifest = "target/manifest.json"\n'
MANIFEST = "target/manifest.json"


def node(name: str, columns: dict[str, str], *upstream: str, package: str = "p", **more: Any) -> dict[str, Any]:
    return {
        "resource_type": "model",
        "name": name,
        "unique_id": f"model.{package}.{name}",
        "columns": {c: {"name": c, "data_type": type_} for c, type_ in columns.items()},
        "depends_on": {"nodes": list(upstream)},
        **more,
    }


def manifest(*nodes: dict[str, Any]) -> str:
    head = {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}
    return json.dumps({"metadata": head, "nodes": {n["unique_id"]: n for n in nodes}})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, {"strata.toml": TOML})


def drafted(root: Path, product: str) -> Any:
    return yaml.safe_load((root / "contracts" / product.replace(".", "/") / "contract.yaml").read_text())


def findings(root: Path) -> list[str]:
    return [line(d) for d in examine(open_setting(root, TODAY)).diagnostics if d.code != "E124"]


def test_without_what_a_tool_says_it_is_told_where_one_was_looked_for(project: Path) -> None:
    code, _, err = run("init", "shop.orders", "orders")
    assert (code, err) == (
        2,
        "error[E073]: no tool of this project knows `orders`\n"
        "  = note: looked at: nothing: no file of dbt or dlt is there, and no Strata model in `models`"
        " (`[project] models`)\n"
        "  = note: dbt's manifest `target/manifest.json` is not there: run `dbt parse`, or say in `[dbt] manifest`"
        " where it is\n"
        "  = help: name a Strata model, a dbt model or a dlt resource\n\n",
    )
    assert not (project / "contracts").exists()


def test_a_manifest_that_cannot_be_read_is_told_with_the_table_that_nobody_knows(project: Path) -> None:
    write(project, {MANIFEST: manifest(node("orders", {"id": "int"}))[:-40]})
    code, _, err = run("init", "shop.orders", "orders")
    assert code == 2
    assert [t.partition(":")[0] for t in err.splitlines() if t.startswith("error")] == ["error[E108]", "error[E073]"]
    assert not (project / "contracts").exists()


def test_a_model_that_is_not_valid_is_told_with_the_table_that_nobody_knows(project: Path) -> None:
    write(project, {"models/m.strata": "model m { from nowhere }\n"})
    code, _, err = run("init", "shop.m", "n")
    assert code == 2
    assert "error[E073]: no tool of this project knows `n`\n  = note: looked at: models/m.strata (strata)\n" in err
    assert "of Strata models that do not compile nothing is known: `strata check` tells\n" in err


IDS = {
    "daily totals": ("daily_totals", "daily totals"),
    "2024_orders": ("_2024_orders", "2024_orders"),
    "a.b": ("a_b", "a.b"),
    "-x": ("x", "-x"),
    "Menü": ("Menu", "Menü"),
    "日本": ("table", "日本"),
    'say "x"': ("say_x_", 'say "x"'),
    "a-b": ("a-b", None),
    "n" * 200: ("n" * 120, "n" * 200),
}


@pytest.mark.parametrize("name", IDS)
def test_names_that_are_no_identifiers_become_ids_that_hold(project: Path, name: str) -> None:
    write(project, {MANIFEST: manifest(node(name, {"id": "int"}))})
    assert run("init", "shop.odd", "--", name)[0] == 0
    (asset,) = drafted(project, "shop.odd")["assets"]
    assert (asset["id"], asset.get("ref")) == IDS[name]
    assert findings(project) == []


def test_assets_whose_names_would_be_one_id_are_told_apart(project: Path) -> None:
    write(project, {MANIFEST: manifest(*(node(n, {"id": "int"}) for n in ("a.b", "a b", "a_b")))})
    assert run("init", "shop.odd", "a.b", "a b", "a_b")[0] == 0
    found = [(a["id"], a.get("ref")) for a in drafted(project, "shop.odd")["assets"]]
    assert found == [("a_b", "a.b"), ("a_b_2", "a b"), ("a_b_3", "a_b")]
    assert findings(project) == []


def test_a_table_that_is_named_twice_is_one_asset(project: Path) -> None:
    write(project, {MANIFEST: manifest(node("orders", {"id": "int"}))})
    assert run("init", "shop.orders", "model.p.orders", "orders")[0] == 0
    assert drafted(project, "shop.orders")["assets"] == [
        {"id": "orders", "kind": "dbt_model", "ref": "model.p.orders", "columns": [{"name": "id", "type": "int64"}]}
    ]


@pytest.mark.parametrize("column", ["a b", 'qu"ote', "select", "x: y", "- z", "# h", "1e3", "null", "yes", "Ünï", "'"])
def test_columns_keep_their_names(project: Path, column: str) -> None:
    write(project, {MANIFEST: manifest(node("orders", {column: "int"}))})
    assert run("init", "shop.orders", "orders")[0] == 0
    assert drafted(project, "shop.orders")["assets"][0]["columns"] == [{"name": column, "type": "int64"}]
    assert findings(project) == []


def test_what_is_not_known_of_a_table_is_told(project: Path) -> None:
    write(project, {MANIFEST: manifest(node("bare", {}), node("odd", {"a": "hstore", "b": "int", "c": ""}))})
    code, _, err = run("init", "shop.odd", "bare", "odd")
    assert (code, err) == (
        0,
        "note: no columns of `bare` are known: name dbt's `catalog.json` in `[contract_engine] generated`, which"
        " `dbt docs generate` writes, or write them\n"
        "note: no type is known of `a`, `c` of `odd`: its tool says none, or one that contracts do not know; write one"
        " of docs/language.md\n",
    )
    assert drafted(project, "shop.odd")["assets"] == [
        {"id": "bare", "kind": "dbt_model"},
        {
            "id": "odd",
            "kind": "dbt_model",
            "columns": [{"name": "a"}, {"name": "b", "type": "int64"}, {"name": "c"}],
        },
    ]
    assert findings(project) == []


def test_dbts_catalog_and_manifest_are_taken_together(project: Path) -> None:
    orders = node("orders", {"Id": "", "gone": "int"}, description="Paid orders.")
    orders["columns"]["Id"]["description"] = "Number of the order."
    catalog = {"nodes": {"model.p.orders": {"columns": {c: {"name": c, "type": "BIGINT"} for c in ("ID", "AMOUNT")}}}}
    write(
        project,
        {
            "strata.toml": TOML + '[contract_engine]\ngenerated = ["target/catalog.json"]\n',
            MANIFEST: manifest(orders),
            "target/catalog.json": json.dumps(catalog),
        },
    )
    code, _, err = run("init", "shop.orders", "orders")
    assert (code, err) == (
        0,
        "note: left out: `gone` of `orders`, which its tool speaks of and the table does not have\n",
    )
    assert drafted(project, "shop.orders")["assets"] == [
        {
            "id": "orders",
            "kind": "dbt_model",
            "description": "Paid orders.",
            "columns": [
                {"name": "Id", "type": "int64", "description": "Number of the order."},
                {"name": "AMOUNT", "type": "int64"},
            ],
        }
    ]


def test_products_that_a_table_is_made_of_are_its_upstream_and_one_that_has_it_is_named(project: Path) -> None:
    write(
        project,
        {
            MANIFEST: manifest(node("orders", {"id": "int"}), node("bills", {"id": "int"}, "model.p.orders")),
            PLACE: ORDERS.replace("kind: table", "kind: dbt_model"),
        },
    )
    code, _, err = run("init", "shop.bills", "bills")
    assert (code, err) == (0, "")
    assert drafted(project, "shop.bills")["lineage"] == {"upstream": [{"product": "shop.orders"}]}
    code, _, err = run("init", "shop.again", "model.p.orders")
    assert (code, err) == (
        0,
        f"note: `model.p.orders` is an asset of `shop.orders` too ({PLACE}): one product should answer for it\n",
    )


def test_of_tables_of_one_name_it_is_told_which_is_not_meant(project: Path) -> None:
    nodes = node("orders", {"id": "int"}), node("orders", {"id": "text"}, package="q")
    write(project, {MANIFEST: manifest(*nodes)})
    code, _, err = run("init", "shop.orders", "orders")
    assert (code, err) == (0, "note: `orders` is also a dbt model, `model.q.orders`, which is not meant here\n")
    assert run("init", "shop.others", "model.q.orders")[1:] == (
        "drafted contracts/shop/others/contract.yaml: fill in what is TODO, then `contract-engine validate --contract"
        " contracts/shop/others/contract.yaml`\n",
        "",
    )
    assert drafted(project, "shop.others")["assets"][0]["columns"] == [{"name": "id", "type": "string"}]


def test_a_product_that_has_a_contract_wherever_it_lies_keeps_it(project: Path) -> None:
    elsewhere = "contracts/old/place/contract.yaml"
    write(project, {MANIFEST: manifest(node("orders", {"id": "int"})), elsewhere: ORDERS})
    code, _, err = run("init", "shop.orders", "orders")
    assert code == 2
    assert f"error[E073]: `shop.orders` has a contract already: {elsewhere}\n" in err
    write(project, {PLACE: "id: [\n"})
    (project / elsewhere).unlink()
    code, _, err = run("init", "shop.orders", "orders")
    assert (code, (project / PLACE).read_text()) == (2, "id: [\n")
    assert f"error[E073]: `shop.orders` has a contract already: {PLACE}\n" in err


@pytest.mark.parametrize(
    "product", ["Shop.Orders", "shop", "shop.a.b", "../x.y", "", "a b.c", "shop._", "s." + "o" * 200]
)
def test_an_id_that_cannot_be_is_told_with_one_that_can(project: Path, product: str) -> None:
    code, _, err = run("init", product, "orders")
    assert code == 2
    assert f"error[E073]: `{product}` cannot be a product's id\n" in err
    assert "write `domain.product`, both of lowercase letters, digits and `_`, such as `shop.paid_orders`" in err


def test_a_layer_that_is_not_configured_is_told(project: Path) -> None:
    write(project, {MANIFEST: manifest(node("orders", {"id": "int"}))})
    code, _, err = run("init", "shop.orders", "orders", "--layer", "silvr")
    assert code == 2
    assert "error[E073]: there is no layer `silvr`\n  = help: did you mean `silver`?\n" in err


def test_a_column_that_is_made_of_a_classified_one_is_classified_as_high(project: Path) -> None:
    strata = """\
    source people(csv: "people.csv") {
      columns: {
        id: int64 nonnull,
        mail: string classification: "pii",
        land: string classification: "internal",
      }
    }
    model mails { from people select { id, address = lower(mail), both = concat(land, mail), land } }
    """
    labels = '[classification.labels]\npii = "restricted"\n'
    write(project, {"models/m.strata": strata, "strata.toml": TOML + labels})
    assert run("init", "shop.mails", "mails")[0] == 0
    assert drafted(project, "shop.mails")["assets"][0]["columns"] == [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "address", "type": "string", "classification": "pii"},
        {"name": "both", "type": "string", "classification": "pii"},
        {"name": "land", "type": "string", "classification": "internal"},
    ]
    assert findings(project) == []


# -- what is left to write --


def test_what_is_left_to_write_warns_in_a_draft_and_blocks_a_live_contract(tmp_path: Path) -> None:
    left = ORDERS.replace("{team: orders,", "{team: TODO,") + "purpose: 'TODO: ask ann'\n"
    found = checked(tmp_path / "a", {PLACE: left}).diagnostics
    assert [(line(d), d.blocks) for d in found] == [
        (f"E124 {PLACE}:9:15 owner.team", False),
        (f"E124 {PLACE}:16:10 purpose", False),
    ]
    assert found[0].message == "`owner.team` is still `TODO`: nobody has said what is meant"
    live = left.replace("0.1.0", "1.0.0")
    assert [(d.code, d.blocks) for d in checked(tmp_path / "b", {PLACE: live}).diagnostics] == [("E124", True)] * 2


def test_data_that_is_called_so_is_no_placeholder(tmp_path: Path) -> None:
    text = ORDERS.replace("order_id, type: int64, primary_key: true", "TODO, type: string, enum: [TODO, DONE]")
    text += "purpose: TODO lists of people.\nextensions: {x: TODO}\n"
    text += (
        "tests: [{id: t, kind: expectation, severity: blocking, asset: orders,"
        " expectation: {type: accepted_values, column: TODO, values: [TODO]}}]\n"
    )
    assert checked(tmp_path, {PLACE: text}).diagnostics == ()
