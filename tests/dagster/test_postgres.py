"""Strata in an instance of Dagster whose storage is PostgreSQL: what numbers its events before they are committed."""

# Without postponed annotations: Dagster compares those of an op with types.

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable

from . import postgres
from .conftest import Shop, _filled
from .test_contract_sensor import Location
from .test_stale_sensor import Ticks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(postgres.missing() is not None, reason=postgres.missing() or ""),
]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.server() as running:
        yield running


@pytest.fixture
def shop(server: postgres.Server, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shop]:
    home = server.home(tmp_path / "home", f"d{abs(hash(request.node.nodeid))}")
    with dg.DagsterInstance.from_config(str(home)) as instance:
        yield _filled(Shop(tmp_path / "shop", instance))


@contextmanager
def uncommitted(instance: dg.DagsterInstance, asset: str) -> Iterator[None]:
    """An event that is written in a transaction which is committed when the block ends."""
    storage = instance.event_log_storage
    with dg.DagsterInstance.ephemeral() as other:
        other.report_runless_asset_event(dg.AssetMaterialization(asset))
        (entry,) = other.event_log_storage.get_logs_for_all_runs_by_log_id(
            dagster_event_type=dg.DagsterEventType.ASSET_MATERIALIZATION
        ).values()
    import sqlalchemy

    engine = sqlalchemy.create_engine(storage.postgres_url)
    with engine.connect() as connection, connection.begin():
        connection.execute(storage.prepare_insert_event(entry).returning(SqlEventLogStorageTable.c.id))
        yield
    engine.dispose()


def test_the_storage_is_that_of_postgres(shop: Shop) -> None:
    assert type(shop.instance.event_log_storage).__name__ == "PostgresEventLogStorage"


def test_an_event_that_another_transaction_overtakes_asks_for_its_product(shop: Shop) -> None:
    location = Location(shop)
    assert location.asked() == ["paid", "python", "rates"]
    assert location.asked() == []
    with uncommitted(shop.instance, "report"):
        shop.instance.report_runless_asset_event(dg.AssetMaterialization("rate"))
        assert location.asked() == ["rates"]
    assert location.asked() == ["python"]
    assert location.asked() == []


def test_products_follow_what_happens_to_their_assets(shop: Shop, bad_orders: str) -> None:
    location = Location(shop)
    location.promote()
    assert location.asked() == ["paid", "python", "rates"]
    assert shop.run().success
    assert location.asked() == ["paid", "python", "rates"]
    assert location.asked() == []
    shop.write("data/orders.csv", bad_orders)
    assert not shop.run(selection=["paid"]).success
    assert location.asked() == ["paid"]
    assert location.state("paid")[0] == "degraded"
    assert location.checks("paid")["valid"][0] is True
    location.shop.edit("contracts/sales/rates/contract.yaml", "To tell how sales go", "To tell how rates go")
    assert location.asked() == ["rates"]
    assert location.asked() == []


def test_what_is_stale_is_asked_for_once(shop: Shop) -> None:
    ticks = Ticks(shop)
    assert ticks.carried_out() == [["rate", "paid", "by_country"]]
    assert ticks.asked() == []
    shop.edit("models/rates.strata", "select { country, rate }", "filter rate > 0.0 select { country, rate }")
    assert ticks.carried_out() == [["rate"]]
    assert ticks.asked() == []


def test_a_violation_is_told_and_what_was_live_stays(shop: Shop, bad_orders: str, good_orders: str) -> None:
    assert shop.run().success
    shop.write("data/orders.csv", bad_orders)
    refused = shop.run()
    assert refused.verdicts == {"paid": (False, "ERROR"), "by_country": (False, "WARN"), "rate": (True, "ERROR")}
    assert sorted(refused.made) == ["rate"]
    assert len(shop.live("paid")) == 3
    shop.write("data/orders.csv", good_orders)
    assert shop.run().success
    assert shop.stale() == {}


PAYMENTS = """
contract Payment {
  id: int64 primary_key
  amount: decimal(10, 2) nonnull
  at: timestamp nonnull
  note: string enum {a, b}
}
"""


def test_a_guard_over_a_table_of_postgres_keeps_what_is_sound_and_stays_at_it(
    shop: Shop, server: postgres.Server
) -> None:
    import polars as pl
    import sqlalchemy

    from strata_dagster import StrataResource, guard

    shop.write("models/payments.strata", PAYMENTS)
    engine = sqlalchemy.create_engine(shop.instance.event_log_storage.postgres_url)

    def written(statement: str) -> None:
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text(statement))

    @dg.asset
    def payments() -> pl.DataFrame:
        with engine.connect() as connection:
            types = {"amount": pl.Decimal(10, 2)}  # of a numeric polars takes the scale alone
            return pl.read_database("select * from payments", connection, schema_overrides=types)

    def run() -> Any:
        made = guard(payments, project=shop.project, contracts="Payment")
        return dg.materialize(
            [made], instance=shop.instance, resources={"strata": StrataResource(shop.root)}, raise_on_error=False
        )

    def version(done: Any) -> str:
        (event,) = done.get_asset_materialization_events()
        return str(event.materialization.tags["dagster/data_version"])

    written("create table payments (id bigint primary key, amount numeric(10, 2), at timestamp, note text)")
    written("insert into payments values (1, 9.50, '2026-01-01 10:00', 'a'), (2, 0, '2026-01-01 11:00', null)")
    first = run()
    assert first.success, [c.description for c in first.get_asset_check_evaluations()]
    assert [row["amount"] for row in shop.live("payments")] == [Decimal("9.50"), Decimal("0.00")]
    written("update payments set note = note")  # which moves rows about
    assert version(run()) == version(first)
    written("insert into payments values (3, 1, '2026-01-01 12:00', 'c')")
    refused = run()
    assert not refused.success
    pin = {c.check_name: c for c in refused.get_asset_check_evaluations()}["write_pin"]
    assert pin.description.startswith("E082 1 row has a value of `note` outside")
    assert len(shop.live("payments")) == 2
    written("update payments set note = 'b' where id = 3")
    assert version(run()) != version(first)
    assert len(shop.live("payments")) == 3
    engine.dispose()


def test_a_guarded_asset_keeps_its_last_known_good(shop: Shop) -> None:
    import polars as pl

    from strata_dagster import StrataResource, guard

    rates = [pl.DataFrame({"country": ["ES"], "rate": ["1.000"]}, {"country": pl.String, "rate": pl.Decimal(5, 3)})]

    def run() -> Any:
        @dg.asset
        def euro() -> pl.DataFrame:
            return rates[-1]

        made = guard(euro, project=shop.project, contracts="Rate")
        return dg.materialize(
            [made], instance=shop.instance, resources={"strata": StrataResource(shop.root)}, raise_on_error=False
        )

    assert run().success
    rates.append(pl.concat([rates[0], rates[0]]))
    done = run()
    assert not done.success
    assert [(c.check_name, c.passed) for c in done.get_asset_check_evaluations()] == [
        ("write_pin", False),
        ("last_known_good", True),
    ]
