"""What a reader may see of the rows that the bounds admit: row conditions, the tenant, masks of classified columns.

It comes last, so that bounds only narrow what it admits (Seed 1 *beneath-enforcement*), and before the reader's own
filter, which therefore sees what is masked and learns nothing of what is not shown.

| mask | without clearance |
|---|---|
| drop | there is no such column |
| null | nulls of the column's type |
| hash | text: a keyed hash, the same for the same value of one store; null stays null |
| partial(n) | text: `****` and the last n characters, or `****` alone where there are not more |
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from ...contract.model import Mask, MaskRule
from .declaration import TableDeclaration
from .errors import StoreError
from .predicates import Attribute, Condition

HIDDEN = "****"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who reads: `tenant` is compared with the tenant column, `clearances` are classifications that are shown.

    `attributes` are what row conditions may ask for, as `principal.name`; a tuple of pairs, so that it is a value.
    """

    name: str
    tenant: str | int | None = None
    clearances: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, Attribute], ...] = ()


ANONYMOUS = Principal("anonymous")
"""Whoever gives no principal: without tenant, clearances or attributes."""


@dataclass(frozen=True)
class Enforcement:
    """What a declaration lets a principal see; None is the store itself, which sees all. `key` keys the hashes."""

    declared: TableDeclaration
    table_schema: pa.Schema = field(repr=False)
    principal: Principal | None
    key: Callable[[], bytes] = field(repr=False)

    @cached_property
    def masks(self) -> Mapping[str, Mask]:
        """The masks of the columns that this principal is not cleared for."""
        if self.principal is None:
            return MappingProxyType({})
        cleared = self.principal.clearances
        return MappingProxyType(
            {
                name: mask
                for name, column in self.declared.columns.items()
                if (mask := column.masked) is not None and column.classification not in cleared
            }
        )

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """The row conditions, over the columns as they are stored."""
        if self.principal is None:
            return ()
        attributes = {"name": self.principal.name, "tenant": self.principal.tenant, **dict(self.principal.attributes)}
        known = {name: value for name, value in attributes.items() if value is not None}
        return tuple(Condition.of(self.declared.name, text, self.table_schema, known) for text in self.declared.rows)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The columns that decide which rows are shown. StorePrincipalRequired for a table of tenants without one."""
        columns = frozenset(c for condition in self.conditions for c in condition.columns)
        tenant = self.declared.tenant_column
        if tenant is None or self.principal is None:
            return columns
        if self.principal.tenant is None:
            table = self.declared.name
            message = f"table {table} holds rows of several tenants, and the reader names none"
            raise StoreError("StorePrincipalRequired", table, message, "read with a principal that has a tenant")
        return columns | {tenant}

    def schema(self, schema: pa.Schema) -> pa.Schema:
        """`schema` as it is shown."""
        fields = []
        for f in schema:
            mask = self.masks.get(f.name)
            if mask is None or mask.rule is MaskRule.NULL:
                fields.append(f)
            elif mask.rule is not MaskRule.DROP:
                fields.append(pa.field(f.name, pa.string()))
        return pa.schema(fields)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of `batch` that are shown, masked."""
        for condition in self.conditions:
            batch = batch.filter(condition.holds(batch))
        if self.principal is not None and (tenant := self.declared.tenant_column) is not None:
            batch = batch.filter(_own(batch, tenant, self.principal.tenant))
        masked = [name for name in batch.schema.names if name in self.masks]
        if not masked:
            return batch
        columns = {}
        for name in batch.schema.names:
            mask = self.masks.get(name)
            if mask is None:
                columns[name] = batch.column(name)
            elif mask.rule is not MaskRule.DROP:
                columns[name] = self.masked(batch.column(name), mask)
        return pa.RecordBatch.from_pydict(columns)

    def masked(self, column: pa.Array, mask: Mask) -> pa.Array:
        """`column` behind `mask`."""
        match mask.rule:
            case MaskRule.NULL | MaskRule.DROP:
                return pa.nulls(len(column), column.type)
            case MaskRule.HASH:
                return _each(column, self._hashed)
            case MaskRule.PARTIAL:
                return _each(column, lambda text: HIDDEN + (text[-mask.keep :] if len(text) > mask.keep else ""))

    def _hashed(self, text: str) -> str:
        return hashlib.blake2b(text.encode(), digest_size=16, key=self.key()).hexdigest()


def _each(column: pa.Array, mask: Callable[[str], str]) -> pa.Array:
    """`mask` of each distinct value's text."""
    coded = column.dictionary_encode() if not pa.types.is_nested(column.type) else None
    if coded is None:  # a nested value has no text of its own: each is spelled
        return pa.array([None if v is None else mask(repr(v)) for v in column.to_pylist()], pa.string())
    texts = [value.as_py() for value in coded.dictionary]
    return pa.array([mask(t if isinstance(t, str) else str(t)) for t in texts], pa.string()).take(coded.indices)


def _own(batch: pa.RecordBatch, column: str, tenant: str | int | None) -> pa.Array:
    if column not in batch.schema.names:
        return pa.repeat(pa.scalar(False), batch.num_rows)
    return pc.fill_null(pc.equal(batch.column(column).cast(pa.string()), str(tenant)), False)
