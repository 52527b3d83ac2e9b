"""`python -m strata_dagster.summary`: what the latest run of the Dagster instance made, in a few lines.

Runs that a sensor started to renew a data product are left out. The instance is that of `DAGSTER_HOME`. The exit code
is 1 where the run failed or there is none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from dagster import AssetCheckEvaluation, AssetKey, AssetMaterialization, DagsterEventType, DagsterInstance, RunRecord

from strata_core.diagnostics.wording import plural

from .checks import WRITE_PIN
from .names import PRODUCT, ROW_COUNT

SHOWN = frozenset({DagsterEventType.ASSET_MATERIALIZATION, DagsterEventType.ASSET_CHECK_EVALUATION})
RUNS_A_PAGE = 100


@dataclass(frozen=True, slots=True)
class Summary:
    """The latest run: its state and seconds, what it materialized and what its checks found."""

    run_id: str
    succeeded: bool
    seconds: float
    materializations: tuple[AssetMaterialization, ...]
    checks: tuple[AssetCheckEvaluation, ...]


def latest_run(instance: DagsterInstance) -> Summary | None:
    """The latest run of `instance` that is no renewal of a data product, `None` where there was none."""
    record, made, checks = next(_runs(instance), None), [], []
    if record is None:
        return None
    for entry in instance.all_logs(record.dagster_run.run_id, of_type=set(SHOWN)):
        event = entry.dagster_event
        if event is not None and event.event_type is DagsterEventType.ASSET_MATERIALIZATION:
            made.append(event.step_materialization_data.materialization)
        elif event is not None:
            checks.append(event.asset_check_evaluation_data)
    seconds = (record.end_time or 0.0) - (record.start_time or 0.0)
    run = record.dagster_run
    return Summary(run.run_id, run.is_success, max(0.0, seconds), tuple(made), tuple(checks))


def _runs(instance: DagsterInstance) -> Iterator[RunRecord]:
    """Runs from the latest on. While the UI is open, the sensor of data products starts runs after each of a person."""
    cursor = None
    while records := instance.get_run_records(limit=RUNS_A_PAGE, cursor=cursor):
        yield from (record for record in records if PRODUCT not in record.dagster_run.tags)
        cursor = records[-1].dagster_run.run_id


def lines(summary: Summary) -> Iterator[str]:
    """The summary as text: models and guarded tables with their rows, then assets, checks and time."""
    published = [m for m in summary.materializations if "environment_version" in m.metadata]
    pins = {c.asset_key: c for c in summary.checks if c.check_name == WRITE_PIN}
    told: dict[AssetKey, list[AssetMaterialization]] = {}  # of one with partitions, an event for each
    for made in published:
        told.setdefault(made.asset_key, []).append(made)
    width = max((len(key.to_user_string()) for key in told), default=0)
    for key, events in told.items():
        rows = events[-1].metadata[ROW_COUNT].value
        how = "reused" if all(made.metadata["reused"].value for made in events) else "computed"
        pin = pins.get(key)
        verdict = "" if pin is None else "pin passed" if pin.passed else "pin FAILED"
        partitions = sum(made.partition is not None for made in events)
        of = f"  {plural(partitions, 'partition')}" if partitions else ""
        yield f"  {key.to_user_string():<{width}}  {rows:>9,} rows  {how:<8}{of}  {verdict}".rstrip()
    for check in (c for c in summary.checks if not c.passed):
        yield f"  FAILED {check.check_name} of {check.asset_key.to_user_string()}: {check.description or ''}"
    passed = sum(c.passed for c in summary.checks)
    guarded = sum("place" in events[-1].metadata for events in told.values())  # where rows that others make were found
    parts = [plural(len(told) - guarded, "Strata model")]
    parts += [plural(guarded, "guarded table")] if guarded else []
    newest: dict[str, int] = {}
    for made in published:
        name, number = str(made.metadata["environment"].value), int(str(made.metadata["environment_version"].value))
        newest[name] = max(number, newest.get(name, 0))
    live = f", live as {', '.join(f'{n} version {newest[n]}' for n in sorted(newest))}" if newest else ""
    others = len(summary.materializations) - len(published)
    yield f"{' and '.join(parts)}{live}" + (f"; {plural(others, 'other asset')}" if others else "")
    state = "" if summary.succeeded else "the run FAILED; "
    yield f"{state}{passed} of {len(summary.checks)} checks passed; {summary.seconds:.1f} s"


def main() -> int:
    """Print the summary of the latest run."""
    with DagsterInstance.get() as instance:
        summary = latest_run(instance)
    if summary is None:
        print("this Dagster instance has no run yet: `dagster asset materialize --select '*' -m definitions`")
        return 1
    print("\n".join(lines(summary)))
    return 0 if summary.succeeded else 1


if __name__ == "__main__":
    sys.exit(main())
