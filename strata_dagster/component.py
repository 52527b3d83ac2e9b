"""`StrataProjectComponent`: a project as a component of a `dg` project, in YAML (`defs.yaml`)."""

# Dagster compares the annotations of an op with types: they must not be text here.
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from dagster import (
    AssetExecutionContext,
    AssetKey,
    AssetSpec,
    ComponentLoadContext,
    DagsterInvalidDefinitionError,
    Definitions,
    PartitionsDefinition,
    ResolutionContext,
    Resolvable,
    Resolver,
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

from strata_core.planning.outline import ModelOutline

from .assets import strata_assets
from .project import OnError, StrataProject
from .resource import StrataResource, StrataRunConfig
from .sources import observable_sources
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
        scaffold_component(request, {"project": "{{ project_root }}" + ("" if path == "." else f"/{path}")})


UNPREPARED = (
    "the Strata project %s has no compiled state, so that each load compiles it: run `dg utils refresh-defs-state` "
    "where the deployment is built (or `strata compile --manifest` in the project)"
)


def _project_folder(context: ResolutionContext, value: str) -> str:
    return str(context.resolve_source_relative_path(context.resolve_value(value, as_type=str)))


@scaffold_with(StrataProjectScaffolder)
@dataclass
class StrataProjectComponent(StateBackedComponent, Resolvable):
    """The models of a Strata project as assets, the files that they read and, with `contracts`, its data products.

    Its state is the compiled manifest: `dg utils refresh-defs-state` makes it, `dagster dev` and `dg` at each load.

    type: strata_dagster.StrataProjectComponent
    attributes:
      project: "{{ project_root }}/models"
      select: "+revenue"
      translation:
        group_name: "{{ model.module }}"
    """

    project: Annotated[
        str,
        Resolver(
            _project_folder,
            model_field_type=str,
            description="The folder of strata.toml; from the folder of defs.yaml where it is relative.",
            examples=["{{ project_root }}/transform"],
        ),
    ]
    environment: Annotated[str, Resolver.default(description="The environment that models are published in.")] = "prod"
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
        for name in ("op_per_model", "contracts", "prepare_if_dev"):  # what a template gives is of no certain type
            if not isinstance(value := getattr(self, name), bool):
                raise DagsterInvalidDefinitionError(f"{name} is `true` or `false`, not `{value}`")

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
        """The models, their sources, and data products where they are asked for; raises
        `DagsterInvalidDefinitionError` as `StrataProject` does."""
        project = StrataProject(context.path / self.project, self.on_error, state_path)
        if not project.is_compiled:
            get_dagster_logger().warning(UNPREPARED, project.root)
        translator, resource = _Translated(self.translation), StrataResource(project, self.environment)
        op = self.op or OpSpec()
        name = op.name or project.name.replace("-", "_")
        options: dict[str, Any] = {"name": name, "op_tags": op.tags, "pool": op.pool, "translator": translator}
        options |= {"partitions_def": self.partitions_def, "backfill_policy": op.backfill_policy}

        def models(context: AssetExecutionContext, config: StrataRunConfig) -> Iterator[Any]:
            yield from resource.apply(context, recompute=config.recompute).stream()

        models.__doc__ = op.description
        options |= {"project": project, "select": self.select, "exclude": self.exclude}
        if self.op_per_model:
            made = strata_assets(**options, op_per_model=True)(models)
        else:
            made = [strata_assets(**options, op_per_model=False)(models)]
        sources = observable_sources(project=project, name=f"{name}_sources", translator=translator)
        assets = [*made, *with_resources(sources, {"strata": resource})]
        if not self.contracts:
            return Definitions(assets=assets)
        from .contract_assets import strata_contract_assets  # these bring the contract engine along
        from .contract_sensor import strata_contract_sensor

        products = strata_contract_assets(
            project=project, assets=assets, environment=self.environment, name=f"{name}_contracts"
        )
        sensor = strata_contract_sensor(products, name=f"{name}_contracts")
        return Definitions(assets=[*assets, *products], sensors=[sensor])


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
