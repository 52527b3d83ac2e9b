"""What an instance saw of assets, as the contract engine's observations: last runs, data versions, schemas, checks.

The latest of each, asked for in portions: how much an instance remembers does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any, TypeVar, get_args

from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetCheckSeverity,
    AssetKey,
    AssetMaterialization,
    DagsterInstance,
    DagsterRunStatus,
    EventLogRecord,
    RunsFilter,
    TableSchema,
)
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus

from strata_core.contract_engine.observations import (
    Observations,
    Outcome,
    RunState,
    SeenCheck,
    SeenRun,
    SeenSchema,
    SeenTest,
    Weight,
)
from strata_core.contract_engine.parse.sql_types import strata_type
from strata_core.instants import iso_seconds
from strata_core.types.spelling import TypeSpellingError, parse_type

from ..checks import LAST_KNOWN_GOOD
from ..names import COLUMN_SCHEMA, DATA_VERSION_TAG, DBT_FAILED_ROWS, ROW_COUNT
from ..pins import PUBLISHED
from .covering import Landscape

PORTION = 200
"""How many assets or checks are asked for at once."""
_RUNS: Mapping[DagsterRunStatus, RunState] = {
    DagsterRunStatus.SUCCESS: "succeeded",
    DagsterRunStatus.FAILURE: "failed",
    DagsterRunStatus.CANCELED: "failed",
    DagsterRunStatus.STARTED: "running",
    DagsterRunStatus.CANCELING: "running",
}
_ENDED = {AssetCheckExecutionRecordStatus.SUCCEEDED, AssetCheckExecutionRecordStatus.FAILED}
T = TypeVar("T")


def seen_in_dagster(
    instance: DagsterInstance, here: Landscape, names: Mapping[AssetKey, Sequence[str]]
) -> Observations:
    """What `instance` knows of the assets in `names`, each told under the names that contracts give it."""
    runs: list[SeenRun] = []
    schemas: list[SeenSchema] = []
    for keys in portions(names):
        records = {r.asset_entry.asset_key: r.asset_entry for r in instance.get_asset_records(keys)}
        ids = list({r.last_run_id for r in records.values() if r.last_run_id})
        found = instance.get_run_records(RunsFilter(run_ids=ids), limit=len(ids)) if ids else ()
        states = {r.dagster_run.run_id: r for r in found}
        for key, entry in records.items():
            latest = entry.last_materialization_record
            if latest is not None:
                runs += _made(names[key], latest)
                schemas += _schema(names[key], latest.asset_materialization)
            made_by = latest.run_id if latest is not None else None
            last = states.get(entry.last_run_id) if entry.last_run_id and entry.last_run_id != made_by else None
            if last is not None:
                state = _RUNS.get(last.dagster_run.status, "unknown")
                if state != "succeeded":  # one that succeeded and made nothing of this asset is no run of it
                    at = spelled(last.end_time or last.start_time or last.create_timestamp.timestamp())
                    runs += [SeenRun(name, last.dagster_run.run_id, state, at) for name in names[key]]
    checks, tests = _checks(instance, here, names)
    return Observations(tests=tests, schemas=tuple(schemas), runs=tuple(runs), checks=checks)


def _made(names: Sequence[str], record: EventLogRecord) -> Iterator[SeenRun]:
    made = record.asset_materialization
    if made is None or _value(made, "reused") is True:
        return  # nothing was made: its age is that of the publication, which the store knows
    rows = _value(made, ROW_COUNT) if made.partition is None else None
    at, version = spelled(record.timestamp), (made.tags or {}).get(DATA_VERSION_TAG)
    for name in names:
        yield SeenRun(name, record.run_id, "succeeded", at, None, version, rows if isinstance(rows, int) else None)


def _schema(names: Sequence[str], made: AssetMaterialization | None) -> Iterator[SeenSchema]:
    schema = _value(made, COLUMN_SCHEMA) if made is not None else None
    if isinstance(schema, TableSchema):
        columns = tuple((c.name, _type(c.type), None if c.constraints.nullable else False) for c in schema.columns)
        for name in names:
            yield SeenSchema(name, columns)


def _type(spelling: str) -> str | None:
    """A type as Strata spells it, or as a warehouse does."""
    try:
        return str(parse_type(spelling))
    except TypeSpellingError:
        return strata_type(spelling)


def _value(made: AssetMaterialization | AssetCheckEvaluation, name: str) -> Any:
    found = made.metadata.get(name)
    return None if found is None else found.value


def _checks(
    instance: DagsterInstance, here: Landscape, names: Mapping[AssetKey, Sequence[str]]
) -> tuple[tuple[SeenCheck, ...], tuple[SeenTest, ...]]:
    found: list[SeenCheck] = []
    tests: list[SeenTest] = []
    storage = instance.event_log_storage
    for keys in portions(check for key in names for check in here.checks.get(key, ())):
        for check, latest in storage.get_latest_asset_check_execution_by_key(keys).items():
            ended: Sequence[Any] = [latest]
            if latest.status not in _ENDED:  # of a run that is under way, or that ended before the check's turn
                ended = storage.get_asset_check_execution_history(check, limit=1, status=_ENDED)
            for record in ended:
                if record.event is None or record.event.dagster_event is None:
                    continue
                said = record.event.dagster_event.asset_check_evaluation_data
                at = spelled(record.event.timestamp)
                if check in here.tests:
                    tests += _tested(*here.tests[check], said, at)
                    continue
                found += [_check(name, check, said, at) for name in names[check.asset_key]]
                if check.asset_key in here.dbt:
                    tests.append(_test(None, check.name, "passed" if said.passed else "failed", said, at))
    return tuple(found), tuple(tests)


def _tested(product: str, test: str | None, said: AssetCheckEvaluation, at: str) -> Iterator[SeenTest]:
    """The result of a contract's test that an asset's own check told. An age is told from runs, and what an
    experimental test found is not in its check."""
    outcome = said.metadata.get("outcome")
    if _value(said, PUBLISHED) is False:
        return  # a candidate's, which is not live
    if test is not None and outcome is not None and outcome.value in get_args(Outcome):
        yield _test(product, test, outcome.value, said, at)


def _test(product: str | None, test: str, outcome: Any, said: AssetCheckEvaluation, at: str) -> SeenTest:
    rows = _value(said, "offenders" if product else DBT_FAILED_ROWS)
    message = None if outcome == "passed" else said.description
    return SeenTest(product, test, outcome, at, rows if isinstance(rows, int) else None, message)


def _check(name: str, check: AssetCheckKey, said: AssetCheckEvaluation, at: str) -> SeenCheck:
    """What a check says of what is live: a candidate that its pin refused is not live, a damaged artifact is."""
    weight: Weight = "degrading"
    if said.severity is AssetCheckSeverity.WARN:
        weight = "informational"
    elif check.name == LAST_KNOWN_GOOD:
        weight = "blocking"
    return SeenCheck(name, check.name, "passed" if said.passed else "failed", weight, at, said.description)


def spelled(seconds: float) -> str:
    """An instant of Dagster as views spell it."""
    return iso_seconds(datetime.fromtimestamp(seconds, UTC))


def portions(items: Iterable[T]) -> Iterator[list[T]]:
    """`items` in lists, each small enough for one question to the event log."""
    rest = iter(items)
    while portion := list(islice(rest, PORTION)):
        yield portion
