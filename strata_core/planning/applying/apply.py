"""Apply: compute what is stale, pin it, publish it in one step (design `architecture.md`, "The flow").

Per model: look for an artifact at its content address; check the inputs that nobody checked yet; else execute,
stage, pin, adopt (`compute.py`; a model with partitions of time by these: `piecewise.py`); ask the blocking tests of
product contracts of it (`blocking_tests.py`). Then commit the environment.
A candidate that violates its contract is discarded, what reads it is left as it was, and the last-known-good stays live
(Seed 0 §5 C). Adopted artifacts are kept even when the apply publishes nothing, so that the next one need not compute
them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from ...diagnostics import StrataError
from ...engines.protocol import Engine, ParquetTable
from ...store.artifacts import Artifact
from ...store.environments import EnvironmentVersion
from ...store.store import Store
from ..environments import not_published
from ..hidden import hidden_columns
from ..outlived import unkept
from ..plan import Plan, PlannedModel
from ..provenance import Data, KeptDeclaration, data_of, kept_declarations, sound_live
from ..workspace import Workspace
from .attempt import attempt
from .blocking_tests import NO_TESTS, BlockingTests, judged
from .compute import Input, Run
from .rebasing import publish_rebased
from .results import Event, Finished, ModelResult, Outcome, Published, Started, Status

Progress = Callable[[str, int], None]


def apply_plan(
    workspace: Workspace,
    plan: Plan,
    engine: Engine,
    *,
    publish: str = "together",
    message: str = "",
    tags: Mapping[str, str] | None = None,
    progress: Progress = lambda _model, _rows: None,
    tests: BlockingTests = NO_TESTS,
) -> Iterator[Event]:
    """Carry out `plan`, telling what happens; the last event is the `Outcome`.

    `publish` is "together" (all stale models in one version, or none if one is violated or fails) or "each" (a
    version per model, so that independent branches publish, and of a model with partitions of time those that are
    sound). `progress` is told the rows written so far. `tests` are the blocking tests of product contracts that may
    refuse what is stale, which are part of the pin.
    Raises `StrataError` with the plan's conflicts, E093 where another apply published something else first, E092 where
    the store refuses.
    """
    if plan.conflicts:
        raise StrataError(*plan.conflicts)
    environment = workspace.store.environment(plan.environment)
    kept, hidden = _kept(workspace, plan), hidden_columns(workspace.compiled)
    waiting = {p.name for p in plan.stale}
    each = publish == "each"
    run = Run(workspace, engine, datetime.now(UTC), hidden, kept, progress, each, tests)
    results: dict[str, ModelResult] = {}
    candidates: dict[str, Artifact] = {}
    version, published = plan.base, frozenset[str]()

    def commit(changed: tuple[ModelResult, ...], removed: tuple[str, ...] = ()) -> EnvironmentVersion:
        return publish_rebased(run, environment, version, changed, removed, message=message, tags=tags or {})

    position = 0
    for planned in plan.models:
        if not planned.stale:
            results[planned.name] = ModelResult(planned.name, Status.FRESH, planned)
            continue
        position += 1
        yield Started(planned.name, position, len(plan.stale), planned.causes)
        result = _candidate(run, planned, results, plan.base)
        waiting.discard(planned.name)
        result = judged(tests, result, candidates, version, frozenset() if each else waiting, waiting)
        if result.artifact is not None and not each:
            candidates[planned.name] = result.artifact
        results[planned.name] = result
        yield Finished(result)
        if each and result.publishable:
            version = commit((result,))
            published |= {planned.name}
            yield Published(version, (planned.name,))
    stale = tuple(results[p.name] for p in plan.stale)
    if all(r.status.sound for r in stale) and (plan.removed or (stale and not each)):
        left = () if each else stale
        version = commit(left, plan.removed)
        published |= {r.name for r in left}
        yield Published(version, tuple(r.name for r in left), plan.removed)
    workspace.register(version, plan)
    yield Outcome(results, version, published)


def _candidate(
    run: Run, planned: PlannedModel, results: Mapping[str, ModelResult], base: EnvironmentVersion
) -> ModelResult:
    """What becomes of a stale model, before the blocking tests are asked of it."""
    waits_for = tuple(u for u in planned.inputs if u in results and not results[u].status.sound)
    if waits_for:
        return ModelResult(planned.name, Status.SKIPPED, planned, waits_for=waits_for)
    return attempt(run, planned, partial(_input, run.workspace, planned, results, base))


def _kept(workspace: Workspace, plan: Plan) -> frozenset[KeptDeclaration]:
    """What live artifacts tell of the sources that this apply reads: rows that were checked need no check again."""
    sources = {u for p in plan.stale for u in p.inputs if u in workspace.sources}
    found: set[KeptDeclaration] = set()
    for name, model in workspace.compiled.models.items():
        pointer = plan.base.models.get(name)
        if pointer is not None and not sources.isdisjoint(model.upstream):
            artifact = sound_live(workspace.store, name, pointer)
            found.update(kept_declarations(artifact.manifest) if artifact else ())
    return frozenset(found)


def _input(
    workspace: Workspace, by: PlannedModel, results: Mapping[str, ModelResult], base: EnvironmentVersion, name: str
) -> Input:
    """What `by` reads under `name`; raises E030 to E033 of a source, E032, E094 and E095 of a model."""
    if name in workspace.compiled.sources:
        if name in workspace.missing:
            raise workspace.missing[name]
        source = workspace.sources[name]
        return Input(source.table, Data(source.digest))
    artifact = live_artifact(workspace.store, name, results.get(name), base)
    if name in by.outlived:
        known = artifact.manifest.provenance.get("known")
        if (fault := unkept(workspace.compiled.models[by.name], name, known)) is not None:
            raise StrataError(fault)
    columns = workspace.compiled.models[name].relation.schema.columns
    data = data_of(artifact, by.fingerprint.readings[name].columns)
    return Input(ParquetTable(artifact.paths, columns), data, artifact)


def live_artifact(store: Store, name: str, result: ModelResult | None, version: EnvironmentVersion) -> Artifact:
    """The artifact of a model: the one just made, else the one that `version` points at; raises E095, E094."""
    if result is not None and result.artifact is not None:
        return result.artifact
    pointer = version.models.get(name)
    if pointer is None:
        raise StrataError(not_published(name))
    return store.artifact(name, pointer)
