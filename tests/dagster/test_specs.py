"""What a code location shows of models and sources, and how a translator changes it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from strata_core.planning.kept.outline import ModelOutline
from strata_dagster import DagsterStrataTranslator, StrataProject, observable_sources, strata_assets
from strata_dagster.assets import strata_asset_specs


def specs(shop, translator: DagsterStrataTranslator | None = None, **options) -> dict[str, dg.AssetSpec]:
    found = strata_asset_specs(shop.project, translator or DagsterStrataTranslator(), **options)
    return {s.key.to_user_string(): s for s in found}


def test_a_model_is_an_asset_with_everything_that_the_compiler_knows(shop) -> None:
    paid = specs(shop)["paid"]
    assert paid.description == "Orders that were paid."
    assert paid.owners == ["team:finance"]
    assert paid.group_name == "sales"
    assert paid.kinds == {"strata", shop.project.engine}
    assert paid.skippable
    assert [d.asset_key.to_user_string() for d in paid.deps] == ["orders"]
    assert paid.tags["strata/contract"] == "Paid"
    assert paid.tags["classification/pii"] == ""
    assert len(paid.code_version) == 64
    assert paid.metadata["dagster/table_name"] == "shop.paid"
    assert paid.metadata["strata/model"] == "paid"


def test_owners_are_teams_or_addresses(shop) -> None:
    found = specs(shop)
    assert found["by_country"].owners == ["ann@example.com", "team:sales"]
    assert found["rate"].owners == ["team:finance"]


def test_groups_are_folders_else_files(shop) -> None:
    found = specs(shop)
    assert (found["by_country"].group_name, found["rate"].group_name) == ("sales", "rates")


def test_column_schema_has_types_nullability_keys_and_classification(shop) -> None:
    columns = {c.name: c for c in specs(shop)["paid"].metadata["dagster/column_schema"].columns}
    assert {n: (c.type, c.constraints.nullable, c.constraints.unique) for n, c in columns.items()} == {
        "order_id": ("int64", False, True),
        "country": ("string", False, False),
        "amount": ("decimal(10,2)", True, False),
        "email": ("string", True, False),
    }
    assert columns["order_id"].constraints.other == ["primary key"]
    assert columns["country"].constraints.other == ["protected", "one of ES, MX"]
    assert columns["email"].tags == {"classification": "pii"}
    assert columns["email"].description == "from orders.email"


def test_column_lineage_follows_origins_to_models_and_sources(shop) -> None:
    found = specs(shop)

    def lineage(name: str) -> dict[str, list[tuple[str, str]]]:
        deps = found[name].metadata["dagster/column_lineage"].deps_by_column
        return {c: [(d.asset_key.to_user_string(), d.column_name) for d in ds] for c, ds in deps.items()}

    assert lineage("paid")["email"] == [("orders", "email")]
    assert lineage("by_country") == {
        "country": [("paid", "country")],
        "orders": [],
        "total": [("paid", "amount")],
    }


def test_the_code_reference_is_file_and_line(shop) -> None:
    reference = specs(shop)["by_country"].metadata["dagster/code_references"].code_references[0]
    lines = (shop.root / "models/sales/orders.strata").read_text().splitlines()
    assert Path(reference.file_path) == (shop.root / "models/sales/orders.strata").resolve()
    assert lines[reference.line_number - 1].startswith("model by_country")


def test_the_code_version_of_a_reader_changes_with_what_it_reads(shop) -> None:
    before = {n: s.code_version for n, s in specs(shop).items()}
    shop.edit("models/sales/orders.strata", "from orders\n", "from orders\n  filter order_id > 0\n")
    after = {n: s.code_version for n, s in specs(shop).items()}
    assert {n for n in before if before[n] != after[n]} == {"paid", "by_country"}


def test_select_and_exclude_are_names_of_models(shop) -> None:
    assert set(specs(shop, select=["paid", "rate"])) == {"paid", "rate"}
    assert set(specs(shop, exclude=["rate"])) == {"paid", "by_country"}
    assert list(specs(shop, select=["paid", "rate"], exclude=["paid"])) == ["rate"]


def test_every_model_has_a_blocking_write_pin_and_a_last_known_good(shop) -> None:
    models = shop.assets()[0]
    assert {(c.asset_key.to_user_string(), c.name, c.blocking) for c in models.check_specs} == {
        (name, check, blocking)
        for name in ("paid", "by_country", "rate")
        for check, blocking in (("write_pin", True), ("last_known_good", False))
    }
    assert models.can_subset


def test_one_subclass_changes_every_choice(shop) -> None:
    class Mine(DagsterStrataTranslator):
        def get_asset_key(self, project: StrataProject, model: ModelOutline) -> dg.AssetKey:
            return super().get_asset_key(project, model).with_prefix("shop")

        def get_group_name(self, project: StrataProject, model: ModelOutline) -> str:
            return "mine"

        def get_owners(self, project: StrataProject, model: ModelOutline) -> list[str]:
            return ["team:everyone"]

        def get_kinds(self, project: StrataProject, model: ModelOutline) -> set[str]:
            return {"table"}

        def get_automation_condition(self, project: StrataProject, model: ModelOutline) -> dg.AutomationCondition:
            return dg.AutomationCondition.eager()

    found = specs(shop, Mine())["shop/by_country"]
    assert [d.asset_key.to_user_string() for d in found.deps] == ["shop/paid"]
    assert found.metadata["dagster/column_lineage"].deps_by_column["total"][0].asset_key == dg.AssetKey(
        ["shop", "paid"]
    )
    assert (found.group_name, found.owners, found.kinds) == ("mine", ["team:everyone"], {"table"})
    assert found.automation_condition is not None

    run = shop.run(assets=shop.assets(Mine())[:1])
    assert run.success
    assert set(run.made) == {"shop/paid", "shop/by_country", "shop/rate"}


def test_files_are_observable_source_assets(shop) -> None:
    (sources,) = observable_sources(project=shop.project)
    assert {s.key.to_user_string(): s.kinds for s in sources.specs} == {"orders": {"csv"}, "rates": {"csv"}}
    assert sources.is_observable


def test_a_project_that_does_not_compile_does_not_load_and_says_why(shop) -> None:
    shop.edit("models/rates.strata", "select { country, rate }", "select { country, rat }")
    with pytest.raises(dg.DagsterInvalidDefinitionError) as caught:
        strata_assets(project=shop.project)
    text = str(caught.value)
    assert "error[E021]" in text
    assert "models/rates.strata:6:" in text
    assert "did you mean `rate`?" in text


def test_a_missing_project_says_so(tmp_path) -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="E073"):
        strata_assets(project=StrataProject(tmp_path / "nowhere"))


def test_loading_an_unchanged_project_imports_no_engine_and_no_parser(shop) -> None:
    assert shop.project.outline.models  # kept now
    code = f"""
import json, sys
sys.path.insert(0, {str(shop.root)!r})
import shop_definitions
print(json.dumps([m for m in ("duckdb", "polars", "pyarrow", "lark", "sqlglot", "dagster_dbt") if m in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    assert "BetaWarning" not in done.stderr
