"""Landing as an asset: external files, or what a function returns, in a table with three clocks (Seed 1).

A step of a run lands once: its run id is made of the Dagster run, the asset and the partition. What brought no row,
or files that landed before as they are, is an observation, and nothing downstream runs for it. Rows that the table
refuses fail the check `landing`, which names the column and both types; the table stays as it was.
"""

# Without postponed annotations: Dagster compares that of a context with types.

import glob
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetObservation,
    AssetRecordsFilter,
    AssetsDefinition,
    AssetSpec,
    DagsterInvalidDefinitionError,
    DataVersion,
    Failure,
    MaterializeResult,
    MetadataValue,
    PartitionsDefinition,
    multi_asset,
)

from strata_core.diagnostics import StrataError
from strata_core.digests import hexdigest
from strata_core.planning.file_digests import file_digest
from strata_core.store import Store, Table
from strata_core.store.instant import moment

from .findings import findings
from .io_manager import run_id_of
from .names import DATA_VERSION_TAG, ROW_COUNT, TABLE
from .project import StrataProject

CHECK = "landing"
FILES = "files"
PARTITION = "{partition}"
StoreLocation: TypeAlias = StrataProject | str | os.PathLike[str]
"""A project, whose store is meant, or the place of a store: a folder, or `s3://bucket/prefix`."""
Mode = Literal["append", "replace"]
MODES = ("append", "replace")
Told: TypeAlias = MaterializeResult[None] | AssetCheckResult


@dataclass(frozen=True)
class Landing:
    """Files that land in the declared table `table` as one run, in the order of their names.

    `files` are paths or patterns (`drop/*.csv`) of Parquet, CSV and NDJSON, relative to the project or the working
    directory; `{partition}` stands for the key of the partition. The asset is called `key`, else as the table.
    """

    table: str
    files: str | Sequence[str]
    mode: Mode = "append"
    key: AssetKey | str | None = None
    partitions_def: PartitionsDefinition[Any] | None = None
    group_name: str | None = None
    description: str | None = None
    patterns: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.files, Sequence) or not all(isinstance(one, str) for one in self.files):
            message = f"the landing in `{self.table}` names files by a text or several, not by {self.files!r}"
            raise DagsterInvalidDefinitionError(message)
        if self.mode not in MODES:
            message = f"the landing in `{self.table}` is `append` or `replace`, not `{self.mode}`"
            raise DagsterInvalidDefinitionError(message)
        patterns = (self.files,) if isinstance(self.files, str) else tuple(self.files)
        object.__setattr__(self, "patterns", patterns)
        if any(PARTITION in pattern for pattern in patterns) and self.partitions_def is None:
            message = f"the landing in `{self.table}` names {PARTITION}: give it a `partitions_def`"
            raise DagsterInvalidDefinitionError(message)


def strata_land_assets(landings: Sequence[Landing], *, store: StoreLocation) -> list[AssetsDefinition]:
    """An asset for each of `landings`."""
    root = store.root if isinstance(store, StrataProject) else Path.cwd()
    return [_file_asset(landing, store, root) for landing in landings]


def land(
    *,
    table: str,
    store: StoreLocation,
    mode: Mode = "append",
    key: AssetKey | str | None = None,
    partitions_def: PartitionsDefinition[Any] | None = None,
    group_name: str | None = None,
    description: str | None = None,
) -> Callable[[Callable[..., Any]], AssetsDefinition]:
    """An asset of a function whose result lands in the declared table `table`: an Arrow table, batch or reader, a frame
    of polars or pandas, or paths of files; None, or no path, where there is nothing new. The function takes the
    context, or nothing. The asset is called `key`, else as the function."""

    def decorated(fetch: Callable[..., Any]) -> AssetsDefinition:
        parameters = inspect.signature(fetch).parameters
        if len(parameters) > 1:
            told = f"`{fetch.__name__}`, which lands in `{table}`, takes the context, or nothing"
            raise DagsterInvalidDefinitionError(f"{told}, and not {', '.join(parameters)}")
        text = description or inspect.getdoc(fetch)
        landing = Landing(table, (), mode, key or fetch.__name__, partitions_def, group_name, text)

        def rows(context: AssetExecutionContext, _: Table) -> _Rows:
            found = fetch(context) if parameters else fetch()
            return _Rows(None if isinstance(found, list | tuple) and not found else found)

        return _asset(landing, store, rows)

    return decorated


@dataclass(frozen=True)
class _Rows:
    """What is to land, None where there is nothing; of files their digest, and `landed`, the run that it landed as."""

    data: Any
    version: str | None = None
    files: tuple[str, ...] = ()
    landed: str | None = None


def _file_asset(landing: Landing, store: StoreLocation, root: Path) -> AssetsDefinition:
    def rows(context: AssetExecutionContext, table: Table) -> _Rows:
        paths = _paths(landing, context, root)
        version = hexdigest(*(file_digest(path) for path in paths))
        names = tuple(os.path.relpath(path, root) for path in paths)
        earlier = _landed(context, table, version)
        return _Rows([*paths] if paths and earlier is None else None, version, names, earlier)

    return _asset(landing, store, rows)


def _asset(
    landing: Landing, store: StoreLocation, rows: Callable[[AssetExecutionContext, Table], _Rows]
) -> AssetsDefinition:
    key = AssetKey.from_user_string(landing.key) if isinstance(landing.key, str) else landing.key
    key = key or AssetKey([landing.table])
    spec = AssetSpec(
        key,
        skippable=True,
        group_name=landing.group_name,
        description=landing.description,
        partitions_def=landing.partitions_def,
        kinds={"strata", "table"},
        metadata={TABLE: landing.table},
    )
    check = AssetCheckSpec(CHECK, asset=key, blocking=True, description="the table takes what arrives")

    @multi_asset(specs=[spec], check_specs=[check], name="__".join(("land", *key.path)).replace("-", "_"))
    def landed(context: AssetExecutionContext) -> Iterator[Told]:
        try:
            table = _opened(store).table(landing.table)
            yield from _land(context, key, landing, table, rows(context, table))
        except StrataError as error:
            told = findings(error.diagnostics, None)
            metadata: dict[str, Any] = {"table": landing.table, "finding": MetadataValue.md(f"```text\n{told}\n```")}
            yield AssetCheckResult(passed=False, asset_key=key, check_name=CHECK, description=told, metadata=metadata)
            raise Failure(f"{key.to_user_string()}: {told}", allow_retries=False) from None

    return landed


def _land(context: AssetExecutionContext, key: AssetKey, landing: Landing, table: Table, rows: _Rows) -> Iterator[Told]:
    partitions = context.partition_keys if context.has_partition_key else ()
    found: dict[str, Any] = {"table": table.name, **({FILES: list(rows.files)} if rows.files else {})}
    if rows.data is None:
        why = "nothing is there" if rows.landed is None else f"landed before, as {rows.landed}"
        yield from _nothing_new(context, key, partitions, {**found, "reason": why})
        return
    run = table.land(rows.data, run_id=run_id_of(context.run.run_id, key, partitions), mode=landing.mode)
    changes = table.schema_changes(run)
    found |= {
        ROW_COUNT: run.rows,
        "run": run.run_id,
        "commit": run.commit_seq,
        "ingested_at": MetadataValue.timestamp(moment(run.ingested_at)),
        "repeated": run.repeated,
    }
    if not run.rows and landing.mode == "append":
        yield from _nothing_new(context, key, partitions, {**found, "reason": "no row says anything new"})
        return
    told: dict[str, Any] = {"schema_changes": list(changes)} if changes else {}
    yield AssetCheckResult(passed=True, asset_key=key, check_name=CHECK, metadata=told)
    version = DataVersion(rows.version or f"{table.name} {run.run_id}")
    yield MaterializeResult(asset_key=key, metadata={**found, **told}, data_version=version)


def _nothing_new(
    context: AssetExecutionContext, key: AssetKey, partitions: Sequence[str], metadata: dict[str, Any]
) -> Iterator[Told]:
    partition = partitions[0] if len(partitions) == 1 else None
    context.log_event(AssetObservation(key, metadata=metadata, partition=partition))
    yield AssetCheckResult(passed=True, asset_key=key, check_name=CHECK, metadata={"reason": metadata["reason"]})


def _opened(store: StoreLocation) -> Store:
    return (store.opened.store if isinstance(store, StrataProject) else Store.at(os.fspath(store))).opened(create=False)


def _paths(landing: Landing, context: AssetExecutionContext, root: Path) -> tuple[Path, ...]:
    """The files that are there, in the order of their names. A path without a pattern that names none is left in, so
    that its absence is told."""
    found: dict[Path, None] = {}
    partition = context.partition_key if context.has_partition_key else ""
    if PARTITION in "".join(landing.patterns) and (set(partition) & set("/\\\0") or partition in (".", "..")):
        raise Failure(f"the partition `{partition}` cannot be a part of a path", allow_retries=False)
    for pattern in landing.patterns:
        written = str(root / pattern.replace(PARTITION, glob.escape(partition)))
        here = sorted(Path(path) for path in glob.glob(written, recursive=True) if os.path.isfile(path))
        if not here and not glob.has_magic(pattern):
            here = [root / pattern.replace(PARTITION, partition)]
        found.update(dict.fromkeys(here))
    return tuple(found)


def _landed(context: AssetExecutionContext, table: Table, version: str) -> str | None:
    """The run as which files of this `version` were the last to land for this asset and partition, if the table still
    has it."""
    partitions = [context.partition_key] if context.has_partition_key else None
    records = context.instance.fetch_materializations(
        AssetRecordsFilter(asset_key=context.asset_key, asset_partitions=partitions), limit=1
    ).records
    for record in records:
        materialization = record.asset_materialization
        if materialization is None or (materialization.tags or {}).get(DATA_VERSION_TAG) != version:
            return None
        run, commit = (materialization.metadata.get(name) for name in ("run", "commit"))
        if run is None or commit is None or not isinstance(commit.value, int):
            return None
        return str(run.value) if table.has_run(str(run.value), commit.value) else None
    return None
