"""Declarations and the module that holds them (language.md, "Declarations")."""

from __future__ import annotations

import typing

from ...diagnostics import Span
from ...frozen import dataclass
from .expressions import Call, Expr, Name
from .fields import Entry, FieldDecl, TypeExpr, TypeField
from .statements import Freshness, Statement
from .tables import Given, LiteralTable

DeclarationWord = typing.Literal["import", "source", "contract", "domain", "model", "pipeline", "test", "fn", "extern"]


@dataclass(frozen=True, slots=True)
class Import:
    """`import finance.revenue`, another module of the project."""

    path: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Source:
    """A table that Strata reads. `resource` says where it is, `columns` (None: not declared) what it holds."""

    name: Name
    resource: tuple[Entry, ...]
    columns: tuple[FieldDecl, ...] | None
    freshness: Freshness | None
    filter: Expr | None
    properties: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Contract:
    """What a model promises about its columns."""

    name: Name
    fields: tuple[FieldDecl, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Domain:
    """`domain name = type`: a transparent alias."""

    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class Model:
    """A named pipeline of statements. `attributes` are `owner description reason label …`."""

    name: Name
    contract: Name | None
    attributes: tuple[Entry, ...]
    statements: tuple[Statement, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SourceOverride:
    """`orders: from(ns: "crm_eu")` in a pipeline: where the source is in this environment."""

    source: Name
    resource: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Models that are built together, in one environment; a call gives those that it generates."""

    name: Name
    env: Name | None
    models: tuple[Name | Call, ...]
    sources: tuple[SourceOverride, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Expectation:
    """`expect condition`: of each row of a table, of the table as a whole, or that a value stands in another table."""

    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Test:
    """`test model { expect … }`: what the built table of the model `name` must keep. A model may have several.

    With a table that is `given` or `expected` it is a unit test: of the rows that the model makes of those tables.
    """

    name: Name
    title: Name | None
    expectations: tuple[Expectation, ...]
    given: tuple[Given, ...]
    expected: LiteralTable | None
    span: Span

    @property
    def is_unit(self) -> bool:
        """Whether it brings its own rows."""
        return bool(self.given) or self.expected is not None


@dataclass(frozen=True, slots=True)
class Parameter:
    """`name: type` of a compile-time function."""

    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class Fn:
    """`fn name(a: type) -> type { body }`: a function that is evaluated when the project is compiled."""

    name: Name
    parameters: tuple[Parameter, ...]
    returns: TypeExpr
    body: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Generator:
    """A call of a compile-time function whose models belong to the project."""

    call: Call
    span: Span


@dataclass(frozen=True, slots=True)
class Extern:
    """`extern fn name(a: T) -> T nonnull deterministic { duckdb: "…" }`: a function that engines have."""

    name: Name
    parameters: tuple[TypeField, ...]
    returns: TypeExpr
    nonnull: bool
    deterministic: bool
    bindings: tuple[Entry, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A declaration with a syntax error, kept by name so that references to it raise no second error."""

    word: DeclarationWord
    name: Name
    span: Span


Declaration = Import | Source | Contract | Domain | Model | Pipeline | Test | Fn | Generator | Extern | Broken


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `path` is the file as it is shown to people."""

    path: str
    declarations: tuple[Declaration, ...]
    span: Span
