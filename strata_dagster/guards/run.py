"""A run of a guarded op: what it makes is judged before Dagster is told of it.

What the op yields of a guarded asset is held until the op is through: rows are judged, a value as it comes and files at
the end (by then dbt has run its tests too), published in one step, and only then materialized. Rows that are refused
leave a failing check and no materialization (first row of the table in design `dagster.md`), and so does what the same
op made of them; a run of several partitions does what runs of each of them would do (`holding`). Events that the op
logs by itself wait for the verdict too. Every selected check is told on every path (`telling`), before whatever went
wrong is raised. A run that promotes makes nothing (`promotion`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    Failure,
    MaterializeResult,
    Output,
)

from strata_core.contract_engine.observations import Outcome, SeenTest
from strata_core.contract_engine.pin.guard import Guard, Promise, open_guard, promise_of
from strata_core.contract_engine.pin.judging import Verdict
from strata_core.contract_engine.pin.promoting import Promotion, promote, record_refused
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.diagnostics.listing import listed
from strata_core.frozen import replace

from ..application import transient
from ..contracts.results import told_of_tests
from ..findings import failure_lines, findings
from ..names import CONTRACT, DBT_FAILED_ROWS, DBT_UNIQUE_ID, LOCATION, PROMOTE_FROM, RUN_ID
from ..pins import TOGETHER, nothing_published
from ..shown import Shown, in_turn
from .deciding import Decision, decided
from .frames import Frame, frame_of, frames_of
from .guard import RESOURCE
from .holding import held_back
from .made import Looking
from .op import GuardedOp
from .promotion import looked_at
from .telling import Conclusion, GuardTelling, logged, unusable, value_of
from .verdicts import MOST_KEYS

DBT_ID = "unique_id"
"""Metadata of what dagster-dbt yields: the node of the dbt project."""


@dataclass(slots=True)
class Guarding:
    """One run of `op`: what its assets are held to, what it made of them, and what became of that so far."""

    op: GuardedOp
    promises: dict[AssetKey, Promise] = field(default_factory=dict)
    unpromised: dict[AssetKey, tuple[Diagnostic, ...]] = field(default_factory=dict)
    judged: dict[AssetKey, Verdict] = field(default_factory=dict)
    held: dict[AssetKey, Any] = field(default_factory=dict)
    frames: dict[AssetKey, Frame | dict[str, Frame]] = field(default_factory=dict)
    said: dict[AssetKey, list[AssetMaterialization]] = field(default_factory=dict)
    dbt: dict[str, SeenTest] = field(default_factory=dict)

    def stream(self, inner: Callable[[AssetExecutionContext], Iterator[Any]]) -> Iterator[Any]:
        """Everything that the op yields, as far as it may be told. Raises `Failure` at the end where rows were refused,
        else what the op raised."""
        context = self.op.context
        shown = Shown(context, self.op.original)
        resource = getattr(context.resources, RESOURCE)
        try:
            guard = open_guard(resource.root, resource.environment)
        except StrataError as error:
            context.log.error(findings(error.diagnostics, None))
            yield from unusable(self.op, error.diagnostics)
            raise Failure(f"Strata stopped: {error}", allow_retries=transient(error.diagnostics)) from None
        for key, spec in self.op.guarded.items():
            try:
                self.promises[key] = promise_of(guard, str(spec.metadata[CONTRACT]), key.to_python_identifier())
            except StrataError as error:
                self.unpromised[key] = error.diagnostics
        if (source := context.run.tags.get(PROMOTE_FROM)) is not None and self.op.selected:
            yield from self._promoted(guard, source)
            return
        fault: Exception | None = None
        if self.op.selected or shown.selected_asset_check_keys:
            events = in_turn(context, inner(shown))
            while fault is None:
                try:
                    event = next(events)
                    yield from self._logged()
                    yield from self._seen(guard, event)
                except StopIteration:
                    break
                except Exception as error:  # whatever the op raises, now or as its lazy frame is computed
                    fault = error  # raised again when every check is told
            yield from self._logged()
        yield from self._concluded(guard, fault, partial(promote, guard))

    def _promoted(self, guard: Guard, source: str) -> Iterator[Any]:
        """What another environment has, instead of what the op would make."""
        promises = {key: promise for key, promise in self.promises.items() if key in self.op.selected}
        promotion = looked_at(self.op, guard, source, promises)
        self.judged, self.held = promotion.judged, promotion.held
        yield from self._concluded(guard, None, promotion.carry_out, "not promoted")

    def _logged(self) -> Iterator[Any]:
        """The events that the op has logged by itself (`context.log_event`) since it was asked last. Dagster would
        write them down as they are, and one that says that an asset was made stands for rows of which nobody knows."""
        for event in self.op.context.op_execution_context.consume_events():
            made = event.step_materialization_data.materialization if event.is_step_materialization else None
            key = None if made is None else self.op.key_of(made)
            if made is None or key is None or not self.op.holds(key):
                yield event
            else:
                self._said(key, made)

    def _said(self, key: AssetKey, event: AssetMaterialization) -> None:
        self.said.setdefault(key, []).append(event)
        self.held.setdefault(key, event)

    def _seen(self, guard: Guard, event: Any) -> Iterator[Any]:
        """One event of the op: what is guarded, or made of it, is held."""
        if isinstance(event, AssetCheckResult):
            self._noted(event)
        key = self.op.key_of(event)
        if key is None or not self.op.holds(key):
            yield event
            return
        if isinstance(event, AssetMaterialization):
            self._said(key, event)
            return
        value = value_of(event)
        try:
            frame = self._frame(key, value) if key in self.promises else None
        except StrataError as error:
            self.held[key] = event
            self.judged[key] = self._unread(guard, key, error)
            return
        if frame is None:
            self.held[key] = event
            return
        own = {k: one.value for k, one in frame.items()} if isinstance(frame, dict) else frame.value
        self.held[key] = _with_value(event, own)
        self.frames[key] = frame
        self.judged[key] = self._judged(guard, key, frame)

    def _frame(self, key: AssetKey, value: object) -> Frame | dict[str, Frame] | None:
        """The table that a value is; of an asset with partitions also those that it has by key."""
        by_key = frames_of(value) if self.op.partitions(key) else None
        return frame_of(value) if by_key is None else by_key

    def _noted(self, event: AssetCheckResult) -> None:
        """What a test of dbt's gave, for the tests of contracts that name it."""
        given = event.metadata or {}
        if (unique_id := given.get(DBT_ID)) is None or event.check_name is None:
            return
        failed = given.get(DBT_FAILED_ROWS)
        offenders = failed.value if failed is not None and isinstance(failed.value, int) else None
        status = given.get("status")
        outcome: Outcome = "passed" if event.passed else "error" if status and status.value == "error" else "failed"
        name = str(unique_id.value).split(".")[2] if str(unique_id.value).count(".") >= 2 else event.check_name
        self.dbt[name] = SeenTest(None, name, outcome, offenders=offenders)

    def _judged(self, guard: Guard, key: AssetKey, frame: Frame | dict[str, Frame] | None = None) -> Verdict:
        """The verdict on rows that are a value, or else on those that lie where they are said to be."""
        promise = self.promises[key]
        try:
            verdict = Looking(self.op, guard, key, promise, self._by_dbt(key)).judged(frame)
        except StrataError as error:
            return self._unread(guard, key, error)
        logged(self.op.context, guard, verdict)
        return verdict

    def _unread(self, guard: Guard, key: AssetKey, error: StrataError) -> Verdict:
        """The verdict where there are no rows to judge."""
        promise = self.promises[key]
        faults = tuple(_about(d, value_of(self.held[key])) for d in error.diagnostics)
        verdict = Verdict(promise, "nowhere", guard.base.models.get(promise.name), faults=faults)
        logged(self.op.context, guard, verdict)
        return verdict

    def _by_dbt(self, key: AssetKey) -> Mapping[str, SeenTest] | None:
        """What the tests of this run gave of an asset that dbt makes."""
        return self.dbt if DBT_UNIQUE_ID in self.op.guarded[key].metadata else None

    def _concluded(
        self,
        guard: Guard,
        fault: Exception | None,
        publish: Callable[..., Promotion],
        refusal: str = "contract violated",
    ) -> Iterator[Any]:
        """Judge what is left, let go live what may, and tell of all of it; raises at the end what keeps the run from
        having done what it was for."""
        together = guard.project.config.environment(guard.environment).publish == "together"
        # Rows in files are looked at when nobody writes to them any more: dbt locks its database while it runs.
        late = [key for key in self.held if key in self.promises and key not in self.judged]
        self.judged |= {key: self._judged(guard, key) for key in late}
        self.judged = held_back(guard, self.judged, self._by_dbt, self.op.above, together=together)
        decision = decided(
            self.op,
            self.judged,
            self.held.keys(),
            self.unpromised.keys(),
            together=together,
            failed=fault is not None,
        )
        conclusion, stopped = self._published(guard, decision, publish)
        telling = GuardTelling(self.op, guard, self.promises, self.unpromised, conclusion, self.frames, self.said)
        yield from telling.held(self.held, self.judged)
        yield from telling.rest(self.held, failed=fault is not None)
        if fault is not None:
            raise fault
        self._raise(guard, self._amiss(decision, refusal), decision.refused, stopped, telling)

    def _published(
        self, guard: Guard, decision: Decision, publish: Callable[..., Promotion]
    ) -> tuple[Conclusion, StrataError | None]:
        """What became of what may go live, and what stopped it."""
        done, because, stopped = Promotion(guard.base, frozenset()), TOGETHER, None
        run = self.op.context.run.run_id
        try:
            if decision.publishes:
                done = publish(decision.sound.values(), message=f"Dagster run {run}", tags={RUN_ID: run})
            record_refused(guard, self.judged.values(), done)
        except StrataError as error:
            stopped = error
            because = f"because it could not be published ({', '.join(d.code for d in error.diagnostics)})"
            self.op.context.log.error(findings(error.diagnostics, guard.project))
        live = frozenset(k for k, v in decision.sound.items() if v.promise.name in done.promoted)
        if live:
            self.op.context.log.info(f"{guard.environment}: version {done.version.number} is live")
        return Conclusion(done.version, live, decision.refused, because, failing=stopped is not None), stopped

    def _amiss(self, decision: Decision, refusal: str) -> list[str]:
        """What was refused and what was not made, a line for each."""
        refused, missing = sorted(decision.refused), decision.missing
        told = [f"{refusal}: {', '.join(self._named(k) for k in refused)}"] if refused else []
        return told + ([f"not made: {', '.join(k.to_user_string() for k in missing)}"] if missing else [])

    def _named(self, key: AssetKey) -> str:
        """A refused asset, with the partitions that are, where others are not."""
        keys = self.judged[key].refused if key in self.judged else ()
        return key.to_user_string() + (f" (partitions {listed(keys, MOST_KEYS)})" if keys else "")

    def _raise(
        self,
        guard: Guard,
        lines: list[str],
        refused: Set[AssetKey],
        stopped: StrataError | None,
        telling: GuardTelling,
    ) -> None:
        if not lines and stopped is None:
            if telling.broken:  # Dagster itself would try again
                raise Failure(told_of_tests(telling.broken), allow_retries=False)
            return
        faults = [d for k in sorted(refused) for d in self.unpromised.get(k) or self.judged[k].violations]
        faults += stopped.diagnostics if stopped is not None else ()
        nothing = [] if telling.conclusion.live else [nothing_published(guard.environment, guard.base)]
        told = "\n".join((*lines, *nothing, *failure_lines(faults)))
        raise Failure(told, allow_retries=bool(faults) and transient(faults))


def _about(diagnostic: Diagnostic, value: object) -> Diagnostic:
    """E036 of an asset that returned nothing which is a table, and does not say where its rows are."""
    if diagnostic.code != "E036":
        return diagnostic
    told = "" if value is None else f", and a {type(value).__name__} is no table"
    where = f"`location:` of the contract's asset, or `{LOCATION}` in the metadata of this one"
    fix = f"return a table of pyarrow, polars or pandas, or say where the rows are ({where})"
    return replace(diagnostic, message=f"{diagnostic.message}{told}", fix=fix)


def _with_value(event: Any, value: object) -> Any:
    if isinstance(event, Output):
        return Output(value, event.output_name, event.metadata, event.data_version, tags=event.tags)
    if isinstance(event, MaterializeResult):
        return event._replace(value=value)
    return event
