"""Landing: what is taken, how schemas merge, what is refused before a byte is written, and run ids."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from strata_core.diagnostics import StrataError
from strata_core.store.tables import landing

from .conftest import World, refused, rows

PLAIN = '[[pipeline.tables]]\nname = "t"\n'
KEYED = PLAIN + 'primary_key = ["k"]\n'
TABLE = pa.table({"k": ["a", "b", None], "v": pa.array([1, None, 3], pa.int64())})


def landed(world: World) -> list[dict[str, Any]]:
    return world.tables.table("t").read().arrow().to_pylist()


def files_below(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def arrivals(folder: Path) -> dict[str, Any]:
    frame = pl.from_arrow(TABLE)
    assert isinstance(frame, pl.DataFrame)
    pq.write_table(TABLE, folder / "t.parquet")
    (folder / "t.csv").write_text("k,v\na,1\nb,\n,3\n")
    (folder / "t.ndjson").write_text('{"k":"a","v":1}\n{"k":"b","v":null}\n{"k":null,"v":3}\n')
    return {
        "table": TABLE,
        "batch": TABLE.to_batches()[0],
        "reader": TABLE.to_reader(max_chunksize=1),
        "frame": frame,
        "lazy": frame.lazy(),
        "pandas": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
        "pandas, NumPy": TABLE.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get),
        "parquet": folder / "t.parquet",
        "csv": str(folder / "t.csv"),
        "ndjson": folder / "t.ndjson",
    }


@pytest.mark.parametrize(
    "kind", ["table", "batch", "reader", "frame", "lazy", "pandas", "pandas, NumPy", "parquet", "csv", "ndjson"]
)
def test_the_same_rows_land_from_every_kind_of_source(world: World, tmp_path: Path, kind: str) -> None:
    table = world.declare(PLAIN)
    assert table.land(arrivals(tmp_path)[kind]).rows == 3
    assert landed(world) == TABLE.to_pylist()
    assert table.read().schema == pa.schema([("k", pa.string()), ("v", pa.int64())])


def test_several_files_land_as_one_run_and_must_agree(world: World, tmp_path: Path) -> None:
    table = world.declare(PLAIN)
    arrivals(tmp_path)
    assert table.land([tmp_path / "t.parquet", tmp_path / "t.csv"]).rows == 6
    pq.write_table(pa.table({"k": ["a"]}), tmp_path / "other.parquet")
    refused("StoreSchemaMismatch", lambda: table.land([tmp_path / "t.parquet", tmp_path / "other.parquet"]))
    assert len(landed(world)) == 6


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (42, "int is nothing that lands"),
        ([], "list is nothing that lands"),
        (pl.Series([1]), "Series is nothing that lands"),
        (pd.DataFrame({"v": [1, "two"]}), "the DataFrame cannot be read: Could not convert 'two'"),
        (pl.DataFrame({"v": pl.Series([object()], dtype=pl.Object)}), "the DataFrame cannot be read: a column holds"),
        ("missing.csv", "there is no file "),
        ("missing.parquet", "there is no file "),
        ("missing.ndjson", "there is no file "),
        ("t.xlsx", "has no ending"),
        ("bad.parquet", "cannot be read"),
        ("bad.csv", "cannot be read"),
        ("latin.csv", "latin.csv cannot be read: column b is not UTF-8"),
        ("header.csv", "header.csv cannot be read: the name of a column is not UTF-8"),
        ("latin.ndjson", "latin.ndjson cannot be read: a value is not UTF-8"),
        ("header.ndjson", "header.ndjson cannot be read: the name of a column is not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_refused(world: World, tmp_path: Path, data: Any, why: str) -> None:
    table = world.declare(PLAIN)
    (tmp_path / "bad.parquet").write_text("no parquet")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3\n")
    (tmp_path / "latin.csv").write_bytes(b"a,b\n1,caf\xe9\n")
    (tmp_path / "header.csv").write_bytes(b"a,caf\xe9\n1,2\n")
    (tmp_path / "latin.ndjson").write_bytes(b'{"a": "caf\xe9"}\n')
    (tmp_path / "header.ndjson").write_bytes(b'{"caf\xe9": 1}\n')
    given = str(tmp_path / data) if isinstance(data, str) else data
    assert why in str(refused("StoreSourceInvalid", lambda: table.land(given)))
    assert files_below(world.root / "tables/t") == ["log/00000000000000000001.json"]


@pytest.mark.parametrize(("name", "text"), [("t.csv", "a,\n1,2\n"), ("t.ndjson", '{"a": 1, "": 2}\n')])
def test_a_column_without_a_name_is_refused(world: World, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    error = refused("StoreSchemaMismatch", lambda: world.declare(PLAIN).land(tmp_path / name))
    assert "table t: column 2 has no name" in str(error)


def test_declared_types_read_text(world: World, tmp_path: Path) -> None:
    table = world.declare(PLAIN + '[pipeline.tables.columns]\nk = "string"\nat = "timestamp"\nd = "decimal(10, 2)"\n')
    (tmp_path / "t.csv").write_text("k,at,d\n007,2014-05-01,1.50\n")
    table.land(tmp_path / "t.csv")
    (row,) = landed(world)
    assert (row["k"], row["at"], str(row["d"])) == ("007", dt.datetime(2014, 5, 1), "1.50")


def test_a_column_that_was_text_before_is_read_as_text_again(world: World, tmp_path: Path) -> None:
    table = world.declare(PLAIN)
    table.land(pa.table({"zip": ["01234"]}))
    (tmp_path / "t.csv").write_text("zip\n04321\n")
    table.land(tmp_path / "t.csv")
    assert [r["zip"] for r in landed(world)] == ["01234", "04321"]


def test_columns_are_added_and_missing_ones_are_null(world: World) -> None:
    table = world.declare(KEYED)
    table.land(rows({"k": pa.string(), "v": pa.int64()}, ("a", 1)))
    table.land(rows({"k": pa.string(), "w": pa.bool_()}, ("b", True)))
    table.land(rows({"k": pa.string(), "v": pa.null()}, ("c", None)))
    expected = [
        {"k": "a", "v": 1, "w": None},
        {"k": "b", "v": None, "w": True},
        {"k": "c", "v": None, "w": None},
    ]
    assert landed(world) == expected
    table.fold()
    assert landed(world) == expected


def test_int64_widens_to_double_in_either_direction_and_before_and_after_a_fold(world: World) -> None:
    table = world.declare(KEYED)
    table.land(rows({"k": pa.string(), "v": pa.int64(), "w": pa.float64()}, ("a", 1, 0.5)))
    table.land(rows({"k": pa.string(), "v": pa.float64(), "w": pa.int64()}, ("b", 2.5, 3)))
    expected = [{"k": "a", "v": 1.0, "w": 0.5}, {"k": "b", "v": 2.5, "w": 3.0}]
    for _ in range(2):
        assert landed(world) == expected
        assert table.read().schema.field("v").type == pa.float64()
        table.fold()


@pytest.mark.parametrize(
    ("stored", "arriving"),
    [
        (pa.int64(), pa.string()),
        (pa.string(), pa.int64()),
        (pa.int64(), pa.int32()),
        (pa.int32(), pa.int64()),
        (pa.float64(), pa.decimal128(10, 2)),
        (pa.decimal128(10, 2), pa.decimal128(12, 2)),
        (pa.timestamp("us"), pa.timestamp("ns")),
        (pa.timestamp("us"), pa.timestamp("us", "UTC")),
        (pa.date32(), pa.timestamp("us")),
        (pa.bool_(), pa.int64()),
        (pa.list_(pa.int64()), pa.list_(pa.float64())),
    ],
)
def test_every_other_change_of_type_is_refused_before_a_byte_is_written(
    world: World, stored: pa.DataType, arriving: pa.DataType
) -> None:
    table = world.declare(KEYED)
    table.land(pa.table({"k": ["a"], "v": pa.nulls(1, stored)}))
    before = files_below(world.root)
    error = refused("StoreSchemaMismatch", lambda: table.land(pa.table({"k": ["a"], "v": pa.nulls(1, arriving)})))
    assert f"column v is stored as {stored} and arrives as {arriving}" in str(error)
    assert files_below(world.root) == before


@pytest.mark.parametrize(("stored", "arriving"), [(pa.int64(), pa.float64()), (pa.float64(), pa.int64())])
def test_a_key_never_widens(world: World, stored: pa.DataType, arriving: pa.DataType) -> None:
    table = world.declare(KEYED)
    table.land(pa.table({"k": pa.array([1], stored)}))
    assert "a key never changes" in str(
        refused("StoreSchemaMismatch", lambda: table.land(pa.table({"k": pa.array([1], arriving)}))).diagnostics[0].fix
    )


def test_columns_that_the_declaration_stands_on_must_arrive(world: World) -> None:
    table = world.declare(KEYED)
    assert "column k of the primary key" in str(
        refused("StoreSchemaMismatch", lambda: table.land(pa.table({"v": [1]})))
    )
    assert "is null in some rows" in str(refused("StoreSchemaMismatch", lambda: table.land(TABLE)))
    for no_key in (pa.array([[1]]), pa.array([1], pa.decimal256(50, 0)), pa.array([b"x" * 16], pa.uuid())):
        refused("StoreSchemaMismatch", lambda no_key=no_key: table.land(pa.table({"k": no_key})))
    assert table.log.head().number == 1


@pytest.mark.parametrize("name", ["_run_id", "_ingested_at", "_row_seq", "_commit_seq", "_available_imputed", "_x"])
def test_reserved_names_are_refused_before_a_byte_is_written(world: World, name: str) -> None:
    table = world.declare(PLAIN)
    refused("StoreColumnReserved", lambda: table.land(pa.table({name: [1]})))
    assert files_below(world.root / "tables/t") == ["log/00000000000000000001.json"]


def test_a_column_twice_is_refused(world: World) -> None:
    table = world.declare(PLAIN)
    twice = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(StrataError, match="twice"):
        table.land(twice)


def test_replace_hides_what_came_before_and_as_of_still_shows_it(world: World) -> None:
    table = world.declare(KEYED)
    first = table.land(rows({"k": pa.string(), "v": pa.int64()}, ("a", 1), ("b", 2)))
    table.fold()
    table.land(rows({"k": pa.string(), "v": pa.int64()}, ("c", 3)), mode="replace")
    for _ in range(2):
        assert landed(world) == [{"k": "c", "v": 3}]
        assert table.read(as_of=first.ingested_at).arrow().num_rows == 2
        table.fold()


def test_a_table_of_vintages_is_not_replaced(world: World) -> None:
    from .conftest import GDP, gdp

    table = world.declare(GDP)
    refused("StoreRunInvalid", lambda: table.land(gdp((1.0, "2014-04-30")), mode="replace"))


def test_a_run_id_lands_once_however_often_it_is_tried(world: World) -> None:
    table = world.declare(KEYED)
    data = rows({"k": pa.string(), "v": pa.int64()}, ("a", 1))
    first = table.land(data, run_id="2026-01-01")
    world.clock.advance(days=1)
    again = world.reopened().tables.table("t").land(data, run_id="2026-01-01")
    assert (again.repeated, again.commit_seq, again.ingested_at) == (True, first.commit_seq, first.ingested_at)
    other = rows({"k": pa.string(), "v": pa.int64()}, ("a", 2))
    assert "with other rows" in str(refused("StoreRunConflict", lambda: table.land(other, run_id="2026-01-01")))
    refused("StoreRunConflict", lambda: table.land(data, run_id="2026-01-01", mode="replace"))
    assert landed(world) == [{"k": "a", "v": 1}]
    assert len(list((world.root / "tables/t/data/runs/2026-01-01").glob("*/part-*"))) == 1


def test_a_run_id_lands_once_also_after_a_column_has_widened(world: World) -> None:
    table = world.declare(KEYED)
    data = rows({"v": pa.int64(), "k": pa.string(), "n": pa.null()}, (1, "a", None))
    table.land(rows({"k": pa.string(), "n": pa.int64()}, ("z", 1)))
    table.land(data, run_id="r")
    table.land(rows({"k": pa.string(), "v": pa.float64()}, ("b", 0.5)))
    assert table.land(data, run_id="r").repeated
    refused("StoreRunConflict", lambda: table.land(data.slice(0, 0), run_id="r"))


def test_a_run_id_lands_once_when_two_land_it_at_the_same_time(world: World) -> None:
    table, other = world.declare(KEYED), world.reopened().tables.table("t")
    data = rows({"k": pa.string(), "v": pa.int64()}, ("a", 1))
    real, raced = landing._Attempt._try, []

    def raced_try(attempt: Any, *arguments: Any) -> Any:
        if not raced:
            raced.append(None)
            raced[0] = other.land(data, run_id="r")
        return real(attempt, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landing._Attempt, "_try", raced_try)
        run = table.land(data, run_id="r")
    assert run.repeated
    assert run.commit_seq == raced[0].commit_seq
    assert table.log.head().number == 2


def test_the_loser_of_a_race_takes_the_next_stamp_and_writes_no_part_anew(world: World) -> None:
    table, other = world.declare(KEYED), world.reopened().tables.table("t")
    real, raced = landing._Attempt._try, []

    def raced_try(attempt: Any, *arguments: Any) -> Any:
        if not raced:
            raced.append(None)
            other.land(rows({"k": pa.string(), "w": pa.float64()}, ("b", 0.5)))
            raced.append(sorted((world.root / "tables/t/data").rglob("part-*")))
        return real(attempt, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landing._Attempt, "_try", raced_try)
        run = table.land(rows({"k": pa.string(), "v": pa.int64()}, ("a", 1)))
    assert run.commit_seq == 3
    assert raced[1] == sorted((world.root / "tables/t/data").rglob("part-*"))
    assert landed(world) == [{"k": "b", "w": 0.5, "v": None}, {"k": "a", "w": None, "v": 1}]


def test_a_race_that_makes_the_types_clash_is_refused_and_leaves_nothing(world: World) -> None:
    table, other = world.declare(KEYED), world.reopened().tables.table("t")
    real, raced = landing._Attempt._try, []

    def raced_try(attempt: Any, *arguments: Any) -> Any:
        if not raced:
            raced.append(None)
            other.land(rows({"k": pa.string(), "v": pa.string()}, ("b", "x")))
        return real(attempt, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(landing._Attempt, "_try", raced_try)
        refused(
            "StoreSchemaMismatch", lambda: table.land(rows({"k": pa.string(), "v": pa.int64()}, ("a", 1)), run_id="x")
        )
    assert landed(world) == [{"k": "b", "v": "x"}]
    assert files_below(world.root / "tables/t/data/runs/x") == []


@pytest.mark.parametrize("run_id", ["../x", "", "a/b", ".hidden", "x" * 129, "a\nb"])
def test_a_run_id_is_a_name(world: World, run_id: str) -> None:
    table = world.declare(PLAIN)
    if run_id:
        refused("StoreRunInvalid", lambda: table.land(TABLE, run_id=run_id))
    else:
        assert table.land(TABLE, run_id=run_id).run_id.startswith("run-")


def test_rows_that_fail_on_the_way_leave_nothing(world: World) -> None:
    table = world.declare(PLAIN)

    def batches() -> Any:
        yield TABLE.to_batches()[0]
        raise pa.ArrowInvalid("the source broke off")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    refused("StoreSourceInvalid", lambda: table.land(reader, run_id="broken"))
    assert files_below(world.root / "tables/t") == ["log/00000000000000000001.json"]
    assert table.land(TABLE, run_id="broken").rows == 3


def test_an_empty_landing_is_a_run(world: World) -> None:
    table = world.declare(KEYED)
    assert table.land(rows({"k": pa.string()})).rows == 0
    assert table.read().arrow().num_rows == 0
    assert table.fold() is not None
    assert table.read().arrow().num_rows == 0


def test_a_lazy_read_takes_the_columns_and_rows_that_its_query_needs(world: World) -> None:
    table = world.declare(PLAIN)
    table.land(pa.table({"k": list("abcdef"), "v": range(6)}))
    lazy = table.read().lazy()
    assert lazy.collect_schema() == pl.Schema({"k": pl.String, "v": pl.Int64})
    assert lazy.filter(pl.col("v") > 3).select("k").collect().to_series().to_list() == ["e", "f"]
    assert lazy.head(2).collect().height == 2
    assert lazy.select(pl.len()).collect().item() == 6
    assert lazy.filter(pl.col("v") > 3).select(pl.len()).collect().item() == 2
    refused("StoreColumnUnknown", lambda: table.read(columns=[]))


def test_nested_and_rare_types_come_back_as_they_landed(world: World) -> None:
    table = world.declare(KEYED)
    data = pa.table(
        {
            "k": ["a", "b"],
            "list": pa.array([[1, None], None], pa.list_(pa.int64())),
            "struct": pa.array([{"x": 1}, None], pa.struct([("x", pa.int64())])),
            "map": pa.array([[("x", 1)], None], pa.map_(pa.string(), pa.int64())),
            "big": pa.array([10**50, None], pa.decimal256(60, 0)),
            "bytes": pa.array([b"\x00\xff", None], pa.binary()),
            "ns": pa.array([1, None], pa.timestamp("ns", "UTC")),
            "time": pa.array([dt.time(1, 2, 3), None], pa.time64("us")),
        }
    )
    table.land(data)
    for _ in range(2):
        assert table.read().arrow().equals(data)
        table.fold()


def test_a_table_that_leads_out_of_the_store_is_refused(folder_world: World, tmp_path: Path) -> None:
    world = folder_world
    (tmp_path / "elsewhere").mkdir()
    (world.root / "tables").mkdir(parents=True)
    (world.root / "tables" / "t").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StrataError, match="leads out of the store"):
        world.declare(PLAIN)
    assert list((tmp_path / "elsewhere").iterdir()) == []
