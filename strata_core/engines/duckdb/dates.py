"""Date and timestamp functions in DuckDB: a date stays a date, and what leaves the years 1 to 9999 aborts."""

from __future__ import annotations

from sqlglot import exp

from ...relation.expressions import Call
from ...types import Date, ValueType
from . import sql
from .operators import Builder, native, word
from .sql import SqlExpr

MONTHS = {"year": 12, "quarter": 3, "month": 1}
DAYS = {"week": 7, "day": 1}
SECONDS = {"hour": 3_600, "minute": 60, "second": 1}
FIRST, LAST = "0001-01-01", "9999-12-31"
OUTSIDE = "the result is outside the years 1 to 9999"
DATE = exp.DataType(this=exp.DataType.Type.DATE)
TIMESTAMP = exp.DataType(this=exp.DataType.Type.TIMESTAMP)
INTEGER = exp.DataType(this=exp.DataType.Type.INT)


def _bigint(name: str) -> Builder:
    """A part of a date, as int64."""

    def build(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        return sql.cast(sql.fn(name, *args), sql.BIGINT)

    return build


def _date_trunc(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    type_, unit = call.args[0].inferred.type, word(call, 1)
    if isinstance(type_, Date) and unit in (*SECONDS, "day"):
        return args[0]
    return sql.cast(sql.fn("date_trunc", sql.string(unit), args[0]), sql.sql_type(type_))


def _moved(sign: int) -> Builder:
    """`date_add` and `date_sub`: `moment`, `count` and `unit`."""

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        type_, unit = call.args[0].inferred.type, word(call, 2)
        moment, count = args[0], sql.paren(args[1])
        interval, factor = next(
            (name, units[unit])
            for name, units in (("to_months", MONTHS), ("to_days", DAYS), ("to_seconds", SECONDS))
            if unit in units
        )
        steps: SqlExpr = exp.Mul(this=count, expression=sql.cast(sql.number(sign * factor), sql.BIGINT))
        if interval != "to_seconds":
            steps = sql.cast(steps, INTEGER)
        moved = exp.Add(this=sql.paren(moment), expression=sql.fn(interval, steps))
        return within_calendar(sql.cast(moved, sql.sql_type(type_)), type_)

    return build


def within_calendar(moment: SqlExpr, type_: ValueType) -> SqlExpr:
    """`moment`; aborts outside the years 1 to 9999, which DuckDB goes beyond."""
    target = sql.sql_type(type_)
    last = LAST if isinstance(type_, Date) else f"{LAST} 23:59:59.999999"

    def checked(m: SqlExpr) -> SqlExpr:
        outside = exp.Or(
            this=exp.LT(this=m.copy(), expression=sql.cast(sql.string(FIRST), target)),
            expression=exp.GT(this=m.copy(), expression=sql.cast(sql.string(last), target)),
        )
        return sql.when((outside, sql.raise_error(OUTSIDE, target)), otherwise=m.copy())

    return sql.once("moment", moment, checked)


def _ordinal(moment: SqlExpr, type_: ValueType, unit: str) -> SqlExpr:
    """The number of the unit in which `moment` lies, counted from a fixed one that begins with its boundary."""
    if unit in MONTHS:

        def months(m: SqlExpr) -> SqlExpr:
            years = exp.Mul(this=sql.fn("year", m.copy()), expression=sql.number(12))
            count = exp.Sub(this=exp.Add(this=years, expression=sql.fn("month", m.copy())), expression=sql.number(1))
            return exp.IntDiv(this=exp.Paren(this=count), expression=sql.number(MONTHS[unit]))

        return sql.once("month", moment, months)
    if unit in DAYS or isinstance(type_, Date):
        monday = sql.cast(sql.string(FIRST), DATE)
        days = exp.Sub(this=sql.cast(moment, DATE), expression=monday)
        return exp.IntDiv(this=exp.Paren(this=days), expression=sql.number(DAYS.get(unit, 1)))
    return sql.fn("date_diff", sql.string(unit), sql.cast(sql.string(FIRST), TIMESTAMP), moment)


def _date_diff(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    start, end = (_ordinal(a, e.inferred.type, word(call, 2)) for a, e in zip(args[:2], call.args[:2], strict=True))
    return sql.cast(exp.Sub(this=exp.Paren(this=end), expression=exp.Paren(this=start)), sql.BIGINT)


PART_BOUNDS = ((1, 9999), (1, 12), (1, 31), (0, 23), (0, 59), (0, 59))


def _made(name: str) -> Builder:
    """`make_date` and `make_timestamp`, from parts that DuckDB takes beyond their bounds."""

    def build(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
        target = sql.sql_type(call.inferred.type)

        def checked(parts: tuple[SqlExpr, ...], rest: tuple[SqlExpr, ...]) -> SqlExpr:
            if rest:
                return sql.once(f"part{len(parts)}", rest[0], lambda p: checked((*parts, p), rest[1:]))
            missing = exp.or_(*(sql.is_null(p.copy()) for p in parts), copy=False)
            outside = exp.or_(
                *(
                    exp.Not(this=exp.Between(this=p.copy(), low=sql.number(low), high=sql.number(high)))
                    for p, (low, high) in zip(parts, PART_BOUNDS, strict=False)
                ),
                copy=False,
            )
            return sql.when(
                (missing, sql.null(target)),
                (outside, sql.raise_error("the parts make no date or time", target)),
                otherwise=sql.fn(name, *(p.copy() for p in parts)),
            )

        return checked((), args)

    return build


def _from_unix(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    micros = exp.Mul(this=sql.paren(args[0]), expression=sql.cast(sql.number(1_000_000), sql.BIGINT))
    return within_calendar(sql.fn("make_timestamp", micros), call.inferred.type)


def _to_unix(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    epoch = sql.cast(sql.string("1970-01-01"), TIMESTAMP)
    return sql.fn("date_diff", sql.string("second"), epoch, args[0])


def _to_date(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(args[0], DATE)


def _from_unix_ms(call: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    micros = exp.Mul(this=sql.paren(args[0]), expression=sql.cast(sql.number(1_000), sql.BIGINT))
    return within_calendar(sql.fn("make_timestamp", micros), call.inferred.type)


def _days_in_month(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(sql.fn("day", sql.fn("last_day", args[0])), sql.BIGINT)


def _last_day(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    return sql.cast(sql.fn("last_day", args[0]), DATE)


def _to_unix_ms(_: Call, args: tuple[SqlExpr, ...]) -> SqlExpr:
    """DuckDB's `epoch_ms` rounds what lies between two milliseconds."""
    return sql.fn("epoch_ms", sql.fn("date_trunc", sql.string("millisecond"), args[0]))


PARTS: dict[str, str] = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "week": "week",
    "day": "day",
    "day_of_week": "isodow",
    "day_of_year": "dayofyear",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "iso_year": "isoyear",
}

DATES: dict[str, Builder] = {
    "date_trunc": _date_trunc,
    "date_add": _moved(1),
    "date_sub": _moved(-1),
    "date_diff": _date_diff,
    **{name: _bigint(part) for name, part in PARTS.items()},
    "to_date": _to_date,
    "make_date": _made("make_date"),
    "make_timestamp": _made("make_timestamp"),
    "from_unix": _from_unix,
    "to_unix": _to_unix,
    "days_in_month": _days_in_month,
    "last_day": _last_day,
    "month_name": native("monthname"),
    "day_name": native("dayname"),
    "from_unix_ms": _from_unix_ms,
    "to_unix_ms": _to_unix_ms,
}
