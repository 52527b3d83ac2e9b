"""Apply: compute what is stale, pin it, publish it in one step (design `architecture.md`, "The flow").

Per model: look for an artifact at its content address; else check the inputs that nobody checked yet, execute,
stage, pin, adopt. Then commit the environment. A candidate that violates its contract is discarded, what reads
it is left as it was, and the last-known-good stays live (Seed 0 §5 C). Adopted artifacts are kept even when the
apply publishes nothing, so that the next one need not compute them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import pyarrow as pa

from ..analysis.compiled import CompiledModel
from ..diagnostics import Diagnostic, StrataError
from ..engines.protocol import Engine, ParquetTable, TableInput
from ..store.artifacts import Artifact, Candidate
from ..store.environments import EnvironmentVersion, Pointer
from ..store.store import Store
from .fingerprints import address
from .physical import artifact_relation
from .pinning import Verified, pin_candidate, pin_source, unmet_expectations
from .plan import Plan, PlannedModel
from .provenance import provenance_of
from .results import Event, Finished, ModelResult, Outcome, Published, Started, Status
from .workspace import Workspace

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
) -> Generator[Event, None, None]:
    """Carry out `plan`, telling what happens; the last event is the `Outcome`.

    `publish` is "together" (all stale models in one version, or none if one is violated or fails) or "each" (a
    version per model, so that independent branches publish). `progress` is told the rows written so far.
    Raises `StrataError` E093 where another apply published something else first.
    """
    environment = workspace.store.environment(plan.environment)
    verified = Verified(workspace.store, plan.base)
    results: dict[str, ModelResult] = {}
    version, published = plan.base, frozenset[str]()

    def commit(changed: tuple[ModelResult, ...]) -> EnvironmentVersion:
        changes = {r.name: _pointer(r) for r in changed}
        reads = _reads(changed, results, version)
        return environment.publish(version, changes, message=message, tags=tags or {}, reads=reads)

    position = 0
    for planned in plan.models:
        if not planned.stale:
            results[planned.name] = ModelResult(planned.name, Status.FRESH, planned)
            continue
        position += 1
        yield Started(planned.name, position, len(plan.stale), planned.causes)
        result = _apply_model(workspace, engine, planned, results, plan.base, verified, progress)
        results[planned.name] = result
        yield Finished(result)
        if publish == "each" and result.status.sound:
            version = commit((result,))
            published |= {planned.name}
            yield Published(version, (planned.name,))
    stale = tuple(results[p.name] for p in plan.stale)
    if publish == "together" and stale and all(r.status.sound for r in stale):
        version = commit(stale)
        published = frozenset(r.name for r in stale)
        yield Published(version, tuple(r.name for r in stale))
    yield Outcome(results, version, published)


def _apply_model(
    workspace: Workspace,
    engine: Engine,
    planned: PlannedModel,
    results: Mapping[str, ModelResult],
    base: EnvironmentVersion,
    verified: Verified,
    progress: Progress,
) -> ModelResult:
    started = time.perf_counter()
    waits_for = tuple(u for u in planned.inputs if u in results and not results[u].status.sound)
    if waits_for:
        return ModelResult(planned.name, Status.SKIPPED, planned, waits_for=waits_for)
    try:
        inputs = {u: _input(workspace, u, results, base) for u in planned.inputs}
        result = _result(workspace, engine, planned, inputs, verified, progress)
    except StrataError as error:
        model = workspace.compiled.models[planned.name]
        located = tuple(_at(model, d) for d in error.diagnostics)
        result = ModelResult(planned.name, Status.FAILED, planned, diagnostics=located)
    return replace(result, seconds=time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class Input:
    """One table that a model reads, and the digest of its rows."""

    table: TableInput
    digest: str


def _result(
    workspace: Workspace,
    engine: Engine,
    planned: PlannedModel,
    inputs: Mapping[str, Input],
    verified: Verified,
    progress: Progress,
) -> ModelResult:
    model = workspace.compiled.models[planned.name]
    digests = {name: i.digest for name, i in inputs.items()}
    where = address(planned.fingerprint.local, digests)
    forced = any(c.reason == "forced" for c in planned.causes)
    existing = None if forced else workspace.store.find(planned.name, where)
    if existing is not None:
        return ModelResult(planned.name, Status.REUSED, planned, existing)
    reports = tuple(
        pin_source(engine, workspace.compiled.sources[u], inputs[u].table, inputs[u].digest, verified)
        for u in planned.inputs
        if u in workspace.sources and not verified.knows(workspace.compiled.sources[u], inputs[u].digest)
    )
    if not all(r.passed for r in reports):
        return ModelResult(planned.name, Status.VIOLATED, planned, inputs=reports)
    tables = {name: i.table for name, i in inputs.items()}
    unmet = unmet_expectations(engine, model, tables)
    if unmet:
        return ModelResult(planned.name, Status.VIOLATED, planned, inputs=reports, diagnostics=unmet)
    started = time.perf_counter()
    candidate = _stage(workspace, engine, model, tables, progress)
    try:
        report = pin_candidate(engine, model, candidate)
        if not report.passed:
            return ModelResult(planned.name, Status.VIOLATED, planned, pin=report, inputs=reports)
        note = provenance_of(planned, digests, workspace.compiled, engine.name, report, time.perf_counter() - started)
        artifact = workspace.store.adopt(candidate, where, note)
    finally:
        if candidate.directory.exists():
            candidate.discard()
    return ModelResult(planned.name, Status.COMPUTED, planned, artifact, report, reports)


def _stage(
    workspace: Workspace, engine: Engine, model: CompiledModel, tables: Mapping[str, TableInput], progress: Progress
) -> Candidate:
    with closing(engine.execute(artifact_relation(model), tables)) as reader:
        return workspace.store.stage(model.name, reader.schema, _counted(reader, model.name, progress))


def _counted(reader: pa.RecordBatchReader, name: str, progress: Progress) -> Iterator[pa.RecordBatch]:
    rows = 0
    for batch in reader:
        yield batch
        rows += batch.num_rows
        progress(name, rows)


def _input(workspace: Workspace, name: str, results: Mapping[str, ModelResult], base: EnvironmentVersion) -> Input:
    if name in workspace.compiled.sources:
        if name in workspace.missing:
            raise workspace.missing[name]
        source = workspace.sources[name]
        return Input(source.table, source.digest)
    artifact = live_artifact(workspace.store, name, results.get(name), base)
    columns = workspace.compiled.models[name].relation.schema.columns
    return Input(ParquetTable(artifact.paths, columns), artifact.manifest.digest)


def live_artifact(store: Store, name: str, result: ModelResult | None, version: EnvironmentVersion) -> Artifact:
    """The artifact of a model: the one just made, else the one that `version` points at; raises E095, E094."""
    if result is not None and result.artifact is not None:
        return result.artifact
    pointer = version.models.get(name)
    if pointer is None:
        raise StrataError(Diagnostic("E095", f"`{name}` is not published", fix=f"run `strata apply {name}` first"))
    return store.artifact(name, pointer)


def _pointer(result: ModelResult) -> Pointer:
    artifact = result.artifact
    if artifact is None:
        raise ValueError(f"{result.name} has nothing to publish")
    return Pointer(artifact.address, artifact.manifest.digest, result.planned.fingerprint.merkle)


def _reads(
    changed: tuple[ModelResult, ...], results: Mapping[str, ModelResult], version: EnvironmentVersion
) -> dict[str, str]:
    """The live models, unchanged by this commit, that the changed ones were computed from."""
    names = {u for r in changed for u in r.planned.inputs} - {r.name for r in changed}
    return {name: version.models[name].digest for name in names if name in version.models}


def _at(model: CompiledModel, diagnostic: Diagnostic) -> Diagnostic:
    """A fault of a computation is told at the model whose computation it was."""
    if diagnostic.span is not None:
        return diagnostic
    return replace(diagnostic, message=f"model `{model.name}`: {diagnostic.message}", span=model.span)
