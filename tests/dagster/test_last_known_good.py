"""The `last_known_good` check: runs alone, and tells of what is missing, changed, broken or old."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

import dagster as dg
import pytest

from strata_dagster import examination

ALONE = dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey("paid"), "last_known_good"))


class ThreeHoursLater(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        return datetime.now(tz) + timedelta(hours=3)


def found(shop) -> dg.AssetCheckEvaluation:
    run = shop.run(selection=ALONE)
    assert run.made == {}
    return run.checks["paid.last_known_good"]


def test_it_passes_on_what_was_published_and_names_its_age(shop) -> None:
    shop.run()
    check = found(shop)
    assert check.passed
    assert not check.blocking
    assert check.description.startswith("live for ")
    assert check.metadata["age_seconds"].value >= 0
    assert check.metadata["rows_read_again"].value is True
    assert "kept: 8 promises (3 rows)" in check.metadata["contract"].value


def test_it_stays_green_while_a_bad_batch_waits(shop, bad_orders) -> None:
    shop.run()
    shop.write("data/orders.csv", bad_orders)
    run = shop.run()
    assert not run.success
    told = run.checks["paid.last_known_good"]
    assert told.passed
    assert told.metadata["rows_read_again"].value is False
    assert told.target_materialization_data.run_id == run.checks["paid.write_pin"].target_materialization_data.run_id
    assert found(shop).passed


def test_after_a_publication_it_belongs_to_the_new_materialization(shop) -> None:
    run = shop.run()
    assert run.checks["paid.last_known_good"].target_materialization_data.run_id == run.result.run_id


def test_it_is_told_where_the_project_does_not_compile(shop) -> None:
    shop.run()
    assets = shop.assets()[:2]
    shop.edit("models/rates.strata", "select { country, rate }", "select { country, price }")
    run = shop.run(assets=assets)
    assert not run.success
    assert run.checks["rate.last_known_good"].passed
    assert shop.run(assets=assets, selection=ALONE).success


def test_it_fails_where_nothing_is_published(shop) -> None:
    check = found(shop)
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "**E095**" in check.metadata["findings"].value


@pytest.mark.parametrize("damage", ["removed", "changed"])
def test_it_fails_where_the_artifact_is_not_that_of_its_manifest(shop, damage) -> None:
    shop.run()
    part = next((shop.root / ".strata/store/tables/paid").rglob("*.parquet"))
    part.chmod(0o644)
    if damage == "removed":
        part.unlink()
    else:
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
    check = found(shop)
    assert not check.passed
    assert "**E094**" in check.metadata["findings"].value


def test_it_holds_the_rows_against_the_contract_of_their_publication_not_the_present_one(shop) -> None:
    shop.run()
    shop.edit("models/sales/orders.strata", "enum {ES, MX}", "enum {PT}")
    assert found(shop).passed


def test_age_alone_is_a_warning(shop, monkeypatch) -> None:
    shop.edit("models/sales/orders.strata", "select { order_id", "freshness <= 1h\n  select { order_id")
    shop.run()
    monkeypatch.setattr(examination, "datetime", ThreeHoursLater)
    check = found(shop)
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.WARN
    assert "too old" in check.description
    assert "freshness <= 1h" in check.metadata["findings"].value
