"""Candidates for the partitions of time of one model: computed in as few stretches as can be, cut where one ends."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter

import pyarrow as pa

from ...analysis.compiled import CompiledModel
from ...diagnostics import Diagnostic
from ...engines.protocol import ParquetTable, TableInput
from ...frozen import dataclass, field, replace
from ...periods import Period, Periods
from ...relation.nodes import Relation
from ...store.artifacts import Artifact, Candidate
from ..artifact_relation import artifact_relation
from ..partitions.pieces import Upstream, read_in, within
from ..plan import PlannedModel
from .compute import Input, Run, counted
from .pinning import unmet_expectations


@dataclass(frozen=True, slots=True)
class Task:
    """What the periods of one model are computed from. `asked` are those that were asked for; None for all.
    `read` keeps the digests of what a period reads."""

    run: Run
    planned: PlannedModel
    model: CompiledModel
    inputs: Mapping[str, Input]
    tables: Mapping[str, Upstream]
    asked: tuple[Period, ...] | None
    read: dict[Period, Mapping[str, str]] = field(default_factory=dict)

    @property
    def periods(self) -> Periods:
        """Those of the model."""
        assert self.model.periods is not None
        return self.model.periods

    @property
    def local(self) -> str:
        """The model's local fingerprint."""
        return self.planned.fingerprint.local


def staged_periods(
    task: Task, wanted: tuple[Period, ...] | None, found: Mapping[Period, Artifact]
) -> tuple[tuple[Diagnostic, ...], dict[Period, Candidate]]:
    """The candidates of the periods that have no artifact; or what the joins expect, and the data does not keep."""
    staged: dict[Period, Candidate] = {}
    try:
        for stretch in _stretches(task, wanted, found):
            relation, tables = _reading(task, stretch)
            if unmet := unmet_expectations(task.run.engine, task.model, tables, task.run.hidden):
                discard(staged.values())
                return unmet, {}
            with closing(task.run.engine.execute(relation, tables)) as reader:
                for period, rows in _cut(counted(reader, task.model.name, task.run), task.periods):
                    staged[period] = _stage(task, reader.schema, rows)
                for period in _empty(task, stretch, staged, found):
                    staged[period] = _stage(task, reader.schema, ())
        for name in task.inputs.keys() & task.run.workspace.sources.keys():
            task.run.workspace.sources[name].require_unchanged()
    except BaseException:
        discard(staged.values())
        raise
    return (), staged


def _stretches(
    task: Task, wanted: tuple[Period, ...] | None, found: Mapping[Period, Artifact]
) -> list[Period] | list[None]:
    """What is computed at once each: all, where nothing is there of it; else what is missing, in a row."""
    if wanted is None or (task.asked is None and not found):
        return [None]
    return _in_a_row([period for period in wanted if period not in found])


def _empty(
    task: Task, stretch: Period | None, staged: Mapping[Period, Candidate], found: Mapping[Period, Artifact]
) -> list[Period]:
    """The periods that were computed and have no rows: those asked for, or the first where the table has none."""
    if task.asked is None:
        return [] if staged or found else [task.periods.at(task.periods.bounds.start)]
    here = (p for p in task.asked if stretch is None or stretch.overlaps(p))
    return [p for p in here if p not in staged and p not in found]


def _cut(batches: Iterator[pa.RecordBatch], periods: Periods) -> Iterator[tuple[Period, Iterator[pa.RecordBatch]]]:
    """The rows of each period, which come in order of time; they are to be read before the next is asked for."""
    cut = ((period, piece) for batch in batches for period, piece in _runs(batch, periods))
    for period, group in groupby(cut, key=itemgetter(0)):
        yield period, (piece for _, piece in group)


def _runs(batch: pa.RecordBatch, periods: Periods) -> Iterator[tuple[Period, pa.RecordBatch]]:
    column, start = batch.column(periods.column), 0
    while start < batch.num_rows:
        period = periods.at(column[start].as_py())
        last = periods.value(period.end)
        end = bisect_left(range(batch.num_rows), last, lo=start, key=lambda i: column[i].as_py())
        end = max(end, start + 1)  # the last day of all is not before the end of time
        yield period, batch.slice(start, end - start)
        start = end


def _stage(task: Task, schema: pa.Schema, rows: Iterable[pa.RecordBatch]) -> Candidate:
    return task.run.workspace.store.stage(task.model.name, schema, rows, partition_by=task.model.partition)


def discard(candidates: Iterable[Candidate]) -> None:
    """Remove what is left of candidates."""
    for candidate in candidates:
        candidate.sweep()


def _in_a_row(periods: Sequence[Period]) -> list[Period]:
    """The stretches that `periods` in order make where one follows the other."""
    found: list[Period] = []
    for period in periods:
        if found and found[-1].end == period.start:
            found[-1] = Period(found[-1].start, period.end)
        else:
            found.append(period)
    return found


def _reading(task: Task, stretch: Period | None) -> tuple[Relation, dict[str, TableInput]]:
    """What is computed of a stretch, all without one, and the tables that it reads: only the pieces that matter."""
    tables = {name: i.table for name, i in task.inputs.items()}
    if stretch is None:
        return artifact_relation(task.model), tables
    rows = within(task.model, stretch)
    for name, pieces in read_in(rows.bounded, stretch, task.tables).items():
        table = tables[name]
        assert isinstance(table, ParquetTable)
        paths = [path for piece in pieces.values() for path in piece.artifact.paths]
        tables[name] = replace(table, paths=tuple(paths) or table.paths[:1])  # one file bears the schema
    return artifact_relation(task.model, rows.relation), tables
