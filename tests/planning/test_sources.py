"""Where a source's rows are: each resource clause, overrides, and what is said of a file that is not there."""

from __future__ import annotations

import json
import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import CsvTable, DuckDBTable, ParquetTable
from strata_core.planning import dbt, file_digests
from strata_core.planning.file_digests import file_digest
from strata_core.planning.inputs.sources import resolve, resolve_all
from strata_core.planning.project import compile_sound, open_project

COLUMNS = "{ columns: { a: int64 } }"


@pytest.fixture
def resolved(tmp_path):
    """What the source `s` of a project with this resource clause resolves to."""

    def resolved(clause, environment="prod", config="", more=""):
        (tmp_path / "strata.toml").write_text(f'[project]\nmodels = ["m.strata"]\n{config}')
        (tmp_path / "m.strata").write_text(f"source s({clause}) {COLUMNS}\nmodel m {{ from s }}\n{more}")
        project = open_project(project=tmp_path)
        compiled = compile_sound(project)
        return resolve(project, compiled, compiled.sources["s"], environment)

    return resolved


@pytest.fixture
def fault(resolved):
    def fault(*args, **how):
        with pytest.raises(StrataError) as caught:
            resolved(*args, **how)
        (found,) = caught.value.diagnostics
        assert str(found.span) == "m.strata:1:1"
        return found.code, found.message, found.fix

    return fault


def parquet(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"a": pa.array(values, pa.int64())}), path)


def test_csv(resolved, tmp_path):
    (tmp_path / "s.csv").write_text("a\n1\n")
    found = resolved('csv: "s.csv", null_text: "NA"')
    assert isinstance(found.table, CsvTable)
    assert (found.table.path, found.table.null) == (tmp_path / "s.csv", "NA")
    assert found.files == (tmp_path / "s.csv",)
    assert resolved('csv: "s.csv"').digest == file_digest(tmp_path / "s.csv")
    assert [c.name for c in found.table.columns] == ["a"]


def test_parquet_file_and_folder(resolved, tmp_path):
    parquet(tmp_path / "d/b.parquet", [2])
    parquet(tmp_path / "d/a.parquet", [1])
    (tmp_path / "d/note.txt").write_text("no part of it")
    one, all_ = resolved('parquet: "d/a.parquet"'), resolved('parquet: "d"')
    assert isinstance(one.table, ParquetTable)
    assert one.table.paths == (tmp_path / "d/a.parquet",)
    assert all_.files == (tmp_path / "d/a.parquet", tmp_path / "d/b.parquet")
    assert all_.digest != one.digest


def test_a_table_of_a_duckdb_file(resolved, tmp_path):
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("create table t as select 1::bigint a")
    found = resolved('duckdb: "w.duckdb", table: "t"')
    assert isinstance(found.table, DuckDBTable)
    assert (found.table.path, found.table.table) == (tmp_path / "w.duckdb", "t")
    assert resolved('duckdb: "w.duckdb"').table.table == "s"


def test_seed0_s6_how_the_bytes_are_read_is_part_of_a_digest(resolved, tmp_path):
    (tmp_path / "s.csv").write_text("a\n1\n")
    plain, na, dash = (resolved(f'csv: "s.csv"{more}') for more in ("", ', null_text: "NA"', ', null_text: "-"'))
    assert len({plain.digest, na.digest, dash.digest}) == 3
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("create table t as select 1::bigint a")
    of_t, of_u, of_s = (resolved(f'duckdb: "w.duckdb"{more}') for more in (', table: "t"', ', table: "u"', ""))
    assert len({of_t.digest, of_u.digest, of_s.digest}) == 3
    assert resolved('duckdb: "w.duckdb", table: "s"').digest == of_s.digest


def dbt_manifest(root, nodes, version="https://schemas.getdbt.com/dbt/manifest/v12.json"):
    path = root / "dbt_project/target/manifest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"metadata": {"dbt_schema_version": version}, "nodes": nodes, "sources": {}}))


def model(name, **config):
    return {
        "resource_type": "model",
        "unique_id": f"model.p.{name}",
        "name": name,
        "alias": name,
        "schema": "main",
        "config": config,
    }


def test_a_dbt_model_that_is_a_parquet_file(resolved, fault, tmp_path):
    dbt_manifest(tmp_path, {"x": model("stg", location="../data/stg.parquet")})
    assert fault('dbt: "stg"') == ("E030", "source `s`: dbt has not built `stg`", "run `dbt build`")
    parquet(tmp_path / "data/stg.parquet", [1])
    found = resolved('dbt: "stg"')
    assert (found.dbt, found.files) == ("model.p.stg", (tmp_path / "data/stg.parquet",))
    assert isinstance(found.table, ParquetTable)


def test_a_dbt_model_that_is_a_table(resolved, fault, tmp_path):
    dbt_manifest(tmp_path, {"x": model("stg", materialized="table")})
    code, message, fix = fault('dbt: "stg"')
    assert (code, message) == ("E030", "source `s`: dbt model `stg` is a table of a database that is not named")
    assert fix == 'set `[dbt] database = "path.duckdb"` in strata.toml, or materialize it as `external`'
    config = '[dbt]\ndatabase = "w.duckdb"\n'
    assert fault('dbt: "stg"', config=config)[1] == "source `s`: the dbt database is missing"
    duckdb.connect(str(tmp_path / "w.duckdb")).close()
    found = resolved('dbt: "stg"', config=config)
    assert isinstance(found.table, DuckDBTable)
    assert (found.table.path, found.table.table) == (tmp_path / "w.duckdb", "main.stg")


def test_seed0_s5b_e030_a_dbt_manifest_that_is_missing_or_none(fault, tmp_path):
    assert fault('dbt: "stg"') == (
        "E030",
        "source `s`: there is no dbt manifest at `dbt_project/target/manifest.json`",
        "run `dbt build` (or `dbt parse`) first, or set `[dbt] manifest` in strata.toml",
    )
    dbt_manifest(tmp_path, {"x": model("stg_orders", location="x.parquet")})
    assert fault('dbt: "stg_order"') == (
        "E030",
        "source `s`: the dbt manifest `manifest.json` has no model `stg_order`",
        "did you mean `stg_orders`?",
    )
    (tmp_path / "dbt_project/target/manifest.json").write_text("[]")
    code, message, fix = fault('dbt: "stg"')
    assert (code, fix) == ("E033", "run `dbt parse` to write it again")
    assert message.startswith("source `s`: `dbt_project/target/manifest.json` is no dbt manifest")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "the file ends where `{` is expected (line 1, column 1)"),
        ("{}", "there is no `metadata.dbt_schema_version` where dbt writes one"),
        ('{"nodes": 1}', "a member of `nodes` or `sources` is no object"),
        ('{"nodes": {"a": {"name": "a"}}}', "there is no `resource_type` where dbt writes one"),
        (
            '{"metadata": {},\n"nodes": {"a": {"res',
            "the file ends within a value: it was not written to its end (line 2, column 21)",
        ),
    ],
)
def test_a_dbt_manifest_that_is_damaged_is_told_with_its_place(fault, tmp_path, content, why):
    dbt_manifest(tmp_path, {})
    (tmp_path / "dbt_project/target/manifest.json").write_text(content)
    code, message, fix = fault('dbt: "stg"')
    assert (code, fix) == ("E033", "run `dbt parse` to write it again")
    assert message == f"source `s`: `dbt_project/target/manifest.json` is no dbt manifest: {why}"


@pytest.mark.parametrize(("version", "known"), [("v9", False), ("v13", True), ("v0", False), ("12", False)])
def test_a_newer_dbt_manifest_is_read_and_an_older_or_unknown_one_is_not(resolved, fault, tmp_path, version, known):
    parquet(tmp_path / "data/stg.parquet", [1])
    schema = f"https://schemas.getdbt.com/dbt/manifest/{version}.json"
    dbt_manifest(tmp_path, {"x": model("stg", location="../data/stg.parquet")}, schema)
    if known:
        assert resolved('dbt: "stg"').files == (tmp_path / "data/stg.parquet",)
    else:
        assert fault('dbt: "stg"') == (
            "E033",
            "source `s`: `dbt_project/target/manifest.json`: the manifest has the schema "
            f"`{schema}`, which is not known here",
            "use a dbt that writes version 10 to 12 (dbt 1.6 to 1.11)",
        )


def test_a_dbt_manifest_is_read_once_for_its_content(resolved, tmp_path, monkeypatch):
    (tmp_path / "dbt_project").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "dbt_project" / "a.parquet")
    dbt_manifest(tmp_path, {"x": model("stg", location="a.parquet")})
    first = resolved('dbt: "stg"')

    def read(path):
        raise AssertionError(f"{path} is read again")

    monkeypatch.setattr(dbt, "members", read)
    dbt._read.cache_clear()
    assert resolved('dbt: "stg"').table == first.table
    dbt_manifest(tmp_path, {"x": model("stg", location="b.parquet")})
    with pytest.raises(AssertionError, match="is read again"):
        resolved('dbt: "stg"')


def test_seed0_s5b_e030_a_file_that_is_missing(fault, tmp_path):
    assert fault('csv: "data/orders.csv"') == (
        "E030",
        "source `s`: there is no file `data/orders.csv`",
        "the path is relative to the project",
    )
    (tmp_path / "data").mkdir()
    (tmp_path / "data/order.csv").write_text("")
    assert fault('csv: "data/orders.csv"')[2] == "did you mean `data/order.csv`?"
    assert fault('parquet: "data"')[1] == "source `s`: the folder `data` holds no Parquet file"
    (tmp_path / "data/order.csv").unlink()
    (tmp_path / "data/orders.csv").mkdir()
    assert fault('csv: "data/orders.csv"') == (
        "E030",
        "source `s`: `data/orders.csv` is a folder, and one file is meant",
        "name one file of it; the Parquet files of a folder are read as one table by `parquet:`",
    )


def test_seed0_s5b_e030_a_source_that_is_nowhere(fault):
    assert fault('ns: "crm"') == (
        "E030",
        "source `s`: no table `s` is published in `prod`",
        'publish it first, or say in which file the rows are: `source s(parquet: "…")`',
    )


def test_where_a_source_is_in_an_environment(resolved, tmp_path):
    for name in ("own", "pipe", "toml"):
        (tmp_path / f"{name}.csv").write_text("a\n1\n")
    pipeline = 'pipeline p { env: staging, models: [m], sources: { s: from(csv: "pipe.csv") } }'
    config = '[environments.dev]\nsources = { s = "toml.csv" }\n'

    def found(environment, config=config):
        return resolved('csv: "own.csv", null_text: "NA"', environment, config, pipeline).table

    assert found("prod").path.name == "own.csv"
    assert found("staging").path.name == "pipe.csv"
    assert (found("dev").path.name, found("dev").null) == ("toml.csv", "NA")
    assert found("staging", config.replace("dev", "staging")).path.name == "toml.csv"


def test_e073_a_place_for_a_source_that_is_not_there(tmp_path):
    (tmp_path / "strata.toml").write_text('[environments.dev]\nsources = { order = "dev.csv" }\n')
    (tmp_path / "models").mkdir()
    (tmp_path / "models/m.strata").write_text(f'source orders(csv: "s.csv") {COLUMNS}\nmodel m {{ from orders }}\n')
    project = open_project(project=tmp_path)
    compiled = compile_sound(project)
    with pytest.raises(StrataError) as caught:
        resolve_all(project, compiled, "dev")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.fix, str(found.span)) == (
        "E073",
        "there is no source `order`",
        "did you mean `orders`?",
        "strata.toml:2:1",
    )
    assert list(resolve_all(project, compiled, "prod")[1]) == ["orders"]


def test_a_digest_is_that_of_the_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert file_digest(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_file_is_read_again_only_when_it_changed(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    monkeypatch.setattr(file_digests, "_RACY_SECONDS", -1.0)
    first = file_digest(path)
    monkeypatch.setattr(file_digests, "_CHUNK", 0)  # a file that is read now has no bytes
    assert file_digest(path) == first
    os.utime(path, (2, 2))
    assert file_digest(path) != first


def test_a_file_that_just_changed_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    status = path.stat()
    first = file_digest(path)
    path.write_bytes(b"abd")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file_digest(path) != first


def test_a_file_that_was_given_its_old_time_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(file_digests, "_RACY_SECONDS", -1.0)
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    status = path.stat()
    first = file_digest(path)
    path.write_bytes(b"abd")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert file_digest(path) != first


def test_a_note_of_a_digest_that_is_damaged_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    monkeypatch.setattr(file_digests, "_RACY_SECONDS", -1.0)
    first = file_digest(path)
    (note,) = (tmp_path / "cache/files").iterdir()
    whole = note.read_bytes()
    note.write_text("[]")
    assert file_digest(path) == first
    note.write_bytes(whole[:-1] + (b"0" if whole[-1:] != b"0" else b"1"))
    assert file_digest(path) == first


def test_e033_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(StrataError) as caught:
        file_digest(tmp_path / "folder")
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E033", "`folder` cannot be read: it is a folder")
