"""The partitions of time of a published table, and what each of them is made from.

A model with `partition_start` is kept in pieces: an artifact for each period, at an address of its own (Decision 4,
by period), and one that is composed of them, which is what environments point at. Of a table that has pieces too, and
of which a period reads only its own rows, that period depends on the pieces that overlap it, and on nothing else.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cached_property

from ...analysis.compiled import CompiledModel
from ...digests import hexdigest
from ...frozen import dataclass
from ...periods import Every, Period, Periods, period_of
from ...relation.restrict import Restricted, Stretch, restricted
from ...store.artifacts import Artifact
from ...store.document import JSON
from ..fingerprints import data_digest
from ..promised import ages, promised
from ..provenance import PARTIAL
from .composition import Piece, read_pieces

NOTE = "periods"
"""Where a manifest's provenance keeps the pieces."""
NOTES = (NOTE, "pieces")
"""Where it says something of each piece."""
COMPLETE = "complete"
"""Where a partial table says that what it was laid on was once made as a whole, of the inputs that its manifest names:
a period that has no piece had no rows then."""


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

    @cached_property
    def _order(self) -> tuple[list[str], list[datetime], list[datetime]]:
        """The keys in order of time, and where each of these periods begins and ends."""
        found = self.periods
        return [*found], [p.start for p in found.values()], [p.end for p in found.values()]

    def overlapping(self, period: Period) -> dict[str, Piece]:
        """The pieces with rows that overlap `period`, in order of time."""
        keys, starts, ends = self._order
        here = keys[bisect_right(ends, period.start) : bisect_left(starts, period.end)]
        return {key: self.by_key[key] for key in here if self.by_key[key].rows}

    def fit(self, periods: Periods) -> bool:
        """Whether a table of `periods` can take them over."""
        return (self.column, self.every) == (periods.column, periods.every)


def kind_of(periods: Periods) -> dict[str, JSON]:
    """What the manifest of a table says of its pieces as a whole, under `NOTE`."""
    return {"column": periods.column, "every": periods.every}


def made_whole(table: Artifact) -> bool:
    """Whether what `table` consists of was made as a whole, at least once."""
    note = table.manifest.provenance
    return not note.get(PARTIAL) or note.get(COMPLETE) is True


def pieces_of(table: Artifact) -> Pieces | None:
    """The pieces that a composed artifact consists of; None where it is in one. No other manifest is read."""
    match table.manifest.provenance.get(NOTE):
        case {"column": str(column), "every": str(every), "pieces": dict(notes)} if every in {*Every}:
            pieces = read_pieces(table, notes)
            return None if pieces is None else Pieces(column, every, pieces)
        case _:
            return None


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
        return None if self.artifact is None else pieces_of(self.artifact)


def within(model: CompiledModel, period: Period) -> Restricted:
    """The rows of `model` in `period`, which may be several of its periods in a row."""
    assert model.periods is not None
    return restricted(model.relation, model.periods.column, Stretch(period.start, period.end))


def read_in(bounded: Mapping[str, str], period: Period, tables: Mapping[str, Upstream]) -> dict[str, dict[str, Piece]]:
    """The pieces that a period reads of each table of which it reads these alone: those of the column in `bounded`."""
    read = {}
    for name, upstream in tables.items():
        pieces = upstream.pieces
        if pieces is not None and bounded.get(name) == pieces.column:
            read[name] = pieces.overlapping(period)
    return read


def inputs_of(
    model: CompiledModel, periods: Iterable[Period], tables: Mapping[str, Upstream]
) -> dict[Period, dict[str, str]]:
    """The digest of what each of the `periods` of `model` reads of each table."""
    in_pieces = any(upstream.pieces is not None for upstream in tables.values())
    bounds: dict[frozenset[str], Mapping[str, str]] = {}

    def bounded(period: Period) -> Mapping[str, str]:
        units = Stretch(period.start, period.end).units  # of two stretches of the same, the same is read by time
        if units not in bounds:
            bounds[units] = within(model, period).bounded
        return bounds[units]

    def digests(period: Period) -> dict[str, str]:
        read = read_in(bounded(period), period, tables) if in_pieces else {}
        return {
            name: _seen(read[name], upstream.columns) if name in read else upstream.digest
            for name, upstream in tables.items()
        }

    return {period: digests(period) for period in periods}


def _seen(pieces: Mapping[str, Piece], columns: Collection[str]) -> str:
    """The digest of some columns of some pieces."""
    told = ((key, {c: piece.artifact.manifest.columns[c] for c in columns}) for key, piece in pieces.items())
    return hexdigest("pieces", *(text for key, digests in told for text in (key, data_digest(digests))))


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


def known_whole(model: CompiledModel, local: str, pieces: Mapping[str, Piece], tables: Mapping[str, Upstream]) -> bool:
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
    there = {key: period for key in pieces if (period := period_of(key, periods.every)) is not None}
    read = inputs_of(model, there.values(), tables)
    return len(there) == len(pieces) and all(
        pieces[key].address == piece_address(local, key, read[period]) for key, period in there.items()
    )
