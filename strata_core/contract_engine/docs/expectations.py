"""Expectations in words."""

from __future__ import annotations

from typing import assert_never

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


def in_words(expectation: Expectation) -> str:
    """What an expectation asks for, in a line."""
    match expectation:
        case NotNull(columns=columns):
            return f"{_and(columns)} {'are' if len(columns) > 1 else 'is'} never null"
        case Unique(columns=columns):
            return f"{_and(columns)} {'together name' if len(columns) > 1 else 'names'} one row"
        case AcceptedValues(column=column, values=values):
            return f"{column} is one of {', '.join(map(str, values))}"
        case Range(column=column, min=low, max=high):
            return f"{column} is {_between(low, high)}"
        case Regex(column=column, pattern=pattern):
            return f"{column} matches {pattern}"
        case RowCount(min=low, max=high):
            return f"the number of rows is {_between(low, high)}"
        case FreshnessCheck(column=column, max_age=age):
            return f"the latest {column} is at most {age} old"
        case Referential(columns=columns, to=to):
            return f"{_and(columns)} {'are' if len(columns) > 1 else 'is'} found in {_and(to)}"
        case Custom(expression=expression):
            return expression
    assert_never(expectation)


def _and(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _between(low: float | int | str | None, high: float | int | str | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"between {low} and {high}"
