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
from ..candidate import Candidate, SuggestedEdit, Tier
from ..documents import Document
from ..parse.parsed import GeneratedAsset
from .authored_assets import table_of
from .evidence import Evidence, Profile, Proven

FEWEST_ROWS = 30
"""Of fewer rows nothing is concluded."""


_NEAR = 0.05


@dataclass(frozen=True, slots=True)
class _Idea:
    """An expectation, the end of its test's id, and why it might be meant."""

    name: str
    expectation: Mapping[str, Any]
    why: str
    proven: bool = False


def expectations(
    document: Document, candidate: Candidate, known: Mapping[str, GeneratedAsset], evidence: Evidence
) -> Iterator[SuggestedEdit]:
    """A test for each thing that no test asks for yet."""
    asked = [_asks(test) for test in candidate.data.get("tests", ())]
    ids = {str(test.get("id")) for test in candidate.data.get("tests", ())}
    number = len(document.data.get("tests", ()))
    for place, asset in enumerate(candidate.contract.assets):
        table = table_of({"id": asset.id, "ref": asset.ref}, known)
        compiled = table if table is not None and table.compiled else None
        proven = evidence.proven.get(asset.ref or asset.id, Proven()) if compiled else Proven()
        open_ = [c.name for i, c in enumerate(asset.columns) if not _decided(candidate, place, i) and not c.primary_key]
        for idea in _ideas(asset, open_, compiled, proven, evidence.profiles.get(asset.id)):
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
            span: Span = table.span if table and idea.proven else candidate.span(("assets", place))
            yield SuggestedEdit(document.file, ("tests", number), value, None, idea.why, span)
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
    yield from _keys(asset, proven, profile)
    yield from _nulls(asset, open_, compiled, profile)
    for column in asset.columns:
        yield from _values(asset, column, proven, profile)
        yield from _range(asset, column, profile)
    if profile is not None:
        why = f"`{asset.id}` had {profile.rows:,} rows when it was looked at"
        yield _Idea("not_empty", {"type": "row_count", "min": 1}, why)


def _keys(asset: Asset, proven: Proven, profile: Profile | None) -> Iterator[_Idea]:
    promised = [c.name for c in asset.columns if c.primary_key]
    names = {c.name for c in asset.columns}
    key = next((k for k in proven.keys if k and names >= set(k)), None)
    if promised:
        why = f"promised as key, and asked for by no test: {_named(promised)} of `{asset.id}`"
        yield _Idea("unique", {"type": "unique", "columns": promised}, why)
    elif key is not None:
        why = f"proven by the compiler to tell all rows apart: {_named(key)} of `{asset.id}`"
        yield _Idea("unique", {"type": "unique", "columns": list(key)}, why, proven=True)
    elif profile is not None:
        found = next((c for c in asset.columns if _tells_apart(c, profile)), None)
        if found is not None:
            why = (
                f"no value of `{found.name}` is there twice in {profile.rows:,} rows of `{asset.id}`, and none is null"
            )
            yield _Idea("unique", {"type": "unique", "columns": [found.name]}, why)


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
        yield _Idea("not_null", {"type": "not_null", "columns": proven}, why, proven=True)
    if profile is not None:
        filled = [n for n in open_ if n not in sure and n in profile.columns and profile.columns[n].nulls == 0]
        if filled:
            why = f"null in none of {profile.rows:,} rows of `{asset.id}`: {_named(filled)}"
            yield _Idea("filled", {"type": "not_null", "columns": filled}, why)


def _values(asset: Asset, column: ColumnContract, proven: Proven, profile: Profile | None) -> Iterator[_Idea]:
    if column.enum or column.classification or column.mask or column.primary_key:
        return
    sure = proven.values.get(column.name)
    seen = profile.columns[column.name] if profile and column.name in profile.columns else None
    name = f"{_word(column.name)}_values"
    if sure:
        why = f"proven by the compiler to have no other value: `{column.name}` of `{asset.id}`"
        yield _Idea(name, _accepted(column, sure), why, proven=True)
    elif profile is not None and seen is not None and seen.values and profile.rows >= FEWEST_ROWS * len(seen.values):
        count = f"{len(seen.values)} values" if len(seen.values) > 1 else "one value"
        why = f"`{column.name}` has {count} in {profile.rows:,} rows of `{asset.id}`"
        yield _Idea(name, _accepted(column, seen.values), why)


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
    yield _Idea(f"{_word(column.name)}_range", {"type": "range", "column": column.name, "min": 0}, why)


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
