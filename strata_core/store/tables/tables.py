"""All tables of one store: declaring them, opening them, and what they share (result cache, key of hashes)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...folder_names import names_a_folder
from ..files import LOCAL, Files
from ..instant import Instant, now
from ..log import LogConflictError
from ..names import table_name, under
from .entries import Declared
from .errors import StoreError, undeclared
from .history import History
from .results import ResultCache
from .table import Table

if TYPE_CHECKING:  # pydantic and pyarrow load when a table is declared or opened for its rows
    import pyarrow as pa

    from .declaration import TableDeclaration

MASK_KEY = "_mask.key"
"""The file in the store's root that keys the hashes of masks: who has it can guess masked values."""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables below `root`/tables. A table is opened once, so that what was read of its log is kept."""

    root: PurePath
    files: Files = LOCAL
    clock: Callable[[], Instant] = now
    results: ResultCache = field(default_factory=ResultCache)
    _opened: dict[str, Table] = field(default_factory=dict, repr=False)

    def names(self) -> tuple[str, ...]:
        """The tables that were declared."""
        folders = (name for name in self.files.names(self.root / "tables") if names_a_folder(name))
        return tuple(name for name in folders if self.files.names(self.root / "tables" / name / "log"))

    def table(self, name: str) -> Table:
        """The table `name`; StoreTableUndeclared when it was not declared."""
        table = self._open(name)
        head = table.log.head()
        if not head.newest.declare:
            raise undeclared(name, self.names())
        return table

    def declare(self, declared: TableDeclaration) -> Table:
        """Declares a table, or declares it anew; the same declaration changes nothing.

        Errors: StoreFilterInvalid for a row condition that is none; StoreDeclarationInvalid when rows have landed
        under another key, order or availability column; StoreValidTimeNotTimestamp and StoreRetentionColumnInvalid
        when they have other types.
        """
        from .declaration import check_masks

        table = self._open(declared.name)
        history = table.log
        _check_conditions(declared)
        self._prepare_key(declared)
        while True:
            head = history.head()
            before = history.declared(head) if head.newest.declare else None
            if before == declared:
                return table
            check_masks(declared)
            if before is not None and head.newest.run:
                _check_change(before, declared, history.schema(head))
            try:
                history.commit(Declared(MappingProxyType(declared.document())), head)
            except LogConflictError:
                continue
            return table

    def mask_key(self) -> bytes:
        """The key of the hashes that masks show."""
        key = self.files.read(self.root / MASK_KEY)
        if key is None:
            fix = f"restore {MASK_KEY} from a backup, or declare the table again, which makes another key"
            raise StoreError("StoreDeclarationInvalid", "", f"the file {MASK_KEY} of the store is gone", fix)
        return key

    def _prepare_key(self, declared: TableDeclaration) -> None:
        if any(c.masked is not None and c.masked.rule == "hash" for c in declared.columns.values()):
            self.files.prepare(self.root)
            if not self.files.exists(self.root / MASK_KEY):
                self.files.create(self.root / MASK_KEY, secrets.token_hex(32).encode())

    def _open(self, name: str) -> Table:
        found = self._opened.get(name)
        if found is None:
            folder = self.root / "tables" / table_name(name)
            if self.files is LOCAL:
                under(self.root, folder)
            history = History(name, folder, self.files, self.clock)
            found = self._opened.setdefault(name, Table(history, self.results, self.mask_key, self.table))
        return found


def _check_conditions(declared: TableDeclaration) -> None:
    if declared.rows:
        from .predicates import check_syntax

        for text in declared.rows:
            check_syntax(declared.name, text)


def _check_change(before: TableDeclaration, after: TableDeclaration, schema: pa.Schema) -> None:
    from .schema_merge import check_clocks

    if before.identity != after.identity:
        message = f"table {after.name} has rows, which stand on its key, order and availability column"
        fix = f"keep key {', '.join(before.dedup_key) or '(none)'}, order_by {before.order_by}, or land in a new table"
        raise StoreError("StoreDeclarationInvalid", after.name, message, fix)
    check_clocks(after, {f.name: f.type for f in schema})
