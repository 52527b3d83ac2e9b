"""What is shown of a write pin and of what is live, whoever makes the rows: a model, or an op that is guarded."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract.report import MASKED, PinReport
from strata_core.planning.live.preview import preview
from strata_core.store.artifacts import Artifact
from strata_core.store.environments import EnvironmentVersion, Pointer
from strata_core.store.instant import spelled_second
from strata_core.store.store import Store

from .checks import WRITE_PIN
from .names import ROW_COUNT
from .tables import markdown_table

Metadatum = str | int | float | bool | MetadataValue[Any]
PUBLISHED = "published"
"""Metadata of a check that was made of a candidate: whether it is live since."""
NOTHING = "No contract promises anything of the rows.\n"
TOGETHER = "because its environment publishes all tables of a run together and not all were sound"
"""Why a sound candidate is not live."""


def pin_table(report: PinReport | None) -> str:
    """The promises and how they fared."""
    return report.markdown() if report is not None and report.rules else NOTHING


def offenders(report: PinReport | None) -> dict[str, int]:
    """The rows that break each promise, under keys that stay the same from run to run, so that Dagster draws them."""
    return {f"offenders/{r.field} {r.rule.value}": r.offenders for r in (report.rules if report else ()) if r.counted}


def live_metadata(
    store: Store,
    artifact: Artifact,
    environment: str,
    version: EnvironmentVersion,
    report: PinReport | None,
    columns: tuple[str, ...],
    hidden: Set[str],
) -> dict[str, Metadatum]:
    """What an asset shows of its live rows: `columns` in their order, without the values of `hidden` ones."""
    manifest = artifact.manifest
    shown = preview(store, artifact, columns, hidden)
    nullable = {f.name for f in manifest.schema if f.nullable}
    return {
        ROW_COUNT: manifest.rows,
        "bytes": manifest.bytes,
        "environment": environment,
        "environment_version": version.number,
        "address": artifact.address,
        "digest": manifest.digest,
        "write_pin": MetadataValue.md(pin_table(report)),
        "preview": MetadataValue.md(markdown_table(shown.columns, shown.rows)),
        "columns": MetadataValue.md(_statistics(artifact, hidden)),
        **{f"nulls/{name}": s.null_count for name, s in manifest.statistics.items() if name in nullable},
    }


def _statistics(artifact: Artifact, hidden: Set[str]) -> str:
    def bound(name: str, value: object) -> object:
        return "" if value is None else MASKED if name in hidden else value

    statistics = artifact.manifest.statistics.items()
    rows = ((name, s.null_count, bound(name, s.minimum), bound(name, s.maximum)) for name, s in statistics)
    return markdown_table(("column", "nulls", "least", "greatest"), rows)


def stays_live(live: Pointer | None, environment: str, version: EnvironmentVersion) -> str:
    """What readers have instead of a candidate that is not published."""
    if live is None:
        return "nothing was live before"
    at = live.published_at
    since = f" (published {spelled_second(at)} UTC)" if at is not None else ""
    return f"version {version.number} of {environment} stays live{since}"


def nothing_published(environment: str, version: EnvironmentVersion) -> str:
    """The line of a run's failure that says what readers have."""
    return f"nothing was published: {what_stays(environment, version)}"


def what_stays(environment: str, version: EnvironmentVersion) -> str:
    """What readers of an environment have."""
    return f"version {version.number} of {environment} stays live" if version.number else "nothing is live yet"


def pin_result(
    key: AssetKey,
    passed: bool,
    description: str,
    metadata: Mapping[str, Metadatum],
    severity: AssetCheckSeverity = AssetCheckSeverity.ERROR,
) -> AssetCheckResult:
    """The result of a `write_pin`."""
    return AssetCheckResult(
        passed=passed,
        asset_key=key,
        check_name=WRITE_PIN,
        metadata=metadata,
        severity=severity,
        description=description,
    )
