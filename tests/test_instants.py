"""Instants, days and durations as they are written, in the right zone."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.contract.ages import parse_age
from strata_core.contract.rules import spelled_age
from strata_core.contract_engine.observations import utc
from strata_core.durations import UNITS, duration, spelled_duration
from strata_core.instants import Bound, bound, instant, iso_seconds, start_of_day
from strata_core.language import ast
from strata_core.language.parser import parse_module
from strata_core.store.instant import spell
from strata_core.store.tables.bounds import Bounds

ZONES = [
    "UTC",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Kolkata",
    "Pacific/Apia",
    "Africa/Cairo",
    "Europe/London",
]
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2014-05-01T00:00:00Z", "2014-05-01T00:00:00.000000000Z"),
        ("2014-05-01T00:00Z", "2014-05-01T00:00:00.000000000Z"),
        ("2014-05-01 09:30:00.123456789+05:30", "2014-05-01T04:00:00.123456789Z"),
        ("2014-05-01T00:00:00.5", "2014-05-01T00:00:00.500000000Z"),
        ("1969-12-31T23:59:59.999999999z", "1969-12-31T23:59:59.999999999Z"),
        (" 2014-05-01T00:00:00-04:00 ", "2014-05-01T04:00:00.000000000Z"),
    ],
)
def test_instants_are_read_to_the_nanosecond(text: str, told: str) -> None:
    assert spell(instant(text)) == told
    assert bound(text) == Bound(instant(text), True)


@pytest.mark.parametrize(
    "bad",
    [
        "2014-5-1",
        "20140501",
        "2014-05-01T",
        "2014-05-01T24:00:00Z",
        "2014-05-01T00:00:00.1234567890Z",
        "\uff12\uff10\uff11\uff14-05-01",
        "now",
        "2300-01-01T00:00:00Z",
    ],
)
def test_what_is_no_instant_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match=r"give|outside"):
        bound(bad)


@given(st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1)), st.sampled_from(ZONES))
def test_the_start_of_a_day_is_the_first_instant_that_its_zone_calls_so(day: dt.date, zone: str) -> None:
    """Also where midnight is skipped, comes twice, or the whole day is (Apia has no 2011-12-30)."""
    found = EPOCH + dt.timedelta(microseconds=start_of_day(day, zone) // 1000)
    before = found - dt.timedelta(microseconds=1)
    assert found.astimezone(ZoneInfo(zone)).date() >= day
    assert before.astimezone(ZoneInfo(zone)).date() < day


@given(st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1)), st.sampled_from(ZONES))
def test_a_date_is_everything_before_the_next_one_starts(day: dt.date, zone: str) -> None:
    asked = bound(day, zone)
    assert asked == bound(day.isoformat(), zone)
    assert (asked.inclusive, asked.at) == (False, start_of_day(day + dt.timedelta(days=1), zone))
    assert asked.last == asked.at - 1


@given(st.integers(-(2**60), 2**60), st.booleans(), st.integers(-(2**60), 2**60), st.booleans())
def test_an_echo_tells_the_same_bounds_whatever_the_flag(a: int, a_in: bool, b: int, b_in: bool) -> None:
    told = Bounds(as_of=Bound(a, a_in), available_as_of=Bound(b, b_in)).echo()
    assert told is not None
    for name, asked in (("as_of", Bound(a, a_in)), ("available_as_of", Bound(b, b_in))):
        assert Bound(instant(str(told[name])), bool(told["inclusive"])).last == asked.last


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1ns", 1),
        ("2us", 2_000),
        ("90m", 5_400 * 10**9),
        ("90min", 5_400 * 10**9),
        ("36h", 129_600 * 10**9),
        ("7d", 604_800 * 10**9),
        ("2w", 1_209_600 * 10**9),
    ],
)
def test_durations(text: str, nanoseconds: int) -> None:
    assert duration(text) == nanoseconds


@pytest.mark.parametrize("unit", sorted(UNITS))
def test_the_language_reads_each_duration_of_whole_seconds_as_contracts_do(unit: str) -> None:
    parsed = parse_module(f"model m {{ from t freshness <= 90{unit} }}", "m.strata")
    if UNITS[unit] % 10**9:
        assert [d.code for d in parsed.diagnostics] == ["E001"]
        return
    (model,) = parsed.module.declarations
    assert isinstance(model, ast.Model)
    (freshness,) = (s for s in model.statements if isinstance(s, ast.Freshness))
    assert [limit.seconds for limit in freshness.limits if isinstance(limit, ast.Duration)] == [
        duration(f"90{unit}") // 10**9
    ]


def test_a_unit_that_is_written_out_is_told_as_what_it_is_here() -> None:
    with pytest.raises(ValueError, match="'90 minutes' is no duration: write 90min"):
        duration("90 minutes")


def test_what_may_be_months_or_millions_is_not_mended_to_minutes() -> None:
    with pytest.raises(ValueError, match="'5M' is no duration: give a number above zero and a unit"):
        duration("5M")
    (found,) = parse_module("model m { from t filter x > 5M }", "m.strata").diagnostics
    assert (found.message, found.suggestions) == ("`5M` is no number", ())


@given(st.integers(1, 999_999_999))
def test_a_duration_is_read_as_it_is_spelled_whoever_reads(seconds: int) -> None:
    text = spelled_duration(seconds)
    assert duration(text) == seconds * 10**9
    assert parse_age(text) == dt.timedelta(seconds=seconds)
    assert spelled_age(dt.timedelta(seconds=seconds)) == text


@given(st.integers(1, 99_999), st.sampled_from(sorted(UNITS)))
def test_an_age_is_a_duration_of_whole_seconds(count: int, unit: str) -> None:
    nanoseconds = duration(f"{count}{unit}")
    whole = dt.timedelta(seconds=nanoseconds // 10**9) if nanoseconds % 10**9 == 0 else None
    assert parse_age(f"{count}{unit}") == whole


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("2026-11-30T10:00:00.999999999Z", "2026-11-30T10:00:00Z"),
        ("2026-11-30T10:00:00+02:00", "2026-11-30T08:00:00Z"),
        ("2026-11-30", "2026-11-30T00:00:00Z"),
        ("0033-04-03", "0033-04-03T00:00:00Z"),
        ("soon", None),
        ("0001-01-01T00:00:00+14:00", None),
    ],
)
def test_an_instant_that_a_tool_told_is_spelled_in_utc_or_is_none(text: str, spelled: str | None) -> None:
    assert utc(text) == spelled
    assert spelled is None or iso_seconds(spelled) == spelled


@given(st.datetimes(timezones=st.timezones()))
def test_an_instant_that_is_spelled_to_the_second_is_read_back(at: dt.datetime) -> None:
    try:
        whole = at.astimezone(dt.UTC).replace(microsecond=0)
    except OverflowError:
        return
    assert dt.datetime.fromisoformat(iso_seconds(at)) == whole
