"""An apply as OpenLineage run events: a run for the apply, and in it one for each model that is applied.

A model's run starts at its turn. It is complete once it is published, fails where its candidate is violated or cannot
be computed, and is aborted where it is skipped, held back, or where the apply stops: what was not published is never
told as complete. Datasets have their schema, column lineage, and what the write pin found; values of classified
columns are in none of it. The events are sent by the client of OpenLineage, if its environment variables say where to.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_OID, UUID, uuid4, uuid5

from ...contract.report import PinReport
from ...contract.report import Status as RuleStatus
from ...diagnostics.render import render_text
from ...frozen import dataclass
from ...lineage.graph import LineageGraph, lineage_graph
from ...lineage.openlineage import PRODUCER, column_lineage, dataset, facet, inputs, namespace, spelled
from ...lineage.tables import TableId, project_tables
from ..config import MAIN
from ..hidden import hidden_columns
from ..plan import Plan
from ..workspace import Workspace
from .results import Event, Finished, ModelResult, Outcome, Published, Started, Status

if TYPE_CHECKING:
    from ...store.artifacts import Artifact

SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
Emit = Callable[[dict[str, Any]], None]
ENABLING = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")
ENABLING_PREFIX = "OPENLINEAGE__TRANSPORT"


@dataclass(frozen=True, slots=True)
class Parent:
    """The run of another system, such as Dagster, that an apply is part of. Events want a UUID: an id that is none is
    told as one that is made of it."""

    run_id: str
    namespace: str
    job: str


def announced(
    happened: Iterator[Event],
    workspace: Workspace,
    plan: Plan,
    warn: Callable[[str], None],
    parent: Parent | None = None,
) -> Iterator[Event]:
    """`happened` as it is, each event sent too where OpenLineage is configured (`OPENLINEAGE_URL`,
    `OPENLINEAGE_CONFIG` or `OPENLINEAGE__TRANSPORT…`). `warn` is told why events cannot be sent; the apply goes on."""
    emit = _client(warn) if plan.stale and _is_configured() else None
    if emit is None:
        yield from happened
        return
    yield from told(happened, workspace, emit, parent)


def told(
    happened: Iterator[Event],
    workspace: Workspace,
    emit: Emit,
    parent: Parent | None = None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[Event]:
    """`happened` as it is; `emit` gets the run events as JSON objects, each before what it is made of is passed on."""
    name = workspace.project.config.name
    project = name if workspace.environment == MAIN else f"{name}/{workspace.environment}"
    graph = lineage_graph(project_tables(project, workspace.compiled))
    telling = _Telling(workspace, hidden_columns(workspace.compiled), project, graph, uuid4(), parent, emit, now)
    open_: dict[str, ModelResult | None] = {}
    telling.apply("START")
    try:
        for event in happened:
            match event:
                case Started(name=name):
                    open_[name] = None
                    telling.started(name)
                case Finished(result=result):
                    if result.name not in open_:  # a promotion begins none: it computes nothing
                        telling.started(result.name)
                    open_[result.name] = result
                    if not result.status.sound:
                        telling.unsound(open_.pop(result.name) or result)
                case Published(models=names):
                    for name in names:
                        if (made := open_.pop(name, None)) is not None:
                            telling.published(made)
                case Outcome():
                    for name in open_:
                        telling.aborted(name, "sound, but held back: not all models of the apply were")
                    open_.clear()
                    telling.apply("FAIL" if event.violated or event.failed else "COMPLETE")
            yield event
    except BaseException as error:
        why = "interrupted" if isinstance(error, KeyboardInterrupt | GeneratorExit) else str(error)
        for name in open_:
            telling.aborted(name, why)
        telling.apply("FAIL" if isinstance(error, Exception) else "ABORT", why)
        raise


@dataclass(frozen=True, slots=True)
class _Telling:
    """Makes the events of one apply, which is the run `run_id`; `project` is the project of the tables of `graph`.
    `hidden` are the columns of each model whose values are not to be shown."""

    workspace: Workspace
    hidden: Mapping[str, Set[str]]
    project: str
    graph: LineageGraph
    run_id: UUID
    parent: Parent | None
    emit: Emit
    now: Callable[[], datetime]

    def apply(self, state: str, error: str | None = None) -> None:
        """The apply as a whole."""
        parent = self.parent
        facets = self._facets(error)
        if parent is not None:
            facets["parent"] = facet("1-2-0", "ParentRunFacet", _run_and_job(parent))
        self._send(state, self.run_id, facets, self._apply_job(), "APPLY", [], [])

    def started(self, name: str) -> None:
        """A model's turn."""
        self._model("START", name, self._facets(None), self._inputs(name, ()), [self._output(name)])

    def unsound(self, result: ModelResult) -> None:
        """A violated or failed model, or one that waits for such a one."""
        if result.waits_for:
            self.aborted(result.name, f"not computed: waits for {', '.join(result.waits_for)}")
            return
        found = render_text(result.violations, lambda _: None, color=False, width=120)
        pins = [result.pin] if result.pin else []
        output = self._output(result.name, pins=pins)
        self._model("FAIL", result.name, self._facets(found), self._inputs(result.name, result.inputs), [output])

    def aborted(self, name: str, why: str) -> None:
        """A model of which nothing went live, without a fault of its own."""
        self._model("ABORT", name, self._facets(why), self._inputs(name, ()), [self._output(name)])

    def published(self, result: ModelResult) -> None:
        """A model that is live now."""
        pins = [result.pin] if result.pin else []
        output = self._output(result.name, result.artifact, pins, written=result.status is Status.COMPUTED)
        self._model("COMPLETE", result.name, self._facets(None), self._inputs(result.name, result.inputs), [output])

    def _model(
        self, state: str, name: str, facets: dict[str, Any], reads: list[dict[str, Any]], made: list[dict[str, Any]]
    ) -> None:
        run = {"run": {"runId": str(self.run_id)}, "job": self._apply_job()}
        root = _run_and_job(self.parent) if self.parent else run
        facets["parent"] = facet("1-2-0", "ParentRunFacet", {**run, "root": root})
        job = {"namespace": namespace(self._table(name)), "name": name}
        self._send(state, uuid5(self.run_id, name), facets, job, "MODEL", reads, made)

    def _send(
        self,
        state: str,
        run_id: UUID,
        facets: dict[str, Any],
        job: dict[str, str],
        kind: str,
        reads: list[dict[str, Any]],
        made: list[dict[str, Any]],
    ) -> None:
        type_ = {"processingType": "BATCH", "integration": "STRATA", "jobType": kind}
        self.emit(
            {
                "eventType": state,
                "eventTime": spelled(self.now()),
                "producer": PRODUCER,
                "schemaURL": SPEC,
                "run": {"runId": str(run_id), "facets": facets},
                "job": {**job, "facets": {"jobType": facet("2-0-4", "JobTypeJobFacet", type_)}},
                "inputs": reads,
                "outputs": made,
            }
        )

    def _facets(self, error: str | None) -> dict[str, Any]:
        from importlib.metadata import version

        engine = {"name": "strata", "version": version("strata-tables")}
        tags = [{"key": "environment", "value": self.workspace.environment, "source": "STRATA"}]
        found = {
            "processing_engine": facet("1-1-1", "ProcessingEngineRunFacet", engine),
            "tags": facet("1-0-0", "TagsRunFacet", {"tags": tags}),
        }
        if error is not None:
            told = {"message": error, "programmingLanguage": "STRATA"}
            found["errorMessage"] = facet("1-0-1", "ErrorMessageRunFacet", told)
        return found

    def _apply_job(self) -> dict[str, str]:
        return {"namespace": namespace(self._table("")), "name": "apply"}

    def _table(self, name: str) -> TableId:
        return TableId(self.project, name)

    def _inputs(self, name: str, pins: tuple[PinReport, ...]) -> list[dict[str, Any]]:
        """What a model reads; of the sources that were looked at, what was found."""
        found = {report.contract: report for report in pins if report.source}
        read = []
        for table in inputs(self.graph, self._table(name)):
            one = dataset(self.graph, table)
            source = self.workspace.sources.get(table.name)
            if source is not None:
                one["facets"]["version"] = _version(source.digest)
            if table.name in found:
                one["inputFacets"] = {"dataQualityAssertions": _assertions(found[table.name])}
            read.append(one)
        return read

    def _output(
        self, name: str, artifact: Artifact | None = None, pins: list[PinReport] | None = None, written: bool = False
    ) -> dict[str, Any]:
        table = self._table(name)
        made = dataset(self.graph, table, column_lineage(self.graph, table))
        for report in pins or ():
            made["facets"]["dataQualityAssertions"] = _assertions(report)
        if artifact is not None:
            made["facets"]["version"] = _version(artifact.manifest.digest)
            made["facets"]["dataQualityMetrics"] = self._metrics(artifact)
        if artifact is not None and written:
            size = {"rowCount": artifact.manifest.rows, "size": artifact.manifest.bytes}
            statistics = facet("1-0-2", "OutputStatisticsOutputDatasetFacet", size)
            made["outputFacets"] = {"outputStatistics": statistics}
        return made

    def _metrics(self, artifact: Artifact) -> dict[str, Any]:
        """Rows, bytes, and of each column the nulls and, where it is a number that may be shown, the range."""
        hidden, manifest = self.hidden[artifact.manifest.table], artifact.manifest
        columns: dict[str, dict[str, Any]] = {}
        for name, one in manifest.statistics.items():
            columns[name] = {"nullCount": one.null_count}
            for key, bound in (("min", one.minimum), ("max", one.maximum)):
                if name not in hidden and isinstance(bound, int | float) and not isinstance(bound, bool):
                    columns[name][key] = bound
        content = {"rowCount": manifest.rows, "bytes": manifest.bytes, "columnMetrics": columns}
        return facet("1-0-1", "DataQualityMetricsDatasetFacet", content)


def _run_and_job(parent: Parent) -> dict[str, Any]:
    try:
        run_id = UUID(parent.run_id)
    except ValueError:
        run_id = uuid5(NAMESPACE_OID, parent.run_id)
    return {"run": {"runId": str(run_id)}, "job": {"namespace": parent.namespace, "name": parent.job}}


def _version(digest: str) -> dict[str, Any]:
    return facet("1-0-1", "DatasetVersionDatasetFacet", {"datasetVersion": digest})


def _assertions(report: PinReport) -> dict[str, Any]:
    """Each promise that was held against the rows, and whether it is kept; samples of rows stay where they are."""
    told = [
        {
            "assertion": result.rule.value,
            "success": result.holds,
            **({"column": result.fact.columns[0]} if len(result.fact.columns) == 1 else {}),
            "severity": "error",
            "name": f"{result.field}: {result.rule.value}",
            "expected": result.promise,
            **({"actual": f"offending rows: {result.offenders}"} if result.offenders else {}),
        }
        for result in report.rules
        if result.status is not RuleStatus.SKIPPED
    ]
    return facet("1-1-0", "DataQualityAssertionsDatasetFacet", {"assertions": told})


def _is_configured() -> bool:
    environment = os.environ
    if environment.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return False
    return any(environment.get(name) for name in ENABLING) or any(n.startswith(ENABLING_PREFIX) for n in environment)


def _client(warn: Callable[[str], None]) -> Emit | None:
    """Sends events; after the first that cannot be sent no more are tried, so that no apply waits for each."""
    try:
        from openlineage.client import OpenLineageClient
        from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
        from openlineage.client.facet_v2 import tags_run
    except ImportError:
        warn("no OpenLineage events are sent: the client is missing (`pip install strata-tables[openlineage]`)")
        return None
    try:
        client = OpenLineageClient()
    except Exception as error:  # whatever the configuration of the transport makes of it
        warn(f"no OpenLineage events are sent: {error}")
        return None
    stopped: list[Exception] = []

    def emit(event: dict[str, Any]) -> None:
        if stopped:
            return
        facets = event["run"]["facets"]
        tags = [tags_run.TagsRunFacetFields(**tag) for tag in facets["tags"]["tags"]]
        try:
            client.emit(
                RunEvent(
                    eventTime=event["eventTime"],
                    producer=event["producer"],
                    eventType=RunState(event["eventType"]),
                    # The client adds tags of its own configuration, for which it wants an object of its own.
                    run=Run(event["run"]["runId"], {**facets, "tags": tags_run.TagsRunFacet(tags, producer=PRODUCER)}),
                    job=Job(**event["job"]),
                    inputs=[InputDataset(**one) for one in event["inputs"]],
                    outputs=[OutputDataset(**one) for one in event["outputs"]],
                )
            )
        except Exception as error:  # a catalog that is down is no reason to stop an apply
            stopped.append(error)
            warn(f"OpenLineage events are not sent any more: {type(error).__name__}: {error}")

    return emit
