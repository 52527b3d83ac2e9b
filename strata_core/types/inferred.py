"""What inference knows of an expression or column: its type and the facts proven about its values."""

from __future__ import annotations

from collections.abc import Iterable

from ..frozen import dataclass, replace
from .values import UNKNOWN, ValueType

MAX_VALUE_SET = 256


@dataclass(frozen=True, slots=True)
class Inferred:
    """Type, nullability and proven facts.

    `values` is the value set: a finite set of strings that holds every non-null value (Seed 0 §3, `enum`),
    or `None` where nothing is proven. `nonzero` says that no value is zero, so that a division by it needs
    no null (design `language.md`, "Arithmetic").
    """

    type: ValueType
    nullable: bool
    values: frozenset[str] | None = None
    nonzero: bool = False

    def as_nullable(self) -> Inferred:
        """The same, on the optional side of an outer join."""
        return self if self.nullable else replace(self, nullable=True)

    def as_nonnull(self) -> Inferred:
        """The same, after nulls were filtered away."""
        return replace(self, nullable=False) if self.nullable else self

    def __str__(self) -> str:
        return f"{self.type}{'' if self.nullable else ' nonnull'}"


NULL = Inferred(UNKNOWN, nullable=True, values=frozenset())


def union_of_values(parts: Iterable[frozenset[str] | None]) -> frozenset[str] | None:
    """The value set of a choice between `parts`; nothing is proven when one is unknown or the set grows large."""
    union: frozenset[str] = frozenset()
    for part in parts:
        if part is None:
            return None
        union |= part
    return union if len(union) <= MAX_VALUE_SET else None
