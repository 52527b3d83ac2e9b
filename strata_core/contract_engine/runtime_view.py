"""The runtime-served contract view, v0: a denormalized snapshot with links to deeper systems (Seed 2, step 6).

It holds the latest of everything and no history: lineage is one hop, test results are the latest, a run is a link.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ..frozen import dataclass, field
from .authored import AgentPermission, AuthoredContract, Governance
from .shape import Rule, Shape
from .words import TestSeverity

Instant = Annotated[
    str,
    Rule(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$",
        examples=["2026-11-30T10:00:00Z"],
    ),
]
Digest = Annotated[str, Rule(pattern=r"^[0-9a-f]{64}$")]
TestOutcome = Literal["passed", "failed", "error", "not_run", "unsupported"]


@dataclass(frozen=True, slots=True)
class InputDigest(Shape):
    """A file that the view was made of."""

    path: str
    sha256: Digest


@dataclass(frozen=True, slots=True)
class ViewProvenance(Shape):
    """What the view was made of, by whom and with what."""

    inputs: tuple[InputDigest, ...]
    engine_version: str
    git_commit: str | None = None
    promoted_at: Instant | None = None
    promoted_by: str | None = None
    promotion: int | None = None
    """The number of the promotion record."""
    projected_at: Instant | None = None
    """When the view was made: what happened since is not in it."""


@dataclass(frozen=True, slots=True)
class StatusReason(Shape):
    """Why the product is not healthy."""

    code: str
    message: str
    asset: str | None = None
    test: str | None = None


@dataclass(frozen=True, slots=True)
class ProductStatus(Shape):
    """How the product stands: `blocked` where something blocking failed, `degraded` where something else did."""

    state: Literal["healthy", "degraded", "blocked"]
    reasons: tuple[StatusReason, ...] = ()


@dataclass(frozen=True, slots=True)
class TestStatus(Shape):
    """The latest result of a test. Experimental ones are for the owner and the agents named in `visible_to`."""

    id: str
    kind: Literal["sql", "dbt", "expectation"]
    severity: TestSeverity
    outcome: TestOutcome
    asset: str | None = None
    offenders: int | None = None
    at: Instant | None = None
    message: str | None = None
    visible_to: tuple[str, ...] = ()
    """Empty: everybody."""


@dataclass(frozen=True, slots=True)
class CheckStatus(Shape):
    """The latest result of a check of an asset that is no test of the contract: a write pin, a check in Dagster.

    A `blocking` one that fails says that what is live is not sound; a `degrading` one, that something is wrong, or that
    a newer version was refused and the last-known-good stays live.
    """

    asset: str
    check: str
    outcome: TestOutcome
    weight: Literal["blocking", "degrading", "informational"]
    at: Instant | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class FreshnessState(Shape):
    """How old an asset is, against what was promised."""

    asset: str
    state: Literal["fresh", "stale", "unknown"]
    expected: str | None = None
    latest: Instant | None = None


@dataclass(frozen=True, slots=True)
class ObservedColumn(Shape):
    """A column as it was found."""

    name: str
    type: str
    nullable: bool | None = None


@dataclass(frozen=True, slots=True)
class SchemaState(Shape):
    """The schema that was last seen of an asset, and how it differs from the contract."""

    asset: str
    columns: tuple[ObservedColumn, ...]
    drift: tuple[str, ...] = ()
    """What differs from the contract, a sentence each."""


@dataclass(frozen=True, slots=True)
class LiveRows(Shape):
    """What the store has live of an asset: what its readers have there, whatever ran since."""

    asset: str
    version: str
    """Of the environment, such as `prod version 4`."""
    at: Instant | None = None
    data_version: str | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class RunSummary(Shape):
    """The latest run that made an asset."""

    asset: str
    run_id: str
    state: Literal["succeeded", "failed", "running", "unknown"]
    at: Instant | None = None
    url: str | None = None
    data_version: str | None = None
    """What names the rows that it made: the same rows have the same."""
    rows: int | None = None
    live: bool | None = None
    """False where it succeeded and the store has older rows live: its own were refused (`write_pin` among the checks
    says when and why), or never held against the contract."""

    @property
    def told(self) -> str:
        """How it went, and whether anybody has what it made."""
        return f"{self.state}, not live" if self.live is False else self.state


@dataclass(frozen=True, slots=True)
class LineageEdge(Shape):
    """What an asset is made of, one hop."""

    asset: str
    upstream: str
    basis: Literal["declared", "compiled", "observed"]
    product: str | None = None


@dataclass(frozen=True, slots=True)
class Link(Shape):
    """A deeper system."""

    rel: Literal["lineage", "runs", "policy", "docs", "source", "catalog"]
    href: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class RuntimeView(Shape):
    """A data product as it is served: contract, state and provenance in one document."""

    apiVersion: Literal["strata/v0"]  # noqa: N815
    kind: Literal["DataProductRuntimeView"]
    id: str
    version: str
    provenance: ViewProvenance
    contract: AuthoredContract
    status: ProductStatus
    governance: Governance
    tests: tuple[TestStatus, ...] = ()
    checks: tuple[CheckStatus, ...] = ()
    freshness: tuple[FreshnessState, ...] = ()
    observed_schema: tuple[SchemaState, ...] = ()
    latest_runs: tuple[RunSummary, ...] = ()
    live: tuple[LiveRows, ...] = ()
    lineage: tuple[LineageEdge, ...] = ()
    agent_permissions: tuple[AgentPermission, ...] = ()
    links: tuple[Link, ...] = ()
    extensions: dict[str, Any] = field(default_factory=dict)
