"""What changed between two table contracts, and what that means to those who read the table (Seed 0 §3, §5 B).

One table, `RULES`, says it for every kind of change: which promise (`Aspect`), in which `Direction` it went, and the
`Impact`. `compare_contracts` names the changes; the contract engine adds the rows of what a table contract does not
hold (tests, permissions), lineage those of origins and rows, with the same types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any

from ..diagnostics import Span
from ..digests import hexdigest
from ..frozen import dataclass
from ..types import widens
from .model import ContractField, Freshness, Mask, MaskRule, TableContract
from .rules import spelled_age


class Aspect(StrEnum):
    """Which promise changed."""

    COLUMN = "column"
    TYPE = "type"
    NULLABILITY = "nullability"
    ENUM = "enum"
    UNIQUE = "unique"
    KEY = "key"
    PROTECTION = "protection"
    CLASSIFICATION = "classification"
    MASK = "mask"
    PARTITIONING = "partitioning"
    FRESHNESS = "freshness"
    CLOSED = "closed"
    DESCRIPTION = "description"


class Direction(StrEnum):
    """Where a promise went: it `tightens` where fewer tables keep it than before, `loosens` where more do.

    `both`: some tables that kept it no longer do, and the other way round. `undecidable`: nobody can tell by comparing.
    """

    TIGHTENS = "tightens"
    LOOSENS = "loosens"
    BOTH = "both"
    UNDECIDABLE = "undecidable"


class Impact(StrEnum):
    """What a change does to a consumer, lightest first; `review` asks the owner, and is never silently another."""

    PATCH = "patch"
    MINOR = "minor"
    REVIEW = "review"
    MAJOR = "major"

    @property
    def weight(self) -> int:
        """For comparing: the place in the order of the class."""
        return tuple(Impact).index(self)


class Demand(StrEnum):
    """What a change asks for besides a version."""

    NOTICE = "notice"
    APPROVAL = "governance approval"


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """A row of a table of changes: a stable `id`, its impact, and the sentence that people read.

    `demand` and `unless` say what else is asked for, and for whom the impact is another.
    """

    id: str
    impact: Impact
    says: str
    demand: Demand | None = None
    unless: str | None = None


RULES: Mapping[tuple[Aspect, Direction], ChangeRule] = {
    (Aspect.COLUMN, Direction.TIGHTENS): ChangeRule("column-added", Impact.MINOR, "added"),
    (Aspect.COLUMN, Direction.LOOSENS): ChangeRule("column-removed", Impact.MAJOR, "removed"),
    (Aspect.COLUMN, Direction.BOTH): ChangeRule("column-renamed", Impact.MAJOR, "renamed"),
    (Aspect.TYPE, Direction.TIGHTENS): ChangeRule("type-narrowed", Impact.MAJOR, "narrowed"),
    (Aspect.TYPE, Direction.LOOSENS): ChangeRule("type-widened", Impact.MINOR, "widened"),
    (Aspect.TYPE, Direction.BOTH): ChangeRule("type-changed", Impact.MAJOR, "of another type"),
    (Aspect.NULLABILITY, Direction.TIGHTENS): ChangeRule("nonnull-added", Impact.MINOR, "no longer null"),
    (Aspect.NULLABILITY, Direction.LOOSENS): ChangeRule("nonnull-dropped", Impact.MAJOR, "may be null now"),
    (Aspect.ENUM, Direction.TIGHTENS): ChangeRule("enum-narrowed", Impact.MINOR, "fewer values", Demand.NOTICE),
    (Aspect.ENUM, Direction.LOOSENS): ChangeRule("enum-widened", Impact.MAJOR, "further values"),
    (Aspect.ENUM, Direction.BOTH): ChangeRule("enum-changed", Impact.MAJOR, "other values"),
    (Aspect.UNIQUE, Direction.TIGHTENS): ChangeRule("unique-added", Impact.MINOR, "unique now"),
    (Aspect.UNIQUE, Direction.LOOSENS): ChangeRule("unique-dropped", Impact.MAJOR, "no longer unique"),
    (Aspect.KEY, Direction.TIGHTENS): ChangeRule("key-added", Impact.MINOR, "a primary key now"),
    (Aspect.KEY, Direction.LOOSENS): ChangeRule("key-dropped", Impact.MAJOR, "no primary key any more"),
    (Aspect.KEY, Direction.BOTH): ChangeRule("key-changed", Impact.MAJOR, "another primary key"),
    (Aspect.PROTECTION, Direction.TIGHTENS): ChangeRule("protection-added", Impact.MINOR, "protected now"),
    (Aspect.PROTECTION, Direction.LOOSENS): ChangeRule("protection-dropped", Impact.MAJOR, "no longer protected"),
    (Aspect.CLASSIFICATION, Direction.TIGHTENS): ChangeRule(
        "classification-added", Impact.MINOR, "classified now", Demand.NOTICE
    ),
    (Aspect.CLASSIFICATION, Direction.LOOSENS): ChangeRule(
        "classification-dropped", Impact.MAJOR, "no longer classified", Demand.APPROVAL
    ),
    (Aspect.CLASSIFICATION, Direction.UNDECIDABLE): ChangeRule(
        "classification-changed", Impact.REVIEW, "classified otherwise", Demand.APPROVAL
    ),
    (Aspect.MASK, Direction.TIGHTENS): ChangeRule("mask-strengthened", Impact.MINOR, "shows less", Demand.NOTICE),
    (Aspect.MASK, Direction.LOOSENS): ChangeRule("mask-weakened", Impact.MAJOR, "shows more", Demand.APPROVAL),
    (Aspect.PARTITIONING, Direction.BOTH): ChangeRule(
        "partitioning-changed", Impact.MINOR, "laid out otherwise", unless="major for those who read its files by path"
    ),
    (Aspect.FRESHNESS, Direction.TIGHTENS): ChangeRule("freshness-tightened", Impact.MINOR, "fresher"),
    (Aspect.FRESHNESS, Direction.LOOSENS): ChangeRule("freshness-loosened", Impact.MAJOR, "less fresh"),
    (Aspect.FRESHNESS, Direction.BOTH): ChangeRule("freshness-changed", Impact.MAJOR, "fresh by another column"),
    (Aspect.CLOSED, Direction.TIGHTENS): ChangeRule("closed-added", Impact.MINOR, "closed now", Demand.NOTICE),
    (Aspect.CLOSED, Direction.LOOSENS): ChangeRule("closed-dropped", Impact.MINOR, "may have further columns now"),
    (Aspect.DESCRIPTION, Direction.UNDECIDABLE): ChangeRule("description-changed", Impact.PATCH, "described otherwise"),
}
"""Every change that two table contracts can show (design `contract-engine.md`, "Compatibility")."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one column, or of the whole table where `column` is `None`.

    `column` is the name that consumers know: the one from before, but of a column that was added. `before` and `after`
    spell what was promised on each side. A column that was `protected` before may not change at all without breaking
    those who read it; describing it is no change of it.
    """

    rule: ChangeRule
    column: str | None
    before: str | None = None
    after: str | None = None
    protected: bool = False
    before_span: Span | None = None
    after_span: Span | None = None

    @property
    def impact(self) -> Impact:
        """The impact of its rule; `major` wherever a protected column is touched."""
        return Impact.MAJOR if self.protected and self.rule.impact is not Impact.PATCH else self.rule.impact

    @property
    def breaks(self) -> bool:
        """Whether a consumer must change with it."""
        return self.impact is Impact.MAJOR

    @property
    def fingerprint(self) -> str:
        """The same for the same change of a table, wherever it is written: what an approval is given to."""
        return hexdigest("change-1", self.rule.id, self.column or "", self.before or "", self.after or "")


def compare_contracts(
    before: TableContract, after: TableContract, renamed: Mapping[str, str] | None = None
) -> tuple[Change, ...]:
    """What changed from `before` to `after`, column by column in the order of `before`, then of the whole table.

    `renamed` gives the new names of columns that are known to be the same: this module compares promises and does not
    guess. Order of columns and values, spans and the contracts' own names are no change.
    """
    renamed = {a: b for a, b in (renamed or {}).items() if a in before and b in after}
    changes: list[Change] = []
    for old in before.fields:
        name = renamed.get(old.name, old.name)
        if old.name not in renamed and (name not in after or name in renamed.values()):
            rule = RULES[Aspect.COLUMN, Direction.LOOSENS]
            changes.append(Change(rule, old.name, old.promise, None, old.protected, old.span, after.span))
            continue
        changes += _of_field(old, after[name])
    known = {renamed.get(name, name) for name in before.names if name in renamed or name not in renamed.values()}
    for new in after.fields:
        if new.name not in known:
            rule = RULES[Aspect.COLUMN, Direction.TIGHTENS]
            changes.append(Change(rule, new.name, None, new.promise, False, before.span, new.span))
    return (*changes, *_of_table(before, after, renamed))


def _of_field(old: ContractField, new: ContractField) -> Iterator[Change]:
    def change(aspect: Aspect, direction: Direction, before: str | None, after: str | None) -> Change:
        return Change(RULES[aspect, direction], old.name, before, after, old.protected, old.span, new.span)

    if old.name != new.name:
        yield change(Aspect.COLUMN, Direction.BOTH, old.name, new.name)
    if old.type != new.type:
        if widens(old.type, new.type):
            direction = Direction.LOOSENS
        else:
            direction = Direction.TIGHTENS if widens(new.type, old.type) else Direction.BOTH
        yield change(Aspect.TYPE, direction, str(old.type), str(new.type))
    for aspect, direction_of, read, spelled in PER_FIELD:
        before, after = read(old), read(new)
        direction_found = direction_of(before, after)
        if direction_found is not None:
            yield change(aspect, direction_found, spelled(before), spelled(after))


def _promised(before: Any, after: Any) -> Direction | None:
    """A promise that is made or not."""
    if bool(before) == bool(after):
        return None
    return Direction.TIGHTENS if after else Direction.LOOSENS


def _values(before: tuple[str, ...] | None, after: tuple[str, ...] | None) -> Direction | None:
    if before is None or after is None:
        return _promised(before, after)
    old, new = frozenset(before), frozenset(after)
    if old == new:
        return None
    return Direction.TIGHTENS if new < old else Direction.LOOSENS if old < new else Direction.BOTH


def _labelled(before: str | None, after: str | None) -> Direction | None:
    """Labels have no order here: which of two is the stricter is for people to say."""
    if before == after:
        return None
    return _promised(before, after) or Direction.UNDECIDABLE


SHOWN = {MaskRule.DROP: 0, MaskRule.NULL: 1, MaskRule.HASH: 2, MaskRule.PARTIAL: 3}
"""How much of a value a mask lets through: nothing, that there is one, which are equal, its last characters."""


def _masked(before: Mask | None, after: Mask | None) -> Direction | None:
    if before == after:
        return None
    old, new = ((4, 0) if mask is None else (SHOWN[mask.rule], mask.keep) for mask in (before, after))
    return Direction.TIGHTENS if new < old else Direction.LOOSENS


def _aged(before: timedelta | None, after: timedelta | None) -> Direction | None:
    if before is None or after is None or before == after:
        return _promised(before, after)
    return Direction.TIGHTENS if after < before else Direction.LOOSENS


def _differs(direction: Direction) -> Callable[[Any, Any], Direction | None]:
    return lambda before, after: None if before == after else direction


def _word(word: str, otherwise: str | None = None) -> Callable[[bool], str | None]:
    return lambda holds: word if holds else otherwise


def spelled_values(values: Iterable[str]) -> str:
    """All values of an enum, in one order, so that two that differ are spelled differently.

    >>> spelled_values(["MX", "a, b"])
    'enum {MX, "a, b"}'
    """
    return f"enum {{{', '.join(v if v.isidentifier() else json.dumps(v) for v in sorted(values))}}}"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


PER_FIELD: tuple[
    tuple[Aspect, Callable[[Any, Any], Direction | None], Callable[[ContractField], Any], Callable[[Any], str | None]],
    ...,
] = (
    (Aspect.NULLABILITY, _promised, lambda f: not f.nullable, _word("nonnull", "nullable")),
    (Aspect.ENUM, _values, lambda f: f.enum, lambda v: None if v is None else spelled_values(v)),
    (Aspect.UNIQUE, _promised, lambda f: f.unique, _word("unique")),
    (Aspect.PROTECTION, _promised, lambda f: f.protected, _word("protected")),
    (Aspect.CLASSIFICATION, _labelled, lambda f: f.classification, _text),
    (Aspect.MASK, _masked, lambda f: f.mask, _text),
    (Aspect.PARTITIONING, _differs(Direction.BOTH), lambda f: f.partition_by, _word("partition_by")),
    (Aspect.FRESHNESS, _aged, lambda f: f.freshness, lambda v: None if v is None else spelled_age(v)),
    (Aspect.DESCRIPTION, _differs(Direction.UNDECIDABLE), lambda f: f.description, _text),
)
"""What is compared of a field besides its name and type: how two values differ, and how they are spelled."""


def _of_table(before: TableContract, after: TableContract, renamed: Mapping[str, str]) -> Iterator[Change]:
    def change(aspect: Aspect, direction: Direction, old: str | None, new: str | None) -> Change:
        return Change(RULES[aspect, direction], None, old, new, False, before.span, after.span)

    key = frozenset(renamed.get(name, name) for name in before.key)
    if key != frozenset(after.key):
        direction = _promised(key, after.key) or Direction.BOTH
        yield change(Aspect.KEY, direction, _listed(sorted(before.key)), _listed(sorted(after.key)))
    if (fresher := _fresh(before.freshness, after.freshness, renamed)) is not None:
        yield change(Aspect.FRESHNESS, fresher, _spelled(before.freshness), _spelled(after.freshness))
    if (closing := _promised(before.closed, after.closed)) is not None:
        yield change(Aspect.CLOSED, closing, _word("closed")(before.closed), _word("closed")(after.closed))
    if before.description != after.description:
        yield change(Aspect.DESCRIPTION, Direction.UNDECIDABLE, before.description, after.description)


def _fresh(before: Freshness | None, after: Freshness | None, renamed: Mapping[str, str]) -> Direction | None:
    if before is None or after is None:
        return _promised(before, after)
    column = before.column and renamed.get(before.column, before.column)
    return Direction.BOTH if column != after.column else _aged(before.max_age, after.max_age)


def _spelled(freshness: Freshness | None) -> str | None:
    if freshness is None:
        return None
    return f"{f'{freshness.column} ' if freshness.column else ''}<= {spelled_age(freshness.max_age)}"


def _listed(names: Iterable[str]) -> str | None:
    return ", ".join(names) or None
