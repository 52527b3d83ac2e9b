"""What an apply did, as Dagster's events: materializations of what is live, and the verdict of each write pin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from dagster import (
    AssetCheckResult,
    AssetCheckSeverity,
    AssetKey,
    AssetObservation,
    DataVersion,
    MaterializeResult,
    MetadataValue,
)

from strata_core.diagnostics import Diagnostic
from strata_core.diagnostics.listing import headline
from strata_core.planning.applying.results import ModelResult, Status
from strata_core.planning.inputs.sources import ResolvedSource
from strata_core.planning.live.partition_states import counted, partition_states
from strata_core.planning.partitions.composition import Piece
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.planning.plan import PlannedModel
from strata_core.planning.provenance import pin_of
from strata_core.planning.workspace import Workspace
from strata_core.store.artifacts import Artifact
from strata_core.store.environments import EnvironmentVersion

from .checks import LAST_KNOWN_GOOD
from .findings import list_of
from .names import DATA_VERSION_TAG, INPUT_VERSION_TAG, PARTITION_ROW_COUNT
from .pins import Metadatum, live_metadata, offenders, pin_result, pin_table, stays_live
from .tables import markdown_table

MOST_PARTITIONS = 60
"""Partitions in a table, the stale ones first."""
HEADER = ("partition", "rows", "state")


def source_metadata(source: ResolvedSource) -> dict[str, MetadataValue]:
    """Where a source's files are, their size and digest; of a table of the store, which it is and when it landed."""
    if source.clocked is not None:
        landed = source.clocked.landed
        newest = {} if landed is None else {"landed": MetadataValue.timestamp(landed)}
        told = {"table": MetadataValue.text(source.clocked.table.place), "digest": MetadataValue.text(source.digest)}
        return {**told, **newest}
    return {
        "path": MetadataValue.path(source.files[0]),
        "files": MetadataValue.int(len(source.files)),
        "bytes": MetadataValue.int(sum(path.stat().st_size for path in source.files)),
        "digest": MetadataValue.text(source.digest),
    }


def observation(key: AssetKey, source: ResolvedSource) -> AssetObservation:
    """The content of a file as this run reads it."""
    return AssetObservation(key, metadata=source_metadata(source), tags={DATA_VERSION_TAG: source.digest})


def materialization(
    workspace: Workspace,
    key: AssetKey,
    result: ModelResult,
    artifact: Artifact,
    version: EnvironmentVersion,
    sources: Mapping[str, AssetKey],
    hidden: Set[str],
    check: AssetCheckResult | None,
    partition: str | None = None,
) -> MaterializeResult[None]:
    """The live artifact of a model in `version`, or its `partition`; `check` is the pin's verdict on it. Values of
    `hidden` columns are not shown.

    Its data version is the digest of its rows, so that what reads it stays fresh when they did not change. The
    content of files (`sources`) is noted as it was read, not as it was last observed.
    """
    piece = None if partition is None else piece_of(artifact, partition)
    own = {} if partition is None else partition_metadata(result, partition, piece)
    return MaterializeResult(
        asset_key=key,
        metadata=_live_metadata(workspace, result, artifact, version, hidden) | own,
        data_version=DataVersion(artifact.manifest.digest if piece is None else piece.digest),
        tags=source_tags(workspace, result, sources),
        check_results=[check] if check else [],
    )


def source_tags(workspace: Workspace, result: ModelResult, sources: Mapping[str, AssetKey]) -> dict[str, str]:
    """The content of the files that a model read."""
    digests = {sources[u]: workspace.sources[u].digest for u in result.planned.inputs if u in sources}
    return {f"{INPUT_VERSION_TAG}/{k.to_user_string()}": digest for k, digest in digests.items()}


def piece_of(artifact: Artifact, partition: str) -> Piece | None:
    """What is live of a partition."""
    pieces = pieces_of(artifact)
    return None if pieces is None else pieces.by_key.get(partition)


def partition_metadata(result: ModelResult, partition: str, piece: Piece | None) -> dict[str, Metadatum]:
    """What is told of one partition, beside what is told of its table."""
    made = result.pieces.get(partition)
    causes = {p.key: p.causes for p in result.planned.periods or ()}.get(
        partition, result.causes if result.planned.periods is None else ()
    )
    return {
        **({"partition": partition} if piece is None else piece_metadata(partition, piece)),
        "reused": made is None or made.status is not Status.COMPUTED,
        "reason": _reason(causes),
    }


def piece_metadata(partition: str, piece: Piece) -> dict[str, Metadatum]:
    """What is live of one partition."""
    return {
        "partition": partition,
        PARTITION_ROW_COUNT: piece.rows,
        "digest": piece.digest,
        "address": piece.address,
    }


def partitions_table(workspace: Workspace, name: str) -> dict[str, Metadatum]:
    """The partitions of a model, each with its rows and why it is stale: Dagster tells nothing of them all together."""
    states = partition_states(workspace, name)
    if not states:
        return {}
    told = sorted(states, key=lambda s: (not s.causes, s.rows is not None))[:MOST_PARTITIONS]
    rows = [(s.key, "missing" if s.missing else s.rows or 0, "; ".join(map(str, s.causes)) or "fresh") for s in told]
    more = (
        f"\n{len(states) - len(told):,} more are fresh or stale for the same reasons.\n"
        if len(states) > len(told)
        else ""
    )
    return {
        "partitions_live": sum(s.rows is not None for s in states),
        "partitions_stale": sum(bool(s.causes) for s in states),
        "partitions_summary": MetadataValue.md(f"{counted(states)}\n\n{markdown_table(HEADER, rows)}{more}"),
    }


def _live_metadata(
    workspace: Workspace, result: ModelResult, artifact: Artifact, version: EnvironmentVersion, hidden: Set[str]
) -> dict[str, Metadatum]:
    manifest, computed = artifact.manifest, result.status is Status.COMPUTED
    stored = {f.name for f in manifest.schema}
    columns = tuple(n for n in workspace.compiled.models[manifest.table].relation.schema.names if n in stored)
    return {
        **live_metadata(workspace.store, artifact, workspace.environment, version, pin_of(manifest), columns, hidden),
        **({"seconds": round(result.seconds, 3)} if computed else {}),
        **({"way": str(result.way)} if computed and result.way else {}),
        **({"partitions": len(artifact.partitions)} if artifact.partitions else {}),
        "reused": not computed,
        "reason": _reason(result.causes),
        "fingerprint": result.planned.fingerprint.merkle,
        **partitions_table(workspace, manifest.table),
    }


def _reason(causes: Iterable[object]) -> str:
    return "; ".join(map(str, causes)) or "fresh: nothing changed"


def passed(key: AssetKey, status: Status, artifact: Artifact, version: EnvironmentVersion) -> AssetCheckResult:
    """The pin's verdict on what is live: on the new candidate, or on the one that is reused."""
    report = pin_of(artifact.manifest)
    published = "the candidate keeps its contract and was published"
    return pin_result(
        key,
        True,
        published if status is Status.COMPUTED else "what is live keeps its contract; nothing was computed",
        {
            "write_pin": MetadataValue.md(pin_table(report)),
            "rows": artifact.manifest.rows,
            **offenders(report),
            "published": True,
            "live_version": str(version.number),
        },
    )


def unpublished(
    key: AssetKey, workspace: Workspace, result: ModelResult, version: EnvironmentVersion, because: str
) -> AssetCheckResult:
    """The pin's verdict where the model's candidate is not live.

    Violated or failed: an error. Skipped: a warning, for nothing is known. Sound but held back (`because`):
    passed, since the candidate keeps its contract, and so does what is live.
    """
    stays = stays_live(result.planned.live, workspace.environment, version)
    metadata: dict[str, Metadatum] = {
        "published": False,
        "candidate": result.planned.fingerprint.merkle,
        "environment": workspace.environment,
        "live_version": str(version.number) if result.planned.live else "none",
    }
    match result.status:
        case Status.VIOLATED:
            rows = result.pin.rows if result.pin else None
            metadata |= {"write_pin": MetadataValue.md(_violation(workspace, result, stays))}
            metadata |= {} if rows is None else {"rows": rows}
            metadata |= offenders(result.pin)
            metadata |= _refused(result)
            return pin_result(key, False, f"{headline(result.violations)}: not published; {stays}", metadata)
        case Status.FAILED:
            metadata |= {"findings": MetadataValue.md(list_of(result.diagnostics))}
            text = f"{headline(result.diagnostics)}: not computed, so not published; {stays}"
            return pin_result(key, False, text, metadata)
        case Status.SKIPPED:
            waits = ", ".join(f"`{name}`" for name in result.waits_for)
            text = f"not computed, because {waits} was not; {stays}"
            return pin_result(key, False, text, metadata, AssetCheckSeverity.WARN)
        case Status.FRESH | Status.REUSED | Status.COMPUTED:
            report = result.pin or (pin_of(result.artifact.manifest) if result.artifact else None)
            metadata |= {"write_pin": MetadataValue.md(pin_table(report))}
            return pin_result(
                key, True, f"the candidate keeps its contract; not published, {because}; {stays}", metadata
            )


def _refused(result: ModelResult) -> dict[str, Metadatum]:
    """What became of each partition, where a model was applied by them."""
    if not result.pieces:
        return {}
    rows = [(key, made.status, made.piece.rows if made.piece else "") for key, made in result.pieces.items()]
    return {"partitions": MetadataValue.md(markdown_table(("partition", "outcome", "rows"), rows))}


def unknown(key: AssetKey, diagnostics: Iterable[Diagnostic]) -> AssetCheckResult:
    """The verdict where the apply could not begin, or ended before the model's turn: nothing was pinned."""
    metadata: dict[str, Metadatum] = {"published": False, "findings": MetadataValue.md(list_of(diagnostics))}
    return pin_result(key, False, "not applied: nothing was published; what was live stays live", metadata)


def unpinned(key: AssetKey, planned: PlannedModel, version: EnvironmentVersion) -> AssetCheckResult:
    """The verdict on a stale model whose check runs alone: a failed pin is not made good by looking away from it."""
    causes = "; ".join(map(str, planned.causes))
    text = f"stale ({causes}): its candidate is pinned when it is materialized; version {version.number} stays live"
    metadata: dict[str, Metadatum] = {"published": False, "live_version": version.number}
    return pin_result(key, False, text, metadata, AssetCheckSeverity.WARN)


def unexamined(key: AssetKey, diagnostics: Iterable[Diagnostic]) -> AssetCheckResult:
    """The verdict on what is live where the project cannot even be opened."""
    return AssetCheckResult(
        passed=False,
        asset_key=key,
        check_name=LAST_KNOWN_GOOD,
        metadata={"findings": MetadataValue.md(list_of(diagnostics))},
        description="not looked at: the project cannot be opened",
    )


def _violation(workspace: Workspace, result: ModelResult, stays: str) -> str:
    return "\n".join(_violation_parts(workspace, result, stays))


def _violation_parts(workspace: Workspace, result: ModelResult, stays: str) -> Iterator[str]:
    yield f"**Not published**; {stays}.\n"
    sources = {workspace.compiled.sources[u].contract.name: u for u in result.planned.inputs if u in workspace.sources}
    for report in (r for r in result.inputs if not r.passed):
        source = workspace.sources[sources[report.contract]]
        places = [f"`{_shown(workspace, str(f))}`" for f in source.files[:3]]
        places = [source.clocked.table.place] if source.clocked is not None else places
        yield f"#### Input: `{report.contract}`, {', '.join(places)}\n"
        yield report.markdown()
    if result.pin is not None:
        yield "#### The candidate\n"
        yield result.pin.markdown()
    yield "#### What to do\n"
    yield list_of(result.violations)


def _shown(workspace: Workspace, path: str) -> str:
    return path.removeprefix(f"{workspace.project.root}/")
