"""`StrataGuardComponent`: what others make is guarded in the YAML of a `dg` project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from dagster.components.core.component_tree import ComponentTreeException
from dagster.components.core.package_entry import get_package_objects_in_module

import strata_dagster
from strata_core.store import Store
from strata_dagster import StrataGuardComponent

from .guarded import CONTRACT, GOOD
from .test_component import whole


class OrdersComponent(dg.Component, dg.Model, dg.Resolvable):
    """Makes `orders` and `other`; the first of `country`."""

    country: str

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        country = self.country

        @dg.asset(key=["raw", "orders"])
        def orders() -> pl.DataFrame:
            return pl.DataFrame({**GOOD, "country": country})

        @dg.asset
        def other() -> None: ...

        return dg.Definitions(assets=[orders, other], jobs=[dg.define_asset_job("nightly", "raw/orders")])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    (place / "contracts/shop/orders").mkdir(parents=True)
    (place / "strata.toml").write_text('[project]\nname = "shop"\n')
    (place / "contracts/shop/orders/contract.yaml").write_text(CONTRACT)
    (place / "data").mkdir()
    pl.DataFrame({"id": [1]}).write_parquet(place / "data/outside.parquet")
    return place


def loaded(sandbox: Any, root: Path, **attributes: Any) -> dg.Definitions:
    body = {"type": "strata_dagster.StrataGuardComponent", "attributes": {"project": str(root), **attributes}}
    path = sandbox.scaffold_component(StrataGuardComponent, "guarded", defs_yaml_contents=body)
    with sandbox.load_component_and_build_defs(path) as (component, defs):
        assert isinstance(component, StrataGuardComponent)
        return defs


def test_dg_finds_the_components() -> None:
    found = {name for name, _ in get_package_objects_in_module(strata_dagster)}
    assert found == {"StrataGuardComponent", "StrataProjectComponent"}


def orders(country: str) -> dict[str, Any]:
    return {"type": f"{__name__}.OrdersComponent", "attributes": {"country": f"{{{{ '{country}' }}}}"}}


def run(defs: dg.Definitions) -> tuple[bool, set[str]]:
    with dg.DagsterInstance.ephemeral() as instance:
        job = defs.resolve_implicit_global_asset_job_def()
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        return result.success, {e.asset_key.to_user_string() for e in result.get_asset_materialization_events()}


def live(root: Path, environment: str) -> list[str]:
    return sorted(Store.open(root / ".strata/store").environment(environment).head().models)


def test_what_products_cover_of_a_component_is_guarded_and_the_rest_is_as_it_was(sandbox, root) -> None:
    defs = loaded(sandbox, root, environment="dev", component=orders("ES"), tables=[{"key": "outside"}])
    assert run(defs) == (True, {"raw/orders", "other", "outside"})
    assert live(root, "dev") == ["orders", "outside"]
    assert [job.name for job in defs.jobs] == ["nightly"]
    bad = loaded(sandbox, root, environment="dev", component=orders("FR"))
    assert run(bad) == (False, {"other"})


def test_a_mapping_says_what_each_asset_is_held_to_and_where_rows_are(sandbox, root) -> None:
    (root / "data/outside.parquet").rename(root / "data/rates.parquet")
    table = {"key": "rates", "metadata": {"strata/location": "data/rates.parquet"}, "group_name": "outside"}
    defs = loaded(sandbox, root, tables=[table], contracts={"rates": "shop.orders/outside"})
    assert run(defs) == (True, {"rates"})
    assert live(root, "prod") == ["outside"]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"component": orders("ES"), "contracts": {"nope": "shop.orders/orders"}}, "there is no asset `nope`"),
        ({"component": orders("ES"), "contracts": "shop.none"}, "no asset of the component is one that `shop.none`"),
        ({"component": {"type": "pathlib.Path"}}, "`pathlib.Path` is no component"),
        ({"component": {"attributes": {}}}, "say the `type` of the component"),
        ({"tables": [{"key": "outside"}], "environment": "a b"}, "`a b` cannot name an environment: use a letter"),
        ({"tables": [{"key": "nope"}]}, "no contract covers an asset of `guard_nope`"),
    ],
)
def test_what_cannot_be_guarded_is_told_at_loading(sandbox, root, attributes, message) -> None:
    with pytest.raises(ComponentTreeException) as told:
        loaded(sandbox, root, **attributes)
    assert message in whole(told.value)
