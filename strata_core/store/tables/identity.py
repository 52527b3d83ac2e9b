"""What decides the rows of a read, as a digest: those who keep what they made of a table know from it what is stale.

Equal digests mean equal rows. It is made of the log, not of files: a fold changes no row and no digest, nor does a
landing that brought no row, or only rows that became available after the bound; an `as_of` that has passed stays as it
is for ever. What changes with the wall clock, under `retain_rows`, is told by the number of rows that are left: at one
state, rows only leave, the oldest first.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from ...contract.model import MaskRule
from ...digests import hexdigest
from ...instants import Bound
from ..instant import Instant
from .bounds import Bounds
from .declaration import TableDeclaration
from .entries import NOTHING, RunCommit, TableEntry
from .history import History
from .reading import Read
from .table import Table


@dataclass(frozen=True, slots=True)
class Identity:
    """The digests of a read: `rows` of what decides its rows, `past` of what decides those that were there before.

    While `past` stays, rows are only added. The rows of a keyed table are restated by later ones, and under
    `retain_rows` they leave: there `past` is `rows`.
    """

    rows: str
    past: str


def identity(table: Table, read: Read) -> Identity:
    """What decides the rows of `read`, which is one of `table`.

    Under `retain_rows` the rows are counted, which reads them; otherwise only entries of the log are.
    """
    asked, statement, declared = read.asked, read.statement, read.declared
    masks = read.enforcement.masks.values()
    newest = _newest(read.history, read.entry, asked.as_of, _beyond(declared, asked))
    parts = [
        _declaration(declared),
        *(str(bound.last if bound else None) for bound in (asked.valid_as_of, asked.available_as_of)),
        statement.vintage,
        repr(statement.filter),
        repr(statement.principal),
        *(f"{f.name} {f.type}" for f in read.schema),
        read.enforcement.key().hex() if any(mask.rule is MaskRule.HASH for mask in masks) else "",
        str(newest.newest.replace),
    ]
    available = declared.available_time
    if asked.available_as_of is not None and available is not None and available.adjustment is not None:
        factors = table.sibling(available.adjustment.factor_table).log
        head = factors.head()
        declared_factors = factors.declared(head)
        moved = _newest(factors, head, asked.as_of, _beyond(declared_factors, asked))
        parts += [_declaration(declared_factors), _told(moved)]
    left = [str(sum(b.num_rows for b in read.reader()))] if declared.retain_rows is not None else []
    rows = hexdigest(*parts, _told(newest), *left)
    only_added = not declared.primary_key and declared.retain_rows is None
    return Identity(rows, hexdigest(*parts) if only_added else rows)


def landed_at(read: Read) -> Instant | None:
    """When the newest run that `read` sees was committed, None before the first."""
    entry = read.entry if read.asked.as_of is None else read.history.at(read.asked.as_of.last, read.entry)
    return read.history.entry(entry.newest.run).at if entry.newest.run else None


def _declaration(declared: TableDeclaration) -> str:
    return json.dumps(declared.document(), sort_keys=True)


Outside = Callable[[RunCommit], bool]


def _beyond(declared: TableDeclaration, asked: Bounds) -> Outside:
    """Whether every row of a run became available after the bound of a read. Such rows are of keys of their own, since
    availability is a part of the key, and the read sees none of them."""
    column, bound = declared.available_column, asked.available_as_of

    def outside(commit: RunCommit) -> bool:
        known = None if bound is None or column is None else commit.ranges.get(column)
        return known is not None and bound is not None and isinstance(known[0], int) and known[0] > bound.last

    return outside


def _newest(history: History, head: TableEntry, as_of: Bound | None, outside: Outside) -> TableEntry:
    """The entry of the newest run at or before the bound that changed any row that is read, `NOTHING` before the
    first."""
    number = (head if as_of is None else history.at(as_of.last, head)).newest.run
    while number:
        entry = history.entry(number)
        assert isinstance(entry.commit, RunCommit)
        if entry.commit.replaces or (entry.commit.rows and not outside(entry.commit)):
            return entry
        number = history.entry(number - 1).newest.run
    return NOTHING


def _told(entry: TableEntry) -> str:
    return f"{entry.number} {entry.at}"
