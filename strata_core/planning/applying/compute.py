"""The table of one model: reuse the artifact at its address, or check its inputs, execute, stage, pin and adopt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import closing
from datetime import datetime

import pyarrow as pa

from ...analysis.compiled import CompiledModel
from ...contract.report import PinReport
from ...diagnostics import Diagnostic
from ...engines.protocol import Engine, ParquetTable, TableInput
from ...frozen import dataclass, field, replace
from ...relation.nodes import Relation
from ...store.artifacts import Artifact, Candidate
from ..artifact_relation import artifact_relation
from ..fingerprints import address
from ..plan import PlannedModel, Reason, way_of
from ..promised import ages, promised
from ..provenance import Data, KeptDeclaration, applied, kept_declaration, kept_declarations, provenance_of, taken_up
from ..watermarks import Watermark, Way
from ..workspace import Workspace
from .blocking_tests import NO_TESTS, BlockingTests
from .increments import increment_address, increment_relation, measured
from .pinning import pin_candidate, pin_source, source_outdated, unmet_expectations
from .results import ModelResult, Status


@dataclass(frozen=True, slots=True)
class Run:
    """What the models of one apply share.

    `hidden` names, per source and model, the columns whose values no report shows; `kept` what is known of the
    sources' rows from before; `checked` the reports on the sources that this apply looked at. With `each` what is sound
    is published beside what is not. `tests` are those of product contracts that may refuse a candidate.
    """

    workspace: Workspace
    engine: Engine
    now: datetime
    hidden: Mapping[str, Set[str]]
    kept: frozenset[KeptDeclaration]
    progress: Callable[[str, int], None]
    each: bool = False
    tests: BlockingTests = NO_TESTS
    checked: dict[str, PinReport] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Input:
    """One table that a model reads, and what is known of its rows; `artifact` is what is live of a model."""

    table: TableInput
    data: Data
    artifact: Artifact | None = None


def compute(run: Run, planned: PlannedModel, model: CompiledModel, inputs: Mapping[str, Input]) -> ModelResult:
    """What becomes of a model whose table is made in one piece. Raises `StrataError`."""
    data = {name: i.data for name, i in inputs.items()}
    where = address(planned.fingerprint.local, {name: one.digest for name, one in data.items()})
    forced = any(c.reason is Reason.FORCED for c in planned.causes)
    existing = None if forced else taken_up(run.workspace.store, model.name, where)
    reports, old = check_sources(run, inputs, existing)
    if old or not all(r.passed for r in reports):
        return ModelResult(model.name, Status.VIOLATED, planned, inputs=reports, diagnostics=old)
    if existing is not None:
        return reused(run, planned, model, existing, reports)
    tables = {name: i.table for name, i in inputs.items()}
    unmet = unmet_expectations(run.engine, model, tables, run.hidden)
    if unmet:
        return ModelResult(model.name, Status.VIOLATED, planned, inputs=reports, diagnostics=unmet)
    started = time.perf_counter()
    task = _task(run, planned, model, inputs, where)
    existing = taken_up(run.workspace.store, model.name, task.address) if task.previous is not None else None
    if existing is not None:
        return replace(reused(run, planned, model, existing, reports), way=task.way)
    candidate = _stage(run, model, task)
    hidden = run.hidden[model.name]
    try:
        for name in tables.keys() & run.workspace.sources.keys():
            run.workspace.sources[name].require_unchanged()
        alone = task.previous is None
        pin = pin_candidate(run.engine, model, candidate.paths, run.now, hidden, proven=alone)
        if not pin.passed:
            return ModelResult(model.name, Status.VIOLATED, planned, pin=pin, inputs=reports, way=task.way)
        seconds = time.perf_counter() - started
        note = provenance_of(
            planned,
            data,
            run.workspace.compiled,
            run.engine.name,
            pin,
            hidden,
            seconds,
            task.watermark,
            task.previous.manifest.digest if task.previous is not None else None,
        )
        artifact = run.workspace.store.adopt(candidate, task.address, note)
    finally:
        candidate.sweep()
    return ModelResult(model.name, Status.COMPUTED, planned, artifact, pin, reports, way=task.way)


@dataclass(frozen=True, slots=True)
class _Task:
    """What is computed, from which tables, and where it goes. Of an incremental model `way` tells how, `previous` is
    what rows are added to, and `watermark` how far its table has come."""

    relation: Relation
    tables: Mapping[str, TableInput]
    address: str
    way: Way | None = None
    previous: Artifact | None = None
    watermark: Watermark | None = None


def _task(run: Run, planned: PlannedModel, model: CompiledModel, inputs: Mapping[str, Input], where: str) -> _Task:
    tables = {name: i.table for name, i in inputs.items()}
    increment = model.incremental
    if increment is None:
        return _Task(artifact_relation(model), tables, where)
    live = planned.live
    before = applied(run.workspace.store, model.name, live) if live is not None else None
    digests = {name: i.data.digest for name, i in inputs.items()}
    changed = [name for name in digests if before is None or before.inputs.get(name) != digests[name]]
    way = way_of(model, planned, before, changed)
    since = before.watermark if before is not None and way is not None and way.incremental else None
    watermark, within = measured(increment, tables[increment.table], run.engine, since)
    if since is not None and within != since.rows:
        way, since = Way(False, f"`{increment.table}` has other rows up to {since.greatest} than it had"), None
    elif since is not None and since.reading != watermark.reading:
        way, since = Way(False, f"`{increment.table}` is read otherwise than it was"), None
    if since is None or live is None:
        return _Task(artifact_relation(model), tables, where, way, watermark=watermark)
    previous = run.workspace.store.artifact(model.name, live)
    columns = model.relation.schema.columns
    tables[model.name] = ParquetTable(previous.paths, columns)
    there = increment_address(planned.fingerprint.local, digests, previous.manifest.digest)
    return _Task(increment_relation(model, since), tables, there, way, previous, watermark)


def reused(
    run: Run, planned: PlannedModel, model: CompiledModel, existing: Artifact, reports: tuple[PinReport, ...]
) -> ModelResult:
    """The artifact that exists. Its rows were pinned when they were made; only of their age more has to be asked."""
    pin, contract = None, promised(model)
    if contract is not None and ages(contract):
        pin = pin_candidate(run.engine, model, existing.paths, run.now, run.hidden[model.name])
        if not pin.passed:
            return ModelResult(model.name, Status.VIOLATED, planned, pin=pin, inputs=reports)
    return ModelResult(model.name, Status.REUSED, planned, existing, pin, reports)


def check_sources(
    run: Run, inputs: Mapping[str, Input], existing: Artifact | None
) -> tuple[tuple[PinReport, ...], tuple[Diagnostic, ...]]:
    """The reports on the sources among `inputs` that this apply checked, and E085 for rows that are too old.

    A source is checked once an apply, and not at all where its rows are known to keep its declaration: from
    before, or from the artifact that would be reused. Age is asked every time, for it changes by itself.
    """
    known = run.kept | frozenset(kept_declarations(existing.manifest) if existing else ())
    sources = {n: s for n, s in run.workspace.compiled.sources.items() if n in inputs}
    for name, source in sources.items():
        asked = ages(source.contract) or kept_declaration(source, inputs[name].data.digest) not in known
        if asked and name not in run.checked:
            run.checked[name] = pin_source(run.engine, source, inputs[name].table, run.now, run.hidden[name])
    old = (source_outdated(source, run.workspace.sources[name].written, run.now) for name, source in sources.items())
    return tuple(run.checked[n] for n in sources if n in run.checked), tuple(d for d in old if d is not None)


def _stage(run: Run, model: CompiledModel, task: _Task) -> Candidate:
    with closing(run.engine.execute(task.relation, task.tables)) as reader:
        rows = counted(reader, model.name, run)
        return run.workspace.store.stage(model.name, reader.schema, rows, partition_by=model.partition)


def counted(reader: pa.RecordBatchReader, name: str, run: Run) -> Iterator[pa.RecordBatch]:
    """The rows of `reader`, whose progress is told."""
    rows = 0
    for batch in reader:
        yield batch
        rows += batch.num_rows
        run.progress(name, rows)
