"""Projects that share a store: what one publishes is held against what the others read (Seed 0 §5 B)."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from strata_core.contract_engine.pin.approved_changes import approved_changes
from strata_core.contract_engine.promotions import Promotion, record
from strata_core.diagnostics import StrataError
from strata_core.frozen import replace
from strata_core.lineage.tables import ColumnId, TableId
from strata_core.planning.catalog import Approved, read_catalog
from strata_core.planning.lineage import project_lineage
from strata_core.planning.plan import Plan

ORDERS = """\
source raw(csv: "orders.csv") {
  columns: {
    order_id: int64 nonnull primary_key,
    country: string nonnull enum {ES, MX},
    email: string,
    amount: decimal(10,2) nonnull,
  }
}
contract Order {
  order_id: int64 primary_key
  country: string nonnull enum {ES, MX}
  email: string
  amount: decimal(10,2) nonnull
}
model orders -> contract Order {
  owner: "sales"
  from raw
  select { order_id, country, email, amount }
}
"""
BY_COUNTRY = """\
source sold(store: "orders", ns: "shop") {
  columns: {
    order_id: int64 nonnull primary_key,
    country: string nonnull enum {ES, MX},
    amount: decimal(10,2) nonnull,
  }
}
model by_country {
  owner: "finance"
  from sold
  group { country } ( aggregate { orders = count(), total = sum(amount) } )
}
"""
DATA = "order_id,country,email,amount\n1,ES,a@x.es,12.50\n2,MX,,3.00\n"


def toml(name):
    return f'[project]\nname = "{name}"\n[store]\nroot = "../store"\n[engine]\nname = "reference"\n'


@pytest.fixture
def two(empty_shop):
    """The projects `shop`, which publishes `orders`, and `marts`, which reads it; both are applied."""
    shop, marts = empty_shop("shop"), empty_shop("marts")
    shop.write("strata.toml", toml("shop"))
    shop.write("models/orders.strata", ORDERS)
    shop.write("orders.csv", DATA)
    marts.write("strata.toml", toml("marts"))
    marts.write("models/by_country.strata", BY_COUNTRY)
    shop.apply()
    marts.apply()
    return shop, marts


def plan(shop) -> Plan:
    return shop.workspace().plan(approvals=lambda: approved_changes(shop.root))


def found(plan):
    return [(d.code, d.message, str(d.span) if d.span else None) for d in plan.conflicts]


def catalog(shop):
    return read_catalog(shop.workspace().store, "prod")


def test_to_publish_a_table_that_another_project_has_is_told_until_it_moved(two, empty_shop):
    shop, _ = two
    heir = empty_shop("heir")
    heir.write("strata.toml", toml("heir"))
    heir.write("models/orders.strata", ORDERS.replace("  from raw\n", "  from raw\n  filter amount > 1\n"))
    heir.write("orders.csv", DATA.replace("12.50", "99.00"))
    (lint,) = plan(heir).lints
    assert (lint.code, lint.message, str(lint.span)) == (
        "W017",
        "`orders` is live as the project `shop` published it, and would be this project's",
        "models/orders.strata:15:7",
    )
    heir.edit("models/orders.strata", "model orders", "// strata: allow W017 because it moves\nmodel orders")
    assert plan(heir).lints == ()
    heir.apply()
    assert [str(row["amount"]) for row in heir.rows("orders")] == ["99.00", "3.00"]
    assert [d.code for d in plan(shop).lints] == ["W017"]  # it would be taken back
    shop.write("strata.toml", toml("shop") + '[lint]\nW017 = "error"\n')
    assert [d.code for d in plan(shop).conflicts] == ["W017"]
    with pytest.raises(StrataError):
        shop.apply()
    shop.write("models/orders.strata", ORDERS.replace("model orders", "model sales"))
    shop.apply()
    assert [str(row["amount"]) for row in heir.rows("orders")] == ["99.00", "3.00"]
    assert plan(heir).lints == plan(shop).lints == ()


def test_a_table_of_another_project_is_read(two):
    _, marts = two
    assert [{**row, "total": str(row["total"])} for row in marts.rows("by_country")] == [
        {"country": "ES", "orders": 1, "total": "12.50"},
        {"country": "MX", "orders": 1, "total": "3.00"},
    ]
    assert marts.reasons() == {}


def test_seed0_s5b_published_schemas_and_reads_are_registered(two):
    shop, _ = two
    registered = catalog(shop)
    assert sorted(registered) == ["marts", "shop"]
    orders = registered["shop"].tables["orders"]
    assert (orders.version, orders.owner, orders.contract.names) == (
        1,
        "sales",
        ("order_id", "country", "email", "amount"),
    )
    (read,) = registered["marts"].reads
    assert (read.table, read.consumer, read.source, read.owner) == ("orders", "by_country", "sold", "finance")
    assert read.needs.names == ("country", "amount")
    assert read.place == "models/by_country.strata:1"


def test_seed0_s5b_nothing_is_registered_anew_where_nothing_changed(two):
    shop, _ = two
    shop.apply()
    shop.edit("models/orders.strata", "  from raw\n", "  // all of them\n  from raw\n")
    shop.apply()
    assert shop.workspace().store.catalog("prod", "shop").head() == 1


READ = "read by `by_country` of project marts, owner finance (source `sold`, models/by_country.strata:1)"


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        (
            [("country, email, amount }", "country, email }"), ("  amount: decimal(10,2) nonnull\n}", "}")],
            None,
            "E030",
            "`orders.amount`: removed, and other projects read it",
        ),
        (
            [("email, amount }", "email, worth = amount }"), ("  amount: decimal(10,2) nonnull\n}", "}")],
            None,
            "E031",
            "`orders.amount`: renamed to `worth`, and other projects read it",
        ),
        (
            [
                ("email, amount }", 'email, amount = cast(amount, "decimal(8,2)") }'),
                ("  amount: decimal(10,2) nonnull\n}", "  amount: decimal(8,2) nonnull\n}"),
            ],
            None,
            "E032",
            "`orders.amount`: narrowed (decimal(10,2) → decimal(8,2)), and other projects read it",
        ),
        (
            [
                ("email, amount }", "email, amount = nullif(amount, 3.00) }"),
                ("  amount: decimal(10,2) nonnull\n}", "  amount: decimal(10,2)\n}"),
            ],
            None,
            "E032",
            "`orders.amount`: may be null now (nonnull → nullable), and other projects read it",
        ),
        (
            [("  country: string nonnull enum {ES, MX}\n", "  country: string nonnull enum {ES, MX, CO}\n")],
            None,
            "E032",
            "`orders.country`: further values (enum {ES, MX} → enum {CO, ES, MX}), and other projects read it",
        ),
    ],
    ids=["removed", "renamed", "type", "nullability", "enum"],
)
def test_seed0_s5b_the_producer_is_told_what_it_breaks(two, old, new, code, message):
    shop, marts = two
    for before, after in old:
        shop.edit("models/orders.strata", before, after)
    (conflict,) = plan(shop).conflicts
    assert (conflict.code, conflict.message, conflict.notes) == (code, message, (READ,))
    assert conflict.blocks
    with pytest.raises(StrataError):
        shop.apply()
    assert (shop.head(), marts.reasons()) == (2, {})


def test_seed0_s5b_what_nobody_reads_may_change(two):
    shop, _ = two
    shop.edit("models/orders.strata", "country, email, amount }", "country, amount }")
    shop.edit("models/orders.strata", "  email: string\n  amount", "  amount")
    assert found(plan(shop)) == []
    shop.apply()
    assert catalog(shop)["shop"].tables["orders"].version == 3


def test_seed0_s5b_what_others_need_of_it_is_what_they_declared(two):
    shop, marts = two
    marts.edit("models/by_country.strata", "amount: decimal(10,2) nonnull,", "amount: decimal(10,2),")
    marts.apply()
    shop.edit("models/orders.strata", "email, amount }", "email, amount = nullif(amount, 3.00) }")
    shop.edit("models/orders.strata", "  amount: decimal(10,2) nonnull\n}", "  amount: decimal(10,2)\n}")
    assert found(plan(shop)) == []


def test_seed0_s3_a_protected_column_may_not_change_though_no_project_reads_it(two):
    shop, _ = two
    shop.edit("models/orders.strata", "  email: string\n  amount", "  email: string protected\n  amount")
    shop.apply()
    shop.edit("models/orders.strata", "country, email, amount }", "country, amount }")
    shop.edit("models/orders.strata", "  email: string protected\n  amount", "  amount")
    message = "`orders.email`: removed, and it is protected: readers are promised that it stays"
    assert found(plan(shop)) == [("E030", message, "models/orders.strata:9:1")]


def test_seed0_s5b_a_model_that_others_read_may_not_go(two):
    shop, _ = two
    shop.write("models/orders.strata", ORDERS.replace("model orders", "model sales"))
    assert [(code, message) for code, message, _ in found(plan(shop))] == [
        ("E030", "`orders.country`: removed with its model, and other projects read it"),
        ("E030", "`orders.amount`: removed with its model, and other projects read it"),
    ]


def test_seed0_s5b_a_model_may_not_take_the_name_of_a_table_that_others_read(two, empty_shop):
    third = empty_shop("third")
    third.write("strata.toml", toml("third"))
    third.write("orders.csv", DATA)
    narrower = ORDERS.replace("country, email, amount }", "email, amount }")
    narrower = narrower.replace(
        "  country: string nonnull enum {ES, MX}\n  email: string\n  amount", "  email: string\n  amount"
    )
    third.write("models/orders.strata", narrower)
    (conflict,) = plan(third).conflicts
    assert (conflict.code, conflict.message) == ("E030", "`orders.country`: removed, and other projects read it")
    assert conflict.notes == (
        "the table `orders` is one that project shop has published",
        "read by `by_country` of project marts, owner finance (source `sold`, models/by_country.strata:1)",
    )
    assert conflict.fix is not None
    assert conflict.fix.startswith("give the model another name, or let its owner approve")
    third.write("models/orders.strata", ORDERS)
    assert plan(third).conflicts == ()


def test_a_table_that_another_project_has_published_since_is_not_taken_back(two, empty_shop):
    shop, _ = two
    third = empty_shop("third")
    third.write("strata.toml", toml("third"))
    third.write("orders.csv", DATA)
    third.write("models/orders.strata", ORDERS.replace("  from raw\n", "  from raw\n  filter order_id > 1\n"))
    third.apply()
    shop.write("models/orders.strata", ORDERS.replace("model orders", "model sales"))
    assert plan(shop).removed == ()
    shop.apply()
    assert [r["order_id"] for r in third.rows("orders")] == [2]
    assert sorted(catalog(shop)["shop"].tables) == ["sales"]
    assert plan(third).stale == ()


def test_a_model_that_nobody_reads_goes_with_the_next_apply(two):
    _, marts = two
    marts.write("models/by_country.strata", BY_COUNTRY.replace("model by_country", "model totals"))
    assert plan(marts).removed == ("by_country",)
    marts.apply("totals")
    assert sorted(marts.workspace().store.environment("prod").head().models) == ["by_country", "orders", "totals"]
    marts.apply()
    assert sorted(marts.workspace().store.environment("prod").head().models) == ["orders", "totals"]
    assert plan(marts).removed == ()
    assert sorted(catalog(marts)["marts"].tables) == ["totals"]


CONTRACT = """\
apiVersion: strata/v0
kind: DataProductContract
id: sales.orders
name: Orders
version: 2.0.0
status: active
layer: bronze
domain: sales
owner: {{team: sales, contact: sales@example.com, approvers: [{approver}]}}
assets:
  - {{id: orders, kind: strata_model}}
compatibility:
  approvals:
    - {{kind: owner, by: ana, at: 2026-11-30, changes: ["{change}"]}}
"""


def test_seed0_s5b_an_owner_approves_a_change_and_that_is_kept(two):
    shop, marts = two
    shop.edit("models/orders.strata", "email, amount }", "email, worth = amount }")
    shop.edit("models/orders.strata", "  amount: decimal(10,2) nonnull\n}", "}")
    (conflict,) = plan(shop).conflicts
    change = conflict.fix.split("approve the change ")[1].split()[0]
    shop.write("contracts/sales/orders/contract.yaml", CONTRACT.format(change=change, approver="bob"))
    assert len(plan(shop).conflicts) == 1
    shop.write("contracts/sales/orders/contract.yaml", CONTRACT.format(change=change, approver="ana"))
    promotions = shop.root / "contracts" / ".promotions"
    before = yaml.safe_load(CONTRACT.format(change=change, approver="bob").replace("2026-11-30", "'2026-11-30'"))
    record(promotions, [Promotion("sales.orders", "1.0.0", "first-version", before)], 0)
    assert len(plan(shop).conflicts) == 1  # ana made herself an approver along with the change
    shutil.rmtree(promotions)
    approved = plan(shop)
    assert approved.conflicts == ()
    ((table, whole, by),) = [(a.table, a.change, a.by) for a in approved.approved]
    assert (table, whole[:12], by) == ("orders", change, "ana")
    shop.carry_out(approved)
    assert catalog(shop)["shop"].approvals == (Approved("orders", whole, "ana"),)
    with pytest.raises(StrataError) as caught:
        raise marts.workspace().missing["sold"]
    (moved,) = caught.value.diagnostics
    assert (moved.code, moved.message, moved.fix) == (
        "E031",
        "the published table `orders` has no column `amount`: it is called `worth` now",
        "declare `worth` in its place",
    )


def published(shop, *edits):
    """What `shop` publishes although it breaks others."""
    for before, after in edits:
        shop.edit("models/orders.strata", before, after)
    shop.carry_out(replace(plan(shop), conflicts=()))


@pytest.mark.parametrize(
    ("edits", "code", "message"),
    [
        (
            [
                ("email, amount }", 'email, amount = cast(amount, "decimal(8,2)") }'),
                ("  amount: decimal(10,2) nonnull\n}", "  amount: decimal(8,2) nonnull\n}"),
            ],
            "E032",
            "`orders.amount` is decimal(8,2) since version 3, not decimal(10,2)",
        ),
        (
            [
                ("  amount: decimal(10,2) nonnull\n}", "  amount: decimal(10,2)\n}"),
                ("email, amount }", "email, amount = nullif(amount, 3.00) }"),
            ],
            "E032",
            "`orders.amount` may be null since version 3",
        ),
        (
            [("country: string nonnull enum {ES, MX}\n", "country: string nonnull enum {ES, MX, CO}\n")],
            "E032",
            "`orders.country` may hold other values since version 3",
        ),
        (
            [("country, email, amount }", "country, email }"), ("  amount: decimal(10,2) nonnull\n}", "}")],
            "E030",
            "the published table `orders` has no column `amount`",
        ),
    ],
    ids=["type", "nullability", "enum", "removed"],
)
def test_seed0_s5b_the_reader_is_told_what_moved_since(two, edits, code, message):
    shop, marts = two
    published(shop, *edits)
    (moved,) = marts.workspace().missing["sold"].diagnostics
    assert (moved.code, moved.message) == (code, f"source `sold`: {message}" if moved.span is None else message)


def test_e030_a_table_that_nobody_published(two):
    _, marts = two
    marts.edit("models/by_country.strata", 'store: "orders"', 'store: "order"')
    (missing,) = marts.workspace().missing["sold"].diagnostics
    assert (missing.code, missing.fix) == ("E030", "did you mean `orders`?")
    marts.edit("models/by_country.strata", 'store: "order"', 'store: "by_country"')
    (own,) = marts.workspace().missing["sold"].diagnostics
    assert own.message == "source `sold`: `by_country` is a model of this project, which needs no source"


def test_other_columns_of_a_shared_table_leave_its_readers_fresh(two):
    shop, marts = two
    shop.edit("orders.csv", "a@x.es", "b@x.es")
    shop.apply()
    assert marts.reasons() == {}
    shop.edit("orders.csv", "12.50", "13.50")
    shop.apply()
    assert marts.reasons() == {"by_country": ["data change: sold"]}


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda text: text[:40], "E094"),
        (lambda text: text.replace('"format":1', '"format":99'), "E092"),
    ],
    ids=["torn", "newer"],
)
def test_a_catalog_that_cannot_be_read_stops_the_plan(two, damage, code):
    shop, marts = two
    log = marts.workspace().store.catalog("prod", "marts")
    (path,) = log.directory.glob("*.json")
    text = path.read_text()
    path.write_text(damage(json.dumps(json.loads(text), separators=(",", ":"))))
    with pytest.raises(StrataError) as caught:
        plan(shop)
    assert caught.value.diagnostics[0].code == code
    path.write_text(text)
    assert found(plan(shop)) == []


def test_environments_have_catalogs_of_their_own(two):
    shop, _ = two
    shop.apply(environment="dev")
    shop.edit("models/orders.strata", "country, email, amount }", "country, email }")
    shop.edit("models/orders.strata", "  amount: decimal(10,2) nonnull\n}", "}")
    assert shop.workspace("dev").plan().conflicts == ()
    assert len(plan(shop).conflicts) == 1


def test_seed0_s5b_down_crosses_projects_that_share_a_store(two):
    shop, marts = two
    found = project_lineage(shop.project)
    amount = ColumnId(TableId("shop", "orders"), "amount")
    assert [*found.graph.down(amount).columns] == [
        ColumnId(TableId("marts", "sold"), "amount"),
        ColumnId(TableId("marts", "by_country"), "total"),
    ]
    total = ColumnId(TableId("marts", "by_country"), "total")
    above = project_lineage(marts.project)
    assert [edge.origin for edge in above.graph.up(total)] == [
        ColumnId(TableId("marts", "sold"), "amount"),
        ColumnId(TableId("shop", "orders"), "amount"),
        ColumnId(TableId("shop", "raw"), "amount"),
    ]
    assert project_lineage(shop.project, "dev").graph.down(amount).columns == ()


def test_lineage_does_without_a_catalog_that_cannot_be_read(two):
    shop, marts = two
    (path,) = marts.workspace().store.catalog("prod", "marts").directory.glob("*.json")
    path.write_text("{")
    found = project_lineage(shop.project)
    assert [(d.code, d.blocks) for d in found.missing] == [("E094", False)]
    assert TableId("shop", "orders") in found.graph.tables
