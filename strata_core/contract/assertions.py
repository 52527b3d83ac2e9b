"""What must be measured on data, because the compiler could not prove it: the questions of the write pin.

An engine answers all questions about a table in one pass (`Engine.assess`); `write_pin` judges the answers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import assert_never

from ..frozen import dataclass
from ..relation.expressions import Expr, columns_read

MOST_SAMPLES = 5
"""Samples of one measurement at most."""


@dataclass(frozen=True, slots=True)
class NotNull:
    """No null in `column`; `path` leads into nested values ("element", "value" or a struct field's name)."""

    column: str
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Within:
    """Every non-null value of `column` is one of `values`."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unique:
    """No two rows agree on all `columns`; rows with a null in one of them are not compared."""

    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotOlder:
    """The latest value of the date or timestamp `column` is at or after `instant` (UTC; kept without its zone)."""

    column: str
    instant: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "instant", in_utc(self.instant))


@dataclass(frozen=True, slots=True)
class Holds:
    """`predicate` is not false for any row; a null passes."""

    predicate: Expr
    text: str


Assertion = NotNull | Within | Unique | NotOlder | Holds


def in_utc(instant: datetime) -> datetime:
    """`instant` as timestamps are stored: UTC, without a zone. One without a zone is UTC already."""
    return instant if instant.tzinfo is None else instant.astimezone(UTC).replace(tzinfo=None)


def columns_of(assertion: Assertion) -> tuple[str, ...]:
    """The columns that an assertion reads."""
    match assertion:
        case NotNull() | Within() | NotOlder():
            return (assertion.column,)
        case Unique():
            return assertion.columns
        case Holds():
            return tuple(sorted(columns_read(assertion.predicate)))
        case _:
            assert_never(assertion)


@dataclass(frozen=True, slots=True)
class Measurement:
    """An answer: how many rows offend (of a `Unique`, rows beyond the first of each value), with samples.

    A sample maps column names to values: the key columns of the offending row, and the column asked about.
    """

    assertion: Assertion
    offenders: int
    samples: tuple[dict[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    """All answers about one table, in the order of the questions, and its number of rows."""

    rows: int
    measurements: tuple[Measurement, ...]
