"""What a guard found, as Dagster's events: the verdict on a candidate, and the materialization of what is live."""

from __future__ import annotations

from collections.abc import Mapping

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract.report import MASKED, PinReport
from strata_core.contract_engine.guard import Guard, Verdict
from strata_core.diagnostics import Diagnostic
from strata_core.planning.preview import first_rows
from strata_core.store.environments import EnvironmentVersion
from strata_core.store.instant import moment

from .assets import WRITE_PIN
from .events import Metadatum, list_of, offenders
from .tables import markdown_table

NOTHING = "The contract promises nothing of the rows.\n"


def pin_table(report: PinReport | None) -> str:
    """The promises and how they fared."""
    return report.markdown() if report is not None and report.rules else NOTHING


def live_metadata(guard: Guard, verdict: Verdict, version: EnvironmentVersion) -> dict[str, Metadatum]:
    """What a guarded asset shows of its live rows; `verdict` has them. Keys are those of models, for plots."""
    assert verdict.kept is not None, "what is live was kept"
    artifact, hidden = verdict.kept.artifact, verdict.promise.table.hidden
    manifest = artifact.manifest
    names = tuple(f.name for f in manifest.schema)
    shown = first_rows(guard.store, artifact, names, hidden)
    found: dict[str, Metadatum] = {
        "dagster/row_count": manifest.rows,
        "bytes": manifest.bytes,
        "seconds": round(verdict.seconds, 3),
        "reused": verdict.kept.reused,
        "contract": verdict.promise.reference,
        "table": verdict.promise.name,
        "place": verdict.place,
        "environment": guard.environment,
        "environment_version": version.number,
        "fingerprint": str(manifest.provenance["fingerprint"]),
        "address": artifact.address,
        "digest": manifest.digest,
        "write_pin": MetadataValue.md(pin_table(verdict.report)),
        "preview": MetadataValue.md(markdown_table(shown.columns, shown.rows)),
        "columns": MetadataValue.md(_statistics(verdict)),
    }
    if verdict.left_out:
        found["left_out"] = ", ".join(verdict.left_out)
    return found | {f"nulls/{name}": s.null_count for name, s in manifest.statistics.items()}


def _statistics(verdict: Verdict) -> str:
    assert verdict.kept is not None, "what is live was kept"
    hidden = verdict.promise.table.hidden

    def bound(name: str, value: object) -> object:
        return "" if value is None else MASKED if name in hidden else value

    statistics = verdict.kept.artifact.manifest.statistics.items()
    rows = ((n, s.null_count, bound(n, s.minimum), bound(n, s.maximum)) for n, s in statistics)
    return markdown_table(("column", "nulls", "least", "greatest"), rows)


def accepted(key: AssetKey, verdict: Verdict, version: EnvironmentVersion) -> AssetCheckResult:
    """The pin's verdict on rows that are live now."""
    text = f"the rows keep `{verdict.promise.reference}`: live as `{verdict.promise.name}`"
    return _pin(key, True, text, verdict, {"published": True, "live_version": str(version.number)})


def refused(key: AssetKey, guard: Guard, verdict: Verdict) -> AssetCheckResult:
    """The pin's verdict on rows that are not live: the promises that they break, with masked samples."""
    found, stays = verdict.violations, stays_live(guard, verdict)
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    told = f"**Not published**; {stays}.\n\n{pin_table(verdict.report)}\n#### What to do\n\n{list_of(found)}"
    metadata: dict[str, Metadatum] = {"write_pin": MetadataValue.md(told)}
    return _pin(
        key,
        False,
        f"{found[0].code} {found[0].message}{more}: not published; {stays}",
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


def unmade(key: AssetKey, guard: Guard | None, name: str, why: str, found: tuple[Diagnostic, ...]) -> AssetCheckResult:
    """The pin's verdict where there are no rows to look at. It fails: nothing is known of a candidate."""
    live = guard.base.models.get(name) if guard is not None else None
    stays = f"version {guard.base.number} of {guard.environment} stays live" if guard and live else "nothing was live"
    metadata: dict[str, Metadatum] = {"published": False}
    metadata |= {"findings": MetadataValue.md(list_of(found))} if found else {}
    return AssetCheckResult(
        passed=False,
        asset_key=key,
        check_name=WRITE_PIN,
        description=f"{why}: not published; {stays}",
        metadata=metadata,
    )


def stays_live(guard: Guard, verdict: Verdict) -> str:
    """What readers of the store have now."""
    if verdict.live is None:
        return "nothing was live before"
    at = verdict.live.published_at
    since = f" (published {moment(at):%Y-%m-%d %H:%M:%S} UTC)" if at is not None else ""
    return f"version {guard.base.number} of {guard.environment} stays live{since}"


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
    return AssetCheckResult(
        passed=passed,
        asset_key=key,
        check_name=WRITE_PIN,
        description=text,
        severity=severity,
        metadata={**metadata, **more},
    )
