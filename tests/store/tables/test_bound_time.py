"""Seed 1, bound-time: transaction time and valid time, one test a clause, named after it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

from strata_core.store.tables import times
from strata_core.store.tables.enforcement import Principal

from .conftest import START, World, refused, rows, stamp

PRICES = """
[[pipeline.tables]]
name = "prices"
primary_key = ["item"]
"""
PRICE = {"item": pa.string(), "price": pa.int64()}
VALID = """
[[pipeline.tables]]
name = "tariffs"
primary_key = ["item"]
[pipeline.tables.valid_time]
from = "since"
to = "until"
"""
TARIFF = {"item": pa.string(), "since": pa.timestamp("us"), "until": pa.timestamp("us"), "rate": pa.int64()}
UNKEYED = VALID.replace('primary_key = ["item"]\n', "")


def values(world: World, table: str, column: str, **bounds: object) -> list[object]:
    return sorted(world.tables.table(table).read(**bounds).arrow().column(column).to_pylist())  # type: ignore[arg-type]


def instant(ns: int) -> str:
    return f"{dt.datetime.fromtimestamp(ns // 1_000_000_000, dt.UTC):%Y-%m-%dT%H:%M:%S}.{ns % 1_000_000_000:09d}Z"


def test_two_clocks(world: World) -> None:
    """Transaction time is `_ingested_at`, stamped by the store; valid time is declared, never inferred."""
    table = world.declare(VALID)
    run = table.land(rows(TARIFF, ("a", stamp("2020-01-01"), None, 1)))
    assert run.ingested_at == START + 1  # the declaration took START: strictly later than the commit before
    read = table.read(columns=["_ingested_at", "_commit_seq", "_row_seq", "since"]).arrow()
    assert read.column("_ingested_at").cast(pa.int64()).to_pylist() == [START + 1]
    assert read.column("_commit_seq").to_pylist() == [2]
    assert table.read().arrow().column_names == ["item", "since", "until", "rate"]


def test_ingested_at_strictly_increases_when_the_clock_stands_or_goes_back(world: World) -> None:
    table = world.declare(PRICES)
    first = table.land(rows(PRICE, ("a", 1)))
    second = table.land(rows(PRICE, ("a", 2)))
    world.clock.advance(days=-400)
    third = table.land(rows(PRICE, ("a", 3)))
    assert [r.ingested_at - first.ingested_at for r in (first, second, third)] == [0, 1, 2]
    world.clock.advance(days=500)
    assert table.land(rows(PRICE, ("a", 4))).ingested_at == world.clock.now


def test_valid_time_declaration(world: World) -> None:
    """A table that declares `from` alone treats each row as valid from that instant onward."""
    table = world.declare(VALID.replace('to = "until"\n', ""))
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), stamp("2020-02-01"), 1)))
    assert values(world, "tariffs", "rate", valid_as_of="2031-01-01") == [1]
    assert values(world, "tariffs", "rate", valid_as_of="2019-12-31") == []


@pytest.mark.parametrize("column", ["since", "until"])
def test_valid_time_type(world: World, column: str) -> None:
    """StoreValidTimeNotTimestamp at declaration, for a column whose type is not a timestamp."""
    toml = VALID.replace(
        "[pipeline.tables.valid", f'[pipeline.tables.columns]\n{column} = "date"\n[pipeline.tables.valid'
    )
    error = refused("StoreValidTimeNotTimestamp", lambda: world.declare(toml))
    assert f"column {column} has the type date, not timestamp" in str(error)
    assert error.table == "tariffs"
    assert world.tables.names() == ()


def test_valid_time_type_of_rows_that_land_or_have_landed(world: World) -> None:
    table = world.declare(VALID)
    bad = rows({**TARIFF, "since": pa.date32()}, ("a", dt.date(2020, 1, 1), None, 1))
    refused("StoreValidTimeNotTimestamp", lambda: table.land(bad))
    assert not (world.root / "tables/tariffs/data").exists()
    plain = world.declare(PRICES.replace("prices", "plain"))
    plain.land(rows({"item": pa.string(), "day": pa.date32()}, ("a", dt.date(2020, 1, 1))))
    later = PRICES.replace("prices", "plain") + '[pipeline.tables.valid_time]\nfrom = "price"\nto = "day"\n'
    refused("StoreDeclarationInvalid", lambda: world.declare(later))  # its key would be another one
    late = PRICES.replace("prices", "unkeyed").replace('primary_key = ["item"]\n', "")
    world.declare(late).land(rows({"day": pa.date32()}, (dt.date(2020, 1, 1),)))
    refused("StoreValidTimeNotTimestamp", lambda: world.declare(late + '[pipeline.tables.valid_time]\nfrom = "day"\n'))


def test_instant_comparison(world: World) -> None:
    """Instants are compared as timestamps; a date is the start of the next day, exclusive."""
    table = world.declare(UNKEYED)
    types = {**TARIFF, "since": pa.timestamp("ns", "Asia/Tokyo"), "until": pa.timestamp("ms")}
    edge = dt.datetime(2020, 1, 2, tzinfo=dt.UTC)
    table.land(rows(types, ("a", edge, None, 1), ("a", edge - dt.timedelta(microseconds=1), None, 2)))
    ask = {
        "2020-01-01": [2],
        "2020-01-02": [1, 2],
        "2020-01-02T00:00:00Z": [1, 2],
        "2020-01-02T09:00:00+09:00": [1, 2],
        "2020-01-02T08:59:59.999999999+09:00": [2],
        "2020-01-01T23:59:59.999998999Z": [],
        dt.date(2020, 1, 1): [2],
        dt.datetime(2020, 1, 2): [1, 2],
        1_577_923_200_000_000_000: [1, 2],
    }
    assert {bound: values(world, "tariffs", "rate", valid_as_of=bound) for bound in ask} == ask


@pytest.mark.parametrize(
    "bad", ["yesterday", "2020-13-01", "2020-02-30", "2020-01-01T25:00:00Z", 1.5, True, "", "9999-01-01"]
)
def test_instant_comparison_refuses_what_is_no_instant(world: World, bad: object) -> None:
    world.declare(VALID)
    for bound in ("as_of", "valid_as_of"):
        error = refused("StoreBoundInvalid", lambda bound=bound: values(world, "tariffs", "rate", **{bound: bad}))
        assert bound in str(error)


def test_as_of(world: World) -> None:
    """The newest snapshot at or before the bound plus the runs at or before it that the snapshot omits."""
    table = world.declare(PRICES)
    at = []
    for price in (1, 2, 3):
        world.clock.advance(days=1)
        at.append(table.land(rows(PRICE, ("a", price), (f"only {price}", price))).ingested_at)

    def seen() -> list[list[object]]:
        return [values(world, "prices", "price", as_of=instant(a)) for a in at]

    expected = [[1, 1], [1, 2, 2], [1, 2, 3, 3]]
    assert seen() == expected
    assert values(world, "prices", "price", as_of=instant(at[1] - 1)) == [1, 1]
    assert values(world, "prices", "price", as_of="2020-01-01") == []
    world.clock.advance(days=1)
    assert table.fold() is not None
    assert seen() == expected  # filtering current files by their stamp would have lost the earlier prices
    world.clock.advance(days=1)
    table.land(rows(PRICE, ("a", 9)))
    assert seen() == expected
    assert values(world, "prices", "price") == [1, 2, 3, 9]


def test_row_age_cutoff(world: World) -> None:
    """Past its age on the wall clock a row is not read, also not as of a time when it was young."""
    table = world.declare(PRICES + 'retain_rows = { column = "_ingested_at", age = "10d" }\n')
    old = table.land(rows(PRICE, ("old", 1)))
    world.clock.advance(days=6)
    table.fold()
    table.land(rows(PRICE, ("new", 2)))
    as_of = instant(old.ingested_at)
    assert values(world, "prices", "price") == [1, 2]
    assert values(world, "prices", "price", as_of=as_of) == [1]
    world.clock.advance(days=6)
    assert values(world, "prices", "price") == [2]
    assert values(world, "prices", "price", as_of=as_of) == []
    table.fold()
    assert values(world, "prices", "price") == [2]
    assert values(world, "prices", "price", as_of=as_of) == []
    assert len(world.tables.results) == 0  # the result cache reuses no such statement
    world.clock.advance(days=-6)  # the clock goes back; the log remembers that it was later
    assert values(world, "prices", "price") == [2]


def test_row_age_cutoff_of_a_timestamp_column_comes_after_deduplication(world: World) -> None:
    toml = PRICES + 'order_by = "version"\nretain_rows = { column = "seen", age = "10d" }\n'
    types = {"item": pa.string(), "version": pa.int64(), "seen": pa.timestamp("us"), "price": pa.int64()}
    table = world.declare(toml)
    table.land(rows(types, ("a", 2, stamp("2025-01-01"), 1), ("b", 1, stamp("2025-12-31"), 2)))
    table.land(rows(types, ("a", 1, stamp("2025-12-31"), 3)))
    for _ in range(2):
        assert values(world, "prices", "price") == [2]  # a's latest version is too old, its first one is superseded
        table.fold()
    table.land(rows(types, ("a", 1, stamp("2025-12-31"), 4)))
    assert values(world, "prices", "price") == [2]  # the fold has kept what supersedes it


def test_row_age_cutoff_when_the_clock_goes_back(world: World) -> None:
    """The clock is never earlier than the newest commit: a row that was too old once does not come back."""
    table = world.declare(PRICES + 'retain_rows = { column = "_ingested_at", age = "10d" }\n')
    table.land(rows(PRICE, ("old", 1)))
    world.clock.advance(days=12)
    table.land(rows(PRICE, ("new", 2)))
    world.clock.advance(days=-6)
    assert values(world, "prices", "price") == [2]


@pytest.mark.parametrize(
    ("toml", "type_", "value", "why"),
    [
        ("other", pa.int64(), 5, "has the type int64"),
        ("missing", pa.int64(), 5, "does not arrive"),
        ("other", pa.timestamp("us"), None, "is null"),
    ],
)
def test_retention_column_invalid(world: World, toml: str, type_: pa.DataType, value: object, why: str) -> None:
    """Another column or a null value raises StoreRetentionColumnInvalid before landing."""
    table = world.declare(PRICES + f'retain_rows = {{ column = "{toml}", age = "10d" }}\n')
    data = rows({"item": pa.string(), "other": type_}, ("a", value))
    assert why in str(refused("StoreRetentionColumnInvalid", lambda: table.land(data)))
    assert table.log.head().newest.run == 0


def test_retention_column_that_is_declared_as_no_timestamp(world: World) -> None:
    toml = PRICES + 'retain_rows = { column = "day", age = "10d" }\n[pipeline.tables.columns]\nday = "date"\n'
    refused("StoreRetentionColumnInvalid", lambda: world.declare(toml))


@pytest.mark.parametrize("age", ["10", "d", "-1d", "0d", "1.5d", "ten days", "10dd"])
def test_malformed_age_refuses_the_declaration(world: World, age: str) -> None:
    toml = PRICES + f'retain_rows = {{ column = "_ingested_at", age = "{age}" }}\n'
    assert "retain_rows.age" in str(refused("StoreDeclarationInvalid", lambda: world.declare(toml)))


def retained(world: World) -> list[int]:
    """A table with a run a day, folded each day, collected after three: the instants of its snapshots."""
    table = world.declare(PRICES + 'retain_runs = "36h"\n')
    created = []
    for price in range(5):
        world.clock.advance(days=1)
        table.land(rows(PRICE, ("a", price)))
        snapshot = table.fold()
        assert snapshot is not None
        created.append(snapshot.created_at)
    return created


def test_as_of_unretained(world: World) -> None:
    """Before the oldest snapshot that retention kept: an error that names the oldest answerable instant."""
    created = retained(world)
    table = world.tables.table("prices")
    collection = table.collect(grace="0s")
    assert (collection.snapshots, collection.floor) == (2, created[2])
    for bound in (created[2] - 1, created[1], created[0], 0):
        error = refused("StoreAsOfUnretained", lambda b=bound: values(world, "prices", "price", as_of=b))
        assert f"the oldest answerable instant is {instant(created[2])}" in str(error)
    assert [values(world, "prices", "price", as_of=c) for c in created[2:]] == [[2], [3], [4]]
    assert values(world, "prices", "price") == [4]


def test_as_of_unretained_while_collected_json_stands_beside_the_snapshot(folder_world: World) -> None:
    world = folder_world
    created = retained(world)
    assert values(world, "prices", "price", as_of=created[2]) == [2]
    (folder,) = (world.root / "tables/prices/data/snapshots").glob(f"*{_id(world, created[2])}")
    (folder / "_collected.json").write_text("{}")
    # nothing else was let go: the runs before it answer (settled a), as long as they are there
    assert values(world, "prices", "price", as_of=created[2]) == [2]
    for part in (world.root / "tables/prices/data/runs").glob("*/*/part-*"):
        part.unlink()
    assert values(world, "prices", "price", as_of=created[3]) == [3]
    refused("StoreAsOfUnretained", lambda: values(world, "prices", "price", as_of=created[2]))


def _id(world: World, created_at: int) -> str:
    history = world.tables.table("prices").log
    return history.snapshot(history.at(created_at, history.head()).number).snapshot_id


def test_as_of_unretained_when_a_part_is_absent(folder_world: World) -> None:
    world = folder_world
    created = retained(world)
    for part in (world.root / "tables/prices/data/runs").glob("*/*/part-*"):
        part.unlink()
    for part in (world.root / f"tables/prices/data/snapshots/{_id(world, created[1])}").glob("part-*"):
        part.unlink()
    refused("StoreAsOfUnretained", lambda: values(world, "prices", "price", as_of=created[1]))
    refused("StoreAsOfUnretained", lambda: world.tables.table("prices").pin("build", as_of=created[1]))
    refused("StoreAsOfUnretained", lambda: world.tables.table("prices").hold("audit", as_of=created[1]))
    assert values(world, "prices", "price", as_of=created[2]) == [2]


def test_as_of_on_a_held_snapshot_older_than_a_collected_one(world: World) -> None:
    """Settled (a): answered when the held snapshot and every run at or before the bound that it omits are there."""
    table = world.declare(PRICES + 'retain_runs = "36h"\n')
    table.land(rows(PRICE, ("a", 0)))
    first = table.fold()
    assert first is not None
    omitted = table.land(rows(PRICE, ("b", 1)))
    table.hold("audit", as_of=omitted.ingested_at)
    later = table.land(rows(PRICE, ("c", 2)))
    table.fold()
    world.clock.advance(days=3)
    table.land(rows(PRICE, ("d", 3)))
    table.fold()
    assert table.collect(grace="0s").runs == 2
    assert values(world, "prices", "price", as_of=first.created_at) == [0]
    assert values(world, "prices", "price", as_of=omitted.ingested_at) == [0, 1]
    refused("StoreAsOfUnretained", lambda: values(world, "prices", "price", as_of=later.ingested_at))
    table.release("audit")
    table.collect(grace="0s")
    refused("StoreAsOfUnretained", lambda: values(world, "prices", "price", as_of=omitted.ingested_at))


def test_valid_as_of(world: World) -> None:
    """from <= valid_as_of AND (to IS NULL OR to > valid_as_of)."""
    table = world.declare(VALID)
    table.land(
        rows(
            TARIFF,
            ("a", stamp("2020-01-01"), stamp("2020-02-01"), 1),
            ("a", stamp("2020-02-01"), None, 2),
            ("b", stamp("2020-01-15"), stamp("2020-01-16"), 3),
            ("c", None, None, 4),
        )
    )
    asked = {
        "2019-12-31T23:59:59.999999999Z": [],
        "2020-01-01T00:00:00Z": [1],
        "2020-01-15T12:00:00Z": [1, 3],
        "2020-01-16T00:00:00Z": [1],
        "2020-01-31T23:59:59.999999999Z": [1],
        "2020-01-31": [1],
        "2020-02-01T00:00:00Z": [2],
    }
    for _ in range(2):
        assert {b: values(world, "tariffs", "rate", valid_as_of=b) for b in asked} == asked
        table.fold()


def test_valid_as_of_does_not_revive_a_superseded_interval(world: World) -> None:
    """Valid time comes after deduplication: a corrected end is not undone by the row it corrected."""
    table = world.declare(VALID)
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), None, 1)))
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), stamp("2020-02-01"), 2)))
    assert values(world, "tariffs", "rate", valid_as_of="2020-03-01") == []
    assert values(world, "tariffs", "rate", valid_as_of="2020-01-03") == [2]


def test_valid_time_undeclared(world: World) -> None:
    world.declare(PRICES)
    error = refused("StoreValidTimeUndeclared", lambda: values(world, "prices", "price", valid_as_of="2020-01-01"))
    assert "table prices" in str(error)
    assert error.table == "prices"


def test_pin_bound(world: World) -> None:
    """A read carrying as_of and a pin resolves to the earlier of the two."""
    table = world.declare(PRICES)
    at = []
    for price in (1, 2, 3):
        world.clock.advance(days=1)
        at.append(table.land(rows(PRICE, ("a", price))).ingested_at)
    table.pin("build-7", as_of=at[1])
    assert values(world, "prices", "price", pin="build-7") == [2]
    assert values(world, "prices", "price", pin="build-7", as_of=at[0]) == [1]
    assert values(world, "prices", "price", pin="build-7", as_of=at[2]) == [2]
    table.fold()
    assert values(world.reopened(), "prices", "price", pin="build-7") == [2]
    error = refused("StorePinUnknown", lambda: values(world, "prices", "price", pin="x"))
    assert error.diagnostics[0].fix == "there are build-7"


def test_unbounded_latest(world: World) -> None:
    table = world.declare(PRICES)
    table.land(rows(PRICE, ("a", 1), ("b", 2)))
    table.fold()
    table.land(rows(PRICE, ("b", 3), ("c", 4)))
    read = table.read()
    assert sorted(read.arrow().column("price").to_pylist()) == [1, 3, 4]
    assert read.frontier.snapshot == 3
    assert read.frontier.runs == (4,)


def test_beneath_enforcement(world: World) -> None:
    """Bounds apply before row predicate, mask and tenant filter, so they only narrow the rows that these admit."""
    toml = UNKEYED.replace(
        "[pipeline.tables.valid_time]",
        'tenant_column = "item"\nrows = ["rate < 10"]\n'
        '[pipeline.tables.columns]\nrate = { type = "int64", classification = "secret", mask = "null" }\n'
        "[pipeline.tables.valid_time]",
    )
    table = world.declare(toml)
    first = table.land(
        rows(
            TARIFF,
            ("mine", stamp("2020-01-01"), None, 1),
            ("mine", stamp("2021-01-01"), None, 2),
            ("mine", stamp("2020-01-01"), None, 10),
            ("theirs", stamp("2020-01-01"), None, 3),
        )
    )
    mine = Principal("me", tenant="mine", clearances=frozenset({"secret"}))
    plain = Principal("me", tenant="mine")
    unbounded = values(world, "tariffs", "rate", principal=mine)
    assert unbounded == [1, 2]
    for bounds in ({"valid_as_of": "2020-06-01"}, {"as_of": first.ingested_at}, {"as_of": 0}):
        assert set(values(world, "tariffs", "rate", principal=mine, **bounds)) <= set(unbounded)
    assert values(world, "tariffs", "rate", principal=mine, valid_as_of="2020-06-01") == [1]
    assert table.read(principal=plain, valid_as_of="2020-06-01").arrow().column("rate").to_pylist() == [None]


def test_covering_versions(world: World) -> None:
    """For an unkeyed table, a valid-time bound returns every version whose interval contains the instant."""
    table = world.declare(UNKEYED)
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), None, 1), ("a", stamp("2020-01-01"), None, 2)))
    table.land(rows(TARIFF, ("a", stamp("2020-01-05"), stamp("2020-01-06"), 3)))
    for _ in range(2):
        assert values(world, "tariffs", "rate", valid_as_of="2020-01-05T12:00:00Z") == [1, 2, 3]
        assert values(world, "tariffs", "rate", valid_as_of="2020-01-08") == [1, 2]
        table.fold()


def test_interval_rows(world: World) -> None:
    """One row per key and interval, deduplicated on primary key and `from`; a fold keeps every interval."""
    table = world.declare(VALID)
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), None, 1), ("a", stamp("2020-02-01"), None, 2)))
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), stamp("2020-02-01"), 3), ("b", stamp("2019-01-01"), None, 4)))
    for _ in range(2):
        assert values(world, "tariffs", "rate") == [2, 3, 4]
        table.fold()
    folded = table.read().arrow()
    assert folded.column("rate").to_pylist() == [4, 3, 2]  # "sorts by from, then primary key"


def test_echo(world: World) -> None:
    """contextful.bounds: {as_of?, valid_as_of?, inclusive}, RFC 3339 UTC, nine digits, Z; absent when unbounded."""
    table = world.declare(VALID)
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), None, 1)))
    assert table.read().contextful == {}
    assert table.read().bounds is None
    assert table.read(as_of="2026-01-02T01:00:00.5+01:00").contextful == {
        "bounds": {"as_of": "2026-01-02T00:00:00.500000000Z", "inclusive": True}
    }
    assert table.read(valid_as_of="2020-01-01").bounds == {
        "valid_as_of": "2020-01-02T00:00:00.000000000Z",
        "inclusive": False,
    }
    assert table.read(as_of="2026-01-01", valid_as_of="2020-01-01").bounds == {
        "as_of": "2026-01-02T00:00:00.000000000Z",
        "valid_as_of": "2020-01-02T00:00:00.000000000Z",
        "inclusive": False,
    }
    assert table.read(as_of="2026-01-02T00:00:00Z", valid_as_of="2020-01-01").bounds == {
        "as_of": "2026-01-02T00:00:00.000000000Z",
        "valid_as_of": "2020-01-01T23:59:59.999999999Z",  # the same bound, told inclusively
        "inclusive": True,
    }


def test_a_read_keeps_its_frontier_while_others_land_fold_and_collect(world: World) -> None:
    table = world.declare(PRICES + 'retain_runs = "1h"\n')
    table.land(rows(PRICE, ("a", 1)))
    read = table.read()
    table.land(rows(PRICE, ("a", 2)))
    table.fold()
    world.clock.advance(days=1)
    table.collect(grace="2d")
    assert read.arrow().column("price").to_pylist() == [1]


def test_the_layout_on_disk(world: World, tmp_path: Path) -> None:
    """A reader needs nothing but Parquet and JSON."""
    import json

    import pyarrow.parquet as pq

    table = world.declare(PRICES)
    run = table.land(rows(PRICE, ("a", 1)), run_id="first")
    root = world.root / "tables/prices"
    entry = json.loads((root / f"log/{run.commit_seq:020d}.json").read_text())
    assert (entry["kind"], entry["at"], entry["payload"]["run_id"]) == ("run", instant(run.ingested_at), "first")
    folder = root / "data" / entry["payload"]["folder"]
    (part,) = json.loads((folder / "_manifest.json").read_text())["parts"]
    assert pq.read_table(folder / part["path"]).to_pylist() == [{"item": "a", "price": 1}]
    snapshot = table.fold()
    assert snapshot is not None
    assert snapshot.snapshot_id.startswith("snapshot-")
    assert len(snapshot.snapshot_id) == len("snapshot-") + 20
    folded = pq.read_table(root / "data/snapshots" / snapshot.snapshot_id / "part-00000.parquet").to_pylist()
    assert [(r["_run_id"], r["_row_seq"], r["_commit_seq"]) for r in folded] == [("first", 0, 2)]


def test_times_beyond_64_bits_of_nanoseconds_are_compared_all_the_same(world: World) -> None:
    """The year 9999 in microseconds: open ends are written so, and are neither old nor over."""
    end = dt.datetime(9999, 12, 31)
    table = world.declare(VALID + '[pipeline.tables.retain_rows]\ncolumn = "until"\nage = "10d"\n')
    table.land(rows(TARIFF, ("a", stamp("2020-01-01"), end, 1), ("b", dt.datetime(1, 1, 1), stamp("2026-06-01"), 2)))
    for _ in range(2):
        assert values(world, "tariffs", "rate", valid_as_of="2026-05-01") == [1, 2]
        assert values(world, "tariffs", "rate", valid_as_of="2262-01-01") == [1]
        assert values(world, "tariffs", "rate", filter='until > cast("2200-01-01T00:00:00", "timestamp")') == [1]
        table.fold()


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_times_beyond_64_bits_of_nanoseconds_stay_at_their_own_end(unit: str) -> None:
    """One that is centuries ago came out centuries ahead: a bound let through what nobody could have known."""
    column = pa.array([dt.datetime(1, 1, 1), dt.datetime(1970, 1, 1), dt.datetime(9999, 12, 31)], pa.timestamp(unit))
    first, middle, last = times.nanoseconds(column).to_pylist()
    assert middle == 0
    assert (first // 10**9, last // 10**9) == (-9223372037, 9223372036)
