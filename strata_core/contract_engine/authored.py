"""The authored contract, v0: what people write in `contracts/<domain>/<product>/contract.yaml` (Seed 2, "Inputs").

These models are the shape and nothing more: `schemas.py` makes the JSON Schema of them, the rules that need more than
one field are in `validate/`. What stands here is what may be written; every other field is an error, except under
`extensions`. Names of assets and products are held to patterns, because paths and SQL are made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ..frozen import dataclass, field
from .authored_tests import Test
from .naming import model_of, stored_as
from .shape import Rule, Shape
from .words import (
    MASK,
    AgentAction,
    ApprovalKind,
    AssetId,
    AssetKind,
    ColumnName,
    ColumnRef,
    Day,
    Duration,
    Fingerprint,
    Label,
    LawfulBasis,
    Name,
    ProductId,
    SemVer,
    Status,
    Text,
    Word,
)


@dataclass(frozen=True, slots=True)
class Owner(Shape):
    """Who answers for the product."""

    team: Text
    contact: Text | None = None
    """Where people ask: an address, a channel."""
    approvers: tuple[Text, ...] = ()
    """Who may approve a breaking change or a weaker classification; the team, where none is named."""


@dataclass(frozen=True, slots=True)
class Usage(Shape):
    """What the product is meant for, and what it must not be used for."""

    intended: tuple[Text, ...] = ()
    prohibited: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class DerivedFrom(Shape):
    """Which columns a column is made of, and whether that lowers its classification."""

    columns: Annotated[tuple[ColumnRef, ...], Rule(minItems=1)]
    transformation: Text | None = None
    """What is done with them, such as `salted hash` or `count over at least ten people`."""
    lowers_classification: bool = False
    """The transformation makes the values less sensitive: needs `transformation` and `approved_by`."""
    approved_by: Text | None = None
    """One of the owner's approvers, or the owning team where none is named."""


@dataclass(frozen=True, slots=True)
class ColumnContract(Shape):
    """A column: the annotations of the Strata language, and what it is derived from."""

    name: ColumnName
    type: Annotated[str, Rule(minLength=1, maxLength=4000, examples=["decimal(10,2)"])] | None = None
    """A Strata type: `int64`, `string`, `decimal(10,2)`, `money(EUR)`, `array(string)`, …"""
    description: Text | None = None
    nullable: bool | None = None
    """Whether nulls may occur (the default); `false` promises that none do."""
    unique: bool | None = None
    primary_key: bool | None = None
    protected: bool | None = None
    """Consumers rely on this column: touching it breaks them."""
    enum: Annotated[tuple[str, ...], Rule(minItems=1)] | None = None
    classification: Label | None = None
    mask: Annotated[str, Rule(pattern=MASK, examples=["hash", "partial(4)"])] | None = None
    """What readers without clearance see: `hash`, `null`, `drop` or `partial(4)`."""
    partition_by: bool | None = None
    freshness: Duration | None = None
    """The greatest age of the column's latest value."""
    derived_from: DerivedFrom | None = None


@dataclass(frozen=True, slots=True)
class AssetFreshness(Shape):
    """How old an asset may be: its latest value of `column`, or its last run where none is named."""

    max_age: Duration
    column: ColumnName | None = None


@dataclass(frozen=True, slots=True)
class Asset(Shape):
    """A table that the product offers."""

    id: AssetId
    kind: AssetKind
    ref: Text | None = None
    """Its name where it is made: the model's name, the Dagster asset key (`a/b`), the table's name, the SQL file."""
    description: Text | None = None
    documentation: Text | None = None
    """Longer text in Markdown."""
    tags: tuple[Label, ...] = ()
    location: Text | None = None
    """Where its rows are, for those who read files or tables by path."""
    closed: bool = False
    """Columns outside the contract are an error."""
    freshness: AssetFreshness | None = None
    columns: tuple[ColumnContract, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it may have where it is made: `ref`, and its id."""
        return tuple(dict.fromkeys((self.ref or self.id, self.id)))

    @property
    def model(self) -> str | None:
        """The model of Strata whose rows it is; None where its contract says that they are elsewhere."""
        return model_of(self.kind, self.names[0], self.location)

    @property
    def table(self) -> str:
        """The name that the store keeps its rows under, as those of a model or of a guarded table."""
        return stored_as(self.kind, self.names[0])[0]

    @property
    def stored(self) -> tuple[str, ...]:
        """The names under which the store may have its rows."""
        return stored_as(self.kind, self.names[0])


@dataclass(frozen=True, slots=True)
class Entity(Shape):
    """A thing of the world that rows tell of, and the columns that identify it."""

    name: Name
    description: Text | None = None
    keys: tuple[ColumnRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure(Shape):
    """A quantity with its unit; an amount of money has a currency."""

    name: Name
    column: ColumnRef | None = None
    description: Text | None = None
    unit: Text | None = None
    currency: Annotated[str, Rule(pattern=r"^[A-Z]{3}$", examples=["EUR"])] | None = None
    aggregation: Literal["sum", "avg", "min", "max", "count", "count_distinct", "none"] | None = None
    """How the measure may be rolled up."""


@dataclass(frozen=True, slots=True)
class Semantics(Shape):
    """What a row stands for."""

    grain: Text | None = None
    """One row per what, such as `one row per airline and month`."""
    meaning: Text | None = None
    entities: tuple[Entity, ...] = ()
    measures: tuple[Measure, ...] = ()


@dataclass(frozen=True, slots=True)
class Freshness(Shape):
    """The greatest age of the product as a whole."""

    max_age: Duration
    schedule: Text | None = None
    """When it is expected to be made, in words or as cron."""


@dataclass(frozen=True, slots=True)
class Upstream(Shape):
    """What the product is made of: another product, or an asset outside of any product."""

    product: ProductId | None = None
    asset: Text | None = None
    version: Text | None = None
    """The versions that it was made for, such as `1.x`."""
    description: Text | None = None


@dataclass(frozen=True, slots=True)
class Lineage(Shape):
    """Where the product's rows come from."""

    upstream: tuple[Upstream, ...] = ()


@dataclass(frozen=True, slots=True)
class Retention(Shape):
    """How long rows are kept."""

    period: Duration
    basis: Text | None = None


@dataclass(frozen=True, slots=True)
class MaskingIntent(Shape):
    """A column and what readers without clearance see of it."""

    column: ColumnRef
    rule: Annotated[str, Rule(pattern=MASK, examples=["hash", "partial(4)"])]


@dataclass(frozen=True, slots=True)
class Governance(Shape):
    """What is intended; the policy engine enforces it."""

    classification: Label | None = None
    """The least sensitive level that the product as a whole may be handled at."""
    retention: Retention | None = None
    masking: tuple[MaskingIntent, ...] = ()
    residency: tuple[Annotated[str, Rule(pattern=r"^[A-Z]{2,3}(-[A-Z0-9]{1,8})*$", examples=["EU"])], ...] = ()
    lawful_basis: LawfulBasis | None = None
    availability: Annotated[float, Rule(exclusiveMinimum=0, maximum=100)] | None = None
    """Percent of the time that the product can be read."""


@dataclass(frozen=True, slots=True)
class AgentConstraints(Shape):
    """What bounds an agent."""

    row_limit: Annotated[int, Rule(exclusiveMinimum=0)] | None = None
    columns: tuple[ColumnRef, ...] = ()
    """Only these columns; empty means all."""
    max_classification: Label | None = None
    masked: bool | None = None
    """Classified columns are seen masked only."""
    requires_approval: bool | None = None
    """A person approves each use."""


@dataclass(frozen=True, slots=True)
class AgentPermission(Shape):
    """What an agent may do with the product, for what."""

    agent: Annotated[str, Rule(pattern=r"^[A-Za-z0-9_*][A-Za-z0-9_.*:/@-]*$", maxLength=128, examples=["analyst"])]
    actions: Annotated[tuple[AgentAction, ...], Rule(minItems=1)]
    assets: tuple[AssetId, ...] = ()
    """Only these assets; empty means all."""
    purpose: Text | None = None
    constraints: AgentConstraints = AgentConstraints()
    expires: Day | None = None


@dataclass(frozen=True, slots=True)
class Approval(Shape):
    """Somebody allowed a change; it holds as long as the change is the same (its fingerprint)."""

    kind: ApprovalKind
    by: Text
    at: Day
    changes: Annotated[tuple[Fingerprint, ...], Rule(minItems=1)]
    """Fingerprints, as `contract-engine validate` prints them: twelve digits or more."""
    note: Text | None = None


@dataclass(frozen=True, slots=True)
class Rename(Shape):
    """A column that has another name now; with `alias` the old name still works."""

    asset: AssetId
    before: ColumnName
    after: ColumnName
    alias: bool = False


@dataclass(frozen=True, slots=True)
class DeprecationWindow(Shape):
    """Until when the version before stays readable."""

    announced: Day
    sunset: Day


@dataclass(frozen=True, slots=True)
class Compatibility(Shape):
    """What goes with a change that breaks those who read the product."""

    approvals: tuple[Approval, ...] = ()
    consumer_impact: Text | None = None
    migration_notes: Text | None = None
    deprecation: DeprecationWindow | None = None
    renames: tuple[Rename, ...] = ()
    meaning_unchanged: tuple[Literal["grain", "meaning"], ...] = ()
    """Declares that a new wording of the grain or the meaning says the same as before."""


@dataclass(frozen=True, slots=True)
class Decline(Shape):
    """Somebody turned suggestions down; that holds as long as they rest on the same (their fingerprints)."""

    by: Text
    at: Day
    suggestions: Annotated[tuple[Fingerprint, ...], Rule(minItems=1)]
    """Fingerprints, as `contract-engine suggest` prints them: twelve digits or more."""
    reason: Text
    """Why the contract is right without them."""


@dataclass(frozen=True, slots=True)
class AuthoredContract(Shape):
    """A data product contract as its owner writes it."""

    apiVersion: Literal["strata/v0"]  # noqa: N815
    kind: Literal["DataProductContract"]
    id: ProductId
    """`<domain>.<product>`, which is also where the contract lies: `contracts/<domain>/<product>/contract.yaml`."""
    name: Text
    version: SemVer
    """Semantic version; below 1.0.0 the product is a draft and may break."""
    status: Status
    layer: Word
    """A layer of `strata.toml`: by default bronze, silver or gold."""
    domain: Word
    owner: Owner
    assets: Annotated[tuple[Asset, ...], Rule(minItems=1)]
    purpose: Text | None = None
    usage: Usage | None = None
    semantics: Semantics | None = None
    freshness: Freshness | None = None
    tests: tuple[Test, ...] = ()
    lineage: Lineage | None = None
    governance: Governance | None = None
    agent_permissions: tuple[AgentPermission, ...] = ()
    compatibility: Compatibility | None = None
    declined_suggestions: tuple[Decline, ...] = ()
    """What `contract-engine suggest` proposed and is not wanted."""
    extensions: dict[str, Any] = field(default_factory=dict)
    """Anything else: kept, shown, not interpreted."""


@dataclass(frozen=True, slots=True)
class Fragment(Shape):
    """Metadata beside an asset: it fills gaps of the contract of `product`, and never overwrites it (Seed 2,
    "Asset-Local Fragments"). It names its target: the product, or an asset of one by id or `ref`, or both."""

    product: ProductId | None = None
    asset: Text | None = None
    kind: AssetKind | None = None
    ref: Text | None = None
    description: Text | None = None
    documentation: Text | None = None
    tags: tuple[Label, ...] = ()
    location: Text | None = None
    freshness: AssetFreshness | None = None
    columns: tuple[ColumnContract, ...] = ()
    tests: tuple[Test, ...] = ()
    lineage: Lineage | None = None
