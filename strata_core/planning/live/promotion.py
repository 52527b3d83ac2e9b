"""Promotion: what one environment has goes live in another, as it is, in one step. Nothing is computed.

Guarded tables go along with the models (`promoted_tables.py`).

What is promoted has to be what an apply in the target could have made: the text of this project means what the
artifacts were made from, each stands beside the upstream rows that it was computed from, each keeps its contract and
the blocking tests of products, and the target reads the same sources. Whether files changed since does not matter: a
promotion publishes what was looked at, and the next apply in the target takes in what is new.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Set
from datetime import UTC, datetime
from functools import cache

from ...analysis.compiled import CompiledProject
from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass, replace
from ...store.environments import EnvironmentVersion, Pointer
from ..applying.blocking_tests import Find, blocked, no_tests
from ..applying.rebasing import reads_of
from ..applying.results import Event, Finished, ModelResult, Outcome, Published, Status
from ..catalog import Approved, read_catalog
from ..consumers import Breaks, breaking_changes, judged, models_offered
from ..environments import not_published, published_environment
from ..fingerprints import Fingerprint, kept_fingerprints
from ..guarded.catalog import guarded_breaks, own_guarded
from ..plan import Applied, Cause, Plan, PlannedModel, Reason, ancestors, make_plan, unknown_model
from ..provenance import applied
from ..registered_models import removed_tables
from ..workspace import Workspace, models_in
from .health import examine
from .promoted_tables import Promised, PromotedTable, planned_tables, read_by, register_promoted


@dataclass(frozen=True, slots=True)
class Promotion:
    """What is to be done: the `plan` of the target, whose stale models get the artifacts that version `there` of the
    environment `source` has, and the guarded `tables` that go along."""

    source: str
    there: EnvironmentVersion
    plan: Plan
    tables: tuple[PromotedTable, ...] = ()

    @property
    def changed_tables(self) -> tuple[PromotedTable, ...]:
        """The guarded tables that the target has otherwise."""
        return tuple(table for table in self.tables if table.changed)


def plan_promotion(
    workspace: Workspace,
    source: str,
    selected: Collection[str] | None = None,
    *,
    with_upstream: bool = True,
    take_back: bool = False,
    approvals: Callable[[], Collection[Approved]] = tuple,
    promised: Promised = lambda _: {},
    tests: Find = no_tests,
) -> Promotion:
    """What promoting `selected`, models and guarded tables, and what they read, from the environment `source` changes
    in the workspace's environment. `promised` knows the contracts that guarded tables are held to.

    Without a selection it is for all that the pipelines of the target name, or for all models, and for all guarded
    tables of the project, as far as they are published in `source`, and what is no model of the project any more is
    taken back, as by an apply; a selection does so with `take_back`; E035 where `source` still has it. `with_upstream`
    adds what the selected models read, guarded tables too. The
    `conflicts` of the plan say why it may not be carried out: E035, E085 and E094 of what would be promoted, E144 of
    the blocking tests that `tests` finds, E030 to E032 of readers in other projects; those that could not be asked are
    told with its lints (E143).
    Raises `StrataError` E027, E095 (of an environment without these models too), E035 for an
    environment into itself.
    """
    target, compiled = workspace.environment, workspace.compiled
    if source == target:
        raise StrataError(Diagnostic("E035", f"`{source}` is already what it is", fix="name another environment"))
    there = published_environment(workspace.project, source).head()
    base = workspace.store.environment(target).head()
    project, catalog = workspace.project.config.name, read_catalog(workspace.store, target)
    guarded = own_guarded(project, read_catalog(workspace.store, source), there)
    models = None if selected is None else [name for name in selected if name not in guarded]
    names = _chosen(compiled, source, there, target, models, with_upstream)
    asked = {*guarded} if selected is None else {*selected} | (read_by(workspace, names) if with_upstream else set())
    tables, faults = planned_tables(workspace, source, there, base, [t for t in guarded if t in asked], promised)
    if not names and not tables and compiled.models:
        message = f"nothing of {workspace.project.config.name} is published in `{source}`"
        raise StrataError(Diagnostic("E095", message, fix=f"run `strata apply --env {source}`"))
    prints = kept_fingerprints(workspace.project, compiled)
    planned = tuple(
        _planned(compiled, name, prints, source, there.models[name], base.models.get(name)) for name in names
    )
    changed = {m.name for m in planned if m.stale}
    removed = removed_tables(project, compiled, catalog, base) if take_back or selected is None else ()
    breaking = breaking_changes(project, models_offered(compiled, prints), catalog, {*removed, *changed})
    breaks = judged(project, breaking, approvals()) if breaking else Breaks((), ())
    changed_tables = {table.name: table.contract for table in tables if table.changed}
    broken = guarded_breaks(workspace.project, catalog, changed_tables, approvals)
    unfit = (
        *faults,
        *_left_behind(workspace, source, there, removed),
        *_elsewhere(workspace, source, changed),
        *_unsound(workspace, source, changed),
        *_unlike(workspace, source, there, base, changed),
    )
    unasked: tuple[Diagnostic, ...] = ()
    if not unfit:
        promoted = {table.name: table.artifact for table in tables if table.changed}
        promoted |= {name: workspace.store.artifact(name, there.models[name]) for name in changed}
        held = tests(changed, changed_tables.keys())
        unfit, warned = blocked(held, promoted, base)
        unasked = (*held.unread, *warned)
    conflicts = (*unfit, *breaks.diagnostics, *broken.diagnostics)
    approved = (*breaks.approved, *broken.approved)
    plan = Plan(target, base, planned, removed, conflicts, approved=approved, catalog=catalog)
    plan = workspace.linted(plan, {table.name: table.contract.span for table in tables if table.changed})
    return Promotion(source, there, replace(plan, lints=(*plan.lints, *unasked)), tables)


def promote(
    workspace: Workspace, promotion: Promotion, *, message: str = "", tags: Mapping[str, str] | None = None
) -> Iterator[Event]:
    """Carry out `promotion`: one version of the target, or none. The last event is the `Outcome`.

    Raises `StrataError` with the plan's conflicts, E093 where another published in the target first, E094 where an
    artifact has gone."""
    plan, there = promotion.plan, promotion.there
    if plan.conflicts:
        raise StrataError(*plan.conflicts)
    pointers = {m.name: there.models[m.name] for m in plan.stale}
    results = {m.name: ModelResult(m.name, Status.FRESH, m) for m in plan.models}
    for planned in plan.stale:
        artifact = workspace.store.artifact(planned.name, pointers[planned.name])
        results[planned.name] = ModelResult(planned.name, Status.REUSED, planned, artifact)
        yield Finished(results[planned.name])
    models = tuple(pointers)
    pointers |= {table.name: table.pointer for table in promotion.changed_tables}
    version = plan.base
    if pointers or plan.removed:
        told = f"promoted from {promotion.source}, version {there.number}"
        version = workspace.store.environment(plan.environment).publish(
            plan.base,
            pointers,
            set(plan.removed),
            message=f"{told}: {message}" if message else told,
            tags=tags or {},
            reads=reads_of(tuple(results[name] for name in models), plan.base),
        )
        yield Published(version, tuple(pointers), plan.removed)
    workspace.register(version, plan)
    register_promoted(workspace, version, promotion.tables)
    yield Outcome(results, version, frozenset(pointers))


def _chosen(
    compiled: CompiledProject,
    source: str,
    there: EnvironmentVersion,
    target: str,
    selected: Collection[str] | None,
    with_upstream: bool,
) -> tuple[str, ...]:
    """The models, upstream first; those that were asked for have to be published in `source`."""
    for name in selected or ():
        if name not in compiled.models:
            raise StrataError(unknown_model(name, compiled))
    missing = [name for name in selected or () if name not in there.models]
    if missing:
        raise StrataError(*(not_published(name, source) for name in missing))
    asked = models_in(compiled, target) if selected is None else selected
    wanted = set(compiled.models if asked is None else asked)
    wanted = ancestors(compiled, wanted) if with_upstream else wanted
    return tuple(name for name in compiled.models if name in wanted and name in there.models)


def _planned(
    compiled: CompiledProject,
    name: str,
    prints: Mapping[str, Fingerprint],
    source: str,
    pointer: Pointer,
    live: Pointer | None,
) -> PlannedModel:
    """A model is stale where it is not live in the target as it is in `source`."""
    known = live is not None and live.same_rows(pointer) and live.fingerprint == pointer.fingerprint
    causes = () if known else (Cause(Reason.PROMOTED, (source,)),)
    return PlannedModel(name, prints[name], compiled.models[name].upstream, live, causes)


def _left_behind(
    workspace: Workspace, source: str, there: EnvironmentVersion, removed: Collection[str]
) -> Iterator[Diagnostic]:
    """What would be taken back, though `source` has it: this text is older than what was applied there, or newer."""
    catalog = read_catalog(workspace.store, source)
    ours = removed_tables(workspace.project.config.name, workspace.compiled, catalog, there)
    for name in sorted({*removed} & {*ours}):
        message = f"`{name}` is live in {source}, and no model of this project"
        fix = f"check out the revision that {source} was applied from, or run `strata apply --env {source}` here"
        yield Diagnostic("E035", message, fix=fix)


def _elsewhere(workspace: Workspace, source: str, changed: Set[str]) -> Iterator[Diagnostic]:
    """Sources that the two environments find in different places: a sample would go live as the whole."""
    compiled, environments = workspace.compiled, (source, workspace.environment)
    there, here = (workspace.project.config.environment(name).sources for name in environments)
    read = {u for name in ancestors(compiled, set(changed)) for u in compiled.models[name].upstream}
    for name in sorted(read & compiled.sources.keys()):
        if here.get(name) != there.get(name):
            declared = compiled.sources[name].resource.location
            places = (
                f"`{place.get(name, declared)}` in {environment}"
                for environment, place in zip(environments, (there, here), strict=True)
            )
            yield Diagnostic(
                "E035",
                f"the two environments read source `{name}` in different places: {', '.join(places)}",
                compiled.sources[name].span,
                fix=f"run `strata apply --env {workspace.environment}`, which reads what belongs there",
            )


def _unsound(workspace: Workspace, source: str, changed: Set[str]) -> Iterator[Diagnostic]:
    """What is live in `source` and is damaged, or older than its contract allows."""
    now = datetime.now(UTC)
    for name in workspace.compiled.models:
        if name in changed:
            yield from examine(workspace.project, source, name, now, engine=None).faults


def _unlike(
    workspace: Workspace, source: str, there: EnvironmentVersion, base: EnvironmentVersion, changed: Set[str]
) -> Iterator[Diagnostic]:
    """The promoted models that would be stale in the target for another reason than that files have changed since."""
    laid = replace(base, models={**base.models, **{name: there.models[name] for name in changed}})

    @cache
    def made_from(name: str, pointer: Pointer) -> Applied | None:
        found = applied(workspace.store, name, pointer)
        return found and replace(found, inputs={})

    plan = make_plan(
        workspace.compiled,
        kept_fingerprints(workspace.project, workspace.compiled),
        workspace.environment,
        laid,
        dict.fromkeys(workspace.compiled.sources, ""),
        made_from,
        selected=changed,
        with_upstream=False,
    )
    for planned in plan.stale:
        reasons = {cause.reason for cause in planned.causes}
        told = "; ".join(map(str, planned.causes))
        message = f"`{planned.name}` of {source} would be stale in {workspace.environment}: {told}"
        if reasons & {Reason.OWN_CHANGE, Reason.CONTRACT_CHANGE}:
            fix = f"check out the revision that {source} was applied from, or run `strata apply --env {source}` here"
        else:
            fix = f"promote all models, or run `strata apply --env {source}` first"
        yield Diagnostic("E035", message, workspace.compiled.models[planned.name].name_span, fix=fix)
