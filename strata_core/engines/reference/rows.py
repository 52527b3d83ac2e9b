"""Rows as the interpreter has them, and what is computed of each: the two readings of `interpreter.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...relation.expressions import Expr, SortKey
from ...relation.schema import Schema
from .evaluate import Compute, Row, compile_expr
from .values import Value, sort_key

T = TypeVar("T")
Rows = list[Row]
Tables = Mapping[tuple[str, tuple[str, ...]], Sequence[Sequence[Value]]]


@dataclass(frozen=True, slots=True)
class Reading:
    """The rows of the tables that are read, and whether cells are computed that nothing needs."""

    tables: Tables
    eager: bool = False


def compiled(exprs: Iterable[Expr], schema: Schema, reading: Reading) -> list[Compute]:
    """What computes `exprs` of a row with the columns of `schema`."""
    positions = {name: i for i, name in enumerate(schema.names)}
    return [compile_expr(e, positions, eager=reading.eager) for e in exprs]


def sorted_rows(rows: Rows, keys: Sequence[SortKey], schema: Schema, reading: Reading) -> Rows:
    """`rows` in the order of `keys`, as `ordered`."""
    return ordered(rows, lambda row: row, keys, compiled([k.expr for k in keys], schema, reading))


def ordered(items: Sequence[T], row: Callable[[T], Row], keys: Sequence[SortKey], computes: list[Compute]) -> list[T]:
    """`items` in the order of `keys`, nulls last in both directions; items that no key tells apart keep theirs."""
    found = list(items)
    for key, of in reversed(list(zip(keys, computes, strict=True))):
        present = [(sort_key(of(row(item))), item) for item in found]
        values = [pair for pair in present if pair[0] != (1,)]
        values.sort(key=lambda pair: pair[0], reverse=key.descending)
        found = [item for _, item in values] + [item for k, item in present if k == (1,)]
    return found
