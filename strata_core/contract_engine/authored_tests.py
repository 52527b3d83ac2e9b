"""The tests of an authored contract: SQL, tests of dbt, and expectations about rows (Seed 2, "Evaluate Tests")."""

from __future__ import annotations

from typing import Annotated, Literal

from ..frozen import dataclass
from .shape import Rule, Shape
from .words import AssetId, ColumnName, ColumnRef, Duration, Name, TestSeverity, Text, Word


@dataclass(frozen=True, slots=True)
class SqlTest(Shape):
    """One read-only SELECT over the product's assets that returns the rows that are wrong: none is a pass."""

    id: Name
    kind: Literal["sql"]
    severity: TestSeverity
    sql: Text
    asset: AssetId | None = None
    description: Text | None = None
    dialect: Word | None = None


@dataclass(frozen=True, slots=True)
class DbtTest(Shape):
    """A test of the dbt project, by its name or unique id in the manifest."""

    id: Name
    kind: Literal["dbt"]
    severity: TestSeverity
    ref: Text
    asset: AssetId | None = None
    description: Text | None = None


@dataclass(frozen=True, slots=True)
class NotNull(Shape):
    """No null in the columns."""

    type: Literal["not_null"]
    columns: Annotated[tuple[ColumnName, ...], Rule(minItems=1)]


@dataclass(frozen=True, slots=True)
class Unique(Shape):
    """No two rows agree on all of the columns."""

    type: Literal["unique"]
    columns: Annotated[tuple[ColumnName, ...], Rule(minItems=1)]


@dataclass(frozen=True, slots=True)
class AcceptedValues(Shape):
    """Every value that is not null is one of `values`."""

    type: Literal["accepted_values"]
    column: ColumnName
    values: Annotated[tuple[str | int | float | bool, ...], Rule(minItems=1)]


@dataclass(frozen=True, slots=True)
class Range(Shape):
    """Every value that is not null lies between `min` and `max`, both included; one of them may be absent.

    Bounds of dates and timestamps are texts.
    """

    type: Literal["range"]
    column: ColumnName
    min: float | int | str | None = None
    max: float | int | str | None = None


@dataclass(frozen=True, slots=True)
class Regex(Shape):
    """Every value that is not null matches `pattern` as a whole."""

    type: Literal["regex"]
    column: ColumnName
    pattern: Text


@dataclass(frozen=True, slots=True)
class RowCount(Shape):
    """The table has between `min` and `max` rows, both included; one of them may be absent."""

    type: Literal["row_count"]
    min: Annotated[int, Rule(minimum=0)] | None = None
    max: Annotated[int, Rule(minimum=0)] | None = None


@dataclass(frozen=True, slots=True)
class FreshnessCheck(Shape):
    """The latest value of `column` is at most `max_age` old."""

    type: Literal["freshness"]
    column: ColumnName
    max_age: Duration


@dataclass(frozen=True, slots=True)
class Referential(Shape):
    """Every value of `columns` that is not null is found in the columns `to`, all of one asset."""

    type: Literal["referential"]
    columns: Annotated[tuple[ColumnName, ...], Rule(minItems=1)]
    to: Annotated[tuple[ColumnRef, ...], Rule(minItems=1)]


@dataclass(frozen=True, slots=True)
class Custom(Shape):
    """A condition in the Strata language that holds for every row."""

    type: Literal["custom"]
    expression: Annotated[str, Rule(minLength=1, maxLength=4000, examples=["late <= flights"])]


Expectation = Annotated[
    NotNull | Unique | AcceptedValues | Range | Regex | RowCount | FreshnessCheck | Referential | Custom,
    Rule(discriminator="type"),
]


@dataclass(frozen=True, slots=True)
class ExpectationTest(Shape):
    """An expectation about an asset's rows."""

    id: Name
    kind: Literal["expectation"]
    severity: TestSeverity
    asset: AssetId
    expectation: Expectation
    description: Text | None = None


Test = Annotated[SqlTest | DbtTest | ExpectationTest, Rule(discriminator="kind")]
