"""What contracts are written with: patterns of names, versions, ages and references, and words of which one fits."""

from __future__ import annotations

from typing import Annotated, Literal

from .shape import Rule

SEMVER = (
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$"
)
WORD = r"[a-z][a-z0-9_]*"
MASK = r"^(hash|null|drop|partial|partial\([1-9][0-9]?\))$"

ProductId = Annotated[str, Rule(pattern=rf"^{WORD}\.{WORD}$", maxLength=128, examples=["flights.punctuality"])]
Word = Annotated[str, Rule(pattern=rf"^{WORD}$", maxLength=64, examples=["flights"])]
Name = Annotated[str, Rule(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$", maxLength=128, examples=["carrier_month"])]
AssetId = Annotated[str, Rule(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$", maxLength=128, examples=["carrier_month"])]
ColumnName = Annotated[str, Rule(minLength=1, maxLength=128, examples=["flight_id"])]
Text = Annotated[str, Rule(minLength=1, pattern=r"\S")]
Label = Annotated[str, Rule(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", maxLength=64, examples=["confidential"])]
SemVer = Annotated[str, Rule(pattern=SEMVER, examples=["1.0.0"])]
Day = Annotated[str, Rule(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", examples=["2026-12-31"])]
Duration = Annotated[
    str, Rule(pattern=r"^([1-9][0-9]{0,8}(s|min|m|h|d|w)|hourly|daily|weekly|monthly)$", examples=["24h"])
]
ColumnRef = Annotated[
    str,
    Rule(
        pattern=rf"^({WORD}\.{WORD}/)?[A-Za-z_][A-Za-z0-9_-]*\.[^/]+$",
        maxLength=400,
        examples=["flight_legs.flight_id", "flights.operations/flight_legs.flight_id"],
    ),
]
"""`asset.column` of this product, `domain.product/asset.column` of another."""
Fingerprint = Annotated[str, Rule(pattern=r"^[0-9a-f]{12,64}$", examples=["9f86d081884c"])]

Status = Literal["proposed", "draft", "active", "deprecated", "retired"]
AssetKind = Literal["strata_model", "dbt_model", "dagster_asset", "dlt_resource", "sql", "table"]
TestSeverity = Literal["blocking", "degrading", "informational", "experimental"]
AgentAction = Literal["discover", "read", "query", "aggregate", "export"]
LawfulBasis = Literal[
    "consent", "contract", "legal_obligation", "vital_interests", "public_task", "legitimate_interests", "none"
]
ApprovalKind = Literal["owner", "governance"]
