"""Everything that plan and apply work with, opened for one environment of one project."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..analysis.compiled import CompiledProject
from ..diagnostics import Diagnostic, Severity, Span, StrataError
from ..frozen import dataclass, replace
from ..store.environments import EnvironmentVersion
from ..store.store import Store
from .catalog import OF_GUARDED, Approved, read_catalog, taken_over
from .consumers import breaks_of, models_offered
from .dbt import newer_manifest
from .engines import make_engine
from .fingerprints import kept_fingerprints
from .inputs.clocked_tables import unbounded_reads
from .inputs.sources import ResolvedSource, resolve_all
from .lints import ruled_of_plan
from .partitions.asked_periods import Asked, Live, asked_periods, with_periods
from .plan import ByPeriods, Plan, ancestors, as_whole, make_plan
from .project import Project, compile_
from .provenance import applied
from .registered_models import register_models, removed_tables

if TYPE_CHECKING:  # engines are heavy, and a plan needs none
    from ..engines.protocol import Engine


@dataclass(frozen=True, slots=True)
class Workspace:
    """The compiled project, its sources where they are in `environment`, and the store.

    `missing` says why a source cannot be resolved; it fails the models that read it and no others.
    """

    project: Project
    compiled: CompiledProject
    environment: str
    sources: Mapping[str, ResolvedSource]
    missing: Mapping[str, StrataError]
    store: Store

    def plan(
        self,
        selected: Collection[str] | None = None,
        *,
        with_upstream: bool = True,
        force: bool = False,
        full_refresh: bool = False,
        take_back: bool = False,
        approvals: Callable[[], Collection[Approved]] = tuple,
        asked: Asked | None = None,
    ) -> Plan:
        """The plan against the environment as it is now, with what it would break of other projects that share the
        store; parameters as `plan.make_plan`. Without a selection it is for the models of the environment's pipelines
        and what they read, or for all where none names any, and takes back what is no model any more; a selection does
        so with `take_back`. Where the project has errors nothing is taken back: it is not known what it declares.
        `approvals` gives what owners approved, and is asked where something would break. With `asked` it is for these
        partitions of time of the selected models, or of all that have them.

        Raises `StrataError` E094 or E092 where the catalog cannot be read, E027 and E037 where there is no such model
        or partition.
        """
        take_back = (take_back or (selected is None and asked is None)) and not self.compiled.errors
        if selected is None:
            selected = models_in(self.compiled, self.environment)
            selected = selected if asked is None else with_periods(self.compiled, asked, selected)
        prints = kept_fingerprints(self.project, self.compiled)
        base = self.store.environment(self.environment).head()
        live = self.live(base)
        by_periods: ByPeriods = as_whole
        if asked is not None and selected is not None:
            by_periods = asked_periods(self.compiled, live, selected, asked)
        plan = make_plan(
            self.compiled,
            prints,
            self.environment,
            base,
            live.sources,
            cache(lambda name, pointer: applied(self.store, name, pointer)),
            selected=selected,
            with_upstream=with_upstream,
            force=force,
            full_refresh=full_refresh,
            by_periods=by_periods,
        )
        name, catalog = self.project.config.name, read_catalog(self.store, self.environment)
        gone = removed_tables(name, self.compiled, catalog, plan.base)
        removed, outlived = (gone, ()) if take_back else ((), () if self.compiled.errors else gone)
        publishing = {*removed, *(m.name for m in plan.stale)}
        breaks = breaks_of(name, models_offered(self.compiled, prints), catalog, publishing, approvals)
        told = replace(plan, removed=removed, outlived=outlived, approved=breaks.approved, catalog=catalog)
        return self.linted(replace(told, conflicts=breaks.diagnostics))

    def live(self, version: EnvironmentVersion) -> Live:
        """What is there beside `version` of the environment."""
        return Live(self.store, version, {name: source.digest for name, source in self.sources.items()})

    def linted(self, plan: Plan, guarded: Mapping[str, Span | None] = MappingProxyType({})) -> Plan:
        """`plan` with the lints that only a plan can tell (W016, W017), as the project wants them, and what there is to
        know of the dbt manifest that it reads (E033); the tables `guarded` are published with it."""
        read = {name for planned in plan.models for name in planned.inputs}
        clocked = {name: c for name, s in self.sources.items() if name in read and (c := s.clocked) is not None}
        stale = {planned.name: self.compiled.models[planned.name].name_span for planned in plan.stale}
        project = self.project.config.name
        found = (
            *unbounded_reads(self.compiled.sources, clocked),
            *taken_over(project, stale, plan.catalog, plan.base),
            *taken_over(project, guarded, plan.catalog, plan.base, OF_GUARDED),
            *self._newer_dbt(read),
        )
        lints = ruled_of_plan(found, self.project.files, self.project.config.lint)
        refused = tuple(lint for lint in lints if lint.severity is Severity.ERROR)
        told = tuple(lint for lint in lints if lint.severity is not Severity.ERROR)
        return replace(plan, conflicts=(*plan.conflicts, *refused), lints=told)

    def _newer_dbt(self, read: Collection[str]) -> Iterator[Diagnostic]:
        sources = (s for name, s in self.compiled.sources.items() if name in read and s.resource.kind == "dbt")
        if (first := next(sources, None)) is not None:
            newer = newer_manifest(self.project.root, self.project.config.dbt, first.span)
            yield from (newer,) if newer is not None else ()

    def register(self, version: EnvironmentVersion, plan: Plan) -> None:
        """Keep in the catalog what the project has in `version`, and the approvals that `plan` rested on."""
        prints = kept_fingerprints(self.project, self.compiled)
        name = self.project.config.name
        register_models(self.store, name, self.compiled, prints, version, self.environment, plan.approved)

    def engine(self) -> Engine:
        """The engine that `strata.toml` names, with its limits."""
        return make_engine(self.project)


def models_in(compiled: CompiledProject, environment: str) -> tuple[str, ...] | None:
    """The models that the pipelines of `environment` name and those that they read, upstream first; `None` where no
    pipeline says which are built there."""
    named = {name for one in compiled.pipelines.values() if one.env == environment for name in one.models}
    taken = ancestors(compiled, named)
    return tuple(name for name in compiled.models if name in taken) or None


def open_workspace(
    project: Project, environment: str, compiled: CompiledProject | None = None, *, write: bool = True
) -> Workspace:
    """The workspace of `project`. With `write` the store is created when missing; without, nothing is changed, and
    a store that is not there yet is empty. Raises `StrataError` E092."""
    compiled = compiled or compile_(project)
    sources, missing = resolve_all(project, compiled, environment)
    store = project.store
    if write or store.exists():
        store.opened(create=write)
    return Workspace(project, compiled, environment, sources, missing, store)
