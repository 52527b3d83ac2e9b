"""What parsing gives: one value per file, in the same terms whatever the file was written in."""

from __future__ import annotations

from collections.abc import Mapping

from ...diagnostics import Diagnostic, Span
from ...frozen import dataclass, field
from ..discover import InputKind
from ..documents import Document


@dataclass(frozen=True, slots=True)
class ContractText:
    """A canonical contract. One that is not `sound` has another shape than a contract: it is told, and not used."""

    document: Document
    sound: bool


@dataclass(frozen=True, slots=True)
class FragmentText:
    """A fragment of sound shape. `beside` is the asset that it stands at, where its place says so: a dbt model's
    name, a Dagster asset's key, a SQL file's path."""

    document: Document
    beside: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """A column of an upstream table that a generated column is made of."""

    table: str
    column: str
    transform: str


@dataclass(frozen=True, slots=True)
class GeneratedColumn:
    """A column as a tool knows it. `type` is a Strata type, None where it is not known."""

    name: str
    type: str | None = None
    nullable: bool | None = None
    description: str | None = None
    unique: bool | None = None
    primary_key: bool | None = None
    protected: bool | None = None
    enum: tuple[str, ...] = ()
    classification: str | None = None
    origins: tuple[Origin, ...] = ()
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class GeneratedAsset:
    """An asset as a tool knows it: a compiled Strata model, a node of dbt's manifest, a table that was seen.

    `refs` are the names that a contract may give it. `complete` says that it has no column besides `columns`;
    `compiled` that types and origins are proven, not read off; `promised` that its columns bear what people wrote in
    a Strata contract, which is a fragment.
    """

    kind: str
    refs: tuple[str, ...]
    columns: tuple[GeneratedColumn, ...]
    upstream: tuple[str, ...]
    span: Span
    complete: bool = False
    compiled: bool = False
    promised: bool = False
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Relationship:
    """What a `relationships` test of dbt asks for: each value of `column` is found in `key` of the table `other`, which
    is named as in the manifest. `span` is the file that the test is written in."""

    column: str
    other: str
    key: str
    span: Span


@dataclass(frozen=True, slots=True)
class ToolTest:
    """A test that dbt knows. `asset` is the model that it is attached to; `relationship` what it asks for, where that
    is a key of another table for each row of it."""

    name: str
    unique_id: str
    asset: str | None
    relationship: Relationship | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a test or run of a tool, as it reported it. `at` is when it ended; of the freshness of a source,
    when its newest row was loaded, and `checked_at` when that was looked at."""

    unique_id: str
    status: str
    at: str | None
    failures: int | None = None
    message: str | None = None
    run_id: str | None = None
    checked_at: str | None = None


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """A run that a lineage event tells of."""

    run_id: str
    output: str
    inputs: tuple[str, ...]
    event: str
    at: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """All that one file says."""

    path: str
    kind: InputKind
    digest: str
    contract: ContractText | None = None
    fragments: tuple[FragmentText, ...] = ()
    generated: tuple[GeneratedAsset, ...] = ()
    tests: tuple[ToolTest, ...] = ()
    results: tuple[ToolResult, ...] = ()
    runs: tuple[ObservedRun, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """All files, by path, and what no file says: compiled models. `digests` are those of all inputs."""

    files: tuple[ParsedFile, ...]
    compiled: tuple[GeneratedAsset, ...] = field(default=(), repr=False)
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def generated(self) -> tuple[GeneratedAsset, ...]:
        """Every generated asset."""
        return (*self.compiled, *(asset for file in self.files for asset in file.generated))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found in the files."""
        return tuple(d for file in self.files for d in file.diagnostics)
