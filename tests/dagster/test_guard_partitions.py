"""Guarded assets with partitions: each is judged and goes live alone, also where one run makes several of them."""

# Without postponed annotations: Dagster compares those of an op with types.

from collections.abc import Iterator
from datetime import date
from typing import Any

import dagster as dg
import pandas as pd
import polars as pl
import pytest

from strata_core.store import Store
from strata_dagster import StrataResource, guard

from .guarded import CONTRACT, OWN, Place, Run, rows

PROMOTED = {"strata/promote_from": "dev"}
BY_DAY = CONTRACT.replace(
    "      - {name: email,",
    "      - {name: day, type: date, nullable: false, partition_by: true}\n      - {name: email,",
    1,
)
DAYS = dg.DailyPartitionsDefinition("2026-01-01", end_date="2026-01-31")
KEYS = tuple(f"2026-01-{day:02d}" for day in range(1, 5))


@pytest.fixture
def place(guarded_shop: Place) -> Place:
    return guarded_shop


PARTS = dg.StaticPartitionsDefinition(["a", "b"])


def parted(place: Place, **frames: pl.DataFrame) -> dg.AssetsDefinition:
    """`orders` in two partitions; a run of both makes all rows at once."""

    @dg.asset(partitions_def=PARTS, backfill_policy=dg.BackfillPolicy.single_run())
    def orders(context: dg.AssetExecutionContext) -> pl.DataFrame:
        return pl.concat(frames[key] for key in context.partition_keys)

    return guard(orders, project=place.project)


def test_a_partition_is_judged_and_goes_live_alone(place) -> None:
    one, two = rows(), rows(id=[3, 4])
    first = place.run(parted(place, a=one), partition_key="a")
    assert first.success, first.failure
    second = place.run(parted(place, b=two), partition_key="b")
    assert second.success, second.failure
    made = second.made["orders"]
    assert (made.partition, made.metadata["dagster/partition_row_count"].value) == ("b", 2)
    assert made.metadata["dagster/row_count"].value == 4
    assert made.metadata["place"].value == "the value that the asset returned (partition b)"
    assert sorted(row["id"] for row in place.live()) == [1, 2, 3, 4]
    assert made.tags["dagster/data_version"] != first.made["orders"].tags["dagster/data_version"]
    bad = place.run(parted(place, b=rows(id=[5, 6], country=["FR", "ES"])), partition_key="b")
    assert (bad.success, bad.made) == (False, {})
    assert set(bad.checks) == OWN
    twice = place.run(parted(place, b=rows(id=[2, 5])), partition_key="b")
    assert not twice.success
    assert "E083" in twice.checks["write_pin"].description
    assert sorted(row["id"] for row in place.live()) == [1, 2, 3, 4]


@pytest.mark.parametrize("key", [None, "b"])
def test_a_promotion_tells_of_each_partition_that_is_other_than_before(place, key) -> None:
    one, two = rows(), rows(id=[3, 4])
    assert place.run(parted(place, a=one), partition_key="a").success
    for name, frame in (("a", one), ("b", two)):
        assert place.run(parted(place, **{name: frame}), partition_key=name, environment="dev").success
    run = place.run(parted(place), partition_key=key, tags=PROMOTED)
    assert run.success, run.failure
    made = run.made["orders"]
    assert (made.partition, made.metadata["dagster/partition_row_count"].value) == ("b", 2)
    assert made.metadata["dagster/row_count"].value == 4
    assert {name: passed for name, (passed, _) in run.verdicts.items()}["orders.write_pin"]
    assert sorted(row["id"] for row in place.live()) == [1, 2, 3, 4]
    versions = place.instance.get_materialized_partitions(dg.AssetKey("orders"))
    assert versions == {"a", "b"}
    again = place.run(parted(place), partition_key=key, tags=PROMOTED)
    assert (again.success, again.made) == (True, {})


def test_a_partition_that_is_refused_is_shown_by_what_another_run_made_last(place) -> None:
    assert place.run(parted(place, a=rows()), partition_key="a").success
    last = place.run(parted(place, b=rows(id=[3, 4])), partition_key="b")
    refused = place.run(parted(place, a=rows(country=["FR", "ES"])), partition_key="a")
    pin = refused.checks["write_pin"]
    assert (pin.passed, pin.target_materialization_data.run_id) == (False, last.result.run_id)


def test_a_promotion_of_an_op_that_makes_all_its_assets_tells_of_each_in_one(place) -> None:
    def pair() -> dg.AssetsDefinition:
        @dg.multi_asset(outs={"orders": dg.AssetOut(), "outside": dg.AssetOut()}, partitions_def=PARTS)
        def both(context: dg.AssetExecutionContext) -> Iterator[Any]:
            first = 1 if context.partition_key == "a" else 3
            yield dg.Output(rows(id=[first, first + 1]), "orders")
            yield dg.Output(pl.DataFrame({"id": [first]}), "outside")

        return guard(both, project=place.project)

    for key in ("a", "b"):
        run = place.run(pair(), partition_key=key, environment="dev")
        assert run.success, run.failure
    run = place.run(pair(), partition_key="b", tags=PROMOTED)
    assert run.success, run.failure
    assert {name: made.partition for name, made in run.made.items()} == {"orders": "b", "outside": "b"}
    assert sorted(row["id"] for row in place.live()) == [1, 2, 3, 4]
    assert place.live("outside") == [{"id": 1}, {"id": 3}]


def test_partitions_lie_in_files_of_their_own_or_in_one_table_that_is_judged_whole(place) -> None:
    def written(location: str) -> dg.AssetsDefinition:
        @dg.asset(partitions_def=PARTS, metadata={"strata/location": location})
        def orders(context: dg.AssetExecutionContext) -> None:
            path = place.root / location.replace("{partition}", context.partition_key)
            path.parent.mkdir(exist_ok=True)
            rows(id=[1, 2] if context.partition_key == "a" else [3, 4]).write_parquet(path)

        return guard(orders, project=place.project)

    files = written("data/{partition}.parquet")
    assert place.run(files, partition_key="a").success
    assert place.run(files, partition_key="b").success
    assert sorted(row["id"] for row in place.live()) == [1, 2, 3, 4]
    alone = place.run(files, selection=dg.AssetSelection.all_asset_checks())
    assert alone.checks["write_pin"].passed
    whole = written("data/all.parquet")
    assert place.run(whole, partition_key="b", environment="dev").success
    assert [v.number for v in Store.open(place.root / ".strata/store").environment("dev").history()] == [1]


def span(first: str, last: str) -> dict[str, str]:
    """The tags of a run of several partitions, as a backfill in a single run has them."""
    return {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}


def of_days(bad: tuple[str, ...] = (), keys: tuple[str, ...] = KEYS, first: int = 1) -> pl.DataFrame:
    """Two rows of each day; of the `bad` ones the second breaks the contract."""
    days = [date.fromisoformat(key) for key in keys for _ in range(2)]
    countries = ["FR" if i % 2 and str(day) in bad else "ES" for i, day in enumerate(days)]
    ids = list(range(first, first + len(days)))
    return pl.DataFrame({"id": ids, "country": countries, "day": days, "email": ["secret@x"] * len(days)})


def daily(place: Place, value: Any, returns: Any = Any) -> dg.AssetsDefinition:
    """`orders` by day, all of a run made at once; its contract says in which column the day is."""
    place.write("contracts/shop/orders/contract.yaml", BY_DAY)

    def orders(context: dg.AssetExecutionContext) -> Any:
        context.add_output_metadata({"asked": len(context.partition_keys)})
        return value

    orders.__annotations__["return"] = returns
    policy = dg.BackfillPolicy.single_run()
    return guard(dg.asset(partitions_def=DAYS, backfill_policy=policy)(orders), project=place.project)


def partitions_made(run: Run) -> dict[str, str]:
    """The partitions that a run materialized, with their data versions: the last event of each."""
    events = run.result.get_asset_materialization_events()
    made = [e.step_materialization_data.materialization for e in events]
    return {m.partition: m.tags["dagster/data_version"] for m in made}


def live_days(place: Place) -> list[str]:
    return sorted({str(row["day"]) for row in place.live()})


def test_of_several_partitions_at_once_the_sound_go_live_and_the_others_stay_as_they_were(place) -> None:
    first = place.run(daily(place, of_days(keys=KEYS[:2])), tags=span(*KEYS[:2]))
    assert first.success, first.failure
    before = partitions_made(first)
    assert list(before) == list(KEYS[:2])
    assert before[KEYS[0]] != before[KEYS[1]]
    assert first.checks["write_pin"].description == "the rows keep `shop.orders/orders`: 2 partitions live as `orders`"
    run = place.run(daily(place, of_days(bad=(KEYS[1], KEYS[3]), first=11)), tags=span(KEYS[0], KEYS[3]))
    assert not run.success
    assert sorted(partitions_made(run)) == [KEYS[0], KEYS[2]]
    assert run.made["orders"].metadata["asked"].value == 4
    pin = run.checks["write_pin"]
    assert (pin.passed, pin.severity.value, pin.blocking) == (False, "ERROR", True)
    assert pin.description == (
        "E082 partition 2026-01-02: 1 row has a value of `country` outside what contract `shop.orders/orders` "
        "promises: enum {ES, MX} and 1 more: 2026-01-02, 2026-01-04 not published, what is live of them stays; "
        "2 partitions live as `orders`"
    )
    told = {
        name: pin.metadata[name].value for name in ("partitions_live", "partitions_refused", "offenders/country enum")
    }
    assert told == {"partitions_live": 2, "partitions_refused": 2, "offenders/country enum": 2}
    assert "| 2026-01-02 | refused | 2 | E082 " in pin.metadata["write_pin"].value
    assert "contract violated: orders (partitions 2026-01-02, 2026-01-04)" in run.failure
    ids = {str(row["day"]): [] for row in place.live()}
    for row in place.live():
        ids[str(row["day"])].append(row["id"])
    assert ids == {KEYS[0]: [11, 12], KEYS[1]: [3, 4], KEYS[2]: [15, 16]}
    assert place.version == 2  # one step for all of them
    assert run.retries == 0
    assert set(run.checks) == OWN
    assert pin.target_materialization_data.run_id == run.result.run_id
    none = place.run(daily(place, of_days(bad=KEYS)), tags=span(KEYS[0], KEYS[3]))
    assert (none.success, partitions_made(none)) == (False, {})
    assert none.checks["write_pin"].target_materialization_data.run_id == run.result.run_id
    assert "nothing was published: version 2 of prod stays live" in none.failure


def test_a_range_gives_what_runs_of_each_partition_give(place) -> None:
    value = of_days(bad=(KEYS[2],))
    run = place.run(daily(place, value), tags=span(KEYS[0], KEYS[3]))
    each = [
        place.run(
            daily(place, value.filter(pl.col("day") == date.fromisoformat(key))), partition_key=key, environment="dev"
        )
        for key in KEYS
    ]
    alone = {key: version for one in each for key, version in partitions_made(one).items()}
    assert partitions_made(run) == alone
    store = Store.open(place.root / ".strata/store")
    digests = {n: store.environment(n).head().models["orders"].digest for n in ("prod", "dev")}
    assert digests["prod"] == digests["dev"]


def test_a_key_that_partitions_share_refuses_one_of_them_and_an_age_all(place) -> None:
    twice = pl.concat([of_days(keys=KEYS[:3]), of_days(keys=(KEYS[3],), first=1)])
    run = place.run(daily(place, twice), tags=span(KEYS[0], KEYS[3]))
    assert (run.success, sorted(partitions_made(run))) == (False, list(KEYS[:3]))
    assert run.checks["write_pin"].description.startswith("E083 partition 2026-01-04: ")
    aged = BY_DAY.replace("type: date, nullable: false,", "type: date, nullable: false, freshness: 1d,")
    assets = daily(place, of_days(first=21))
    place.write("contracts/shop/orders/contract.yaml", aged)
    run = place.run(assets, tags=span(KEYS[0], KEYS[3]))
    assert (run.success, partitions_made(run)) == (False, {})
    assert run.checks["write_pin"].metadata["partitions_refused"].value == 4


def test_the_io_manager_is_handed_all_of_a_range_or_each_sound_partition_of_it(place) -> None:
    handed: list[tuple[tuple[str, ...], Any]] = []

    class ByPartition(dg.IOManager):
        def handle_output(self, context: dg.OutputContext, obj: Any) -> None:
            handed.append((tuple(context.asset_partition_keys), obj))

        def load_input(self, context: dg.InputContext) -> Any:
            raise NotImplementedError

    def handed_of(value: Any, returns: Any) -> list[tuple[tuple[str, ...], type, list[int]]]:
        handed.clear()
        resources = {"strata": StrataResource(project_dir=place.root), "io_manager": ByPartition()}
        assets = [daily(place, value, returns)]
        dg.materialize(
            assets, instance=place.instance, resources=resources, tags=span(KEYS[0], KEYS[2]), raise_on_error=False
        )
        return [(keys, type(made), [*made["id"]]) for keys, made in handed]

    good, bad = of_days(keys=KEYS[:3]), of_days(keys=KEYS[:3], bad=(KEYS[1],))
    assert handed_of(good, pl.DataFrame) == [(KEYS[:3], pl.DataFrame, [1, 2, 3, 4, 5, 6])]
    assert handed_of(bad, pl.DataFrame) == [
        ((KEYS[0],), pl.DataFrame, [1, 2]),
        ((KEYS[2],), pl.DataFrame, [5, 6]),
    ]
    frame = bad.to_pandas()
    frame["day"] = frame["day"].dt.date
    assert handed_of(frame, pd.DataFrame) == [((KEYS[0],), pd.DataFrame, [1, 2]), ((KEYS[2],), pd.DataFrame, [5, 6])]
    by_key = {key: bad.filter(pl.col("day") == date.fromisoformat(key)) for key in KEYS[:3]}
    assert handed_of(by_key, Any) == [((KEYS[0],), pl.DataFrame, [1, 2]), ((KEYS[2],), pl.DataFrame, [5, 6])]


def test_a_reader_in_the_same_run_waits_for_all_of_a_range(place) -> None:
    read: list[str] = []

    @dg.asset(partitions_def=DAYS, backfill_policy=dg.BackfillPolicy.single_run(), deps=["orders"])
    def totals() -> None:
        read.append("totals")

    assert place.run(daily(place, of_days()), totals, tags=span(KEYS[0], KEYS[3])).success
    assert read == ["totals"]
    assert not place.run(daily(place, of_days(bad=(KEYS[0],))), totals, tags=span(KEYS[0], KEYS[3])).success
    assert read == ["totals"]


def test_files_of_partitions_are_judged_each_alone_and_one_that_is_missing_is_told(place) -> None:
    @dg.asset(
        partitions_def=dg.StaticPartitionsDefinition(["a", "b", "c"]),
        metadata={"strata/location": "data/{partition}.parquet"},
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def orders() -> None:
        (place.root / "data").mkdir(exist_ok=True)
        rows(id=[1, 2]).write_parquet(place.root / "data/a.parquet")
        rows(id=[3, 4], country=["FR", "ES"]).write_parquet(place.root / "data/b.parquet")

    run = place.run(guard(orders, project=place.project), tags=span("a", "c"))
    assert (run.success, list(partitions_made(run))) == (False, ["a"])
    table = run.checks["write_pin"].metadata["write_pin"].value
    assert "| b | refused | 2 | E082 " in table
    assert "| c | refused |  | E030 " in table
    assert [row["id"] for row in place.live()] == [1, 2]


def test_a_mapping_says_of_which_partition_rows_are(place) -> None:
    def made(value: Any) -> Run:
        @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["a", "b"]))
        def orders() -> Any:
            return value

        return place.run(guard(orders, project=place.project), tags=span("a", "b"))

    run = made({"a": rows(), "b": rows(id=[3, 4])})
    assert run.success, run.failure
    assert sorted(partitions_made(run)) == ["a", "b"]
    run = made({"a": rows(id=[5, 6])})
    assert list(partitions_made(run)) == ["a"]
    assert "E037 partition b: nothing was returned of it" in run.failure
    run = made({"a": rows(), "x": rows(id=[3, 4])})
    assert partitions_made(run) == {}
    assert "E037 the asset returned rows of `x`, which is no partition that the run makes" in run.failure
    assert sorted(row["id"] for row in place.live()) == [3, 4, 5, 6]


def test_of_partitions_beyond_those_that_a_check_names_it_is_counted_what_became_of_them(place) -> None:
    keys = [f"p{number:02d}" for number in range(63)]

    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(keys))
    def orders() -> dict[str, pl.DataFrame]:
        refused = {key: rows(country=["FR", "ES"]) for key in keys[1:]}
        return {keys[0]: rows(), **refused}

    run = place.run(guard(orders, project=place.project), tags=span(keys[0], keys[-1]))
    assert "and 2 more refused, 1 more live\n" in run.checks["write_pin"].metadata["write_pin"].value


@pytest.mark.parametrize(
    ("contract", "definition", "why"),
    [
        (CONTRACT, DAYS, "rows do not say of which"),
        (BY_DAY.replace("name: country,", "name: country, partition_by: true,"), DAYS, "which of them holds"),
        (
            CONTRACT.replace("name: country,", "name: country, partition_by: true,"),
            DAYS,
            "`country` does not say of which partition a row is: it is of type large_string",
        ),
        (BY_DAY, DAYS, "2 of the 8 rows are of none of the partitions"),
    ],
)
def test_rows_of_which_nobody_knows_the_partition_are_refused_with_what_would_do(
    place, contract, definition, why
) -> None:
    assets = daily(place, of_days())
    place.write("contracts/shop/orders/contract.yaml", contract)
    run = place.run(assets, tags=span(KEYS[0], KEYS[2]))
    assert (run.success, run.made) == (False, {})
    assert "E037" in run.checks["write_pin"].description
    assert why in run.checks["write_pin"].description
    assert place.version == 0


def test_partitions_of_two_dimensions_are_told_apart_by_columns_of_their_names(place) -> None:
    place.write(
        "contracts/shop/orders/contract.yaml", BY_DAY.replace("name: country,", "name: country, partition_by: true,")
    )
    both = dg.MultiPartitionsDefinition({"day": DAYS, "country": dg.StaticPartitionsDefinition(["ES", "MX"])})
    value = of_days(keys=KEYS[:1]).with_columns(country=pl.Series(["ES", "MX"]))

    @dg.asset(partitions_def=both)
    def orders() -> pl.DataFrame:
        return value

    keys = [dg.MultiPartitionKey({"day": KEYS[0], "country": country}) for country in ("ES", "MX")]
    run = place.run(guard(orders, project=place.project), tags=span(str(keys[0]), str(keys[1])))
    assert run.success, run.failure
    assert sorted(partitions_made(run)) == ["ES|2026-01-01", "MX|2026-01-01"]


def chain_by_day(place: Place, orders: pl.DataFrame) -> dg.AssetsDefinition:
    """One op as dbt's: `outside` is made of `orders`, and both are guarded; each lies in one table with all days."""
    outside = BY_DAY.replace(
        "    columns: [{name: id, type: int64, primary_key: true}]",
        "    columns: [{name: id, type: int64, primary_key: true}, {name: day, type: date, partition_by: true}]",
    )
    place.write("contracts/shop/orders/contract.yaml", outside)
    (place.root / "data").mkdir(exist_ok=True)
    specs = [
        dg.AssetSpec("orders", skippable=True, metadata={"strata/location": "data/orders.parquet"}),
        dg.AssetSpec("outside", deps=["orders"], skippable=True),
    ]

    @dg.multi_asset(specs=specs, can_subset=True, partitions_def=DAYS, backfill_policy=dg.BackfillPolicy.single_run())
    def chain() -> Iterator[Any]:
        orders.write_parquet(place.root / "data/orders.parquet")
        orders.select("id", "day").write_parquet(place.root / "data/outside.parquet")
        yield dg.MaterializeResult("orders")
        yield dg.MaterializeResult("outside")

    return guard(chain, project=place.project)


def made_by_asset(run: Run) -> set[str]:
    events = (e.step_materialization_data.materialization for e in run.result.get_asset_materialization_events())
    return {f"{m.asset_key.to_user_string()} {m.partition}" for m in events}


@pytest.mark.parametrize("publish", ["together", "each"])
def test_a_partition_that_is_refused_holds_back_that_partition_alone_of_what_is_made_of_it(place, publish) -> None:
    place.write("strata.toml", f'[project]\nname = "shop"\n[environments.prod]\npublish = "{publish}"\n')
    run = place.run(chain_by_day(place, of_days(bad=(KEYS[1],))), tags=span(KEYS[0], KEYS[2]))
    assert not run.success
    assert made_by_asset(run) == {f"{name} {key}" for name in ("orders", "outside") for key in (KEYS[0], KEYS[2])}
    assert live_days(place) == [KEYS[0], KEYS[2]]
    told = {
        c.asset_key.to_user_string(): c for c in run.result.get_asset_check_evaluations() if c.check_name == "write_pin"
    }
    assert (told["outside"].passed, told["outside"].severity.value) == (False, "WARN")
    assert told["outside"].description == (
        "2026-01-02 not published, because `orders` was refused; 2 partitions live as `outside`"
    )
    assert place.version == 1


def test_of_a_table_with_all_partitions_the_run_judges_its_own(place) -> None:
    assert place.run(chain_by_day(place, of_days(keys=KEYS[:2])), tags=span(*KEYS[:2])).success
    grown = pl.concat([of_days(keys=KEYS[:2], bad=(KEYS[0],)), of_days(keys=KEYS[2:], first=11)])
    run = place.run(chain_by_day(place, grown), partition_key=KEYS[2])
    assert run.success, run.failure
    assert made_by_asset(run) == {f"orders {KEYS[2]}", f"outside {KEYS[2]}"}
    assert live_days(place) == list(KEYS[:3])
