"""Readers that stay fresh although something upstream went live with other rows, told to Dagster.

Staleness of models is by column, Dagster's by asset: it would call a reader stale because a column changed that the
reader never looks at. So whoever reads what a run told, and is fresh by the plan, is materialized again as it was, with
the version of its input that is live now. Of a reader with partitions of time this is asked of each of them. Who reads
all partitions of an asset is left out: Dagster does not look at what changed in them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dagster import AssetCheckEvaluation, AssetExecutionContext, AssetKey, AssetMaterialization, DagsterEventType

from strata_core.periods import Period, period_of
from strata_core.planning.applying.results import Outcome
from strata_core.planning.partitions.asked_periods import Asked
from strata_core.planning.partitions.pieces import Pieces, pieces_of, within
from strata_core.planning.provenance import sound_live
from strata_core.planning.workspace import Workspace

from .evaluations import told_again
from .events import partitions_table, piece_metadata
from .names import (
    CODE_VERSION_TAG,
    DATA_VERSION_TAG,
    INPUT_POINTER_TAG,
    INPUT_VERSION_TAG,
    MODEL,
    READERS,
    USER_VERSION_TAG,
)
from .pins import Metadatum

KEPT_TAGS = (
    DATA_VERSION_TAG,
    CODE_VERSION_TAG,
    INPUT_VERSION_TAG,
    INPUT_POINTER_TAG,
    USER_VERSION_TAG,
)
Tags = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Told:
    """A model that the run told: its asset, the digest of its live rows and its newest event. `partitions` are those
    that the run told, in order of time; None where the asset has none."""

    key: AssetKey
    digest: str
    event: int
    partitions: Sequence[str] | None

    def tag(self) -> tuple[str, str]:
        """From which Dagster tells whether who read it has read what it is now."""
        if self.partitions is None:
            return f"{INPUT_VERSION_TAG}/{self.key.to_user_string()}", self.digest
        return f"{INPUT_POINTER_TAG}/{self.key.to_user_string()}", str(self.event)


def fresh_readers(
    context: AssetExecutionContext, workspace: Workspace, outcome: Outcome, selected: Mapping[str, AssetKey]
) -> Iterator[AssetMaterialization | AssetCheckEvaluation]:
    """The readers of what `outcome` left live that the run did not select and that are fresh, each with what its checks
    say of it: Dagster shows them of the latest materialization alone.

    One that Dagster never saw, or saw with other rows or another meaning than are live, is left to a run of its own.
    """
    # Events are looked up before the plan is made: what is told later may be of rows that it has not seen.
    told = _told(context, outcome, selected)
    known = {n: key for n, key in _readers(context, told, selected).items() if n in workspace.compiled.models}
    last = {name: made for name, key in known.items() if (made := _latest(context, key)) is not None}
    whole = [name for name, made in last.items() if made.partition is None]
    about: dict[str, Metadatum] = {
        "environment": workspace.environment,
        "environment_version": outcome.version.number,
    }
    for planned in workspace.plan(whole, with_upstream=False).models if whole else ():
        made, live = last[planned.name], outcome.version.models.get(planned.name)
        tags, meant = _kept(made), made.metadata.get("fingerprint")
        if planned.stale or live is None:
            continue
        if (tags.get(DATA_VERSION_TAG), meant and meant.value) != (live.digest, planned.fingerprint.merkle):
            continue
        above = (name for name in planned.inputs if name in told and told[name].partitions is None)
        moved = {name: told[name] for name in above if _moved(context, told[name], None, tags)}
        if moved:
            rows: dict[str, Metadatum] = {"fingerprint": live.fingerprint, "digest": live.digest}
            evaluations = told_again(context, workspace, planned.name, known[planned.name])
            yield _again(known[planned.name], moved, tags, about | rows)
            yield from evaluations
    for name in (n for n in last if n not in whole):
        yield from _partitions(context, workspace, told, name, known[name], about)


def _partitions(
    context: AssetExecutionContext,
    workspace: Workspace,
    told: Mapping[str, _Told],
    name: str,
    key: AssetKey,
    about: dict[str, Metadatum],
) -> Iterator[AssetMaterialization | AssetCheckEvaluation]:
    """The fresh partitions of a reader, of those that read what was told; then what its checks say."""
    periods = workspace.compiled.models[name].periods
    live = workspace.store.environment(workspace.environment).head().models
    artifact = sound_live(workspace.store, name, live.get(name))
    pieces = None if artifact is None else pieces_of(artifact)
    if periods is None or pieces is None or not pieces.fit(periods):
        return
    read = _read(workspace, name, pieces, told)
    if not read:
        return
    plan = workspace.plan([name], with_upstream=False, asked=Asked(min(read), max(read)))
    fresh = {p.key for planned in plan.models for p in planned.periods or () if not p.causes}
    summary: dict[str, Metadatum] = {}
    evaluations: list[AssetCheckEvaluation] = []
    for partition in (one for one in read if one in fresh):
        made, piece = _latest(context, key, partition), pieces.by_key[partition]
        tags = {} if made is None else _kept(made)
        if tags.get(DATA_VERSION_TAG) != piece.digest:
            continue
        moved = {n: told[n] for n, keys in read[partition].items() if _moved(context, told[n], keys, tags)}
        if moved:
            evaluations = evaluations or told_again(context, workspace, name, key)
            summary = summary or partitions_table(workspace, name)
            yield _again(key, moved, tags, {**about, **summary, **piece_metadata(partition, piece)}, partition)
    yield from evaluations


def _read(
    workspace: Workspace, name: str, pieces: Pieces, told: Mapping[str, _Told]
) -> dict[str, dict[str, Sequence[str] | None]]:
    """The partitions of a reader that read what was told, in order of time: of each model upstream of which they read
    their own time, which partitions of it were told and are read; None of one that has none."""
    model = workspace.compiled.models[name]
    every = [*pieces.periods.values()]
    bounded = within(model, Period(every[0].start, every[-1].end)).bounded if every else {}
    found: dict[str, dict[str, Sequence[str] | None]] = {}
    for upstream in (u for u in model.upstream if u in told):
        keys, above = told[upstream].partitions, workspace.compiled.models[upstream].periods
        if keys is None:
            for partition in pieces.periods:
                found.setdefault(partition, {})[upstream] = None
            continue
        if above is None or bounded.get(upstream) != above.column:
            continue
        there = {k: period for k in keys if (period := period_of(k, above.every)) is not None}
        starts = [period.start for period in there.values()]
        ends = [period.end for period in there.values()]
        for partition, period in pieces.periods.items():
            overlapping = [*there][bisect_right(ends, period.start) : bisect_left(starts, period.end)]
            if overlapping:
                found.setdefault(partition, {})[upstream] = overlapping
    return {partition: found[partition] for partition in pieces.periods if partition in found}


def _told(context: AssetExecutionContext, outcome: Outcome, selected: Mapping[str, AssetKey]) -> dict[str, _Told]:
    found = {}
    for name, result in outcome.results.items():
        live = outcome.version.models.get(name)
        if name not in selected or live is None or not (result.status.sound or name in outcome.published):
            continue
        record = context.instance.get_latest_data_version_record(selected[name])
        if record is None:
            continue
        parted = context.assets_def.specs_by_key[selected[name]].partitions_def is not None
        keys = sorted(p.key for p in result.planned.periods or ()) if parted else None
        found[name] = _Told(selected[name], live.digest, record.storage_id, keys)
    return found


def _moved(context: AssetExecutionContext, told: _Told, read: Sequence[str] | None, tags: Tags) -> bool:
    """Whether Dagster calls who has these `tags` stale: what it has `read` of what was told had other rows then."""
    tag, now = told.tag()
    then = tags.get(tag, "")
    if read is None:
        return then != now
    return then.isdigit() and _versions(context, told.key, read) != _versions(context, told.key, read, int(then))


def _versions(
    context: AssetExecutionContext, key: AssetKey, partitions: Sequence[str], as_of: int | None = None
) -> Mapping[str, Mapping[str, str]]:
    """The data version of each partition, as of an event."""
    found: Mapping[str, Mapping[str, str]] = context.instance.event_log_storage.get_latest_tags_by_partition(
        key,
        DagsterEventType.ASSET_MATERIALIZATION,
        [DATA_VERSION_TAG],
        partitions,
        before_cursor=None if as_of is None else as_of + 1,
    )
    return found


def _again(
    key: AssetKey,
    moved: Mapping[str, _Told],
    tags: Tags,
    about: Mapping[str, Metadatum],
    partition: str | None = None,
) -> AssetMaterialization:
    """A reader as it was, of what is live now of what it reads."""
    reason = f"fresh: what it reads of {', '.join(moved)} did not change"
    return AssetMaterialization(
        key,
        partition=partition,
        metadata={"reused": True, "reason": reason, **about},
        tags={**tags, **dict(one.tag() for one in moved.values())},
    )


def _latest(context: AssetExecutionContext, key: AssetKey, partition: str | None = None) -> AssetMaterialization | None:
    if partition is None:
        event = context.instance.get_latest_materialization_event(key)
        return event.asset_materialization if event else None
    record = context.instance.get_latest_data_version_record(key, partition_key=partition)
    return record.asset_materialization if record else None


def _kept(made: AssetMaterialization) -> dict[str, str]:
    return {name: tag for name, tag in (made.tags or {}).items() if name.startswith(KEPT_TAGS)}


def _readers(
    context: AssetExecutionContext, told: Mapping[str, _Told], selected: Mapping[str, AssetKey]
) -> dict[str, AssetKey]:
    specs = [s for s in context.assets_def.specs if s.metadata.get(MODEL) in told and READERS in s.metadata]
    told_by_others = context.job_def.asset_layer.selected_asset_keys
    return {
        name: AssetKey.from_user_string(key)
        for spec in specs
        for name, key in spec.metadata[READERS].items()
        if name not in selected and AssetKey.from_user_string(key) not in told_by_others
    }
