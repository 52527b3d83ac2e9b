"""Landing as an asset, on a real instance: files and frames, once a run, and nothing where nothing is new."""

# Without postponed annotations: Dagster compares those of an op with types.

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pandas as pd
import polars as pl
import pytest

from strata_core.store import Store
from strata_dagster import Landing, StrataIOManager, land, strata_land_assets

TABLES = """
[[pipeline.tables]]
name = "events"
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
content_hash_column = "h"
[pipeline.tables.available_time]
column = "published"
"""


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    made = Store.open(tmp_path / "store")
    made.declare(TABLES)
    return made


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def run(instance: dg.DagsterInstance, *assets: dg.AssetsDefinition, **how: object) -> dg.ExecuteInProcessResult:
    return dg.materialize([*assets], instance=instance, raise_on_error=False, **how)


def events_asset(**given: object) -> dg.AssetsDefinition:
    (asset,) = strata_land_assets([Landing("events", "drop/*.csv", **given)], store="store")
    return asset


def metadata(result: dg.ExecuteInProcessResult, kind: str = "materialization") -> dict[str, object]:
    if kind == "materialization":
        (event,) = result.get_asset_materialization_events()
        found = event.step_materialization_data.materialization
    else:
        (event,) = result.get_asset_observation_events()
        found = event.asset_observation_data.asset_observation
    return {name: value.value for name, value in found.metadata.items()}


def checks(result: dg.ExecuteInProcessResult) -> list[tuple[str, bool, str | None]]:
    return [(e.check_name, e.passed, e.description) for e in result.get_asset_check_evaluations()]


def rows(store: Store, table: str = "events") -> int:
    return store.table(table).read().arrow().num_rows


def test_files_land_with_their_metadata_and_once(store: Store, instance: dg.DagsterInstance) -> None:
    Path("drop").mkdir()
    Path("drop/b.csv").write_text("n\n3\n")
    Path("drop/a.csv").write_text("n\n1\n2\n")
    asset = events_asset(group_name="raw", description="what happened")
    first = run(instance, asset)
    assert first.success
    told = metadata(first)
    assert (told["table"], told["dagster/row_count"], told["commit"]) == ("events", 3, 2)
    assert told["files"] == ["drop/a.csv", "drop/b.csv"]
    assert str(told["run"]).startswith(f"dagster-{first.run_id}-")
    assert checks(first) == [("landing", True, None)]
    again = run(instance, asset)
    assert again.success
    assert again.get_asset_materialization_events() == []
    assert metadata(again, "observation")["reason"] == f"landed before, as {told['run']}"
    assert rows(store) == 3
    Path("drop/a.csv").unlink()
    Path("drop/b.csv").write_text("n,note\n4,late\n")
    third = run(instance, asset)
    assert metadata(third)["schema_changes"] == ["new column note: string"]
    assert rows(store) == 4


def test_what_the_table_does_not_take_fails_the_check_and_lands_nothing(
    store: Store, instance: dg.DagsterInstance
) -> None:
    Path("drop").mkdir()
    Path("drop/a.csv").write_text("n\n1\n")
    asset = events_asset()
    assert run(instance, asset).success
    Path("drop/a.csv").write_text("n\nmany\n")
    seen = []

    @dg.asset(deps=[asset])
    def downstream() -> None:
        seen.append("ran")

    pl.DataFrame({"n": ["many"]}).write_parquet("drop/a.parquet")
    (parquet,) = strata_land_assets([Landing("events", "drop/*.parquet")], store="store")
    refused = run(instance, parquet, downstream)
    assert not refused.success
    ((name, passed, told),) = checks(refused)
    assert (name, passed) == ("landing", False)
    assert "StoreSchemaMismatch: table events: column n is stored as int64 and arrives as string" in str(told)
    assert "cast n to int64 before it lands" in str(told)
    assert seen == []
    assert rows(store) == 1
    unreadable = run(instance, asset)
    assert "StoreSourceInvalid" in str(checks(unreadable)[0][2])


def test_text_that_is_not_utf8_fails_the_check_and_lands_nothing(store: Store, instance: dg.DagsterInstance) -> None:
    Path("drop").mkdir()
    Path("drop/a.csv").write_bytes(b"n,name\n1,caf\xe9\n")
    refused = run(instance, events_asset())
    ((_, passed, told),) = checks(refused)
    assert (refused.success, passed) == (False, False)
    assert "a.csv cannot be read: column name is not UTF-8" in str(told)
    assert "save the file as UTF-8" in str(told)


def test_a_function_that_finds_no_file_lands_nothing(store: Store, instance: dg.DagsterInstance) -> None:
    @land(table="events", store="store")
    def events() -> list[str]:
        return []

    assert run(instance, events).success
    assert rows(store) == 0


def test_what_cannot_land_is_told_when_the_code_location_loads() -> None:
    def refused(give: Callable[[], object]) -> str:
        with pytest.raises(dg.DagsterInvalidDefinitionError) as told:
            give()
        return str(told.value)

    def fetched(context: object, other: object) -> None: ...

    assert refused(lambda: Landing("events", "a.csv", mode="upsert")) == (  # type: ignore[arg-type]
        "the landing in `events` is `append` or `replace`, not `upsert`"
    )
    for files in (None, 5, [None]):
        assert refused(lambda given=files: Landing("events", given)) == (  # type: ignore[misc]
            f"the landing in `events` names files by a text or several, not by {files!r}"
        )
    assert refused(lambda: land(table="events", store="store")(fetched)) == (
        "`fetched`, which lands in `events`, takes the context, or nothing, and not context, other"
    )


def test_a_frame_lands_and_a_restatement_of_nothing_is_an_observation(
    store: Store, instance: dg.DagsterInstance
) -> None:
    @land(table="gdp", store="store", key="raw/gdp")
    def fetched() -> pl.DataFrame:
        """What the bureau publishes."""
        frame = pl.DataFrame({"series": ["gdp"], "published": ["2014-04-30"], "value": [17149.6], "h": ["a"]})
        return frame.with_columns(pl.col("published").str.to_date())

    seen = []

    @dg.asset(ins={"gdp": dg.AssetIn(key=["raw", "gdp"])}, io_manager_key="io_manager")
    def downstream(gdp: pl.DataFrame) -> None:
        seen.append(gdp["value"].to_list())

    resources = {"io_manager": StrataIOManager(store="store")}
    first = run(instance, fetched, downstream, resources=resources)
    assert first.success
    assert seen == [[17149.6]]
    assert fetched.descriptions_by_key[dg.AssetKey(["raw", "gdp"])] == "What the bureau publishes."
    second = run(instance, fetched, downstream, resources=resources)
    assert second.success
    assert metadata(second, "observation")["reason"] == "no row says anything new"
    assert seen == [[17149.6]]
    assert rows(store, "gdp") == 1


def test_a_frame_of_pandas_lands_in_the_group_that_is_given(store: Store, instance: dg.DagsterInstance) -> None:
    @land(table="events", store="store", group_name="raw", description="As they come.")
    def events() -> pd.DataFrame:
        return pd.DataFrame({"id": [1, 2], "amount": [0.5, None]})

    assert run(instance, events).success
    assert store.table("events").read().arrow().to_pylist() == [{"id": 1, "amount": 0.5}, {"id": 2, "amount": None}]
    (spec,) = events.specs
    assert (spec.group_name, spec.description) == ("raw", "As they come.")


def test_nothing_is_landed_where_the_function_has_nothing(store: Store, instance: dg.DagsterInstance) -> None:
    @land(table="events", store="store")
    def events(context: dg.AssetExecutionContext) -> None:
        context.log.info("asked")

    result = run(instance, events)
    assert result.success
    assert metadata(result, "observation") == {"table": "events", "reason": "nothing is there"}


def test_each_partition_lands_as_its_own_run(store: Store, instance: dg.DagsterInstance) -> None:
    Path("drop").mkdir()
    days = dg.StaticPartitionsDefinition(["2024-01-01", "2024-01-02", "../x"])
    (asset,) = strata_land_assets([Landing("events", "drop/{partition}.csv", partitions_def=days)], store="store")
    for n, day in enumerate(("2024-01-01", "2024-01-02")):
        Path(f"drop/{day}.csv").write_text(f"n\n{n}\n")
        assert run(instance, asset, partition_key=day).success
    assert rows(store) == 2
    again = run(instance, asset, partition_key="2024-01-01")
    assert str(metadata(again, "observation")["reason"]).startswith("landed before, as dagster-")
    assert rows(store) == 2
    outside = run(instance, asset, partition_key="../x")
    assert not outside.success
    Path("drop/2024-01-02.csv").unlink()
    absent = run(instance, asset, partition_key="2024-01-02")
    assert not absent.success
    assert "2024-01-02.csv" in str(checks(absent)[0][2])


def test_a_function_lands_each_partition_that_it_is_asked_for_once(store: Store, instance: dg.DagsterInstance) -> None:
    days = dg.DailyPartitionsDefinition("2024-01-01", end_date="2024-01-04")

    @land(table="events", store="store", partitions_def=days)
    def events(context: dg.AssetExecutionContext) -> pl.DataFrame | None:
        day = int(context.partition_key[-2:])
        return pl.DataFrame({"n": [day, day * 10]}) if day < 3 else None

    assert events.partitions_def == days
    for day in ("2024-01-01", "2024-01-02"):
        assert run(instance, events, partition_key=day).success
    assert rows(store) == 4
    nothing = run(instance, events, partition_key="2024-01-03")
    assert metadata(nothing, "observation") == {"table": "events", "reason": "nothing is there"}
    assert instance.get_materialized_partitions(dg.AssetKey("events")) == {"2024-01-01", "2024-01-02"}


def test_a_run_that_is_tried_again_lands_once(store: Store, instance: dg.DagsterInstance) -> None:
    """The rows were committed, and the process died before Dagster knew."""
    Path("drop").mkdir()
    Path("drop/a.csv").write_text("n\n1\n")
    asset = events_asset()
    job = dg.Definitions(assets=[asset], jobs=[dg.define_asset_job("job")]).resolve_job_def("job")
    same = "00000000-0000-4000-8000-000000000001"
    first = job.execute_in_process(run_id=same, instance=instance)
    assert metadata(first)["repeated"] is False
    with dg.DagsterInstance.ephemeral() as other:
        second = job.execute_in_process(run_id=same, instance=other)
    assert metadata(second)["repeated"] is True
    assert rows(store) == 1


def test_a_store_that_has_lost_the_run_takes_the_files_again(store: Store, instance: dg.DagsterInstance) -> None:
    Path("drop").mkdir()
    Path("drop/a.csv").write_text("n\n1\n")
    asset = events_asset()
    assert run(instance, asset).success
    Path("store").rename("lost")
    Store.open(Path("store")).declare(TABLES)
    assert run(instance, asset).get_asset_materialization_events() != []


def test_a_path_of_partitions_needs_partitions() -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="give it a `partitions_def`"):
        Landing("events", "drop/{partition}.csv")


def test_a_table_that_is_not_declared_is_told(store: Store, instance: dg.DagsterInstance) -> None:
    (asset,) = strata_land_assets([Landing("evnts", "drop/*.csv")], store="store")
    result = run(instance, asset)
    assert not result.success
    assert "StoreTableUndeclared" in str(checks(result)[0][2])
