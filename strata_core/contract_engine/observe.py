"""Runtime observations: what was seen of the assets, from whatever tool, in the same terms (Seed 2, "Runtime
Observations"). They go into runtime views and never change what was authored.

Here they come from files (dbt's run results and catalog, OpenLineage events) and from Strata's store; Dagster and the
execution of tests hand in their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from ..diagnostics import StrataError
from ..frozen import dataclass, field
from .parse.parsed import Parsed

if TYPE_CHECKING:
    from .pipeline import Setting

Outcome = Literal["passed", "failed", "error", "not_run", "unsupported"]
RunState = Literal["succeeded", "failed", "running", "unknown"]


@dataclass(frozen=True, slots=True)
class SeenTest:
    """The latest result of a test: of a product's own by `product` and `test`, of dbt's by its name or unique id."""

    product: str | None
    test: str
    outcome: Outcome
    at: str | None = None
    offenders: int | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SeenSchema:
    """The columns that a table has: name, Strata type (None where it has none), nullable where known."""

    ref: str
    columns: tuple[tuple[str, str | None, bool | None], ...]


@dataclass(frozen=True, slots=True)
class SeenRun:
    """The latest run that made a table. `at` is also the age of what it made, where it succeeded."""

    ref: str
    run_id: str
    state: RunState
    at: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class SeenEdge:
    """A table that was read to make another."""

    ref: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Observations:
    """Everything that was seen. Tables are named as contracts name them: by `ref`."""

    tests: tuple[SeenTest, ...] = ()
    schemas: tuple[SeenSchema, ...] = ()
    runs: tuple[SeenRun, ...] = ()
    edges: tuple[SeenEdge, ...] = ()
    latest_values: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The latest value of a date or timestamp column, by table and column."""

    def with_(self, other: Observations) -> Observations:
        """Both; what `other` saw counts where both saw the same thing."""
        return Observations(
            (*self.tests, *other.tests),
            (*self.schemas, *other.schemas),
            (*self.runs, *other.runs),
            (*self.edges, *other.edges),
            {**self.latest_values, **other.latest_values},
        )


_OUTCOMES: Mapping[str, Outcome] = {
    "pass": "passed",
    "success": "passed",
    "warn": "failed",
    "fail": "failed",
    "error": "error",
    "skipped": "not_run",
}
_STATES: Mapping[str, RunState] = {
    "COMPLETE": "succeeded",
    "FAIL": "failed",
    "ABORT": "failed",
    "START": "running",
    "RUNNING": "running",
}


def seen_in_files(parsed: Parsed) -> Observations:
    """What dbt and OpenLineage tell in their files."""
    names = {t.unique_id: t.name for file in parsed.files for t in file.tests}
    tests = [
        SeenTest(None, names[r.unique_id], _OUTCOMES.get(r.status, "error"), _utc(r.at), r.failures, r.message)
        for file in parsed.files
        for r in file.results
        if r.unique_id in names
    ]
    runs = [
        SeenRun(ref, r.run_id, _STATES.get(r.event, "unknown"), _utc(r.at))
        for file in parsed.files
        for r in file.runs
        for ref in dict.fromkeys((r.output, r.output.rpartition(".")[2]))
    ]
    seen = [a for file in parsed.files if file.kind in ("dbt catalog", "openlineage") for a in file.generated]
    schemas = [
        SeenSchema(ref, tuple((c.name, c.type, c.nullable) for c in asset.columns))
        for asset in seen
        if asset.complete
        for ref in asset.refs
    ]
    edges = [SeenEdge(ref, u) for asset in seen for ref in asset.refs for u in asset.upstream]
    return Observations(tuple(tests), tuple(schemas), tuple(runs), tuple(edges))


def _utc(at: str | None) -> str | None:
    """An instant as views spell it."""
    from datetime import UTC, datetime

    if at is None:
        return None
    try:
        moment = datetime.fromisoformat(at.replace("Z", "+00:00"))
    except ValueError:
        return None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seen_in_store(setting: Setting, models: Iterable[str], environment: str = "prod") -> Observations:
    """What Strata's store has published of `models`: schema, last publication, and the latest dates in them."""
    from ..store.instant import spell
    from ..store.store import Store

    root = setting.root / setting.config.store_root
    if not root.is_dir():
        return Observations()
    schemas, runs = [], []
    values: dict[tuple[str, str], str] = {}
    try:
        store = Store.open(root, create=False)
        published = store.environment(environment).head()
        for model in models:
            pointer = published.models.get(model)
            if pointer is None:
                continue
            manifest = store.artifact(model, pointer).manifest
            columns = tuple((f.name, f.metadata.get("strata.type"), f.nullable) for f in manifest.schema)
            schemas.append(SeenSchema(model, columns))
            at = spell(pointer.published_at or published.at)
            runs.append(SeenRun(model, f"{environment} version {published.number}", "succeeded", at))
            for f in manifest.schema:
                statistics = manifest.statistics.get(f.name)
                dated = statistics is not None and f.metadata.get("strata.type") in ("date", "timestamp")
                if statistics is not None and dated and (latest := _utc(str(statistics.maximum))) is not None:
                    values[model, f.name] = latest
    except StrataError:
        return Observations()
    return Observations((), tuple(schemas), tuple(runs), (), values)
