"""The plan: which models are stale, and why (Seed 0 §6).

A model is stale when its fingerprint differs from the one it was last applied with, or when the data it reads does.
Both are told by column: what changed upstream and is not read, by no filter either, leaves a model fresh. The plan is a
pure function of the compiled project, the environment's version and the sources' digests; what is upstream of nothing
stale is never in it, and early cutoff (an upstream that turns out the same) is decided by `apply`, by content address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum

from ..analysis.compiled import CompiledModel, CompiledProject
from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.listing import listed
from ..diagnostics.suggest import did_you_mean
from ..frozen import dataclass, field, replace
from ..periods import Period
from ..relation.form import Meaning
from ..store.environments import EnvironmentVersion, Pointer
from .catalog import Approved, Catalog
from .fingerprints import Fingerprint, Reading, source_meaning
from .watermarks import Watermark, Way


class Reason(StrEnum):
    """Why a model is stale."""

    MISSING = "missing"
    OWN_CHANGE = "own change"
    CONTRACT_CHANGE = "contract change"
    UPSTREAM_CHANGE = "upstream change"
    DATA_CHANGE = "data change"
    PARTITIONS = "only some partitions"
    FORCED = "forced"
    FULL_REFRESH = "full refresh"
    PROMOTED = "promoted"
    """What another environment has is to go live: the cause names it (`promotion.py`)."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason, and the upstream models or sources it comes from."""

    reason: Reason
    upstream: tuple[str, ...] = ()

    @property
    def asks_for_all(self) -> bool:
        """Whether a person asked for all rows to be computed."""
        return self.reason in (Reason.FORCED, Reason.FULL_REFRESH)

    def __str__(self) -> str:
        return f"{self.reason}: {', '.join(self.upstream)}" if self.upstream else str(self.reason)


@dataclass(frozen=True, slots=True)
class Applied:
    """What the live artifact of a model was made from, and what it is.

    By upstream name: `inputs` are digests of the data, `read` those of each column that was read of a model, `readings`
    what was read and what it meant, `grounds` the source data that it rested on. `own` and `contract` are parts of its
    fingerprint then; `columns` the digests of its own columns, `meaning` and `ground` what they depend on; `watermark`
    how far its table had come where it is incremental; `partial` that not all of its partitions of time are known to be
    of these inputs.
    """

    own: str
    contract: str
    inputs: Mapping[str, str]
    read: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, Reading]
    grounds: Mapping[str, str]
    columns: Mapping[str, str]
    meaning: Meaning
    ground: str
    watermark: Watermark | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class PlannedPeriod:
    """One partition of time of the plan, by its key; it is stale when there are causes."""

    key: str
    period: Period
    causes: tuple[Cause, ...]


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """One model of the plan; it is stale when there are causes.

    `unsettled` says that its rows may come out otherwise for another reason than their meaning: other data, a lost
    artifact. `outlived` names models that it reads as they are live although they mean something else by now. `way`
    tells of a stale incremental model how it will be computed, as far as that is known before its inputs are. `externs`
    names the declared functions that the model calls. `periods` are the partitions of time that were asked for; None
    where the whole table is.
    """

    name: str
    fingerprint: Fingerprint
    inputs: tuple[str, ...]
    live: Pointer | None
    causes: tuple[Cause, ...]
    unsettled: bool = False
    outlived: tuple[str, ...] = ()
    way: Way | None = None
    externs: tuple[str, ...] = ()
    periods: tuple[PlannedPeriod, ...] | None = None

    @property
    def stale(self) -> bool:
        """Whether the model is to be applied."""
        return bool(self.causes)


@dataclass(frozen=True, slots=True)
class Plan:
    """The models looked at, in topological order, against version `base` of an environment.

    `removed` names what is published of this project and is no model of it any more; a plan of some models leaves it
    live, and has it in `outlived`. `conflicts` says what publishing
    would break of other projects, as the `catalog` has them, and which lints are errors here: then nothing is applied.
    `lints` are the others that only a plan can tell. `approved` are changes that pass although they break.
    """

    environment: str
    base: EnvironmentVersion
    models: tuple[PlannedModel, ...]
    removed: tuple[str, ...] = ()
    outlived: tuple[str, ...] = ()
    conflicts: tuple[Diagnostic, ...] = ()
    lints: tuple[Diagnostic, ...] = ()
    approved: tuple[Approved, ...] = ()
    catalog: Catalog = field(default_factory=dict, repr=False)

    @property
    def stale(self) -> tuple[PlannedModel, ...]:
        """The models to be applied, in order."""
        return tuple(m for m in self.models if m.stale)


ByPeriods = Callable[[PlannedModel, Mapping[str, PlannedModel]], PlannedModel]


def as_whole(whole: PlannedModel, _planned: Mapping[str, PlannedModel]) -> PlannedModel:
    """A model whose table is planned as a whole."""
    return whole


def make_plan(
    project: CompiledProject,
    prints: Mapping[str, Fingerprint],
    environment: str,
    base: EnvironmentVersion,
    source_digests: Mapping[str, str],
    applied: Callable[[str, Pointer], Applied | None],
    *,
    selected: Collection[str] | None = None,
    with_upstream: bool = True,
    force: bool = False,
    full_refresh: bool = False,
    by_periods: ByPeriods = as_whole,
) -> Plan:
    """The plan for `selected` models (all, by default), whose fingerprints are `prints`.

    `applied` tells what a live artifact was made from, `None` where it is gone.
    `with_upstream` adds the stale models that the selected ones read; without it they are read as they are live.
    `force` makes every selected model stale, `full_refresh` every one that is incremental. `by_periods` makes of a
    model that is planned whole, and of what is planned upstream, the plan of the partitions of time that are asked for.
    Raises `StrataError` E027 for a name that is no model.
    """
    for name in selected or ():
        if name not in project.models:
            raise StrataError(unknown_model(name, project))
    wanted = set(prints) if selected is None else set(selected)
    considered = ancestors(project, wanted) if with_upstream else wanted
    known = _Known(project, prints, base, source_digests, applied)
    planned: dict[str, PlannedModel] = {}
    for name in project.models:
        if name in considered:
            asked = [Reason.FORCED] if force and name in wanted else []
            if full_refresh and name in wanted and project.models[name].incremental is not None:
                asked.append(Reason.FULL_REFRESH)
            whole = _planned(known, name, planned, asked)
            planned[name] = by_periods(whole, planned)
    models = tuple(p for p in planned.values() if p.name in wanted or p.stale)
    return Plan(environment, base, models)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a plan is made from; members as the parameters of `make_plan`."""

    project: CompiledProject
    prints: Mapping[str, Fingerprint]
    base: EnvironmentVersion
    source_digests: Mapping[str, str]
    applied: Callable[[str, Pointer], Applied | None]

    def meaning(self, table: str) -> Meaning:
        """What a model or source means now."""
        return self.prints[table].meaning if table in self.prints else source_meaning(self.project.sources[table])


def _planned(known: _Known, name: str, planned: Mapping[str, PlannedModel], asked: Collection[Reason]) -> PlannedModel:
    project, prints, base = known.project, known.prints, known.base
    inputs, live, own = project.models[name].upstream, base.models.get(name), prints[name]
    causes: list[Cause] = []
    before, changed, unsettled = None, frozenset[str](), True
    if live is None:
        causes.append(Cause(Reason.MISSING))
    elif (before := known.applied(name, live)) is None:
        causes.append(Cause(Reason.MISSING))  # the live artifact is gone or damaged
    else:
        moving = tuple(u for u in inputs if u in planned and _moving(planned[u], before, known.applied))
        moved = tuple(u for u in inputs if _changed(known, u, before))
        unsettled = bool(asked or moved or moving or before.partial)
        if moved or moving or live.fingerprint != own.merkle:
            causes += _causes(known, own, inputs, before, moved, moving)
            changed = frozenset((*moved, *moving))
    causes += map(Cause, asked)
    as_live = (u for u in inputs if u in prints and u in base.models and u not in planned)
    outlived = tuple(u for u in as_live if base.models[u].fingerprint != prints[u].merkle)
    found = PlannedModel(
        name, own, inputs, live, tuple(causes), unsettled, outlived, externs=project.models[name].externs
    )
    return replace(found, way=way_of(project.models[name], found, before, changed)) if causes else found


def way_of(model: CompiledModel, planned: PlannedModel, before: Applied | None, changed: Collection[str]) -> Way | None:
    """How a stale `model` is to be computed, as far as that is known without its rows; None where it has one way.

    `before` is what its live artifact was made from, `changed` names the tables whose rows are others since.
    """
    increment = model.incremental
    if increment is None:
        return None
    if planned.live is None or before is None:
        return Way(False, "there are no live rows yet")
    if any(c.asks_for_all for c in planned.causes):
        return Way(False, "asked for")
    own = planned.fingerprint
    if (planned.live.fingerprint, before.own, before.contract) != (own.merkle, own.own, own.contract):
        return Way(False, "it means something else now")
    if before.watermark is None or before.watermark.greatest is None:
        return Way(False, "there are no live rows yet")
    if others := sorted(set(changed) - {increment.table}):
        return Way(False, f"{', '.join(f'`{name}`' for name in others)} changed, not only `{increment.table}`")
    return Way(True, f"rows of `{increment.table}` with `{increment.column}` beyond {before.watermark.greatest}")


def _moving(upstream: PlannedModel, before: Applied, applied: Callable[[str, Pointer], Applied | None]) -> bool:
    """Whether only the rows that will be computed of `upstream` can tell that what was read of it is what it was.

    Where it means something else, that is known before if it rests on the same data as it did: see `_changed`.
    """
    if upstream.unsettled or not upstream.stale or upstream.live is None:
        return upstream.unsettled
    live = applied(upstream.name, upstream.live)
    return live is None or before.grounds.get(upstream.name) != live.ground


def _causes(
    known: _Known,
    own: Fingerprint,
    inputs: Iterable[str],
    before: Applied,
    changed: tuple[str, ...],
    moving: tuple[str, ...],
) -> Iterable[Cause]:
    causes, sources, read = [], known.project.sources, before.readings
    if before.own != own.own:
        causes.append(Cause(Reason.OWN_CHANGE))
    if before.contract != own.contract:
        causes.append(Cause(Reason.CONTRACT_CHANGE))
    if data := tuple(u for u in changed if u in sources):
        causes.append(Cause(Reason.DATA_CHANGE, data))
    meant = (u for u in inputs if u in read and not _read_in(read[u], known.meaning(u)))
    models = (u for u in changed if u not in sources)
    if upstream := tuple(dict.fromkeys((*moving, *models, *meant))):
        causes.append(Cause(Reason.UPSTREAM_CHANGE, upstream))
    if before.partial:
        causes.append(Cause(Reason.PARTITIONS))
    # Without any of these, its artifact was reused while something upstream meant something else.
    return causes or [Cause(Reason.UPSTREAM_CHANGE)]


def _read_in(reading: Reading, meaning: Meaning) -> bool:
    """Whether what was read is what a table of `meaning` has."""
    known = meaning.columns.keys() >= set(reading.columns)
    return known and meaning.of(reading.columns).hex() == reading.meaning


def _changed(known: _Known, upstream: str, before: Applied) -> bool:
    """Whether the data that was read of `upstream` is not what it was, or gone.

    The same columns of a model are told by their digests; or by the same meaning and the same ground, for a model that
    has no key may hold the same rows in another order since it has other columns beside those that are read.
    """
    if upstream in known.project.sources:
        digest = known.source_digests.get(upstream)
        return digest is None or before.inputs.get(upstream) not in (None, digest)
    pointer = known.base.models.get(upstream)
    live = None if pointer is None else known.applied(upstream, pointer)
    if live is None or upstream not in before.readings:
        return live is None
    then = before.read.get(upstream)
    if then is not None and all(live.columns.get(column, digest) == digest for column, digest in then.items()):
        return False
    return before.grounds.get(upstream) != live.ground or not _read_in(before.readings[upstream], live.meaning)


def ancestors(project: CompiledProject, wanted: set[str]) -> set[str]:
    """The models `wanted`, and those that they read, directly or not."""
    found, stack = set(wanted), list(wanted)
    while stack:
        for upstream in project.models[stack.pop()].upstream:
            if upstream in project.models and upstream not in found:
                found.add(upstream)
                stack.append(upstream)
    return found


def sound_model(name: str, project: CompiledProject) -> CompiledModel:
    """The model `name`; raises the project's errors where it has some, E027 where there is none."""
    if name in project.broken:
        raise StrataError(*(d for d in project.diagnostics if d.blocks))
    if name not in project.models:
        raise StrataError(unknown_model(name, project))
    return project.models[name]


def unknown_model(name: str, project: CompiledProject) -> Diagnostic:
    """E027, with the nearest name."""
    if name in project.broken:
        return Diagnostic("E027", f"model `{name}` has errors", fix="run `strata check` to see them")
    if name.endswith(".strata"):
        return Diagnostic("E027", f"`{name}` is a file, not a model", fix=f"write `--project {name}`")
    there = f"models are {listed(sorted(project.models), 8)}" if project.models else "the project has no models"
    fix = did_you_mean(name, project.models, there)
    return Diagnostic("E027", f"there is no model `{name}`", fix=fix)
