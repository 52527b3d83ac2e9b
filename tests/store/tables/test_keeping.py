"""Retention, holds and pins; the result cache; and `verify`, which finds every kind of damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from strata_core.store.tables import Table
from strata_core.store.tables.results import ResultCache

from .conftest import World, refused, rows

TOML = '[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\nretain_runs = "36h"\n'
TYPES = {"k": pa.string(), "v": pa.int64()}


def days(world: World, count: int = 4) -> tuple[Table, list[int]]:
    """A run and a fold each day: the instants of the snapshots."""
    table = world.declare(TOML)
    at = []
    for value in range(count):
        world.clock.advance(days=1)
        table.land(rows(TYPES, ("a", value)), run_id=f"r{value}")
        snapshot = table.fold()
        assert snapshot is not None
        at.append(snapshot.created_at)
    return table, at


def parts(world: World) -> int:
    return len(list((world.root / "tables/t/data").rglob("part-*")))


def markers(world: World) -> int:
    return len(list((world.root / "tables/t/data").rglob("_collected.json")))


def test_parts_go_only_after_the_grace_period_and_markers_come_first(world: World) -> None:
    table, at = days(world)
    done = table.collect(grace="1h")
    assert (done.snapshots, done.runs, done.parts_deleted, done.floor) == (1, 2, 0, at[1])
    assert (parts(world), markers(world)) == (8, 1)
    refused("StoreAsOfUnretained", lambda: table.read(as_of=at[0]))
    world.clock.advance(days=1 / 48)
    assert table.collect(grace="1h").parts_deleted == 0
    world.clock.advance(days=1 / 24)
    done = table.collect(grace="1h")
    assert (done.snapshots, done.runs, done.parts_deleted) == (0, 0, 3)
    assert (parts(world), markers(world)) == (5, 1)
    assert table.verify().findings == ()


def test_a_reader_within_the_grace_period_finishes_and_a_later_one_is_told(folder_world: World) -> None:
    world = folder_world  # of a bucket, copies answer as long as they are there
    table, at = days(world)
    read = table.read(as_of=at[0])
    table.collect(grace="1h")
    assert read.arrow().column("v").to_pylist() == [0]
    late = table.read(as_of=at[1])
    world.clock.advance(days=3)
    table.collect(grace="0s")
    table.results._held.clear()
    assert "grace" in (refused("StoreAsOfUnretained", late.arrow).diagnostics[0].fix or "")


def test_nothing_is_collected_without_retain_runs_or_a_snapshot_at_the_cutoff(world: World) -> None:
    table = world.declare(TOML.replace('retain_runs = "36h"\n', ""))
    table.land(rows(TYPES, ("a", 1)))
    table.fold()
    world.clock.advance(days=400)
    assert table.collect(grace="0s").floor is None
    world.declare(TOML)
    assert table.collect(grace="0s").floor is not None  # the snapshot at the cutoff is kept; its run goes
    assert table.read().arrow().num_rows == 1


def test_a_hold_keeps_its_state_until_it_is_released(world: World) -> None:
    table, at = days(world)
    table.hold("audit", as_of=at[0])
    assert table.collect(grace="0s").snapshots == 0
    assert table.read(as_of=at[0]).arrow().column("v").to_pylist() == [0]
    table.release("audit")
    assert table.collect(grace="0s").snapshots == 1
    refused("StoreAsOfUnretained", lambda: table.read(as_of=at[0]))
    assert "there are" not in str(refused("StoreHoldUnknown", lambda: table.release("audit")).diagnostics[0].fix)


def test_a_pin_keeps_nothing(world: World) -> None:
    table, at = days(world)
    table.pin("build", as_of=at[0])
    table.collect(grace="0s")
    refused("StoreAsOfUnretained", lambda: table.read(pin="build"))


@pytest.mark.parametrize("name", ["", "a b", "../x", "é", "x" * 129])
def test_pins_and_holds_have_names(world: World, name: str) -> None:
    table, _ = days(world, 1)
    refused("StoreBoundInvalid", lambda: table.hold(name))
    refused("StoreBoundInvalid", lambda: table.pin(name))


def test_what_a_killed_landing_left_is_swept_a_day_later(world: World) -> None:
    table, _ = days(world, 1)
    left = world.root / f"tables/t/data/runs/dead/{world.clock.now:020d}-00000000"
    left.mkdir(parents=True)
    (left / "part-00000.parquet").write_bytes(b"half")
    assert table.collect().abandoned == 0
    world.clock.advance(days=1, ns=1)
    assert table.collect().abandoned == 1
    assert list(left.iterdir()) == []


def test_a_run_id_that_was_collected_still_lands_once(world: World) -> None:
    table, _ = days(world)
    table.collect(grace="0s")
    again = table.land(rows(TYPES, ("a", 0)), run_id="r0")
    assert again.repeated
    assert table.read().arrow().column("v").to_pylist() == [3]


# --- the result cache


def test_a_result_is_kept_for_its_statement_frontier_and_bounds(world: World) -> None:
    table, at = days(world, 2)
    first = table.read().arrow()
    assert table.read().arrow() is first
    assert world.reopened().tables.table("t").read().arrow() is not first
    for other in (
        {"columns": ["v"]},
        {"filter": "v > 0"},
        {"as_of": at[0]},
        {"as_of": "2000-01-01"},
    ):
        assert table.read(**other).arrow() is not first  # type: ignore[arg-type]
    assert table.read(as_of=at[1]).arrow() is first  # another bound, the same frontier
    table.land(rows(TYPES, ("b", 9)))
    assert table.read().arrow().num_rows == 2
    assert len(world.tables.results) == 6


def test_the_result_cache_is_bounded_in_bytes(world: World) -> None:
    cache = ResultCache(limit=1000)
    small = pa.table({"x": pa.array(range(25), pa.int64())})
    for key in range(10):
        cache.keep(key, small)
    assert len(cache) == 5
    assert cache.find(9) is small
    assert cache.find(0) is None
    cache.keep("large", pa.table({"x": pa.array(range(200), pa.int64())}))
    assert cache.find("large") is None
    cache.keep(None, small)
    assert len(cache) == 5


# --- verify


def damage(world: World, kind: str) -> None:
    data = world.root / "tables/t/data"
    part = sorted(data.rglob("snapshots/*/part-*"))[-1]
    log = world.root / "tables/t/log"
    match kind:
        case "part missing":
            part.unlink()
        case "part short":
            part.write_bytes(part.read_bytes()[:-3])
        case "part changed":
            content = bytearray(part.read_bytes())
            content[100] ^= 1
            part.write_bytes(bytes(content))
        case "manifest missing":
            (part.parent / "_manifest.json").unlink()
        case "manifest damaged":
            (part.parent / "_manifest.json").write_text("{")
        case "log gap":
            (log / f"{3:020d}.json").unlink()
        case "entry changed":
            path = log / f"{3:020d}.json"
            path.write_text(path.read_text().replace('"through":2', '"through":1'))
        case "entry rewritten":
            path = log / f"{3:020d}.json"
            entry = json.loads(path.read_text())
            entry["payload"]["rows"] = 7
            _seal(entry)
            path.write_text(json.dumps(entry, sort_keys=True, separators=(",", ":")))


def _seal(entry: dict[str, Any]) -> None:
    import hashlib

    entry.pop("sha256")
    entry["sha256"] = hashlib.sha256(json.dumps(entry, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("part missing", "is missing"),
        ("part short", "bytes, its manifest says"),
        ("part changed", "SHA-256"),
        ("manifest missing", "_manifest.json is missing"),
        ("manifest damaged", "is damaged"),
        ("log gap", "entry 3 of the log"),
        ("entry changed", "does not match its sha256"),
        ("entry rewritten", "holds 1 rows, commit 3 says 7"),
    ],
)
def test_verify_finds_what_is_damaged(world: World, kind: str, says: str) -> None:
    table, _ = days(world, 2)
    assert table.verify().findings == ()
    damage(world, kind)
    findings = world.reopened().tables._open("t").verify().findings
    assert [d.code for d in findings] == ["E094"]
    assert says in findings[0].message
    assert findings[0].fix
    if kind == "part changed":
        assert world.reopened().tables.table("t").verify(contents=False).findings == ()


# --- the format on disk, read for ever after

GOLDEN = Path(__file__).parents[2] / "data" / "store_format_1"


def test_a_table_that_format_1_wrote_gives_the_rows_of_then() -> None:
    table = World(GOLDEN).tables.table("gdp")
    assert [type(e.commit).__name__ for e in table.history()] == [
        *("Pins", "Holds", "RunCommit", "SnapshotCommit", "RunCommit", "Declared"),
    ]

    def values(**bounds: Any) -> list[float]:
        return sorted(table.read(**bounds).arrow().column("value").to_pylist())

    assert values() == [101.0, 17016.0]
    assert values(available_as_of="2014-06-01") == [100.0, 17101.3]
    assert values(vintage="first") == [100.0, 17149.6]
    assert values(as_of="2026-01-01T00:00:00.000000001Z") == [100.0, 17101.3]
    assert values(pin="build-1") == [101.0, 17016.0]
    assert values(valid_as_of="2013-12-30") == []
    assert table.read(columns=["_run_id", "_row_seq", "_commit_seq"]).arrow().to_pylist() == [
        {"_run_id": "second", "_row_seq": 0, "_commit_seq": 4},
        {"_run_id": "second", "_row_seq": 1, "_commit_seq": 4},
    ]
    assert table.verify().findings == ()
