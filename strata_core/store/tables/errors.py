"""The one family of errors of tables: a stable name (the seed's), the table, and what would be accepted instead."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from ...diagnostics import Diagnostic, StrataError
from ...diagnostics.suggest import did_you_mean

UNANSWERABLE, REFUSED, UNDECLARABLE, DAMAGED = "E096", "E097", "E098", "E094"
"""The diagnostic codes: a read that cannot be answered, a landing that is refused, a declaration that is not valid,
files that are not what was written."""

CODES = MappingProxyType(
    {
        # Seed 1, bound-time
        "StoreValidTimeNotTimestamp": UNDECLARABLE,
        "StoreValidTimeUndeclared": UNANSWERABLE,
        "StoreAsOfUnretained": UNANSWERABLE,
        "StoreRetentionColumnInvalid": REFUSED,
        # Seed 1, available-time
        "StoreAvailableTimeUndeclared": UNANSWERABLE,
        "StoreAvailableTimeNull": REFUSED,
        "StoreVintageHashUndeclared": UNDECLARABLE,
        "StoreVintageRetainRows": UNDECLARABLE,
        # Settled here (design store.md)
        "StoreAdjustmentInvalid": UNANSWERABLE,
        "StoreBoundInvalid": UNANSWERABLE,
        "StoreColumnReserved": REFUSED,
        "StoreColumnUnknown": UNANSWERABLE,
        "StoreDeclarationInvalid": UNDECLARABLE,
        "StoreFilterInvalid": UNANSWERABLE,
        "StoreHoldUnknown": UNANSWERABLE,
        "StoreJoinInvalid": UNANSWERABLE,
        "StorePartDamaged": DAMAGED,
        "StorePinUnknown": UNANSWERABLE,
        "StorePrincipalRequired": UNANSWERABLE,
        "StoreRunConflict": REFUSED,
        "StoreRunInvalid": REFUSED,
        "StoreSchemaMismatch": REFUSED,
        "StoreSourceInvalid": REFUSED,
        "StoreTableUndeclared": UNANSWERABLE,
    }
)


class StoreError(StrataError):
    """A request to a table that is refused before anything is written. `code` is the seed's name of it."""

    def __init__(self, code: str, table: str, message: str, fix: str | None = None) -> None:
        super().__init__(Diagnostic(CODES[code], f"{code}: {message}", fix=fix, field_path=table))
        self.code = code
        self.table = table


def undeclared(table: str, known: Iterable[str] = ()) -> StoreError:
    """There is no such table; `known` are those that there are."""
    fix = did_you_mean(table, known, f"declare it: `strata store init FILE` with a `[[pipeline.tables]]` named {table}")
    return StoreError("StoreTableUndeclared", table, f"there is no table {table}", fix)
