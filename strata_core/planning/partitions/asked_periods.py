"""The plan of some partitions of time: those that were asked for, and of what they read no more than that.

A partition is stale where there is none, or where the address of its rows (what the model means, and what it reads of
each table) is another than that of what is live. One without rows in a table that was made as a whole, or that cannot
have any, is not missing: it is as fresh as the table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from ...analysis.compiled import CompiledModel, CompiledProject
from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass, replace
from ...periods import Period
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ...store.store import Store
from ..fingerprints import data_digest
from ..plan import Cause, PlannedModel, PlannedPeriod, Reason
from ..provenance import sound_artifact, sound_live
from .composition import Piece
from .pieces import Pieces, Upstream, inputs_of, made_whole, piece_address, pieces_of, possible, within


@dataclass(frozen=True, slots=True)
class Asked:
    """The partitions from the one with the key `first` to the one with the key `last`."""

    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Live:
    """What is there when a plan is made: the version of the environment, its artifacts, and the sources' digests."""

    store: Store
    base: EnvironmentVersion
    sources: Mapping[str, str]


def with_periods(project: CompiledProject, asked: Asked, among: Collection[str] | None) -> tuple[str, ...]:
    """The models (of those `among`, or of all) that have the partitions that are asked for; raises `StrataError` E037
    where none has."""
    named = project.models if among is None else among
    partitioned = [m for m in project.models.values() if m.periods is not None and m.name in named]
    if not partitioned:
        fix = 'add `partition_by: [day]` and `partition_start: "2024-01-01"` to a model'
        raise StrataError(Diagnostic("E037", "no model has partitions of time", fix=fix))
    problems: list[Diagnostic] = []
    found = []
    for model in partitioned:
        try:
            _stretch(model, asked)
            found.append(model.name)
        except StrataError as error:
            problems += error.diagnostics
    if not found:
        raise StrataError(*problems)
    return tuple(found)


def asked_periods(
    project: CompiledProject, live: Live, selected: Collection[str], asked: Asked
) -> Callable[[PlannedModel, Mapping[str, PlannedModel]], PlannedModel]:
    """What makes of a whole plan of a model that of the partitions `asked` of the `selected` models, and of those
    upstream of which a partition reads its own rows alone. All others stay planned whole.

    Raises `StrataError` E037 where a selected model has no such partition, or none of them has any.
    """
    known = [project.models[name] for name in selected if name in project.models]
    if known and all(model.periods is None for model in known):
        named = ", ".join(f"`{name}`" for name in sorted(selected))
        fix = 'add `partition_by: [day]` and `partition_start: "2024-01-01"`, or leave `--partition` out'
        raise StrataError(Diagnostic("E037", f"{named} has no partitions of time", fix=fix))
    stretches = _stretches(project, selected, asked)

    def planned_by_periods(whole: PlannedModel, planned: Mapping[str, PlannedModel]) -> PlannedModel:
        stretch, model = stretches.get(whole.name), project.models[whole.name]
        return whole if stretch is None else _planned(model, whole, stretch, live, planned)

    return planned_by_periods


def _stretches(project: CompiledProject, selected: Collection[str], asked: Asked) -> dict[str, Period]:
    """By model that is planned by its partitions, from the first to the last of them."""
    found: dict[str, Period | None] = {}
    for name in reversed([*project.models]):
        model = project.models[name]
        if name in selected:
            found[name] = None if model.periods is None else _stretch(model, asked)
        if name not in found:
            continue
        own = found[name]
        bounded = within(model, own).bounded if own is not None else {}
        for upstream in (project.models[u] for u in model.upstream if u in project.models):
            if upstream.name in selected:
                continue
            periods = upstream.periods
            if own is None or periods is None or bounded.get(upstream.name) != periods.column:
                found[upstream.name] = None
                continue
            wanted = Period(periods.at(own.start).start, periods.last_of(own).end)
            before = found.get(upstream.name, wanted)
            both = before and Period(min(before.start, wanted.start), max(before.end, wanted.end))
            found[upstream.name] = both
    return {name: stretch for name, stretch in found.items() if stretch is not None}


def _stretch(model: CompiledModel, asked: Asked) -> Period:
    assert model.periods is not None
    ends = []
    for key in (asked.first, asked.last):
        try:
            ends.append(model.periods.read(key))
        except ValueError as accepted:
            message = f"`{key}` is no partition of `{model.name}`"
            raise StrataError(Diagnostic("E037", message, fix=str(accepted))) from None
    first, last = ends
    if last < first:
        message = f"the partition {asked.last} of `{model.name}` is before {asked.first}"
        raise StrataError(Diagnostic("E037", message, fix="name the earlier one first"))
    try:
        model.periods.between(first, last)
    except ValueError as most:
        raise StrataError(Diagnostic("E037", "these are too many partitions", fix=str(most))) from None
    return Period(first.start, last.end)


def _planned(
    model: CompiledModel,
    whole: PlannedModel,
    stretch: Period,
    live: Live,
    planned: Mapping[str, PlannedModel],
) -> PlannedModel:
    periods = model.periods
    assert periods is not None
    forced = [c for c in whole.causes if c.reason is Reason.FORCED]
    own = _artifact(live, whole.name)
    pieces = None if own is None else pieces_of(own)
    pieces = pieces if pieces is not None and pieces.fit(periods) else None
    tables = tables_of(whole, live)
    asked = periods.between(periods.at(stretch.start), periods.last_of(stretch))
    moving = {period: names for period in asked if (names := _moving(model, period, whole, planned))}
    read = inputs_of(model, (p for p in asked if p not in moving), tables)
    absent = _absent(model, whole, own, pieces, tables)
    found = []
    for period in asked:
        key, piece = periods.key(period), None
        if pieces is not None:
            piece = pieces.by_key.get(periods.key(period))
        causes: Iterable[Cause]
        if period in moving:
            causes = (Cause(Reason.UPSTREAM_CHANGE, moving[period]),)
        elif piece is None:
            causes = absent(period)
        else:
            causes = _causes(key, read[period], piece, tables, whole, live)
        found.append(PlannedPeriod(key, period, (*causes, *forced)))
    causes_of_all = _together(c for p in found for c in p.causes)
    return replace(whole, causes=causes_of_all, periods=tuple(found), unsettled=bool(causes_of_all), way=None)


def _absent(
    model: CompiledModel,
    whole: PlannedModel,
    own: Artifact | None,
    pieces: Pieces | None,
    tables: Mapping[str, Upstream],
) -> Callable[[Period], tuple[Cause, ...]]:
    """Why a partition is stale that the live table `own`, of `pieces`, does not have."""
    if own is None or pieces is None:
        return lambda _: (Cause(Reason.MISSING),)
    others = tuple(c for c in whole.causes if c.reason not in (Reason.FORCED, Reason.PARTITIONS))
    why = others if made_whole(own) else (Cause(Reason.MISSING),)
    there = possible(model, tables) if why else None
    return lambda period: why if there is None or period in there else ()


def _moving(
    model: CompiledModel, period: Period, whole: PlannedModel, planned: Mapping[str, PlannedModel]
) -> tuple[str, ...]:
    """What is applied upstream before `period`, and may change what it reads."""
    stale = [planned[u] for u in whole.inputs if u in planned and planned[u].stale]
    bounded = within(model, period).bounded if stale else {}

    def moves(upstream: PlannedModel) -> bool:
        if upstream.periods is None or upstream.name not in bounded:
            return True
        return any(p.causes and p.period.overlaps(period) for p in upstream.periods)

    return tuple(u.name for u in stale if moves(u))


def _causes(
    key: str,
    inputs: Mapping[str, str],
    piece: Piece,
    tables: Mapping[str, Upstream],
    whole: PlannedModel,
    live: Live,
) -> Iterable[Cause]:
    """Why the partition `key`, of which `piece` is live, is stale: it would be made of `inputs`."""
    if missing := tuple(u for u in whole.inputs if u not in tables):
        return (Cause(Reason.DATA_CHANGE, missing),)  # what it reads is not there: the apply will say so
    local = whole.fingerprint.local
    if piece.address == piece_address(local, key, inputs):
        return ()
    own = tuple(c for c in whole.causes if c.reason in (Reason.OWN_CHANGE, Reason.CONTRACT_CHANGE))
    if piece.local != local:
        return own or (Cause(Reason.OWN_CHANGE),)
    artifact = sound_artifact(live.store, whole.name, piece.address)
    then = None if artifact is None else artifact.manifest.provenance.get("inputs")
    before = then if isinstance(then, Mapping) else {}
    changed = tuple(name for name, digest in inputs.items() if before.get(name) != digest)
    data, models = ([n for n in changed if (n in live.sources) is source] for source in (True, False))
    found = [Cause(Reason.DATA_CHANGE, tuple(data))] if data else []
    return (*found, *([Cause(Reason.UPSTREAM_CHANGE, tuple(models))] if models else ()))


def tables_of(planned: PlannedModel, live: Live) -> dict[str, Upstream]:
    """What a model reads, as far as it is there."""
    found = {}
    for name, reading in planned.fingerprint.readings.items():
        if name in live.sources:
            found[name] = Upstream(reading.columns, live.sources[name])
        elif (artifact := _artifact(live, name)) is not None and artifact.manifest.columns.keys() >= {*reading.columns}:
            digest = data_digest({column: artifact.manifest.columns[column] for column in reading.columns})
            found[name] = Upstream(reading.columns, digest, artifact)
    return found


def _artifact(live: Live, name: str) -> Artifact | None:
    return sound_live(live.store, name, live.base.models.get(name))


def _together(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """The causes of several partitions as those of one model."""
    found: dict[Reason, dict[str, None]] = {}
    for cause in causes:
        found.setdefault(cause.reason, {}).update(dict.fromkeys(cause.upstream))
    return tuple(Cause(reason, tuple(upstream)) for reason, upstream in found.items())
