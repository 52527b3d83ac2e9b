"""Which event each model gets, and when: once each, after those of what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from dagster import AssetCheckResult, AssetExecutionContext, AssetMaterialization, MaterializeResult

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning.applying.apply import live_artifact
from strata_core.planning.applying.results import ModelResult, Outcome, Status
from strata_core.planning.hidden import hidden_columns
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.planning.plan import Plan
from strata_core.planning.provenance import sound_live
from strata_core.planning.workspace import Workspace
from strata_core.store.artifacts import Artifact
from strata_core.store.environments import EnvironmentVersion

from . import events
from .contracts.results import AtThePin
from .findings import failure_lines
from .names import DATA_VERSION_TAG, USER_VERSION_TAG
from .partitions import provenance_tags, waited_for
from .pins import TOGETHER, nothing_published, what_stays
from .selection import Selection

Told = MaterializeResult[None] | AssetMaterialization | AssetCheckResult


@dataclass(slots=True)
class Telling:
    """What became of the models of `plan` so far, and which of them were told."""

    context: AssetExecutionContext
    workspace: Workspace
    selection: Selection
    plan: Plan
    _results: dict[str, ModelResult] = field(init=False)
    _told: set[str] = field(default_factory=set)
    _unreadable: list[Diagnostic] = field(default_factory=list)
    _published: set[str] = field(default_factory=set)
    _version: EnvironmentVersion = field(init=False)
    _hidden: Mapping[str, Set[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._results = {p.name: ModelResult(p.name, Status.FRESH, p) for p in self.plan.models if not p.stale}
        self._version = self.plan.base
        self._hidden = hidden_columns(self.workspace.compiled)

    def finished(self, result: ModelResult) -> None:
        """Keep what became of a model until it is known whether it is published."""
        self._results[result.name] = result

    def published(self, version: EnvironmentVersion, models: frozenset[str]) -> Iterator[Told]:
        """`models` are live in `version`; so is, in between, what is fresh."""
        self._version, open_ = version, set(models)
        self._published |= models
        for planned in self.plan.models:
            if not open_:
                return
            if planned.name in open_ or not planned.stale:
                yield from self._live(planned.name)
            open_.discard(planned.name)

    def ended(self, outcome: Outcome) -> Iterator[Told]:
        """Everything that was not told yet."""
        self._version = outcome.version
        yield from self._rest(TOGETHER, ())
        yield from self._checked_alone()

    def stopped(self, diagnostics: tuple[Diagnostic, ...]) -> Iterator[Told]:
        """The apply could not go on; candidates that were made are not live."""
        yield from self._rest(f"because the apply stopped ({', '.join(d.code for d in diagnostics)})", diagnostics)
        yield from self._checked_alone()

    def at_the_pin(self) -> AtThePin:
        """What blocking tests of contracts gave on the candidates."""
        stays = what_stays(self.workspace.environment, self._version)
        return AtThePin.of(self._results.values(), self._published, stays)

    def faults(self) -> tuple[Diagnostic, ...]:
        """Why the run fails; empty where everything selected is live and sound."""
        found = [d for r in self._results.values() if not r.status.sound for d in r.violations]
        return tuple(dict.fromkeys((*found, *self._unreadable)))

    def summary(self) -> str:
        """The run's failure in a few lines: what was violated, what failed, what was left as it was."""
        return "\n".join(self._summary())

    def _summary(self) -> Iterator[str]:
        by_status = {s: [r.name for r in self._results.values() if r.status is s] for s in Status}
        for status, words in OUTCOMES.items():
            if by_status[status]:
                yield f"{words}: {', '.join(by_status[status])}"
        environment, number = self.workspace.environment, self._version.number
        if number != self.plan.base.number:
            yield f"version {number} of {environment} went live with the others"
        else:
            yield nothing_published(environment, self._version)
        yield from failure_lines(self.faults())

    def _rest(self, because: str, diagnostics: tuple[Diagnostic, ...]) -> Iterator[Told]:
        for planned in self.plan.models:
            name = planned.name
            key = self.selection.pins.get(name)
            if name in self._told:
                continue
            if not planned.stale:
                yield from self._live(name)
            elif key is not None and name in self._results:
                yield events.unpublished(key, self.workspace, self._results[name], self._version, because)
            elif key is not None:
                yield events.unknown(key, diagnostics)
            self._told.add(name)

    def _live(self, name: str) -> Iterator[Told]:
        if name in self._told:
            return
        self._told.add(name)
        result, key = self._results[name], self.selection.pins.get(name)
        try:
            artifact = result.artifact or live_artifact(self.workspace.store, name, None, self._version)
            if (keys := self._partitions(result, artifact)) is not None:
                yield from self._range(result, artifact, keys)
                return
            check = events.passed(key, result.status, artifact, self._version) if key else None
            yield events.materialization(
                self.workspace,
                self.selection.models[name],
                result,
                artifact,
                self._version,
                self.selection.sources,
                self._hidden[name],
                check,
                self.context.partition_key if result.planned.periods is not None else None,
            )
        except StrataError as error:
            yield from self._unfound(name, error.diagnostics)

    def _partitions(self, result: ModelResult, artifact: Artifact) -> Sequence[str] | None:
        """The partitions that are told each by itself: of a range those that are sound, of a table that was promoted
        those of the run and those that are other than before. None where one event tells all."""
        if result.planned.periods is not None:
            if self.context.has_partition_key:
                return None
            refused = {key for key, made in result.pieces.items() if not made.status.sound}
            return [p.key for p in result.planned.periods if p.key not in refused]
        pieces = pieces_of(artifact)
        spec = self.context.assets_def.specs_by_key[self.selection.models[result.name]]
        if pieces is None or spec.partitions_def is None:
            return None
        live = result.planned.live
        before = sound_live(self.workspace.store, result.name, live)
        known = None if before is None else pieces_of(before)
        then = {} if known is None else {key: piece.digest for key, piece in known.by_key.items()}
        own = {*self.context.partition_keys} if self.context.has_partition_key_range else {self.context.partition_key}
        return [key for key, piece in pieces.by_key.items() if key in own or then.get(key) != piece.digest]

    def _range(self, result: ModelResult, artifact: Artifact, keys: Sequence[str]) -> Iterator[Told]:
        """Each partition of `keys` that is live, with its own version, then the pin's verdict on all of them. An op
        that waits for the model has its output first, for which Dagster knows one version alone."""
        key, pin = self.selection.models[result.name], self.selection.pins.get(result.name)
        told = (self.workspace, key, result, artifact, self._version, self.selection.sources, self._hidden[result.name])
        whole = events.materialization(*told, None)
        if result.status.sound and waited_for(self.context, key):
            yield whole
        for partition in keys:
            piece = events.piece_of(artifact, partition)
            if piece is not None:
                yield AssetMaterialization(
                    key,
                    partition=partition,
                    metadata={**(whole.metadata or {}), **events.partition_metadata(result, partition, piece)},
                    tags={
                        **dict(provenance_tags(self.context, key, partition)),
                        **events.source_tags(self.workspace, result, self.selection.sources),
                        DATA_VERSION_TAG: piece.digest,
                        USER_VERSION_TAG: "true",
                    },
                )
        if pin is not None and result.status.sound:
            yield events.passed(pin, result.status, artifact, self._version)
        elif pin is not None:
            yield events.unpublished(pin, self.workspace, result, self._version, "")

    def _checked_alone(self) -> Iterator[Told]:
        """The checks whose models are not part of the run: the verdict that what is live was published with; of a
        stale model a warning, for its candidate is not known before it is materialized."""
        alone = self.selection.pins.keys() - self.selection.models.keys()
        for planned in self.workspace.plan(alone, with_upstream=False).models if alone else ():
            key = self.selection.pins[planned.name]
            try:
                artifact = live_artifact(self.workspace.store, planned.name, None, self._version)
            except StrataError as error:
                yield from self._unfound(planned.name, error.diagnostics)
                continue
            if planned.stale:
                yield events.unpinned(key, planned, self._version)
            else:
                yield events.passed(key, Status.FRESH, artifact, self._version)

    def _unfound(self, name: str, diagnostics: Iterable[Diagnostic]) -> Iterator[Told]:
        self._unreadable += diagnostics
        if name in self.selection.pins:
            yield events.unknown(self.selection.pins[name], tuple(diagnostics))


OUTCOMES = {
    Status.VIOLATED: "contract violated",
    Status.FAILED: "not computed",
    Status.SKIPPED: "left as it was, for what it reads was not applied",
}
