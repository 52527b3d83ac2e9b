"""The outcome of a comparison, apart from how it is found: most contracts of a tree are compared with nothing."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from ...diagnostics import Diagnostic
from ...frozen import dataclass
from ..naming import is_draft

if TYPE_CHECKING:
    from ..promotions import Promotion
    from .changes import ProductChange


class Verdict(StrEnum):
    """The classes of the seed, and that of a product that was never promoted."""

    DRAFT = "draft-pre-1.0"
    FIRST = "first-version"
    PATCH = "patch-compatible"
    MINOR = "minor-compatible"
    MAJOR = "major-breaking"


@dataclass(frozen=True, slots=True)
class Compatibility:
    """The outcome for one product. `against` is the promoted version that it was held against."""

    verdict: Verdict
    against: str | None
    changes: tuple[ProductChange, ...]
    tombstones: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


def unchanged(promotion: Promotion) -> Compatibility:
    """The outcome for a product that says what was promoted: that of comparing the two, without doing it."""
    verdict = Verdict.PATCH if promotion.live else Verdict.DRAFT
    return Compatibility(verdict, promotion.version, (), promotion.tombstones, ())


def uncompared(version: str) -> Compatibility:
    """The outcome for a product that was never promoted."""
    return Compatibility(Verdict.DRAFT if is_draft(version) else Verdict.FIRST, None, (), {}, ())
