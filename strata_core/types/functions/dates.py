"""Date and timestamp functions. Weeks begin on Monday; a date stays a date; timestamps are zone-free UTC."""

from __future__ import annotations

from ..inferred import Inferred
from ..values import DATE, INT64, STRING, TIMESTAMP, Date, Int64, Timestamp
from .shapes import MOMENT, TEXT, WHOLE, Parameter, Result, always, constant, same_type, takes
from .signature import Argument, Example, Function, Kind, Resolution, Rule, SignatureError, any_nullable

DAY_UNITS = ("year", "quarter", "month", "week", "day")
UNITS = frozenset({*DAY_UNITS, "hour", "minute", "second"})
STAMP = Parameter((Timestamp,), "timestamp")


def _row(name: str, signature: str, rule: Rule, doc: str, *examples: Example) -> Function:
    return Function(name, Kind.SCALAR, "dates", signature, rule, doc, examples)


def _with_unit(
    name: str, signature: str, parameters: tuple[Parameter, ...], result: Result, doc: str, *examples: Example
) -> Function:
    """A function whose last argument is a unit; a date takes no unit smaller than a day."""
    shape = takes(signature, parameters, result)
    at = len(parameters) - 1

    def rule(arguments: tuple[Argument, ...]) -> Resolution:
        resolution = shape(arguments)
        unit = constant(arguments, at, signature, "a unit")
        accepted = DAY_UNITS if isinstance(arguments[0].type, Date) else tuple(sorted(UNITS))
        if unit not in accepted:
            raise SignatureError(
                "E060", f"`{unit}` is no unit of {arguments[0].type}", at, f"units are {', '.join(accepted)}"
            )
        if name == "date_diff" and arguments[0].type != arguments[1].type:
            raise SignatureError(
                "E060",
                f"`date_diff` takes two dates or two timestamps, not {arguments[0].type} and {arguments[1].type}",
                1,
                'cast the date: `cast(x, "timestamp")`',
            )
        return resolution

    return Function(
        name,
        Kind.SCALAR,
        "dates",
        signature,
        rule,
        doc,
        examples,
        words={at: UNITS},
        keywords={f"{u}s": u for u in UNITS} if name in ("date_add", "date_sub") else {},
    )


def _part(name: str, kind: Parameter, doc: str, *examples: Example) -> Function:
    signature = f"{name}(x: {kind.described}) -> int64"

    def result(arguments: tuple[Argument, ...]) -> Inferred:
        return Inferred(INT64, any_nullable(arguments), nonzero=name not in ("hour", "minute", "second"))

    return _row(name, signature, takes(signature, (kind,), result), doc, *examples)


MONTH_NAMES = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
DAY_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()  # noqa: SIM905 - words read best so


def _named(name: str, names: list[str], doc: str, *examples: Example) -> Function:
    signature = f"{name}(x: {MOMENT.described}) -> string"

    def result(arguments: tuple[Argument, ...]) -> Inferred:
        return Inferred(STRING, any_nullable(arguments), values=frozenset(names))

    return _row(name, signature, takes(signature, (MOMENT,), result), doc, *examples)


TIME = "2024-02-29 13:05:59"

DATES = (
    _with_unit(
        "date_trunc",
        "date_trunc(x: date | timestamp, unit) -> the type of x",
        (MOMENT, TEXT),
        same_type,
        "The beginning of the unit in which `x` lies.",
        Example(f'cast(date_trunc(cast("{TIME}", "timestamp"), hour), "string")', "2024-02-29 13:00:00"),
        Example('cast(date_trunc(cast("2024-02-29", "date"), week), "string")', "2024-02-26"),
    ),
    _with_unit(
        "date_add",
        "date_add(x: date | timestamp, count: int64, unit) -> the type of x",
        (MOMENT, WHOLE, TEXT),
        same_type,
        "`x` moved by `count` units; a day that a month lacks becomes its last. Also `date_add(x, days: 3)`.",
        Example('cast(date_add(cast("2024-01-31", "date"), 1, month), "string")', "2024-02-29"),
        Example('cast(date_add(cast("2024-01-31", "date"), days: 1), "string")', "2024-02-01"),
    ),
    _with_unit(
        "date_sub",
        "date_sub(x: date | timestamp, count: int64, unit) -> the type of x",
        (MOMENT, WHOLE, TEXT),
        same_type,
        "`x` moved back by `count` units. Also `date_sub(x, days: 3)`.",
        Example('cast(date_sub(cast("2024-03-31", "date"), 1, month), "string")', "2024-02-29"),
        Example('cast(date_sub(cast("2024-01-01", "date"), weeks: 1), "string")', "2023-12-25"),
    ),
    _with_unit(
        "date_diff",
        "date_diff(start: T, end: T, unit) -> int64",
        (MOMENT, MOMENT, TEXT),
        always(INT64),
        "How many boundaries of the unit lie between the two; negative where `end` is earlier.",
        Example('date_diff(cast("2023-12-31", "date"), cast("2024-01-01", "date"), year)', 1),
        Example('date_diff(cast("2024-01-07", "date"), cast("2024-01-08", "date"), week)', 1),
    ),
    _part(
        "year",
        MOMENT,
        "The year.",
        Example('year(cast("2024-02-29", "date"))', 2024),
        Example(f'year(cast("{TIME}", "timestamp"))', 2024),
    ),
    _part(
        "quarter",
        MOMENT,
        "The quarter, 1 to 4.",
        Example('quarter(cast("2024-03-31", "date"))', 1),
        Example('quarter(cast("2024-04-01", "date"))', 2),
    ),
    _part(
        "month",
        MOMENT,
        "The month, 1 to 12.",
        Example('month(cast("2024-02-29", "date"))', 2),
        Example('month(cast("2024-12-01", "date"))', 12),
    ),
    _part(
        "week",
        MOMENT,
        "The ISO week of the year, 1 to 53.",
        Example('week(cast("2024-12-30", "date"))', 1),
        Example('week(cast("2021-01-03", "date"))', 53),
    ),
    _part(
        "day",
        MOMENT,
        "The day of the month, 1 to 31.",
        Example('day(cast("2024-02-29", "date"))', 29),
        Example('day(cast("2024-03-01", "date"))', 1),
    ),
    _part(
        "day_of_week",
        MOMENT,
        "The day of the week, 1 (Monday) to 7 (Sunday).",
        Example('day_of_week(cast("2024-01-01", "date"))', 1),
        Example('day_of_week(cast("2024-01-07", "date"))', 7),
    ),
    _part(
        "day_of_year",
        MOMENT,
        "The day of the year, 1 to 366.",
        Example('day_of_year(cast("2024-12-31", "date"))', 366),
        Example('day_of_year(cast("2024-01-01", "date"))', 1),
    ),
    _part(
        "hour",
        STAMP,
        "The hour, 0 to 23.",
        Example(f'hour(cast("{TIME}", "timestamp"))', 13),
        Example('hour(cast("2024-02-29", "timestamp"))', 0),
    ),
    _part(
        "minute",
        STAMP,
        "The minute, 0 to 59.",
        Example(f'minute(cast("{TIME}", "timestamp"))', 5),
        Example('minute(cast("2024-02-29", "timestamp"))', 0),
    ),
    _part(
        "second",
        STAMP,
        "The whole second, 0 to 59.",
        Example(f'second(cast("{TIME}.9", "timestamp"))', 59),
        Example('second(cast("2024-02-29", "timestamp"))', 0),
    ),
    _row(
        "to_date",
        "to_date(x: timestamp | date) -> date",
        takes("to_date(x: timestamp | date) -> date", (MOMENT,), always(DATE)),
        "The day of a timestamp.",
        Example(f'cast(to_date(cast("{TIME}", "timestamp")), "string")', "2024-02-29"),
        Example('cast(to_date(cast("2024-02-29", "date")), "string")', "2024-02-29"),
    ),
    _row(
        "make_date",
        "make_date(year: int64, month: int64, day: int64) -> date",
        takes("make_date(year: int64, month: int64, day: int64) -> date", (WHOLE,) * 3, always(DATE)),
        "The date of its parts; parts that make none are an error.",
        Example('cast(make_date(2024, 2, 29), "string")', "2024-02-29"),
        Example('make_date(2024, 2, cast(none, "int64"))', None),
    ),
    _row(
        "make_timestamp",
        "make_timestamp(year, month, day, hour, minute, second: int64) -> timestamp",
        takes(
            "make_timestamp(year, month, day, hour, minute, second: int64) -> timestamp",
            (WHOLE,) * 6,
            always(TIMESTAMP),
        ),
        "The timestamp of its parts; parts that make none are an error.",
        Example('cast(make_timestamp(2024, 2, 29, 13, 5, 59), "string")', TIME),
        Example('make_timestamp(2024, 2, 29, 0, 0, cast(none, "int64"))', None),
    ),
    _row(
        "from_unix",
        "from_unix(seconds: int64) -> timestamp",
        takes("from_unix(seconds: int64) -> timestamp", (Parameter((Int64,), "int64"),), always(TIMESTAMP)),
        "The timestamp so many seconds after the beginning of 1970.",
        Example('cast(from_unix(86400), "string")', "1970-01-02 00:00:00"),
        Example('cast(from_unix(-1), "string")', "1969-12-31 23:59:59"),
    ),
    _row(
        "to_unix",
        "to_unix(x: timestamp) -> int64",
        takes("to_unix(x: timestamp) -> int64", (STAMP,), always(INT64)),
        "The whole seconds since the beginning of 1970, rounded down.",
        Example('to_unix(cast("1970-01-02", "timestamp"))', 86400),
        Example('to_unix(cast("1969-12-31 23:59:59.5", "timestamp"))', -1),
    ),
    _part(
        "iso_year",
        MOMENT,
        "The year that the ISO week of the day belongs to.",
        Example('iso_year(cast("2024-12-30", "date"))', 2025),
        Example(f'iso_year(cast("{TIME}", "timestamp"))', 2024),
    ),
    _part(
        "days_in_month",
        MOMENT,
        "How many days the month has.",
        Example('days_in_month(cast("2024-02-03", "date"))', 29),
        Example(f'days_in_month(cast("{TIME}", "timestamp"))', 29),
    ),
    _row(
        "last_day",
        "last_day(x: date or timestamp) -> date",
        takes("last_day(x: date or timestamp) -> date", (MOMENT,), always(DATE)),
        "The last day of the month.",
        Example('cast(last_day(cast("2023-02-03", "date")), "string")', "2023-02-28"),
        Example(f'cast(last_day(cast("{TIME}", "timestamp")), "string")', "2024-02-29"),
    ),
    _named(
        "month_name",
        MONTH_NAMES,
        "The English name of the month.",
        Example('month_name(cast("2024-02-29", "date"))', "February"),
        Example('month_name(cast(none, "date"))', None),
    ),
    _named(
        "day_name",
        DAY_NAMES,
        "The English name of the day of the week.",
        Example('day_name(cast("2024-02-29", "date"))', "Thursday"),
        Example(f'day_name(cast("{TIME}", "timestamp"))', "Thursday"),
    ),
    _row(
        "from_unix_ms",
        "from_unix_ms(milliseconds: int64) -> timestamp",
        takes("from_unix_ms(milliseconds: int64) -> timestamp", (WHOLE,), always(TIMESTAMP)),
        "The timestamp so many milliseconds after the beginning of 1970.",
        Example('cast(from_unix_ms(1500), "string")', "1970-01-01 00:00:01.5"),
        Example('cast(from_unix_ms(-1), "string")', "1969-12-31 23:59:59.999"),
    ),
    _row(
        "to_unix_ms",
        "to_unix_ms(x: timestamp) -> int64",
        takes("to_unix_ms(x: timestamp) -> int64", (STAMP,), always(INT64)),
        "The whole milliseconds since the beginning of 1970, rounded down.",
        Example('to_unix_ms(cast("1970-01-01 00:00:01.5009", "timestamp"))', 1500),
        Example('to_unix_ms(cast("1969-12-31 23:59:59.9995", "timestamp"))', -1),
    ),
)
