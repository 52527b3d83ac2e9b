"""A code location that loads from the compiled manifest, and every way in which a manifest can be no good."""

from __future__ import annotations

import json
import subprocess
import sys

import dagster as dg
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.planning.kept.compiled_manifest import read_manifest, sealed
from strata_core.planning.kept.outline import outline
from strata_dagster import (
    StrataProject,
    StrataResource,
    observable_sources,
    strata_assets,
    strata_contract_assets,
    strata_stale_sensor,
)
from strata_dagster.assets import strata_asset_specs
from strata_dagster.translator import DagsterStrataTranslator


@pytest.fixture(autouse=True)
def _no_dev(monkeypatch) -> None:
    monkeypatch.delenv("DAGSTER_IS_DEV_CLI", raising=False)


def compiled(shop) -> str:
    done = CliRunner().invoke(strata, ["compile", "--manifest", "--project", str(shop.root)], standalone_mode=False)
    assert done.return_value == 0, done.output
    return done.output


def refused(shop) -> str:
    with pytest.raises(dg.DagsterInvalidDefinitionError) as caught:
        assert shop.project.outline
    text = str(caught.value)
    assert "error[E099]" in text
    assert "run `strata compile --manifest`" in text
    return text


@pytest.fixture
def manifest(shop):
    compiled(shop)
    return shop.root / ".strata/manifest.json"


def test_the_manifest_holds_what_the_compiler_knows(shop) -> None:
    made = outline(shop.project.opened)
    assert compiled(shop) == ".strata/manifest.json: 3 models, 2 sources\n"
    assert read_manifest(shop.project.opened) == made
    assert list(read_manifest(shop.project.opened).models) == list(made.models)
    found = strata_asset_specs(shop.project, DagsterStrataTranslator())
    (shop.root / ".strata/manifest.json").unlink()
    assert found == strata_asset_specs(shop.project, DagsterStrataTranslator())
    assert shop.run().success


def test_a_code_location_loads_from_it_without_compiler_and_cache(shop, manifest, tmp_path) -> None:
    code = f"""
import json, sys
sys.path.insert(0, {str(shop.root)!r})
import shop_definitions
heavy = ("lark", "duckdb", "pyarrow", "polars", "sqlalchemy", "strata_core.planning.kept.outlining")
parts = ("strata_core.analysis", "strata_core.contract_engine", "strata_core.relation", "strata_core.store")
print(json.dumps([m for m in sys.modules if m in heavy or m.startswith(parts)]))
"""
    environment = {"STRATA_CACHE_DIR": str(tmp_path / "nothing here"), "PATH": "", "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


def test_a_stale_manifest_does_not_load_and_names_what_changed(shop, manifest) -> None:
    shop.edit("models/rates.strata", "team:finance", "team:money")
    assert "is stale: `models/rates.strata` changed since it was made" in refused(shop).replace("\n", " ")
    compiled(shop)
    assert shop.project.outline.models["rate"].attributes["owner"] == "team:money"


def test_a_new_and_a_removed_file_make_it_stale(shop, manifest) -> None:
    shop.write("models/more.strata", "model more { from rate }\n")
    assert "`models/more.strata` changed" in refused(shop)
    (shop.root / "models/more.strata").unlink()
    assert shop.project.outline
    (shop.root / "models/rates.strata").unlink()
    assert "`models/rates.strata` changed" in refused(shop)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_half_written_manifest_does_not_load(shop, manifest, share) -> None:
    content = manifest.read_bytes()
    manifest.write_bytes(content[: int(len(content) * share)])
    assert "damaged or half-written" in refused(shop)


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", '{"format": 1}', '"x"', '{"format":1,"semantics":"2","project":3}']
)
def test_a_document_that_is_no_manifest_does_not_load(shop, manifest, text) -> None:
    manifest.write_text(text)
    assert "damaged or half-written" in refused(shop)
    manifest.write_bytes(sealed(json.loads(text)) if text.startswith('{"') else b"")
    refused(shop)


def test_a_manifest_with_parts_of_the_wrong_kind_does_not_load(shop, manifest) -> None:
    whole = json.loads(manifest.read_text())
    for key, value in {"models": [1], "sources": 7, "diagnostics": "x", "broken": 3}.items():
        manifest.write_bytes(sealed(whole | {key: value}))
        assert "is no compiled manifest" in refused(shop).replace("\n", " ")


def test_a_manifest_of_another_release_does_not_load(shop, manifest) -> None:
    manifest.write_bytes(sealed(json.loads(manifest.read_text()) | {"semantics": "1"}))
    assert "another release of Strata" in refused(shop)


def test_a_manifest_of_another_project_does_not_load(shop, manifest) -> None:
    shop.edit("strata.toml", '"shop"', '"mall"')
    assert "is of the project `shop`, not of `mall`" in refused(shop).replace("\n", " ")


def test_prepare_if_dev_makes_it_in_dev_and_requires_it_elsewhere(shop, monkeypatch) -> None:
    path = shop.root / ".strata/manifest.json"
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"E099.*there is no compiled manifest"):
        shop.project.prepare_if_dev()
    assert not path.exists()
    monkeypatch.setenv("DAGSTER_IS_DEV_CLI", "1")
    shop.project.prepare_if_dev()
    first = path.read_bytes()
    for damaged in (b"", first[:100]):
        path.write_bytes(damaged)
        shop.project.prepare_if_dev()
        assert path.read_bytes() == first
    shop.edit("models/rates.strata", "team:finance", "team:money")
    project = shop.project
    project.prepare_if_dev()
    assert project.outline.models["rate"].attributes["owner"] == "team:money"
    monkeypatch.delenv("DAGSTER_IS_DEV_CLI")
    shop.project.prepare_if_dev()  # it is current


def test_the_command_wants_a_model_or_the_manifest(shop) -> None:
    for arguments in ([], ["paid", "--manifest"]):
        done = CliRunner().invoke(strata, ["compile", *arguments, "--project", str(shop.root)])
        assert done.exit_code == 2
        assert "give either a MODEL or --manifest" in done.output


def break_rate(shop) -> None:
    shop.edit("models/rates.strata", "select { country, rate }", "select { country, rat }")


def test_broken_models_are_a_load_error_by_default_from_the_manifest_too(shop) -> None:
    break_rate(shop)
    done = CliRunner().invoke(strata, ["compile", "--manifest", "--project", str(shop.root)], standalone_mode=False)
    assert done.return_value == 1
    assert ".strata/manifest.json: 2 models, 2 sources, 1 broken model" in done.output
    with pytest.raises(
        dg.DagsterInvalidDefinitionError, match=r"does not compile(.|\n)*E021(.|\n)*did you mean `rate`"
    ):
        assert shop.project.outline


@pytest.mark.parametrize("from_manifest", [False, True])
def test_broken_models_are_failing_checks_by_choice_and_the_others_run(shop, from_manifest) -> None:
    assert shop.run().success
    break_rate(shop)
    if from_manifest:
        CliRunner().invoke(strata, ["compile", "--manifest", "--project", str(shop.root)])
    project = StrataProject(shop.root, on_error="check")
    specs = {s.key.to_user_string(): s for s in strata_asset_specs(project, DagsterStrataTranslator())}
    assert set(specs) == {"paid", "by_country", "rate"}
    assert specs["rate"].group_name == "broken"
    told = specs["rate"].description
    assert told.startswith("`rate` does not compile, or reads what does not:\n\n- **E")
    assert "- **E021** `models/rates.strata:" in told
    assert "\n  - write `rate`" in told
    shop.write("data/orders.csv", (shop.root / "data/orders.csv").read_text() + "9,MX,1.00,\n")
    shop.on_error = "check"
    run = shop.run()
    assert not run.success
    assert set(run.made) == {"paid", "by_country"}
    assert run.verdicts == {"paid": (True, "ERROR"), "by_country": (True, "ERROR"), "rate": (False, "ERROR")}
    assert "**E021**" in run.checks["rate.write_pin"].metadata["findings"].value
    assert "does not compile: rate" in run.failure
    assert len(shop.live("paid")) == 4
    assert run.checks["rate.last_known_good"].passed


def test_a_run_of_broken_models_alone_fails_their_checks_and_changes_nothing(shop) -> None:
    assert shop.run().success
    break_rate(shop)
    shop.on_error = "check"
    run = shop.run(selection=dg.AssetSelection.assets("rate"))
    assert not run.success
    assert run.made == {}
    assert run.verdicts == {"rate": (False, "ERROR")}
    assert len(shop.live("paid")) == 3


def test_a_model_that_does_not_parse_is_broken_too(shop) -> None:
    shop.edit("models/rates.strata", "  from rates\n", "  from from rates (\n")
    shop.on_error = "check"
    run = shop.run()
    assert run.verdicts["rate"] == (False, "ERROR")
    assert {"paid", "by_country"} <= set(run.made)


def test_on_error_is_one_of_two_words(shop) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="on_error is `fail` or `check`, not `ignore`"):
        StrataProject(shop.root, on_error="ignore")  # type: ignore[arg-type]


def test_what_is_no_project_is_told_with_what_one_is(shop) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match=r"is the folder of strata\.toml, not `None`"):
        StrataProject(None)  # type: ignore[arg-type]
    folder, strata = shop.root, StrataResource(shop.root)
    for load in (
        lambda: strata_assets(project=folder),
        lambda: observable_sources(project=folder),
        lambda: strata_stale_sensor(project=folder, resource=strata),
        lambda: strata_contract_assets(project=folder, assets=[], resource=strata),
    ):
        with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
            load()
        assert str(refused.value) == "project= is a `StrataProject`, not a PosixPath: `StrataProject(folder)`"


def test_what_reads_a_broken_model_is_broken_and_nothing_is_taken_back(shop) -> None:
    assert shop.run().success
    shop.edit("models/sales/orders.strata", "select { order_id, country", "select { order, country")
    shop.on_error = "check"
    run = shop.run()
    assert run.verdicts == {"rate": (True, "ERROR"), "paid": (False, "ERROR"), "by_country": (False, "ERROR")}
    assert set(run.made) == {"rate"}
    assert len(shop.live("by_country")) == 2


def test_what_the_package_gives_is_there_in_whatever_order_it_is_asked_for() -> None:
    code = """
import strata_dagster.contracts.assets, strata_dagster.guards.guard, strata_dagster.landing
import strata_dagster
for name in strata_dagster.__all__:
    assert callable(getattr(strata_dagster, name)), name
from strata_dagster import *
assert guard is strata_dagster.guards.guard.guard
try:
    strata_dagster.nothing
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "module 'strata_dagster' has no attribute 'nothing'\n"), done.stderr
