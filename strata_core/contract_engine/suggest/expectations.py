"""Tests that a contract could have: of what it promises, of what the compiler proves, of what rows look like.

All are proposed as informational: what was seen is not what is meant, and only people know which is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...diagnostics import Span
from ...frozen import dataclass
from ..authored import Asset, ColumnContract
from ..collation.candidate import Candidate, Confidence, SuggestedEdit, Tier
from ..documents import Document
from ..parse.parsed import GeneratedAsset
from .evidence import FEWEST_ROWS, Evidence, Profile
from .foreign_keys import Reference
from .proofs import Proven

_NEAR = 0.05
_ROWS = "rows"
"""The evidence of what rows look like: what is concluded is in the test itself, and how many they are counts not."""


@dataclass(frozen=True, slots=True)
class _Idea:
    """An expectation, the end of its test's id, and why it might be meant. `evidence` is as in `SuggestedEdit`, `span`
    where that is told, None where nothing but the contract and rows do."""

    name: str
    expectation: Mapping[str, Any]
    why: str
    confidence: Confidence
    evidence: str = ""
    span: Span | None = None


def expectations(document: Document, candidate: Candidate, evidence: Evidence) -> Iterator[SuggestedEdit]:
    """A test for each thing that no test asks for yet."""
    asked = [_asks(test) for test in candidate.data.get("tests", ())]
    ids = {str(test.get("id")) for test in candidate.data.get("tests", ())}
    number = len(document.data.get("tests", ()))
    for place, asset in enumerate(candidate.contract.assets):
        table = evidence.known.table_of(asset)
        compiled = table if table is not None and table.compiled else None
        proven = evidence.known.proofs.models.get(asset.ref or asset.id, Proven()) if compiled else Proven()
        open_ = [c.name for i, c in enumerate(asset.columns) if not _decided(candidate, place, i) and not c.primary_key]
        profile = evidence.profiles.get(asset.id)
        ideas = (*_ideas(asset, open_, compiled, proven, profile), *_references(asset, evidence.references))
        for idea in ideas:
            id_ = f"{asset.id}_{idea.name}"
            value = {
                "id": id_,
                "kind": "expectation",
                "severity": "informational",
                "asset": asset.id,
                "expectation": dict(idea.expectation),
            }
            if id_ in ids or any(_covers(one, _asks(value)) for one in asked):
                continue
            ids.add(id_)
            path, span = ("tests", number), idea.span or candidate.span(("assets", place))
            yield SuggestedEdit(document.file, path, value, None, idea.why, span, idea.confidence, idea.evidence)
            number += 1


def _decided(candidate: Candidate, asset: int, column: int) -> bool:
    """Whether people said if the column may be null."""
    found = candidate.provenance.get(("assets", asset, "columns", column, "nullable"))
    return found is not None and found.tier is not Tier.GENERATED


_Asked = tuple[str, str, frozenset[str]]


def _asks(test: Mapping[str, Any]) -> _Asked:
    """What an expectation asks: of an asset, which kind of thing, of which columns."""
    expectation = test.get("expectation") or {}
    columns = frozenset(expectation.get("columns", ())) | {c for c in (expectation.get("column"),) if c}
    return test.get("asset", ""), expectation.get("type", ""), columns


def _covers(asked: _Asked, idea: _Asked) -> bool:
    """Whether who passes the one test passes the other: fewer columns that tell rows apart, more that are filled."""
    if asked[:2] != idea[:2]:
        return False
    return asked[2] >= idea[2] if idea[1] == "not_null" else asked[2] <= idea[2]


def _ideas(
    asset: Asset, open_: Iterable[str], compiled: GeneratedAsset | None, proven: Proven, profile: Profile | None
) -> Iterator[_Idea]:
    if profile is not None and profile.rows < FEWEST_ROWS:
        profile = None
    yield from _keys(asset, compiled, proven, profile)
    yield from _nulls(asset, open_, compiled, profile)
    for column in asset.columns:
        yield from _values(asset, column, compiled, proven, profile)
        yield from _range(asset, column, profile)
    if profile is not None:
        why = f"`{asset.id}` had {profile.rows:,} rows when it was looked at"
        yield _Idea("not_empty", {"type": "row_count", "min": 1}, why, Confidence.LOW, _ROWS)


def _references(asset: Asset, references: Iterable[Reference]) -> Iterator[_Idea]:
    for one in references:
        if one.own.asset.id == asset.id:
            name = f"{_word('_'.join(one.columns))}_in_{one.other.asset.id}"
            expectation = {"type": "referential", "columns": list(one.columns), "to": one.to}
            yield _Idea(name, expectation, one.why, one.confidence, one.told.why, one.told.span)


def _keys(asset: Asset, compiled: GeneratedAsset | None, proven: Proven, profile: Profile | None) -> Iterator[_Idea]:
    promised = [c.name for c in asset.columns if c.primary_key]
    names = {c.name for c in asset.columns}
    key = next((k for k in proven.keys if k and names >= set(k)), None)
    if promised:
        why = f"promised as key, and asked for by no test: {_named(promised)} of `{asset.id}`"
        yield _Idea("unique", {"type": "unique", "columns": promised}, why, Confidence.HIGH)
    elif key is not None:
        why = f"proven by the compiler to tell all rows apart: {_named(key)} of `{asset.id}`"
        span = compiled.span if compiled else None
        yield _Idea("unique", {"type": "unique", "columns": list(key)}, why, Confidence.HIGH, span=span)
    elif profile is not None:
        found = next((c for c in asset.columns if _tells_apart(c, profile)), None)
        if found is not None:
            why = (
                f"no value of `{found.name}` is there twice in {profile.rows:,} rows of `{asset.id}`, and none is null"
            )
            yield _Idea("unique", {"type": "unique", "columns": [found.name]}, why, Confidence.LOW, _ROWS)


def _tells_apart(column: ColumnContract, profile: Profile) -> bool:
    return column.name in profile.columns and profile.columns[column.name].repeats is False


def _nulls(
    asset: Asset, open_: Iterable[str], compiled: GeneratedAsset | None, profile: Profile | None
) -> Iterator[_Idea]:
    """Of the columns of which nobody said whether they may be null."""
    sure = {c.name for c in compiled.columns if c.nullable is False} if compiled else set()
    proven = [name for name in open_ if name in sure]
    if proven:
        why = f"proven never to be null by the compiler, and asked for by no test: {_named(proven)} of `{asset.id}`"
        span = compiled.span if compiled else None
        yield _Idea("not_null", {"type": "not_null", "columns": proven}, why, Confidence.HIGH, span=span)
    if profile is not None:
        filled = [n for n in open_ if n not in sure and n in profile.columns and profile.columns[n].nulls == 0]
        if filled:
            why = f"null in none of {profile.rows:,} rows of `{asset.id}`: {_named(filled)}"
            yield _Idea("filled", {"type": "not_null", "columns": filled}, why, Confidence.LOW, _ROWS)


def _values(
    asset: Asset, column: ColumnContract, compiled: GeneratedAsset | None, proven: Proven, profile: Profile | None
) -> Iterator[_Idea]:
    if column.enum or column.classification or column.mask or column.primary_key:
        return
    sure = proven.values.get(column.name)
    seen = profile.columns[column.name] if profile and column.name in profile.columns else None
    name = f"{_word(column.name)}_values"
    if sure:
        why = f"proven by the compiler to have no other value: `{column.name}` of `{asset.id}`"
        span = compiled.span if compiled else None
        yield _Idea(name, _accepted(column, sure), why, Confidence.HIGH, span=span)
    elif profile is not None and seen is not None and seen.values and profile.rows >= FEWEST_ROWS * len(seen.values):
        count = f"{len(seen.values)} values" if len(seen.values) > 1 else "one value"
        why = f"`{column.name}` has {count} in {profile.rows:,} rows of `{asset.id}`"
        yield _Idea(name, _accepted(column, seen.values), why, Confidence.LOW, _ROWS)


def _accepted(column: ColumnContract, values: Iterable[str]) -> Mapping[str, Any]:
    return {"type": "accepted_values", "column": column.name, "values": list(values)}


def _range(asset: Asset, column: ColumnContract, profile: Profile | None) -> Iterator[_Idea]:
    """A number that comes near zero and is never below is mostly meant so; where else it ends, rows do not tell."""
    seen = profile.columns.get(column.name) if profile else None
    if profile is None or seen is None or seen.least is None or seen.most is None:
        return
    named = column.primary_key or column.unique or seen.repeats is False  # it counts nothing
    if named or not 0 <= seen.least <= _NEAR * seen.most:
        return
    why = f"`{column.name}` goes from {seen.least} to {seen.most} in {profile.rows:,} rows of `{asset.id}`"
    expectation = {"type": "range", "column": column.name, "min": 0}
    yield _Idea(f"{_word(column.name)}_range", expectation, why, Confidence.LOW, _ROWS)


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
