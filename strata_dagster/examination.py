"""What the `last_known_good` checks find, as check results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetKey,
    MetadataValue,
)

from strata_core.contract.rules import spelled_age
from strata_core.planning.health import Health, examine
from strata_core.planning.preview import hidden_columns
from strata_core.planning.project import compile_, open_project
from strata_core.planning.workspace import make_engine
from strata_core.store.instant import spell
from strata_core.store.store import Store

from .events import Metadatum, list_of
from .project import findings
from .resource import StrataResource


def examined(
    context: AssetCheckExecutionContext, strata: StrataResource, models: Mapping[AssetKey, str]
) -> Iterator[AssetCheckResult]:
    """The result of each selected check; `models` names the model of each asset."""
    opened = open_project(project=strata.root)
    hidden = hidden_columns(compile_(opened))
    store, engine = Store.open(opened.store_root), make_engine(opened.config.engine, opened)
    for check in sorted(context.selected_asset_check_keys):
        model = models[check.asset_key]
        health = examine(store, strata.environment, model, engine, datetime.now(UTC), hidden.get(model, frozenset()))
        if not health.sound:
            context.log.error(findings(health.faults, opened))
        yield AssetCheckResult(
            passed=health.sound,
            asset_key=check.asset_key,
            check_name=check.name,
            severity=AssetCheckSeverity.WARN if health.only_old else AssetCheckSeverity.ERROR,
            description=_description(health, strata.environment),
            metadata=_metadata(health),
        )


def _description(health: Health, environment: str) -> str:
    if health.pointer is None or health.age is None:
        return f"nothing is published in {environment}"
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
