"""`partition_start` (language.md, "Partitions of time"): what has partitions of time, and what cannot (E070)."""

from __future__ import annotations

import pytest

from strata_core.analysis.project import compile_project
from strata_core.language.parser import parse_bytes
from strata_core.periods import Periods

SOURCE = """\
source s(csv: "s.csv") {
  columns: { id: int64 primary_key, day: date nonnull, late: date, at: timestamp nonnull }
}
"""
START = 'partition_start: "2024-01-01"'


def compiled(body: str):
    return compile_project([parse_bytes((SOURCE + f"model m {{ {body} }}").encode(), "m.strata").module])


@pytest.mark.parametrize(
    ("body", "periods"),
    [
        ('from s partition_by: [day] partition_start: "2024-01-01"', ("day", "day", "2024-01-01", None, True)),
        (
            'from s partition_by: [at, id] partition_start: "2024-01-01 05:00" partition_every: hour',
            ("at", "hour", "2024-01-01T05:00", None, False),
        ),
        (
            f'from s partition_by: [day] {START} partition_every: "week" partition_end: "2024-02-05"',
            ("day", "week", "2024-01-01", "2024-02-05", True),
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01" partition_every: month partition_end: "2024-03"',
            ("day", "month", "2024-01-01", "2024-03-01", True),
        ),
        ("from s partition_by: [day]", None),
    ],
)
def test_the_partitions_of_a_model(body, periods) -> None:
    project = compiled(body)
    assert project.errors == ()
    assert project.models["m"].periods == (None if periods is None else Periods(*periods))


def test_keys_of_early_years_are_read_as_they_are_written() -> None:
    for every, key in (("day", "0900-01-01"), ("hour", "0900-01-01-05:00")):
        periods = Periods("at", every, "0900-01-01", None, every == "day")
        assert periods.key(periods.read(key)) == key


@pytest.mark.parametrize(
    ("body", "message", "fix"),
    [
        (
            "from s partition_by: [day] partition_every: month",
            "`partition_every` needs `partition_start`",
            'add `partition_start: "2024-01-01"`: where the first partition begins',
        ),
        (
            'from s partition_start: "2024-01-01"',
            "`partition_start` is about `partition_by`, which is not there",
            "add `partition_by: [day]`, a date or timestamp first",
        ),
        (
            'from s partition_by: [id, day] partition_start: "2024-01-01"',
            "partitions of time are told by a date or timestamp, and `id` is int64",
            "name a date or timestamp first in `partition_by`",
        ),
        (
            'from s partition_by: [late] partition_start: "2024-01-01"',
            "`late` may be null, and a null lies in no partition of time",
            "leave such rows out: `filter late is not none`",
        ),
        (
            f"from s aggregate {{ day = max(day) }} filter day is not none partition_by: [day] {START}",
            "a table of one row has no partitions of time",
            "leave the attribute out",
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01" incremental { cursor: day }',
            "a model is either added to (`incremental`) or made by partitions of time",
            "leave one of the two out",
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01" partition_every: hour',
            "`hour` is no length of a partition of dates",
            "write one of day, week, month",
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01" partition_every: year',
            "`year` is no length of a partition",
            "write one of day, week, month",
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-15" partition_every: month',
            "no month begins at `2024-01-15`",
            'write `"2024-01-01"`',
        ),
        (
            'from s partition_by: [day] partition_start: "soon"',
            "`soon` is no day or time of day without a zone",
            'write `"2024-01-31"`',
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01T00:00Z"',
            "`2024-01-01T00:00Z` is no day or time of day without a zone",
            'write `"2024-01-31"`',
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01" partition_end: "2024-01-01"',
            "`partition_end` is not after `partition_start`",
            "it is the first instant that is left out",
        ),
        (
            "from s partition_by: [day] partition_start: 2024",
            "`2024` is no day or time of day without a zone",
            'write `"2024-01-31"`',
        ),
        (
            'from s partition_by: [day] partition_start: "2024-W05-1"',
            "`2024-W05-1` is no day or time of day without a zone",
            'write `"2024-01-31"`',
        ),
        (
            'from s partition_by: [day] partition_start: "9999-01-01"',
            "no partition begins after 9998",
            "`partition_end` may be left out",
        ),
        (
            'from s partition_by: [day] partition_start: "2024-01-01" partition_end: "9999-12-31"',
            "no partition begins after 9998",
            "`partition_end` may be left out",
        ),
    ],
)
def test_e070_what_has_no_partitions_of_time(body, message, fix) -> None:
    assert [(d.code, d.message, d.fix) for d in compiled(body).errors] == [("E070", message, fix)]
