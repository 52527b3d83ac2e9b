"""What the `last_known_good` checks find, as check results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract.rules import spelled_age
from strata_core.planning.health import Health, examine
from strata_core.planning.project import Project
from strata_core.planning.workspace import make_engine
from strata_core.store.instant import spell

from .assets import LAST_KNOWN_GOOD
from .events import Metadatum, list_of


def examined(
    project: Project, environment: str, checks: Mapping[str, AssetKey], again: bool
) -> Iterator[AssetCheckResult]:
    """The result of the check of each model in `checks`; `again` reads the bytes and rows of what is live again.

    After an apply it does not: what was just published was pinned, and the rest was when it was published.
    """
    engine = make_engine(project) if again else None
    for model, key in checks.items():
        health = examine(project, environment, model, datetime.now(UTC), engine=engine)
        yield AssetCheckResult(
            passed=health.sound,
            asset_key=key,
            check_name=LAST_KNOWN_GOOD,
            severity=AssetCheckSeverity.WARN if health.only_old else AssetCheckSeverity.ERROR,
            description=_description(health, environment),
            metadata={**_metadata(health), "rows_read_again": again},
        )


def _description(health: Health, environment: str) -> str:
    if health.pointer is None or health.age is None:
        return f"nothing is live in {environment}: {'; '.join(d.message for d in health.faults)}"
    verdict = "sound" if health.sound else "too old" if health.only_old else "not sound"
    return f"live for {spelled_age(health.age)}, {verdict}"


def _metadata(health: Health) -> dict[str, Metadatum]:
    found: dict[str, Metadatum] = {"findings": MetadataValue.md(list_of(health.faults))} if health.faults else {}
    if health.age is not None:
        found["age_seconds"] = int(health.age.total_seconds())
    if health.pointer is not None:
        found |= {"digest": health.pointer.digest, "address": health.pointer.address}
        found |= {"published_at": spell(health.pointer.published_at)} if health.pointer.published_at else {}
    if health.report is not None:
        found |= {"contract": MetadataValue.md(health.report.markdown())}
    return found
