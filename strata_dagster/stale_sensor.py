"""`strata_stale_sensor`: runs that materialize what `strata plan` calls stale, each candidate once.

Dagster's own conditions would try a model that fails at every tick, or not again after it was mended. So what would be
made is told apart by its candidate (`strata_core.planning.candidates`): an apply of the same candidate is not asked for
again, whatever became of the first, and one of another is.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dagster import (
    AssetKey,
    AssetSelection,
    DefaultSensorStatus,
    PartitionsDefinition,
    RunRequest,
    SensorDefinition,
    SensorEvaluationContext,
    SensorResult,
    SkipReason,
)
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG

from strata_core.digests import hexdigest

from .assets import strata_asset_specs
from .choosing import Choice
from .findings import findings
from .names import MODEL
from .partitions import with_partitions
from .project import StrataProject, require_project
from .resource import StrataResource
from .translator import DagsterStrataTranslator

if TYPE_CHECKING:
    from strata_core.contract_engine.serving.watching import Seen
    from strata_core.planning.project import Project
    from strata_core.planning.workspace import Workspace

MOST_RUNS = 20
"""Runs that one tick asks for at most; the next asks for the rest."""
DIGITS = 16
"""Digits of a candidate, and of a run's key, that a cursor keeps."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A stale model, or one of its partitions: its candidate, and what stale it waits for."""

    model: str
    partition: str | None
    candidate: str
    upstream: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.model if self.partition is None else f"{self.model}|{self.partition}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for and is stale still: its candidate, and the run that was asked for."""

    candidate: str
    run: str


Asked = Mapping[str, _Asked]
"""By the name of what is wanted."""


def strata_stale_sensor(
    *,
    project: StrataProject,
    resource: StrataResource,
    name: str = "strata_stale",
    select: Choice | None = None,
    exclude: Choice = (),
    translator: DagsterStrataTranslator | None = None,
    partitions_def: PartitionsDefinition[str] | None = None,
    minimum_interval_seconds: int = 30,
    default_status: DefaultSensorStatus = DefaultSensorStatus.STOPPED,
) -> SensorDefinition:
    """A sensor that asks for the stale models of `project` in the environment of `resource`, and for the stale
    partitions of those that have some: what `strata plan` calls stale, once for each candidate.

    A model runs together with what it reads, or after it: while something stale that it reads is not live, as after a
    violation, it waits. `select`, `exclude`, `translator` and `partitions_def` are those of `@strata_assets`.
    """
    chosen = translator or DagsterStrataTranslator()
    require_project(project)
    found = with_partitions(
        strata_asset_specs(project, chosen, select, exclude), partitions_def, project.outline.models
    )
    specs = {str(s.metadata[MODEL]): s for s in found}
    partitions = {m: s.partitions_def for m, s in specs.items() if s.partitions_def is not None}
    known = frozenset({*project.outline.models, *project.outline.broken})
    watch = _Watch(
        project, resource, {model: spec.key for model, spec in specs.items()}, partitions, known, _Contracts()
    )
    return SensorDefinition(
        name=name,
        evaluation_fn=watch.tick,
        asset_selection=AssetSelection.assets(*watch.keys.values()),
        minimum_interval_seconds=minimum_interval_seconds,
        default_status=default_status,
        description=f"Materializes what is stale of {project.name}, each candidate once.",
    )


@dataclass(frozen=True, slots=True)
class _Watch:
    """What the sensor watches over: the selected models by name, with their assets and partitions."""

    project: StrataProject
    resource: StrataResource
    keys: Mapping[str, AssetKey]
    partitions: Mapping[str, PartitionsDefinition[str]]
    known: frozenset[str]
    """All models that there were when the code location was loaded."""
    contracts: _Contracts

    def tick(self, context: SensorEvaluationContext) -> SensorResult | SkipReason:
        """Runs of what is stale and was not asked for."""
        from strata_core.diagnostics import StrataError

        try:
            workspace = self._workspace()
            base = workspace.store.environment(workspace.environment).head().id
            seen = self._state(workspace, base, context)
            before, asked = _cursor(context.cursor)
            if before == seen:
                return SkipReason("nothing has changed since what is stale was asked for")
            wanted = [*_wanted(workspace, self.keys, self.partitions, context)]
        except StrataError as error:
            return SkipReason(f"the project cannot be planned:\n{findings(error.diagnostics, None)}")
        if strange := self._strangers(workspace):
            context.log.warning(strange)
        still = {one.name: asked[one.name] for one in wanted if one.name in asked}
        together = workspace.project.config.environment(workspace.environment).publish == "together"
        requests: list[RunRequest] = []
        done: dict[str, _Asked] = {}
        for members in _runs(wanted, still, self.partitions, together):
            if len(requests) == MOST_RUNS:
                seen = ""  # there is more to be asked for
                break
            run_key = hexdigest("stale", base, *(text for one in members for text in (one.name, one.candidate)))
            requests.append(_request(run_key, members, self.keys))
            done |= {one.name: _Asked(one.candidate, run_key[:DIGITS]) for one in members}
        cursor = _text(seen, still | done)
        if not requests:
            told = "asked for before, or waiting for what they read"
            why = f"{len(wanted):,} stale, {told}" if wanted else "nothing is stale"
            return SensorResult(skip_reason=SkipReason(f"{why}; {strange}" if strange else why), cursor=cursor)
        return SensorResult(run_requests=requests, cursor=cursor)

    def _workspace(self) -> Workspace:
        from strata_core.planning.project import compile_, compile_sound, open_project
        from strata_core.planning.workspace import open_workspace

        strata = self.resource.settled()
        opened = open_project(project=strata.root)
        compiled = compile_(opened) if self.project.on_error == "check" else compile_sound(opened)
        return open_workspace(opened, strata.environment, compiled, write=False)

    def _state(self, workspace: Workspace, base: str, context: SensorEvaluationContext) -> str:
        """The digest of all that decides what is stale and can be asked for: what models mean, the data of sources,
        what is live (the version `base`), which partitions there are, what contracts say, and the assets of the code
        location. While it stays, nothing is planned."""
        from strata_core.planning.fingerprints import kept_fingerprints

        prints = kept_fingerprints(workspace.project, workspace.compiled)
        sources = ((name, workspace.sources[name].digest) for name in sorted(workspace.sources))
        store = context.instance
        there = (
            keys[-1] for d in self.partitions.values() if (keys := d.get_partition_keys(dynamic_partitions_store=store))
        )
        meant = ((name, prints[name].local, prints[name].merkle) for name in sorted(prints))
        assets = ((name, self.keys[name].to_string()) for name in sorted(self.keys))
        parts = (text for group in (*sources, *meant, *assets) for text in group)
        return hexdigest("state", base, self.contracts.digest(workspace.project), *there, *parts)

    def _strangers(self, workspace: Workspace) -> str | None:
        """What the project has and the code location does not know yet, and the other way round."""
        there = workspace.compiled.models.keys() | workspace.compiled.broken
        new, gone = sorted(there - self.known), sorted(self.known - there)
        told = [
            f"{what}: {', '.join(f'`{name}`' for name in names)}"
            for what, names in (("new", new), ("gone", gone))
            if names
        ]
        return f"reload the code location, which knows other models ({'; '.join(told)})" if told else None


class _Contracts:
    """What the contracts of a project are made of, looked at tick by tick."""

    def __init__(self) -> None:
        self._seen: Seen | None = None

    def digest(self, project: Project) -> str:
        """A digest of it; empty where the project has no contracts."""
        from strata_core.contract_engine.serving.watching import look
        from strata_core.planning.config import has_contract_folders

        if not has_contract_folders(project.root, project.config):
            return ""
        self._seen = look(project.root, self._seen, time.monotonic())
        return self._seen.digest


def _cursor(text: str | None) -> tuple[str, Asked]:
    """The state that a tick saw, and what was asked for by then: none of both in a cursor that somebody wrote in the
    UI, or another release. What is asked for again then, Dagster knows by its run key."""
    try:
        match json.loads(text or "{}"):
            case {"seen": str(seen), "asked": dict(asked)}:
                return seen, {name: _Asked(*map(str, one)) for name, one in asked.items()}
    except (ValueError, TypeError):
        pass
    return "", {}


def _text(seen: str, asked: Asked) -> str:
    """The cursor as Dagster keeps it."""
    told = {name: (one.candidate, one.run) for name, one in asked.items()}
    return json.dumps({"seen": seen, "asked": told}, sort_keys=True)


def _wanted(
    workspace: Workspace,
    keys: Mapping[str, AssetKey],
    partitions: Mapping[str, PartitionsDefinition[str]],
    context: SensorEvaluationContext,
) -> Iterator[_Wanted]:
    """What is stale, upstream first: models without partitions, and of each set of partitions those that are there."""
    from strata_core.contract_engine.pin.blocking import blocking_tests
    from strata_core.planning.applying.blocking_tests import NO_TESTS
    from strata_core.planning.candidates import candidates
    from strata_core.planning.partitions.asked_periods import Asked

    known = [name for name in workspace.compiled.models if name in keys]
    whole = workspace.plan(known, with_upstream=False)
    stale = {planned.name for planned in whole.stale}
    tests = blocking_tests(workspace.project, workspace.environment, {*known}) if stale else NO_TESTS
    for (model, _), candidate in candidates(workspace, whole, tests).items():
        if model not in partitions:
            above = tuple(u for u in workspace.compiled.models[model].upstream if u in stale)
            yield _Wanted(model, None, candidate[:DIGITS], above)
    for definition in dict.fromkeys(partitions.values()):
        models = [name for name in known if partitions.get(name) == definition]
        there = definition.get_partition_keys(dynamic_partitions_store=context.instance)
        if not models or not there:
            continue
        plan = workspace.plan(models, with_upstream=False, asked=Asked(there[0], there[-1]))
        found = candidates(workspace, plan, tests)
        others = stale - {*models}
        for (model, partition), candidate in found.items():
            above = tuple(u for u in workspace.compiled.models[model].upstream if u in others)
            yield _Wanted(model, partition, candidate[:DIGITS], above)


def _runs(
    wanted: Sequence[_Wanted],
    asked: Asked,
    partitions: Mapping[str, PartitionsDefinition[str]],
    together: bool,
) -> Iterator[list[_Wanted]]:
    """What is asked for by one run each: the models without partitions; and of a set of partitions those in a row that
    ask for the same models. What waits for something that this run does not make is left to a later tick.

    Of a run that publishes `together` one violation holds back all: once a part of it is another candidate, the rest is
    asked for again beside it.
    """
    moved = {one.name for one in wanted if one.name not in asked or asked[one.name].candidate != one.candidate}
    again = {asked[name].run for name in moved if name in asked} if together else set()
    new = [one for one in wanted if one.name in moved or asked[one.name].run in again]
    plain: dict[str, _Wanted] = {}
    for one in new:
        if one.partition is None and all(upstream in plain for upstream in one.upstream):
            plain[one.model] = one
    if plain:
        yield [*plain.values()]
    for definition in dict.fromkeys(partitions.values()):
        by_key: dict[str, list[_Wanted]] = {}
        for one in new:
            if one.partition is not None and partitions[one.model] == definition and not one.upstream:
                by_key.setdefault(one.partition, []).append(one)
        yield from _in_a_row(definition, by_key)


def _in_a_row(definition: PartitionsDefinition[str], by_key: Mapping[str, list[_Wanted]]) -> Iterator[list[_Wanted]]:
    row: list[_Wanted] = []
    models: set[str] = set()
    for key in definition.get_partition_keys():
        here = by_key.get(key, [])
        names = {one.model for one in here}
        if row and names != models:
            yield row
            row = []
        row, models = row + here, names
    if row:
        yield row


def _request(run_key: str, wanted: Sequence[_Wanted], keys: Mapping[str, AssetKey]) -> RunRequest:
    """One run: of a partition, of a range of them, or of models without any."""
    selected = [*dict.fromkeys(keys[one.model] for one in wanted)]
    named = [*dict.fromkeys(one.partition for one in wanted if one.partition is not None)]
    if len(named) < 2:
        return RunRequest(run_key, asset_selection=selected, partition_key=named[0] if named else None)
    tags = {ASSET_PARTITION_RANGE_START_TAG: named[0], ASSET_PARTITION_RANGE_END_TAG: named[-1]}
    return RunRequest(run_key, asset_selection=selected, tags=tags)
