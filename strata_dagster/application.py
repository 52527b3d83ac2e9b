"""One apply inside a Dagster run: the loop over models is the core's, the events are Dagster's.

What is live afterwards is materialized, and nothing else: a candidate that its pin refuses leaves a failing check
on the previous materialization and no materialization (design `dagster.md`, first row of its table). Every selected
check is told something on every path, since a blocking check without a result would let pass what is downstream.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetExecutionContext,
    AssetMaterialization,
    AssetObservation,
    Failure,
    MaterializeResult,
)

from strata_core.contract_engine.governed import governed_plan, governed_promotion
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.blocking_tests import NO_TESTS, BlockingTests
from strata_core.planning.applying.results import Event, Finished, Outcome, Published, Started
from strata_core.planning.applying.run_events import Parent, announced
from strata_core.planning.leaving_out import with_readers
from strata_core.planning.live.promotion import Promotion, promote
from strata_core.planning.plan import Plan
from strata_core.planning.project import Project, compile_, compile_sound, open_project
from strata_core.planning.workspace import Workspace, open_workspace

from . import events
from .checks import EXPECTATIONS, UNIT_TESTS
from .contracts.results import NOT_APPLIED, AtThePin, answered, blocks, selected_specs, told_of_tests, unasked
from .evaluations import of_the_assets
from .examination import examined
from .findings import findings
from .model_tests import UnitTests, expected, selected_tests, unit_tested, untested
from .names import ON_ERROR, PROMOTE_FROM, RUN_ID
from .partitions import asked_of
from .readers import fresh_readers
from .resource import Recompute
from .runlog import RunLog
from .runtags import tag_run
from .selection import Selection, require_known, selection_of, without
from .telling import Telling

TRANSIENT = frozenset({"E091", "E092", "E093"})
"""What a repetition may mend: the engine's memory or disk, the store, another apply that was quicker."""

Told = MaterializeResult[None] | AssetMaterialization | AssetCheckResult | AssetObservation


@dataclass(frozen=True, slots=True)
class StrataApplication:
    """An apply of what `context` selects, in `environment`. Made by `StrataResource.apply`."""

    context: AssetExecutionContext
    root: Path
    environment: str
    recompute: Recompute

    def stream(self) -> Iterator[Told]:
        """Carry it out. Raises `Failure` at the end where a model was violated or failed."""
        yield from of_the_assets(self._told())

    def _told(self) -> Iterator[Told]:
        selection = selection_of(self.context)
        try:
            project = open_project(project=self.root)
        except StrataError as error:
            yield from (events.unknown(key, error.diagnostics) for key in selection.pins.values())
            yield from (events.unexamined(key, error.diagnostics) for key in selection.healths.values())
            yield from (unasked(spec, error.diagnostics) for spec in selected_specs(self.context))
            yield from untested(self.context, error.diagnostics)
            raise self._stopped(error, None) from None
        units = [*unit_tested(project, selected_tests(self.context, UNIT_TESTS))]
        yield from (unit.result for unit in units)
        wrong = {unit.model: unit.found for unit in units if self._blocks(unit)}
        selection = yield from self._untouched(project, selection, wrong)
        failure, pinned = None, NOT_APPLIED
        if selection.models or selection.pins:
            failure, pinned = yield from self._applied(project, selection)
        yield from examined(project, self.environment, selection.healths, again=not selection.models)
        yield from expected(project, self.environment, selected_tests(self.context, EXPECTATIONS))
        broken = []
        for result in answered(selected_specs(self.context), project.root, self.environment, pinned):
            broken += [result] if blocks(result) else []
            yield result
        if failure is None and broken:  # Dagster itself would try again
            failure = Failure(told_of_tests(broken), allow_retries=False)
        if wrong:
            told = f"unit tests fail: {', '.join(sorted(wrong))}"
            failure = Failure(f"{told}\n{failure.description}" if failure else told, allow_retries=False)
        if failure is not None:
            raise failure

    def _blocks(self, unit: UnitTests) -> bool:
        key = AssetCheckKey(unit.asset, UNIT_TESTS)
        return blocks(unit.result) and self.context.assets_def.get_spec_for_check_key(key).blocking

    def _untouched(
        self, project: Project, selection: Selection, wrong: Mapping[str, tuple[Diagnostic, ...]]
    ) -> Generator[Told, None, Selection]:
        """What is left of `selection` where the unit tests of the models `wrong` keep them from being applied, and with
        them what would be made of them."""
        left_out = with_readers(compile_(project), wrong) if wrong else {}
        pins = ((key, left_out[name]) for name, key in selection.pins.items() if name in left_out)
        yield from (events.unknown(key, found) for key, found in pins)
        return without(selection, left_out)

    def _applied(
        self, project: Project, selection: Selection
    ) -> Generator[Told, None, tuple[Failure | None, AtThePin]]:
        """Carry it out and tell of it; gives why the run fails, and what tests of contracts were asked already."""
        broken: tuple[Diagnostic, ...] = ()
        try:
            workspace = self._workspace(project)
            if names := workspace.compiled.broken & (selection.models.keys() | selection.pins.keys()):
                broken = workspace.compiled.errors
                yield from (events.unknown(key, broken) for name, key in selection.pins.items() if name in names)
                selection = without(selection, names)
            require_known(selection, workspace.compiled)
            work, tests = self._work(workspace, selection)
        except StrataError as error:
            yield from (events.unknown(key, error.diagnostics) for key in selection.pins.values())
            return self._stopped(error, project), NOT_APPLIED
        for name, key in selection.sources.items():
            if name in workspace.sources:
                yield events.observation(key, workspace.sources[name])
        if lints := (work if isinstance(work, Plan) else work.plan).lints:
            self.context.log.warning(findings(lints, project))
        failure, pinned = yield from self._carried_out(workspace, selection, work, tests)
        if broken:
            self.context.log.error(findings(broken, project))
            told = f"does not compile: {', '.join(sorted(names))}"
            failure = Failure(f"{told}\n{failure.description}" if failure else told, allow_retries=False)
        return failure, pinned

    def _workspace(self, project: Project) -> Workspace:
        tolerant = self.context.op_def.tags.get(ON_ERROR) == "check"
        compiled = compile_(project) if tolerant else compile_sound(project)
        workspace = open_workspace(project, self.environment, compiled)
        workspace.store.sweep_staging()
        return workspace

    def _work(self, workspace: Workspace, selection: Selection) -> tuple[Plan | Promotion, BlockingTests]:
        """What is to be done: the plan of an apply, with the tests to ask, or a promotion, which has asked them, where
        the run's tags name an environment."""
        models, compiled = selection.models, workspace.compiled
        source = self.context.run.tags.get(PROMOTE_FROM)
        partitions = asked_of(self.context, models.values())
        take_back = partitions is None and models.keys() == compiled.models.keys()
        if source is not None and models:
            return governed_promotion(workspace, source, models, with_upstream=False, take_back=take_back), NO_TESTS
        return governed_plan(
            workspace,
            models,
            with_upstream=False,
            take_back=take_back,
            force=self.recompute == "all",
            full_refresh=self.recompute == "full_refresh",
            asked=partitions,
        )

    def _happening(
        self, workspace: Workspace, work: Plan | Promotion, tests: BlockingTests, log: RunLog
    ) -> Iterator[Event]:
        run = self.context.run
        message, tags = f"Dagster run {run.run_id}", {RUN_ID: run.run_id}
        if isinstance(work, Promotion):
            return promote(workspace, work, message=message, tags=tags)
        publish = workspace.project.config.environment(self.environment).publish
        return apply_plan(
            workspace,
            work,
            workspace.engine(),
            publish=publish,
            message=message,
            tags=tags,
            progress=log.progress,
            tests=tests,
        )

    def _carried_out(
        self, workspace: Workspace, selection: Selection, work: Plan | Promotion, tests: BlockingTests
    ) -> Generator[Told, None, tuple[Failure | None, AtThePin]]:
        plan, run = work.plan if isinstance(work, Promotion) else work, self.context.run
        log = RunLog(self.context.log, workspace.project, self.environment)
        telling = Telling(self.context, workspace, selection, plan)
        tag_run(self.context, workspace)
        if plan.outlived:
            log.outlived(plan.outlived)
        parent = Parent(run.run_id, "dagster", run.job_name)
        happening = self._happening(workspace, work, tests, log)
        happened = announced(happening, workspace, plan, self.context.log.warning, parent)
        try:
            for event in happened:
                match event:
                    case Started():
                        log.started(event)
                    case Finished(result=result):
                        log.finished(result)
                        telling.finished(result)
                    case Published(version=version, models=models, removed=removed):
                        log.published(version, models, removed)
                        yield from telling.published(version, frozenset(models))
                    case Outcome():
                        yield from telling.ended(event)
                        for reader in fresh_readers(self.context, workspace, event, selection.models):
                            self.context.log_event(reader)
        except StrataError as error:
            yield from telling.stopped(error.diagnostics)
            return self._stopped(error, workspace.project), telling.at_the_pin()
        faults = telling.faults()
        failure = Failure(telling.summary(), allow_retries=transient(faults)) if faults else None
        return failure, telling.at_the_pin()

    def _stopped(self, error: StrataError, project: Project | None) -> Failure:
        self.context.log.error(findings(error.diagnostics, project))
        return Failure(f"Strata stopped: {error}", allow_retries=transient(error.diagnostics))


def transient(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether a repetition may mend all of it. A broken promise is not mended so: the same data break it again."""
    return all(d.code in TRANSIENT for d in diagnostics)
