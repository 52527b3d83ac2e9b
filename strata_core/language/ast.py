"""The syntax tree: what a `.strata` file says, before any name or type is looked up.

Every node is a frozen value with a `span`; names are `Name` values so that a diagnostic can mark the
operand itself. Shapes follow `language.md` ("Declarations", "Statements", "Expressions"). The tree is
picklable, and no deeper than `parser.MAX_DEPTH`, so that passes may recurse.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass

from strata_core.diagnostics import Span

ComparisonOp = typing.Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOp = typing.Literal["+", "-", "*", "/", "%", "||"]
BinaryOp = typing.Literal["or", "and"] | ComparisonOp | ArithmeticOp
UnaryOp = typing.Literal["-", "not"]
JoinKind = typing.Literal["inner", "left", "full", "semi", "anti", "cross"]
Cardinality = typing.Literal["one_to_one", "many_to_one", "one_to_many"]
FlagWord = typing.Literal["nonnull", "unique", "primary_key", "protected", "partition_by"]
DeclarationWord = typing.Literal["import", "source", "contract", "domain", "model", "pipeline"]


@dataclass(frozen=True, slots=True)
class Name:
    """An identifier, without the backquotes it may have been written in (or a string that names something)."""

    text: str
    span: Span

    def __str__(self) -> str:
        return self.text


# --- expressions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. `value` is int, float, str, bool, or None for `none`/`null`.

    A minus directly before a number belongs to the literal. A float keeps its digits in `text`
    (sign, no underscores: `-1.50`), so that a context of type decimal reads it without loss.
    """

    value: int | float | str | bool | None
    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time such as `1d` or `12h`."""

    seconds: int
    span: Span


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """`name` or `qualifier.name`."""

    qualifier: Name | None
    name: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Binary:
    """`left op right`, for logic, comparison and arithmetic."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Unary:
    """`-operand` or `not operand`."""

    op: UnaryOp
    operand: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class In:
    """`operand in values`; `values` is mostly a `ListExpr`."""

    operand: Expr
    values: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Like:
    """`operand like pattern` (SQL wildcards)."""

    operand: Expr
    pattern: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class RLike:
    """`operand rlike pattern` (regular expression)."""

    operand: Expr
    pattern: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class IsNone:
    """`operand is none`, or `operand is not none` where `negated`."""

    operand: Expr
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class ListExpr:
    """`[a, b]`."""

    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class KeywordArgument:
    """`days: 3` within a call."""

    name: Name
    value: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`function(a, b, key: c)`, also `if` and `case`; `count(*)` has `star`, `count(distinct x)` `distinct`."""

    function: Name
    arguments: tuple[Expr, ...]
    keywords: tuple[KeywordArgument, ...]
    span: Span
    distinct: bool = False
    star: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """`rows: first..last`, counted from the current row (0; before it negative); None is without bound."""

    first: int | None
    last: int | None
    span: Span


@dataclass(frozen=True, slots=True)
class SortKey:
    """One key of a `sort`: `e`, `e asc`, `e desc`, or `-e`, which is `e desc`."""

    expr: Expr
    descending: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Over:
    """`call over (partition_by: […], sort: […], rows: a..b)`."""

    call: Call
    partition_by: tuple[Expr, ...]
    sort: tuple[SortKey, ...]
    frame: Frame | None
    span: Span


Expr = Literal | ColumnRef | Binary | Unary | In | Like | RLike | IsNone | ListExpr | Call | Over


# --- output items ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """`name = expr`."""

    name: Name
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Star:
    """`*` or `qualifier.*`, less the columns in `except {…}`."""

    qualifier: Name | None
    excluded: tuple[Name, ...]
    span: Span


Item = Assign | ColumnRef | Star


# --- statements --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class From:
    """`from table [as alias]`."""

    table: Name
    alias: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Join:
    """`join_KIND table on condition [as alias] [expect cardinality]`; only a cross join has no condition."""

    kind: JoinKind
    table: Name
    alias: Name | None
    on: Expr | None
    expect: Cardinality | None
    span: Span


@dataclass(frozen=True, slots=True)
class Filter:
    """`filter condition`, also written `where`."""

    condition: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Let:
    """`let name = expr`: a hidden column."""

    name: Name
    expr: Expr
    span: Span


@dataclass(frozen=True, slots=True)
class Derive:
    """`derive { … }`: adds or replaces columns, keeps all others."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Select:
    """`select { … }`: exactly these columns."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`aggregate { … }`: one row, or one a group inside `group`."""

    items: tuple[Item, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Sort:
    """`sort { a, -b, c desc }`."""

    keys: tuple[SortKey, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Take:
    """`take last` or `take first..last`: rows counted from 1, both ends included; `take 0` takes none."""

    first: int
    last: int
    span: Span


@dataclass(frozen=True, slots=True)
class Group:
    """`group { keys } ( body )`. A key is a bare expression or `name = expr`; a `Filter` in `body` is a HAVING."""

    keys: tuple[Assign | Expr, ...]
    body: tuple[Filter | Aggregate | Sort | Take, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Freshness:
    """`freshness <= 1d`: how old data may be. A name (`daily`) or string is one of the 0.1 spellings.

    `column` is the timestamp column that tells the age (`freshness_column: c`).
    """

    limits: tuple[Duration | Name | Literal, ...]
    column: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class PartitionBy:
    """`partition_by [a, b]` as a statement: how the table is laid out."""

    columns: tuple[Expr, ...]
    span: Span


Statement = From | Join | Filter | Let | Derive | Select | Group | Aggregate | Sort | Take | Freshness | PartitionBy


# --- types and fields --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeField:
    """One field of a `struct`."""

    name: Name
    type: TypeExpr
    span: Span


@dataclass(frozen=True, slots=True)
class TypeExpr:
    """A type as written: `int64`, `decimal(10, 2)`, `money(EUR)`, `array(T)`, `map(string, T)`, `struct(a: T)`.

    `arguments` holds the precision and scale of a decimal as int literals, element types as types, the
    fields of a struct as `TypeField`; `currency` holds the one of a money. `nonnull` is for a type within
    another: `array(string nonnull)`.
    """

    name: Name
    arguments: tuple[TypeExpr | Literal | TypeField, ...]
    currency: Name | None
    span: Span
    nonnull: bool = False


@dataclass(frozen=True, slots=True)
class Flag:
    """An annotation that is one word: `nonnull unique primary_key protected partition_by`."""

    word: FlagWord
    span: Span


@dataclass(frozen=True, slots=True)
class EnumOf:
    """`enum {ES, "CO"}`."""

    values: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Classification:
    """`classification: "pii"`."""

    label: Name
    span: Span


@dataclass(frozen=True, slots=True)
class Mask:
    """`mask: hash`, the rule that hides a classified column."""

    rule: Name
    arguments: tuple[Literal, ...]
    span: Span


Annotation = Flag | EnumOf | Classification | Mask | Freshness


@dataclass(frozen=True, slots=True)
class FieldDecl:
    """`name: type annotations` in a contract or in the columns of a source (Seed 0 §3)."""

    name: Name
    type: TypeExpr
    annotations: tuple[Annotation, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Entry:
    """`key: value` in a resource clause, in the properties of a source, or an attribute of a model."""

    key: Name
    value: Name | Literal | Duration
    span: Span


# --- declarations ------------------------------------------------------------------------------------


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
    """Models that are built together, in one environment."""

    name: Name
    env: Name | None
    models: tuple[Name, ...]
    sources: tuple[SourceOverride, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Broken:
    """A declaration with a syntax error, kept by name so that references to it raise no second error."""

    word: DeclarationWord
    name: Name
    span: Span


Declaration = Import | Source | Contract | Domain | Model | Pipeline | Broken


@dataclass(frozen=True, slots=True)
class Module:
    """One file. `path` is the file as it is shown to people."""

    path: str
    declarations: tuple[Declaration, ...]
    span: Span
