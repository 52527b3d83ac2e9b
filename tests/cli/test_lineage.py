"""`strata lineage` as people run it."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest


def test_a_column_upwards(cli):
    ran = cli("lineage", "totals.total")
    assert ran.out.splitlines() == [
        "totals.total  money(EUR) nonnull",
        "└─ aggregated  paid.amount  money(EUR) nonnull",
        "   └─ passthrough  sales.amount  money(EUR) nonnull",
        "rows of totals",
        "└─ grouped  paid.country",
    ]
    assert ran.code == 0


def test_a_column_downwards(cli):
    ran = cli("lineage", "sales.amount", "--down", "--format", "json")
    assert [(v["to"]["table"], v["to"]["column"], v["kind"]) for v in ran.document["values"]] == [
        ("paid", "amount", "passthrough"),
        ("totals", "total", "aggregated"),
    ]
    assert [(r["to"]["table"], r["role"]) for r in ran.document["rows"]] == [("paid", "filter")]
    assert [t["to"]["table"] for t in ran.document["rows_through"]] == ["totals"]


def test_without_a_model_all_models_one_hop_each(cli):
    ran = cli("lineage")
    assert "paid.amount  money(EUR) nonnull\n└─ passthrough  sales.amount" in ran.out
    assert "totals.total  money(EUR) nonnull\n└─ aggregated  paid.amount" in ran.out
    events = cli("lineage", "--format", "openlineage").document
    assert [e["job"]["name"] for e in events] == ["paid", "totals"]


def test_what_is_not_there_is_a_fault_of_usage(cli):
    ran = cli("lineage", "total")
    assert ran.code == 2
    assert "did you mean `totals`?" in ran.err
    ran = cli("lineage", "totals.sum")
    assert ran.code == 2
    assert "E021" in ran.err


def test_models_with_errors_are_named_and_the_rest_is_shown(cli):
    cli.edit("models/totals.strata", "sum(amount)", "sum(amuont)")
    ran = cli("lineage", "paid.amount")
    assert ran.code == 0
    assert "sales.amount" in ran.out
    assert ran.err == "left out, for they have errors (`strata check`): totals\n"
    for asked in ("totals", "totals.total"):
        ran = cli("lineage", asked)
        assert ran.code == 2
        assert ran.err == "error[E027]: model `totals` has errors\n  = help: run `strata check` to see them\n\n"


DBT = """\
source staged(dbt: "stg") { columns: { id: int64 primary_key } }
model kept { from staged }
"""
MANIFEST = {
    "metadata": {"adapter_type": "duckdb", "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"},
    "nodes": {
        "model.p.stg": {
            "resource_type": "model",
            "name": "stg",
            "compiled_code": 'select raw_id as id from "db"."main"."raw"',
            "depends_on": {"nodes": ["source.p.in.raw"]},
        }
    },
    "sources": {
        "source.p.in.raw": {
            "resource_type": "source",
            "name": "raw",
            "source_name": "in",
            "relation_name": '"db"."main"."raw"',
        }
    },
}


def test_lineage_goes_on_into_dbt_and_says_what_is_inferred(cli):
    cli.write("models/dbt.strata", DBT)
    cli.write("dbt_project/target/manifest.json", json.dumps(MANIFEST))
    assert cli("lineage", "kept.id").out.splitlines() == [
        "kept.id  int64 nonnull",
        "└─ passthrough  staged.id  int64 nonnull",
        "   └─ passthrough  dbt:stg.id",
        "      └─ passthrough inferred  dbt:in.raw.raw_id",
    ]
    assert "kept.id" in cli("lineage", "dbt:in.raw.raw_id", "--down").out


def test_without_a_manifest_lineage_ends_at_the_source_and_says_so(cli):
    cli.write("models/dbt.strata", DBT)
    ran = cli("lineage", "kept.id")
    assert ran.code == 0
    assert "staged.id" in ran.out
    assert "warning[E030]: there is no dbt manifest" in ran.err


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": {"a": 1}, "sources": {}}', '{"nodes": []}'])
def test_a_manifest_that_is_damaged_is_told_and_nothing_else_is_lost(cli, text):
    cli.write("models/dbt.strata", DBT)
    cli.write("dbt_project/target/manifest.json", text)
    ran = cli("lineage", "kept.id")
    assert ran.code == 0
    assert "staged.id" in ran.out
    assert "warning[E033]" in ran.err
    assert ran.clean


def test_a_manifest_that_is_newer_than_what_is_known_is_told_and_read(cli):
    newer = json.loads(json.dumps(MANIFEST).replace("manifest/v12", "manifest/v13"))
    cli.write("models/dbt.strata", DBT)
    cli.write("dbt_project/target/manifest.json", json.dumps(newer))
    ran = cli("lineage", "kept.id")
    assert (ran.code, "in.raw" in ran.out) == (0, True)
    assert "warning[E033]: `dbt_project/target/manifest.json`: the manifest has the schema" in ran.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f"/*\n{DBT}*/\n// source a(dbt: 1)\nmodel n {{ from p }}\n", None),
        (f'model n {{ owner: "\nsource a(dbt: 1)" from staged }}\n/* ä */ {DBT}', "3:9"),
        ('source `a b` (\n  dbt: "stg") { columns: { id: int64 } }\n', "1:1"),
    ],
)
def test_a_check_tells_of_a_newer_manifest_at_the_first_source_of_it(cli, text, place):
    cli.write("models/dbt.strata", text)
    cli.write("dbt_project/target/manifest.json", json.dumps(MANIFEST).replace("manifest/v12", "manifest/v13"))
    told = [line.split("dbt.strata:")[1] for line in cli("check").out.split("\n\n") if "[E033]" in line]
    assert [one.split("\n")[0] for one in told] == ([] if place is None else [place])


def test_what_is_kept_of_a_manifest_names_it_by_its_place_now(cli):
    newer = json.dumps(MANIFEST).replace("manifest/v12", "manifest/v13")
    cli.write("models/dbt.strata", DBT)
    for place in ("one", "two"):
        cli.write(f"{place}/target/manifest.json", newer)
        cli.write("strata.toml", f'[project]\nname = "p"\n[dbt]\nmanifest = "{place}/target/manifest.json"\n')
        assert f"warning[E033]: `{place}/target/manifest.json`" in cli("lineage", "kept.id").err


def test_a_manifest_that_is_newer_is_told_by_whoever_reads_a_source_of_it(cli):
    newer = json.loads(json.dumps(MANIFEST).replace("manifest/v12", "manifest/v13"))
    newer["nodes"]["model.p.stg"].update(unique_id="model.p.stg", config={"location": "stg.parquet"})
    newer["sources"]["source.p.in.raw"]["unique_id"] = "source.p.in.raw"
    cli.write("models/dbt.strata", DBT)
    cli.write("dbt_project/target/manifest.json", json.dumps(newer))
    pq.write_table(pa.table({"id": [1]}), cli.root / "dbt_project/stg.parquet")
    told = """\
warning[E033]: `dbt_project/target/manifest.json`: the manifest has the schema \
`https://schemas.getdbt.com/dbt/manifest/v13.json`, which is newer than what is known here: what is new in it is not \
read
 --> models/dbt.strata:1:1
"""
    check = cli("check")
    assert (check.code, check.out.count(told)) == (0, 1)
    assert check.err.startswith("3 models in 4 files: 0 errors, 2 warnings")
    assert [d["code"] for d in cli("check", "--format", "json").document] == ["E033", "W001"]
    for verb in ("plan", "apply", "plan"):  # the second plan is of a fresh model
        ran = cli(verb, "kept")
        assert (ran.code, (ran.out + ran.err).count(told)) == (0, 1)
    assert "E033" not in (plain := cli("plan", "totals")).out + plain.err


def test_sql_that_cannot_be_traced_is_told(cli):
    lost = json.loads(json.dumps(MANIFEST))
    lost["nodes"]["model.p.stg"]["compiled_code"] = "select nothing from from"
    cli.write("models/dbt.strata", DBT)
    cli.write("dbt_project/target/manifest.json", json.dumps(lost))
    ran = cli("lineage", "kept.id")
    assert (ran.code, "warning[W030]: the columns of dbt model `stg`" in ran.err) == (0, True)


def test_a_manifest_that_cannot_be_read_is_told_also_where_what_is_asked_is_not_there(cli):
    cli.write("dbt_project/target/manifest.json", "{")
    cli.write("models/dbt.strata", 'source s(dbt: "a") { columns: { x: int64 } }')
    ran = cli("lineage", "dbt:a")
    assert ran.code == 2
    assert "warning[E033]: `dbt_project/target/manifest.json`" in ran.err
    assert "error[E027]" in ran.err
