"""A project of contracts whose assets Dagster makes, guarded; what a run of them gave."""

# Without postponed annotations: Dagster compares those of an op with types.

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_, open_project
from strata_core.store import Store
from strata_dagster import StrataProject, StrataResource, guard
from tests.contract_engine.projects import HEAD

CONTRACT = (
    HEAD.replace("orders}", "orders, approvers: [ana]}")
    + """\
assets:
  - id: orders
    kind: dagster_asset
    freshness: {max_age: 1d}
    columns:
      - {name: id, type: int64, primary_key: true}
      - {name: country, type: string, nullable: false, enum: [ES, MX]}
      - {name: email, type: string, classification: restricted, mask: hash}
  - id: outside
    kind: table
    location: data/outside.parquet
    columns: [{name: id, type: int64, primary_key: true}]
tests:
  - {id: positive, kind: sql, severity: blocking, asset: orders, sql: select * from orders where id < 0}
  - id: many
    kind: expectation
    severity: degrading
    asset: orders
    expectation: {type: row_count, min: 2}
  - id: known
    kind: expectation
    severity: informational
    asset: orders
    expectation: {type: not_null, columns: [email]}
  - {id: try-out, kind: sql, severity: experimental, asset: orders, sql: select * from orders where id > 100}
"""
)
OWN = {"write_pin", "last_known_good", "freshness", "positive", "many", "known", "try_out"}
GOOD = {"id": [2, 1], "country": ["MX", "ES"], "email": ["secret-2@x", "secret-1@x"]}


def rows(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame({**GOOD, **columns})


class Memory(dg.IOManager):
    """Keeps what it is handed, so that a test sees what was handed on."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
        self.kept[context.asset_key.to_user_string()] = obj

    def load_input(self, context: dg.InputContext) -> Any:
        return self.kept[context.asset_key.to_user_string()]


@dataclass
class Run:
    result: dg.ExecuteInProcessResult

    @property
    def success(self) -> bool:
        return self.result.success

    @property
    def made(self) -> dict[str, dg.AssetMaterialization]:
        events = self.result.get_asset_materialization_events()
        return {e.asset_key.to_user_string(): e.step_materialization_data.materialization for e in events}

    @property
    def checks(self) -> dict[str, dg.AssetCheckEvaluation]:
        return {c.check_name: c for c in self.result.get_asset_check_evaluations()}

    @property
    def verdicts(self) -> dict[str, tuple[bool, str]]:
        found = self.result.get_asset_check_evaluations()
        return {f"{c.asset_key.to_user_string()}.{c.check_name}": (c.passed, c.severity.value) for c in found}

    @property
    def failure(self) -> str:
        return "\n".join(e.step_failure_data.error.to_string() for e in self.result.all_events if e.is_step_failure)

    @property
    def retries(self) -> int:
        return sum(e.event_type_value == "STEP_UP_FOR_RETRY" for e in self.result.all_events)


@dataclass
class Place:
    """A project of contracts, and a Dagster instance."""

    root: Path
    instance: dg.DagsterInstance
    memory: Memory = field(default_factory=Memory)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    @property
    def project(self) -> StrataProject:
        return StrataProject(self.root)

    def orders(self, value: Any, **options: Any) -> dg.AssetsDefinition:
        """The asset `orders`, which returns `value` (or what it gives, if it can be called), guarded."""

        @dg.asset(**options)
        def orders() -> Any:
            return value() if callable(value) else value

        return guard(orders, project=self.project)

    def run(self, *assets: Any, environment: str = "prod", **options: Any) -> Run:
        strata = StrataResource(project_dir=self.root, environment=environment)
        resources = {"strata": strata, "io_manager": self.memory}
        return Run(dg.materialize(assets, instance=self.instance, resources=resources, raise_on_error=False, **options))

    def live(self, name: str = "orders") -> list[dict[str, Any]]:
        project = open_project(project=self.root)
        return published_rows(project, compile_(project), name, "prod").reader.read_all().to_pylist()

    @property
    def version(self) -> int:
        return Store.open(self.root / ".strata/store").environment("prod").head().number


def guarded_shop_in(root: Path, instance: dg.DagsterInstance) -> Place:
    """A project with `CONTRACT` and no rows yet."""
    made = Place(root / "shop", instance)
    made.write("strata.toml", '[project]\nname = "shop"\n')
    made.write("contracts/shop/orders/contract.yaml", CONTRACT)
    return made
