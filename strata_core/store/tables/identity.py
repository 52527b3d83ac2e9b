"""What decides the rows of a read, as a digest: those who keep what they made of a table know from it what is stale.

Equal digests mean equal rows. It is made of the log, not of files: a fold changes no row and no digest, nor does a
landing that brought no row, and an `as_of` that has passed stays as it is for ever. What changes with the wall clock,
under `retain_rows`, is told by the number of rows that are left: at one state, rows only leave, the oldest first.
"""

from __future__ import annotations

import json

from ...contract.model import MaskRule
from ...digests import hexdigest
from ..instant import Instant
from .entries import RunCommit, TableEntry
from .history import History
from .reading import Read
from .table import Table


def identity(table: Table, read: Read) -> str:
    """The digest of what decides the rows of `read`, which is one of `table`.

    Under `retain_rows` the rows are counted, which reads them; otherwise only entries of the log are.
    """
    asked, statement = read.asked, read.statement
    masks = read.enforcement.masks.values()
    parts = [
        *_state(read.history, read.entry, asked.as_of.last if asked.as_of else None),
        *(str(bound.last if bound else None) for bound in (asked.valid_as_of, asked.available_as_of)),
        statement.vintage,
        repr(statement.filter),
        repr(statement.principal),
        *(f"{f.name} {f.type}" for f in read.schema),
        read.enforcement.key().hex() if any(mask.rule is MaskRule.HASH for mask in masks) else "",
    ]
    available = read.declared.available_time
    if asked.available_as_of is not None and available is not None and available.adjustment is not None:
        factors = table.sibling(available.adjustment.factor_table).log
        parts += _state(factors, factors.head(), asked.as_of.last if asked.as_of else None)
    if read.declared.retain_rows is not None:
        parts.append(str(sum(batch.num_rows for batch in read.reader())))
    return hexdigest(*parts)


def landed_at(read: Read) -> Instant | None:
    """When the newest run that `read` sees was committed, None before the first."""
    entry = read.entry if read.asked.as_of is None else read.history.at(read.asked.as_of.last, read.entry)
    return read.history.entry(entry.newest.run).at if entry.newest.run else None


def _state(history: History, head: TableEntry, as_of: Instant | None) -> tuple[str, str]:
    """The declaration that reads go by, and the newest run at or before the bound that changed any row."""
    declared = json.dumps(history.declared(head).document(), sort_keys=True, default=str)
    number = (head if as_of is None else history.at(as_of, head)).newest.run
    while number:
        entry = history.entry(number)
        assert isinstance(entry.commit, RunCommit)
        if entry.commit.rows or entry.commit.replaces:
            return declared, f"{number} {entry.at} {entry.commit.run_id}"
        number = history.entry(number - 1).newest.run
    return declared, ""
