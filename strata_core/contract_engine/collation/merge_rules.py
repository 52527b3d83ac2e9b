"""How values from several places become one: one row per kind of field, printed in `docs/contract-engine.md`.

The canonical contract owns what is intended; fragments fill gaps; generated metadata fills what is observed or derived
(Seed 2, step 3, "Precedence"). What disagrees with a value that counts more never replaces it, it is told (E114).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from ...frozen import dataclass
from ...types import widens
from ...types.spelling import TypeSpellingError, parse_type
from .candidate import Tier


class How(StrEnum):
    """What is done with the values of one field."""

    SCALAR = "one value"
    FIELDS = "field by field"
    BY_NAME = "by name"
    UNION = "union"


Same = Callable[[Any, Any, Tier], bool]


@dataclass(frozen=True, slots=True)
class MergeRule:
    """A row: where (`[]` stands for any item), how, by which keys items are told apart, which tiers may fill a gap, and
    whether a disagreement blocks. `same` says what counts as agreement with a value of the given tier."""

    where: str
    how: How
    fill: tuple[Tier, ...] = (Tier.CANONICAL,)
    keys: tuple[str, ...] = ()
    conflict_blocks: bool = True
    same: Same = lambda kept, other, tier: canonical(kept) == canonical(other)
    says: str = ""


_spelled = json.JSONEncoder(sort_keys=True, ensure_ascii=False, default=str).encode


def canonical(value: Any) -> str:
    """One spelling of equal values."""
    return _spelled(value)


def _same_type(kept: Any, other: Any, tier: Tier) -> bool:
    """By the lattice, never by the text: what is generated may be narrower than what is promised."""
    try:
        promised, found = parse_type(str(kept)), parse_type(str(other))
    except TypeSpellingError:
        return str(kept) == str(other)
    return promised == found or (tier is Tier.GENERATED and widens(found, promised))


def _same_promise(kept: Any, other: Any, tier: Tier) -> bool:
    """A source that promises more than the contract is no conflict."""
    return kept == other or (tier is Tier.GENERATED and kept is True)


def _same_values(kept: Any, other: Any, _: Tier) -> bool:
    return sorted(map(canonical, kept)) == sorted(map(canonical, other))


_AUTHORED = (Tier.CANONICAL, Tier.FRAGMENT)
_ALL = (Tier.CANONICAL, Tier.FRAGMENT, Tier.GENERATED)

RULES = (
    MergeRule("", How.FIELDS, says="what only the canonical contract may say, it alone says"),
    MergeRule("assets", How.BY_NAME, _AUTHORED, ("id",), says="an asset of a fragment that has a kind is added"),
    MergeRule("assets[]", How.FIELDS),
    MergeRule("assets[].kind", How.SCALAR, _AUTHORED),
    MergeRule("assets[].ref", How.SCALAR, _AUTHORED),
    MergeRule("assets[].description", How.SCALAR, _ALL, conflict_blocks=False, says="another wording blocks nothing"),
    MergeRule("assets[].documentation", How.SCALAR, _AUTHORED),
    MergeRule("assets[].location", How.SCALAR, _AUTHORED),
    MergeRule("assets[].tags", How.UNION, _AUTHORED),
    MergeRule("assets[].freshness", How.SCALAR, _AUTHORED),
    MergeRule(
        "assets[].columns", How.BY_NAME, _ALL, ("name",), says="tools add columns only where no person lists any"
    ),
    MergeRule("assets[].columns[]", How.FIELDS),
    MergeRule("assets[].columns[].type", How.SCALAR, _ALL, same=_same_type, says="compared by the type lattice"),
    MergeRule(
        "assets[].columns[].nullable",
        How.SCALAR,
        _AUTHORED,
        same=_same_promise,
        says="tools may promise more",
    ),
    MergeRule("assets[].columns[].description", How.SCALAR, _ALL, conflict_blocks=False),
    MergeRule("assets[].columns[].enum", How.SCALAR, _AUTHORED, same=_same_values, says="compared as sets"),
    MergeRule("assets[].columns[].unique", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].primary_key", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].protected", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].classification", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].mask", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].partition_by", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].freshness", How.SCALAR, _AUTHORED),
    MergeRule("assets[].columns[].derived_from", How.SCALAR, _AUTHORED),
    MergeRule("tests", How.UNION, _AUTHORED, ("id",), says="two tests of one id must be equal"),
    MergeRule("lineage", How.FIELDS),
    MergeRule("lineage.upstream", How.UNION, _ALL, ("product", "asset")),
)
"""The merge rules. A field that has no row belongs to the canonical contract alone."""

BY_PLACE = {rule.where: rule for rule in RULES}
CANONICAL_ONLY = MergeRule("*", How.SCALAR)
