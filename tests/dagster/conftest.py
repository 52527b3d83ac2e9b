"""A small project and a real Dagster instance for each test, and short ways to run one in the other."""

# Without postponed annotations: Dagster compares those of an op with types.

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver
from dagster._core.definitions.definitions_load_context import DefinitionsLoadContext, DefinitionsLoadType
from dagster._core.loader import LoadingContextForTest
from dagster.components.testing import create_defs_folder_sandbox

from strata_dagster import (
    DagsterStrataTranslator,
    StrataProject,
    StrataResource,
    StrataRunConfig,
    observable_sources,
    strata_assets,
)
from strata_dagster.project import OnError

from .guarded import Place, guarded_shop_in
from .sales import Sales, sales_in

CONFIG = """
[project]
name = "shop"
[engine]
name = "duckdb"
"""

SOURCES = """
source orders(csv: "data/orders.csv") {
  columns: {
    order_id: int64 nonnull primary_key,
    country: string nonnull,
    amount: decimal(10,2),
    email: string,
  }
}
source rates(csv: "data/rates.csv") {
  columns: { country: string nonnull primary_key, rate: decimal(5,3) nonnull }
}
"""

MODELS = """
contract Paid {
  order_id: int64 primary_key
  country: string nonnull enum {ES, MX} protected
  amount: decimal(10,2)
  email: string classification: "pii" mask: hash
}
// Orders as they came.
model paid -> contract Paid {
  owner: "finance"
  description: "Orders that were paid."
  from orders
  select { order_id, country, amount, email }
}
contract ByCountry {
  country: string primary_key
  orders: int64 nonnull
  total: decimal(38,2)
}
model by_country -> contract ByCountry {
  owner: "ann@example.com, sales"
  from paid
  group { country } ( aggregate { orders = count(), total = sum(amount) } )
}
"""

RATES = """
contract Rate { country: string primary_key  rate: decimal(5,3) nonnull }
model rate -> contract Rate {
  owner: "team:finance"
  from rates
  select { country, rate }
}
"""

GOOD_ORDERS = """order_id,country,amount,email
1,ES,10.50,ann@example.com
2,MX,20.00,bob@example.com
3,ES,5.25,
"""
BAD_ORDERS = GOOD_ORDERS + "4,FR,1.00,eve@example.com\n"
GOOD_RATES = "country,rate\nES,1.000\nMX,0.050\n"

DEFINITIONS = '''
from pathlib import Path

from dagster import AssetExecutionContext, Definitions, asset

from strata_dagster import (
    StrataProject, StrataResource, StrataRunConfig, observable_sources, strata_assets,
)

project = StrataProject(Path(__file__).parent)


@strata_assets(project=project)
def models(context: AssetExecutionContext, strata: StrataResource, config: StrataRunConfig):
    yield from strata.apply(context, recompute=config.recompute).stream()


@asset(deps=["by_country"])
def report():
    """Stands downstream in an op of its own."""


defs = Definitions(
    assets=[models, report, *observable_sources(project=project)],
    resources={"strata": StrataResource(project_dir=project)},
)
'''


@dataclass
class Run:
    """What a run did, by asset name."""

    result: dg.ExecuteInProcessResult

    @property
    def success(self) -> bool:
        return self.result.success

    @property
    def failure(self) -> str:
        """The failed step's own words."""
        return "\n".join(
            str(e.step_failure_data.error.to_string()) for e in self.result.all_events if e.is_step_failure
        )

    @property
    def made(self) -> dict[str, dg.AssetMaterialization]:
        events = self.result.get_asset_materialization_events()
        return {e.asset_key.to_user_string(): e.step_materialization_data.materialization for e in events}

    @property
    def order(self) -> list[str]:
        return [e.asset_key.to_user_string() for e in self.result.get_asset_materialization_events()]

    @property
    def checks(self) -> dict[str, dg.AssetCheckEvaluation]:
        return {f"{c.asset_key.to_user_string()}.{c.check_name}": c for c in self.result.get_asset_check_evaluations()}

    @property
    def verdicts(self) -> dict[str, tuple[bool, str]]:
        """(passed, severity) of each write pin."""
        return {
            c.asset_key.to_user_string(): (c.passed, c.severity.value)
            for c in self.result.get_asset_check_evaluations()
            if c.check_name == "write_pin"
        }

    @property
    def retries(self) -> int:
        return sum(e.event_type_value == "STEP_UP_FOR_RETRY" for e in self.result.all_events)


@dataclass
class Shop:
    """A project in `root`, run in `instance`."""

    root: Path
    instance: dg.DagsterInstance
    options: dict[str, Any] = field(default_factory=dict)
    environment: str = "prod"
    on_error: OnError = "fail"

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    @property
    def project(self) -> StrataProject:
        """Opened anew each time, as a code location that is reloaded."""
        return StrataProject(self.root, self.on_error)

    def assets(self, translator: DagsterStrataTranslator | None = None) -> list[Any]:
        """Models, an asset downstream of them in an op of its own, then what is observed."""
        project = self.project

        @strata_assets(project=project, translator=translator, **self.options)
        def models(context: dg.AssetExecutionContext, strata: StrataResource, config: StrataRunConfig):
            yield from strata.apply(context, recompute=config.recompute).stream()

        @dg.asset(deps=["by_country"])
        def report() -> None: ...

        return [models, report, *observable_sources(project=project)]

    def run(self, selection: Any = None, assets: list[Any] | None = None, **config: str) -> Run:
        resources = {"strata": StrataResource(project_dir=self.root, environment=self.environment)}
        run_config = {"ops": {"models": {"config": config}}} if config else {}
        chosen = assets or self.assets()[:2]
        return Run(
            dg.materialize(
                chosen,
                selection=selection,
                instance=self.instance,
                resources=resources,
                raise_on_error=False,
                run_config=run_config,
            )
        )

    def observe(self) -> None:
        sources = observable_sources(project=self.project)
        resources = {"strata": StrataResource(project_dir=self.root, environment=self.environment)}
        job = dg.Definitions(
            assets=sources,
            resources=resources,
            jobs=[dg.define_asset_job("observe", dg.AssetSelection.all(include_sources=True))],
        ).resolve_job_def("observe")
        assert job.execute_in_process(instance=self.instance).success

    def stale(self) -> dict[str, list[tuple[str, str | None]]]:
        """The stale and missing assets with (category, upstream) of their causes."""
        models, report, *sources = self.assets()
        resources = {"strata": StrataResource(project_dir=self.root, environment=self.environment)}
        defs = dg.Definitions(assets=[models, report, *sources], resources=resources)
        graph = defs.resolve_asset_graph()
        resolver = CachingStaleStatusResolver(self.instance, graph, LoadingContextForTest(self.instance))
        found = {}
        for key in graph.get_all_asset_keys():
            causes = resolver.get_stale_causes(key)
            if causes:
                upstream = [c.dependency_asset_key for c in causes]
                found[key.to_user_string()] = [
                    (c.category.value, u.to_user_string() if u else None) for c, u in zip(causes, upstream, strict=True)
                ]
        return found

    def live(self, model: str) -> list[dict[str, object]]:
        """The rows that consumers read now."""
        from strata_core.planning.live.published import published_rows
        from strata_core.planning.project import compile_, open_project

        project = open_project(project=self.root)
        rows = published_rows(project, compile_(project), model, self.environment)
        return rows.reader.read_all().to_pylist()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A `dg` project that loads definitions as `dg dev` does, whatever this process ran before."""
    monkeypatch.setenv("DAGSTER_IS_DEV_CLI", "1")
    monkeypatch.setattr(
        DefinitionsLoadContext, "_instance", DefinitionsLoadContext(load_type=DefinitionsLoadType.INITIALIZATION)
    )
    with create_defs_folder_sandbox() as made:
        yield made


@pytest.fixture
def guarded_shop(tmp_path: Path) -> Iterator[Place]:
    """A project of contracts, with an instance in memory."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield guarded_shop_in(tmp_path, instance)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield _filled(Shop(tmp_path / "shop", instance))


@pytest.fixture
def instance_on_disk(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\nnux: {enabled: false}\n")
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield instance


@pytest.fixture
def shop_on_disk(tmp_path: Path, instance_on_disk: dg.DagsterInstance) -> Shop:
    return _filled(Shop(tmp_path / "shop", instance_on_disk))


@pytest.fixture
def sales(tmp_path: Path, instance_on_disk: dg.DagsterInstance) -> Sales:
    """Models with partitions of time."""
    return sales_in(tmp_path / "sales", instance_on_disk)


def _filled(shop: Shop) -> Shop:
    shop.write("strata.toml", CONFIG)
    shop.write("models/sources.strata", SOURCES)
    shop.write("models/sales/orders.strata", MODELS)
    shop.write("models/rates.strata", RATES)
    shop.write("data/orders.csv", GOOD_ORDERS)
    shop.write("data/rates.csv", GOOD_RATES)
    shop.write("shop_definitions.py", DEFINITIONS)
    return shop


@pytest.fixture
def bad_orders() -> str:
    """One order from a country outside the enum."""
    return BAD_ORDERS


@pytest.fixture
def good_orders() -> str:
    return GOOD_ORDERS
