"""From a Strata model or source to a Dagster asset: every choice is a method that a subclass may override."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dagster import (
    AllPartitionMapping,
    AssetDep,
    AssetKey,
    AssetSpec,
    AutomationCondition,
    DagsterInvalidDefinitionError,
    PartitionMapping,
    PartitionsDefinition,
    TimeWindowPartitionMapping,
)

from strata_core.planning.choosing import tags_of
from strata_core.planning.kept.outline import ModelOutline, SourceOutline

from .names import CODE_REFERENCES, COLUMN_LINEAGE, COLUMN_SCHEMA, MODEL, READERS, SOURCE, TABLE_NAME
from .partitions import time_windows
from .project import StrataProject
from .tables import code_reference, column_lineage, table_schema

if TYPE_CHECKING:  # a project without `dbt:` sources does without dagster-dbt
    from dagster_dbt import DagsterDbtTranslator


_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_TAG = re.compile(r"[A-Za-z0-9_.-]{1,63}")


class DagsterStrataTranslator:
    """The defaults. `dbt_translator` is the one that the project's `@dbt_assets` use, so that keys agree."""

    def __init__(self, dbt_translator: DagsterDbtTranslator | None = None) -> None:
        self._dbt_translator = dbt_translator

    def get_asset_spec(self, project: StrataProject, model: ModelOutline, keys: Mapping[str, AssetKey]) -> AssetSpec:
        """The asset of `model`; `keys` has the key of every model and source of the project."""
        deps = [self._dep(project, model, name, keys[name]) for name in model.upstream]
        readers = {name: keys[name].to_user_string() for name in project.readers.get(model.name, ())}
        return AssetSpec(
            keys[model.name],
            deps=deps,
            description=self.get_description(project, model),
            metadata={
                MODEL: model.name,
                **({READERS: readers} if readers else {}),
                **self.get_metadata(project, model, keys),
            },
            skippable=True,  # nothing is recorded for a model that was not published
            group_name=self.get_group_name(project, model),
            code_version=self.get_code_version(project, model),
            owners=self.get_owners(project, model),
            tags=self.get_tags(project, model),
            kinds=self.get_kinds(project, model),
            automation_condition=self.get_automation_condition(project, model),
            partitions_def=self.get_partitions_def(project, model),
        )

    def _dep(self, project: StrataProject, model: ModelOutline, upstream: str, key: AssetKey) -> AssetDep:
        if (above := project.outline.models.get(upstream)) is not None:
            return AssetDep(key, partition_mapping=self.get_partition_mapping(project, model, above))
        is_read = is_file(project.outline.sources.get(upstream))
        return AssetDep(key, metadata={SOURCE: upstream}) if is_read else AssetDep(key)

    def get_asset_key(self, project: StrataProject, model: ModelOutline) -> AssetKey:
        """The model's name."""
        return AssetKey([model.name])

    def get_description(self, project: StrataProject, model: ModelOutline) -> str | None:
        """The model's description, else its contract's."""
        return model.description

    def get_group_name(self, project: StrataProject, model: ModelOutline) -> str | None:
        """The folder below the folder of models, else the file: `models/finance/revenue.strata` is `finance`."""
        return re.sub(r"[^A-Za-z0-9_]", "_", model.module.split(".")[0])

    def get_code_version(self, project: StrataProject, model: ModelOutline) -> str:
        """The fingerprint, which an edit upstream changes too and one that means the same does not."""
        return model.fingerprint

    def get_owners(self, project: StrataProject, model: ModelOutline) -> Sequence[str]:
        """`owner: "finance, ann@example.com"` is `team:finance` and `ann@example.com`."""
        names = (name.strip() for name in model.attributes.get("owner", "").split(","))
        return [n if n.startswith("team:") or _EMAIL.fullmatch(n) else f"team:{n}" for n in names if n]

    def get_tags(self, project: StrataProject, model: ModelOutline) -> Mapping[str, str]:
        """The model's label, its contract, and the classifications of its columns."""
        tags = tags_of(model).items()
        return {k: v for k, v in tags if _TAG.fullmatch(k.rpartition("/")[2]) and (not v or _TAG.fullmatch(v))}

    def get_kinds(self, project: StrataProject, model: ModelOutline) -> set[str]:
        """`strata` and the engine."""
        return {"strata", project.engine}

    def get_automation_condition(
        self, project: StrataProject, model: ModelOutline
    ) -> AutomationCondition[AssetKey] | None:
        """None: models run when a job, a schedule or a person says so."""
        return None

    def get_partitions_def(self, project: StrataProject, model: ModelOutline) -> PartitionsDefinition[str] | None:
        """The model's partitions of time (`partition_start`), if it has some."""
        return None if model.periods is None else time_windows(model.periods)

    def get_partition_mapping(
        self, project: StrataProject, model: ModelOutline, upstream: ModelOutline
    ) -> PartitionMapping | None:
        """Those of the same time, where a partition is proven to read these alone; else all."""
        if not all(self.get_partitions_def(project, one) for one in (model, upstream)):
            return None
        if upstream.name in model.own_time:
            return TimeWindowPartitionMapping(allow_nonexistent_upstream_partitions=True)
        return AllPartitionMapping()

    def get_metadata(
        self, project: StrataProject, model: ModelOutline, keys: Mapping[str, AssetKey]
    ) -> Mapping[str, object]:
        """Column schema, column lineage, table name and code reference."""
        return {
            COLUMN_SCHEMA: table_schema(model.columns),
            COLUMN_LINEAGE: column_lineage(model.columns, keys),
            TABLE_NAME: f"{project.name}.{model.name}",
            CODE_REFERENCES: code_reference(project.root, model.span),
        }

    def get_source_asset_key(self, project: StrataProject, source: SourceOutline) -> AssetKey:
        """The source's name; of a `dbt:` source the key that dagster-dbt gives the dbt model."""
        if source.kind == "dbt":
            from .dbt import dbt_asset_key

            return dbt_asset_key(project, source, self._dbt_translator)
        return AssetKey([source.name])

    def get_source_asset_spec(self, project: StrataProject, source: SourceOutline) -> AssetSpec:
        """The asset of a file that a source names; `dbt:` sources are dbt's assets."""
        return AssetSpec(
            self.get_source_asset_key(project, source),
            description=source.description,
            metadata={
                SOURCE: source.name,
                COLUMN_SCHEMA: table_schema(source.columns),
                CODE_REFERENCES: code_reference(project.root, source.span),
                "location": source.location,
            },
            group_name="sources",
            kinds={source.kind},
        )


def is_file(source: SourceOutline | None) -> bool:
    """Whether a source's data version is ours to tell: dbt tells that of its own models."""
    return source is not None and source.kind != "dbt"


def asset_keys(project: StrataProject, translator: DagsterStrataTranslator) -> dict[str, AssetKey]:
    """The key of every source and model by its name. Raises `DagsterInvalidDefinitionError` E023 where a model has the
    key of another, or of a source; sources may share one, as those do that name the same dbt model."""
    found = project.outline
    keys = {name: translator.get_source_asset_key(project, source) for name, source in found.sources.items()}
    whose = {key: f"source `{name}` ({found.sources[name].span})" for name, key in keys.items()}
    for name, model in found.models.items():
        key = keys[name] = translator.get_asset_key(project, model)
        this = f"model `{name}` ({model.span})"
        if key in whose:
            raise DagsterInvalidDefinitionError(
                f"E023: {this} and {whose[key]} have one asset key, `{key.to_user_string()}`: "
                "let `get_asset_key` of the translator (`key` of the `translation` in YAML) give each its own"
            )
        whose[key] = this
    return keys
