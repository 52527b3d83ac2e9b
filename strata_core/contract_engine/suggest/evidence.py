"""What suggestions about a product rest on besides what collation saw: what the compiler proves, what is known around
it, and what rows that are in reach look like.

A profile is what an aggregate tells of a table: no row leaves the engine, and of classified columns no value does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from ...contract.model import ContractField, TableContract
from ...diagnostics import StrataError
from ...frozen import dataclass, replace
from ...planning.inputs.reachable import ReachableTables, TableInput
from ...types import Decimal, Float64, Int64, Money, String, Uuid
from ..collation.candidate import Candidate, Confidence
from ..execution.run import asset_rows
from ..execution.statements import quoted, unfound
from ..pipeline import Checked
from .foreign_keys import Reference, references
from .known import Known

SECONDS = 60.0
"""The longest that one look at a table may take."""
FEWEST_ROWS = 30
"""Of fewer rows nothing is concluded."""
MOST_VALUES = 12
"""How many different texts a column may have to be taken for a list of words."""
LONGEST = 40
_NUMBERS = (Int64, Float64, Decimal, Money)
_IDENTIFIERS = (Int64, String, Uuid)


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """A column of the rows that were looked at. `repeats` is None where it was not asked; `least` and `most` are of
    numbers, and `values` are all texts where they are few: none of these is known of a classified column."""

    nulls: int
    repeats: bool | None = None
    least: int | float | None = None
    most: int | float | None = None
    values: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """The rows of an asset in numbers."""

    rows: int
    columns: Mapping[str, ColumnProfile]


@dataclass(frozen=True, slots=True)
class Evidence:
    """`profiles` by asset of the product; `references` are those that rows, where they are in reach, do not refute, and
    that more than a guess speaks for."""

    known: Known
    profiles: Mapping[str, Profile] = MappingProxyType({})
    references: tuple[Reference, ...] = ()


def evidence(checked: Checked, candidate: Candidate, known: Known) -> Evidence:
    """What is known for suggestions about a sound candidate. Tables that are out of reach have no profile."""
    tables = ReachableTables(checked.setting.root, checked.setting.config)
    promised = checked.validated.tables.get(candidate.id, {})
    found = {}
    for asset in candidate.contract.assets:
        contract = promised.get(asset.id)
        if contract is not None and contract.fields:
            try:
                found[asset.id] = _profile(asset.id, contract, tables, asset_rows(asset, contract, tables))
            except StrataError:  # not published, not built, not as promised: `contract-engine test` says so
                continue
    told = (_held(one, checked, tables, found) for one in references(checked.parsed, candidate, known))
    return Evidence(known, found, tuple(one for one in told if one is not None))


def _held(
    one: Reference, checked: Checked, tables: ReachableTables, profiles: Mapping[str, Profile]
) -> Reference | None:
    """A reference with what its rows say of it; None where they refute it, or a guess is all that there is."""
    guessed = one.told.confidence is Confidence.LOW
    name, other = one.own.asset.id, "/".join(one.other.place)
    promised = checked.validated.tables
    try:
        rows = {
            label: asset_rows(it.asset, promised.get(it.candidate.id, {}).get(it.asset.id), tables)
            for label, it in ((name, one.own), (other, one.other))
        }
        query = unfound(name, one.columns, other, one.key)
        missing = tables.ask(query, rows, seconds=SECONDS, samples=0).rows
    except StrataError:  # as in `evidence`
        return None if guessed else one
    count = profiles[name].rows if name in profiles else 0
    if missing or (guessed and count < FEWEST_ROWS):
        return None
    return replace(one, rows=count) if count >= FEWEST_ROWS else one


Ask = Callable[[str, int], tuple[tuple[Any, ...], ...]]


def _profile(name: str, contract: TableContract, tables: ReachableTables, rows: TableInput) -> Profile:
    """One look at all columns; those that may be keys or lists of words are looked at again."""

    def ask(query: str, samples: int) -> tuple[tuple[Any, ...], ...]:
        return tables.ask(query, {name: rows}, seconds=SECONDS, samples=samples).samples

    table = quoted(name)
    items = ["count(*)"]
    for one in contract.fields:
        column = quoted(one.name)
        items += [f"count({column})", f"approx_count_distinct({column})"]
        items += [
            f"{ends}({column})" if isinstance(one.type, _NUMBERS) and not one.hidden else "NULL"
            for ends in ("min", "max")
        ]
    ((count, *told),) = ask(f"SELECT {', '.join(items)} FROM {table}", 1)
    columns = {}
    for n, one in enumerate(contract.fields):
        filled, roughly, least, most = told[4 * n : 4 * n + 4]
        columns[one.name] = ColumnProfile(
            count - filled,
            _repeats(one, table, ask, count) if filled == count and roughly > 0.8 * count else None,
            _number(least),
            _number(most),
            _values(one, table, ask) if roughly <= 2 * MOST_VALUES else None,
        )
    return Profile(count, columns)


def _number(value: Any) -> int | float | None:
    if value is None or not isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)


def _repeats(field_: ContractField, table: str, ask: Ask, rows: int) -> bool | None:
    if not isinstance(field_.type, _IDENTIFIERS):
        return None
    ((different,),) = ask(f"SELECT count(DISTINCT {quoted(field_.name)}) FROM {table}", 1)
    return bool(different < rows)


def _values(field_: ContractField, table: str, ask: Ask) -> tuple[str, ...] | None:
    if not isinstance(field_.type, String) or field_.hidden:
        return None
    column = quoted(field_.name)
    query = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
    listed = [value for (value,) in ask(query, MOST_VALUES + 1)]
    few = 0 < len(listed) <= MOST_VALUES and max(map(len, listed)) <= LONGEST
    return tuple(sorted(listed)) if few else None
