"""What Strata needs of dagster-dbt: the keys of its assets, and data versions that say what was built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from dagster import AssetKey, DagsterInvalidDefinitionError, DataVersion, Output

from strata_core.diagnostics import StrataError
from strata_core.planning.dbt import DbtManifest, read_manifest
from strata_core.planning.file_digests import file_digest
from strata_core.planning.kept.outline import SourceOutline

from .findings import findings
from .project import StrataProject

if TYPE_CHECKING:
    from dagster_dbt import DagsterDbtTranslator

Event = TypeVar("Event")


def dbt_asset_key(project: StrataProject, source: SourceOutline, translator: DagsterDbtTranslator | None) -> AssetKey:
    """The key of the dbt model that `source` names; raises `DagsterInvalidDefinitionError` (E030, E033)."""
    from dagster_dbt import DagsterDbtTranslator
    from dagster_dbt.dbt_manifest import validate_manifest

    tables = _tables(project)
    try:
        node = tables.find(source.location)
    except StrataError as error:
        raise DagsterInvalidDefinitionError(findings(error.diagnostics, project.opened)) from None
    chosen = translator or DagsterDbtTranslator()
    return chosen.get_asset_spec(validate_manifest(tables.path), node.unique_id, None).key


def with_data_versions(events: Iterable[Event], project: StrataProject) -> Iterator[Event | Output[object]]:
    """The events of a dbt run, each built Parquet file with the digest of its content as its data version.

    dagster-dbt tells the data version of a model by its code, so that Dagster would not see new rows in it; and
    a dbt run that builds the same file again leaves what reads it fresh.

        yield from with_data_versions(dbt.cli(["build"], context=context).stream(), project)
    """
    built = {table.unique_id: table.parquet for table in _tables(project).tables.values() if table.parquet}
    for event in events:
        if isinstance(event, Output) and "unique_id" in event.metadata:
            path = built.get(str(event.metadata["unique_id"].value))
            if path is not None and path.is_file():
                version = DataVersion(file_digest(path))
                yield Output(event.value, event.output_name, event.metadata, version, tags=event.tags)
                continue
        yield event


def _tables(project: StrataProject) -> DbtManifest:
    try:
        return read_manifest(project.root, project.opened.config.dbt)
    except StrataError as error:
        raise DagsterInvalidDefinitionError(findings(error.diagnostics, project.opened)) from None
