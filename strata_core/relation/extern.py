"""A function that is declared and not known: its signature is trusted, its translations are given (`extern fn`)."""

from __future__ import annotations

from ..frozen import dataclass
from ..types import Inferred, Unknown, ValueType


@dataclass(frozen=True, slots=True)
class ExternParameter:
    """One parameter; where it is `nonnull`, so must the argument be."""

    name: str
    type: ValueType
    nonnull: bool


@dataclass(frozen=True, slots=True)
class Extern:
    """`extern fn geohash(lat: float64) -> string nonnull deterministic { duckdb: "…" }`.

    `bindings` holds, by the name of an engine, a scalar expression of its SQL in which `$lat` stands for an argument,
    or `module:function` for an engine in Python. The result is null where an argument is, or where it is not `nonnull`.
    """

    name: str
    parameters: tuple[ExternParameter, ...]
    type: ValueType
    nonnull: bool
    bindings: tuple[tuple[str, str], ...]

    @property
    def signature(self) -> str:
        """As messages show it."""
        parameters = ", ".join(f"{p.name}: {p.type}{' nonnull' if p.nonnull else ''}" for p in self.parameters)
        return f"{self.name}({parameters}) -> {self.type}{' nonnull' if self.nonnull else ''}"

    @property
    def is_known(self) -> bool:
        """Whether the types of its signature are."""
        return not any(isinstance(t, Unknown) for t in (self.type, *(p.type for p in self.parameters)))

    def binding(self, engine: str) -> str | None:
        """The translation for an engine."""
        return dict(self.bindings).get(engine)

    def result(self, arguments: tuple[Inferred, ...]) -> Inferred:
        """What is known of the result: what the declaration says."""
        return Inferred(self.type, not self.nonnull or any(a.nullable for a in arguments))
