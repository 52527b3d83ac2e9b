"""The same inputs give the same bytes (Seed 0 §6): elsewhere, later, from shuffled files, with other threads."""

from __future__ import annotations

import random

import pytest

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine

ALL = ("enriched", "by_country", "by_day", "top")


def everything(shop):
    return {name: shop.artifact_bytes(name) for name in ALL}


@pytest.fixture
def applied(new_shop):
    shop = new_shop("first")
    shop.apply()
    return everything(shop)


def test_seed0_s6_computed_again_the_bytes_are_the_same(new_shop, applied):
    shop = new_shop("again")
    shop.apply()
    assert everything(shop) == applied
    shop.apply(force=True)
    assert everything(shop) == applied


def test_seed0_s6_the_order_of_the_input_means_nothing(new_shop, applied):
    shop = new_shop("shuffled")
    for file in ("orders.csv", "customers.csv"):
        header, *records = (shop.root / file).read_text().splitlines()
        random.Random(7).shuffle(records)
        shop.write(file, "\n".join([header, *reversed(records)]) + "\n")
    shop.apply()
    assert everything(shop) == applied


def test_seed0_s6_a_model_that_says_the_same_otherwise_writes_the_same(new_shop, applied):
    shop = new_shop("refactored")
    shop.edit("models/enriched.strata", "{ order_id, country,", "{ country, order_id,")
    shop.edit("models/by_country.strata", "  from enriched\n", "  from enriched // all\n  let x = amount\n")
    shop.edit("models/by_country.strata", "sum(amount)", "sum(x)")
    shop.apply()
    assert everything(shop) == applied


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
@pytest.mark.parametrize("threads", [1, 3])
def test_seed0_s6_floats_too_whatever_the_threads_and_the_order(new_shop, engine, threads):
    numbers = [(i, ("a", "b", "c")[i % 3], 10.0 ** (i % 17 - 8) * (i + 0.1)) for i in range(500)]
    made = []
    for name, rows in (("one", numbers), ("two", numbers[::-1])):
        shop = new_shop(f"{name}{threads}{engine}")
        shop.write("numbers.csv", "i,k,x\n" + "".join(f"{i},{k},{x!r}\n" for i, k, x in rows))
        shop.write(
            "models/numbers.strata",
            'source numbers(csv: "numbers.csv") {\n'
            "  columns: { i: int64 nonnull, k: string nonnull, x: float64 nonnull }\n}\n"
            "contract Sums { k: string primary_key  total: float64 nonnull  mean: float64 nonnull }\n"
            "model sums -> contract Sums {\n"
            "  from numbers\n  group { k } ( aggregate { total = sum(x), mean = avg(x) } )\n}\n",
        )
        by = ReferenceEngine() if engine == "reference" else DuckDBEngine(EngineSettings(threads=threads))
        assert str(shop.result("sums", "sums", engine=by).status) == "computed"
        made.append(shop.artifact_bytes("sums"))
    assert made[0] == made[1]
