"""Discover and parse: every kind of file says what it says, with its places (Seed 2, "Discover", "Parse")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract_engine.discover import Inventory, discover
from strata_core.contract_engine.parse.parsed import GeneratedAsset, GeneratedColumn, ParsedFile
from strata_core.contract_engine.parse.sql_comments import comment_blocks, leading_comments
from strata_core.contract_engine.pipeline import open_setting
from strata_core.json_stream import JsonError, members
from strata_core.planning.dbt import VERSIONS

from .projects import ORDERS, PLACE, TODAY, checked, write


def inventory(root: Path, files: dict[str, str | bytes], toml: str = "") -> Inventory:
    write(root, {"strata.toml": f'[project]\nname = "p"\n{toml}', **files})
    setting = open_setting(root, TODAY)
    return discover(setting.tree, setting.config, setting.root)


def parsed(root: Path, files: dict[str, str | bytes], toml: str, path: str) -> ParsedFile:
    found = checked(root, {PLACE: ORDERS, **files}, toml)
    return next(f for f in found.parsed.files if f.path == path)


def test_seed2_discover_classifies_every_input_and_keeps_its_path(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        PLACE: ORDERS,
        "contracts/shop/orders/more.contract.yaml": "product: shop.orders\n",
        "models/x.contract.yaml": "",
        "models/schema.yml": "",
        "models/x.sql": "",
        "models/x.py": "",
        "models/notes.md": "",
        "target/manifest.json": "{}",
        "target/catalog.json": "{}",
        "target/run_results.json": "{}",
        "exports/shop.schema.yaml": "",
        "events/runs.jsonl": "",
        "elsewhere/contract.yaml": "",
    }
    toml = (
        '[contract_engine]\ngenerated = ["target/manifest.json", "target/catalog.json", "target/run_results.json",'
        ' "exports/shop.schema.yaml", "events/runs.jsonl"]\n'
    )
    assert [(i.path, i.kind.value) for i in inventory(tmp_path, files, toml).inputs] == [
        ("contracts/shop/orders/contract.yaml", "contract"),
        ("contracts/shop/orders/more.contract.yaml", "fragment"),
        ("events/runs.jsonl", "openlineage"),
        ("exports/shop.schema.yaml", "dlt schema"),
        ("models/schema.yml", "dbt yaml"),
        ("models/x.contract.yaml", "fragment"),
        ("models/x.py", "python"),
        ("models/x.sql", "sql"),
        ("target/catalog.json", "dbt catalog"),
        ("target/manifest.json", "dbt manifest"),
        ("target/run_results.json", "dbt run results"),
    ]


def test_seed2_what_git_ignores_is_not_discovered_unless_it_is_configured(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        ".gitignore": "build/\n*.tmp.sql\n/models/secret\n",
        "models/.gitignore": "!kept.tmp.sql\ndeep/*\n",
        "models/a.sql": "",
        "models/b.tmp.sql": "",
        "models/kept.tmp.sql": "",
        "models/secret/c.sql": "",
        "models/build/d.sql": "",
        "models/deep/e.sql": "",
        "models/.venv/f.sql": "",
        "build/catalog.json": "{}",
    }
    found = inventory(tmp_path, files, '[contract_engine]\ngenerated = ["build/catalog.json"]\n')
    assert [i.path for i in found.inputs] == ["build/catalog.json", "models/a.sql", "models/kept.tmp.sql"]


def test_the_ignores_of_the_repository_around_a_project_count(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("/inner/models/gone\n*.old.sql\n")
    files: dict[str, str | bytes] = {"models/a.sql": "", "models/b.old.sql": "", "models/gone/c.sql": ""}
    assert [i.path for i in inventory(tmp_path / "inner", files).inputs] == ["models/a.sql"]


def test_a_contract_of_another_name_is_told(tmp_path: Path) -> None:
    (found,) = inventory(tmp_path, {"contracts/shop/orders/contract.yml": ORDERS}).diagnostics
    assert (found.code, found.blocks) == ("E115", False)


def test_generated_metadata_that_is_not_there_is_told_and_blocks_nothing(tmp_path: Path) -> None:
    (found,) = inventory(tmp_path, {}, '[contract_engine]\ngenerated = ["catalog.json"]\n').diagnostics
    assert (found.code, found.blocks, str(found.span)) == ("E108", False, "strata.toml:4:1")


# -- fragments --


def fragment(file: ParsedFile) -> tuple[str | None, Any]:
    (one,) = file.fragments
    return one.beside, one.document.data


def test_seed2_a_fragment_in_the_comments_of_a_sql_file(tmp_path: Path) -> None:
    head = "-- about\n-- contract:\n--   product: shop.orders\n--   asset: orders\n--   tags: [x]\n"
    sql = f"{head}select 1\n-- contract:\n"
    file = parsed(tmp_path, {"models/o.sql": sql}, "", "models/o.sql")
    assert fragment(file) == ("o", {"product": "shop.orders", "asset": "orders", "tags": ["x"]})
    assert str(file.fragments[0].document.span(("tags", 0))) == "models/o.sql:5:13"
    found = checked(tmp_path, {PLACE: ORDERS, "models/o.sql": sql.replace("tags", "tgas")})
    assert [str(d.span) for d in found.diagnostics] == ["models/o.sql:5:6"]


@pytest.mark.parametrize(
    ("sql", "blocks"),
    [
        ("select 1\n-- contract:\n--   a: b\n", []),
        ("-- no contract: here\nselect 1", []),
        ("\n\n--contract:\n-- a: 1\n\nselect", ["\n\n           \n   a: 1"]),
        ("-- contract: # of orders\n--   a: 1\nselect -- b", ["             # of orders\n     a: 1"]),
        ("-- contract: {a: 1}\nselect", ["             {a: 1}"]),
        ("-- contract:\n--   a: 1\n\n--   b: 2\n\n-- About it.\n", ["            \n     a: 1\n\n     b: 2"]),
        ("-- contract:\n--   a: 1\n--\n-- About it.\nselect", ["            \n     a: 1\n  "]),
        ("/* contract:\n  a: 1\n  b: 2 */ select", ["            \n  a: 1\n  b: 2 "]),
        ("/**\n * contract:\n *   a: 1\n **/ select", ["   \n            \n     a: 1\n "]),
        ("/* x /* y */ */ -- contract:\n--   a: 1\n", ["                            \n     a: 1"]),
        (
            "/* contract: {a: 1} */\n-- contract:\n--   b: 2\n",
            ["             {a: 1} ", "\n".join((" " * 22, " " * 12, "     b: 2"))],
        ),
        (
            "{{ config(x='--') }}\n{# y #}\n-- contract:\n--   a: 1\nselect 'unfinished",
            ["\n".join((" " * 20, " " * 7, " " * 12, "     a: 1"))],
        ),
        ("-- contract:\r\n--   a: 1\r\nselect", ["            \r\n     a: 1\r"]),
        ("/* contract: {a: 1}", []),
        ("1 /* contract: {a: 1} */", []),
    ],
)
def test_where_comment_blocks_begin_and_end(sql: str, blocks: list[str]) -> None:
    assert list(comment_blocks(sql, "m.sql", pytest.fail)) == blocks


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("-- contract:\n-- product: shop.orders\nselect 1", ["E106 models/o.sql:1:1", "E101 models/o.sql:2:3"]),
        ("-- contract:\n--   product: shop.orders\n-- columns: []\nselect 1", ["E101 models/o.sql:3:3"]),
        ("/* contract:\n   product: shop.orders\n   tgas: [x] */", ["E104 models/o.sql:3:4 tgas"]),
        ("-- contract:\n--   product: [\nselect 1", ["E101 models/o.sql:2:16"]),
    ],
)
def test_what_is_wrong_with_a_comment_block_is_told_where_it_stands(tmp_path: Path, sql: str, told: list[str]) -> None:
    found = checked(tmp_path, {PLACE: ORDERS, "models/o.sql": sql}).diagnostics
    assert [" ".join(filter(None, (d.code, str(d.span), d.field_path))) for d in found] == told


@given(st.lists(st.sampled_from(["-- a\n", "--\n", "/* b */", "/* c\n * /* d */ */", "\n", " ", "/**/", "-- /* e\n"])))
def test_comments_are_those_that_sqlglot_knows(parts: list[str]) -> None:
    sql = "".join(parts) + "select 1 -- end"
    told = sqlglot.tokenize(sql, read="duckdb")[0].comments
    assert [sql[c.start : c.end] for c in leading_comments(sql)] == told


def test_seed2_a_fragment_in_the_yaml_of_dbt(tmp_path: Path) -> None:
    yml = """\
    version: 2
    models:
      - name: orders
        config: {materialized: table, meta: {contract: {asset: orders, tags: [a]}}}
      - name: others
        columns: [{name: contract}]
    sources:
      - name: raw
        tables:
          - name: lines
            meta:
              contract: {product: shop.orders, asset: lines, kind: table}
    """
    file = parsed(tmp_path, {"models/s.yml": yml}, "", "models/s.yml")
    assert [(f.beside, f.document.data) for f in file.fragments] == [
        ("orders", {"asset": "orders", "tags": ["a"]}),
        ("raw.lines", {"product": "shop.orders", "asset": "lines", "kind": "table"}),
    ]


def test_seed2_fragments_in_the_metadata_of_dagster_assets(tmp_path: Path) -> None:
    python = """\
    import dagster as dg

    @dg.asset(key=["shop", "orders"], metadata={"contract": {"product": "shop.orders", "asset": "orders"}})
    def anything(): ...

    @dg.asset(key_prefix="shop", metadata={"contract": {"asset": "orders", "location": "é", "columns": [
        {"name": "amount", "description": "Gross."}]}, "other": x})
    def orders(): ...

    spec = dg.AssetSpec(dg.AssetKey(["a", "b"]), metadata={"contract": {"product": "shop.orders"}})
    plain = dg.AssetSpec("c", metadata={"contract_owner": "x"})
    """
    file = parsed(tmp_path, {"models/a.py": python}, "", "models/a.py")
    assert sorted(
        (f.beside, f.document.data.get("product")) for f in file.fragments if "product" in f.document.data
    ) == [
        ("a/b", "shop.orders"),
        ("shop/orders", "shop.orders"),
    ]
    second = next(f for f in file.fragments if "location" in f.document.data)
    assert second.beside == "shop/orders"
    assert str(second.document.span(("columns", 0, "description"))) == "models/a.py:7:39"


# -- generated metadata --

NODE = {
    "resource_type": "model",
    "name": "orders",
    "unique_id": "model.shop.orders",
    "original_file_path": "models/orders.sql",
    "description": "All orders.",
    "depends_on": {"nodes": ["source.shop.raw.lines"]},
    "config": {"contract": {"enforced": True}},
    "columns": {
        "order_id": {
            "name": "order_id",
            "data_type": "bigint",
            "description": "Number.",
            "constraints": [{"type": "primary_key"}],
        },
        "amount": {"name": "amount", "data_type": "NUMERIC(10,2)", "description": "", "constraints": []},
        "shape": {"name": "shape", "data_type": "geometry"},
    },
    "raw_code": "select {{ ref('lines') }}" * 50,
}


def manifest(version: int, *nodes: dict[str, Any]) -> str:
    return json.dumps(
        {
            "metadata": {"dbt_schema_version": f"https://schemas.getdbt.com/dbt/manifest/v{version}.json"},
            "nodes": {n["unique_id"]: n for n in nodes},
            "sources": {
                "source.shop.raw.lines": {
                    "resource_type": "source",
                    "name": "lines",
                    "source_name": "raw",
                    "unique_id": "source.shop.raw.lines",
                    "columns": {},
                }
            },
            "macros": {"macro.x": {"macro_sql": "{" * 100}},
            "docs": {},
            "disabled": {},
            "parent_map": {"a": ["b"]},
            "group_map": None,
        }
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_seed2_a_dbt_manifest(tmp_path: Path, version: int) -> None:
    test = {
        "resource_type": "test",
        "name": "unique_id",
        "unique_id": "test.shop.x",
        "attached_node": "model.shop.orders",
    }
    files: dict[str, str | bytes] = {"d/target/manifest.json": manifest(version, NODE, test)}
    file = parsed(tmp_path, files, '[dbt]\nmanifest = "d/target/manifest.json"\n', "d/target/manifest.json")
    model, source = file.generated
    assert model.refs == ("orders", "model.shop.orders")
    assert (model.complete, model.description, model.upstream) == (True, "All orders.", ("source.shop.raw.lines",))
    assert str(model.span) == "d/models/orders.sql:1:1"
    assert model.columns == (
        GeneratedColumn("order_id", "int64", False, "Number.", True),
        GeneratedColumn("amount", "decimal(10,2)"),
        GeneratedColumn("shape"),
    )
    assert source.refs == ("raw.lines", "source.shop.raw.lines", "lines")
    assert [(t.name, t.asset) for t in file.tests] == [("unique_id", "orders")]


def test_seed2_a_dbt_catalog_and_run_results(tmp_path: Path) -> None:
    catalog = {"nodes": {"model.shop.orders": {"columns": {"ID": {"name": "ID", "type": "INTEGER", "index": 1}}}}}
    results = {"results": [{"unique_id": "test.shop.x", "status": "fail", "failures": 3, "message": "Got 3",
                            "timing": [{"completed_at": "2026-11-30T10:00:00Z"}]}]}  # fmt: skip
    files: dict[str, str | bytes] = {"catalog.json": json.dumps(catalog), "run_results.json": json.dumps(results)}
    toml = '[contract_engine]\ngenerated = ["catalog.json", "run_results.json"]\n'
    (table,) = parsed(tmp_path, files, toml, "catalog.json").generated
    assert (table.refs, table.complete, table.columns) == (
        ("orders", "model.shop.orders"),
        True,
        (GeneratedColumn("ID", "int64"),),
    )
    (result,) = parsed(tmp_path, files, toml, "run_results.json").results
    assert (result.status, result.failures, result.at) == ("fail", 3, "2026-11-30T10:00:00Z")


def test_seed2_a_dlt_schema(tmp_path: Path) -> None:
    schema = """\
    name: shop
    engine_version: 11
    tables:
      orders:
        description: From the shop.
        columns:
          id: {data_type: bigint, nullable: false, unique: true, primary_key: true}
          paid: {data_type: decimal, precision: 10, scale: 2}
          _dlt_id: {data_type: text, nullable: false}
      _dlt_loads: {columns: {load_id: {data_type: text}}}
    """
    toml = '[contract_engine]\ngenerated = ["shop.schema.yaml"]\n'
    (table,) = parsed(tmp_path, {"shop.schema.yaml": schema}, toml, "shop.schema.yaml").generated
    assert (table.kind, table.refs, str(table.span)) == (
        "dlt_resource",
        ("orders", "shop.orders"),
        "shop.schema.yaml:4:3",
    )
    assert [(c.name, c.type, c.nullable, c.unique, c.primary_key) for c in table.columns] == [
        ("id", "int64", False, True, True),
        ("paid", "decimal(10,2)", None, None, None),
    ]


def test_seed2_lineage_events_the_latest_of_each_output_counts(tmp_path: Path) -> None:
    def event(at: str, kind: str, run: str) -> str:
        lineage = {"total": {"inputFields": [{"namespace": "n", "name": "orders", "field": "amount"}]}}
        facets = {
            "schema": {"fields": [{"name": "total", "type": "DOUBLE"}]},
            "columnLineage": {"fields": lineage},
        }
        return json.dumps(
            {
                "eventTime": at,
                "eventType": kind,
                "run": {"runId": run},
                "job": {"namespace": "n", "name": "j"},
                "inputs": [{"namespace": "n", "name": "orders"}],
                "outputs": [{"namespace": "n", "name": "main.totals", "facets": facets}],
            }
        )

    lines = [event("2026-11-30T10:00:00Z", "FAIL", "r2"), event("2026-11-29T10:00:00Z", "COMPLETE", "r1"), "{", "[]"]
    files: dict[str, str | bytes] = {"e.jsonl": "\n".join(lines)}
    file = parsed(tmp_path, files, '[contract_engine]\ngenerated = ["e.jsonl"]\n', "e.jsonl")
    assert [(r.run_id, r.event, r.inputs) for r in file.runs] == [("r2", "FAIL", ("orders",))]
    (table,) = file.generated
    assert isinstance(table, GeneratedAsset)
    assert [(c.name, c.type, [(o.table, o.column) for o in c.origins]) for c in table.columns] == [
        ("total", "float64", [("orders", "amount")])
    ]
    assert [(d.code, str(d.span), d.blocks) for d in file.diagnostics] == [
        ("E108", "e.jsonl:3:1", False),
        ("E108", "e.jsonl:4:1", False),
    ]


# -- JSON in a stream --

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text(max_size=6), st.dictionaries(st.text(max_size=6), JSON, max_size=4) | JSON, max_size=4),
    st.booleans(),
    st.sampled_from([1, 2, 3, 7, 1 << 18]),
)
def test_law_members_are_those_of_the_whole_document(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any], spaced: bool, chunk: int
) -> None:
    """Wherever the windows end, and however the file is laid out."""
    from strata_core import json_stream

    path = tmp_path_factory.mktemp("json") / "d.json"
    path.write_text(json.dumps(document, indent=1 if spaced else None, ensure_ascii=False), encoding="utf-8")
    before, json_stream._CHUNK = json_stream._CHUNK, chunk
    try:
        found = list(members(path))
    finally:
        json_stream._CHUNK = before
    expected = []
    for section, value in document.items():
        expected += [(section, k, v) for k, v in value.items()] if isinstance(value, dict) else [(section, None, value)]
    assert found == expected


@given(st.integers(0, 400))
def test_law_a_document_that_is_cut_off_anywhere_is_an_error_at_its_end(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    text = manifest(12, NODE)[: 1 + at]
    path = tmp_path_factory.mktemp("json") / "d.json"
    path.write_text(text)
    with pytest.raises(JsonError) as stopped:
        list(members(path))
    assert stopped.value.line == 1
    assert stopped.value.column <= len(text) + 1


def test_seed2_what_the_sql_parser_knows_of_a_query(tmp_path: Path) -> None:
    sql = """\
    -- contract:
    --   product: shop.orders
    --   asset: totals
    --   kind: sql
    with paid as (select * from orders where paid)
    select country, sum(p.amount) as total from paid p join raw.fx on true group by country
    """
    contract = ORDERS + "  - {id: totals, kind: sql, columns: [{name: country}, {name: totl, type: float64}]}\n"
    found = checked(tmp_path, {PLACE: contract, "models/totals.sql": sql})
    (asset,) = next(f for f in found.parsed.files if f.path == "models/totals.sql").generated
    assert (asset.refs, asset.upstream, asset.complete) == (("totals", "models/totals.sql"), ("orders", "raw.fx"), True)
    assert [c.name for c in asset.columns] == ["country", "total"]
    assert sorted((d.code, d.field_path, d.fix) for d in found.diagnostics) == [
        ("E114", "assets[totals].columns[totl]", "did you mean `total`?"),
        ("W110", "assets[totals].columns", "add them to promise them; `contract-engine suggest` writes them"),
    ]
