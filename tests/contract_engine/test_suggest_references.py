"""Referential tests are suggested where a key is read as a foreign key: by joins, by dbt's tests, by names and rows
(Seed 2, "Generate Pull Requests": test suggestions)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from strata_core.contract_engine.collation.candidate import Confidence

from .projects import PLACE, write
from .test_cli import run
from .test_suggest_documentation import HEAD, TOML, proposed

PEOPLE = "contracts/shop/people/contract.yaml"
STRATA = """\
source customers(csv: "customers.csv") { columns: { id: int64 primary_key, name: string } }
source sales(csv: "sales.csv") {
  columns: { order_id: int64 primary_key, buyer: int64 nonnull, shop: string, day: date }
}
source shops(csv: "shops.csv") { columns: { shop: string nonnull, day: date nonnull, city: string } }

model cleaned {
  from sales
  filter buyer > 0
}

model orders {
  from cleaned
  KIND customers on cleaned.buyer == customers.id expect many_to_one
  join_left shops on cleaned.shop == shops.shop and cleaned.day == shops.day expect many_to_one
  select { order_id, customer = cleaned.buyer, buyer = customers.name, shop = cleaned.shop, day = cleaned.day }
}
"""
ORDERS = """\
  - id: orders
    kind: strata_model
    columns:
      - {name: order_id, type: int64}
      - {name: customer, type: int64}
      - {name: buyer, type: string}
"""
CUSTOMERS = "  - {id: customers, kind: table, columns: [{name: id, type: int64, primary_key: true}]}\n"


def told(root: Path, product: str) -> list[tuple[str, Any, str, Confidence]]:
    """The referential tests that are suggested: id, columns and where they are found, why, how sure."""
    tests = [(p.edit.value, p.edit) for p in proposed(root, product, "test")]
    return [
        (test["id"], test["expectation"]["columns"], test["expectation"]["to"], edit.reason, edit.confidence)
        for test, edit in tests
        if test["expectation"]["type"] == "referential"
    ]


def test_seed2_a_key_that_a_model_joins_by_is_suggested_as_a_reference(tmp_path: Path) -> None:
    people = HEAD.format(name="people") + CUSTOMERS
    models = STRATA.replace("KIND", "join_inner")
    write(tmp_path, {"strata.toml": TOML, "models/m.strata": models, PEOPLE: people})
    write(tmp_path, {PLACE: HEAD.format(name="orders") + ORDERS})
    assert told(tmp_path, "shop.orders") == [
        (
            "orders_customer_in_customers",
            ["customer"],
            ["shop.people/customers.id"],
            "`orders` joins `cleaned.buyer` to `customers.id`, a key there, and keeps what has a match",
            Confidence.MEDIUM,
        )
    ]
    assert told(tmp_path, "shop.people") == []
    # Who leaves nothing out expects that some are not found: without rows, that is a guess.
    write(tmp_path, {"models/m.strata": STRATA.replace("KIND", "join_left")})
    assert told(tmp_path, "shop.orders") == []
    # The test is asked for already, in whatever table.
    asked = "tests: [{id: t, kind: expectation, severity: blocking, asset: orders, expectation: "
    asked += "{type: referential, columns: [customer], to: [shop.people/customers.id]}}]\n"
    write(tmp_path, {"models/m.strata": models, PLACE: HEAD.format(name="orders") + ORDERS + asked})
    assert told(tmp_path, "shop.orders") == []


def sold(root: Path, buyers: list[int | None]) -> None:
    """Orders and customers with rows that are in reach."""
    orders = """\
  - id: orders
    kind: table
    location: data/orders.parquet
    columns:
      - {name: order_id, type: int64, primary_key: true}
      - {name: customer_id, type: int64}
      - {name: id, type: int64}
"""
    customers = CUSTOMERS.replace("kind: table,", "kind: table, location: data/customers.parquet,")
    more = "lineage: {upstream: [{product: shop.people}]}\n"
    write(root, {"strata.toml": TOML, PLACE: HEAD.format(name="orders") + orders + more, "data/.keep": ""})
    write(root, {PEOPLE: HEAD.format(name="people") + customers})
    columns = {"order_id": range(len(buyers)), "customer_id": buyers, "id": [1] * len(buyers)}
    pq.write_table(pa.table({n: pa.array(v, pa.int64()) for n, v in columns.items()}), root / "data/orders.parquet")
    pq.write_table(pa.table({"id": [1, 2, 3]}), root / "data/customers.parquet")


def test_seed2_a_column_that_is_named_like_a_key_is_suggested_where_all_rows_agree(tmp_path: Path) -> None:
    sold(tmp_path, [1, 2, None] * 20)
    assert told(tmp_path, "shop.orders") == [
        (
            "orders_customer_id_in_customers",
            ["customer_id"],
            ["shop.people/customers.id"],
            "`customer_id` of `orders` is named like `id`, the key of `shop.people/customers`;"
            " all values that 60 rows have are found there",
            Confidence.LOW,
        )
    ]  # `id` alone says nothing of whose it is
    sold(tmp_path, [1, 2, 4] * 20)
    assert told(tmp_path, "shop.orders") == []
    sold(tmp_path, [1, 2] * 10)  # too few to conclude anything
    assert told(tmp_path, "shop.orders") == []
    (tmp_path / "data/customers.parquet").unlink()
    assert told(tmp_path, "shop.orders") == []


RELATIONSHIP: dict[str, Any] = {
    "resource_type": "test",
    "name": "relationships_orders_buyer",
    "unique_id": "test.p.relationships_orders_buyer.1a",
    "attached_node": "model.p.orders",
    "test_metadata": {
        "name": "relationships",
        "kwargs": {"column_name": "buyer", "to": "ref('customers')", "field": "id"},
    },
    "depends_on": {"nodes": ["model.p.customers", "model.p.orders"]},
    "config": {"where": None},
}


def manifest(test: dict[str, Any]) -> str:
    nodes = {
        f"model.p.{name}": {"resource_type": "model", "name": name, "unique_id": f"model.p.{name}", "columns": {}}
        for name in ("orders", "customers")
    }
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    return json.dumps({"metadata": {"dbt_schema_version": version}, "nodes": {**nodes, test["unique_id"]: test}})


def test_seed2_relationships_of_dbt_are_suggested_as_references(tmp_path: Path) -> None:
    orders = HEAD.format(name="orders") + "  - {id: orders, kind: dbt_model, columns: [{name: buyer, type: int64}]}\n"
    people = HEAD.format(name="people") + CUSTOMERS.replace("kind: table", "kind: dbt_model, ref: model.p.customers")
    write(tmp_path, {"strata.toml": f'{TOML}[dbt]\nmanifest = "target/manifest.json"\n', PLACE: orders, PEOPLE: people})
    write(tmp_path, {"target/manifest.json": manifest(RELATIONSHIP)})
    assert told(tmp_path, "shop.orders") == [
        (
            "orders_buyer_in_customers",
            ["buyer"],
            ["shop.people/customers.id"],
            "dbt tests that each `orders.buyer` is a `customers.id`",
            Confidence.MEDIUM,
        )
    ]
    # A test of some rows promises nothing of all.
    write(tmp_path, {"target/manifest.json": manifest({**RELATIONSHIP, "config": {"where": "buyer < 9"}})})
    assert told(tmp_path, "shop.orders") == []
    # The contract asks for dbt's own.
    write(tmp_path, {"target/manifest.json": manifest(RELATIONSHIP)})
    asked = "tests: [{id: t, kind: dbt, severity: blocking, asset: orders, ref: relationships_orders_buyer}]\n"
    write(tmp_path, {PLACE: orders + asked})
    assert told(tmp_path, "shop.orders") == []


def test_seed2_a_suggested_reference_is_a_test_that_runs(tmp_path: Path) -> None:
    sold(tmp_path, [1, 2, None] * 20)
    (test,) = (p.edit.value for p in proposed(tmp_path, "shop.orders", "test") if "_in_" in p.edit.value["id"])
    text = (tmp_path / PLACE).read_text()
    write(tmp_path, {PLACE: f"{text}tests: {json.dumps([test])}\n"})
    assert run("test", "--project", str(tmp_path))[::2] == (0, "1 test: 0 failed, 0 not run\n")
