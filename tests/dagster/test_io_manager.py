"""Assets in Python land in the store and are read from it, on a real instance."""

# Without postponed annotations: Dagster compares those of an op with types.

import datetime as dt
from pathlib import Path

import dagster as dg
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from strata_core.store import Store
from strata_dagster import StrataIOManager

GDP = """
[[pipeline.tables]]
name = "gdp"
primary_key = ["series"]
content_hash_column = "content_hash"
[pipeline.tables.available_time]
column = "published"
"""
VINTAGES = [(17149.6, "2014-04-30"), (17101.3, "2014-05-29"), (17016.0, "2014-06-25")]


def vintages() -> pa.Table:
    return pa.table(
        {
            "series": ["gdp"] * 3,
            "published": pa.array([dt.date.fromisoformat(day) for _, day in VINTAGES], pa.date32()),
            "value": [value for value, _ in VINTAGES],
            "content_hash": ["a", "b", "c"],
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store.open(tmp_path / "store")
    made.declare(GDP)
    return made


def run(store: Store, *assets: dg.AssetsDefinition, fails: bool = False, **how: object) -> dg.ExecuteInProcessResult:
    resources = {"io_manager": StrataIOManager(store=str(store.root))}
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(assets, resources=resources, instance=instance, raise_on_error=False, **how)
    assert result.success is not fails
    return result


@dg.asset
def gdp() -> pa.Table:
    return vintages()


def test_what_an_asset_returns_lands_with_its_metadata_and_is_read_within_bounds(store: Store) -> None:
    seen: dict[str, object] = {}

    @dg.asset(ins={"gdp": dg.AssetIn(metadata={"available_as_of": "2014-06-01"})})
    def known(gdp: pa.Table) -> None:
        seen["known"] = gdp.column("value").to_pylist()

    @dg.asset
    def latest(gdp: pl.DataFrame) -> None:
        seen["latest"] = gdp["value"].to_list()

    @dg.asset(ins={"gdp": dg.AssetIn(metadata={"vintage": "first"})})
    def first(gdp: pl.LazyFrame) -> None:
        seen["first"] = gdp.collect()["value"].to_list()

    @dg.asset
    def in_pandas(gdp: pd.DataFrame) -> None:
        seen["in_pandas"] = gdp["value"].tolist()

    @dg.asset
    def streamed(gdp: pa.RecordBatchReader) -> None:
        seen["streamed"] = gdp.read_all().column("value").to_pylist()

    @dg.asset
    def plain(gdp) -> None:  # type: ignore[no-untyped-def]
        seen["plain"] = gdp.column("value").to_pylist()

    result = run(store, gdp, known, latest, first, in_pandas, streamed, plain)
    assert seen == {
        "known": [17101.3],
        "latest": [17016.0],
        "first": [17149.6],
        "in_pandas": [17016.0],
        "streamed": [17016.0],
        "plain": [17016.0],
    }
    (event,) = [e for e in result.get_asset_materialization_events() if e.asset_key == gdp.key]
    metadata = event.step_materialization_data.materialization.metadata
    assert {name: metadata[name].value for name in ("table", "dagster/row_count", "commit", "repeated")} == {
        "table": "gdp",
        "dagster/row_count": 3,
        "commit": 2,
        "repeated": False,
    }
    told = [e for e in result.all_node_events if e.event_type_value == "LOADED_INPUT"]
    bounds = [
        e.event_specific_data.metadata["bounds"].value for e in told if "bounds" in e.event_specific_data.metadata
    ]
    assert {"available_as_of": "2014-06-02T00:00:00.000000000Z", "inclusive": False} in bounds


@pytest.mark.parametrize(
    ("written", "meant"),
    [("availabel_as_of", "available_as_of"), ("As_Of", "as_of"), ("as_of_date", "as_of"), ("vintages", "vintage")],
)
def test_a_bound_that_is_misspelled_is_refused_and_not_left_out(store: Store, written: str, meant: str) -> None:
    @dg.asset(ins={"gdp": dg.AssetIn(metadata={written: "2014-06-01"})})
    def known(gdp: pa.Table) -> None: ...

    failed = run(store, gdp, known, fails=True)
    (told,) = [e.step_failure_data.user_failure_data.description for e in failed.all_events if e.is_step_failure]
    assert told == f"gdp: `{written}` in the metadata of the input bounds nothing: did you mean `{meant}`?"


def test_metadata_of_an_input_that_bounds_nothing_is_left_alone(store: Store) -> None:
    @dg.asset(ins={"gdp": dg.AssetIn(metadata={"owner": "ana", "version": 3, "team/as_off": "x"})})
    def known(gdp: pa.Table) -> None: ...

    run(store, gdp, known)


def test_a_frame_of_pandas_lands(store: Store) -> None:
    @dg.asset(metadata={"strata/table": "gdp"})
    def frame() -> pd.DataFrame:
        return vintages().to_pandas()

    run(store, frame)
    assert store.table("gdp").read(vintage="all").arrow().column("value").to_pylist() == [17149.6, 17101.3, 17016.0]


def test_a_restatement_that_restates_nothing_lands_nothing_in_another_run(store: Store) -> None:
    @dg.asset(metadata={"strata/table": "gdp"})
    def newest() -> pa.Table:
        return vintages().slice(2)

    run(store, newest)
    run(store, newest)
    rows = [entry.commit.rows for entry in store.table("gdp").history() if entry.newest.run == entry.number]
    assert rows == [0, 1]


def test_a_step_that_is_tried_again_lands_once(store: Store) -> None:
    store.declare('[[pipeline.tables]]\nname = "tries"\n')
    tried = []

    @dg.asset
    def tries() -> pa.Table:
        return pa.table({"n": [1]})

    @dg.asset_check(asset=tries, blocking=True)
    def soundness(tries: pa.Table) -> dg.AssetCheckResult:
        tried.append(tries.num_rows)
        return dg.AssetCheckResult(passed=True)

    manager = StrataIOManager(store=str(store.root))

    def step(value: int) -> None:
        context = dg.build_output_context(asset_key=tries.key, run_id="r1", definition_metadata={})
        manager.handle_output(context, pa.table({"n": [value]}))

    step(1)
    step(1)
    assert store.table("tries").read().arrow().num_rows == 1
    with pytest.raises(dg.Failure, match=r"run dagster-r1-[0-9a-f]{16} has landed before"):
        step(2)
    run(store, tries, soundness)
    assert tried == [2]


def test_a_table_may_have_another_name_and_be_replaced(store: Store) -> None:
    store.declare('[[pipeline.tables]]\nname = "levels"\n')
    seen = []

    @dg.asset(metadata={"strata/table": "levels", "strata/mode": "replace"})
    def daily() -> pl.DataFrame:
        return pl.DataFrame({"n": [1, 2]})

    @dg.asset
    def reader(daily: pa.Table) -> None:
        seen.append(daily.column("n").to_pylist())

    run(store, daily, reader)
    run(store, daily, reader)
    assert seen == [[1, 2], [1, 2]]


def test_each_partition_of_a_run_lands(store: Store) -> None:
    store.declare('[[pipeline.tables]]\nname = "days"\n')

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["2014/01/01", "2014/01/02"]))
    def days(context: dg.AssetExecutionContext) -> pa.Table:
        return pa.table({"day": [context.partition_key]})

    for key in ("2014/01/01", "2014/01/02"):
        run(store, days, partition_key=key)
    assert store.table("days").read().arrow().column("day").to_pylist() == ["2014/01/01", "2014/01/02"]


def test_a_refusal_of_the_store_fails_the_step_with_its_own_words(store: Store) -> None:
    @dg.asset
    def unknown() -> pa.Table:
        return pa.table({"n": [1]})

    @dg.asset(ins={"gdp": dg.AssetIn(metadata={"valid_as_of": "2014-06-01"})})
    def asked(gdp: pa.Table) -> None:
        raise AssertionError("it has no such clock")

    (failed,) = [e for e in run(store, unknown, fails=True).all_node_events if e.is_step_failure]
    assert "unknown: error[E096]: StoreTableUndeclared: there is no table unknown" in str(
        failed.step_failure_data.error
    )
    (failed,) = [e for e in run(store, gdp, asked, fails=True).all_node_events if e.is_step_failure]
    assert "StoreValidTimeUndeclared: table gdp declares no valid_time" in str(failed.step_failure_data.error)
