"""`Table.join_asof`: each row with the row of a table that held at its instant, as far as it was known then."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.store.tables import StoreError, Table
from strata_core.store.tables.enforcement import Principal

from .conftest import DAY, World

GDP = """
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
content_hash_column = "h"
%s
[pipeline.tables.columns]
period_start = "timestamp"
[pipeline.tables.valid_time]
from = "period_start"
[pipeline.tables.available_time]
column = "published"
zone = "America/New_York"
"""
VINTAGES = [(17149.6, "2014-04-30"), (17101.3, "2014-05-29"), (17016.0, "2014-06-25")]


def day(text: str) -> dt.date:
    return dt.date.fromisoformat(text)


def instant(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def gdp(world: World, more: str = "") -> Table:
    table = world.declare(GDP % more)
    table.land(
        pa.table(
            {
                "series": ["gdp"] * 3,
                "period_start": pa.array([instant("2014-01-01")] * 3, pa.timestamp("us")),
                "published": pa.array([day(d) for _, d in VINTAGES], pa.date32()),
                "value": [value for value, _ in VINTAGES],
                "h": list("abc"),
            }
        )
    )
    return table


def decisions(*known: object, at: str = "2014-03-31", series: str | None = "gdp") -> pa.Table:
    return pa.table({"series": [series] * len(known), "at": [instant(at)] * len(known), "known": list(known)})


def test_each_decision_sees_the_vintage_that_was_available_by_then(world: World) -> None:
    table = gdp(world)
    rows = decisions(*(day(d) for d in ("2014-04-29", "2014-05-01", "2014-06-01", "2014-07-01")))
    for _ in ("runs", "folded"):
        found = table.join_asof(rows, at="at", available_as_of="known", columns=["value"])
        assert found.schema.names == ["series", "at", "known", "value"]
        assert found.arrow().column("value").to_pylist() == [None, 17149.6, 17101.3, 17016.0]
        world.clock.advance(1)
        table.fold()
    inner = table.join_asof(rows, at="at", available_as_of="known", columns=["value"], how="inner")
    assert inner.arrow().to_pydict()["value"] == [17149.6, 17101.3, 17016.0]


def test_a_date_is_its_whole_day_in_the_declared_zone_and_an_instant_is_itself(world: World) -> None:
    """30 April is published as of the start of 1 May in New York, which is 04:00 in UTC."""
    table = gdp(world)
    by_day = table.join_asof(decisions(day("2014-04-30"), day("2014-05-01")), at="at", available_as_of="known")
    assert by_day.arrow().column("value").to_pylist() == [None, 17149.6]
    moments = [instant("2014-05-01T03:59:59.999999"), instant("2014-05-01T04:00:00"), None]
    by_instant = table.join_asof(decisions(*moments), at="at", available_as_of="known")
    assert by_instant.arrow().column("value").to_pylist() == [None, 17149.6, None]
    zoned = pa.array([dt.datetime(2014, 5, 1, 4, tzinfo=dt.UTC)], pa.timestamp("ns", "Asia/Tokyo"))
    rows = decisions(None).set_column(2, "known", zoned)
    assert table.join_asof(rows, at="at", available_as_of="known").arrow().column("value").to_pylist() == [17149.6]


def test_what_is_read_names_its_bounds_and_takes_polars_and_streams(world: World) -> None:
    table = gdp(world)
    frame = pl.DataFrame({"s": ["gdp", "cpi", None], "t": [instant("2014-03-31")] * 3})
    read = table.join_asof(frame.lazy(), by={"s": "series"}, at="t", as_of="2030-01-01", prefix="gdp_")
    assert read.bounds == {"as_of": "2030-01-02T00:00:00.000000000Z", "inclusive": False}
    assert read.frontier.runs == (2,)
    collected = read.lazy().collect()
    assert collected.columns == ["s", "t", "gdp_period_start", "gdp_published", "gdp_value", "gdp_h"]
    assert collected["gdp_value"].to_list() == [17016.0, None, None]
    before = table.join_asof(frame, by={"s": "series"}, at="t", as_of="2025-12-31", columns=["value"])
    assert before.arrow().column("value").to_pylist() == [None, None, None]
    batches = pa.RecordBatchReader.from_batches(pa.schema([("series", pa.string())]), iter(()))
    with pytest.raises(StoreError, match="StoreJoinInvalid"):
        table.join_asof(batches)


def test_nothing_further_back_than_within(world: World) -> None:
    table = gdp(world)
    rows = pa.table({"series": ["gdp"] * 2, "at": [instant("2014-01-08"), instant("2014-01-08T00:00:00.000001")]})
    found = table.join_asof(rows, at="at", within="7d", columns=["value"]).arrow()
    assert found.column("value").to_pylist() == [17016.0, None]


def test_a_hidden_row_leaves_nothing_rather_than_the_one_before_it(world: World) -> None:
    """Seed 1 *beneath-enforcement*: what was known then is decided first, what is shown of it last."""
    table = gdp(world, 'rows = ["value > 17050.0"]')
    rows = decisions(day("2014-06-01"), day("2014-07-01"))
    found = table.join_asof(rows, at="at", available_as_of="known", columns=["value"])
    assert found.arrow().column("value").to_pylist() == [17101.3, None]
    kept = table.join_asof(rows, at="at", available_as_of="known", columns=["value"], filter="value < 17000.0")
    assert kept.arrow().column("value").to_pylist() == [None, None]


MASKED = """
[[pipeline.tables]]
name = "people"
primary_key = ["id"]
valid_time = { from = "since" }
[pipeline.tables.columns]
id = { type = "string", classification = "pii", mask = "%s" }
since = "timestamp"
"""


def people(world: World, mask: str) -> Table:
    table = world.declare(MASKED % mask)
    table.land(pa.table({"id": ["ann", "bob"], "since": [instant("2014-01-01")] * 2, "n": [1, 2]}))
    return table


def test_a_masked_key_is_compared_as_it_is_shown(world: World) -> None:
    table = people(world, "hash")
    shown = dict(
        zip(table.read().arrow().column("n").to_pylist(), table.read().arrow().column("id").to_pylist(), strict=True)
    )
    rows = pa.table({"id": [shown[2], "bob"], "at": [instant("2014-02-01")] * 2})
    assert table.join_asof(rows, at="at", columns=["n"]).arrow().column("n").to_pylist() == [2, None]
    cleared = Principal("auditor", clearances=frozenset({"pii"}))
    found = table.join_asof(rows, at="at", columns=["n"], principal=cleared)
    assert found.arrow().column("n").to_pylist() == [None, 2]


@pytest.mark.parametrize(("mask", "code"), [("drop", "StoreColumnUnknown"), ("null", "StoreJoinInvalid")])
def test_a_key_that_is_not_shown_is_not_compared(world: World, mask: str, code: str) -> None:
    table = people(world, mask)
    rows = pa.table({"id": ["bob"], "at": [instant("2014-02-01")]})
    with pytest.raises(StoreError) as refused:
        table.join_asof(rows, at="at", columns=["n"])
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("key", "told"),
    [
        (pa.array([1]), "series is int64, and series of the table is string: no rows would match"),
        (pa.array([day("2014-06-01")]), "series is date32"),
        (pa.array([["gdp"]]), "series is list<item: string>"),
    ],
)
def test_a_key_of_another_type_is_told_and_finds_not_nothing(world: World, key: pa.Array, told: str) -> None:
    rows = decisions(day("2014-06-01")).set_column(0, "series", key)
    with pytest.raises(StoreError, match=told) as refused:
        gdp(world).join_asof(rows, at="at", available_as_of="known")
    assert refused.value.code == "StoreJoinInvalid"


@pytest.mark.parametrize("type_", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())])
def test_text_is_text_however_it_lies(world: World, type_: pa.DataType) -> None:
    rows = decisions(day("2014-06-01")).set_column(0, "series", pa.array(["gdp"]).cast(type_))
    found = gdp(world).join_asof(rows, at="at", available_as_of="known", columns=["value"])
    assert found.arrow().column("value").to_pylist() == [17101.3]


def test_a_column_that_is_there_twice_is_told(world: World) -> None:
    rows = decisions(day("2014-06-01"))
    rows = rows.append_column("series", rows.column("series"))
    with pytest.raises(StoreError, match="have several columns series") as refused:
        gdp(world).join_asof(rows, at="at", available_as_of="known")
    assert refused.value.code == "StoreJoinInvalid"


@pytest.mark.parametrize(
    ("known", "value"),
    [
        (pa.array([dt.date(9999, 12, 31)]), 17016.0),
        (pa.array([dt.date(2262, 1, 1)]), 17016.0),
        (pa.array([dt.datetime(9999, 12, 31)], pa.timestamp("us")), 17016.0),
        (pa.array([dt.date(1, 1, 1)]), None),
        (pa.array([dt.datetime(1, 1, 1)], pa.timestamp("us")), None),
    ],
)
def test_instants_beyond_64_bits_are_after_or_before_all_that_is_known(
    world: World, known: pa.Array, value: float | None
) -> None:
    rows = decisions(day("2014-06-01")).set_column(2, "known", known)
    found = gdp(world).join_asof(rows, at="at", available_as_of="known", columns=["value"])
    assert found.arrow().column("value").to_pylist() == [value]


def test_an_instant_that_no_calendar_has_is_told(world: World) -> None:
    for known in (pa.array([2**62]).cast(pa.timestamp("s")), pa.array([2**30], pa.int32()).cast(pa.date32())):
        rows = decisions(day("2014-06-01")).set_column(2, "known", known)
        with pytest.raises(StoreError, match="known holds an instant that no calendar has") as refused:
            gdp(world).join_asof(rows, at="at", available_as_of="known").arrow()
        assert refused.value.code == "StoreBoundInvalid"


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a part of the key": ({"by": [], "at": "at"}, "StoreJoinInvalid", "`by` leaves out series"),
    "an unknown column": ({"by": {"series": "serie"}, "at": "at"}, "StoreColumnUnknown", "no column serie"),
    "an unknown left column": ({"at": "when"}, "StoreColumnUnknown", "have no column when"),
    "no instants": ({"at": "series"}, "StoreBoundInvalid", "series holds no instants, but string"),
    "no valid instant": ({"available_as_of": "known"}, "StoreJoinInvalid", "`at` does not say which instant"),
    "no duration": ({"at": "at", "within": "soon"}, "StoreJoinInvalid", "'soon' is no duration"),
    "another way": ({"at": "at", "how": "outer"}, "StoreJoinInvalid", "there is no how='outer'"),
    "a name of both sides": (
        {"at": "at", "by": {"series": "series"}, "columns": ["series"]},
        "StoreJoinInvalid",
        "both sides have a column series",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(world: World, case: str) -> None:
    given_, code, message = REFUSED[case]
    with pytest.raises(StoreError, match=message) as refused:
        gdp(world).join_asof(decisions(day("2014-06-01")), **given_)
    assert refused.value.code == code


def test_clocks_that_a_table_has_not(world: World) -> None:
    table = world.declare('[[pipeline.tables]]\nname = "plain"\nprimary_key = ["series"]\n')
    table.land(pa.table({"series": ["gdp"], "value": [1]}))
    for asked, code in (
        ({"at": "at"}, "StoreValidTimeUndeclared"),
        ({"available_as_of": "known"}, "StoreAvailableTimeUndeclared"),
    ):
        with pytest.raises(StoreError) as refused:
            table.join_asof(decisions(day("2014-06-01")), **asked)
        assert refused.value.code == code


SHAPES = {
    "vintages of intervals": ("id", True, True),
    "vintages": ("id", False, True),
    "intervals": ("id", True, False),
    "rows without a key": (None, True, True),
    "rows without a key and end": (None, False, True),
}
SMALL = st.integers(0, 4)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_row_is_what_a_read_at_its_own_instants_finds(
    shape: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """In plain Python, over every row that landed: the design's steps for one key, then the latest interval."""
    key, valid, vintages = SHAPES[shape]
    lines = ["[[pipeline.tables]]", 'name = "t"', *([f'primary_key = ["{key}"]'] if key else [])]
    lines += ['content_hash_column = "h"'] if key and vintages else []
    lines += ['valid_time = { from = "f", to = "t" }'] if valid else []
    lines += ['available_time = { column = "a" }'] if vintages else []
    table = World(tmp_path_factory.mktemp("asof")).declare("\n".join(lines))
    rows: list[dict[str, Any]] = []
    for _ in range(data.draw(st.integers(1, 3))):
        run = data.draw(
            st.lists(st.tuples(st.sampled_from("xy"), SMALL, SMALL | st.none(), SMALL), min_size=1, max_size=5)
        )
        landed = [{"id": i, "f": f, "t": t, "a": a, "n": len(rows) + n} for n, (i, f, t, a) in enumerate(run)]
        rows += landed
        times = {c: pa.array([None if r[c] is None else r[c] * DAY for r in landed], pa.timestamp("ns")) for c in "fta"}
        table.land(
            pa.table(
                {
                    "id": [r["id"] for r in landed],
                    **times,
                    "n": [r["n"] for r in landed],
                    "h": [str(r["n"]) for r in landed],
                }
            )
        )
        if data.draw(st.booleans()):
            table.fold()
    left = data.draw(
        st.lists(st.tuples(st.sampled_from("xyz") | st.none(), SMALL | st.none(), SMALL | st.none()), max_size=6)
    )
    bounded, within = (
        vintages and data.draw(st.booleans() if valid else st.just(True)),
        data.draw(st.none() | st.integers(1, 3)),
    )
    within = within if valid else None
    asked = pa.table(
        {
            "id": pa.array([k for k, _, _ in left], pa.string()),
            "at": pa.array([None if v is None else v * DAY for _, v, _ in left], pa.timestamp("ns")),
            "known": pa.array([None if v is None else v * DAY for _, _, v in left], pa.timestamp("ns")),
        }
    )
    found = table.join_asof(
        asked,
        by="id",
        at="at" if valid else None,
        available_as_of="known" if bounded else None,
        within=None if within is None else f"{within}d",
        columns=["n"],
    )
    expected = [_found(rows, one, key is not None, valid, vintages, bounded, within) for one in left]
    assert found.arrow().column("n").to_pylist() == expected


def _found(
    rows: list[dict[str, Any]],
    asked: tuple[str | None, int | None, int | None],
    keyed: bool,
    valid: bool,
    vintages: bool,
    bounded: bool,
    within: int | None,
) -> int | None:
    key, at, known = asked
    mine = [r for r in rows if r["id"] == key]
    if bounded:
        mine = [] if known is None else [r for r in mine if r["a"] <= known]
    if keyed:
        latest: dict[Any, dict[str, Any]] = {}
        for row in sorted(mine, key=lambda r: ((r["a"] if vintages else 0), r["n"])):
            latest[row["f"] if valid else None] = row
        mine = [*latest.values()]
    if valid:
        mine = [] if at is None else [r for r in mine if r["f"] <= at and (r["t"] is None or r["t"] > at)]
        mine = [r for r in mine if within is None or at - r["f"] <= within]
    best = max(mine, key=lambda r: ((r["f"] if valid else 0), (r["a"] if vintages else 0), r["n"]), default=None)
    return None if best is None else best["n"]
