"""A model with partitions of time, computed by these: reuse the pieces that exist, compute and pin the others, and make
a table of them with those that stay.

Periods in a row are computed at once, from the pieces that they read. So an apply of one day computes the rows of that
day, and one of the whole table is one query. What is made is the same either way.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from pathlib import Path

from ...analysis.compiled import CompiledModel
from ...contract.model import TableContract
from ...contract.report import PinReport
from ...diagnostics import Diagnostic, StrataError
from ...engines.protocol import Engine, ParquetTable
from ...frozen import replace
from ...periods import Period
from ...store.artifacts import Artifact, Candidate
from ..fingerprints import address
from ..partitions.composition import Piece, piece_of
from ..partitions.pieces import Pieces, Upstream, inputs_of, known_whole, piece_address, pieces_of, possible
from ..partitions.whole_table import ages, in_range, keys_of_whole, merged, of_pieces, pin_whole
from ..plan import PlannedModel, Reason
from ..promised import held_to
from ..provenance import sound_live, taken_up
from .compute import Input, Run, check_sources, reused
from .pinning import pin_candidate
from .results import ModelResult, PieceResult, Status
from .staging import Task, discard, staged_periods
from .table_of_pieces import Table, composed_table, piece_provenance, require_alike

Live = tuple[Artifact, Pieces | None]
"""What is live, with the pieces that new ones may stand beside; None where all of it is replaced, or nothing."""


def compute_pieces(run: Run, planned: PlannedModel, model: CompiledModel, inputs: Mapping[str, Input]) -> ModelResult:
    """What becomes of the periods that are planned of `model`, or of all. Raises `StrataError`."""
    started = time.perf_counter()
    columns = {name: planned.fingerprint.readings[name].columns for name in inputs}
    tables = {name: Upstream(columns[name], i.data.digest, i.artifact) for name, i in inputs.items()}
    asked = None if planned.periods is None else tuple(p.period for p in planned.periods if p.causes)
    task = Task(run, planned, model, inputs, tables, asked)
    forced = any(c.reason is Reason.FORCED for c in planned.causes)
    live = _live(task)
    where = address(task.local, {name: i.data.digest for name, i in inputs.items()})
    existing = taken_up(run.workspace.store, model.name, where) if asked is None and not forced else None
    reports, old = check_sources(run, inputs, existing)
    if old or not all(r.passed for r in reports):
        return ModelResult(model.name, Status.VIOLATED, planned, inputs=reports, diagnostics=old)
    if existing is not None:
        return reused(run, planned, model, existing, reports)
    wanted = _wanted(task)
    found = {} if forced or wanted is None else _existing(task, wanted, live)
    unmet, staged = staged_periods(task, wanted, found)
    if unmet:
        return ModelResult(model.name, Status.VIOLATED, planned, inputs=reports, diagnostics=unmet)
    return replace(_judged(task, live, found, staged, where, started), inputs=reports)


def _live(task: Task) -> Live | None:
    """What is live, with its pieces; raises E037 where pieces that were asked for cannot stand beside it."""
    name, pointer = task.model.name, task.planned.live
    artifact = sound_live(task.run.workspace.store, name, pointer)
    if artifact is None:
        if pointer is None or task.asked is None or _all_until_now(task, task.asked):
            return None
        raise _alone(task, f"what is live of `{name}` is lost or damaged", "a range of all its partitions")
    pieces = pieces_of(artifact)
    if pieces is not None and pieces.fit(task.periods):
        return artifact, pieces
    if task.asked is None or _spans(task, task.asked, artifact):
        return artifact, None
    message = f"`{name}` is live with other partitions of time, or none"
    raise _alone(task, message, "a range of partitions with all rows that are live")


def _alone(task: Task, message: str, otherwise: str) -> StrataError:
    """The refusal of pieces that would take the place of all that is live."""
    fix = f"apply all of it once (`strata apply {task.model.name}`), or {otherwise}"
    found = Diagnostic("E037", f"{message}: one of these cannot stand beside it", task.model.name_span, fix=fix)
    return StrataError(found)


def _all_until_now(task: Task, asked: tuple[Period, ...]) -> bool:
    """Whether all periods are asked for that are over: then nothing is lost that nobody knows of."""
    bounds, now = task.periods.bounds, task.run.now.replace(tzinfo=None)
    return asked[0].start <= bounds.start and asked[-1].end >= min(bounds.end, task.periods.at(now).start)


def _spans(task: Task, asked: tuple[Period, ...], artifact: Artifact) -> bool:
    """Whether all live rows, made in other pieces, lie in the time that is asked for: none is lost if these replace
    them."""
    if not artifact.manifest.rows:
        return True
    column = task.periods.column
    if not any(f.name == column and f.type in ("date32[day]", "timestamp[us]") for f in artifact.manifest.schema):
        return False
    found = artifact.manifest.statistics[column]
    ends = [datetime.fromisoformat(str(e)) for e in (found.minimum, found.maximum) if e is not None]
    return bool(ends) and all(asked[0].start <= end < asked[-1].end for end in ends)


def _wanted(task: Task) -> tuple[Period, ...] | None:
    """The periods to be made: those asked for, else those that can have rows; None where that is not known before."""
    if task.asked is not None:
        return task.asked
    known = possible(task.model, task.tables)
    return None if known is None else tuple(sorted(known))


def _existing(task: Task, wanted: Sequence[Period], live: Live | None) -> dict[Period, Artifact]:
    store, name = task.run.workspace.store, task.model.name
    stays = {} if live is None or live[1] is None else {p.address: p.artifact for p in live[1].by_key.values()}
    task.read.update(inputs_of(task.model, wanted, task.tables))
    addresses = {p: piece_address(task.local, task.periods.key(p), _read(task, p)) for p in wanted}
    there = {p: store.use(stays[at]) if at in stays else taken_up(store, name, at) for p, at in addresses.items()}
    return {period: artifact for period, artifact in there.items() if artifact is not None}


def _read(task: Task, period: Period) -> Mapping[str, str]:
    if period not in task.read:
        task.read.update(inputs_of(task.model, [period], task.tables))
    return task.read[period]


def _judged(
    task: Task,
    live: Live | None,
    found: Mapping[Period, Artifact],
    staged: Mapping[Period, Candidate],
    where: str,
    started: float,
) -> ModelResult:
    """Pin what was staged, adopt what is sound, and compose the table, if it may be published."""
    at_once = task.asked is None and not found
    try:
        joint, reports = _pinned(task, staged, at_once)
        results = {p: PieceResult(Status.REUSED, piece_of(artifact, task.local)) for p, artifact in found.items()}
        for period, candidate in staged.items():
            report = reports[period]
            if report.passed:
                artifact = _adopted(task, period, candidate, report, started)
                results[period] = PieceResult(Status.COMPUTED, piece_of(artifact, task.local), report)
            else:
                results[period] = PieceResult(Status.VIOLATED, None, report)
    finally:
        discard(staged.values())
    told = {task.periods.key(p): results[p] for p in sorted(results)}
    old, beside = live if live is not None else (None, None)
    before = {} if beside is None else beside.by_key
    if task.asked is None:  # what is no period any more goes; a piece that is refused leaves the one before it
        before = {k: piece for k, piece in before.items() if k in told and told[k].piece is None}
    pin, aged = joint, task.asked is None
    made = {key: r.piece for key, r in told.items() if r.piece is not None}
    if not joint.passed and not _stand(task, {**before, **made}):
        return ModelResult(task.model.name, Status.VIOLATED, task.planned, None, joint, pieces=told)
    if not (at_once and joint.passed):
        told, whole_table = _fitting(task, before, told, aged)
        pin = merged(joint, whole_table)
    sound = {key: r.piece for key, r in told.items() if r.piece is not None and r.status.sound}
    violated = not pin.passed or len(sound) < len(told)
    status = Status.VIOLATED if violated else Status.COMPUTED if staged else Status.REUSED
    result = ModelResult(task.model.name, status, task.planned, None, pin, pieces=told)
    # A piece that is refused leaves the one before it: of a table in other pieces, none of it could stay.
    if violated and (not (task.run.each and sound) or (old is not None and beside is None)):
        return result
    return _published(task, result, None if beside is None else old, {**before, **sound}, where, started)


def _stand(task: Task, pieces: Mapping[str, Piece]) -> bool:
    """Whether `pieces` can stand in one table."""
    try:
        require_alike(task.model.name, pieces, task.local)
    except StrataError:
        return False
    return True


def _pinned(task: Task, staged: Mapping[Period, Candidate], at_once: bool) -> tuple[PinReport, dict[Period, PinReport]]:
    """The report on all candidates together, and on each. Where all hold together, each does: only the age of the
    newest row, asked of a table that is made `at_once`, and keys, are about more than one row."""
    run, model = task.run, task.model
    whole = held_to(model)
    contract = whole if at_once else of_pieces(whole)
    also = [in_range(model, task.periods)] if task.asked is None else []
    hidden = run.hidden[model.name]

    def pinned(paths: tuple[Path, ...], contract: TableContract) -> PinReport:
        return pin_candidate(run.engine, model, paths, run.now, hidden, contract=contract, also=also)

    if not staged:
        return PinReport(contract.name, (), 0), {}
    joint = pinned(tuple(path for c in staged.values() for path in c.paths), contract)
    if joint.passed:
        return joint, {p: replace(joint, rows=c.rows) for p, c in staged.items()}
    return joint, {p: pinned(c.paths, of_pieces(whole)) for p, c in staged.items()}


def _fitting(
    task: Task, before: Mapping[str, Piece], told: Mapping[str, PieceResult], aged: bool
) -> tuple[dict[str, PieceResult], PinReport | None]:
    """What the whole table says of the pieces: those that do not fit in are refused, one by one where each is
    published by itself."""
    sound = {key: r.piece for key, r in told.items() if r.piece is not None}
    report = _whole(task, {**before, **sound}, aged)
    if report is None or report.passed:
        return dict(told), report
    fitting: dict[str, Piece] = {}
    if task.run.each and task.asked is not None:
        for key, piece in sound.items():
            trial = _whole(task, {**before, **fitting, key: piece}, aged)
            if trial is None or trial.passed:
                fitting[key] = piece
    return {
        key: r if r.piece is None or key in fitting else replace(r, status=Status.VIOLATED, pin=report)
        for key, r in told.items()
    }, report


def _whole(task: Task, pieces: Mapping[str, Piece], aged: bool) -> PinReport | None:
    run = task.run
    hidden = run.hidden[task.model.name]
    return pin_table(run.engine, task.model, task.local, pieces, run.now, hidden, aged)


def pin_table(
    engine: Engine,
    model: CompiledModel,
    local: str,
    pieces: Mapping[str, Piece],
    now: datetime,
    hidden: Set[str],
    aged: bool = False,
) -> PinReport | None:
    """The report on what only the table of all `pieces` can tell; None where nothing is asked of it.

    `local` is what the model means now. Raises `StrataError` E037 where a piece of before has other columns.
    """
    contract = held_to(model)
    column = model.periods.column if model.periods is not None else ""
    asked = [*keys_of_whole(contract, model.written.schema.keys, column), *(ages(contract, now) if aged else ())]
    if not asked:
        return None
    require_alike(model.name, pieces, local)
    paths = tuple(path for key in sorted(pieces) for path in pieces[key].artifact.paths)
    return pin_whole(engine, contract, asked, ParquetTable(paths, model.relation.schema.columns, ours=True), hidden)


def _adopted(task: Task, period: Period, candidate: Candidate, report: PinReport, started: float) -> Artifact:
    key, inputs = task.periods.key(period), _read(task, period)
    note = piece_provenance(task.local, key, inputs, task.run.engine.name, report, time.perf_counter() - started)
    return task.run.workspace.store.adopt(candidate, piece_address(task.local, key, inputs), note)


def _published(
    task: Task, result: ModelResult, live: Artifact | None, pieces: Mapping[str, Piece], where: str, started: float
) -> ModelResult:
    """The result with the table that is to be published."""
    run, model = task.run, task.model
    whole = result.status.sound and (task.asked is None or known_whole(model, task.local, pieces, task.tables))
    table = Table(
        run.workspace,
        task.planned,
        {name: i.data for name, i in task.inputs.items()},
        run.engine.name,
        run.hidden[model.name],
        result.pin or PinReport(model.name, (), None),
        time.perf_counter() - started,
    )
    artifact = composed_table(table, pieces, live, where if whole else None)
    return replace(result, artifact=artifact, whole=whole)
