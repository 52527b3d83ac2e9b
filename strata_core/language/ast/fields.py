"""Types as written, and fields with their annotations (Seed 0 §3)."""

from __future__ import annotations

import typing

from ...diagnostics import Span
from ...frozen import dataclass
from .expressions import Duration, Literal, Name
from .statements import Freshness

FlagWord = typing.Literal["nonnull", "unique", "primary_key", "protected", "partition_by"]


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
