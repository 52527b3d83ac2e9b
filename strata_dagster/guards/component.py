"""`StrataGuardComponent`: the write pin on what others make, in the YAML of a `dg` project (`defs.yaml`)."""

# Dagster reads the annotations of a component: they must not be text here.
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from dagster import (
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    Component,
    ComponentLoadContext,
    DagsterInvalidDefinitionError,
    Definitions,
    ResolutionContext,
    Resolvable,
    Resolver,
)
from dagster._core.execution.build_resources import wrap_resources_for_execution
from dagster.components import scaffold_with
from dagster.components.resolved.core_models import ResolvedAssetSpec
from dagster_shared.record import replace
from dagster_shared.serdes.objects import EnvRegistryKey
from dagster_shared.seven import load_module_object
from pydantic import TypeAdapter

from strata_core.planning.config import MAIN

from ..component import StrataProjectScaffolder, project_folder
from ..contracts.checks import covers_of
from ..project import StrataProject
from ..resource import StrataResource, require_environment
from .guard import RESOURCE, covered_assets, guard


def _as_written(context: ResolutionContext, value: Any) -> Any:
    """Templates in it are for the component that it is of."""
    return value


@scaffold_with(StrataProjectScaffolder)
@dataclass
class StrataGuardComponent(Component, Resolvable):
    """Assets of another component, and tables that nobody here makes, held to contracts: what breaks its own is not
    materialized, and the last-known-good stays live in the store of the Strata project.

    type: strata_dagster.StrataGuardComponent
    attributes:
      project: "{{ context.project_root }}/transform"
      component:
        type: dagster_dbt.DbtProjectComponent
        attributes: { project: "{{ context.project_root }}/dbt_project" }
      tables:
        - { key: rates, metadata: { strata/location: data/rates.parquet } }
    """

    project: Annotated[
        str,
        Resolver(
            project_folder,
            model_field_type=str,
            description="The folder of strata.toml, whose contracts hold; from that of defs.yaml where it is relative.",
            examples=["{{ context.project_root }}/transform"],
        ),
    ]
    environment: Annotated[str, Resolver.default(description="The environment that rows are kept in.")] = MAIN
    component: Annotated[
        Mapping[str, Any] | None,
        Resolver(
            _as_written,
            model_field_type=Mapping[str, Any] | None,
            description="The component whose assets are guarded: its `type` and `attributes`, as in a defs.yaml.",
        ),
    ] = None
    tables: Annotated[
        Sequence[ResolvedAssetSpec],
        Resolver.default(
            description="Tables that others write, each read where its contract, or `strata/location` in its metadata, "
            "says.",
            examples=[[{"key": "rates"}]],
        ),
    ] = ()
    contracts: Annotated[
        str | Mapping[str, str] | None,
        Resolver.default(
            description="What assets are held to: a product, or by the key of an asset `product/asset`; all that "
            "products cover, where it is not given.",
            examples=["shop.staged", {"staging/orders": "shop.staged/orders"}],
        ),
    ] = None

    def __post_init__(self) -> None:
        require_environment(self.environment)

    def build_defs(self, context: ComponentLoadContext) -> Definitions:
        """What the component defines, its assets guarded, and the tables; raises `DagsterInvalidDefinitionError` as
        `guard` does."""
        project = StrataProject(context.path / self.project)
        defs = Definitions() if self.component is None else _built(context, self.component)
        given = tuple(defs.assets or ())
        self._require_known(given)
        found = [self._guarded(asset, project) for asset in given]
        if self.component is not None and not any(found):
            what = f"`{self.contracts}`" if isinstance(self.contracts, str) else "a contract"
            raise DagsterInvalidDefinitionError(f"guard: no asset of the component is one that {what} covers")
        tables = [guard(spec, project=project, contracts=self._of_table(spec)) for spec in self.tables]
        resource = StrataResource(project, self.environment)
        made = [asset if new is None else _bound(new, resource) for asset, new in zip(given, found, strict=True)]
        return replace(defs, assets=[*made, *(_bound(table, resource) for table in tables)])

    def _require_known(self, given: Sequence[Any]) -> None:
        if not isinstance(self.contracts, Mapping):
            return
        keys = {k for a in given if isinstance(a, AssetsDefinition) for k in a.keys} | {t.key for t in self.tables}
        known = {key.to_user_string() for key in keys}
        if unknown := sorted(self.contracts.keys() - known):
            there = ", ".join(sorted(known)[:8]) or "none"
            raise DagsterInvalidDefinitionError(f"guard: there is no asset `{unknown[0]}`; assets are {there}")

    def _guarded(self, asset: Any, project: StrataProject) -> AssetsDefinition | None:
        """`asset` guarded, None where nothing is said of it."""
        if not isinstance(asset, AssetsDefinition) or not asset.is_materializable:
            return None
        named: dict[str | AssetKey, str]
        if isinstance(self.contracts, Mapping):
            named = {k: self.contracts[n] for k in asset.keys if (n := k.to_user_string()) in self.contracts}
        else:
            found = covered_assets(asset, self.contracts, covers_of(project))
            named = dict(found.items())
        return guard(asset, project=project, contracts=named) if named else None

    def _of_table(self, spec: AssetSpec) -> str | None:
        return self.contracts.get(spec.key.to_user_string()) if isinstance(self.contracts, Mapping) else self.contracts


def _built(context: ComponentLoadContext, written: Mapping[str, Any]) -> Definitions:
    if not isinstance(written.get("type"), str):
        raise DagsterInvalidDefinitionError("component: say the `type` of the component, as in a defs.yaml")
    name = context.normalize_component_type_str(written["type"])
    key = EnvRegistryKey.from_typename(name)
    type_ = load_module_object(key.namespace, key.name)
    if not isinstance(type_, type) or not issubclass(type_, Component):
        raise DagsterInvalidDefinitionError(f"component: `{name}` is no component")
    model = type_.get_model_cls()
    attributes = None if model is None else TypeAdapter(model).validate_python(written.get("attributes", {}))
    return type_.load(attributes, context).build_defs(context)


def _bound(asset: AssetsDefinition, resource: StrataResource) -> AssetsDefinition:
    """With a resource of its own, so that several projects can stand side by side."""
    own = wrap_resources_for_execution({RESOURCE: resource})
    attributes = {**asset.get_attributes_dict(), "resource_defs": {**asset.resource_defs, **own}}
    return AssetsDefinition.dagster_internal_init(**attributes)
