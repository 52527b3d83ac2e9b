"""The commit of an apply: what it made is published on what is live by then.

Two applies of one model do not both win, but two that made different partitions of it do: the one that comes later
puts its pieces into the table that the other one published, if nothing that they were computed from has changed, and
asks of the whole what only the whole can tell. No lock is needed, and no partition is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...contract.report import PinReport
from ...diagnostics import StrataError
from ...digests import hexdigest
from ...frozen import replace
from ...periods import period_of
from ...store.environments import Environment, EnvironmentVersion, Pointer
from ..fingerprints import address
from ..partitions.beside import published_beside
from ..partitions.composition import seen_anew, untouched
from ..partitions.pieces import Pieces, Upstream, inputs_of, known_whole, piece_address, pieces_of
from ..partitions.whole_table import merged
from ..provenance import Data, data_of
from .blocking_tests import judged
from .compute import Run
from .piecewise import pin_table
from .results import ModelResult
from .table_of_pieces import Table, composed_table


def publish_rebased(
    run: Run,
    environment: Environment,
    base: EnvironmentVersion,
    changed: Collection[ModelResult],
    removed: Collection[str],
    *,
    message: str,
    tags: Mapping[str, str],
) -> EnvironmentVersion:
    """Publish what `changed` and take out what is `removed`, as planned on `base`.

    Raises `StrataError` E093 where another apply has published one of the models, or what they were computed from; of
    partitions of time, where it has published the same ones; E083 where the whole table would have a key twice, E144
    where a blocking test does not hold of it.
    """

    def publish(seen: EnvironmentVersion, current: tuple[ModelResult, ...]) -> EnvironmentVersion:
        changes = {r.name: pointer_of(r) for r in current}
        reads = reads_of(current, seen)
        return environment.publish(seen, changes, {*removed}, message=message, tags=tags, reads=reads)

    def on(
        head: EnvironmentVersion, conflict: StrataError
    ) -> tuple[EnvironmentVersion, tuple[ModelResult, ...]] | None:
        rebased: dict[str, ModelResult] = {}
        for result in changed:
            if result.pieces and result.planned.periods is not None:
                done = {r.name: r for r in changed} | rebased
                rebased[result.name] = _rebased(run, result, base, head, done, conflict)
        if not rebased:
            return None
        current = tuple(rebased.get(r.name, r) for r in changed)
        return _as_seen(base, head, current, rebased), current

    return published_beside(environment, base, tuple(changed), publish, on)[0]


def pointer_of(result: ModelResult) -> Pointer:
    """What an environment says of the model from now on. A table that is not known to be whole has a fingerprint that
    no model has, so that the model stays stale."""
    artifact = result.artifact
    if artifact is None:
        raise ValueError(f"{result.name} has nothing to publish")
    merkle = result.planned.fingerprint.merkle
    fingerprint = merkle if result.whole else hexdigest("partial", merkle)
    return Pointer(artifact.address, artifact.manifest.digest, fingerprint)


def reads_of(changed: Collection[ModelResult], version: EnvironmentVersion) -> dict[str, str]:
    """The live models, unchanged by this commit, that the changed ones were computed from, or judged beside."""
    names = {u for r in changed for u in _read(r)} - {r.name for r in changed}
    return {name: version.models[name].digest for name in names if name in version.models}


def _read(result: ModelResult) -> set[str]:
    return {*result.planned.inputs, *(name for test in result.tests for name in test.reads)}


def _as_seen(
    base: EnvironmentVersion,
    head: EnvironmentVersion,
    current: Collection[ModelResult],
    rebased: Mapping[str, ModelResult],
) -> EnvironmentVersion:
    """The version that the models which were looked at again are planned on: of these and of what they alone read it
    has what `head` has."""
    others = {u for r in current if r.name not in rebased for u in _read(r)}
    again = {*rebased, *(u for r in rebased.values() for u in _read(r) if u not in others)}
    return replace(head, models=seen_anew(base, head, again))


def _rebased(
    run: Run,
    result: ModelResult,
    base: EnvironmentVersion,
    head: EnvironmentVersion,
    done: Mapping[str, ModelResult],
    conflict: StrataError,
) -> ModelResult:
    """The pieces of `result` beside those of `head`; raises `conflict` where they cannot stand there."""
    store, name = run.workspace.store, result.name
    model = run.workspace.compiled.models[name]
    periods, local = model.periods, result.planned.fingerprint.local
    assert periods is not None
    ours = {key: r.piece for key, r in result.pieces.items() if r.piece is not None and r.status.sound}
    before, live = (_pieces(run, name, version) for version in (base, head))
    if live is None or not live.fit(periods):
        raise conflict
    if not untouched(ours, {} if before is None else before.by_key, live.by_key):
        raise conflict
    tables, data = _upstream(run, result, head, done)
    for key, piece in ours.items():
        period = period_of(key, periods.every)
        if period is None or piece.address != piece_address(local, key, inputs_of(model, [period], tables)[period]):
            raise conflict
    pieces, hidden = {**live.by_key, **ours}, run.hidden[name]
    report = pin_table(run.engine, model, local, pieces, run.now, hidden)
    if report is not None and not report.passed:
        raise StrataError(*report.diagnostics())
    whole = known_whole(model, local, pieces, tables)
    where = address(local, {upstream: one.digest for upstream, one in data.items()}) if whole else None
    pin = merged(result.pin or PinReport(name, (), None), report)
    table = Table(run.workspace, result.planned, data, run.engine.name, hidden, pin, result.seconds)
    artifact = composed_table(table, pieces, store.artifact(name, head.models[name]), where)
    made = {n: r.artifact for n, r in done.items() if r.artifact is not None and n != name and not run.each}
    again = judged(run.tests, replace(result, artifact=artifact, whole=whole), made, head, frozenset(), frozenset())
    if again.artifact is None:
        raise StrataError(*again.violations)
    return again


def _pieces(run: Run, name: str, version: EnvironmentVersion) -> Pieces | None:
    pointer = version.models.get(name)
    return None if pointer is None else pieces_of(run.workspace.store.artifact(name, pointer))


def _upstream(
    run: Run, result: ModelResult, head: EnvironmentVersion, done: Mapping[str, ModelResult]
) -> tuple[dict[str, Upstream], dict[str, Data]]:
    """What `result` would be computed from on `head`."""
    tables, data = {}, {}
    for name, reading in result.planned.fingerprint.readings.items():
        if name in run.workspace.sources:
            data[name] = Data(run.workspace.sources[name].digest)
            tables[name] = Upstream(reading.columns, data[name].digest)
            continue
        made = done[name].artifact if name in done else None  # of this apply
        artifact = made or run.workspace.store.artifact(name, head.models[name])
        data[name] = data_of(artifact, reading.columns)
        tables[name] = Upstream(reading.columns, data[name].digest, artifact)
    return tables, data
