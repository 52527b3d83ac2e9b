"""The runtime-served contract view, v0: a denormalized snapshot with links to deeper systems (Seed 2, step 6).

It holds the latest of everything and no history: lineage is one hop, test results are the latest, a run is a link.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from .authored import AgentPermission, AuthoredContract, Governance, Shape, TestSeverity

Instant = Annotated[
    str,
    Field(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$",
        examples=["2026-11-30T10:00:00Z"],
    ),
]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
TestOutcome = Literal["passed", "failed", "error", "not_run", "unsupported"]


class InputDigest(Shape):
    """A file that the view was made of."""

    path: str
    sha256: Digest


class ViewProvenance(Shape):
    """What the view was made of, by whom and with what."""

    git_commit: str | None = None
    inputs: tuple[InputDigest, ...]
    promoted_at: Instant | None = None
    promoted_by: str | None = None
    promotion: int | None = None
    """The number of the promotion record."""
    engine_version: str


class StatusReason(Shape):
    """Why the product is not healthy."""

    code: str
    message: str
    asset: str | None = None
    test: str | None = None


class ProductStatus(Shape):
    """How the product stands: `blocked` where something blocking failed, `degraded` where something else did."""

    state: Literal["healthy", "degraded", "blocked"]
    reasons: tuple[StatusReason, ...] = ()


class TestStatus(Shape):
    """The latest result of a test. Experimental ones are for the owner and the agents named in `visible_to`."""

    __test__ = False

    id: str
    kind: Literal["sql", "dbt", "expectation"]
    severity: TestSeverity
    asset: str | None = None
    outcome: TestOutcome
    offenders: int | None = None
    at: Instant | None = None
    message: str | None = None
    visible_to: tuple[str, ...] = ()
    """Empty: everybody."""


class FreshnessState(Shape):
    """How old an asset is, against what was promised."""

    asset: str
    expected: str | None = None
    latest: Instant | None = None
    state: Literal["fresh", "stale", "unknown"]


class ObservedColumn(Shape):
    """A column as it was found."""

    name: str
    type: str
    nullable: bool | None = None


class SchemaState(Shape):
    """The schema that was last seen of an asset, and how it differs from the contract."""

    asset: str
    columns: tuple[ObservedColumn, ...]
    drift: tuple[str, ...] = ()
    """What differs from the contract, a sentence each."""


class RunSummary(Shape):
    """The latest run that made an asset."""

    asset: str
    run_id: str
    state: Literal["succeeded", "failed", "running", "unknown"]
    at: Instant | None = None
    url: str | None = None


class LineageEdge(Shape):
    """What an asset is made of, one hop."""

    asset: str
    upstream: str
    product: str | None = None
    basis: Literal["declared", "compiled", "observed"]


class Link(Shape):
    """A deeper system."""

    rel: Literal["lineage", "runs", "policy", "docs", "source", "catalog"]
    href: str
    title: str | None = None


class RuntimeView(Shape):
    """A data product as it is served: contract, state and provenance in one document."""

    model_config = ConfigDict(title="Data product contract, runtime view, v0")

    apiVersion: Literal["strata/v0"]  # noqa: N815
    kind: Literal["DataProductRuntimeView"]
    id: str
    version: str
    provenance: ViewProvenance
    contract: AuthoredContract
    status: ProductStatus
    tests: tuple[TestStatus, ...] = ()
    freshness: tuple[FreshnessState, ...] = ()
    observed_schema: tuple[SchemaState, ...] = ()
    latest_runs: tuple[RunSummary, ...] = ()
    lineage: tuple[LineageEdge, ...] = ()
    governance: Governance
    agent_permissions: tuple[AgentPermission, ...] = ()
    links: tuple[Link, ...] = ()
    extensions: dict[str, Any] = Field(default_factory=dict)
