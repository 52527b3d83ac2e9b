"""`partition_by` (language.md, "Statements"): how the table lies on disk, and what is read of it."""

from __future__ import annotations

import pytest

from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.planning.fingerprints import fingerprints
from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_
from strata_core.store import Artifact

from .conftest import Shop

SOURCE = 'source sales(csv: "sales.csv") { columns: { id: int64 primary_key, day: date, kind: string, n: int64 } }\n'
MODEL = "model m { from sales partition_by: [day, kind] sort { -n } }\n"
ROWS = (
    "id,day,kind,n\n1,2024-01-02,a,1\n2,2024-01-01,b,5\n3,2024-01-01,a,7\n4,,a,3\n5,2024-01-01,a,8\n6,2024-01-02,,2\n"
)


@pytest.fixture
def sales(tmp_path) -> Shop:
    made = Shop(tmp_path / "sales")
    made.write("strata.toml", '[engine]\nname = "reference"\n')
    made.write("models/sales.strata", SOURCE + MODEL)
    made.write("sales.csv", ROWS)
    return made


def live(shop: Shop, model: str = "m") -> Artifact:
    store = shop.workspace().store
    return store.artifact(model, store.environment("prod").head().models[model])


def test_parts_are_named_by_their_partition_and_rows_keep_their_order_within(sales) -> None:
    sales.apply()
    assert [(p.rows, dict(p.partition or {})) for p in live(sales).manifest.parts] == [
        (2, {"day": "2024-01-01", "kind": "a"}),
        (1, {"day": "2024-01-01", "kind": "b"}),
        (1, {"day": "2024-01-02", "kind": "a"}),
        (1, {"day": "2024-01-02", "kind": None}),
        (1, {"day": None, "kind": "a"}),
    ]
    assert [r["id"] for r in sales.rows("m")] == [5, 3, 2, 1, 6, 4]


def test_both_engines_write_the_same_bytes(sales) -> None:
    sales.apply()
    before = sales.artifact_bytes("m")
    sales.apply(force=True, engine=DuckDBEngine(EngineSettings("256MiB", 1)))
    assert sales.artifact_bytes("m") == before


def test_only_the_files_of_a_partition_are_read(sales) -> None:
    sales.apply()
    artifact = live(sales)
    for path, part in zip(artifact.paths, artifact.manifest.parts, strict=True):
        if part.partition != {"day": "2024-01-01", "kind": "a"}:
            path.write_bytes(b"no Parquet")
    read = published_rows(
        sales.project, compile_(sales.project), "m", "prod", partition={"day": "2024-01-01", "kind": "a"}
    )
    assert (read.total, [r["id"] for r in read.reader.read_all().to_pylist()]) == (2, [5, 3])


def shown(sales: Shop, **partition: str) -> list[int]:
    read = published_rows(sales.project, compile_(sales.project), "m", "prod", partition=partition)
    found = [r["id"] for r in read.reader.read_all().to_pylist()]
    assert len(found) == read.total
    return found


def test_partitions_by_some_of_the_columns(sales) -> None:
    sales.apply()
    assert shown(sales, day="2024-01-01") == [5, 3, 2]
    assert shown(sales, kind="none") == [6]
    assert shown(sales, day="none") == [4]
    assert shown(sales, day="1999-01-01") == []
    with pytest.raises(StrataError) as error:
        shown(sales, id="1")
    assert [(d.code, d.message, d.fix) for d in error.value.diagnostics] == [
        ("E021", "`m` is not laid out by `id`", "it is laid out by day, kind")
    ]


def test_the_layout_is_part_of_what_a_model_means(sales) -> None:
    prints: list[str] = []
    for text in (MODEL, MODEL.replace("[day, kind]", "[kind, day]"), MODEL.replace("partition_by: [day, kind] ", "")):
        sales.write("models/sales.strata", SOURCE + text)
        prints.append(fingerprints(compile_(sales.project))["m"].local)
    assert len(set(prints)) == 3


def test_a_contract_lays_a_table_out(sales) -> None:
    contract = "contract C { id: int64 primary_key  day: date partition_by }\n"
    sales.write("models/sales.strata", SOURCE + contract + "model m -> contract C { from sales select { id, day } }\n")
    sales.apply()
    assert [dict(p) for p in live(sales).partitions] == [{"day": "2024-01-01"}, {"day": "2024-01-02"}, {"day": None}]


def test_an_incremental_model_is_laid_out_too(sales, tmp_path) -> None:
    text = SOURCE + "model m { from sales filter n is not none partition_by: [day] incremental { cursor: id } }\n"
    sales.write("models/sales.strata", text)
    sales.apply()
    more = ROWS + "7,2024-01-01,c,1\n8,2024-01-03,c,1\n"
    sales.write("sales.csv", more)
    assert str(sales.result("m").way).startswith("incremental")
    other = Shop(tmp_path / "other")
    for path, content in (("models/sales.strata", text), ("sales.csv", more), ("strata.toml", "")):
        other.write(path, content)
    other.apply()
    assert sales.artifact_bytes("m") == other.artifact_bytes("m")
    assert live(sales).manifest.parts == live(other).manifest.parts
