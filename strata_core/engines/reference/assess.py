"""Answers to the write pin's questions, from rows in memory."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import assert_never

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
from ..protocol import TableInput
from .evaluate import compile_expr
from .reading import read_rows
from .values import Value, group_key, order_key

Rows = Sequence[list[Value]]


def assess(table: TableInput, assertions: Sequence[Assertion], key: Sequence[str]) -> Assessment:
    """One measurement per assertion, in their order; the first `MOST_SAMPLES` offending rows are samples."""
    names = tuple(c.name for c in table.columns)
    rows = read_rows(table, names)
    positions = {name: i for i, name in enumerate(names)}
    return Assessment(len(rows), tuple(_measure(a, rows, positions, key) for a in assertions))


def _measure(assertion: Assertion, rows: Rows, positions: dict[str, int], key: Sequence[str]) -> Measurement:
    offenders = list(_offenders(assertion, rows, positions))
    own = () if isinstance(assertion, Holds) else columns_of(assertion)
    shown = [*key, *(c for c in own if c not in key)]
    samples: list[dict[str, object]] = [{n: row[positions[n]] for n in shown} for row in offenders[:MOST_SAMPLES]]
    return Measurement(assertion, len(offenders), tuple(samples))


def _offenders(assertion: Assertion, rows: Rows, positions: dict[str, int]) -> Iterator[list[Value]]:
    match assertion:
        case NotNull():
            at = positions[assertion.column]
            return (row for row in rows if _holds_null(row[at], assertion.path))
        case Within():
            at, allowed = positions[assertion.column], {*assertion.values, None}
            return (row for row in rows if row[at] not in allowed)
        case Unique():
            return _repeated(rows, [positions[c] for c in assertion.columns])
        case NotOlder():
            return _outdated(rows, positions[assertion.column], assertion.instant)
        case Holds():
            test = compile_expr(assertion.predicate, positions, eager=False)
            return (row for row in rows if test(list(row)) is False)
        case _:
            assert_never(assertion)


def _holds_null(value: Value, path: tuple[str, ...]) -> bool:
    """Whether `value` is null, or at the end of `path` a part of it is; a null on the way has no parts."""
    if not path:
        return value is None
    step, *rest = path
    match value:
        case list():
            return any(_holds_null(v, tuple(rest)) for v in value)
        case dict() if step == "value" and step not in value:
            return any(_holds_null(v, tuple(rest)) for v in value.values())
        case dict():
            return _holds_null(value[step], tuple(rest))
        case _:
            return False


def _repeated(rows: Rows, at: list[int]) -> Iterator[list[Value]]:
    seen = set()
    for row in rows:
        values = [row[i] for i in at]
        if any(v is None for v in values):
            continue
        key = group_key(values)
        if key in seen:
            yield row
        seen.add(key)


def _outdated(rows: Rows, at: int, instant: datetime.datetime) -> Iterator[list[Value]]:
    """The latest row, where it is older than `instant`; no row offends where there is no value at all."""
    latest = max((row for row in rows if row[at] is not None), key=lambda row: order_key(row[at]), default=None)
    if latest is None:
        return
    value = latest[at]
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    if isinstance(value, datetime.datetime) and value < instant:
        yield latest
