"""What suggestions rest on besides what collation saw: what the compiler proves of models, and what rows that are in
reach look like.

A profile is what an aggregate tells of a table: no row leaves the engine, and of classified columns no value does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

from ...contract.model import ContractField, TableContract
from ...diagnostics import StrataError
from ...frozen import dataclass, field
from ...planning.reachable import ReachableTables, TableInput
from ...types import Decimal, Float64, Int64, Money, String, Uuid
from ..candidate import Candidate
from ..execution.run import asset_rows
from ..execution.statements import quoted
from ..pipeline import Checked, Setting

SECONDS = 60.0
"""The longest that one look at a table may take."""
MOST_VALUES = 12
"""How many different texts a column may have to be taken for a list of words."""
LONGEST = 40
_NUMBERS = (Int64, Float64, Decimal, Money)
_IDENTIFIERS = (Int64, String, Uuid)


@dataclass(frozen=True, slots=True)
class Proven:
    """What the compiler knows of a model's rows: its smallest keys, and the value sets of columns."""

    keys: tuple[tuple[str, ...], ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


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
    """`proven` by model, `profiles` by asset of the product."""

    proven: Mapping[str, Proven] = MappingProxyType({})
    profiles: Mapping[str, Profile] = MappingProxyType({})


def evidence(checked: Checked, candidate: Candidate, proven: Mapping[str, Proven]) -> Evidence:
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
    return Evidence(proven, found)


def proven_facts(setting: Setting) -> Mapping[str, Proven]:
    """What is proven of the project's models, by name; nothing where there are none, or they do not compile."""
    from ...planning.project import compile_, read_project

    try:
        compiled = compile_(setting.models or read_project(setting.root))
    except StrataError:
        return {}
    found = {}
    for name, model in compiled.models.items():
        schema = model.relation.schema
        keys = sorted((tuple(c for c in schema.names if c in key) for key in schema.keys), key=lambda k: (len(k), k))
        values = {c.name: tuple(sorted(c.inferred.values)) for c in schema.columns if c.inferred.values}
        found[name] = Proven(tuple(keys), values)
    return found


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
