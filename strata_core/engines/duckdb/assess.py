"""The write pin's questions (Seed 0 §5 C) answered on data: one aggregate query, and one for each `Unique`.

Counts of nulls, sets, predicates and the latest instants come from one pass; it leaves out the columns of which
Parquet footers of our own making say that they hold no null. Uniqueness is read off neighbours where the rows are
sorted by the columns, as artifacts are: no memory, and a tenth of the time of grouping; else the rows are grouped,
which spills. Samples are queried only where there are offenders.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import duckdb
import pyarrow.parquet as pq
from sqlglot import exp

from ...contract.assertions import (
    MOST_SAMPLES,
    Assertion,
    Assessment,
    Holds,
    Measurement,
    NotNull,
    NotOlder,
    Unique,
    Within,
    columns_of,
)
from ...relation.schema import Column
from ...types import Array, Date, Map, Struct, ValueType
from ..protocol import ParquetTable, TableInput
from . import sql
from .expressions import translate
from .scans import scan, source_of
from .session import computing
from .sql import SqlExpr
from .translate import distinct_spellings


@dataclass(frozen=True, slots=True)
class Data:
    """The table under assessment: a SELECT of chosen columns, and how they are called in it."""

    table: TableInput
    columns: dict[str, Column]
    spelled: dict[str, str]
    source: Any
    connection: duckdb.DuckDBPyConnection

    def column(self, name: str) -> exp.Column:
        """A column of the table."""
        return sql.column(self.spelled[name])

    def select(self, items: Sequence[SqlExpr], names: Sequence[str]) -> exp.Select:
        """A SELECT of `items` over the columns `names`."""
        read = scan(self.table, self.source, [self.columns[n] for n in dict.fromkeys(names)], self.spelled)
        return _from(items, read)

    def rows(self, select: exp.Select) -> list[tuple[Any, ...]]:
        """The rows of a query. Errors: E090, E091, E033."""
        with computing():
            return self.connection.sql(sql.render(select)).fetchall()


def _from(items: Sequence[SqlExpr], inner: exp.Select, where: SqlExpr | None = None) -> exp.Select:
    rows = exp.Subquery(this=inner, alias=exp.TableAlias(this=sql.identifier(f"{sql.RESERVED}rows")))
    select = exp.Select(expressions=list(items), from_=exp.From(this=rows))
    if where is not None:
        select.set("where", exp.Where(this=where))
    return select


def assess(
    table: TableInput, assertions: Sequence[Assertion], key: Sequence[str], connection: duckdb.DuckDBPyConnection
) -> Assessment:
    """One measurement per assertion, in their order."""
    columns = {c.name: c for c in table.columns}
    source = source_of(table, connection, f"{sql.RESERVED}source")
    data = Data(table, columns, distinct_spellings(columns), source, connection)
    sound = without_nulls(table) if isinstance(table, ParquetTable) and table.ours else frozenset[str]()
    counts = _count(data, assertions, sound)
    measured = []
    for assertion, found in zip(assertions, counts[1:], strict=True):
        match assertion:
            case Unique():
                measured.append(_unique(data, assertion, key))
            case NotOlder():
                measured.append(_latest(data, assertion, found, key))
            case NotNull() | Within() | Holds():
                samples = _samples(data, assertion, key, _offends(data, assertion)) if found else ()
                measured.append(Measurement(assertion, found, samples))
            case _:
                assert_never(assertion)
    return Assessment(counts[0], tuple(measured))


def without_nulls(table: ParquetTable) -> frozenset[str]:
    """The columns of which all footers say that they hold no null. Nested columns have no such count."""
    sound: set[str] | None = None
    for path in table.paths:
        footer = pq.read_metadata(path)
        here = {footer.schema.column(i).path for i in range(footer.num_columns)}
        for group in range(footer.num_row_groups):
            for i in range(footer.num_columns):
                chunk = footer.row_group(group).column(i)
                statistics = chunk.statistics if chunk.is_stats_set else None
                if statistics is None or not statistics.has_null_count or statistics.null_count:
                    here.discard(chunk.path_in_schema)
        sound = here if sound is None else sound & here
    flat = {c.name for c in table.columns if not isinstance(c.inferred.type, Array | Map | Struct)}
    return frozenset((sound or set()) & flat)


def _count(data: Data, assertions: Sequence[Assertion], sound: frozenset[str]) -> tuple[Any, ...]:
    """The number of rows, then for each assertion its offenders (of `NotOlder` the latest value, of `Unique` 0).

    `sound` are columns without nulls. A table of very many columns is read more than once: DuckDB's time grows with
    the square of what one query counts.
    """
    parts = [assertions[i : i + MOST_COUNTED] for i in range(0, len(assertions), MOST_COUNTED)] or [assertions]
    counted = [_count_at_once(data, part, sound) for part in parts]
    return (counted[0][0], *(answer for row in counted for answer in row[1:]))


MOST_COUNTED = 256


def _count_at_once(data: Data, assertions: Sequence[Assertion], sound: frozenset[str]) -> tuple[Any, ...]:
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
                items.append(sql.fn("max", data.column(assertion.column)))
            case NotNull(path=()):
                present = sql.fn("count", data.column(assertion.column))
                items.append(exp.Sub(this=sql.fn("count", exp.Star()), expression=present))
            case NotNull() | Within() | Holds():
                offending = exp.Where(this=_offends(data, assertion))
                items.append(exp.Filter(this=sql.fn("count", exp.Star()), expression=offending))
            case _:
                assert_never(assertion)
        names.extend(columns_of(assertion))
    (row,) = data.rows(data.select(items, names))
    return row


def _shown(assertion: Assertion) -> tuple[str, ...]:
    return () if isinstance(assertion, Holds) else columns_of(assertion)


def _offends(data: Data, assertion: NotNull | Within | Holds) -> SqlExpr:
    """The condition under which a row offends; null where it does not."""
    match assertion:
        case NotNull():
            column = data.columns[assertion.column]
            return holds_null(data.column(assertion.column), column.inferred.type, assertion.path)
        case Within():
            values: list[SqlExpr] = [sql.string(v) for v in assertion.values]
            if not values:
                return exp.Not(this=sql.is_null(data.column(assertion.column)))
            return exp.Not(this=exp.In(this=data.column(assertion.column), expressions=values))
        case Holds():
            return sql.negated(translate(assertion.predicate, data.column))
        case _:
            assert_never(assertion)


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


def _samples(data: Data, assertion: Assertion, key: Sequence[str], offending: SqlExpr) -> tuple[dict[str, object], ...]:
    names = tuple(dict.fromkeys((*key, *_shown(assertion))))
    items: list[SqlExpr] = [data.column(n) for n in names] or [exp.Null()]
    select = data.select(items, (*names, *columns_of(assertion)))
    select.set("where", exp.Where(this=offending))
    select.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
    return _named(names, data.rows(select))


def _named(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> tuple[dict[str, object], ...]:
    return tuple(dict(zip(names, row, strict=False)) for row in rows)


def _latest(data: Data, assertion: NotOlder, latest: Any, key: Sequence[str]) -> Measurement:
    """The latest value, where it is older than the instant; no row offends where there is no value at all."""
    if latest is None:
        return Measurement(assertion, 0)
    at = latest if isinstance(latest, datetime.datetime) else datetime.datetime(latest.year, latest.month, latest.day)
    if at >= assertion.instant:
        return Measurement(assertion, 0)
    type_ = data.columns[assertion.column].inferred.type
    value = latest if isinstance(type_, Date) else at
    same = exp.EQ(this=data.column(assertion.column), expression=sql.literal(value, type_))
    return Measurement(assertion, 1, _samples(data, assertion, key, same)[:1])


def _unique(data: Data, assertion: Unique, key: Sequence[str]) -> Measurement:
    offenders = _repeats_of_neighbours(data, assertion.columns)
    if offenders is None:
        offenders = _repeats_of_groups(data, assertion.columns)
    samples = _repeated(data, assertion, key) if offenders else ()
    return Measurement(assertion, offenders, samples)


def _all_present(data: Data, columns: Sequence[str]) -> SqlExpr:
    return sql.all_of([exp.Not(this=sql.is_null(data.column(c))) for c in columns])


def _before(position: int) -> str:
    return f"{sql.RESERVED}before_{position}"


def _repeats_of_neighbours(data: Data, columns: Sequence[str]) -> int | None:
    """How many rows repeat the row before them, or `None` where the rows are not sorted by `columns`.

    `lag` over no order reads the rows as they lie and streams them.
    """
    before = [
        sql.alias(exp.Window(this=sql.fn("lag", data.column(c))), _before(i)) for i, c in enumerate(columns, start=1)
    ]
    read = data.select([data.column(c) for c in columns], columns)
    read.set("where", exp.Where(this=_all_present(data, columns)))
    pairs = _from([*(data.column(c) for c in columns), *before], read)
    pairs_of = [(data.column(c), sql.column(_before(i))) for i, c in enumerate(columns, start=1)]
    same = sql.all_of([exp.EQ(this=now, expression=then) for now, then in pairs_of])
    items: list[SqlExpr] = [
        exp.Filter(this=sql.fn("count", exp.Star()), expression=exp.Where(this=c)) for c in (_descends(pairs_of), same)
    ]
    ((descents, repeats),) = data.rows(_from(items, pairs))
    return None if descents else int(repeats)


def _descends(pairs: Sequence[tuple[SqlExpr, SqlExpr]]) -> SqlExpr:
    """Whether a row is smaller than the one before it, compared column by column."""
    (now, then), *rest = pairs
    less: SqlExpr = exp.LT(this=now.copy(), expression=then.copy())
    if not rest:
        return less
    equal = exp.EQ(this=now.copy(), expression=then.copy())
    return exp.Or(this=less, expression=exp.Paren(this=sql.both(equal, exp.Paren(this=_descends(rest)))))


def _groups(data: Data, columns: Sequence[str], items: Sequence[SqlExpr]) -> exp.Select:
    read = data.select([data.column(c) for c in columns], columns)
    read.set("where", exp.Where(this=_all_present(data, columns)))
    grouped = _from(items, read)
    grouped.set("group", exp.Group(expressions=[data.column(c) for c in columns]))
    return grouped


def _repeats_of_groups(data: Data, columns: Sequence[str]) -> int:
    size = sql.alias(sql.fn("count", exp.Star()), f"{sql.RESERVED}size")
    beyond = exp.Sub(this=sql.column(f"{sql.RESERVED}size"), expression=sql.number(1))
    total = sql.fn("coalesce", sql.fn("sum", beyond), sql.number(0))
    ((repeats,),) = data.rows(_from([total], _groups(data, columns, [size])))
    return int(repeats)


def _repeated(data: Data, assertion: Unique, key: Sequence[str]) -> tuple[dict[str, object], ...]:
    """Rows beyond the first of a repeated value, in the order of the data."""
    names = tuple(dict.fromkeys((*key, *assertion.columns)))
    number = sql.alias(
        exp.Window(this=sql.fn("row_number"), partition_by=[data.column(c) for c in assertion.columns]),
        f"{sql.RESERVED}number",
    )
    repeated = _groups(data, assertion.columns, [data.column(c) for c in assertion.columns])
    repeated.set("having", exp.Having(this=exp.GT(this=sql.fn("count", exp.Star()), expression=sql.number(1))))
    repeated.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
    row = exp.Tuple(expressions=[data.column(c) for c in assertion.columns])
    read = data.select([data.column(n) for n in names], names)
    read.set("where", exp.Where(this=exp.In(this=row, query=exp.Subquery(this=repeated))))
    numbered = _from([*(data.column(n) for n in names), number], read)
    beyond = exp.GT(this=sql.column(f"{sql.RESERVED}number"), expression=sql.number(1))
    select = _from([data.column(n) for n in names], numbered, beyond)
    select.set("limit", exp.Limit(expression=sql.number(MOST_SAMPLES)))
    return _named(names, data.rows(select))
