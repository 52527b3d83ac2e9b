"""What the `last_known_good` checks find, as check results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract.freshness import clock_note
from strata_core.contract.rules import rough_age
from strata_core.diagnostics import StrataError
from strata_core.planning.engines import make_engine
from strata_core.planning.live.health import Health, examine
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.planning.project import Project, compile_
from strata_core.planning.workspace import Workspace, open_workspace
from strata_core.store.instant import moment

from .checks import LAST_KNOWN_GOOD
from .events import partitions_table
from .findings import list_of
from .pins import Metadatum


def examined(
    project: Project, environment: str, checks: Mapping[str, AssetKey], again: bool
) -> Iterator[AssetCheckResult]:
    """The result of the check of each model in `checks`; `again` reads the bytes and rows of what is live again.

    After an apply it does not: what was just published was pinned, and the rest was when it was published.
    """
    engine = make_engine(project) if again else None
    opened = cache(lambda: open_workspace(project, environment, compile_(project), write=False))
    for model, key in checks.items():
        health = examine(project, environment, model, datetime.now(UTC), engine=engine)
        yield AssetCheckResult(
            passed=health.sound,
            asset_key=key,
            check_name=LAST_KNOWN_GOOD,
            severity=AssetCheckSeverity.WARN if health.only_old else AssetCheckSeverity.ERROR,
            description=_description(health, environment),
            metadata={**_metadata(health), **_partitions(health, opened), "rows_read_again": again},
        )


def _partitions(health: Health, opened: Callable[[], Workspace]) -> dict[str, Metadatum]:
    """The partitions of what is live, and which of them are stale; nothing where that cannot be told."""
    if health.artifact is None or pieces_of(health.artifact) is None:
        return {}
    try:
        workspace = opened()
        return partitions_table(workspace, health.model) if health.model in workspace.compiled.models else {}
    except StrataError:  # the pin's own check says what is wrong with the project
        return {}


def _description(health: Health, environment: str) -> str:
    if health.pointer is None or health.age is None:
        return f"nothing is live in {environment}: {'; '.join(d.message for d in health.faults)}"
    verdict = "sound" if health.sound else "too old" if health.only_old else "not sound"
    note = clock_note(moment(health.pointer.published_at or 0), datetime.now(UTC))
    return f"live for {rough_age(health.age)}{note}, {verdict}"


def _metadata(health: Health) -> dict[str, Metadatum]:
    found: dict[str, Metadatum] = {"findings": MetadataValue.md(list_of(health.faults))} if health.faults else {}
    if health.age is not None:
        found["age_seconds"] = int(health.age.total_seconds())
    if health.pointer is not None:
        found |= {"digest": health.pointer.digest, "address": health.pointer.address}
        at = health.pointer.published_at
        found |= {} if at is None else {"published_at": MetadataValue.timestamp(moment(at))}
    if health.report is not None:
        found |= {"contract": MetadataValue.md(health.report.markdown())}
    return found
