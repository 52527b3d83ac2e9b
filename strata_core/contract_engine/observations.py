"""Runtime observations: what was seen of the assets, from whatever tool, in the same terms (Seed 2, "Runtime
Observations"). They go into runtime views and never change what was authored.

Here they come from files (dbt's run results, source freshness and catalog, OpenLineage events) and from Strata's store;
Dagster (`strata_dagster.contracts.observing`) and the execution of tests hand in their own. Of two that saw the same
thing, the later counts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from ..diagnostics import StrataError
from ..frozen import dataclass, field
from ..planning.config import MAIN
from .parse.parsed import Parsed

if TYPE_CHECKING:
    from ..store.environments import Pointer
    from ..store.store import Store
    from .pipeline import Setting

Outcome = Literal["passed", "failed", "error", "not_run", "unsupported"]
RunState = Literal["succeeded", "failed", "running", "unknown"]
Weight = Literal["blocking", "degrading", "informational"]


@dataclass(frozen=True, slots=True)
class SeenTest:
    """The latest result of a test: of a product's own by `product` and `test`, of dbt's by its name or unique id."""

    product: str | None
    test: str
    outcome: Outcome
    at: str | None = None
    offenders: int | None = None
    message: str | None = None


def not_asked(product: str, test: str, why: str, outcome: Outcome = "not_run") -> SeenTest:
    """A test of which nobody knows whether it holds: it was not run, or nothing here runs such (`unsupported`)."""
    return SeenTest(product, test, outcome, message=why)


@dataclass(frozen=True, slots=True)
class SeenCheck:
    """The latest result of a check that is no test of a contract: a write pin, a check of a Dagster asset.

    `weight` says what its failure means to who reads the table: that what is live is not sound (`blocking`), that
    something is wrong or a newer version was refused (`degrading`), or nothing (`informational`).
    """

    ref: str
    check: str
    outcome: Outcome
    weight: Weight
    at: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SeenSchema:
    """The columns that a table has: name, Strata type (None where it has none), nullable where known."""

    ref: str
    columns: tuple[tuple[str, str | None, bool | None], ...]


@dataclass(frozen=True, slots=True)
class SeenRun:
    """The latest run that made a table. `at` is also the age of what it made, where it succeeded; `data_version` and
    `rows` are of what it made. `published` is one that the store tells: what it made is live there; `guarded`, that
    others make the rows, and that they are live only where they keep their contract."""

    ref: str
    run_id: str
    state: RunState
    at: str | None = None
    url: str | None = None
    data_version: str | None = None
    rows: int | None = None
    published: bool = False
    guarded: bool = False


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
    checks: tuple[SeenCheck, ...] = ()
    loaded: Mapping[str, str] = field(default_factory=dict)
    """When the newest rows of a table were loaded, by table, where a tool says so of tables that it does not make."""

    def with_(self, other: Observations) -> Observations:
        """Both; schemas, edges and values that `other` saw count where both saw the same."""
        return Observations(
            (*self.tests, *other.tests),
            (*self.schemas, *other.schemas),
            (*self.runs, *other.runs),
            (*self.edges, *other.edges),
            {**self.latest_values, **other.latest_values},
            (*self.checks, *other.checks),
            {**self.loaded, **other.loaded},
        )


STORE = "store_readable"
"""The check of whether anybody can tell what is live."""
WRITE_PIN = "write_pin"
"""The check of whether the rows that were made last keep their contract: as Dagster has it, of what it makes."""
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


_AGES: Mapping[str, tuple[Outcome, Weight]] = {
    "pass": ("passed", "degrading"),
    "warn": ("failed", "informational"),
    "error": ("failed", "degrading"),
    "runtime error": ("error", "degrading"),
}
"""What `dbt source freshness` says of a source: late by its warning, or by its error."""


def seen_in_files(parsed: Parsed) -> Observations:
    """What dbt and OpenLineage tell in their files."""
    names = {t.unique_id: t.name for file in parsed.files for t in file.tests}
    # A source's bare name is left out: a model may have it too.
    tables = {ref: asset.refs[:2] for file in parsed.files for asset in file.generated for ref in asset.refs[:2]}
    results = [(file, r) for file in parsed.files for r in file.results]
    tests = [
        SeenTest(None, names[r.unique_id], _OUTCOMES.get(r.status, "error"), utc(r.at), r.failures, r.message)
        for _, r in results
        if r.unique_id in names
    ]
    made = [r for file, r in results if file.kind == "dbt run results" and r.status != "skipped"]
    runs = [
        SeenRun(ref, f"dbt {r.run_id or ''}".rstrip(), "succeeded" if r.status == "success" else "failed", utc(r.at))
        for r in made
        if r.unique_id not in names
        for ref in tables.get(r.unique_id, ())
    ]
    loaded = {
        ref: at
        for file, r in results
        if file.kind == "dbt sources" and (at := utc(r.at)) is not None
        for ref in tables.get(r.unique_id, ())
    }
    checks = [
        SeenCheck(ref, "dbt_source_freshness", *_AGES[r.status], utc(r.checked_at), r.message)
        for file, r in results
        if file.kind == "dbt sources" and r.status in _AGES
        for ref in tables.get(r.unique_id, ())
    ]
    runs += [
        SeenRun(ref, r.run_id, _STATES.get(r.event, "unknown"), utc(r.at))
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
    return Observations(tuple(tests), tuple(schemas), tuple(runs), tuple(edges), {}, tuple(checks), loaded)


def utc_now() -> datetime:
    """Now, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


def utc(at: str | None) -> str | None:
    """An instant that a tool told, as views spell it; None where it is none."""
    from ..instants import iso_seconds

    try:
        return None if at is None else iso_seconds(at)
    except ValueError:
        return None


def seen_in_store(
    setting: Setting, tables: Iterable[str], environment: str = MAIN, *, models: Container[str] = ()
) -> Observations:
    """What `published` gives; of a store that cannot be read, that nobody knows what is live (`store_readable`). The
    rows of those `tables` that are `models` are nowhere else: who reads them reads nothing."""
    names = tuple(tables)
    try:
        return published(setting, names, environment)
    except StrataError as error:
        found = error.diagnostics[0]
        told = f"{found.code} {found.message}"

        def unread(name: str) -> SeenCheck:
            return SeenCheck(name, STORE, "error", "blocking" if name in models else "degrading", None, told)

        return Observations(checks=tuple(unread(name) for name in names))


def published(setting: Setting, tables: Iterable[str], environment: str = MAIN) -> Observations:
    """What Strata's store has live of `tables`: schema, publication, the latest dates in them, where the files of what
    is live are gone (`last_known_good`), and where newer rows were refused since (`write_pin`). Raises `StrataError`
    E092, E094 where the store cannot be read."""
    from ..planning.guarded.refusals import standing_refusals
    from ..planning.stores import store_of
    from ..store.instant import spell

    store = store_of(setting.root, setting.config)
    if not store.exists():
        return Observations()
    head = store.environment(environment).head()
    version = f"{environment} version {head.number}"
    names = tuple(tables)
    found = [_published(store, name, head.models[name], head.at, version) for name in names if name in head.models]
    refusals = standing_refusals(store, head, environment)[1]
    refused = [
        SeenCheck(name, WRITE_PIN, "failed", "degrading", spell(refusals[name].at), refusals[name].why)
        for name in names
        if name in refusals
    ]
    return Observations(
        schemas=tuple(s for f in found for s in f.schemas),
        runs=tuple(r for f in found for r in f.runs),
        latest_values={key: value for f in found for key, value in f.latest_values.items()},
        checks=(*(c for f in found for c in f.checks), *refused),
    )


def _published(store: Store, model: str, pointer: Pointer, since: int, version: str) -> Observations:
    from ..planning.guarded.guarding import NOTE
    from ..store.instant import spell

    at = spell(pointer.published_at or since)
    try:
        artifact = store.artifact(model, pointer)
    except StrataError as error:
        found = error.diagnostics[0]
        lost = SeenCheck(model, "last_known_good", "failed", "blocking", None, f"{found.code} {found.message}")
        return Observations(runs=(SeenRun(model, version, "succeeded", at, published=True),), checks=(lost,))
    manifest = artifact.manifest
    columns = tuple((f.name, f.strata_type, f.nullable) for f in manifest.schema)
    values = {}
    for f in manifest.schema:
        statistics = manifest.statistics.get(f.name)
        dated = statistics is not None and f.strata_type in ("date", "timestamp")
        if statistics is not None and dated and (latest := utc(str(statistics.maximum))) is not None:
            values[model, f.name] = latest
    made = SeenRun(
        model, version, "succeeded", at, None, manifest.digest, manifest.rows, True, NOTE in manifest.provenance
    )
    return Observations(
        schemas=(SeenSchema(model, columns),),
        runs=(made,),
        latest_values=values,
    )
