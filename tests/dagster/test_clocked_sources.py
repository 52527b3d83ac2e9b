"""Tables with three clocks as sources: they are observed, and a landing marks what reads them."""

from __future__ import annotations

import datetime as dt

import dagster as dg
import pyarrow as pa
import pytest

from strata_core.store import Store

DECLARED = '[[pipeline.tables]]\nname = "fx"\nprimary_key = ["country"]\n'
SOURCE = (
    'source rates(store: "fx") {\n  columns: { country: string nonnull primary_key, rate: decimal(5,3) nonnull },\n}\n'
)


@pytest.fixture
def fx(shop):
    """The shop whose rates are a table of the store."""
    text = (shop.root / "models/sources.strata").read_text()
    shop.write("models/sources.strata", text[: text.index("source rates")] + SOURCE)
    Store.open(shop.root / ".strata/store").declare(DECLARED)
    return shop


def land(shop, rate: str) -> None:
    rates = {"country": ["ES", "MX"], "rate": pa.array([rate, rate]).cast(pa.decimal128(5, 3))}
    Store.open(shop.root / ".strata/store").table("fx").land(pa.table(rates))


def test_a_landing_marks_what_reads_the_table_once_it_is_observed(fx) -> None:
    land(fx, "1.000")
    fx.run()
    fx.observe()
    assert fx.stale() == {}
    Store.open(fx.root / ".strata/store").table("fx").fold()
    fx.observe()
    assert fx.stale() == {}
    land(fx, "2.000")
    fx.observe()
    assert fx.stale() == {"rate": [("DATA", "rates")]}
    fx.run()
    assert fx.stale() == {}


def test_an_observation_tells_the_table_and_when_it_landed(fx) -> None:
    before = dt.datetime.now(dt.UTC).timestamp()
    land(fx, "1.000")
    fx.observe()
    record = fx.instance.get_latest_data_version_record(dg.AssetKey("rates"), is_source=True)
    metadata = record.event_log_entry.asset_observation.metadata
    assert metadata["table"].value == "the table `fx` of the store"
    assert metadata["landed"].value >= before
