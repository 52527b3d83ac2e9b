"""Sources that are tables with three clocks of the store: bounds, what makes readers stale, and what is refused."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pytest

from strata_core.analysis import sources as analysed
from strata_core.planning.moved_sources import moved_sources
from strata_core.planning.project import compile_
from strata_core.store import Store, Table
from strata_core.store.instant import spell
from strata_core.store.tables import bounds
from strata_core.store.tables.tables import Tables

from .conftest import Shop

GDP = """
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
content_hash_column = "content_hash"
[pipeline.tables.columns]
period_start = "timestamp"
[pipeline.tables.valid_time]
from = "period_start"
[pipeline.tables.available_time]
column = "published"
zone = "America/New_York"
"""
VINTAGES = [(17149.6, "2014-04-30"), (17101.3, "2014-05-29"), (17016.0, "2014-06-25")]
READER = """\
source gdp(store: "gdp"%s) {
  columns: { series: string nonnull, value: float64 nonnull, published: timestamp nonnull },
}
contract Known {
  series: string
  value: float64
  published: timestamp
}
model known -> contract Known {
  from gdp
  select { series, value, published }
}
"""
EVENTS = """
[[pipeline.tables]]
name = "events"
retain_rows = { column = "at", age = "10d" }
[pipeline.tables.columns]
at = "timestamp"
"""
NUMBERS = """\
source events(store: "events"%s) {
  columns: { n: int64 nonnull },
}
contract Number {
  n: int64
}
model known -> contract Number {
  from events
}
"""
ADJUSTED = """
[[pipeline.tables]]
name = "splits"
primary_key = ["series"]
content_hash_column = "h"
valid_time = { from = "period_start" }
available_time = { column = "published" }
[[pipeline.tables]]
name = "prices"
primary_key = ["series"]
content_hash_column = "h"
valid_time = { from = "period_start" }
[pipeline.tables.available_time]
column = "published"
adjustment = { factor_table = "splits", factor_column = "factor", adjust_columns = ["close"] }
"""
ACCEPTED = "give an instant such as 2014-05-01T09:30:00Z or a date such as 2014-05-01"
TICKS = """
[[pipeline.tables]]
name = "ticks"
%s
[pipeline.tables.columns]
at = "timestamp"
seen = "timestamp"
[pipeline.tables.available_time]
column = "seen"
"""
ADDED = """\
source ticks(store: "ticks"%s) {
  columns: { id: int64 nonnull, at: timestamp nonnull },
}
contract Tick {
  id: int64
  at: timestamp
}
model known -> contract Tick {
  from ticks
  select { id, at }
  incremental { strategy: append, cursor: at }
}
"""
DAY = 86_400 * 10**9
TOML = '[project]\nname = "eco"\n[engine]\nname = "%s"\n'


def vintages(*rows: tuple[float, str]) -> pa.Table:
    return pa.table(
        {
            "series": ["gdp"] * len(rows),
            "period_start": pa.array([dt.datetime(2014, 1, 1)] * len(rows), pa.timestamp("us")),
            "published": pa.array([dt.date.fromisoformat(day) for _, day in rows], pa.date32()),
            "value": [value for value, _ in rows],
            "content_hash": [f"h{value}" for value, _ in rows],
        }
    )


class Clock:
    """The clock of every store that a test opens; it stands until it is moved."""

    now = 1_767_225_600 * 10**9

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("strata_core.store.store.Tables", partial(Tables, clock=made))
    return made


@pytest.fixture
def eco(empty_shop: Callable[[str], Shop], clock: Clock) -> Shop:
    """A project whose store holds the three published vintages of one quarter."""
    made = empty_shop("eco")
    made.write("strata.toml", TOML % "reference")
    made.write("models/known.strata", READER % "")
    store = Store.open(made.root / ".strata/store")
    store.declare(GDP)
    store.table("gdp").land(vintages(*VINTAGES))
    return made


def table(shop: Shop, name: str = "gdp") -> Table:
    return Store.at(shop.root / ".strata/store").table(name)


def bounded(shop: Shop, clause: str) -> Shop:
    shop.write("models/known.strata", READER % clause)
    return shop


def refused(shop: Shop) -> tuple[str, str, str | None]:
    """The one finding on the source, which has its place."""
    (fault,) = shop.workspace().missing.values()
    (found,) = fault.diagnostics
    assert found.span is not None
    assert found.span.file == "models/known.strata"
    return found.code, found.message, found.fix


@pytest.mark.parametrize(
    ("clause", "values"),
    [
        ("", [17016.0]),
        (', available_as_of: "2014-04-29"', []),
        (', available_as_of: "2014-05-01"', [17149.6]),
        (', available_as_of: "2014-06-01"', [17101.3]),
        (', available_as_of: "2014-07-01"', [17016.0]),
        (', available_as_of: "2014-05-30T03:59:59.999999999Z"', [17149.6]),
        (', available_as_of: "2014-05-30T04:00:00Z"', [17101.3]),
        (", vintage: first", [17149.6]),
        (', vintage: "first", available_as_of: "2014-07-01"', [17149.6]),
        (', valid_as_of: "2013-12-31T23:59:59Z"', []),
        (', valid_as_of: "2014-01-01"', [17016.0]),
        (', as_of: "2014-07-01"', []),
    ],
)
def test_seed1_available_as_of_in_a_source(eco: Shop, clause: str, values: list[float]) -> None:
    assert bounded(eco, clause).statuses() == {"known": "computed"}
    assert [row["value"] for row in eco.rows("known")] == values


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_an_instant_of_the_store_is_utc_without_a_zone(eco: Shop, engine: str) -> None:
    eco.write("strata.toml", TOML % engine)
    bounded(eco, ', available_as_of: "2014-06-01"').apply(engine=eco.workspace().engine())
    assert eco.rows("known") == [{"series": "gdp", "value": 17101.3, "published": dt.datetime(2014, 5, 30, 4)}]


def test_only_a_landing_that_brings_rows_makes_its_readers_stale(eco: Shop) -> None:
    eco.apply()
    assert eco.reasons() == {}
    assert table(eco).land(vintages((17016.0, "2014-06-25"))).rows == 0
    assert eco.reasons() == {}
    assert table(eco).fold() is not None
    assert eco.reasons() == {}
    table(eco).hold("audit")
    Store.at(eco.root / ".strata/store").declare(GDP)
    assert eco.reasons() == {}
    table(eco).land(vintages((17015.0, "2014-07-30")))
    assert eco.reasons() == {"known": ["data change: gdp"]}
    assert eco.statuses() == {"known": "computed"}
    assert [row["value"] for row in eco.rows("known")] == [17015.0]


def test_what_became_available_after_the_bound_leaves_its_readers_fresh(eco: Shop) -> None:
    bounded(eco, ', available_as_of: "2014-06-30"').apply()
    table(eco).land(vintages((17000.0, "2014-07-30")))
    table(eco).land(vintages((16999.0, "2014-08-30"), (16998.0, "2014-09-30")))
    assert eco.reasons() == {}
    table(eco).fold()
    assert eco.reasons() == {}
    table(eco).land(vintages((16990.0, "2014-10-30"), (17111.0, "2014-06-27")))
    assert eco.reasons() == {"known": ["data change: gdp"]}
    assert eco.statuses() == {"known": "computed"}
    assert [row["value"] for row in eco.rows("known")] == [17111.0]
    table(eco).land(vintages((16900.0, "2014-11-30")))
    assert eco.reasons() == {}


def test_a_bound_on_the_last_nanosecond_of_a_vintage_sees_it(eco: Shop) -> None:
    bounded(eco, ', available_as_of: "2014-07-31T04:00:00Z"').apply()
    table(eco).land(vintages((17000.0, "2014-07-30")))
    assert eco.reasons() == {"known": ["data change: gdp"]}
    assert eco.statuses() == {"known": "computed"}
    assert [row["value"] for row in eco.rows("known")] == [17000.0]


def test_a_past_transaction_time_is_never_stale(eco: Shop, clock: Clock) -> None:
    bounded(eco, f', as_of: "{spell(clock.now + 10)}"')
    eco.apply()
    clock.now += DAY
    table(eco).land(vintages((17015.0, "2014-07-30")))
    assert eco.reasons() == {}
    assert [row["value"] for row in eco.rows("known")] == [17016.0]
    assert bounded(eco, "").reasons() == {"known": ["data change: gdp"]}


def test_a_pipeline_of_an_environment_lays_its_bounds_over_those_of_the_source(eco: Shop) -> None:
    bounded(eco, ', available_as_of: "2014-06-01"')
    pipeline = "pipeline past {\n  env: dev,\n  models: [known],\n  sources: { gdp: from(%s) },\n}\n"
    eco.write("models/past.strata", pipeline % 'available_as_of: "2014-05-01"')
    eco.apply()
    eco.apply(environment="dev")
    assert [row["value"] for row in eco.rows("known")] == [17101.3]
    assert [row["value"] for row in eco.rows("known", "dev")] == [17149.6]
    eco.write("models/past.strata", pipeline % 'available_as_of: "soon"')
    (found,) = compile_(eco.project).diagnostics
    assert (found.code, found.message) == ("E070", "`available_as_of`: 'soon' is no instant")
    assert found.span is not None
    assert found.span.file == "models/past.strata"


def test_another_bound_is_other_data_and_the_same_bound_in_other_words_is_not(eco: Shop) -> None:
    bounded(eco, ', available_as_of: "2014-06-01"').apply()
    assert bounded(eco, ', available_as_of: "2014-06-02T03:59:59.999999999Z"').reasons() == {}
    assert bounded(eco, ', available_as_of: "2014-05-01"').reasons() == {"known": ["data change: gdp"]}
    assert bounded(eco, ', available_as_of: "2014-06-01", vintage: first').reasons() == {"known": ["data change: gdp"]}


def test_seed1_row_age_cutoff_makes_readers_stale_when_a_row_leaves_and_not_before(eco: Shop, clock: Clock) -> None:
    Store.at(eco.root / ".strata/store").declare(EVENTS)
    at = [dt.datetime.fromtimestamp((clock.now - age * DAY) // 10**9, dt.UTC).replace(tzinfo=None) for age in (9, 1)]
    table(eco, "events").land(pa.table({"at": pa.array(at, pa.timestamp("us")), "n": [1, 2]}))
    eco.write("models/known.strata", NUMBERS % "")
    eco.apply()
    assert [row["n"] for row in eco.rows("known")] == [1, 2]
    clock.now += DAY - 10**9
    assert eco.reasons() == {}
    clock.now += 2 * 10**9
    assert eco.reasons() == {"known": ["data change: events"]}
    assert eco.statuses() == {"known": "computed"}
    assert [row["n"] for row in eco.rows("known")] == [2]
    clock.now += 10 * DAY
    eco.apply()
    assert eco.rows("known") == []


def test_seed1_adjustment_factors_that_land_make_the_readers_of_the_adjusted_table_stale(eco: Shop) -> None:
    store = Store.at(eco.root / ".strata/store")
    store.declare(ADJUSTED)
    keyed = {"period_start": pa.timestamp("us"), "published": pa.timestamp("us", "UTC")}

    def land(name: str, value: float, day: str) -> None:
        start, column = dt.datetime.fromisoformat(day), "factor" if name == "splits" else "close"
        types = [("series", pa.string()), *keyed.items(), (column, pa.float64()), ("h", pa.string())]
        row = {"series": "x", "period_start": start, "published": start, column: value, "h": f"{day}{value}"}
        store.table(name).land(pa.Table.from_pylist([row], pa.schema(types)))

    land("prices", 100.0, "2020-01-01")
    land("splits", 0.5, "2020-03-01")
    clause = 'source prices(store: "prices", available_as_of: "2021-01-01") {\n  columns: { close: float64 },\n}\n'
    model = "contract Close {\n  close: float64\n}\nmodel known -> contract Close {\n  from prices\n}\n"
    eco.write("models/known.strata", clause + model)
    eco.apply()
    assert eco.rows("known") == [{"close": 50.0}]
    assert eco.reasons() == {}
    land("splits", 0.1, "2020-06-01")
    assert eco.reasons() == {"known": ["data change: prices"]}
    eco.apply()
    assert eco.rows("known") == [{"close": pytest.approx(5.0)}]


def ticks(*rows: tuple[int, int]) -> pa.Table:
    at = pa.array([dt.datetime(2026, 1, day) for _, day in rows], pa.timestamp("us"))
    return pa.table({"id": [id_ for id_, _ in rows], "at": at, "seen": at, "h": [str(row) for row in rows]})


def way(shop: Shop) -> str:
    return str(shop.result("known").way)


def test_an_incremental_model_adds_the_rows_that_landed_in_a_table_without_a_key(eco: Shop) -> None:
    Store.at(eco.root / ".strata/store").declare(TICKS % "")
    eco.write("models/known.strata", ADDED % "")
    table(eco, "ticks").land(ticks((1, 1), (2, 2)))
    assert way(eco) == "full: there are no live rows yet"
    table(eco, "ticks").land(ticks((3, 3)))
    table(eco, "ticks").fold()
    assert way(eco) == "incremental: rows of `ticks` with `at` beyond 2026-01-02 00:00:00"
    assert [row["id"] for row in eco.rows("known")] == [1, 2, 3]
    table(eco, "ticks").land(ticks((4, 1), (5, 2), (6, 3)), mode="replace")
    assert way(eco) == "full: `ticks` is read otherwise than it was"
    assert [row["id"] for row in eco.rows("known")] == [4, 5, 6]
    eco.write("models/known.strata", ADDED % ', available_as_of: "2026-01-09"')
    assert way(eco) == "full: `ticks` is read otherwise than it was"


def test_an_incremental_model_of_a_table_whose_rows_are_restated_is_computed_in_full(eco: Shop) -> None:
    Store.at(eco.root / ".strata/store").declare(TICKS % 'primary_key = ["id"]\ncontent_hash_column = "h"')
    eco.write("models/known.strata", ADDED % "")
    table(eco, "ticks").land(ticks((1, 1), (2, 2), (3, 5)))
    eco.apply()
    table(eco, "ticks").land(ticks((1, 3)))
    assert way(eco) == "full: `ticks` is read otherwise than it was"
    assert sorted((row["id"], row["at"].day) for row in eco.rows("known")) == [(1, 3), (2, 2), (3, 5)]


def test_a_clock_that_the_table_has_not_is_told_at_the_declaration(eco: Shop) -> None:
    Store.at(eco.root / ".strata/store").declare(EVENTS)
    table(eco, "events").land(pa.table({"at": pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("us")), "n": [1]}))
    told = "source `events`: StoreAvailableTimeUndeclared: table events declares no available_time"
    for bound in (', available_as_of: "2014-06-01"', ", vintage: first"):
        eco.write("models/known.strata", NUMBERS % bound)
        code, message, fix = refused(eco)
        assert (code, message.startswith(told)) == ("E096", True)
        assert fix == "declare [pipeline.tables.available_time], or read without available_as_of and vintage"
    eco.write("models/known.strata", NUMBERS % ', valid_as_of: "2014-06-01"')
    assert refused(eco)[1].startswith("source `events`: StoreValidTimeUndeclared: table events declares no valid_time")


def test_a_table_that_nobody_has_or_that_is_empty(eco: Shop) -> None:
    eco.write("models/known.strata", (READER % "").replace('store: "gdp"', 'store: "gdpp"'))
    assert refused(eco) == ("E030", "source `gdp`: no table `gdpp` is published in `prod`", "did you mean `gdp`?")
    Store.at(eco.root / ".strata/store").declare(EVENTS)
    eco.write("models/known.strata", NUMBERS % "")
    code, message, fix = refused(eco)
    assert (code, message) == ("E030", "source `events`: nothing has landed in the table `events`")
    assert fix == "land its rows: `strata store land events FILE`"


def test_a_name_that_is_a_model_and_a_declared_table_is_refused(eco: Shop) -> None:
    other = Shop(eco.root / "other")
    other.write("strata.toml", '[project]\nname = "other"\n[store]\nroot = "../.strata/store"\n')
    other.write("n.csv", "n\n1\n")
    own = 'source n(csv: "n.csv") {\n  columns: { n: int64 nonnull },\n}\n'
    other.write("models/m.strata", own + "contract N {\n  n: int64\n}\nmodel gdp -> contract N {\n  from n\n}\n")
    other.apply()
    told = "source `gdp`: `gdp` is both a model and a declared table of the store"
    assert refused(eco) == ("E030", told, "give one of the two another name")


def other_project(eco: Shop, clause: str) -> Shop:
    """Another project of the same store, which reads the published model `known` within a bound."""
    other = Shop(eco.root / "other")
    other.write("strata.toml", '[project]\nname = "other"\n[store]\nroot = "../.strata/store"\n')
    text = (READER % clause).replace('store: "gdp"', 'store: "known"').replace("model known", "model k")
    other.write("models/known.strata", text)
    return other


def test_a_published_model_is_asked_for_nothing_but_what_was_live_then(eco: Shop) -> None:
    eco.apply()
    told = "source `gdp`: `known` is the published output of a model, which has no clock to be asked `available_as_of`"
    refusal = ("E030", told, "drop `available_as_of:`; `as_of:` reads what was live then")
    assert refused(other_project(eco, ', as_of: "2030-01-01", available_as_of: "2014-06-01"')) == refusal


def test_as_of_reads_the_artifact_of_another_project_that_was_live_then(eco: Shop) -> None:
    assert bounded(eco, ', available_as_of: "2014-06-01"').statuses() == {"known": "computed"}
    then = Store.at(eco.root / ".strata/store").environment("prod").head().at
    assert bounded(eco, "").statuses() == {"known": "computed"}
    first = other_project(eco, f', as_of: "{spell(then)}"')
    assert first.statuses() == {"k": "computed"}
    assert [row["value"] for row in first.rows("k")] == [17101.3]
    table(eco).land(vintages((17000.0, "2014-07-30")))
    assert eco.statuses() == {"known": "computed"}
    assert first.statuses() == {"k": "fresh"}
    now = other_project(eco, ", vintage: all")
    assert now.statuses() == {"k": "computed"}
    assert [row["value"] for row in now.rows("k")] == [17000.0]
    code, message, fix = refused(other_project(eco, ', as_of: "2001-01-01"'))
    assert (code, message) == (
        "E096",
        "source `gdp`: StoreAsOfUnretained: known in prod: nothing of it was published yet",
    )
    assert fix == f"ask for {spell(then)} or later, the oldest instant that is answered"


def test_columns_that_the_table_has_not_or_of_another_type_are_found_by_the_plan(eco: Shop) -> None:
    text = (READER % "").replace("value: float64", "value: string").replace("published: timestamp nonnull", "day: date")
    eco.write("models/known.strata", text.replace("published: timestamp", "day: date").replace("published", "day"))
    workspace = eco.workspace()
    found = moved_sources(workspace, workspace.plan())
    assert [(d.code, d.message) for d in found] == [
        ("E032", "`value` of `gdp` is double, and declared as string"),
        ("E030", "`gdp` has no column `day`"),
    ]
    assert eco.statuses() == {"known": "violated"}


def test_a_table_that_has_no_column_of_the_declaration(eco: Shop) -> None:
    Store.at(eco.root / ".strata/store").declare(EVENTS)
    table(eco, "events").land(pa.table({"at": pa.array([dt.datetime(2026, 1, 1)], pa.timestamp("us"))}))
    eco.write("models/known.strata", NUMBERS % "")
    workspace = eco.workspace()
    (found,) = moved_sources(workspace, workspace.plan())
    assert (found.code, found.fix) == ("E030", "its columns are at")
    for engine in ("reference", "duckdb"):
        eco.write("strata.toml", TOML % engine)
        assert eco.statuses(engine=eco.workspace().engine()) == {"known": "violated"}


def test_seed1_beneath_enforcement_models_see_what_the_store_shows_everybody(eco: Shop) -> None:
    masked = GDP.replace('"timestamp"', '"timestamp"\nvalue = { type = "float64", classification = "secret" }')
    Store.at(eco.root / ".strata/store").declare(masked)
    workspace = eco.workspace()
    (found,) = moved_sources(workspace, workspace.plan())
    assert (found.code, found.message) == ("E030", "`gdp` has no column `value`")


def test_freshness_is_that_of_the_newest_run(eco: Shop) -> None:
    eco.write(
        "models/known.strata",
        (READER % "")
        .replace("source gdp(", "source gdp(")
        .replace("nonnull },\n}", "nonnull },\n  freshness: <= 1d,\n}", 1),
    )
    (found,) = eco.result("known").diagnostics
    assert found.code == "E085"
    assert found.message.endswith("ago, but it promises freshness <= 1d")


def test_w016_is_told_by_the_plan_and_can_be_allowed_at_the_source(eco: Shop) -> None:
    def told() -> list[tuple[str, str]]:
        return [(d.code, d.message) for d in eco.workspace().plan().lints]

    looks = "`gdp` reads the table `gdp` of the store as it is known today: what was restated since looks ahead"
    assert told() == [("W016", looks)]
    for bound in (', available_as_of: "2014-06-01"', ', as_of: "2014-06-01"', ", vintage: first"):
        bounded(eco, bound)
        assert told() == []
    bounded(eco, ', valid_as_of: "2014-06-01"')
    assert told() == [("W016", looks)]
    allowed = "// strata: allow W016 because today's figures are shown\n" + READER % ""
    eco.write("models/known.strata", allowed)
    assert told() == []
    assert compile_(eco.project).diagnostics == ()
    eco.write("models/known.strata", allowed.replace(" because today's figures are shown", ""))
    assert told() == [("W016", looks)]
    assert [d.code for d in compile_(eco.project).diagnostics] == ["W090"]
    bounded(eco, "").write("strata.toml", (TOML % "reference") + '[lint]\nW016 = "off"\n')
    assert told() == []


@pytest.mark.parametrize(
    ("clause", "message", "fix"),
    [
        ('available_as_of: "yesterday"', "`available_as_of`: 'yesterday' is no instant", ACCEPTED),
        ('as_of: "2014-02-30"', "`as_of`: '2014-02-30' is no date (day is out of range for month)", ACCEPTED),
        ("valid_as_of: 2014", "`valid_as_of` takes text", 'write `valid_as_of: "2014-05-01"`'),
        ("vintage: frist", "there is no vintage `frist`", "did you mean `first`?"),
        ('as_off: "2014-01-01"', "a source has no `as_off:`", "did you mean `as_of`?"),
    ],
)
def test_a_bound_that_is_none_is_found_by_the_check(eco: Shop, clause: str, message: str, fix: str) -> None:
    (found,) = compile_(bounded(eco, f", {clause}").project).diagnostics
    assert (found.code, found.message, found.fix) == ("E070", message, fix)
    assert found.span is not None
    assert (found.span.line, found.span.column) == (1, 26)


def test_a_file_has_no_clocks(eco: Shop) -> None:
    eco.write("models/known.strata", (READER % ', as_of: "2014-01-01"').replace("store:", "csv:"))
    (found,) = compile_(eco.project).diagnostics
    assert (found.code, found.message) == ("E070", "`csv:` has no option `as_of`")


def test_the_language_knows_the_vintages_of_the_store() -> None:
    assert analysed.VINTAGES == bounds.VINTAGES


def test_a_fault_of_the_store_while_rows_are_streamed_is_told_as_it_is(eco: Shop) -> None:
    for part in (eco.root / ".strata/store/tables/gdp/data/runs").rglob("*.parquet"):
        part.write_bytes(b"PAR1 no more")
    for engine in ("reference", "duckdb"):
        eco.write("strata.toml", TOML % engine)
        result = eco.result("known", engine=eco.workspace().engine())
        assert str(result.status) == "failed"
        assert [d.code for d in result.diagnostics] == ["E094"]


DECISIONS = """\
source gdp(store: "gdp", vintage: all) {
  columns: {
    series: string primary_key,
    period_start: timestamp primary_key,
    published: timestamp primary_key,
    value: float64 nonnull,
  }
  valid_from: period_start
  available_time: published
}
source decisions(csv: "decisions.csv") {
  columns: { id: int64 primary_key, ts: timestamp nonnull, decided_at: timestamp nonnull }
}
contract Known {
  id: int64 primary_key
  value: float64
}
model known -> contract Known {
  from decisions
  let series = "gdp"
  join_asof gdp on gdp.series == series at decisions.ts available_as_of: decisions.decided_at
  select { id, gdp.value }
}
"""


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
def test_each_decision_sees_the_vintage_that_was_published_by_then(eco: Shop, engine: str) -> None:
    eco.write("strata.toml", TOML % engine)
    eco.write("models/known.strata", DECISIONS)
    decided = ("2014-04-30T04:00:00", "2014-05-01T04:00:00", "2014-06-01", "2014-06-26T03:59:59", "2014-07-01")
    lines = "".join(f"{n},2014-03-31,{at}\n" for n, at in enumerate(decided))
    eco.write("decisions.csv", f"id,ts,decided_at\n{lines}5,2013-12-31,2014-07-01\n")
    assert eco.statuses() == {"known": "computed"}
    values = [row["value"] for row in eco.rows("known")]
    assert values == [None, 17149.6, 17101.3, 17101.3, 17016.0, None]
    assert eco.statuses() == {"known": "fresh"}
    table(eco).land(vintages((17000.0, "2014-07-30")))
    assert eco.statuses() == {"known": "computed"}
    assert [row["value"] for row in eco.rows("known")] == values


def test_all_vintages_are_read_as_rows_of_their_own(eco: Shop) -> None:
    assert bounded(eco, ", vintage: all").statuses() == {"known": "computed"}
    assert sorted(row["value"] for row in eco.rows("known")) == [17016.0, 17101.3, 17149.6]
    table(eco).fold()
    assert table(eco).read(vintage="all").arrow().num_rows == 3
    assert table(eco).read(vintage="all", available_as_of="2014-06-01").arrow().num_rows == 2
