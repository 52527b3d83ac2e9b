"""What an apply asks of real data before it computes with it: sources, expectations, ages; and what it hides."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from strata_core.engines.protocol import ParquetTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.attempt import attempt
from strata_core.planning.applying.compute import Input, Run
from strata_core.planning.fingerprints import data_digest
from strata_core.planning.hidden import hidden_columns
from strata_core.planning.provenance import Data
from strata_core.planning.workspace import open_workspace

SECRET = "x@secret.example"


class Counting:
    """The reference engine, noting which tables it was asked to assess."""

    name = "reference"

    def __init__(self):
        self._engine, self.assessed = ReferenceEngine(), []

    def execute(self, relation, tables):
        return self._engine.execute(relation, tables)

    def explain(self, relation, tables):
        return self._engine.explain(relation, tables)

    def physical_schema(self, table):
        return self._engine.physical_schema(table)

    def assess(self, table, assertions, key=()):
        path = getattr(table, "path", None)
        if path is not None and path.name not in self.assessed:
            self.assessed.append(path.name)
        return self._engine.assess(table, assertions, key)


def assessed(shop, *models, **how):
    engine = Counting()
    shop.apply(*models, engine=engine, **how)
    return engine.assessed


def test_a_source_is_checked_once_for_each_content_and_declaration(shop):
    assert assessed(shop) == ["orders.csv", "customers.csv"]
    assert assessed(shop, force=True) == []
    shop.edit("models/enriched.strata", "  from orders\n", "  from orders\n  filter amount > 0.00\n")
    assert assessed(shop) == []
    shop.edit("orders.csv", "3.00", "4.00")
    assert assessed(shop) == ["orders.csv"]
    shop.edit("models/sources.strata", "    customer_id: int64,\n", "    customer_id: int64 protected,\n")
    assert assessed(shop) == ["orders.csv"]


def test_a_source_is_checked_once_an_apply_also_when_it_breaks_its_promises(shop):
    shop.write(
        "models/more.strata",
        "contract O { order_id: int64 primary_key }\nmodel more -> contract O { from orders select { order_id } }\n",
    )
    shop.edit("orders.csv", "2,10,ES", "1,10,ES")
    engine = Counting()
    outcome = shop.apply(engine=engine)
    assert {n: str(r.status) for n, r in outcome.results.items() if n in ("enriched", "more")} == {
        "enriched": "violated",
        "more": "violated",
    }
    assert outcome.results["more"].inputs == outcome.results["enriched"].inputs[:1]


def test_a_stricter_declaration_is_checked_though_nothing_is_computed(shop):
    shop.apply()
    shop.edit("models/sources.strata", "    placed: date nonnull,\n", "    placed: date nonnull unique,\n")
    result = shop.result("enriched")
    assert (str(result.status), [d.code for d in result.violations]) == ("violated", ["E083"])
    assert shop.head() == 1


def unproven(shop):
    """`customers` has no key any more: only the data says whether an order matches one customer."""
    shop.edit("models/sources.strata", "customer_id: int64 nonnull primary_key", "customer_id: int64 nonnull")
    shop.edit("models/enriched.strata", "order_id: int64 primary_key", "order_id: int64 nonnull")


def test_e087_an_expectation_that_the_data_keeps(shop):
    unproven(shop)
    assert shop.statuses()["enriched"] == "computed"


def test_e087_an_expectation_that_the_data_does_not_keep(shop):
    unproven(shop)
    shop.edit("customers.csv", "12,\n", "12,\n10,c@x.es\n")
    result = shop.result("enriched")
    (found,) = result.violations
    assert (str(result.status), found.code, str(found.span)) == ("violated", "E087", "models/enriched.strata:10:3")
    assert found.message == "`join_left customers expect many_to_one` does not hold: several rows have one key"
    assert found.notes == ("for instance customer_id = 10 (2 rows)",)
    assert shop.head() == 0


def test_e087_a_key_of_any_name(shop):
    shop.write("t.csv", "rows,rows~2\n1,1\n1,1\n")
    shop.write(
        "models/any.strata",
        'source t(csv: "t.csv") { columns: { rows: int64, `rows~2`: int64 } }\n'
        "model joined { from orders\n"
        "join_inner t on order_id == t.rows and order_id == t.`rows~2` expect many_to_one }\n",
    )
    (found,) = shop.result("joined", "joined").violations
    assert (found.code, found.notes) == ("E087", ("for instance rows = 1, rows~2 = 1 (2 rows)",))


def test_e087_keys_that_are_null_are_not_compared(shop):
    unproven(shop)
    shop.edit("models/sources.strata", "customer_id: int64 nonnull,", "customer_id: int64,")
    shop.edit("customers.csv", "12,\n", "12,\n,p@x.es\n,q@x.es\n")
    assert shop.statuses()["enriched"] == "computed"


def test_e087_a_classified_key_is_not_shown(shop):
    shop.edit("models/sources.strata", "customer_id: int64 nonnull primary_key", "customer_id: int64 nonnull")
    shop.edit(
        "models/sources.strata",
        "    country: string nonnull enum",
        "    mail: string,\n    country: string nonnull enum",
    )
    shop.write(
        "orders.csv",
        f"order_id,customer_id,mail,country,amount,placed\n1,10,{SECRET},ES,1.00,2026-01-01\n",
    )
    shop.write("customers.csv", f"customer_id,email\n10,{SECRET}\n11,{SECRET}\n")
    shop.edit("models/enriched.strata", "order_id: int64 primary_key", "order_id: int64 nonnull")
    shop.edit("models/enriched.strata", "orders.customer_id == customers.customer_id", "orders.mail == customers.email")
    (found,) = shop.result("enriched").violations
    assert found.code == "E087"
    assert found.notes == ("for instance email = ‹masked› (2 rows)",)


def test_a_hidden_value_is_hidden_in_what_is_made_of_it(shop):
    shop.write("customers.csv", f"customer_id,email\n10,{SECRET}\n11,{SECRET}\n")
    shop.write(
        "models/mails.strata",
        "contract Mails { mail: string unique }\n"
        "model mails -> contract Mails { from customers select { mail = lower(email) } }\n",
    )
    result = shop.result("mails", "mails")
    assert [d.code for d in result.violations] == ["E083"]
    assert SECRET not in repr(result)
    assert result.violations[0].notes == ("for instance mail = ‹masked›",)


def test_e090_a_value_of_a_hidden_column_is_not_in_what_the_engine_says(shop):
    shop.write("models/more.strata", 'model more { from customers select { x = cast(email, "int64") } }\n')
    (found,) = shop.result("more", "more").violations
    assert (found.code, str(found.span)) == ("E090", "models/more.strata:1:7")
    assert found.message == (
        "model `more`: a value overflows or cannot be cast; it is not shown, for `customers.email`, `x` may not be seen"
    )
    assert "a@x.es" not in repr(found)


def test_e090_a_value_of_other_columns_is_named(shop):
    shop.write("models/more.strata", 'model more { from customers select { x = cast(customer_id, "decimal(1,0)") } }\n')
    (found,) = shop.result("more", "more").violations
    assert found.message == "model `more`: `cast to decimal(1,0)` failed on `10`: 10 does not fit decimal(1,0)"


def test_e085_a_source_by_its_column(shop):
    shop.edit(
        "models/sources.strata",
        "    placed: date nonnull,\n  }",
        "    placed: date nonnull,\n  }\n  freshness: <= 1d freshness_column: placed",
    )
    result = shop.result("enriched")
    (found,) = result.violations
    assert (str(result.status), found.code) == ("violated", "E085")
    assert found.message == "the latest `placed` is 2026-01-03, but source `orders` promises freshness <= 1d"


def test_e085_a_source_by_the_age_of_its_file(shop):
    shop.edit(
        "models/sources.strata", "    placed: date nonnull,\n  }", "    placed: date nonnull,\n  }\n  freshness: <= 2h"
    )
    shop.apply()
    assert shop.head() == 1
    os.utime(shop.root / "orders.csv", (1, 1))
    shop.edit("models/enriched.strata", "  from orders\n", "  from orders\n  filter amount > 0.00\n")
    result = shop.result("enriched")
    (found,) = result.violations
    assert (str(result.status), found.code, str(found.span)) == ("violated", "E085", "models/sources.strata:1:1")
    assert found.message.startswith("the data of source `orders` was written ")
    assert found.message.endswith(" ago, but it promises freshness <= 2h")


def test_e085_a_model_by_its_column(shop):
    shop.edit(
        "models/by_day.strata",
        "( aggregate { orders = count() } )\n",
        "( aggregate { orders = count() } )\n  freshness <= 1d freshness_column: placed\n",
    )
    result = shop.result("by_day")
    (found,) = result.violations
    assert (str(result.status), found.code) == ("violated", "E085")


def test_e085_rows_that_are_reused_are_asked_for_their_age(shop):
    today = datetime.now(UTC).date()
    shop.edit("models/by_day.strata", "placed: date primary_key", "placed: date primary_key freshness: <= 1d")
    shop.write("orders.csv", f"order_id,customer_id,country,amount,placed\n1,,ES,1.00,{today}\n")
    assert shop.statuses()["by_day"] == "computed"
    project, compiled = shop.project, shop.workspace().compiled
    workspace = open_workspace(project, "dev", compiled)

    def at(instant):
        run = Run(workspace, ReferenceEngine(), instant, hidden_columns(compiled), frozenset(), lambda *_: None)
        planned = next(m for m in workspace.plan().models if m.name == "by_day")
        artifact = shop.result("enriched").artifact or live(shop, "enriched")
        table = ParquetTable(artifact.paths, compiled.models["enriched"].relation.schema.columns)
        read = {"placed": artifact.manifest.columns["placed"]}
        return attempt(run, planned, lambda _: Input(table, Data(data_digest(read), read)))

    assert str(at(datetime.now(UTC)).status) == "reused"
    later = at(datetime.now(UTC) + timedelta(days=3))
    assert (str(later.status), [d.code for d in later.violations]) == ("violated", ["E085"])


def live(shop, model):
    store = shop.workspace().store
    return store.artifact(model, store.environment("prod").head().models[model])


def test_e085_a_model_without_a_contract_by_its_column(shop):
    shop.write(
        "models/bare.strata", "model bare { from orders select { placed } freshness <= 1d freshness_column: placed }\n"
    )
    (found,) = shop.result("bare", "bare").violations
    assert found.code == "E085"


@pytest.mark.parametrize("promise", ["freshness <= 1d", "freshness <= 2d"])
def test_the_age_that_a_model_promises_is_part_of_its_contract(shop, promise):
    before = shop.fingerprint("by_day")
    shop.edit("models/by_day.strata", "= count() } )\n", f"= count() }} )\n  {promise}\n")
    after = shop.fingerprint("by_day")
    assert (after.own, after.contract != before.contract) == (before.own, True)
