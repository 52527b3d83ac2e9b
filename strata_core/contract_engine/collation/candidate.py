"""What collation makes: the effective authored contract candidate, with the source of every value (Seed 2, step 3)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...diagnostics import Diagnostic, Span
from ...frozen import dataclass, field
from ..documents import Path, spell_path

if TYPE_CHECKING:  # which a caller that only shows findings does not need
    from ..authored import AuthoredContract


class Tier(IntEnum):
    """Whose word counts: the lower number (Seed 2, "Precedence")."""

    CANONICAL = 1
    FRAGMENT = 2
    GENERATED = 3


TIERS: Mapping[Tier, str] = {Tier.CANONICAL: "contract", Tier.FRAGMENT: "fragment", Tier.GENERATED: "tool"}
"""What people are told that it is."""


@dataclass(frozen=True, slots=True, order=True)
class Provenance:
    """Where a value comes from. The order is the one in which sources count."""

    tier: Tier
    span: Span


class Confidence(StrEnum):
    """How sure it is that an edit says what is so. It tells nothing of whether people mean to promise it."""

    HIGH = "high"
    """The compiler proves it, or the contract says it elsewhere."""
    MEDIUM = "medium"
    """People or tools say it elsewhere, of the same data."""
    LOW = "low"
    """Rows or names look like it, and may look otherwise tomorrow."""


@dataclass(frozen=True, slots=True)
class SuggestedEdit:
    """A change to a file that would settle a finding: `value` at `path` of the canonical contract `file`.

    `replaces` is what stands there now, None where nothing does. `reason` names what was seen, `source` where.
    `evidence` says the same without what is another number at every look; empty where the reason has none.
    """

    file: str
    path: Path
    value: Any
    replaces: Any
    reason: str
    source: Span
    confidence: Confidence = Confidence.MEDIUM
    evidence: str = ""


@dataclass(frozen=True)
class Candidate:
    """The effective authored contract of one product.

    `data` is the merged document, `provenance` the source of each of its leaves and of each item of its lists, by
    path. `sound` is False where its shape is not that of a contract: then nothing more is asked of it.
    """

    file: str
    id: str
    data: Mapping[str, Any]
    provenance: Mapping[Path, Provenance] = field(repr=False)
    sound: bool
    edits: tuple[SuggestedEdit, ...] = ()
    inputs: tuple[str, ...] = ()
    """The files that took part, the canonical one first."""

    @cached_property
    def contract(self) -> AuthoredContract:
        """The typed contract; only of a sound candidate."""
        from ..authored import AuthoredContract

        return AuthoredContract.of(self.data)

    def span(self, path: Path) -> Span:
        """Where the value at `path` was written; of one that is absent, the nearest part around it."""
        while path and path not in self.provenance:
            path = path[:-1]
        found = self.provenance.get(path)
        return found.span if found else Span(self.file, 1, 1, 1, 1)

    def spelled(self, path: Path) -> str:
        """`path` as people read it: `assets[legs].columns[seats].type`."""
        return spell_path(self.data, path)

    def finding(self, code: str, message: str, path: Path, fix: str | None = None, **more: Any) -> Diagnostic:
        """A diagnostic at the place of `path`."""
        return Diagnostic(code, message, self.span(path), fix=fix, field_path=self.spelled(path) or None, **more)
