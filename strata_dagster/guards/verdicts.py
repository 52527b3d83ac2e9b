"""What a guard found, as Dagster's events: the verdict on a candidate, and the materialization of what is live."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from dagster import AssetCheckResult, AssetCheckSeverity, AssetKey, MetadataValue

from strata_core.contract_engine.pin.guard import Guard
from strata_core.contract_engine.pin.judging import Verdict
from strata_core.diagnostics import Diagnostic
from strata_core.diagnostics.listing import headline, listed
from strata_core.diagnostics.wording import plural
from strata_core.store.environments import EnvironmentVersion

from .. import pins
from ..events import MOST_PARTITIONS
from ..findings import list_of
from ..names import PARTITION_ROW_COUNT
from ..pins import Metadatum, offenders, pin_result, pin_table
from ..tables import markdown_table

MOST_KEYS = 5
"""Partitions that a line names; the table of a check has more."""


def live_metadata(guard: Guard, verdict: Verdict, version: EnvironmentVersion) -> dict[str, Metadatum]:
    """What a guarded asset shows of its live rows; `verdict` has them."""
    assert verdict.kept is not None, "what is live was kept"
    artifact, hidden, parts = verdict.kept.artifact, verdict.promise.table.hidden, verdict.kept.parts
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
        **({PARTITION_ROW_COUNT: parts[0].artifact.manifest.rows} if len(parts) == 1 else {}),
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


def of_partitions(
    key: AssetKey,
    guard: Guard,
    verdict: Verdict,
    version: EnvironmentVersion | None,
    because: str,
    *,
    failing: bool,
) -> AssetCheckResult:
    """The pin's verdict on several partitions: those that are live now, in `version`, those that broke the contract,
    and those that are sound and not live, `because` of something else."""
    contract, refused = verdict.promise.reference, verdict.refused
    live = verdict.going_live if version is not None else ()
    waiting = [k for k, one in verdict.partitions.items() if one.sound and k not in live]
    said = (
        [f"{headline(verdict.violations)}: {listed(refused, MOST_KEYS)} not published, what is live of them stays"]
        if refused
        else []
    )
    said += [f"{listed(waiting, MOST_KEYS)} not published, {because}"] if waiting else []
    said += [f"{plural(len(live), 'partition')} live as `{verdict.promise.name}`"] if live else []
    text = "; ".join(said) if refused or waiting else f"the rows keep `{contract}`: {said[0]}"
    told = f"{_table_of(verdict, live)}\n{pin_table(verdict.report)}"
    told += f"\n#### What to do\n\n{list_of(verdict.violations)}" if refused else ""
    metadata: dict[str, Metadatum] = {
        "write_pin": MetadataValue.md(told),
        "partitions_live": len(live),
        "partitions_refused": len(refused),
        **({"partitions_held_back": len(waiting)} if waiting else {}),
        "published": bool(live),
        "environment": guard.environment,
        "live_version": str(version.number if version is not None else guard.base.number or "none"),
    }
    severity = AssetCheckSeverity.WARN if failing and not refused else AssetCheckSeverity.ERROR
    return _pin(key, not (refused or (waiting and failing)), text, verdict, metadata, severity)


def _table_of(verdict: Verdict, live: Collection[str]) -> str:
    """The partitions of a run, those that were refused first."""
    rows = [
        (key, "live" if key in live else "held back" if one.sound else "refused", _rows(one), _why(one))
        for key, one in sorted(verdict.partitions.items(), key=lambda pair: (pair[1].sound, pair[0]))
    ]
    beyond = Counter(outcome for _, outcome, *_ in rows[MOST_PARTITIONS:])
    more = f"\nand {', '.join(f'{count:,} more {outcome}' for outcome, count in beyond.items())}\n" if beyond else ""
    return markdown_table(("partition", "outcome", "rows", "why"), rows[:MOST_PARTITIONS]) + more


def _rows(verdict: Verdict) -> int | str:
    return "" if verdict.report is None or verdict.report.rows is None else verdict.report.rows


def _why(verdict: Verdict) -> str:
    return headline(verdict.violations) if verdict.violations else ""


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
