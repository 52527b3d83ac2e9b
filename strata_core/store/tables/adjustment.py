"""Adjustment factors: stored values stay raw, and a read multiplies them by what was known at its bound.

Seed 1 *adjustment-factors*: "an `available_as_of` read multiplies each `adjust_columns` column by the product of
`factor_column` vintages available by the bound, over factor rows sharing its factor-table `primary_key` values with
a later valid-time `from`". Adjusted columns are `double`; a row without a later factor is multiplied by 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from . import times
from .bounds import Bounds
from .declaration import TableDeclaration
from .errors import StoreError

if TYPE_CHECKING:
    from .table import Table

_AT = "_at"


@dataclass(frozen=True, slots=True)
class Factors:
    """Cumulative factors: for each key, from an instant on backwards. `columns` are what is multiplied."""

    key: tuple[str, ...]
    from_: str
    columns: tuple[str, ...]
    cumulative: pl.DataFrame

    @classmethod
    def of(
        cls, rows: pa.Table, key: tuple[str, ...], factor_from: str, factor: str, from_: str, columns: tuple[str, ...]
    ) -> Factors:
        """`rows` are the factor table's, one for each key and `factor_from`; nulls take no part."""
        at = times.nanoseconds(rows.column(factor_from).combine_chunks())
        frame = pl.from_arrow(rows.append_column(_AT, at))
        assert isinstance(frame, pl.DataFrame)
        cumulative = (
            frame.select(
                *key,
                _AT,
                pl.col(factor).cast(pl.Float64).alias("_factor"),
            )
            .drop_nulls([_AT, "_factor"])
            .sort(_AT)
            .with_columns(pl.col("_factor").cum_prod(reverse=True).over(key))
        )
        return cls(key, from_, columns, cumulative)

    @property
    def reads(self) -> frozenset[str]:
        """The columns of the adjusted table that decide."""
        return frozenset((*self.key, self.from_))

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """`batch` with its columns multiplied by the product of the factors whose instant is later than the row's."""
        columns = [name for name in self.columns if name in batch.schema.names]
        if not columns:
            return batch
        product = self._products(batch)
        adjusted = {name: batch.column(name) for name in batch.schema.names}
        for name in columns:
            values = batch.column(name).cast(pa.float64(), safe=False)
            adjusted[name] = pa.array(
                values.to_numpy(zero_copy_only=False) * product, mask=values.is_null().to_numpy(zero_copy_only=False)
            )
        return pa.RecordBatch.from_pydict(adjusted)

    def _products(self, batch: pa.RecordBatch) -> np.ndarray:
        since = times.nanoseconds(batch.column(self.from_))
        rows = pl.from_arrow(batch.select(list(self.key)).append_column(_AT, since))
        assert isinstance(rows, pl.DataFrame)
        asked = rows.with_columns(pl.col(_AT) + 1).with_row_index("_row")
        matched = (
            asked.drop_nulls(_AT)
            .sort(_AT)
            .join_asof(self.cumulative, on=_AT, by=list(self.key), strategy="forward", check_sortedness=False)
        )
        product = np.ones(batch.num_rows)
        product[matched.get_column("_row").to_numpy()] = matched.get_column("_factor").fill_null(1.0).to_numpy()
        return product


def factors_for(
    declared: TableDeclaration, bounds: Bounds, pin: str | None, sibling: Callable[[str], Table]
) -> Factors:
    """The factors that were available by a read's bound, from the declared table; StoreAdjustmentInvalid where it
    cannot give them. It is read as of the same transaction time, and by its own pin where it has one."""
    assert declared.available_time is not None
    assert declared.available_time.adjustment is not None
    assert declared.valid_time is not None
    from .reading import Asked, open_read  # a read of the factors is a read as any other

    asked = declared.available_time.adjustment
    table = sibling(asked.factor_table)
    head = table.log.head()
    other = table.log.declared(head)
    if other.valid_time is None or other.available_time is None or not other.primary_key:
        why = "declares no primary_key, valid_time and available_time"
        raise _invalid(declared, asked.factor_table, why)
    asked_of_them = Asked(
        None if bounds.as_of is None else bounds.as_of.last,
        None,
        None if bounds.available_as_of is None else bounds.available_as_of.last,
        pin=pin if pin in table.log.pins(head).pins else None,
        columns=(*other.primary_key, other.valid_time.from_, asked.factor_column),
    )
    read = open_read(table, asked_of_them, None)
    schema = read.schema
    if asked.factor_column not in schema.names or not _is_number(schema.field(asked.factor_column).type):
        raise _invalid(declared, asked.factor_table, f"has no number column {asked.factor_column}")
    return Factors.of(
        read.arrow(),
        other.primary_key,
        other.valid_time.from_,
        asked.factor_column,
        declared.valid_time.from_,
        asked.adjust_columns,
    )


def _is_number(type_: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_))


def _invalid(declared: TableDeclaration, factor_table: str, why: str) -> StoreError:
    message = f"table {declared.name} cannot be adjusted: {factor_table} {why}"
    fix = "see docs/store.md, adjustment: the factor table is keyed, with valid time and availability"
    return StoreError("StoreAdjustmentInvalid", declared.name, message, fix)
