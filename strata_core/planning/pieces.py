"""The partitions of time of a published table, and what each of them is made from.

A model with `partition_start` is kept in pieces: an artifact for each period, at an address of its own (Decision 4,
by period), and one that is composed of them, which is what environments point at. Of a table that has pieces too, and
of which a period reads only its own rows, that period depends on the pieces that overlap it, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property

from ..analysis.compiled import CompiledModel
from ..digests import hexdigest
from ..frozen import dataclass
from ..periods import Every, Period, Periods, period_of
from ..relation.restrict import Restricted, Stretch, restricted
from ..store.artifacts import Artifact
from ..store.document import JSON
from ..store.environments import Pointer
from ..store.manifest import Manifest
from ..store.store import Store
from .fingerprints import data_digest
from .promised import ages, promised

NOTE = "periods"
"""Where a manifest's provenance keeps the pieces."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One period of a table: the address of its artifact, the digest of its rows, how many there are, and the local
    fingerprint of the model that made them."""

    address: str
    digest: str
    rows: int
    local: str


@dataclass(frozen=True)
class Pieces:
    """The pieces of a table by key, those without rows too; `column` tells the time, `every` how long a period is."""

    column: str
    every: str
    by_key: Mapping[str, Piece]

    @cached_property
    def periods(self) -> Mapping[str, Period]:
        """The period of each key, in order of time."""
        found = {key: period_of(key, self.every) for key in sorted(self.by_key)}
        return {key: period for key, period in found.items() if period is not None}

    def overlapping(self, period: Period) -> dict[str, Piece]:
        """The pieces with rows that overlap `period`, in order of time."""
        here = (key for key, one in self.periods.items() if one.overlaps(period))
        return {key: self.by_key[key] for key in here if self.by_key[key].rows}

    def fit(self, periods: Periods) -> bool:
        """Whether a table of `periods` can take them over."""
        return (self.column, self.every) == (periods.column, periods.every)


def pieces_of(manifest: Manifest) -> Pieces | None:
    """The pieces that a composed artifact consists of; None where it is in one."""
    match manifest.provenance.get(NOTE):
        case {"column": str(column), "every": str(every), "pieces": dict(pieces)} if every in {*Every}:
            return Pieces(column, every, {str(key): _piece(one) for key, one in pieces.items()})
        case _:
            return None


def _piece(note: JSON) -> Piece:
    match note:
        case {"address": str(address), "digest": str(digest), "rows": int(rows), "local": str(local)}:
            return Piece(address, digest, rows, local)
        case _:
            return Piece("", "", 0, "")


def pieces_note(periods: Periods, pieces: Mapping[str, Piece]) -> JSON:
    """As a manifest keeps them."""
    written: dict[str, JSON] = {
        key: {"address": p.address, "digest": p.digest, "rows": p.rows, "local": p.local} for key, p in pieces.items()
    }
    return {"column": periods.column, "every": periods.every, "pieces": written}


@dataclass(frozen=True)
class Upstream:
    """A table that a model reads: the `columns` that are read, the digest of all its rows as one sees them who reads
    these, and, of a model, what is live of it."""

    columns: tuple[str, ...]
    digest: str
    artifact: Artifact | None = None

    @cached_property
    def pieces(self) -> Pieces | None:
        """Its pieces, if it has some."""
        return None if self.artifact is None else pieces_of(self.artifact.manifest)


def within(model: CompiledModel, period: Period) -> Restricted:
    """The rows of `model` in `period`, which may be several of its periods in a row."""
    assert model.periods is not None
    return restricted(model.relation, model.periods.column, Stretch(period.start, period.end))


def read_in(found: Restricted, period: Period, tables: Mapping[str, Upstream]) -> dict[str, dict[str, Piece]]:
    """The pieces that a period reads of each table of which it reads these alone."""
    read = {}
    for name, upstream in tables.items():
        pieces = upstream.pieces
        if pieces is not None and found.bounded.get(name) == pieces.column:
            read[name] = pieces.overlapping(period)
    return read


def inputs_of(store: Store, model: CompiledModel, period: Period, tables: Mapping[str, Upstream]) -> dict[str, str]:
    """The digest of what `period` of `model` reads of each table; raises `StrataError` E094 where a piece is gone."""
    in_pieces = any(upstream.pieces is not None for upstream in tables.values())
    read = read_in(within(model, period), period, tables) if in_pieces else {}

    def digest(name: str, upstream: Upstream) -> str:
        if name not in read:
            return upstream.digest
        pieces = ((key, _seen(store, name, piece, upstream.columns)) for key, piece in read[name].items())
        return hexdigest("pieces", *(text for pair in pieces for text in pair))

    return {name: digest(name, upstream) for name, upstream in tables.items()}


def _seen(store: Store, table: str, piece: Piece, columns: Collection[str]) -> str:
    found = piece_artifact(store, table, piece).manifest.columns
    return data_digest({column: found[column] for column in columns})


def piece_artifact(store: Store, table: str, piece: Piece) -> Artifact:
    """The rows of a piece; raises `StrataError` E094 where they are gone."""
    return store.artifact(table, Pointer(piece.address, piece.digest, ""))


def piece_address(local: str, key: str, inputs: Mapping[str, str]) -> str:
    """The content address of the rows that a model makes of a period, of inputs with these digests."""
    return hexdigest("piece", local, key, *(text for pair in sorted(inputs.items()) for text in pair))


def possible(model: CompiledModel, tables: Mapping[str, Upstream]) -> set[Period] | None:
    """The periods in which `model` can have rows; None where that cannot be told without computing them."""
    periods = model.periods
    assert periods is not None
    there = {name: pieces for name, upstream in tables.items() if (pieces := upstream.pieces) is not None}
    with_rows = {name: [p for k, p in one.periods.items() if one.by_key[k].rows] for name, one in there.items()}
    found = [period for one in with_rows.values() for period in one]
    if not found:
        return None
    first, last = periods.at(min(p.start for p in found)), periods.last_of(max(found, key=lambda p: p.end))
    reading = within(model, Period(first.start, last.end))
    for name in sorted(reading.driving & there.keys()):
        if reading.bounded[name] == there[name].column:
            pairs = ((periods.at(p.start), periods.last_of(p)) for p in with_rows[name])
            return {period for start, end in pairs for period in periods.between(start, end)}
    return None


def known_whole(
    store: Store, model: CompiledModel, local: str, pieces: Mapping[str, Piece], tables: Mapping[str, Upstream]
) -> bool:
    """Whether `pieces` are known to be what an apply of the whole table would make: no period is left out, and each is
    of what is read now. Of a table whose newest row may grow too old, that is left to an apply of the whole."""
    periods, contract = model.periods, promised(model)
    assert periods is not None
    if contract is not None and ages(contract):
        return False
    every = possible(model, tables)
    if every is None and periods.end is not None:
        bounds = periods.bounds
        every = {*periods.between(periods.at(bounds.start), periods.last_of(bounds))}
    if every is None or any(piece.local != local for piece in pieces.values()):
        return False
    known = {periods.key(period): period for period in every}
    if not known.keys() <= {*pieces}:
        return False
    read = {key: period_of(key, periods.every) for key in pieces}
    return all(
        period is not None and pieces[key].address == piece_address(local, key, inputs_of(store, model, period, tables))
        for key, period in read.items()
    )
