"""The manifest of an artifact that is made of others: a table that is published by its pieces.

Its digests are those of the pieces, by name and in their order, so that a table is the same whether its pieces were
made at once or one after the other. A piece without rows leaves no trace in them.

Who publishes a table piece by piece would write down all of it each time. So many pieces are kept in groups, whose ends
are told by the names of pieces alone: the same pieces are in the same groups whatever came before, and another one
changes the group that it goes into and no other.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ..digests import hexdigest
from .artifacts import Artifact
from .document import JSON, to_text
from .instant import next_instant
from .manifest import ARTIFACT, ColumnStatistics, Field, Manifest, Part


def composed(table: str, pieces: Mapping[str, Artifact], provenance: Mapping[str, JSON]) -> Manifest:
    """The manifest of the rows of `pieces`, at least one, which have one schema."""
    schema = next(iter(pieces.values())).manifest.schema
    if any(piece.manifest.schema != schema for piece in pieces.values()):
        raise ValueError(f"the pieces of {table} have different schemas")
    full = {name: piece for name, piece in pieces.items() if piece.manifest.rows}
    columns = {
        field.name: hexdigest(
            "composed", field.name, *(t for n, p in full.items() for t in (n, p.manifest.columns[field.name]))
        )
        for field in schema
    }
    return Manifest(
        id=secrets.token_hex(16),
        kind=ARTIFACT,
        table=table,
        parts=tuple(_held(piece, part) for piece in pieces.values() for part in piece.manifest.parts),
        schema=schema,
        rows=sum(piece.manifest.rows for piece in full.values()),
        digest=hexdigest("composed", *(text for pair in columns.items() for text in pair)),
        columns=MappingProxyType(columns),
        created_at=next_instant(0),
        statistics=_statistics(schema, [*full.values()]),
        provenance=provenance,
    )


GROUP = 16
"""How many pieces are in a group, on average."""
MOST_IN_GROUP = 4 * GROUP
MOST_INLINE = 2 * GROUP
"""Pieces of which a manifest tells without groups, at most: reading it takes one file then."""


def in_groups(names: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """`names` in their order, in stretches. One ends with a name that says so by its digest."""
    group: list[str] = []
    for name in names:
        group.append(name)
        if int(hexdigest("group", name)[:8], 16) % GROUP == 0 or len(group) == MOST_IN_GROUP:
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def group_address(pieces: Mapping[str, Artifact], notes: Mapping[str, JSON]) -> str:
    """The address of a group: the same pieces of which the same is told are one."""
    told = (text for name, piece in pieces.items() for text in (name, piece.address, to_text({"": notes.get(name)})))
    return hexdigest("group", *told)


def _held(piece: Artifact, part: Part) -> Part:
    return part if part.artifact is not None else replace(part, artifact=piece.address)


def _statistics(schema: Sequence[Field], pieces: Sequence[Artifact]) -> Mapping[str, ColumnStatistics]:
    return MappingProxyType({field.name: _over(field, pieces) for field in schema})


def _over(field: Field, pieces: Sequence[Artifact]) -> ColumnStatistics:
    """There is no range where a piece has one that is not known."""
    found = [(piece.manifest.statistics[field.name], piece.manifest.rows) for piece in pieces]
    nulls = sum(one.null_count for one, _ in found)
    valued = [one for one, rows in found if one.null_count < rows]
    if not valued or any(one.minimum is None or one.maximum is None for one in valued):
        return ColumnStatistics(nulls)
    size = _size(field)
    least, most = min((v.minimum for v in valued), key=size), max((v.maximum for v in valued), key=size)
    return ColumnStatistics(nulls, least, most)


def _size(field: Field) -> Callable[[JSON], Any]:
    """How bounds of a column compare: what JSON has no numbers for is spelled as text."""
    type_ = str(field.type)
    if type_.startswith("decimal"):
        return lambda bound: Decimal(str(bound))
    if type_ in ("float", "double"):
        return lambda bound: float(str(bound))
    return lambda bound: bound.removesuffix("Z") if isinstance(bound, str) and type_.startswith("timestamp") else bound
