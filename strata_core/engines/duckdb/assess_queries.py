"""The queries of the write pin's questions, as trees: what `assess` asks, written where it is not kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import duckdb
import pyarrow as pa
from sqlglot import exp

from ...contract.assertions import MOST_SAMPLES, Assertion, Holds, NotNull, NotOlder, Unique, Within, columns_of
from ...relation.schema import Column
from ...types import Array, Map, Struct, ValueType
from ...types.functions import LiteralValue
from ..protocol import TableInput
from . import sql
from .expressions import translate
from .scans import Source, scan, source_of
from .sql import SqlExpr
from .translate import distinct_spellings


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions about one table: SELECTs of chosen columns, under names that DuckDB tells apart."""

    table: TableInput
    source: Source
    columns: Mapping[str, Column]
    spelled: Mapping[str, str]

    def counts(self, assertions: Sequence[Assertion], sound: frozenset[str]) -> exp.Select:
        """The number of rows, then for each assertion its offenders; of `NotOlder` the latest value, of `Unique` 0.

        `sound` are columns without nulls.
        """
        items: list[SqlExpr] = [sql.fn("count", exp.Star())]
        names: list[str] = []
        for assertion in assertions:
            match assertion:
                case Unique():
                    items.append(sql.number(0))
                    continue
                case NotNull(path=()) if assertion.column in sound:
                    items.append(sql.number(0))
                    continue
                case NotOlder():
                    items.append(sql.fn("max", self._column(assertion.column)))
                case NotNull(path=()):
                    present = sql.fn("count", self._column(assertion.column))
                    items.append(exp.Sub(this=sql.fn("count", exp.Star()), expression=present))
                case NotNull() | Within() | Holds():
                    items.append(_counted_where(self._offends(assertion)))
                case _:
                    assert_never(assertion)
            names.extend(columns_of(assertion))
        return self._select(items, names)

    def offenders(self, assertion: NotNull | Within | Holds, shown: Sequence[str]) -> exp.Select:
        """The columns `shown` of the first rows that offend."""
        return self._first(self._offends(assertion), shown, columns_of(assertion))

    def equal(self, column: str, value: LiteralValue, shown: Sequence[str]) -> exp.Select:
        """The columns `shown` of the first rows where `column` is `value`."""
        same = exp.EQ(this=self._column(column), expression=sql.literal(value, self.columns[column].inferred.type))
        return self._first(same, shown, (column,))

    def repeats_of_neighbours(self, columns: Sequence[str]) -> exp.Select:
        """How many rows are smaller than the row before them in `columns`, and how many repeat it.

        `lag` over no order reads the rows as they lie and streams them.
        """
        before = [f"{sql.RESERVED}before_{i}" for i in range(1, len(columns) + 1)]
        lagged = [
            sql.alias(exp.Window(this=sql.fn("lag", self._column(c))), b) for c, b in zip(columns, before, strict=True)
        ]
        pairs_of = [(self._column(c), sql.column(b)) for c, b in zip(columns, before, strict=True)]
        pairs = _from([*(self._column(c) for c in columns), *lagged], self._present(columns, columns))
        same = sql.all_of([exp.EQ(this=now, expression=then) for now, then in pairs_of])
        return _from([_counted_where(_descends(pairs_of)), _counted_where(same)], pairs)

    def repeats_of_groups(self, columns: Sequence[str]) -> exp.Select:
        """How many rows are beyond the first of their values in `columns`."""
        size = sql.alias(sql.fn("count", exp.Star()), f"{sql.RESERVED}size")
        beyond = exp.Sub(this=sql.column(f"{sql.RESERVED}size"), expression=sql.number(1))
        total = sql.fn("coalesce", sql.fn("sum", beyond), sql.number(0))
        return _from([total], self._groups(columns, [size]))

    def repeated(self, columns: Sequence[str], shown: Sequence[str]) -> exp.Select:
        """The columns `shown` of rows beyond the first of a repeated value, in the order of the data."""
        keys = [self._column(c) for c in columns]
        number = sql.alias(exp.Window(this=sql.fn("row_number"), partition_by=keys), f"{sql.RESERVED}number")
        repeated = self._groups(columns, [k.copy() for k in keys])
        repeated.set("having", exp.Having(this=exp.GT(this=sql.fn("count", exp.Star()), expression=sql.number(1))))
        repeated.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
        row = exp.Tuple(expressions=[k.copy() for k in keys])
        read = self._select([self._column(n) for n in shown], shown)
        read.set("where", exp.Where(this=exp.In(this=row, query=exp.Subquery(this=repeated))))
        numbered = _from([*(self._column(n) for n in shown), number], read)
        beyond = exp.GT(this=sql.column(f"{sql.RESERVED}number"), expression=sql.number(1))
        select = _from([self._column(n) for n in shown], numbered, beyond)
        select.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
        return select

    def _column(self, name: str) -> exp.Column:
        return sql.column(self.spelled[name])

    def _select(self, items: Sequence[SqlExpr], names: Sequence[str]) -> exp.Select:
        """A SELECT of `items` over the columns `names`."""
        read = scan(self.table, self.source, [self.columns[n] for n in dict.fromkeys(names)], self.spelled)
        return _from(items, read)

    def _first(self, condition: SqlExpr, shown: Sequence[str], read: Sequence[str]) -> exp.Select:
        items: list[SqlExpr] = [self._column(n) for n in shown] or [exp.Null()]
        select = self._select(items, (*shown, *read))
        select.set("where", exp.Where(this=condition))
        select.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
        return select

    def _present(self, columns: Sequence[str], shown: Sequence[str]) -> exp.Select:
        read = self._select([self._column(c) for c in shown], shown)
        present = [exp.Not(this=sql.is_null(self._column(c))) for c in columns]
        read.set("where", exp.Where(this=sql.all_of(present)))
        return read

    def _groups(self, columns: Sequence[str], items: Sequence[SqlExpr]) -> exp.Select:
        grouped = _from(items, self._present(columns, columns))
        grouped.set("group", exp.Group(expressions=[self._column(c) for c in columns]))
        return grouped

    def _offends(self, assertion: NotNull | Within | Holds) -> SqlExpr:
        """The condition under which a row offends; null where it does not."""
        match assertion:
            case NotNull():
                type_ = self.columns[assertion.column].inferred.type
                return holds_null(self._column(assertion.column), type_, assertion.path)
            case Within():
                column = self._column(assertion.column)
                values: list[SqlExpr] = [sql.string(v) for v in assertion.values]
                return exp.Not(this=exp.In(this=column, expressions=values) if values else sql.is_null(column))
            case Holds():
                return sql.negated(translate(assertion.predicate, self._column))
            case _:
                assert_never(assertion)


def questions(table: TableInput, connection: duckdb.DuckDBPyConnection, schema: pa.Schema | None = None) -> Questions:
    """The questions about `table`, which is attached to `connection` where that is needed. Errors: E030, E033."""
    columns = {c.name: c for c in table.columns}
    source = source_of(table, connection, f"{sql.RESERVED}source", schema)
    return Questions(table, source, columns, distinct_spellings(columns))


def _from(items: Sequence[SqlExpr], inner: exp.Select, where: SqlExpr | None = None) -> exp.Select:
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=sql.identifier(f"{sql.RESERVED}rows")))
    select = exp.Select(expressions=list(items), from_=exp.From(this=rows))
    if where is not None:
        select.set("where", exp.Where(this=where))
    return select


def _counted_where(condition: SqlExpr) -> exp.Filter:
    return exp.Filter(this=sql.fn("count", exp.Star()), expression=exp.Where(this=condition))


def holds_null(value: SqlExpr, type_: ValueType, path: Sequence[str]) -> SqlExpr:
    """Whether a part of `value` at the end of `path` is null; a null on the way has no parts."""
    if not path:
        return sql.is_null(sql.paren(value))
    step, *rest = path
    match type_:
        case Array():
            return _some_null(value, type_.element, rest)
        case Map():
            return _some_null(sql.fn("map_values", value), type_.value, rest)
        case Struct():
            field = next(f for f in type_.fields if f.name == step)
            parts = holds_null(sql.member(value, step), field.type, rest)
            return sql.both(exp.Not(this=sql.is_null(sql.paren(value.copy()))), parts)
        case _:
            raise ValueError(f"{type_} has no part `{step}`")


def _some_null(items: SqlExpr, element: ValueType, rest: Sequence[str]) -> SqlExpr:
    if not rest:
        # `list_count` counts what is not null, without a call for each element.
        return exp.LT(this=sql.fn("list_count", items.copy()), expression=sql.fn("len", items.copy()))
    name = f"{sql.RESERVED}part_{len(rest)}"
    found = sql.fn("list_filter", items, sql.lambda_of([name], holds_null(sql.column(name), element, rest)))
    return exp.GT(this=sql.fn("len", found), expression=sql.number(0))


def _descends(pairs: Sequence[tuple[SqlExpr, SqlExpr]]) -> SqlExpr:
    """Whether a row is smaller than the one before it, compared column by column."""
    (now, then), *rest = pairs
    less: SqlExpr = exp.LT(this=now.copy(), expression=then.copy())
    if not rest:
        return less
    equal = exp.EQ(this=now.copy(), expression=then.copy())
    return exp.Or(this=less, expression=exp.Paren(this=sql.both(equal, exp.Paren(this=_descends(rest)))))
