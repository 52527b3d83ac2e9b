"""A run of a guarded op: what it makes is judged before Dagster is told of it.

What the op yields of a guarded asset is held until the op is through: rows are judged, a value as it comes and files at
the end (by then dbt has run its tests too), published in one step, and only then materialized. Rows that are
refused leave a failing check and no materialization (first row of the table in design `dagster.md`), and so does what
the same op made of them. Every selected check is told on every path, before whatever went wrong is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dagster import (
    AssetCheckKey,
    AssetCheckResult,
    AssetExecutionContext,
    AssetKey,
    AssetMaterialization,
    AssetsDefinition,
    DataVersion,
    Failure,
    MaterializeResult,
    Output,
)

from strata_core.contract_engine.guard import (
    Guard,
    Promise,
    Promotion,
    Verdict,
    judge,
    open_guard,
    promise_of,
    promote,
    rows_of,
)
from strata_core.contract_engine.observe import Outcome, SeenTest
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.protocol import ArrowTable, TableInput
from strata_core.frozen import replace
from strata_core.planning.health import examine

from . import verdicts
from .application import transient
from .assets import LAST_KNOWN_GOOD, WRITE_PIN
from .contract_checks import PRODUCT, TEST
from .contract_tests import aged, answered, blocks, result_of, told_of_tests, unasked
from .covering import DBT_UNIQUE_ID
from .examination import examined
from .frames import frame_of
from .guards import CONTRACT, LOCATION, RESOURCE
from .project import findings
from .shown import Shown

DBT_ID = "unique_id"
"""Metadata of what dagster-dbt yields: the node of the dbt project."""


@dataclass(slots=True)
class Guarding:
    """One run of the op of `original`, whose assets `required` have to be made where they are selected."""

    context: AssetExecutionContext
    original: AssetsDefinition
    required: frozenset[AssetKey]
    promises: dict[AssetKey, Promise] = field(default_factory=dict)
    unpromised: dict[AssetKey, tuple[Diagnostic, ...]] = field(default_factory=dict)
    judged: dict[AssetKey, Verdict] = field(default_factory=dict)
    held: dict[AssetKey, Any] = field(default_factory=dict)
    dbt: dict[str, SeenTest] = field(default_factory=dict)
    told: set[AssetCheckKey] = field(default_factory=set)
    broken: list[AssetCheckResult] = field(default_factory=list)

    def stream(self, inner: Callable[[AssetExecutionContext], Iterator[Any]]) -> Iterator[Any]:
        """Everything that the op yields, as far as it may be told. Raises `Failure` at the end where rows were refused,
        else what the op raised."""
        shown = Shown(self.context, self.original)
        resource = getattr(self.context.resources, RESOURCE)
        try:
            guard = open_guard(resource.root, resource.environment)
        except StrataError as error:
            self.context.log.error(findings(error.diagnostics, None))
            yield from self._unusable(error.diagnostics)
            raise Failure(f"Strata stopped: {error}", allow_retries=transient(error.diagnostics)) from None
        for key, spec in self._guarded().items():
            try:
                self.promises[key] = promise_of(guard, str(spec.metadata[CONTRACT]), key.to_python_identifier())
            except StrataError as error:
                self.unpromised[key] = error.diagnostics
        fault: Exception | None = None
        if self.context.selected_asset_keys or shown.selected_asset_check_keys:
            events = iter(inner(shown))
            while True:
                try:
                    event = next(events)
                except StopIteration:
                    break
                except Exception as error:  # whatever the op raises: it is raised again when every check is told
                    fault = error
                    break
                yield from self._seen(guard, event)
        yield from self._concluded(guard, fault)

    def _guarded(self) -> dict[AssetKey, Any]:
        return {s.key: s for s in self.context.assets_def.specs if CONTRACT in s.metadata}

    def _seen(self, guard: Guard, event: Any) -> Iterator[Any]:
        """One event of the op: what is guarded, or made of it, is held."""
        if isinstance(event, AssetCheckResult):
            self._noted(event)
        key = self._key_of(event)
        if key is None or key not in self._watched:
            yield event
            return
        value = getattr(event, "value", None)
        frame = frame_of(value) if key in self.promises else None
        self.held[key] = event if frame is None else _with_value(event, frame.value)
        if frame is not None:
            self.judged[key] = self._judged(guard, key, ArrowTable(frame.table, ()))

    def _judged(self, guard: Guard, key: AssetKey, table: TableInput | None = None) -> Verdict:
        """The verdict on rows that are a value, or else on those that lie where they are said to be."""
        promise, spec = self.promises[key], self.context.assets_def.specs_by_key[key]
        try:
            found = (table, "the value that the asset returned") if table is not None else self._rows(guard, key)
        except StrataError as error:
            live = guard.base.models.get(promise.name)
            faults = tuple(_about(d, getattr(self.held[key], "value", None)) for d in error.diagnostics)
            verdict = Verdict(promise, "nowhere", live, faults=faults)
        else:
            verdict = judge(guard, promise, *found, seen=self.dbt if DBT_UNIQUE_ID in spec.metadata else None)
        self._logged(guard, verdict)
        return verdict

    def _logged(self, guard: Guard, verdict: Verdict) -> None:
        rows = f"{verdict.report.rows:,} rows" if verdict.report and verdict.report.rows is not None else "no rows"
        line = f"{verdict.promise.name}: {rows} of {verdict.place} against {verdict.promise.reference}"
        if verdict.violations:
            self.context.log.error(f"{line}: violated\n\n{findings(verdict.violations, guard.project)}")
        else:
            self.context.log.info(f"{line}: kept ({verdict.seconds:.2f} s)")

    def _rows(self, guard: Guard, key: AssetKey) -> tuple[TableInput, str]:
        location = self.context.assets_def.specs_by_key[key].metadata.get(LOCATION)
        return rows_of(guard, self.promises[key], None if location is None else str(location))

    def _noted(self, event: AssetCheckResult) -> None:
        """What a test of dbt's gave, for the tests of contracts that name it."""
        given = event.metadata or {}
        if (unique_id := given.get(DBT_ID)) is None or event.check_name is None:
            return
        failed = given.get("dagster_dbt/failed_row_count")
        offenders = failed.value if failed is not None and isinstance(failed.value, int) else None
        status = given.get("status")
        outcome: Outcome = "passed" if event.passed else "error" if status and status.value == "error" else "failed"
        name = str(unique_id.value).split(".")[2] if str(unique_id.value).count(".") >= 2 else event.check_name
        self.dbt[name] = SeenTest(None, name, outcome, offenders=offenders)

    def _key_of(self, event: Any) -> AssetKey | None:
        """The asset that an event says was made."""
        match event:
            case Output(output_name=name):
                return self.original.node_keys_by_output_name.get(name)
            case MaterializeResult(asset_key=key) | AssetMaterialization(asset_key=key):
                return key or self._sole
            case _:
                return None

    @property
    def _sole(self) -> AssetKey | None:
        keys = list(self.original.keys)
        return keys[0] if len(keys) == 1 else None

    @property
    def _watched(self) -> frozenset[AssetKey]:
        """The guarded assets, and what the op makes of them."""
        return frozenset(k for k in self.original.keys if k in self._guarded() or self._above(k))

    def _above(self, key: AssetKey) -> frozenset[AssetKey]:
        """The guarded assets of the op that `key` is made of."""
        deps, found, stack = self.original.asset_deps, set[AssetKey](), [key]
        while stack:
            for upstream in deps.get(stack.pop(), ()):
                if upstream in deps and upstream not in found:
                    found.add(upstream)
                    stack.append(upstream)
        return frozenset(found & self._guarded().keys())

    def _concluded(self, guard: Guard, fault: Exception | None) -> Iterator[Any]:
        # Rows in files are looked at when nobody writes to them any more: dbt locks its database while it runs.
        late = [key for key in self.held if key in self.promises and key not in self.judged]
        self.judged |= {key: self._judged(guard, key) for key in late}
        wanted = self._guarded().keys() & self.context.selected_asset_keys
        unsound = {k for k, verdict in self.judged.items() if not verdict.sound}
        refused = frozenset(wanted & (self.unpromised.keys() | unsound))
        missing = frozenset(k for k in self.required & self.context.selected_asset_keys if k not in self.held)
        missing = missing if fault is None else frozenset()
        sound = {k: v for k, v in self.judged.items() if v.sound and not self._above(k) & refused}
        broken = refused or (fault is not None and len(self.judged) < len(wanted)) or missing
        together = guard.project.config.environment(guard.environment).publish == "together"
        because = "because its environment publishes all tables of a run together and not all were sound"
        stopped: StrataError | None = None
        done = Promotion(guard.base, frozenset())
        if sound and not (together and broken):
            try:
                run = self.context.run.run_id
                tags = {"dagster/run_id": run}
                done = promote(guard, sound.values(), message=f"Dagster run {run}", tags=tags)
            except StrataError as error:
                stopped = error
                because = f"because it could not be published ({', '.join(d.code for d in error.diagnostics)})"
                self.context.log.error(findings(error.diagnostics, guard.project))
        live = frozenset(k for k, v in sound.items() if v.promise.name in done.promoted)
        if live:
            self.context.log.info(f"{guard.environment}: version {done.version.number} is live")
        yield from self._told_of_held(guard, done, live, refused, because, failing=stopped is not None)
        yield from self._told_of_unmade(guard, wanted)
        yield from self._told_alone(guard)
        yield from self._told_of_live(guard)
        self._raise(guard, fault, stopped, refused, missing, live)

    def _told_of_held(
        self,
        guard: Guard,
        done: Promotion,
        live: frozenset[AssetKey],
        refused: frozenset[AssetKey],
        because: str,
        *,
        failing: bool,
    ) -> Iterator[Any]:
        for key, event in self.held.items():
            verdict = self.judged.get(key)
            if verdict is None:
                if key not in self.unpromised and self._above(key) & self.context.selected_asset_keys <= live:
                    yield event
                elif key not in self.unpromised:
                    names = ", ".join(
                        k.to_user_string() for k in sorted((self._above(key) & self.context.selected_asset_keys) - live)
                    )
                    self.context.log.error(f"{key.to_user_string()} is not materialized: {names} was not")
                continue
            tests = [t for t in self._tests(key, verdict.tests) if self._asked(t)]
            if key in live:
                pin = verdicts.accepted(key, verdict, done.version)
                own = [c for c in (pin, *tests) if self._asked(c)]
                yield _materialized(key, event, verdicts.live_metadata(guard, verdict, done.version), verdict, own)
                self._tell(own)
                continue
            above = self._above(key) & refused
            if not verdict.sound:
                pin = verdicts.refused(key, guard, verdict)
            elif above:
                names = ", ".join(f"`{k.to_user_string()}`" for k in sorted(above))
                pin = verdicts.held_back(key, guard, verdict, f"because {names} was refused", failing=True)
            else:
                pin = verdicts.held_back(key, guard, verdict, because, failing=failing)
            for check in (pin, *tests):
                if self._asked(check):
                    self._tell([check])
                    yield check

    def _told_of_unmade(self, guard: Guard, wanted: Any) -> Iterator[AssetCheckResult]:
        for key in sorted(wanted):
            if key in self.held and key not in self.unpromised:
                continue
            found = self.unpromised.get(key, ())
            name = self.promises[key].name if key in self.promises else key.to_python_identifier()
            why = "its contract cannot be used" if found else "it was not made"
            pin = verdicts.unmade(key, guard, name, why, found)
            if self._asked(pin):
                self._tell([pin])
                yield pin
            if found:
                self.context.log.error(findings(found, guard.project))

    def _told_alone(self, guard: Guard) -> Iterator[AssetCheckResult]:
        """Checks whose asset is not part of the run: asked of the rows that are there now."""
        for key, promise in self.promises.items():
            pin = AssetCheckKey(key, WRITE_PIN)
            if pin in self.context.selected_asset_check_keys and pin not in self.told:
                check = self._looked_at(guard, key, promise)
                self._tell([check])
                self.broken += [check] if blocks(check) else []
                yield check
        alone = [s for s in self._untold() if TEST in (s.metadata or {})]
        for result in answered(alone, guard.project.root, guard.environment):
            self._tell([result])
            self.broken += [result] if blocks(result) else []
            yield result

    def _looked_at(self, guard: Guard, key: AssetKey, promise: Promise) -> AssetCheckResult:
        try:
            verdict = judge(guard, promise, *self._rows(guard, key), keeping=False)
        except StrataError as error:
            if any(d.code != "E036" for d in error.diagnostics):
                faults = Verdict(promise, "nowhere", guard.base.models.get(promise.name), faults=error.diagnostics)
                return verdicts.refused(key, guard, faults)
            return self._health(guard, key, promise)
        self._logged(guard, verdict)
        return verdicts.looked_at(key, guard, verdict)

    def _health(self, guard: Guard, key: AssetKey, promise: Promise) -> AssetCheckResult:
        """Of rows that were a value and are gone, what is live has the last word."""
        health = examine(guard.project, guard.environment, promise.name, guard.now, engine=guard.engine)
        live = guard.base.models.get(promise.name)
        if health.faults:
            return verdicts.refused(key, guard, Verdict(promise, "the store", live, faults=health.faults))
        return verdicts.accepted(key, Verdict(promise, "the store", live, health.report), guard.base)

    def _told_of_live(self, guard: Guard) -> Iterator[AssetCheckResult]:
        again = not self.context.selected_asset_keys
        selected = self.context.selected_asset_check_keys
        healths = {p.name: k for k, p in self.promises.items() if AssetCheckKey(k, LAST_KNOWN_GOOD) in selected}
        found = [*examined(guard.project, guard.environment, healths, again=again)]
        ages = [s for s in self._untold() if PRODUCT in (s.metadata or {}) and TEST not in (s.metadata or {})]
        found += [aged(spec, guard.checked.setting, guard.environment) for spec in ages]
        self._tell(found)
        yield from found
        for spec in self._untold():  # those of contracts that cannot be used
            yield unasked(spec, self.unpromised.get(spec.asset_key, ()))

    def _unusable(self, diagnostics: tuple[Diagnostic, ...]) -> Iterator[AssetCheckResult]:
        for spec in self._untold():
            if spec.name == WRITE_PIN:
                why = "the project or its store cannot be used"
                yield verdicts.unmade(spec.asset_key, None, "", why, diagnostics)
            else:
                yield unasked(spec, diagnostics)

    def _untold(self) -> list[Any]:
        """The selected checks of the guard that have no result yet."""
        own = set(self.context.selected_asset_check_keys) - self.told - set(self.original.check_keys)
        return [s for s in self.context.assets_def.check_specs if s.key in own]

    def _tests(self, key: AssetKey, tests: tuple[SeenTest, ...]) -> Iterator[AssetCheckResult]:
        found = {t.test: t for t in tests}
        for spec in self.context.assets_def.check_specs:
            if spec.asset_key == key and TEST in (spec.metadata or {}):
                yield result_of(spec, found.get(str((spec.metadata or {})[TEST])))

    def _asked(self, check: AssetCheckResult) -> bool:
        return AssetCheckKey(check.asset_key, check.check_name) in self.context.selected_asset_check_keys  # type: ignore[arg-type]

    def _tell(self, checks: list[AssetCheckResult]) -> None:
        self.told |= {AssetCheckKey(c.asset_key, c.check_name) for c in checks}  # type: ignore[arg-type]

    def _raise(
        self,
        guard: Guard,
        fault: Exception | None,
        stopped: StrataError | None,
        refused: frozenset[AssetKey],
        missing: frozenset[AssetKey],
        live: frozenset[AssetKey],
    ) -> None:
        if fault is not None:
            raise fault
        faults = [d for k in sorted(refused) for d in self._faults(k)]
        faults += stopped.diagnostics if stopped is not None else ()
        lines = []
        if refused:
            lines.append(f"contract violated: {', '.join(k.to_user_string() for k in sorted(refused))}")
        if missing:
            lines.append(f"not made: {', '.join(k.to_user_string() for k in sorted(missing))}")
        if self.broken and not lines and stopped is None:  # Dagster itself would try again
            raise Failure(told_of_tests(self.broken), allow_retries=False)
        if not lines and stopped is None:
            return
        version = f"version {guard.base.number} of {guard.environment} stays live"
        if not live:
            lines.append(f"nothing was published: {version if guard.base.number else 'nothing is live yet'}")
        lines += [f"  {d.code} {d.message}" + (f" ({d.fix})" if d.fix else "") for d in dict.fromkeys(faults)]
        raise Failure("\n".join(lines), allow_retries=bool(faults) and transient(faults))

    def _faults(self, key: AssetKey) -> tuple[Diagnostic, ...]:
        return self.unpromised.get(key) or self.judged[key].violations


def _about(diagnostic: Diagnostic, value: object) -> Diagnostic:
    """E036 of an asset that returned something which is no table."""
    if diagnostic.code != "E036" or value is None:
        return diagnostic
    fix = "return a table of pyarrow, polars or pandas, or say where the asset writes its rows"
    return replace(diagnostic, message=f"{diagnostic.message}, and a {type(value).__name__} is no table", fix=fix)


def _with_value(event: Any, value: object) -> Any:
    if isinstance(event, Output):
        return Output(value, event.output_name, event.metadata, event.data_version, tags=event.tags)
    if isinstance(event, MaterializeResult):
        return event._replace(value=value)
    return event


def _materialized(
    key: AssetKey, event: Any, metadata: Mapping[str, Any], verdict: Verdict, checks: list[AssetCheckResult]
) -> MaterializeResult[Any]:
    """What the op said of the asset, with the digest of its rows as their version and the checks of its contract."""
    assert verdict.kept is not None, "what is live was kept"
    own = list(event.check_results) if isinstance(event, MaterializeResult) else []
    value = {} if isinstance(event, AssetMaterialization) or event.value is None else {"value": event.value}
    return MaterializeResult(
        asset_key=key,
        metadata={**(event.metadata or {}), **metadata},
        data_version=DataVersion(verdict.kept.artifact.manifest.digest),
        tags=event.tags or {},
        check_results=[*own, *checks],
        **value,
    )
