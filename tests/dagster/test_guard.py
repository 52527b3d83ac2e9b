"""`guard`: the write pin of a contract on assets that others make (row 1 of the table in design `dagster.md`)."""

# Without postponed annotations: Dagster compares those of an op with types.

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import dagster as dg
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_dagster import StrataResource, guard

from .guarded import CONTRACT, GOOD, OWN, Place, Run, rows


@pytest.fixture
def place(guarded_shop: Place) -> Place:
    return guarded_shop


@dg.asset
def report(orders: Any) -> int:
    """Stands downstream."""
    return len(orders)


def test_rows_that_keep_their_contract_are_handed_on_kept_and_materialized_with_their_digest(place) -> None:
    run = place.run(place.orders(rows()), report)
    assert run.success, run.failure
    made = run.made["orders"]
    assert made.tags["dagster/data_version"] == made.metadata["digest"].value
    assert {n: made.metadata[n].value for n in ("dagster/row_count", "reused", "environment_version", "contract")} == {
        "dagster/row_count": 2,
        "reused": False,
        "environment_version": 1,
        "contract": "shop.orders/orders",
    }
    assert set(run.checks) == OWN
    assert place.memory.kept["report"] == 2
    assert place.live() == [
        {"country": "ES", "email": "‹masked›", "id": 1},
        {"country": "MX", "email": "‹masked›", "id": 2},
    ]
    for check in run.checks.values():
        assert check.target_materialization_data.run_id == run.result.run_id


def test_row_1_a_violation_hands_nothing_on_keeps_the_check_and_materializes_nothing(place) -> None:
    first = place.run(place.orders(rows()), report)
    before, handed = place.live(), dict(place.memory.kept)
    run = place.run(place.orders(rows(country=["MX", "FR"])), report)
    assert not run.success
    assert run.made == {}
    assert place.memory.kept == handed
    pin = run.checks["write_pin"]
    assert (pin.passed, pin.severity.value, pin.blocking) == (False, "ERROR", True)
    assert pin.target_materialization_data.run_id == first.result.run_id
    assert pin.metadata["offenders/country enum"].value == 1
    assert "**Not published**; version 1 of prod stays live" in pin.metadata["write_pin"].value
    assert run.checks["last_known_good"].passed
    assert "contract violated: orders" in run.failure
    assert "version 1 of prod stays live" in run.failure
    assert place.live() == before
    assert set(run.checks) == OWN


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_violation_is_never_retried_and_a_fault_of_the_store_is(place, attempt) -> None:
    policy = dg.RetryPolicy(max_retries=1)
    if attempt == 1:
        run = place.run(place.orders(rows(country=["MX", "FR"]), retry_policy=policy))
        assert run.retries == 0
    else:
        place.write(".strata/store", "a file where the store should be")
        run = place.run(place.orders(rows(), retry_policy=policy))
        assert run.retries == 1
    assert not run.success
    assert set(run.checks) == OWN
    assert not run.checks["write_pin"].passed


def test_severities_map_as_seed_2_has_them_and_results_of_experimental_ones_are_for_owners(place) -> None:
    run = place.run(place.orders(rows(id=[101, 102], email=[None, "x"], country=["ES", "ES"]).head(1)))
    assert run.success, run.failure
    assert {n: (c.passed, c.severity.value, c.blocking) for n, c in run.checks.items() if n in OWN} == {
        "write_pin": (True, "ERROR", True),
        "positive": (True, "WARN", True),
        "many": (False, "WARN", False),
        "known": (False, "WARN", False),
        "try_out": (True, "ERROR", False),
        "last_known_good": (True, "ERROR", False),
        "freshness": (True, "WARN", False),
    }
    assert run.checks["many"].metadata["offenders"].value == 1
    assert run.checks["known"].description.startswith("informational: failed: a row is wrong")
    assert run.checks["try_out"].description == "experimental: its result is for the owners, in the runtime view"
    assert "offenders" not in run.checks["try_out"].metadata
    blocked = place.run(place.orders(rows(id=[-1, 1])))
    assert not blocked.success
    assert blocked.made == {}
    assert blocked.checks["positive"].metadata["offenders"].value == 1
    assert "E144" in blocked.checks["write_pin"].description


FRAMES = {
    "polars": lambda: rows(),
    "lazy": lambda: rows().lazy(),
    "pandas": lambda: pd.DataFrame(GOOD).astype({"country": "string", "email": "string"}),
    "table": lambda: rows().to_arrow(),
    "batch": lambda: rows().to_arrow().to_batches()[0],
    "reader": lambda: rows().to_arrow().to_reader(),
    "output": lambda: dg.Output(rows(), metadata={"mine": 1}),
    "result": lambda: dg.MaterializeResult(value=rows(), metadata={"mine": 1}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_is_looked_at_and_handed_on(place, kind) -> None:
    run = place.run(place.orders(FRAMES[kind]))
    assert run.success, run.failure
    assert len(place.live()) == 2
    handed = place.memory.kept["orders"]
    if kind == "reader":
        assert handed.read_all().num_rows == 2
    elif kind == "lazy":
        assert isinstance(handed, pl.LazyFrame)
        assert handed.collect().equals(rows())
    else:
        assert len(handed) == 2 if not isinstance(handed, pa.RecordBatch) else handed.num_rows == 2
    if kind in ("output", "result"):
        assert run.made["orders"].metadata["mine"].value == 1


def test_a_lazy_frame_is_computed_once_so_that_what_was_judged_is_what_is_handed_on(place) -> None:
    times = []

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        times.append(1)
        return frame

    run = place.run(place.orders(lambda: rows().lazy().map_batches(counted)), report_of_lazy)
    assert run.success, run.failure
    assert len(times) == 1


@dg.asset(ins={"orders": dg.AssetIn()})
def report_of_lazy(orders: Any) -> int:
    return orders.collect().height


def test_an_asset_that_writes_a_file_itself_is_judged_by_the_file(place) -> None:
    path = place.root / "data/mine.parquet"
    path.parent.mkdir()

    def write(frame: pl.DataFrame) -> Any:
        def body() -> None:
            frame.write_parquet(path)

        return body

    options = {"metadata": {"strata/location": "data/mine.parquet"}}
    assert place.run(place.orders(write(rows()), **options)).success
    bad = place.run(place.orders(write(rows(id=[1, 1])), **options))
    assert not bad.success
    assert "E083" in bad.checks["write_pin"].description
    assert len(place.live()) == 2
    assert pq.read_table(path).num_rows == 2  # what it wrote itself nobody can take back


def test_what_is_no_table_is_refused_and_says_what_would_do(place) -> None:
    run = place.run(place.orders({"rows": 3}))
    assert not run.success
    assert run.made == {}
    assert "a dict is no table" in run.checks["write_pin"].description
    assert set(run.checks) == OWN


def test_a_result_without_a_value_is_told_as_nothing(place) -> None:
    run = place.run(place.orders(dg.MaterializeResult(metadata={"rows": 3})))
    assert (run.success, run.made, set(run.checks)) == (False, {}, OWN)
    assert run.checks["write_pin"].description.startswith("E036 `shop.orders/orders` does not say where its rows are: ")


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (pl.DataFrame(), "E084"),
        (rows().clear(), None),
        (pa.table([pa.array([1]), pa.array([2])], names=["id", "id"]), "E080"),
        (rows().rename({"country": "Country"}), "E084"),
        (rows().with_columns(at=pl.lit("x").cast(pl.Categorical), wide=pl.lit(1).cast(pl.UInt64)), None),
    ],
)
def test_odd_frames_have_a_verdict(place, frame, code) -> None:
    run = place.run(place.orders(frame))
    assert set(run.checks) == OWN
    assert run.success == (code is None), run.failure
    if code is not None:
        assert run.checks["write_pin"].description.startswith(code)


def test_code_that_fails_is_told_as_it_is_and_every_check_has_a_verdict(place) -> None:
    def boom() -> None:
        raise ValueError("boom")

    run = place.run(place.orders(boom))
    assert not run.success
    assert "ValueError: boom" in run.failure
    assert set(run.checks) == OWN
    assert not run.checks["write_pin"].passed
    assert "it was not made" in run.checks["write_pin"].description


@pytest.mark.parametrize(("frame", "made"), [(rows(), {"orders", "report"}), (rows(country="FR"), set())])
@pytest.mark.parametrize("yields", [False, True])
def test_an_async_asset_is_judged_as_any_other(place, frame, made, yields) -> None:
    async def returned() -> pl.DataFrame:
        return frame

    async def yielded() -> Any:
        yield dg.Output(frame)

    orders = dg.asset(yielded if yields else returned, name="orders")
    run = place.run(guard(orders, project=place.project), report)
    assert ({*run.made}, run.success) == (made, bool(made)), run.failure
    assert set(run.checks) == OWN


def test_an_asset_that_may_make_nothing_and_does_is_skipped(place) -> None:
    @dg.asset(output_required=False)
    def orders() -> Iterator[dg.Output[pl.DataFrame]]:
        yield from ()

    place.run(place.orders(rows()))
    run = place.run(guard(orders, project=place.project), report)
    assert (run.success, run.made) == (True, {}), run.failure
    assert run.verdicts["orders.write_pin"] == (False, "WARN")
    assert "it was not made: not published; version 1 of prod stays live" in run.checks["write_pin"].description
    assert len(place.live()) == 2


def test_an_asset_that_returns_nothing_is_told_where_its_rows_may_be(place) -> None:
    run = place.run(place.orders(None))
    assert (run.success, run.made) == (False, {})
    fix = (
        "say where the rows are (`location:` of the contract's asset, or `strata/location` in the metadata of this one)"
    )
    assert fix in run.failure


def test_a_frame_whose_column_holds_values_of_several_types_is_told_without_them(place) -> None:
    run = place.run(place.orders(pd.DataFrame({"id": [1, "secret"]})))
    assert (run.success, run.made) == (False, {})
    assert "E033" in run.failure
    assert "the DataFrame that the asset returned is no table of columns (ArrowInvalid)" in run.failure
    assert "secret" not in run.failure
    assert run.verdicts["orders.write_pin"] == (False, "ERROR")


@pytest.mark.parametrize(
    "value",
    [
        lambda: rows().lazy().select("nope"),
        lambda: pa.RecordBatchReader.from_batches(rows().to_arrow().schema, (1 // 0 for _ in range(1))),
    ],
)
def test_an_asset_whose_rows_fail_as_they_are_computed_fails_with_every_check_told(place, value) -> None:
    run = place.run(place.orders(value))
    assert (run.success, run.made, set(run.checks)) == (False, {}, OWN)
    assert "nope" in run.failure or "ZeroDivisionError" in run.failure
    assert run.verdicts["orders.write_pin"] == (False, "ERROR")


@pytest.mark.parametrize(
    ("name", "column", "kept"),
    [
        ("x", pa.array(np.array([1, 2], np.float16)), 1.0),
        ("x", pa.array([[1], [2]], pa.list_(pa.float16())), [1.0]),
        ("x", pa.array([Decimal("1" * 50)] * 2), None),
        ("x", pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]), None),
        ("x", pa.array([{}, {}], pa.struct([])), None),
        ("", pa.array([1, 2]), None),
    ],
)
def test_a_column_beside_the_promised_is_kept_where_the_language_has_it_and_else_left_out(
    place, name, column, kept
) -> None:
    run = place.run(place.orders(pa.table(GOOD).append_column(name, column)))
    assert run.success, run.failure
    assert place.live()[1].get("x") == kept
    assert ("left_out" in run.made["orders"].metadata) == (kept is None)


def test_a_table_that_others_write_is_read_where_its_contract_says(place) -> None:
    path = place.root / "data/outside.parquet"
    path.parent.mkdir()
    outside = guard(dg.AssetSpec("outside"), project=place.project)

    @dg.asset(deps=["outside"])
    def after() -> None: ...

    pl.DataFrame({"id": [1, 2]}).write_parquet(path)
    run = place.run(outside, after)
    assert run.success, run.failure
    assert set(run.made) == {"outside", "after"}
    pl.DataFrame({"id": [1, 1]}).write_parquet(path)
    run = place.run(outside, after)
    assert not run.success
    assert run.made == {}
    assert place.live("outside") == [{"id": 1}, {"id": 2}]
    path.unlink()
    run = place.run(outside, after)
    assert run.verdicts == {"outside.write_pin": (False, "ERROR"), "outside.last_known_good": (True, "ERROR")}


def test_checks_run_alone_look_at_what_is_there_and_publish_nothing(place) -> None:
    path = place.root / "data/outside.parquet"
    path.parent.mkdir()
    pl.DataFrame({"id": [1]}).write_parquet(path)
    orders, outside = place.orders(rows()), guard(dg.AssetSpec("outside"), project=place.project)
    assert place.run(orders, outside).success
    pl.DataFrame({"id": [1, 1]}).write_parquet(path)
    run = place.run(orders, outside, selection=dg.AssetSelection.all_asset_checks())
    assert not run.success
    assert run.made == {}
    assert place.version == 2
    assert run.verdicts == {
        "orders.write_pin": (True, "ERROR"),  # its rows were a value: what is live has the last word
        "orders.positive": (True, "WARN"),
        "orders.many": (True, "WARN"),
        "orders.known": (True, "WARN"),
        "orders.try_out": (True, "ERROR"),
        "orders.last_known_good": (True, "ERROR"),
        "orders.freshness": (True, "WARN"),
        "outside.write_pin": (False, "ERROR"),
        "outside.last_known_good": (True, "ERROR"),
    }
    only = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("orders"), "many"))
    assert set(place.run(orders, outside, selection=only).checks) == {"many"}


def test_an_unselected_check_is_not_told_but_refused_rows_are_not_materialized(place) -> None:
    run = place.run(
        place.orders(rows(country=["MX", "FR"])), selection=dg.AssetSelection.assets("orders").without_checks()
    )
    assert not run.success
    assert run.checks == {}
    assert run.made == {}


def chain(place: Place, bad: bool, **options: Any) -> dg.AssetsDefinition:
    """One op as dbt's: `outside` and `orders` are guarded, `middle` is made of `orders`, `apart` of nothing."""
    specs = [
        dg.AssetSpec("orders", skippable=True, metadata={"strata/location": "data/orders.parquet"}),
        dg.AssetSpec("middle", deps=["orders"], skippable=True),
        dg.AssetSpec("outside", deps=["middle"], skippable=True),
        dg.AssetSpec("apart", skippable=True),
    ]

    @dg.multi_asset(specs=specs, can_subset=True, **options)
    def built(context: dg.AssetExecutionContext) -> Iterator[Any]:
        (place.root / "data").mkdir(exist_ok=True)
        rows(country=["MX", "FR"] if bad else ["MX", "ES"]).write_parquet(place.root / "data/orders.parquet")
        pl.DataFrame({"id": [len(context.selected_asset_keys)]}).write_parquet(place.root / "data/outside.parquet")
        for spec in specs:
            if spec.key in context.selected_asset_keys:
                yield dg.Output(None, spec.key.to_python_identifier())

    return guard(built, project=place.project)


def test_in_one_op_what_is_made_of_refused_rows_is_not_materialized_and_the_rest_is(place) -> None:
    assert place.run(chain(place, bad=False)).success
    assert place.version == 1  # one version for both
    place.write("strata.toml", '[project]\nname = "shop"\n[environments.prod]\npublish = "each"\n')
    run = place.run(chain(place, bad=True))
    assert not run.success
    assert set(run.made) == {"apart"}
    assert run.verdicts["orders.write_pin"] == (False, "ERROR")
    assert run.verdicts["outside.write_pin"] == (False, "WARN")
    assert "because `orders` was refused" in run.checks["write_pin"].description
    assert place.version == 1


def test_a_subset_of_an_op_is_judged_and_materialized_alone(place) -> None:
    run = place.run(chain(place, bad=False), selection=dg.AssetSelection.assets("middle", "outside"))
    assert run.success, run.failure
    assert set(run.made) == {"middle", "outside"}
    assert {k for k in run.verdicts if k.startswith("orders")} == set()
    assert place.live("outside") == [{"id": 2}]


def test_together_holds_sound_tables_back_each_lets_them_go(place) -> None:
    def pair() -> dg.AssetsDefinition:
        outs = {"orders": dg.AssetOut(is_required=False), "outside": dg.AssetOut(is_required=False)}

        @dg.multi_asset(outs=outs, can_subset=True)
        def both() -> Iterator[Any]:
            yield dg.Output(pl.DataFrame({"id": [1]}), "outside")
            yield dg.Output(rows(country=["MX", "FR"]), "orders")

        return guard(both, project=place.project)

    run = place.run(pair())
    assert run.made == {}
    assert run.verdicts["outside.write_pin"] == (True, "ERROR")
    held = [c.description for c in run.result.get_asset_check_evaluations() if c.check_name == "write_pin"]
    assert "not published, because its environment publishes all tables of a run together" in held[0]
    place.write("strata.toml", '[project]\nname = "shop"\n[environments.prod]\npublish = "each"\n')
    run = place.run(pair())
    assert not run.success
    assert set(run.made) == {"outside"}
    assert place.live("outside") == [{"id": 1}]


def test_a_contract_that_broke_after_loading_fails_every_check_and_nothing_is_materialized(place) -> None:
    orders = place.orders(rows())
    place.write("contracts/shop/orders/contract.yaml", CONTRACT.replace("id, type: int64", "id, type: int65"))
    run = place.run(orders)
    assert not run.success
    assert run.made == {}
    assert set(run.checks) == OWN
    assert not any(c.passed for n, c in run.checks.items() if n != "last_known_good")
    place.write("strata.toml", "[project\n")
    run = place.run(orders)
    assert not run.success
    assert set(run.checks) == OWN


def test_inputs_config_and_resources_of_the_guarded_asset_are_what_they_were(place) -> None:
    class Settings(dg.Config):
        country: str

    class Source(dg.ConfigurableResource[Any]):
        email: str

    @dg.asset
    def numbers() -> list[int]:
        return [1, 2]

    @dg.asset
    def orders(context: dg.AssetExecutionContext, config: Settings, source: Source, numbers: list[int]) -> pl.DataFrame:
        assert context.selected_asset_check_keys == set()
        context.add_output_metadata({"asked": len(numbers)})
        return pl.DataFrame({"id": numbers, "country": config.country, "email": source.email})

    run = Run(
        dg.materialize(
            [numbers, guard(orders, project=place.project)],
            instance=place.instance,
            resources={
                "strata": StrataResource(project_dir=place.root),
                "io_manager": place.memory,
                "source": Source(email="secret@x"),
            },
            run_config={"ops": {"orders": {"config": {"country": "ES"}}}},
            raise_on_error=False,
        )
    )
    assert run.success, run.failure
    assert run.made["orders"].metadata["asked"].value == 2
    assert [r["country"] for r in place.live()] == ["ES", "ES"]


def test_what_cannot_be_guarded_is_told_when_the_code_location_loads(place) -> None:
    def refused(asset: Any, message: str, **options: Any) -> None:
        with pytest.raises(dg.DagsterInvalidDefinitionError, match=message):
            guard(asset, project=place.project, **options)

    @dg.asset
    def orders() -> None: ...

    @dg.asset
    def other() -> None: ...

    @dg.observable_source_asset
    def seen() -> dg.DataVersion:
        return dg.DataVersion("1")

    @dg.op
    def made() -> None: ...

    @dg.graph_asset(name="graphed")
    def graphed() -> Any:
        return made()

    refused(other, "no contract covers an asset of `other`; contracts cover shop.orders/orders")
    refused(other, r"E036(.|\n)*did you mean `shop.orders/orders`", contracts="shop.orders/order")
    refused(other, r"E036(.|\n)*no contract covers `Paid`, or is called so", contracts="Paid")
    refused(orders, "there is no asset `nope`", contracts={"nope": "shop.orders/orders"})
    refused(graphed, "made by a graph", contracts="shop.orders/orders")
    refused([orders], "guard takes one asset, or the `AssetSpec` of a table, and not a list")
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="project= is a `StrataProject`, not a PosixPath"):
        guard(orders, project=place.root)
    refused(guard(orders, project=place.project), "guarded already")

    @dg.multi_asset(specs=[dg.AssetSpec("orders"), dg.AssetSpec("others")])
    def two() -> Iterator[Any]:
        yield dg.MaterializeResult(asset_key="orders")

    @dg.multi_asset(specs=[dg.AssetSpec("paid", metadata={"strata/model": "paid"})])
    def modelled() -> None: ...

    one = {"orders": "shop.orders/orders", "others": "shop.orders/orders"}
    refused(two, "`orders` and `others` are both held to `shop.orders/orders`, which is one table", contracts=one)
    refused(modelled, "have a write pin of their own", contracts="shop.orders/orders")
    more = CONTRACT.replace("shop.orders", "shop.more")
    place.write("contracts/shop/more/contract.yaml", more)
    refused(orders, "is covered by shop.more/orders, shop.orders/orders")
    place.write("contracts/shop/orders/contract.yaml", "a: [")
    refused(other, r"E101(.|\n)*E036(.|\n)*no contract covers `shop.orders`", contracts="shop.orders")
    refused(other, r"E101(.|\n)*no contract covers an asset of `other`; contracts cover shop.more/orders")
    place.write("models/paid.strata", "contract Paid { id int64 }\n")
    refused(other, r"E001(.|\n)*expected `:`, found `int64`", contracts="Paid")
    assert guard(orders, project=place.project, contracts="shop.more/orders") is not None


def test_the_guarded_asset_shows_its_contract_columns_and_freshness_policy(place) -> None:
    spec = place.orders(rows()).specs_by_key[dg.AssetKey("orders")]
    schema = spec.metadata["dagster/column_schema"]
    assert [(c.name, c.type, c.constraints.nullable) for c in schema.columns] == [
        ("id", "int64", False),
        ("country", "string", False),
        ("email", "string", True),
    ]
    assert spec.freshness_policy.fail_window.to_timedelta().days == 1
    assert {c.name for c in place.orders(rows()).check_specs} == OWN


def test_equal_rows_are_reused_and_leave_downstream_fresh(place) -> None:
    first = place.run(place.orders(rows()))
    again = place.run(place.orders(rows().sort("id")))
    assert again.made["orders"].metadata["reused"].value is True
    tag = "dagster/data_version"
    assert again.made["orders"].tags[tag] == first.made["orders"].tags[tag]


def test_another_that_promotes_first_is_told_and_tried_again(place, monkeypatch) -> None:
    from strata_core.diagnostics import Diagnostic, StrataError
    from strata_core.store.environments import Environment

    publish, tries = Environment.publish, []

    def second(self: Any, *arguments: Any, **options: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise StrataError(Diagnostic("E093", "version 1 has other rows of orders"))
        return publish(self, *arguments, **options)

    monkeypatch.setattr(Environment, "publish", second)
    run = place.run(place.orders(rows(), retry_policy=dg.RetryPolicy(max_retries=1)))
    assert run.success
    assert run.retries == 1
    first = next(c for c in run.result.get_asset_check_evaluations() if c.check_name == "write_pin")
    assert not first.passed
    assert "could not be published (E093)" in first.description


def test_no_event_of_any_run_shows_a_value_of_a_classified_column(place) -> None:
    frames = [
        rows(),
        rows(country=["MX", "FR"]),
        rows(id=[-1, -2]),
        rows(email=["secret-x", None]),
        rows(id=[101, 102]),
        rows(id=[1, 1]),
    ]
    for frame in frames:
        place.run(place.orders(frame))
    place.run(place.orders(rows()), selection=dg.AssetSelection.all_asset_checks())
    casts = "sql: select * from orders where cast(email as int) > 0"
    place.write(
        "contracts/shop/orders/contract.yaml", CONTRACT.replace("sql: select * from orders where id < 0", casts)
    )
    assert "E144" in place.run(place.orders(rows())).checks["write_pin"].description
    place.write("contracts/shop/orders/contract.yaml", CONTRACT.replace("email, type: string", "email, type: int64"))
    assert "E080" in place.run(place.orders(rows())).checks["write_pin"].description
    seen = 0
    for record in place.instance.get_runs():
        for entry in place.instance.all_logs(record.run_id):
            seen += 1
            assert "secret-" not in str(entry.to_json() if hasattr(entry, "to_json") else entry)
            assert "secret-" not in repr(entry)
    assert seen > 100


def test_a_contract_means_a_dbt_model_by_its_name_whatever_a_translator_calls_the_asset(place: Place) -> None:
    metadata = {"dagster_dbt/unique_id": "model.shop.orders"}
    run = place.run(place.orders(rows(), key=["warehouse", "o_v2"], metadata=metadata))
    assert run.success, run.failure
    assert run.made["warehouse/o_v2"].metadata["contract"].value == "shop.orders/orders"
    assert sorted(row["id"] for row in place.live("orders")) == [1, 2]


def test_what_an_op_logs_of_its_own_waits_for_the_verdict(place) -> None:
    def logging(frame: pl.DataFrame, **options: Any) -> dg.AssetsDefinition:
        @dg.asset(**options)
        def orders(context: dg.AssetExecutionContext) -> Any:
            context.log_event(dg.AssetMaterialization("orders", metadata={"mine": 1}))
            dg.AssetExecutionContext.get().log_event(dg.AssetMaterialization("orders", metadata={"also": 2}))
            context.log_event(dg.AssetObservation("orders", metadata={"seen": 3}))
            return frame

        return guard(orders, project=place.project)

    run = place.run(logging(rows()))
    assert run.success, run.failure
    (made,) = run.result.get_asset_materialization_events()
    shown = made.step_materialization_data.materialization.metadata
    assert (shown["mine"].value, shown["also"].value, shown["dagster/row_count"].value) == (1, 2, 2)
    assert len(run.result.get_asset_observation_events()) == 1
    run = place.run(logging(rows(country=["MX", "FR"])))
    assert (run.success, run.made) == (False, {})
    assert set(run.checks) == OWN


@pytest.mark.parametrize("first", [True, False])
def test_a_materialization_that_an_op_yields_beside_its_rows_takes_nothing_of_them_away(place, first) -> None:
    def yielding(frame: pl.DataFrame) -> dg.AssetsDefinition:
        @dg.asset
        def orders() -> Iterator[Any]:
            said = dg.AssetMaterialization("orders", metadata={"mine": 1})
            yield from (said, dg.Output(frame)) if first else (dg.Output(frame), said)

        return guard(orders, project=place.project)

    run = place.run(yielding(rows()), report)
    assert run.success, run.failure
    assert run.made["orders"].metadata["mine"].value == 1
    assert place.memory.kept["report"] == 2
    run = place.run(yielding(rows(country=["MX", "FR"])))
    assert (run.success, run.made) == (False, {})


PROMOTED = {"strata/promote_from": "dev"}


def test_a_promotion_makes_nothing_and_hands_on_what_the_other_environment_has(place) -> None:
    times = []

    def orders(frame: pl.DataFrame) -> dg.AssetsDefinition:
        @dg.asset(name="orders")
        def made() -> pl.DataFrame:
            times.append(1)
            return frame

        return guard(made, project=place.project)

    good = orders(rows())
    assert place.run(good, environment="dev").success
    run = place.run(good, report, tags=PROMOTED)
    assert run.success, run.failure
    assert len(times) == 1
    assert run.made["orders"].metadata["place"].value == "version 1 of dev"
    assert place.memory.kept["report"] == 2
    assert set(run.checks) == OWN
    assert run.verdicts["orders.write_pin"] == (True, "ERROR")
    assert (place.version, len(place.live())) == (1, 2)


def test_a_promotion_that_is_refused_fails_the_pin_and_leaves_what_is_live(place) -> None:
    orders = place.orders(rows())
    run = place.run(orders, report, tags=PROMOTED)
    assert (run.success, run.made) == (False, {})
    assert "E095" in run.checks["write_pin"].description
    assert place.run(orders, environment="dev").success
    place.write("contracts/shop/orders/contract.yaml", CONTRACT.replace("enum: [ES, MX]", "enum: [ES]"))
    run = place.run(orders, report, tags=PROMOTED)
    assert (run.success, run.made, place.version) == (False, {}, 0)
    assert "E035" in run.checks["write_pin"].description
    assert run.failure.splitlines()[0].endswith("not promoted: orders")
