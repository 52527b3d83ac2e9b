"""One graph with dbt: the keys are dagster-dbt's own, and data versions say what dbt built."""

# Without postponed annotations: Dagster compares those of an op with types.

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.loader import LoadingContextForTest
from dagster_dbt import DagsterDbtTranslator
from dagster_dbt.dbt_manifest import validate_manifest

from strata_core.planning.file_digests import file_digest
from strata_dagster import DagsterStrataTranslator, StrataProject, StrataResource, observable_sources, strata_assets
from strata_dagster.assets import strata_asset_specs
from strata_dagster.dbt import with_data_versions


def node(name: str, **more: Any) -> dict[str, Any]:
    config = {"materialized": "external", "location": f"out/{name}.parquet", **more.pop("config", {})}
    return {
        "unique_id": f"model.shop.{name}",
        "resource_type": "model",
        "package_name": "shop",
        "name": name,
        "alias": name,
        "schema": "main",
        "database": "shop",
        "path": f"{name}.sql",
        "original_file_path": f"models/{name}.sql",
        "fqn": ["shop", name],
        "tags": [],
        "meta": {},
        "description": "",
        "columns": {},
        "depends_on": {"nodes": [], "macros": []},
        "checksum": {"name": "sha256", "checksum": name},
        "relation_name": f'"shop"."main"."{name}"',
        "config": config,
        **more,
    }


NODES = [
    node("plain"),
    node("in_schema", config={"schema": "staging"}),
    node("named", config={"meta": {"dagster": {"asset_key": ["raw", "chosen"]}}}),
]


@pytest.fixture
def project(tmp_path: Path) -> StrataProject:
    manifest = {
        "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "project_name": "shop"},
        "nodes": {n["unique_id"]: n for n in NODES},
        "sources": {},
        "exposures": {},
        "metrics": {},
        "semantic_models": {},
        "saved_queries": {},
        "unit_tests": {},
        "child_map": {},
        "parent_map": {},
    }
    target = tmp_path / "dbt_project" / "target"
    target.mkdir(parents=True)
    (target / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "strata.toml").write_text("")
    models = tmp_path / "models"
    models.mkdir()
    (models / "all.strata").write_text(
        "\n".join(
            f'source s_{n["name"]}(dbt: "{n["name"]}") {{ columns: {{ a: int64 }} }}\n'
            f"model m_{n['name']} {{ from s_{n['name']} select {{ a }} }}"
            for n in NODES
        )
    )
    return StrataProject(tmp_path)


def upstream(project: StrataProject, translator: DagsterStrataTranslator) -> dict[str, dg.AssetKey]:
    return {s.key.path[-1]: next(iter(s.deps)).asset_key for s in strata_asset_specs(project, translator)}


def dbt_keys(project: StrataProject, translator: DagsterDbtTranslator) -> dict[str, dg.AssetKey]:
    manifest = validate_manifest(project.root / "dbt_project/target/manifest.json")
    return {f"m_{n['name']}": translator.get_asset_spec(manifest, n["unique_id"], None).key for n in NODES}


def test_dbt_sources_have_the_keys_that_dagster_dbt_gives(project) -> None:
    assert upstream(project, DagsterStrataTranslator()) == dbt_keys(project, DagsterDbtTranslator())
    assert upstream(project, DagsterStrataTranslator()) == {
        "m_plain": dg.AssetKey(["plain"]),
        "m_in_schema": dg.AssetKey(["staging", "in_schema"]),
        "m_named": dg.AssetKey(["raw", "chosen"]),
    }


def test_a_dbt_translator_of_ones_own_is_followed(project) -> None:
    class Prefixed(DagsterDbtTranslator):
        def get_asset_key(self, dbt_resource_props: Any) -> dg.AssetKey:
            return super().get_asset_key(dbt_resource_props).with_prefix("dbt")

    found = upstream(project, DagsterStrataTranslator(dbt_translator=Prefixed()))
    assert found == dbt_keys(project, Prefixed())
    assert found["m_plain"] == dg.AssetKey(["dbt", "plain"])


def test_dbt_models_are_not_source_assets_of_ours(project) -> None:
    assert observable_sources(project=project) == []


def test_a_missing_manifest_says_which_command_makes_it(project) -> None:
    (project.root / "dbt_project/target/manifest.json").unlink()
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"(?s)E030.*dbt parse"):
        strata_asset_specs(StrataProject(project.root), DagsterStrataTranslator())


def test_a_dbt_model_that_is_not_there_is_named_at_its_source(project) -> None:
    path = project.root / "models/all.strata"
    path.write_text(path.read_text().replace('dbt: "plain"', 'dbt: "plane"'))
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"(?s)has no model `plane`.*did you mean `plain`\?"):
        strata_asset_specs(StrataProject(project.root), DagsterStrataTranslator())


def test_built_files_get_the_digest_of_their_content_as_data_version(project) -> None:
    built = project.root / "dbt_project/out/plain.parquet"
    built.parent.mkdir()
    built.write_bytes(b"rows")
    events = [
        dg.Output(None, "plain", {"unique_id": "model.shop.plain", "rows": 4}, tags={"a": "b"}),
        dg.Output(None, "in_schema", {"unique_id": "model.shop.in_schema"}),
        dg.AssetCheckResult(passed=True, asset_key="plain", check_name="unique"),
    ]
    plain, unbuilt, check = with_data_versions(events, project)
    assert plain.data_version == dg.DataVersion(file_digest(built))
    assert (plain.output_name, plain.metadata["rows"].value, plain.tags) == ("plain", 4, {"a": "b"})
    assert (unbuilt, check) == (events[1], events[2])


def test_new_rows_of_a_dbt_model_make_its_readers_stale_and_the_same_rows_do_not(project, tmp_path) -> None:
    manifest = validate_manifest(project.root / "dbt_project/target/manifest.json")
    spec = DagsterDbtTranslator().get_asset_spec(manifest, NODES[0]["unique_id"], None)
    path = project.root / "dbt_project/out/plain.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)

    @dg.multi_asset(specs=[spec], name="staging")
    def staging():
        yield dg.MaterializeResult(spec.key, data_version=dg.DataVersion(file_digest(path)))

    @strata_assets(project=project, select="m_plain")
    def models(context: dg.AssetExecutionContext, strata: StrataResource):
        yield from strata.apply(context).stream()

    resources = {"strata": StrataResource(project_dir=project)}
    graph = dg.Definitions(assets=[staging, models], resources=resources).resolve_asset_graph()
    with dg.DagsterInstance.ephemeral() as instance:

        def built(values: list[int], selection: list[str]) -> dict[str, list[tuple[str, str]]]:
            pq.write_table(pa.table({"a": pa.array(values, pa.int64())}), path)
            done = dg.materialize([staging, models], selection=selection, instance=instance, resources=resources)
            assert done.success
            resolver = CachingStaleStatusResolver(instance, graph, LoadingContextForTest(instance))
            causes = {key.to_user_string(): resolver.get_stale_causes(key) for key in graph.get_all_asset_keys()}
            return {
                name: [(c.category.value, c.dependency_asset_key.to_user_string()) for c in found]
                for name, found in causes.items()
                if found
            }

        assert built([1, 2], ["plain", "m_plain"]) == {}
        assert built([1, 2], ["plain"]) == {}
        assert built([1, 2, 3], ["plain"]) == {"m_plain": [("DATA", "plain")]}
        assert built([1, 2, 3], ["m_plain"]) == {}
