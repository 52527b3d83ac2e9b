"""Tables that two products have among their assets (W115)."""

from __future__ import annotations

from pathlib import Path

import pytest

from .projects import PLACE, checked, line

OTHER = "contracts/crm/orders/contract.yaml"
HEAD = """\
apiVersion: strata/v0
kind: DataProductContract
id: {id}
name: Orders
version: 0.1.0
status: {status}
layer: bronze
domain: {domain}
owner: {{team: orders}}
assets:
  - {asset}
"""
MODELS = 'source raw(csv: "raw.csv") { columns: { id: int64 nonnull } }\nmodel orders { from raw }\n'
FIX = (
    "leave it to one of them, and name that one under `lineage.upstream` of the other (`product: crm.orders`);"
    " where two tables are meant, give each its own `ref`, or the `location` of its rows"
)


def contract(id_: str, asset: str, status: str = "draft") -> str:
    return HEAD.format(id=id_, domain=id_.partition(".")[0], asset=asset, status=status)


def twice(root: Path, mine: str, theirs: str, status: str = "draft") -> list[str]:
    files: dict[str, str | bytes] = {
        "models/m.strata": MODELS,
        PLACE: contract("shop.orders", mine),
        OTHER: contract("crm.orders", theirs, status),
    }
    found = checked(root, files).diagnostics
    assert not any(d.blocks for d in found)
    return [line(d) for d in found if d.code == "W115"]


def test_both_places_are_told_and_what_would_be_accepted(tmp_path: Path) -> None:
    asset = "{id: orders, kind: table}"
    files: dict[str, str | bytes] = {
        PLACE: contract("shop.orders", asset),
        OTHER: contract("crm.orders", "{id: sales, kind: table, ref: orders}"),
    }
    (one,) = checked(tmp_path, files).diagnostics
    assert line(one) == f"W115 {PLACE}:11:10 assets[orders].id"
    assert one.message == "`orders` is an asset of `crm.orders` too: two products answer for one table"
    assert [(str(r.span), r.message) for r in one.related] == [
        (f"{OTHER}:11:10", "`sales` of `crm.orders` is the same table")
    ]
    assert (one.fix, one.blocks) == (FIX, False)


@pytest.mark.parametrize(
    ("mine", "theirs", "same"),
    [
        ("{id: orders, kind: strata_model}", "{id: o, kind: strata_model, ref: orders}", True),
        ("{id: orders, kind: strata_model}", "{id: orders, kind: dagster_asset}", True),
        ("{id: orders, kind: strata_model}", "{id: orders, kind: dbt_model}", False),
        ("{id: orders, kind: table, location: a.csv}", "{id: sales, kind: table, location: ./a.csv}", True),
        ("{id: orders, kind: table, location: a.csv}", "{id: orders, kind: table, location: b.csv}", False),
        ("{id: orders, kind: table, ref: a/orders}", "{id: orders, kind: table, ref: b/orders}", False),
        ("{id: a, kind: table}", "{id: b, kind: table}", False),
    ],
)
def test_tables_are_told_apart_as_their_tools_do(tmp_path: Path, mine: str, theirs: str, same: bool) -> None:
    assert bool(twice(tmp_path, mine, theirs)) is same


def test_a_retired_product_answers_for_nothing(tmp_path: Path) -> None:
    asset = "{id: orders, kind: table}"
    assert twice(tmp_path / "a", asset, asset, "active") != []
    assert twice(tmp_path / "b", asset, asset, "retired") == []


def test_the_fix_is_accepted(tmp_path: Path) -> None:
    left = contract("shop.orders", "{id: paid, kind: table}") + "lineage: {upstream: [{product: crm.orders}]}\n"
    files: dict[str, str | bytes] = {PLACE: left, OTHER: contract("crm.orders", "{id: orders, kind: table}")}
    assert checked(tmp_path, files).diagnostics == ()
