"""What analysis gives: sources, models and pipelines with every name and type resolved.

All values are immutable, picklable and free of heavy imports, so that planning, the command line and the
Dagster code location can cache and share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from ..contract.model import Freshness, TableContract
from ..diagnostics import Diagnostic, Span
from ..frozen import dataclass, field
from ..relation.expressions import Expr, SortKey, externs_in
from ..relation.nodes import Relation, expressions, walk_relation
from ..relation.schema import Column

if TYPE_CHECKING:  # what a value only holds is loaded by who makes it
    from ..contract.assertions import Assertion
    from ..contract.authoring import Proof
    from ..periods import Periods
    from .cells import CellValue

ResourceKind = Literal["csv", "parquet", "duckdb", "dbt", "table"]
OptionValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Resource:
    """Where a source's rows are: a file for csv, parquet and duckdb, a dbt node's name, else a table's name.

    `options` holds the other entries of the resource clause (`table` of a duckdb file, `ns`, `dataset`).
    """

    kind: ResourceKind
    location: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Source:
    """A declared source: its typed columns, what it promises about them, and where it is.

    `filter` is over `columns`; every model that reads the source sees only the rows for which it is true.
    """

    name: str
    columns: tuple[Column, ...]
    contract: TableContract
    resource: Resource
    filter: Expr | None
    freshness: Freshness | None
    description: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class JoinExpectation:
    """An `expect` that the keys do not prove: no two rows of `relation`, which is canonical, agree on all `columns`
    (rows with a null in one of them are not compared), else E087 at run time."""

    relation: Relation
    columns: tuple[str, ...]
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Incremental:
    """How a model can be added to: by the rows whose cursor is beyond the greatest so far (`incremental.py`).

    `cursor` is an output; its values are those of `column` in `table`, the first that the model reads. `rows` is what
    is computed; of those that agree on `keys` the one with the greatest cursor is kept.
    """

    strategy: Literal["append", "upsert"]
    keys: tuple[str, ...]
    cursor: str
    table: str
    column: str
    rows: Relation


@dataclass(frozen=True)
class CompiledModel:
    """A model that holds together: what it computes, in which order, and what is promised of it.

    `written` has exactly the model's output columns, with the contract's types. `order` is the
    model's final `sort` over them. `assertions` is what the write pin must measure; `proofs` says for each rule of the
    contract what proves it, or that it is asserted. `upstream` names the models and sources it reads. `partition` are
    the columns that its table is laid out by, `periods` the stretches of time that it is made and published by.
    """

    name: str
    written: Relation
    order: tuple[SortKey, ...]
    contract: TableContract | None
    assertions: tuple[Assertion, ...]
    proofs: tuple[Proof, ...]
    expectations: tuple[JoinExpectation, ...]
    upstream: tuple[str, ...]
    attributes: Mapping[str, OptionValue]
    freshness: Freshness | None
    span: Span
    name_span: Span
    incremental: Incremental | None = None
    partition: tuple[str, ...] = ()
    periods: Periods | None = None

    @cached_property
    def externs(self) -> tuple[str, ...]:
        """The declared functions that it calls."""
        return tuple(sorted(externs_in(e for node in walk_relation(self.written) for e in expressions(node))))

    @cached_property
    def relation(self) -> Relation:
        """What is written, in canonical form: what engines run and fingerprints hash, and no check needs."""
        from ..relation.canonical import canonical

        return canonical(self.written)


@dataclass(frozen=True, slots=True)
class Expectation:
    """An `expect` of a `test`: the rows of `broken`, which is canonical, break it (E086).

    They are rows of the model, or of a `whole` table the one that is there when its condition is not true.
    """

    model: str
    broken: Relation
    whole: bool
    span: Span


@dataclass(frozen=True, slots=True)
class LiteralRows:
    """The rows of a literal table: a value for each of `columns`, and where each row is written."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[CellValue, ...], ...]
    spans: tuple[Span, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class UnitTest:
    """A `test` that brings its own rows: what `model` makes of those `given` must be `expected` (E089).

    `given` names sources and models; `through` the models that are computed from them on the way, each after what it
    reads, `model` last. `expected` names the columns that are compared; its rows stand in order where the model sorts.
    `expectations` are asked of the rows that the model makes.
    """

    model: str
    title: str
    given: Mapping[str, LiteralRows]
    through: tuple[str, ...]
    expected: LiteralRows | None
    expectations: tuple[Expectation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Tests:
    """What `test` blocks ask: of published tables, and of the rows that they bring themselves."""

    expectations: tuple[Expectation, ...] = ()
    units: tuple[UnitTest, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Models that are built together, and where their sources are in this pipeline's environment."""

    name: str
    env: str | None
    models: tuple[str, ...]
    sources: Mapping[str, Resource]
    span: Span


@dataclass(frozen=True, slots=True)
class CompiledProject:
    """Everything that a set of modules declares.

    `models` holds the sound models, each after what it reads; `broken` names the models that have errors
    or read, directly or not, from one that has; they are in no other member.
    """

    models: Mapping[str, CompiledModel]
    sources: Mapping[str, Source]
    contracts: Mapping[str, TableContract]
    pipelines: Mapping[str, Pipeline]
    broken: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]
    expectations: tuple[Expectation, ...] = ()
    unit_tests: tuple[UnitTest, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that keep models from being run."""
        return tuple(d for d in self.diagnostics if d.blocks)
