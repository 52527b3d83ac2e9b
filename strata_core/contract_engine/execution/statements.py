"""Expectations as SQL: one SELECT each, of the rows (or values) that break it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_never

from ...contract.ages import parse_age
from ..authored_tests import (
    AcceptedValues,
    Custom,
    Expectation,
    FreshnessCheck,
    NotNull,
    Range,
    Referential,
    Regex,
    RowCount,
    Unique,
)
from ..naming import split_ref


def statement(expectation: Expectation, table: str, other: str | None, now: datetime) -> str | None:
    """The SELECT over `table` that gives what breaks the expectation; None for a condition in the Strata language.

    `other` is the table that a referential one looks in; `now` (UTC) is what ages are told from.
    """
    rows = quoted(table)
    match expectation:
        case NotNull(columns=columns):
            return f"SELECT * FROM {rows} WHERE {' OR '.join(f'{quoted(c)} IS NULL' for c in columns)}"
        case Unique(columns=columns):
            names = ", ".join(map(quoted, columns))
            return f"SELECT {names}, count(*) AS times FROM {rows} GROUP BY {names} HAVING count(*) > 1"
        case AcceptedValues(column=column, values=values):
            return f"SELECT * FROM {rows} WHERE {quoted(column)} NOT IN ({', '.join(map(literal, values))})"
        case Range(column=column, min=low, max=high):
            return f"SELECT * FROM {rows} WHERE {_outside(quoted(column), low, high)}"
        case Regex(column=column, pattern=pattern):
            return f"SELECT * FROM {rows} WHERE NOT regexp_full_match({quoted(column)}, {literal(pattern)})"
        case RowCount(min=low, max=high):
            return f"SELECT count(*) AS found FROM {rows} HAVING {_outside('count(*)', low, high)}"
        case FreshnessCheck(column=column, max_age=age):
            limit = parse_age(age)
            assert limit is not None, "validation wants an age"
            latest = f"max({quoted(column)})"
            oldest = f"TIMESTAMP {literal(f'{now - limit:%Y-%m-%d %H:%M:%S}')}"
            return f"SELECT {latest} AS latest FROM {rows} HAVING {latest} IS NULL OR {latest} < {oldest}"
        case Referential(columns=columns, to=to):
            assert other is not None, "a referential expectation looks in a table"
            there = [split_ref(ref)[2] for ref in to]
            return unfound(table, columns, other, there)
        case Custom():
            return None
    assert_never(expectation)


def unfound(table: str, columns: Sequence[str], other: str, key: Sequence[str]) -> str:
    """The SELECT of the rows of `table` whose values in `columns`, none of which is null, `other` has not in `key`."""
    equal = " AND ".join(f"f.{quoted(b)} = t.{quoted(a)}" for a, b in zip(columns, key, strict=True))
    given = " AND ".join(f"t.{quoted(c)} IS NOT NULL" for c in columns)
    found = f"SELECT 1 FROM {quoted(other)} AS f WHERE {equal}"
    return f"SELECT t.* FROM {quoted(table)} AS t WHERE {given} AND NOT EXISTS ({found})"


def _outside(value: str, low: object, high: object) -> str:
    bounds = ((low, "<"), (high, ">"))
    return " OR ".join(f"{value} {sign} {literal(bound)}" for bound, sign in bounds if bound is not None)


def quoted(name: str) -> str:
    """A name as an identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """A value of a contract as a literal."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
