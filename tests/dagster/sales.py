"""A project whose models have partitions of time, and short ways to run them in a real Dagster instance."""

# Without postponed annotations: Dagster compares those of an op with types.

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from strata_dagster import StrataProject, StrataResource, StrataRunConfig, observable_sources, strata_assets

MODELS = """
source sales(csv: "sales.csv") {
  columns: { id: int64 primary_key, day: date nonnull, kind: string, n: int64 nonnull }
}
contract Sale { id: int64 primary_key  day: date nonnull  kind: string enum {a, b, c}  n: int64 nonnull }
model daily -> contract Sale {
  from sales
  partition_by: [day]
  partition_start: "2024-01-01"
  partition_end: "2024-01-05"
}
model by_day {
  from daily
  group { day } ( aggregate { total = sum(n) } )
  partition_by: [day]
  partition_start: "2024-01-01"
  partition_end: "2024-01-05"
}
model total { from by_day aggregate { total = sum(total) } }
"""
ROWS = "id,day,kind,n\n1,2024-01-01,a,1\n2,2024-01-02,b,5\n3,2024-01-03,a,7\n"
DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
DEFINITIONS = """
from pathlib import Path

from dagster import AssetExecutionContext, Definitions

from strata_dagster import StrataProject, StrataResource, observable_sources, strata_assets

project = StrataProject(Path(__file__).parent)


@strata_assets(project=project, op_per_model=False)
def models(context: AssetExecutionContext, strata: StrataResource):
    yield from strata.apply(context).stream()


defs = Definitions(
    assets=[models, *observable_sources(project=project)],
    resources={"strata": StrataResource(project_dir=project)},
)
"""


@dataclass
class Sales:
    root: Path
    instance: dg.DagsterInstance
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = (self.root / path).read_text()
        assert old in text
        self.write(path, text.replace(old, new))

    @property
    def project(self) -> StrataProject:
        return StrataProject(self.root)

    @property
    def resource(self) -> StrataResource:
        return StrataResource(project_dir=self.root)

    def assets(self) -> list[Any]:
        project = self.project

        @strata_assets(project=project, **self.options)
        def models(context: dg.AssetExecutionContext, strata: StrataResource, config: StrataRunConfig):
            yield from strata.apply(context, recompute=config.recompute).stream()

        return models if isinstance(models, list) else [models]

    def run(self, *names: str, key: str | None = None, extra: list[Any] | None = None, tags: Any = None) -> Any:
        first, _, last = (key or "").partition("...")
        ranged = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        return dg.materialize(
            [*self.assets(), *(extra or [])],
            selection=[*names] or None,
            instance=self.instance,
            resources={"strata": self.resource},
            partition_key=first if key and not last else None,
            tags=tags or (ranged if last else None),
            raise_on_error=False,
        )

    def evaluated(self, sensor: dg.SensorDefinition, cursor: str | None, assets: list[Any] | None = None) -> Any:
        defs = dg.Definitions(assets=assets or self.assets(), sensors=[sensor], resources={"strata": self.resource})
        with dg.build_sensor_context(instance=self.instance, cursor=cursor, definitions=defs) as context:
            return sensor.evaluate_tick(context)

    def rows(self, model: str) -> list[dict[str, Any]]:
        from strata_core.planning.live.published import published_rows
        from strata_core.planning.project import compile_, open_project

        project = open_project(project=self.root)
        return published_rows(project, compile_(project), model, "prod").reader.read_all().to_pylist()

    def latest(self, name: str) -> dict[str, dg.AssetMaterialization]:
        """By partition."""
        records = self.instance.fetch_materializations(dg.AssetKey(name), limit=1000).records
        found: dict[str, dg.AssetMaterialization] = {}
        for record in records:
            made = record.asset_materialization
            assert made is not None
            found.setdefault(made.partition or "", made)
        return found

    def versions(self, name: str) -> dict[str, str]:
        return {key: made.tags["dagster/data_version"] for key, made in self.latest(name).items()}

    def resolver(self) -> CachingStaleStatusResolver:
        """What Dagster calls stale, as its UI shows it."""
        assets = [*self.assets(), *observable_sources(project=self.project)]
        graph = dg.Definitions(assets=assets, resources={"strata": self.resource}).resolve_asset_graph()
        return CachingStaleStatusResolver(self.instance, graph, LoadingContextForTest(self.instance))

    def stale(self, name: str) -> dict[str, str]:
        resolver = self.resolver()
        status = {day: resolver.get_status(dg.AssetKey(name), day) for day in DAYS}
        return {day: s.value for day, s in status.items() if s is not StaleStatus.FRESH}


def sales_in(root: Path, instance: dg.DagsterInstance) -> Sales:
    """The project, filled, with nothing published."""
    made = Sales(root, instance)
    made.write("strata.toml", '[project]\nname = "sales"\n')
    made.write("models/sales.strata", MODELS)
    made.write("sales.csv", ROWS)
    made.write("sales_definitions.py", DEFINITIONS)
    return made


def made(result: Any) -> list[tuple[str, str | None]]:
    events = [e.step_materialization_data.materialization for e in result.get_asset_materialization_events()]
    return [(m.asset_key.to_user_string(), m.partition) for m in events]


def verdicts(result: Any) -> dict[str, bool]:
    found = result.get_asset_check_evaluations()
    return {c.asset_key.to_user_string(): c.passed for c in found if c.check_name == "write_pin"}
