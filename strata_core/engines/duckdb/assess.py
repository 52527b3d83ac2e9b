"""The write pin's questions (Seed 0 §5 C) answered on data: one aggregate query, and one for each `Unique`.

Counts of nulls, sets, predicates and the latest instants come from one pass; it leaves out the columns of which
Parquet footers of our own making say that they hold no null. Uniqueness is read off neighbours where the rows are
sorted by the columns, as artifacts are: no memory, and a tenth of the time of grouping; else the rows are grouped,
which spills. Samples are queried only where there are offenders.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, assert_never

import duckdb
import pyarrow.parquet as pq

from ...contract.assertions import (
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
from ...types import Array, Date, Map, Struct
from ..protocol import ParquetTable, TableInput
from .kept_queries import Queries, Schemas, queries_over
from .session import computing

if TYPE_CHECKING:  # what writes queries is loaded where one is not kept
    from sqlglot import exp

    from .assess_queries import Questions

MOST_COUNTED = 256
"""Assertions of one query: DuckDB's time grows with the square of what one counts."""


@dataclass(frozen=True)
class _Table:
    """The table under assessment."""

    table: TableInput
    queries: Queries
    connection: duckdb.DuckDBPyConnection

    def answer(self, purpose: str, subject: object, write: Callable[[Questions], exp.Select]) -> list[tuple[Any, ...]]:
        """The rows of a query for `purpose`, which depends on `subject` and the table's columns alone.

        Errors: E090, E091, E033.
        """
        return self._rows(self.queries.text(purpose, subject, partial(self._text, write)))

    def samples(self, names: Sequence[str], write: Callable[[Questions], exp.Select]) -> tuple[dict[str, object], ...]:
        """The rows of a query that few tables are asked, as mappings from `names`."""
        rows = self._rows(self._text(write, self.queries.tables, self.queries.schemas))
        return tuple(dict(zip(names, row, strict=False)) for row in rows)

    def _text(
        self, write: Callable[[Questions], exp.Select], tables: Mapping[str, TableInput], schemas: Schemas
    ) -> str:
        from .assess_queries import questions
        from .sql import render

        (table,) = tables.values()
        own = table is self.table
        return render(write(self._own if own else questions(table, self.connection, *schemas.values())))

    @cached_property
    def _own(self) -> Questions:
        from .assess_queries import questions

        return questions(self.table, self.connection, *self.queries.schemas.values())

    def _rows(self, text: str) -> list[tuple[Any, ...]]:
        with computing():
            return self.connection.sql(text).fetchall()


def assess(
    table: TableInput, assertions: Sequence[Assertion], key: Sequence[str], connection: duckdb.DuckDBPyConnection
) -> Assessment:
    """One measurement per assertion, in their order."""
    data = _Table(table, queries_over({"": table}), connection)
    columns = {c.name: c for c in table.columns}
    sound = without_nulls(table) if isinstance(table, ParquetTable) and table.ours else frozenset[str]()
    counts = _count(data, assertions, sound)
    measured = []
    for assertion, found in zip(assertions, counts[1:], strict=True):
        match assertion:
            case Unique():
                measured.append(_unique(data, assertion, key))
            case NotOlder():
                measured.append(_latest(data, assertion, found, columns[assertion.column], key))
            case NotNull() | Within() | Holds():
                measured.append(_offending(data, assertion, found, key))
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


def _count(data: _Table, assertions: Sequence[Assertion], sound: frozenset[str]) -> tuple[Any, ...]:
    """The answers to `Questions.counts`. A table of very many columns is read more than once."""
    parts = [assertions[i : i + MOST_COUNTED] for i in range(0, len(assertions), MOST_COUNTED)] or [assertions]
    counted: list[tuple[Any, ...]] = []
    for part in parts:
        # the instant before which values are too old is another each time, and not asked for
        subject = [("latest", a.column) if isinstance(a, NotOlder) else a for a in part]
        counted += data.answer("counts", (subject, sound), partial(_counts, part, sound))
    return (counted[0][0], *(answer for row in counted for answer in row[1:]))


def _counts(assertions: Sequence[Assertion], sound: frozenset[str], questions: Questions) -> exp.Select:
    return questions.counts(assertions, sound)


def _shown(key: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*key, *columns)))


def _offending(data: _Table, assertion: NotNull | Within | Holds, found: int, key: Sequence[str]) -> Measurement:
    if not found:
        return Measurement(assertion, 0)
    shown = _shown(key, () if isinstance(assertion, Holds) else columns_of(assertion))
    return Measurement(assertion, found, data.samples(shown, lambda q: q.offenders(assertion, shown)))


def _latest(data: _Table, assertion: NotOlder, latest: Any, column: Column, key: Sequence[str]) -> Measurement:
    """The latest value, where it is older than the instant; no row offends where there is no value at all."""
    if latest is None:
        return Measurement(assertion, 0)
    at = latest if isinstance(latest, datetime.datetime) else datetime.datetime(latest.year, latest.month, latest.day)
    if at >= assertion.instant:
        return Measurement(assertion, 0)
    value = latest if isinstance(column.inferred.type, Date) else at
    shown = _shown(key, (assertion.column,))
    return Measurement(assertion, 1, data.samples(shown, lambda q: q.equal(assertion.column, value, shown))[:1])


def _unique(data: _Table, assertion: Unique, key: Sequence[str]) -> Measurement:
    columns = assertion.columns
    ((descents, repeats),) = data.answer("neighbours", columns, lambda q: q.repeats_of_neighbours(columns))
    if descents:  # the rows are not sorted by the columns
        ((repeats,),) = data.answer("groups", columns, lambda q: q.repeats_of_groups(columns))
    if not repeats:
        return Measurement(assertion, 0)
    shown = _shown(key, columns)
    return Measurement(assertion, int(repeats), data.samples(shown, lambda q: q.repeated(columns, shown)))
