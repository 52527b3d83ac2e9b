"""The one table contract of the program: what is promised about the columns of a table (Seed 0 §3).

A Strata `contract`, a source's declared columns, a product contract's asset, a dbt model contract and an ODCS
schema all lower to `TableContract`; the three conformance phases work on it alone. The derived rules of the
seed hold by construction: a primary key is nonnull, and a sole primary key is unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from functools import cached_property

from ..diagnostics import Span
from ..diagnostics.listing import listed
from ..digests import hexdigest, packed
from ..frozen import dataclass, field, replace
from ..types import Array, Date, Json, Map, String, Struct, Timestamp, Unknown, Uuid, ValueType

DIGEST_VERSION = "strata-contract-1"
ENUM_SHOWN = 12


class ContractError(ValueError):
    """A contract that cannot be; `field` names the field at fault, if it is one, and `fix` the way out."""

    def __init__(self, message: str, field: str | None = None, fix: str | None = None) -> None:
        super().__init__(message)
        self.message, self.field, self.fix = message, field, fix


class MaskRule(StrEnum):
    """What a reader without clearance sees of a classified column (design `store.md`, "Enforcement")."""

    HASH = "hash"
    NULL = "null"
    DROP = "drop"
    PARTIAL = "partial"


PARTIAL_KEEPS = 4


@dataclass(frozen=True, slots=True)
class Mask:
    """A masking rule. `partial` leaves the last `keep` characters, other rules keep none."""

    rule: MaskRule
    keep: int = 0

    def __post_init__(self) -> None:
        if self.rule is MaskRule.PARTIAL:
            object.__setattr__(self, "keep", self.keep or PARTIAL_KEEPS)
        elif self.keep:
            raise ContractError(f"the mask `{self.rule}` keeps no characters", fix="only `partial` takes a number")
        if not 0 <= self.keep <= 64:
            raise ContractError("a partial mask keeps 1 to 64 characters", fix="write `mask: partial(4)`")

    def require_fits(self, type_: ValueType) -> None:
        """Raises `ContractError` for a column of which the rule says nothing: the last digits of a number are no part
        of it that anybody could show. For authors; what is published already stays readable."""
        if self.rule is MaskRule.PARTIAL and not isinstance(type_, String | Uuid | Unknown):
            fix = "use `hash`, `null` or `drop`; `partial` is for columns of type string or uuid"
            raise ContractError(f"the mask `{self}` leaves the last characters of a text, not of {type_}", fix=fix)

    def __str__(self) -> str:
        return f"{self.rule}({self.keep})" if self.rule is MaskRule.PARTIAL else self.rule.value


@dataclass(frozen=True, slots=True)
class Freshness:
    """The latest value of `column` is at most `max_age` old; without a column, the table's own age counts."""

    max_age: timedelta
    column: str | None = None

    def __post_init__(self) -> None:
        if self.max_age <= timedelta(0) or self.max_age.microseconds:
            raise ContractError("a freshness is some whole seconds", fix="write for instance `freshness: <= 1d`")


@dataclass(frozen=True, slots=True)
class ContractField:
    """One promised column. `type` is `Unknown` only where the declaration's own error was already reported.

    `enum` keeps the declared order, which means nothing. `freshness` is the greatest age of the column's
    latest value. Spans do not take part in equality: where a promise stands does not change it.
    """

    name: str
    type: ValueType
    nullable: bool = True
    unique: bool = False
    primary_key: bool = False
    protected: bool = False
    enum: tuple[str, ...] | None = None
    classification: str | None = None
    mask: Mask | None = None
    partition_by: bool = False
    freshness: timedelta | None = None
    description: str | None = None
    span: Span | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.primary_key:
            object.__setattr__(self, "nullable", False)
        known = not isinstance(self.type, Unknown)
        if self.enum is not None:
            if known and not isinstance(self.type, String):
                raise ContractError(f"an enum lists strings, but `{self.name}` is {self.type}", self.name)
            if not self.enum:
                raise ContractError(f"the enum of `{self.name}` is empty", self.name, "name at least one value")
            object.__setattr__(self, "enum", tuple(dict.fromkeys(self.enum)))
        if (self.unique or self.primary_key) and isinstance(self.type, Array | Map | Struct | Json):
            word = "primary_key" if self.primary_key else "unique"
            fix = "promise it of a column of a simple type"
            raise ContractError(f"`{word}` needs values that can be compared, not {self.type}", self.name, fix)
        if self.freshness is not None:
            Freshness(self.freshness)
            _require_instant(self)

    @property
    def hidden(self) -> bool:
        """Whether values of this column are kept out of reports and messages."""
        return self.classification is not None or self.mask is not None

    @property
    def promise(self) -> str:
        """The field's type and annotations as a contract spells them."""
        words = [str(self.type)]
        words += ["primary_key"] if self.primary_key else ["nonnull"] if not self.nullable else []
        words += ["unique"] if self.unique and not self.primary_key else []
        words += ["protected"] if self.protected else []
        words += [spelled_enum(self.enum)] if self.enum is not None else []
        return " ".join(words)

    @property
    def semantics(self) -> bytes:
        """Everything that is promised of the column, told apart; its description and its place promise nothing."""
        flags = (self.nullable, self.unique, self.primary_key, self.protected, self.partition_by)
        return packed(
            self.name,
            str(self.type),
            "".join("01"[flag] for flag in flags),
            packed(*sorted(self.enum or ())),
            packed(*(() if self.classification is None else (self.classification,))),
            str(self.mask or ""),
            str(self.freshness or ""),
        )


@dataclass(frozen=True)
class TableContract:
    """Fields in declared order. Where `closed`, columns outside the contract are an error.

    Several `primary_key` fields form one composite key; a sole one is also `unique`.
    """

    name: str
    fields: tuple[ContractField, ...]
    freshness: Freshness | None = None
    closed: bool = False
    description: str | None = None
    span: Span | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for one in self.fields:
            if one.name in seen:
                raise ContractError(f"`{one.name}` is promised twice", one.name, "keep one of the two fields")
            seen.add(one.name)
        if len(self.key) == 1:
            unique = tuple(replace(f, unique=True) if f.primary_key else f for f in self.fields)
            object.__setattr__(self, "fields", unique)
        if self.freshness is not None and self.freshness.column is not None:
            if self.freshness.column not in seen:
                raise ContractError(
                    f"the freshness column `{self.freshness.column}` is no field of `{self.name}`",
                    fix="name a date or timestamp field",
                )
            _require_instant(self[self.freshness.column])

    @cached_property
    def by_name(self) -> Mapping[str, ContractField]:
        """The fields by name."""
        return {f.name: f for f in self.fields}

    def __getitem__(self, name: str) -> ContractField:
        return self.by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    @property
    def names(self) -> tuple[str, ...]:
        """The field names, in declared order."""
        return tuple(f.name for f in self.fields)

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The columns of the primary key, in declared order; empty where there is none."""
        return tuple(f.name for f in self.fields if f.primary_key)

    @property
    def protected(self) -> tuple[str, ...]:
        """The fields whose removal, renaming or narrowing breaks consumers (Seed 0 §3)."""
        return tuple(f.name for f in self.fields if f.protected)

    @property
    def hidden(self) -> frozenset[str]:
        """The fields whose values are kept out of reports and messages."""
        return frozenset(f.name for f in self.fields if f.hidden)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of what is promised: the same for every order of fields and enum values, whatever the
        contract is called and described as, and different for any two contracts that promise different things."""
        freshness = [str(p) for p in (self.freshness.max_age, self.freshness.column) if p] if self.freshness else []
        fields = sorted(f.semantics for f in self.fields)
        head = packed(DIGEST_VERSION, str(self.closed), packed(*freshness))
        return hexdigest(head, *fields)


def spelled_enum(values: tuple[str, ...]) -> str:
    """An enum as messages show it: its first values.

    >>> spelled_enum(("ES", "MX"))
    'enum {ES, MX}'
    """
    return f"enum {{{listed(values, ENUM_SHOWN)}}}"


def _require_instant(one: ContractField) -> None:
    if not isinstance(one.type, Date | Timestamp | Unknown):
        message = f"freshness is told from a date or timestamp, but `{one.name}` is {one.type}"
        raise ContractError(message, one.name)
