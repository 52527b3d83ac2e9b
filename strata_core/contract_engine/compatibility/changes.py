"""What a change of a product is, and the two contracts that it is between."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from ...contract.ages import parse_age
from ...contract.changes import ChangeRule, Impact
from ...diagnostics import Span
from ...digests import hexdigest
from ...frozen import dataclass
from ..collation.candidate import Candidate
from ..collation.merge_rules import canonical
from ..documents import Path
from .rules import PRODUCT_RULES

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ProductChange:
    """One change. `where` is the field as people read it, `impact` what it does to consumers (the heaviest of them)."""

    rule: ChangeRule
    where: str
    before: str | None
    after: str | None
    impact: Impact
    before_span: Span | None
    after_span: Span | None
    asset: str | None = None
    column: str | None = None
    consumers: tuple[str, ...] = ()
    of_table: str | None = None
    """The fingerprint of the change of the table contract that it is, as a plan of Strata models tells it; None where
    the rule looks at more than the table, so that an approval given with it does not hold without."""

    @property
    def fingerprint(self) -> str:
        """What an approval is given to: the same in every commit that leaves the change as it is, and the same for a
        plan that breaks consumers by it."""
        return self.of_table or hexdigest(
            "product-change-1", self.rule.id, self.where, self.before or "", self.after or ""
        )

    @property
    def short(self) -> str:
        """The fingerprint as people write it."""
        return self.fingerprint[:12]


@dataclass(frozen=True, slots=True)
class Sides:
    """The two contracts, with the places of their values."""

    before: Candidate
    after: Candidate

    def change(
        self,
        rule: str,
        where: str,
        before: object,
        after: object,
        before_path: Path = (),
        after_path: Path = (),
        **more: Any,
    ) -> ProductChange:
        """A change by a row of the product's table."""
        row = PRODUCT_RULES[rule]
        return ProductChange(
            row,
            where,
            _text(before),
            _text(after),
            row.impact,
            self.before.span(before_path),
            self.after.span(after_path),
            **more,
        )


def _text(value: object) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else canonical(value)


def age_direction(before: str | None, after: str | None) -> int:
    """1 where the age may be greater than before, -1 where it may not be as great, 0 where it is the same."""
    old, new = (parse_age(text) if text else None for text in (before, after))
    if old == new:
        return 0
    if old is None or new is None:
        return 1 if new is None else -1
    return 1 if new > old else -1


def changes_of(changes: Iterable[ProductChange], *impacts: Impact) -> tuple[ProductChange, ...]:
    """The changes of some impacts."""
    return tuple(c for c in changes if c.impact in impacts)


def by_id(items: Iterable[Item], key: str = "id") -> dict[str, tuple[int, Item]]:
    """Items with their places, by what names them."""
    return {getattr(item, key): (i, item) for i, item in enumerate(items)}
