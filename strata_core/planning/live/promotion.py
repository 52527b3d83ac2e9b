"""Promotion: what one environment has goes live in another, as it is, in one step. Nothing is computed.

Guarded tables go along with the models (`promoted_tables.py`).

What is promoted has to be what an apply in the target could have made: the text of this project means what the
artifacts were made from, each stands beside the upstream rows that it was computed from, each keeps its contract and
the blocking tests of products, and the target reads the same sources. Whether files changed since does not matter: a
promotion publishes what was looked at, and the next apply in the target takes in what is new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from datetime import UTC, datetime
from functools import cache

from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass, replace
from ...store.environments import EnvironmentVersion, Pointer
from ..applying.blocking_tests import blocked
from ..applying.rebasing import reads_of
from ..applying.results import Event, Finished, ModelResult, Outcome, Published, Status
from ..catalog import read_catalog
from ..consumers import breaks_of, models_offered
from ..environments import not_published, published_environment
from ..fingerprints import Fingerprint, kept_fingerprints
from ..guarded.catalog import guarded_breaks, own_guarded
from ..plan import Applied, Cause, Plan, PlannedModel, Reason, ancestors, make_plan, unknown_model
from ..provenance import applied
from ..registered_models import removed_tables
from ..workspace import Workspace, models_in
from .between import UNGOVERNED, Between, Rules
from .health import examine
from .promoted_tables import PromotedTable, planned_tables, read_by, register_promoted


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
    rules: Rules = UNGOVERNED,
) -> Promotion:
    """What promoting `selected`, models and guarded tables, and what they read, from the environment `source` changes
    in the workspace's environment.

    Without a selection it is for all that the pipelines of the target name, or for all models, and for all guarded
    tables of the project, as far as they are published in `source`, and what is no model of the project any more is
    taken back, as by an apply; a selection does so with `take_back`; E035 where `source` still has it. `with_upstream`
    adds what the selected models read, guarded tables too. The `conflicts` of the plan say why it may not be carried
    out: E035, E085 and E094 of what would be promoted, E144 of the blocking tests, E030 to E032 of readers in other
    projects; tests that could not be asked are told with its lints (E143).
    Raises `StrataError` E027, E095 (of an environment without these models too), E035 for an environment into itself.
    """
    between = _between(workspace, source)
    project, compiled, base = workspace.project.config.name, workspace.compiled, between.base
    names, guarded = _chosen(between, selected, with_upstream)
    tables, faults = planned_tables(between, guarded, rules.promised)
    if not names and not tables and compiled.models:
        message = f"nothing of {project} is published in `{source}`"
        raise StrataError(Diagnostic("E095", message, fix=f"run `strata apply --env {source}`"))
    catalog = read_catalog(workspace.store, between.target)
    prints = kept_fingerprints(workspace.project, compiled)
    planned = tuple(_planned(between, name, prints[name]) for name in names)
    changed = {m.name for m in planned if m.stale}
    new = {table.name: table for table in tables if table.changed}
    take_back = (take_back or selected is None) and not compiled.errors  # else it is not known what it declares
    removed = removed_tables(project, compiled, catalog, base) if take_back else ()
    offered = models_offered(compiled, prints)
    broken = (
        breaks_of(project, offered, catalog, {*removed, *changed}, rules.approvals),
        guarded_breaks(workspace.project, catalog, {n: t.contract for n, t in new.items()}, rules.approvals),
    )
    refused = (*faults, *_unfit(between, changed, removed))
    told: tuple[Diagnostic, ...] = ()
    if not refused:
        refused, told = _tested(between, changed, new, rules)
    conflicts = (*refused, *(d for one in broken for d in one.diagnostics))
    approved = tuple(a for one in broken for a in one.approved)
    plan = Plan(between.target, base, planned, removed, conflicts=conflicts, approved=approved, catalog=catalog)
    plan = workspace.linted(plan, {name: table.contract.span for name, table in new.items()})
    return Promotion(source, between.there, replace(plan, lints=(*plan.lints, *told)), tables)


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


def _between(workspace: Workspace, source: str) -> Between:
    if source == workspace.environment:
        raise StrataError(Diagnostic("E035", f"`{source}` is already what it is", fix="name another environment"))
    there = published_environment(workspace.project, source).head()
    return Between(workspace, source, there, workspace.store.environment(workspace.environment).head())


def _chosen(
    between: Between, selected: Collection[str] | None, with_upstream: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models, upstream first, and the guarded tables."""
    workspace, source = between.workspace, between.source
    guarded = own_guarded(workspace.project.config.name, read_catalog(workspace.store, source), between.there)
    if selected is None:
        return _models(between, None, with_upstream), guarded
    models = _models(between, [name for name in selected if name not in guarded], with_upstream)
    asked = {*selected} | (read_by(workspace, models) if with_upstream else set())
    return models, tuple(name for name in guarded if name in asked)


def _models(between: Between, selected: Collection[str] | None, with_upstream: bool) -> tuple[str, ...]:
    """The models, upstream first; those that were asked for have to be published in the source."""
    compiled, there = between.workspace.compiled, between.there
    for name in selected or ():
        if name not in compiled.models:
            raise StrataError(unknown_model(name, compiled))
    missing = [name for name in selected or () if name not in there.models]
    if missing:
        raise StrataError(*(not_published(name, between.source) for name in missing))
    asked = models_in(compiled, between.target) if selected is None else selected
    wanted = set(compiled.models if asked is None else asked)
    wanted = ancestors(compiled, wanted) if with_upstream else wanted
    return tuple(name for name in compiled.models if name in wanted and name in there.models)


def _planned(between: Between, name: str, own: Fingerprint) -> PlannedModel:
    """A model is stale where it is not live in the target as it is in the source."""
    pointer, live = between.there.models[name], between.base.models.get(name)
    known = live is not None and live.same_rows(pointer) and live.fingerprint == pointer.fingerprint
    causes = () if known else (Cause(Reason.PROMOTED, (between.source,)),)
    return PlannedModel(name, own, between.workspace.compiled.models[name].upstream, live, causes)


def _unfit(between: Between, changed: Set[str], removed: Collection[str]) -> Iterator[Diagnostic]:
    """Why what would change is not what an apply in the target could have made."""
    yield from _left_behind(between, removed)
    yield from _elsewhere(between, changed)
    yield from _unsound(between, changed)
    yield from _unlike(between, changed)


def _tested(
    between: Between, changed: Set[str], tables: Mapping[str, PromotedTable], rules: Rules
) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """The blocking tests that what would change does not hold, all of it at once; and what could not be asked."""
    store, there = between.workspace.store, between.there
    promoted = {name: table.artifact for name, table in tables.items()}
    promoted |= {name: store.artifact(name, there.models[name]) for name in changed}
    tests = rules.tests(changed, tables.keys())
    refused, unasked = blocked(tests, promoted, between.base)
    return refused, (*tests.unread, *unasked)


def _left_behind(between: Between, removed: Collection[str]) -> Iterator[Diagnostic]:
    """What would be taken back, though the source has it: this text is older than what was applied there, or newer."""
    workspace, source = between.workspace, between.source
    catalog = read_catalog(workspace.store, source)
    ours = removed_tables(workspace.project.config.name, workspace.compiled, catalog, between.there)
    for name in sorted({*removed} & {*ours}):
        message = f"`{name}` is live in {source}, and no model of this project"
        yield Diagnostic("E035", message, fix=between.applied_here)


def _elsewhere(between: Between, changed: Set[str]) -> Iterator[Diagnostic]:
    """Sources that the two environments find in different places: a sample would go live as the whole."""
    compiled, environments = between.workspace.compiled, (between.source, between.target)
    there, here = (between.workspace.project.config.environment(name).sources for name in environments)
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
                fix=f"run `strata apply --env {between.target}`, which reads what belongs there",
            )


def _unsound(between: Between, changed: Set[str]) -> Iterator[Diagnostic]:
    """What is live in the source and is damaged, or older than its contract allows."""
    workspace, now = between.workspace, datetime.now(UTC)
    for name in workspace.compiled.models:
        if name in changed:
            yield from examine(workspace.project, between.source, name, now, engine=None).faults


def _unlike(between: Between, changed: Set[str]) -> Iterator[Diagnostic]:
    """The promoted models that would be stale in the target for another reason than that files have changed since."""
    workspace, source, compiled = between.workspace, between.source, between.workspace.compiled
    promoted = {name: between.there.models[name] for name in changed}
    laid = replace(between.base, models={**between.base.models, **promoted})

    @cache
    def made_from(name: str, pointer: Pointer) -> Applied | None:
        found = applied(workspace.store, name, pointer)
        return found and replace(found, inputs={})

    plan = make_plan(
        compiled,
        kept_fingerprints(workspace.project, compiled),
        between.target,
        laid,
        dict.fromkeys(compiled.sources, ""),
        made_from,
        selected=changed,
        with_upstream=False,
    )
    for planned in plan.stale:
        reasons = {cause.reason for cause in planned.causes}
        told = "; ".join(map(str, planned.causes))
        message = f"`{planned.name}` of {source} would be stale in {between.target}: {told}"
        if reasons & {Reason.OWN_CHANGE, Reason.CONTRACT_CHANGE}:
            fix = between.applied_here
        else:
            fix = f"promote all models, or run `strata apply --env {source}` first"
        yield Diagnostic("E035", message, compiled.models[planned.name].name_span, fix=fix)
