"""Each batch of the walk-through differs from the good one in exactly the way that its name says."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

from demo.fetch import ROOT

BATCHES = ROOT / "demo" / "batches"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def changed(name: str) -> list[tuple[str, str, str, str]]:
    """(month in the good batch, column, good value, value in the batch) for each cell that differs."""
    return [
        (good["price_month"], column, good[column], bad[column])
        for good, bad in zip(rows(BATCHES / "good.csv"), rows(BATCHES / f"{name}.csv"), strict=True)
        for column in good
        if good[column] != bad[column]
    ]


def test_the_good_batch_has_one_price_for_each_month() -> None:
    good = rows(BATCHES / "good.csv")
    assert [row["price_month"] for row in good] == [f"2013-{month:02}-01" for month in range(1, 13)]
    assert {row["market"] for row in good} == {"NEW_YORK_HARBOR", "GULF_COAST"}
    assert all(Decimal(row["usd_per_gallon"]).as_tuple().exponent == -3 for row in good)


def test_the_repaired_batch_restates_june() -> None:
    assert changed("repaired") == [("2013-06-01", "usd_per_gallon", "2.789", "2.812")]


def test_the_bad_batches_break_one_promise_each() -> None:
    assert changed("null") == [("2013-06-01", "usd_per_gallon", "2.789", "")]
    assert changed("enum") == [("2013-06-01", "market", "GULF_COAST", "ROTTERDAM")]
    assert changed("duplicate") == [("2013-06-01", "price_month", "2013-06-01", "2013-05-01")]
    assert {(column, Decimal(good) * 1000) for _, column, good, _ in changed("type")} == {
        ("usd_per_gallon", Decimal(bad)) for _, _, _, bad in changed("type")
    }
    assert len(changed("type")) == 12
