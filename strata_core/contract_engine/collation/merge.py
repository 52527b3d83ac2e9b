"""Merging: the words of several sources on one value become the value, its source, and what they disagree about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ...diagnostics import Diagnostic, Related, Report, Severity
from ...frozen import dataclass
from ..documents import Document, Path, item_name
from .candidate import Provenance, SuggestedEdit, Tier
from .merge_rules import BY_PLACE, CANONICAL_ONLY, How, MergeRule, canonical


@dataclass(frozen=True, slots=True)
class Part:
    """One source's word on a value: the value at `path` of `document`."""

    tier: Tier
    document: Document
    path: Path
    value: Any

    @property
    def provenance(self) -> Provenance:
        """Where it stands."""
        return Provenance(self.tier, self.document.span(self.path))

    def below(self, step: str | int) -> Part:
        """The part at a field or item of this one."""
        return Part(self.tier, self.document, (*self.path, step), self.value[step])


class Merge:
    """Parts become one value; sources and edits are gathered on the way."""

    def __init__(self, file: str, report: Report) -> None:
        self.file, self.report = file, report
        self.provenance: dict[Path, Provenance] = {}
        self.edits: list[SuggestedEdit] = []

    def fields(self, where: str, path: Path, parts: Sequence[Part]) -> dict[str, Any]:
        """Field by field: the canonical order, then the alphabet."""
        mappings = [p for p in parts if isinstance(p.value, Mapping)]
        if mappings:
            self.provenance[path] = min(p.provenance for p in mappings)
        names = dict.fromkeys(n for p in mappings if p.tier is Tier.CANONICAL for n in p.value)
        names.update(dict.fromkeys(sorted({n for p in mappings for n in p.value})))
        merged = {}
        for name in names:
            place = f"{where}.{name}" if where else name
            rule = BY_PLACE.get(place, CANONICAL_ONLY)
            inner = [p.below(name) for p in mappings if name in p.value]
            value = self.value(rule, place, (*path, name), inner)
            if value is not None:
                merged[name] = value
        return merged

    def value(self, rule: MergeRule, where: str, path: Path, parts: Sequence[Part]) -> Any:
        match rule.how:
            case How.FIELDS:
                return self.fields(where, path, parts) or None
            case How.BY_NAME:
                return self.named(rule, where, path, parts)
            case How.UNION:
                return self.union(rule, path, parts)
            case How.SCALAR:
                return self.scalar(rule, path, parts)

    def scalar(self, rule: MergeRule, path: Path, parts: Sequence[Part]) -> Any:
        """The value that counts most; the others must agree with it."""
        if len(parts) == 1:  # most values are said once
            (only,) = parts
            if only.tier not in rule.fill:
                return None
            self.note(path, only)
            return only.value
        ranked = sorted(parts, key=lambda p: (p.tier, canonical(p.value), p.provenance))
        fillers = [p for p in ranked if p.tier in rule.fill]
        if not fillers:
            return None
        kept = fillers[0]
        self.note(path, kept)
        told: set[str] = set()
        for other in ranked:
            if other is kept:
                continue
            spelled = canonical(other.value)
            if spelled not in told and not rule.same(kept.value, other.value, other.tier):
                told.add(spelled)
                self.conflict(rule, path, kept, other)
        return kept.value

    def note(self, path: Path, part: Part) -> None:
        """The source of a value and of all that is in it."""
        self.provenance[path] = part.provenance
        value = part.value
        if isinstance(value, Mapping):
            for name in value:
                self.note((*path, name), part.below(name))
        elif isinstance(value, list):
            for i in range(len(value)):
                self.note((*path, i), part.below(i))

    def conflict(self, rule: MergeRule, path: Path, kept: Part, other: Part) -> None:
        name = next(step for step in reversed(path) if isinstance(step, str))
        spelled = kept.document.spelled(kept.path) or name
        message = f"`{spelled}` is {_shown(kept.value)} here, and {_shown(other.value)} elsewhere"
        fix = f"make the two the same: {_TOLD[other.tier]} says {_shown(other.value)}"
        code, severity = ("E114", Severity.ERROR) if rule.conflict_blocks else ("W111", Severity.INFO)
        self.report(
            Diagnostic(
                code,
                message,
                kept.provenance.span,
                severity,
                fix=fix,
                related=(Related(other.provenance.span, f"{_TOLD[other.tier]} says {_shown(other.value)}"),),
                field_path=spelled,
            )
        )
        if kept.tier is Tier.CANONICAL:
            reason = f"{_TOLD[other.tier]} says {_shown(other.value)}"
            edit = SuggestedEdit(self.file, kept.path, other.value, kept.value, reason, other.provenance.span)
            self.edits.append(edit)

    def named(self, rule: MergeRule, where: str, path: Path, parts: Sequence[Part]) -> list[Any]:
        """Items by name: the canonical order, then the alphabet. Tools alone add none where people list some."""
        key = rule.keys[0]
        authored = any(p.tier is not Tier.GENERATED and p.value for p in parts)

        def name_of(item: Any) -> str | None:
            name = item.get(key) if isinstance(item, Mapping) else None
            return name if isinstance(name, str) else None

        merged: list[Any] = []
        for name, items in self.grouped(parts, name_of):
            tiers = {p.tier for p in items}
            if (authored and tiers == {Tier.GENERATED}) or not tiers & set(rule.fill):
                continue
            generated_alone = tiers == {Tier.GENERATED}
            value = {key: name} | self.fields(f"{where}[]", (*path, len(merged)), items)
            if generated_alone and any(p.value.get("nullable") is False for p in items):
                value["nullable"] = False
            merged.append(value)
        return merged

    def grouped(self, parts: Sequence[Part], key_of: Callable[[Any], str | None]) -> Iterator[tuple[str, list[Part]]]:
        """The items of lists by key: the canonical order, then the alphabet. Of two of one list the first counts."""
        groups: dict[str, list[Part]] = {}
        own: list[str] = []
        for part in parts:
            seen: dict[str, Part] = {}
            for i in range(len(part.value) if isinstance(part.value, list) else 0):
                item = part.below(i)
                key = key_of(item.value)
                if key is None:
                    continue
                if key in seen:
                    self.twice(item, seen[key], item_name(item.value) or key)
                    continue
                seen[key] = item
                groups.setdefault(key, []).append(item)
                if part.tier is Tier.CANONICAL:
                    own.append(key)
        return ((key, groups[key]) for key in dict.fromkeys((*own, *sorted(groups))))

    def twice(self, item: Part, first: Part, name: str) -> None:
        related = (Related(first.provenance.span, "the first is here"),)
        message, fix = f"`{name}` is listed twice", "keep one of the two"
        field_path = item.document.spelled(item.path)
        self.report(Diagnostic("E023", message, item.provenance.span, fix=fix, related=related, field_path=field_path))

    def union(self, rule: MergeRule, path: Path, parts: Sequence[Part]) -> list[Any]:
        """All items once; two of one key must be equal."""
        merged: list[Any] = []
        for _, items in self.grouped([p for p in parts if p.tier in rule.fill], partial(self.key_of, rule)):
            if rule.keys == ("product", "asset"):
                items = [min(items, key=lambda p: (p.tier, canonical(p.value), p.provenance))]
            merged.append(self.scalar(rule, (*path, len(merged)), items))
        return merged

    @staticmethod
    def key_of(rule: MergeRule, value: Any) -> str:
        if not rule.keys or not isinstance(value, Mapping):
            return canonical(value)
        return canonical([value.get(k) for k in rule.keys])


_TOLD = {
    Tier.CANONICAL: "the contract",
    Tier.FRAGMENT: "a fragment beside the asset",
    Tier.GENERATED: "generated metadata",
}


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else canonical(value)
    return f"`{text if len(text) <= 60 else text[:59] + '…'}`"
