"""`StrataProjectComponent`: a project as a component of a `dg` project, in YAML (`defs.yaml`)."""

# Dagster compares the annotations of an op with types: they must not be text here.
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetSpec,
    ComponentLoadContext,
    DagsterInvalidDefinitionError,
    DefaultSensorStatus,
    Definitions,
    PartitionsDefinition,
    ResolutionContext,
    Resolvable,
    Resolver,
    SensorDefinition,
    StateBackedComponent,
    get_dagster_logger,
    with_resources,
)
from dagster.components import Scaffolder, ScaffoldRequest, scaffold_component, scaffold_with
from dagster.components.resolved.core_models import (
    DailyPartitionsDefinitionModel,
    HourlyPartitionsDefinitionModel,
    OpSpec,
    TimeWindowPartitionsDefinitionModel,
    WeeklyPartitionsDefinitionModel,
    resolve_partitions_def,
)
from dagster.components.utils.defs_state import DefsStateConfig
from dagster.components.utils.translation import TranslationFn, TranslationFnResolver
from dagster_shared.serdes.objects.models.defs_state_info import DefsStateManagementType
from pydantic import BaseModel, Field

from strata_core.planning.config import MAIN
from strata_core.planning.kept.outline import ModelOutline

from .assets import ModelOptions, strata_assets
from .project import OnError, StrataProject
from .resource import StrataResource, StrataRunConfig, require_environment
from .sources import observable_sources
from .stale_sensor import strata_stale_sensor
from .translator import DagsterStrataTranslator

Translation = Annotated[
    TranslationFn[ModelOutline] | None,
    TranslationFnResolver[ModelOutline](template_vars_for_translation_fn=lambda model: {"model": model}),
]


class ScaffoldParams(BaseModel):
    """Options of `dg scaffold defs strata_dagster.StrataProjectComponent`."""

    project_path: str = Field(default=".", description="The folder of strata.toml.")


class StrataProjectScaffolder(Scaffolder[ScaffoldParams]):
    """Writes a `defs.yaml` for a project that is there."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        """The options."""
        return ScaffoldParams

    def scaffold(self, request: ScaffoldRequest[ScaffoldParams]) -> None:
        """Write it, with the path from the folder of the `dg` project."""
        root = request.project_root or Path.cwd()
        path = Path(os.path.relpath(request.params.project_path, root)).as_posix()
        scaffold_component(request, {"project": "{{ context.project_root }}" + ("" if path == "." else f"/{path}")})


UNPREPARED = (
    "the Strata project %s has no compiled state, so that each load compiles it: run `dg utils refresh-defs-state` "
    "where the deployment is built (or `strata compile --manifest` in the project)"
)


def project_folder(context: ResolutionContext, value: str) -> str:
    """The folder of strata.toml that a YAML names: from the folder of that, where it is relative."""
    return str(context.resolve_source_relative_path(context.resolve_value(value, as_type=str)))


STATUSES = ("running", "stopped")


@dataclass
class SensorOptions(Resolvable):
    """What may be said of a sensor."""

    name: Annotated[str | None, Resolver.default(description="Its name; made of the op's where it is not given.")] = (
        None
    )
    minimum_interval_seconds: Annotated[int, Resolver.default(description="Seconds between two ticks at least.")] = 30
    default_status: Annotated[
        Literal["running", "stopped"], Resolver.default(description="Whether it runs until somebody says otherwise.")
    ] = "stopped"

    def __post_init__(self) -> None:
        if self.default_status not in STATUSES:  # a template may give any text
            told = f"default_status is `running` or `stopped`, not {self.default_status!r}"
            raise DagsterInvalidDefinitionError(told)

    def of(self, name: str) -> dict[str, Any]:
        """The arguments of the sensor, called `name` where it has no name of its own."""
        status = DefaultSensorStatus[self.default_status.upper()]
        seconds = self.minimum_interval_seconds
        return {"name": self.name or name, "minimum_interval_seconds": seconds, "default_status": status}


def _sensor(context: ResolutionContext, value: Any) -> Any:
    return value if isinstance(value, bool | str | None) else SensorOptions.resolve_from_model(context, value)


def _chosen(name: str, value: object) -> SensorOptions | None:
    """The sensor that the attribute `name` asks for, or none; what a template gives is of no certain type."""
    match value:
        case None | False:
            return None
        case True:
            return SensorOptions()
        case SensorOptions():
            return value
        case _:
            accepted = "`true`, or its `name`, `minimum_interval_seconds` and `default_status`"
            raise DagsterInvalidDefinitionError(f"{name} is {accepted}, not {value!r}")


SensorChoice = Annotated[
    SensorOptions | None,
    Resolver(
        _sensor,
        model_field_type=bool | SensorOptions.model() | None,
        description="`true`, or its name, `minimum_interval_seconds` and `default_status`.",
        examples=[{"default_status": "running"}],
    ),
]


@scaffold_with(StrataProjectScaffolder)
@dataclass
class StrataProjectComponent(StateBackedComponent, Resolvable):
    """The models of a Strata project as assets, the files that they read and, with `contracts`, its data products.
    `contract_sensor` says how the sensor of these is, `stale_sensor` that one materializes what is stale.

    Its state is the compiled manifest: `dg utils refresh-defs-state` makes it, `dagster dev` and `dg` at each load.

    type: strata_dagster.StrataProjectComponent
    attributes:
      project: "{{ context.project_root }}/models"
      select: "+revenue"
      translation:
        group_name: "{{ model.module }}"
    """

    project: Annotated[
        str,
        Resolver(
            project_folder,
            model_field_type=str,
            description="The folder of strata.toml; from the folder of defs.yaml where it is relative.",
            examples=["{{ context.project_root }}/transform"],
        ),
    ]
    environment: Annotated[str, Resolver.default(description="The environment that models are published in.")] = MAIN
    select: Annotated[
        str | None, Resolver.default(description="Models, in the syntax of dbt.", examples=["+revenue,path:models"])
    ] = None
    exclude: Annotated[str, Resolver.default(description="Models that are left out.", examples=["tag:nightly"])] = ""
    op: Annotated[
        OpSpec | None,
        Resolver.default(
            description="Name, description, tags, pool and backfill policy of the op.", examples=[{"name": "transform"}]
        ),
    ] = None
    op_per_model: Annotated[bool, Resolver.default(description="An op of each model, for runs in parallel.")] = False
    block_on_unit_tests: Annotated[
        bool, Resolver.default(description="A model whose unit tests fail is not applied.")
    ] = False
    partitions_def: Annotated[
        PartitionsDefinition[str] | None,
        Resolver(
            resolve_partitions_def,
            model_field_type=HourlyPartitionsDefinitionModel
            | DailyPartitionsDefinitionModel
            | WeeklyPartitionsDefinitionModel
            | TimeWindowPartitionsDefinitionModel,
            description="Partitions in place of those of all models that have some.",
        ),
    ] = None
    contracts: Annotated[
        bool, Resolver.default(description="The project's data products as assets, and the sensor that renews them.")
    ] = False
    contract_sensor: SensorChoice = None
    stale_sensor: SensorChoice = None
    on_error: Annotated[
        OnError,
        Resolver.default(description="`fail`: a project with errors does not load; `check`: its checks fail."),
    ] = "fail"
    prepare_if_dev: Annotated[
        bool,
        Resolver.default(
            description="Compile anew in `dagster dev` and `dg`; elsewhere the state is that of the deployment."
        ),
    ] = True
    translation: Translation = field(default=None)

    def __post_init__(self) -> None:
        # What a template gives is of no certain type.
        for name in ("op_per_model", "block_on_unit_tests", "contracts", "prepare_if_dev"):
            if not isinstance(value := getattr(self, name), bool):
                raise DagsterInvalidDefinitionError(f"{name} is `true` or `false`, not {value!r}")
        require_environment(self.environment)
        self.contract_sensor = _chosen("contract_sensor", self.contract_sensor)
        self.stale_sensor = _chosen("stale_sensor", self.stale_sensor)
        if self.contract_sensor is not None and not self.contracts:
            raise DagsterInvalidDefinitionError("contract_sensor renews data products: say `contracts: true` too")

    @property
    def defs_state_config(self) -> DefsStateConfig:
        """Its state is of the op's name, which no two components share, else of the project's folder."""
        name = self.op.name if self.op is not None and self.op.name else Path(self.project).name
        return DefsStateConfig(
            key=f"StrataProjectComponent[{name}]",
            management_type=DefsStateManagementType.LOCAL_FILESYSTEM,
            refresh_if_dev=self.prepare_if_dev,
        )

    def write_state_to_path(self, state_path: Path) -> None:
        """Compile the project; raises `DagsterInvalidDefinitionError` as `StrataProject` does."""
        StrataProject(self.project, self.on_error).compile(state_path)

    def build_defs_from_state(self, context: ComponentLoadContext, state_path: Path | None) -> Definitions:
        """The models, their sources, and data products and sensors where they are asked for; raises
        `DagsterInvalidDefinitionError` as `StrataProject` does."""
        project = StrataProject(context.path / self.project, self.on_error, state_path)
        if not project.is_compiled:
            get_dagster_logger().warning(UNPREPARED, project.root)
        translator, resource = _Translated(self.translation), StrataResource(project, self.environment)
        op = self.op or OpSpec()
        name = op.name or project.name.replace("-", "_")
        options: ModelOptions = {
            "project": project,
            "name": name,
            "select": self.select,
            "exclude": self.exclude,
            "translator": translator,
            "op_tags": op.tags,
            "pool": op.pool,
            "partitions_def": self.partitions_def,
            "backfill_policy": op.backfill_policy,
            "block_on_unit_tests": self.block_on_unit_tests,
        }

        def models(context: AssetExecutionContext, config: StrataRunConfig) -> Iterator[Any]:
            yield from resource.apply(context, recompute=config.recompute).stream()

        models.__doc__ = op.description
        if self.op_per_model:
            made = strata_assets(**options, op_per_model=True)(models)
        else:
            made = [strata_assets(**options)(models)]
        sources = observable_sources(project=project, name=f"{name}_sources", translator=translator)
        assets = [*made, *with_resources(sources, {"strata": resource})]
        stale = self._stale_sensor(project, resource, translator, f"{name}_stale")
        if not self.contracts:
            return Definitions(assets=assets, sensors=stale)
        from .contracts.assets import strata_contract_assets  # these bring the contract engine along
        from .contracts.sensor import strata_contract_sensor

        products = strata_contract_assets(project=project, assets=assets, resource=resource, name=f"{name}_contracts")
        said = self.contract_sensor or SensorOptions()
        sensor = strata_contract_sensor(products, **said.of(f"{name}_contracts"))
        return Definitions(assets=[*assets, *products], sensors=[*stale, sensor])

    def _stale_sensor(
        self, project: StrataProject, resource: StrataResource, translator: DagsterStrataTranslator, name: str
    ) -> list[SensorDefinition]:
        if self.stale_sensor is None:
            return []
        chosen: dict[str, Any] = {"select": self.select, "exclude": self.exclude, "translator": translator}
        chosen |= {"partitions_def": self.partitions_def, **self.stale_sensor.of(name)}
        return [strata_stale_sensor(project=project, resource=resource, **chosen)]


class _Translated(DagsterStrataTranslator):
    """The defaults, as `translation` of the YAML changes them: keys too, for whoever reads the model."""

    def __init__(self, translation: TranslationFn[ModelOutline] | None) -> None:
        super().__init__()
        self._translation = translation

    def get_asset_key(self, project: StrataProject, model: ModelOutline) -> AssetKey:
        return self._translated(AssetSpec(super().get_asset_key(project, model)), model).key

    def get_asset_spec(self, project: StrataProject, model: ModelOutline, keys: Mapping[str, AssetKey]) -> AssetSpec:
        made = super().get_asset_spec(project, model, {**keys, model.name: super().get_asset_key(project, model)})
        return self._translated(made, model)

    def _translated(self, spec: AssetSpec, model: ModelOutline) -> AssetSpec:
        return spec if self._translation is None else self._translation(spec, model)
