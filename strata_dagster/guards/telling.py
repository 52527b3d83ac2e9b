"""What is told of a guarded op when it is through: each asset that is live, and the result of each selected check."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    DataVersion,
    MaterializeResult,
)
from dagster._core.definitions.utils import NoValueSentinel

from strata_core.contract_engine.observations import SeenTest
from strata_core.contract_engine.pin.guard import Guard, Promise
from strata_core.contract_engine.pin.judging import Verdict
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.planning.guarded.partitions import partitions_in
from strata_core.planning.live.health import examine
from strata_core.planning.partitions.composition import Piece
from strata_core.planning.provenance import sound_live
from strata_core.store.environments import EnvironmentVersion

from ..checks import LAST_KNOWN_GOOD, WRITE_PIN
from ..contracts.contract_check import contract_ages, contract_tests
from ..contracts.results import aged, answered, blocks, result_of, unasked
from ..examination import examined
from ..findings import findings
from ..names import DATA_VERSION_TAG, PARTITION_ROW_COUNT, USER_VERSION_TAG
from ..partitions import provenance_tags, waited_for
from . import verdicts
from .frames import Frame
from .handing import handed, values_of
from .made import Looking
from .op import GuardedOp, check_key


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What became of the rows: those of the assets `live` are live in `version`, those of `refused` broke their
    contract, which some partitions of an asset may and others not. `because` says why sound rows are not live, and
    `failing` whether that fails their check."""

    version: EnvironmentVersion
    live: frozenset[AssetKey]
    refused: frozenset[AssetKey]
    because: str
    failing: bool


@dataclass(slots=True)
class GuardTelling:
    """The events of a run of `op` that has come to a `conclusion`; `frames` are the values of assets that are tables,
    `said` the events that the op logged of assets, `broken` results that fail the run by themselves."""

    op: GuardedOp
    guard: Guard
    promises: Mapping[AssetKey, Promise]
    unpromised: Mapping[AssetKey, tuple[Diagnostic, ...]]
    conclusion: Conclusion
    frames: Mapping[AssetKey, Frame | Mapping[str, Frame]] = field(default_factory=dict)
    said: Mapping[AssetKey, Sequence[AssetMaterialization]] = field(default_factory=dict)
    broken: list[AssetCheckResult] = field(default_factory=list)
    _told: set[AssetCheckKey] = field(default_factory=set)

    def held(self, held: Mapping[AssetKey, Any], judged: Mapping[AssetKey, Verdict]) -> Iterator[Any]:
        """What the op made of guarded assets and of what is made of them: materialized, or why not."""
        for key, event in held.items():
            if key in judged:
                yield from self._of_guarded(key, event, judged[key])
            elif key not in self.unpromised:
                yield from self._made_of_guarded(key, event)

    def rest(self, held: Mapping[AssetKey, Any], *, failed: bool) -> Iterator[AssetCheckResult]:
        """Every selected check that has no result yet; `failed` says that the op raised."""
        yield from self._of_unmade(held, failed)
        yield from self._of_unselected()
        yield from self._of_live()

    def _of_guarded(self, key: AssetKey, event: Any, verdict: Verdict) -> Iterator[Any]:
        tests = self._tests(key, verdict.tests)
        if verdict.partitions:
            yield from self._of_several(key, event, verdict)
            yield from self._noted([self._pin_of_several(key, verdict), *tests])
            return
        if key in self.conclusion.live:
            own = self._noted([verdicts.accepted(key, verdict, self.conclusion.version), *tests])
            metadata = verdicts.live_metadata(self.guard, verdict, self.conclusion.version)
            if (changed := self._promoted(key, verdict)) is not None:
                yield from self._of_partitions(key, changed, metadata)
                yield from own
                return
            said = {name: value for one in self.said.get(key, ()) for name, value in one.metadata.items()}
            yield _materialized(key, event, {**said, **(event.metadata or {}), **metadata}, verdict, own)
        else:
            yield from self._noted([self._pin_of_unpublished(key, verdict), *tests])

    def _of_several(self, key: AssetKey, event: Any, verdict: Verdict) -> Iterator[Any]:
        """The partitions that are live, each with its own version. Where all are, an op that waits for the asset, and
        the IO manager, have the output first, for which Dagster knows one version alone."""
        kept = verdict.kept
        if key not in self.conclusion.live or kept is None:
            return
        metadata = verdicts.live_metadata(self.guard, verdict, self.conclusion.version)
        if len(kept.parts) < len(verdict.partitions):
            yield from self._handed(key, [part.key for part in kept.parts])
        elif value_of(event) is not None or waited_for(self.op.context, key) or self._required(key):
            yield _materialized(key, event, {**(event.metadata or {}), **metadata}, verdict, [])
        said = {name: one for made in self.said.get(key, ()) for name, one in made.metadata.items()}
        added = self.op.context.op_execution_context.get_output_metadata(self.op.output_of(key)) or {}
        more = {**said, **added, **(event.metadata or {}), **metadata}
        yield from self._of_partitions(key, {part.key: part.piece for part in kept.parts}, more)

    def _handed(self, key: AssetKey, partitions: Sequence[str]) -> Iterator[AssetMaterialization]:
        if key in self.frames:
            looking = Looking(self.op, self.guard, key, self.promises[key])
            yield from handed(self.op, key, values_of(looking, self.frames[key], partitions))

    def _pin_of_several(self, key: AssetKey, verdict: Verdict) -> AssetCheckResult:
        live = key in self.conclusion.live
        because, failing = self.conclusion.because, self.conclusion.failing
        if above := self.op.above[key] & self.conclusion.refused:
            because, failing = _refusal(above), True
        version = self.conclusion.version if live else None
        return verdicts.of_partitions(key, self.guard, verdict, version, because, failing=failing)

    def _required(self, key: AssetKey) -> bool:
        return bool(self.op.context.op_def.output_dict[self.op.output_of(key)].is_required)

    def _promoted(self, key: AssetKey, verdict: Verdict) -> Mapping[str, Piece] | None:
        """The partitions of a table that was promoted which are other than before; None where what is live is one
        thing for Dagster."""
        kept, store = verdict.kept, self.guard.store
        if kept is None or kept.parts or self.op.guarded[key].partitions_def is None or self._required(key):
            return None
        parts = partitions_in(kept.artifact)
        if parts is None:
            return None
        before = sound_live(store, verdict.promise.name, verdict.live)
        then = (partitions_in(before) if before is not None else None) or {}
        return {k: part for k, part in parts.items() if k not in then or then[k].address != part.address}

    def _of_partitions(
        self, key: AssetKey, changed: Mapping[str, Piece], metadata: Mapping[str, Any]
    ) -> Iterator[AssetMaterialization]:
        for partition, part in changed.items():
            yield AssetMaterialization(
                key,
                partition=partition,
                metadata={**metadata, PARTITION_ROW_COUNT: part.rows},
                tags={
                    **dict(provenance_tags(self.op.context, key, partition)),
                    DATA_VERSION_TAG: part.digest,
                    USER_VERSION_TAG: "true",
                },
            )

    def _pin_of_unpublished(self, key: AssetKey, verdict: Verdict) -> AssetCheckResult:
        if not verdict.sound:
            return verdicts.refused(key, self.guard, verdict)
        if above := self.op.above[key] & self.conclusion.refused:
            return verdicts.held_back(key, self.guard, verdict, _refusal(above), failing=True)
        return verdicts.held_back(key, self.guard, verdict, self.conclusion.because, failing=self.conclusion.failing)

    def _made_of_guarded(self, key: AssetKey, event: Any) -> Iterator[Any]:
        """What is not guarded itself is materialized where everything guarded that it is made of is live."""
        if waits := (self.op.above[key] & self.op.selected) - (self.conclusion.live - self.conclusion.refused):
            names = ", ".join(k.to_user_string() for k in sorted(waits))
            self.op.context.log.error(f"{key.to_user_string()} is not materialized: {names} was not")
        else:
            said = self.said.get(key, ())
            yield from said if event in said else (*said, event)

    def _of_unmade(self, held: Mapping[AssetKey, Any], failed: bool) -> Iterator[AssetCheckResult]:
        for key in sorted(self.op.guarded.keys() & self.op.selected):
            found = self.unpromised.get(key, ())
            if key in held and not found:
                continue
            name = self.promises[key].name if key in self.promises else key.to_python_identifier()
            why = "its contract cannot be used" if found else "it was not made"
            skipped = not found and not failed and key in self.op.skippable
            yield from self._noted([verdicts.unmade(key, self.guard, name, why, found, skipped=skipped)])
            if found:
                self.op.context.log.error(findings(found, self.guard.project))

    def _of_unselected(self) -> Iterator[AssetCheckResult]:
        """Checks whose asset is not part of the run: asked of the rows that are there now."""
        pins = [k for k in self.promises if AssetCheckKey(k, WRITE_PIN) in {s.key for s in self._untold()}]
        yield from self._breaking(self._looked_at(key, self.promises[key]) for key in pins)
        tests = [spec for spec, _ in contract_tests(self._untold())]
        yield from self._breaking(answered(tests, self.guard.project.root, self.guard.environment))

    def _breaking(self, results: Iterable[AssetCheckResult]) -> Iterator[AssetCheckResult]:
        for result in self._noted(results):
            self.broken += [result] if blocks(result) else []
            yield result

    def _looked_at(self, key: AssetKey, promise: Promise) -> AssetCheckResult:
        guard = self.guard
        try:
            verdict = Looking(self.op, guard, key, promise, keeping=False).judged(None)
        except StrataError as error:
            if any(d.code != "E036" for d in error.diagnostics):
                faults = Verdict(promise, "nowhere", guard.base.models.get(promise.name), faults=error.diagnostics)
                return verdicts.refused(key, guard, faults)
            return self._health(key, promise)
        logged(self.op.context, guard, verdict)
        return verdicts.looked_at(key, guard, verdict)

    def _health(self, key: AssetKey, promise: Promise) -> AssetCheckResult:
        """Of rows that were a value and are gone, what is live has the last word."""
        guard = self.guard
        health = examine(guard.project, guard.environment, promise.name, guard.now, engine=guard.engine)
        live = guard.base.models.get(promise.name)
        if health.faults:
            return verdicts.refused(key, guard, Verdict(promise, "the store", live, faults=health.faults))
        return verdicts.accepted(key, Verdict(promise, "the store", live, health.report), guard.base)

    def _of_live(self) -> Iterator[AssetCheckResult]:
        untold = self._untold()
        keys = {spec.key for spec in untold}
        healths = {p.name: k for k, p in self.promises.items() if AssetCheckKey(k, LAST_KNOWN_GOOD) in keys}
        again = not self.op.selected
        yield from self._noted(examined(self.guard.project, self.guard.environment, healths, again=again))
        ages = contract_ages(untold)
        yield from self._noted(aged(spec, self.guard.checked, self.guard.environment) for spec in ages)
        for spec in self._untold():  # those of contracts that cannot be used
            yield unasked(spec, self.unpromised.get(spec.asset_key, ()))

    def _tests(self, key: AssetKey, tests: tuple[SeenTest, ...]) -> Iterator[AssetCheckResult]:
        found = {t.test: t for t in tests}
        for spec, asked in contract_tests(spec for spec in self.op.checks if spec.asset_key == key):
            yield result_of(spec, found.get(asked.test or ""))

    def _untold(self) -> list[AssetCheckSpec]:
        return [s for s in self.op.checks if s.key not in self._told]

    def _noted(self, results: Iterable[AssetCheckResult]) -> list[AssetCheckResult]:
        """Those of `results` that the run selects; each check is told once."""
        asked = [r for r in results if self.op.asked(r)]
        self._told |= {check_key(r) for r in asked}
        return asked


def unusable(op: GuardedOp, diagnostics: tuple[Diagnostic, ...]) -> Iterator[AssetCheckResult]:
    """Every selected check of an op whose project or store cannot be used."""
    for spec in op.checks:
        if spec.name == WRITE_PIN:
            why = "the project or its store cannot be used"
            yield verdicts.unmade(spec.asset_key, None, "", why, diagnostics)
        else:
            yield unasked(spec, diagnostics)


def logged(context: AssetExecutionContext, guard: Guard, verdict: Verdict) -> None:
    """Say in the run's log what was judged, and what is wrong with it."""
    rows = f"{verdict.report.rows:,} rows" if verdict.report and verdict.report.rows is not None else "no rows"
    line = f"{verdict.promise.name}: {rows} of {verdict.place} against {verdict.promise.reference}"
    if verdict.violations:
        context.log.error(f"{line}: violated\n\n{findings(verdict.violations, guard.project)}")
    else:
        context.log.info(f"{line}: kept ({verdict.seconds:.2f} s)")
    if verdict.lints:
        context.log.warning(findings(verdict.lints, guard.project))


def value_of(event: Any) -> Any:
    """What the op handed on; None where it handed on nothing."""
    value = getattr(event, "value", None)
    return None if value is NoValueSentinel else value


def _refusal(above: Collection[AssetKey]) -> str:
    return f"because {', '.join(f'`{k.to_user_string()}`' for k in sorted(above))} was refused"


def _materialized(
    key: AssetKey, event: Any, metadata: Mapping[str, Any], verdict: Verdict, checks: list[AssetCheckResult]
) -> MaterializeResult[Any]:
    """The asset as it is live, with the digest of its rows as their version and the checks of its contract."""
    assert verdict.kept is not None, "what is live was kept"
    own = list(event.check_results) if isinstance(event, MaterializeResult) else []
    value = {} if isinstance(event, AssetMaterialization) or event.value is None else {"value": event.value}
    return MaterializeResult(
        asset_key=key,
        metadata=metadata,
        data_version=DataVersion(verdict.kept.judged.manifest.digest),
        tags=event.tags or {},
        check_results=[*own, *checks],
        **value,
    )
