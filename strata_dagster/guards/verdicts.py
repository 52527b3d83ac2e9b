"""What a guard found, as Dagster's events: the verdict on a candidate, and the materialization of what is live."""

from __future__ import annotations

from collections.abc import Mapping

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract_engine.pin.guard import Guard, Verdict
from strata_core.diagnostics import Diagnostic
from strata_core.store.environments import EnvironmentVersion

from .. import pins
from ..findings import headline, list_of
from ..pins import Metadatum, offenders, pin_result, pin_table


def live_metadata(guard: Guard, verdict: Verdict, version: EnvironmentVersion) -> dict[str, Metadatum]:
    """What a guarded asset shows of its live rows; `verdict` has them."""
    assert verdict.kept is not None, "what is live was kept"
    artifact, hidden, part = verdict.kept.artifact, verdict.promise.table.hidden, verdict.kept.part
    names = tuple(f.name for f in artifact.manifest.schema)
    return {
        **pins.live_metadata(guard.store, artifact, guard.environment, version, verdict.report, names, hidden),
        "seconds": round(verdict.seconds, 3),
        "reused": verdict.kept.reused,
        "contract": verdict.promise.reference,
        "table": verdict.promise.name,
        "place": verdict.place,
        "fingerprint": str(artifact.manifest.provenance["fingerprint"]),
        **({"left_out": ", ".join(verdict.left_out)} if verdict.left_out else {}),
        **({"dagster/partition_row_count": part.artifact.manifest.rows} if part is not None else {}),
    }


def accepted(key: AssetKey, verdict: Verdict, version: EnvironmentVersion) -> AssetCheckResult:
    """The pin's verdict on rows that are live now."""
    text = f"the rows keep `{verdict.promise.reference}`: live as `{verdict.promise.name}`"
    return _pin(key, True, text, verdict, {"published": True, "live_version": str(version.number)})


def refused(key: AssetKey, guard: Guard, verdict: Verdict) -> AssetCheckResult:
    """The pin's verdict on rows that are not live: the promises that they break, with masked samples."""
    found, stays = verdict.violations, stays_live(guard, verdict)
    told = f"**Not published**; {stays}.\n\n{pin_table(verdict.report)}\n#### What to do\n\n{list_of(found)}"
    metadata: dict[str, Metadatum] = {"write_pin": MetadataValue.md(told)}
    return _pin(
        key,
        False,
        f"{headline(found)}: not published; {stays}",
        verdict,
        {**metadata, **_unpublished(guard, verdict)},
    )


def held_back(key: AssetKey, guard: Guard, verdict: Verdict, because: str, *, failing: bool) -> AssetCheckResult:
    """The pin's verdict on sound rows that are not live all the same."""
    text = f"the rows keep `{verdict.promise.reference}`; not published, {because}; {stays_live(guard, verdict)}"
    severity = AssetCheckSeverity.WARN if failing else AssetCheckSeverity.ERROR
    return _pin(key, not failing, text, verdict, _unpublished(guard, verdict), severity)


def looked_at(key: AssetKey, guard: Guard, verdict: Verdict) -> AssetCheckResult:
    """The pin's verdict on the rows that are there now, where the check runs alone: nothing goes live."""
    if verdict.violations:
        return refused(key, guard, verdict)
    text = f"the rows of {verdict.place} keep `{verdict.promise.reference}`; they go live when they are materialized"
    return _pin(key, True, text, verdict, _unpublished(guard, verdict))


def unmade(
    key: AssetKey,
    guard: Guard | None,
    name: str,
    why: str,
    found: tuple[Diagnostic, ...],
    *,
    skipped: bool = False,
) -> AssetCheckResult:
    """The pin's verdict where there are no rows to look at. It fails: nothing is known of a candidate. Where the asset
    was `skipped`, as it may be, that is a warning."""
    stays = "what was live stays live"
    if guard is not None:
        stays = pins.stays_live(guard.base.models.get(name), guard.environment, guard.base)
    metadata: dict[str, Metadatum] = {"published": False}
    metadata |= {"findings": MetadataValue.md(list_of(found))} if found else {}
    severity = AssetCheckSeverity.WARN if skipped else AssetCheckSeverity.ERROR
    return pin_result(key, False, f"{why}: not published; {stays}", metadata, severity)


def stays_live(guard: Guard, verdict: Verdict) -> str:
    """What readers of the store have now."""
    return pins.stays_live(verdict.live, guard.environment, guard.base)


def _unpublished(guard: Guard, verdict: Verdict) -> Mapping[str, Metadatum]:
    return {
        "published": False,
        "environment": guard.environment,
        "live_version": str(guard.base.number) if verdict.live else "none",
    }


def _pin(
    key: AssetKey,
    passed: bool,
    text: str,
    verdict: Verdict,
    more: Mapping[str, Metadatum],
    severity: AssetCheckSeverity = AssetCheckSeverity.ERROR,
) -> AssetCheckResult:
    report = verdict.report
    metadata: dict[str, Metadatum] = {"contract": verdict.promise.reference, "place": verdict.place}
    if report is not None:
        metadata |= {"write_pin": MetadataValue.md(pin_table(report)), **offenders(report)}
        metadata |= {} if report.rows is None else {"rows": report.rows}
    return pin_result(key, passed, text, {**metadata, **more}, severity)
