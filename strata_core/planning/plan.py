"""The plan: which models are stale, and why (Seed 0 §6).

A model is stale when its fingerprint differs from the one it was last applied with, or when the data it reads
does. The plan is a pure function of the compiled project, the environment's version and the sources' digests;
what is upstream of nothing stale is never in it, and early cutoff (an upstream that turns out the same) is
decided by `apply`, by content address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from enum import StrEnum

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic, StrataError
from ..diagnostics.suggest import did_you_mean
from ..frozen import dataclass, replace
from ..store.environments import EnvironmentVersion, Pointer
from .fingerprints import Fingerprint, address
from .increments import Watermark, Way, way_of


class Reason(StrEnum):
    """Why a model is stale."""

    MISSING = "missing"
    OWN_CHANGE = "own change"
    CONTRACT_CHANGE = "contract change"
    UPSTREAM_CHANGE = "upstream change"
    DATA_CHANGE = "data change"
    FORCED = "forced"
    FULL_REFRESH = "full refresh"


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
    """What the live artifact of a model was made from: parts of its fingerprint, the digests that it read, the
    digests of what its sources were declared to be, and how far its table had come where it is incremental."""

    own: str
    contract: str
    inputs: Mapping[str, str]
    declarations: Mapping[str, str]
    watermark: Watermark | None = None


@dataclass(frozen=True, slots=True)
class PlannedModel:
    """One model of the plan; it is stale when there are causes.

    `outlived` names models that it reads as they are live although they mean something else by now. `way` tells of a
    stale incremental model how it will be computed, as far as that is known before its inputs are.
    """

    name: str
    fingerprint: Fingerprint
    inputs: tuple[str, ...]
    live: Pointer | None
    causes: tuple[Cause, ...]
    outlived: tuple[str, ...] = ()
    way: Way | None = None

    @property
    def stale(self) -> bool:
        """Whether the model is to be applied."""
        return bool(self.causes)


@dataclass(frozen=True, slots=True)
class Plan:
    """The models looked at, in topological order, against version `base` of an environment."""

    environment: str
    base: EnvironmentVersion
    models: tuple[PlannedModel, ...]

    @property
    def stale(self) -> tuple[PlannedModel, ...]:
        """The models to be applied, in order."""
        return tuple(m for m in self.models if m.stale)


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
) -> Plan:
    """The plan for `selected` models (all, by default), whose fingerprints are `prints`.

    `applied` tells what a live artifact was made from, `None` where it is gone.
    `with_upstream` adds the stale models that the selected ones read; without it they are read as they are live.
    `force` makes every selected model stale, `full_refresh` every one that is incremental.
    Raises `StrataError` E027 for a name that is no model.
    """
    for name in selected or ():
        if name not in project.models:
            raise StrataError(unknown_model(name, project))
    wanted = set(prints) if selected is None else set(selected)
    considered = _ancestors(project, wanted) if with_upstream else wanted
    planned: dict[str, PlannedModel] = {}
    for name in project.models:
        if name in considered:
            asked = [Reason.FORCED] if force and name in wanted else []
            if full_refresh and name in wanted and project.models[name].incremental is not None:
                asked.append(Reason.FULL_REFRESH)
            planned[name] = _planned(project, name, prints, base, source_digests, applied, planned, asked)
    models = tuple(p for p in planned.values() if p.name in wanted or p.stale)
    return Plan(environment, base, models)


def _planned(
    project: CompiledProject,
    name: str,
    prints: Mapping[str, Fingerprint],
    base: EnvironmentVersion,
    source_digests: Mapping[str, str],
    applied: Callable[[str, Pointer], Applied | None],
    planned: Mapping[str, PlannedModel],
    asked: Collection[Reason],
) -> PlannedModel:
    inputs, live, own = project.models[name].upstream, base.models.get(name), prints[name]
    causes: list[Cause] = []
    before, changed = None, frozenset[str]()
    if live is None:
        causes.append(Cause(Reason.MISSING))
    else:
        stale_upstream = tuple(u for u in inputs if u in planned and planned[u].stale)
        digests = _digests(inputs, base, source_digests)
        before = applied(name, live)
        moved = len(digests) < len(inputs) or not _made_of(digests, own, live, before)
        if before is None:
            causes.append(Cause(Reason.MISSING))  # the live artifact is gone or damaged
        elif live.fingerprint != own.merkle or moved or stale_upstream:
            causes += _causes(own, inputs, digests, stale_upstream, before, project)
            changed = frozenset((*stale_upstream, *(u for u in inputs if before.inputs.get(u) != digests.get(u))))
    causes += map(Cause, asked)
    as_live = (u for u in inputs if u in prints and u in base.models and u not in planned)
    outlived = tuple(u for u in as_live if base.models[u].fingerprint != prints[u].merkle)
    found = PlannedModel(name, own, inputs, live, tuple(causes), outlived)
    return replace(found, way=way_of(project.models[name], found, before, changed)) if causes else found


def _made_of(digests: Mapping[str, str], own: Fingerprint, live: Pointer, before: Applied | None) -> bool:
    """Whether the live artifact was made by what the model is from inputs of these digests; an incremental one lies at
    another address, which says what it was added to."""
    if address(own.local, digests) == live.address:
        return True
    made = before is not None and (before.own, before.contract) == (own.own, own.contract)
    return made and before is not None and before.watermark is not None and before.inputs == digests


def _causes(
    own: Fingerprint,
    inputs: tuple[str, ...],
    digests: Mapping[str, str],
    stale_upstream: tuple[str, ...],
    before: Applied,
    project: CompiledProject,
) -> Iterable[Cause]:
    causes = []
    if before.own != own.own:
        causes.append(Cause(Reason.OWN_CHANGE))
    if before.contract != own.contract:
        causes.append(Cause(Reason.CONTRACT_CHANGE))
    changed = tuple(u for u in inputs if u not in digests or before.inputs.get(u, digests[u]) != digests[u])
    if data := tuple(u for u in changed if u in project.sources):
        causes.append(Cause(Reason.DATA_CHANGE, data))
    declared = ((u, project.sources[u].contract.digest) for u in inputs if u in project.sources)
    redeclared = (u for u, now in declared if before.declarations.get(u, now) != now)
    models = (u for u in changed if u not in project.sources)
    if upstream := tuple(dict.fromkeys((*stale_upstream, *models, *redeclared))):
        causes.append(Cause(Reason.UPSTREAM_CHANGE, upstream))
    # Without any of these, the meaning of something upstream changed and was applied on its own meanwhile.
    return causes or [Cause(Reason.UPSTREAM_CHANGE)]


def _digests(inputs: tuple[str, ...], base: EnvironmentVersion, source_digests: Mapping[str, str]) -> Mapping[str, str]:
    """The digests of what a model reads as it is live; what is not there has none."""
    live = {u: base.models[u].digest for u in inputs if u in base.models}
    return live | {u: source_digests[u] for u in inputs if u in source_digests}


def _ancestors(project: CompiledProject, wanted: set[str]) -> set[str]:
    found, stack = set(wanted), list(wanted)
    while stack:
        for upstream in project.models[stack.pop()].upstream:
            if upstream in project.models and upstream not in found:
                found.add(upstream)
                stack.append(upstream)
    return found


def unknown_model(name: str, project: CompiledProject) -> Diagnostic:
    """E027, with the nearest name."""
    if name in project.broken:
        return Diagnostic("E027", f"model `{name}` has errors", fix="run `strata check` to see them")
    if name.endswith(".strata"):
        return Diagnostic("E027", f"`{name}` is a file, not a model", fix=f"write `--project {name}`")
    fix = did_you_mean(name, project.models, f"models are {', '.join(sorted(project.models)[:8])}")
    return Diagnostic("E027", f"there is no model `{name}`", fix=fix)
