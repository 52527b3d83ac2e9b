"""The sensor of what is stale, of models without partitions: each candidate once, whatever becomes of its run."""

# Without postponed annotations: Dagster compares those of an op with types.

from dataclasses import dataclass, field
from typing import Any

import dagster as dg
import pytest

from strata_dagster import StrataResource, strata_stale_sensor

CHAIN = """
source orders(csv: "data/orders.csv") {
  columns: { order_id: int64 nonnull primary_key, country: string nonnull, amount: decimal(10,2), email: string }
}
contract Paid { order_id: int64 primary_key  country: string nonnull  amount: decimal(10,2) }
contract Known { order_id: int64 primary_key  country: string nonnull enum {ES, MX}  amount: decimal(10,2) }
model paid -> contract Paid { from orders select { order_id, country, amount } }
model known -> contract Known { from paid select { order_id, country, amount } }
model by_country { from known group { country } ( aggregate { total = sum(amount) } ) }
"""
EACH = '[environments.prod]\npublish = "each"\n'


@dataclass
class Ticks:
    """Ticks of the sensor. As the daemon does, runs are started of keys that no run has."""

    shop: Any
    cursor: str | None = None
    keys: set[str] = field(default_factory=set)
    told: str | None = None
    """Why the last tick asked for nothing."""

    def loaded(self) -> tuple[dg.SensorDefinition, dg.Definitions]:
        """The code location, as it is loaded now."""
        resource = StrataResource(project_dir=self.shop.root)
        sensor = strata_stale_sensor(project=self.shop.project, resource=resource)
        assets = self.shop.assets()[:1]
        return sensor, dg.Definitions(assets=assets, sensors=[sensor], resources={"strata": resource})

    def asked(self, location: tuple[dg.SensorDefinition, dg.Definitions] | None = None) -> list[list[str]]:
        """The models that a tick asks for, run by run, without carrying the runs out."""
        sensor, defs = location or self.loaded()
        with dg.build_sensor_context(instance=self.shop.instance, cursor=self.cursor, definitions=defs) as context:
            done = sensor.evaluate_tick(context)
        self.cursor, self.told = done.cursor, done.skip_message
        started = [r for r in done.run_requests or () if r.run_key not in self.keys]
        self.keys.update(str(r.run_key) for r in started)
        return [[key.to_user_string() for key in r.asset_selection or ()] for r in started]

    def carried_out(self) -> list[list[str]]:
        """The same, and the runs."""
        asked = self.asked()
        for names in asked:
            self.shop.run(names)
        return asked


@pytest.fixture
def chain(shop) -> Any:
    shop.write("models/sales/orders.strata", CHAIN)
    shop.write("models/sources.strata", "")
    shop.write("models/rates.strata", "")
    return shop


def test_what_is_made_upstream_makes_no_other_candidate_of_what_is_on_its_way(chain) -> None:
    chain.write("strata.toml", (chain.root / "strata.toml").read_text() + EACH)
    ticks = Ticks(chain)
    assert ticks.asked() == [["paid", "known", "by_country"]]
    assert chain.run(["paid"]).success  # the run has come so far
    assert ticks.asked() == []
    assert chain.run(["known"]).success
    assert ticks.asked() == []


def test_what_a_tick_asked_for_in_vain_is_asked_for_by_the_next(chain) -> None:
    """Where a reload overtakes the launch of its runs, the tick fails and the cursor stays that of the one before."""
    ticks = Ticks(chain)
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    chain.edit("models/sales/orders.strata", "total = sum(amount)", "total = max(amount)")
    kept, started, location = ticks.cursor, {*ticks.keys}, ticks.loaded()
    assert ticks.asked(location) == [["by_country"]]
    ticks.cursor, ticks.keys = kept, {*started}
    assert ticks.asked(location) == [["by_country"]], "of the same process"
    ticks.cursor, ticks.keys = kept, {*started}
    assert ticks.asked() == [["by_country"]], "of one that is loaded anew"
    ticks.cursor = kept
    assert ticks.asked() == [], "what was launched is not launched again"


def test_a_model_that_fails_is_not_tried_again_where_what_it_reads_went_live(chain, bad_orders) -> None:
    chain.write("strata.toml", (chain.root / "strata.toml").read_text() + EACH)
    chain.write("data/orders.csv", bad_orders)
    ticks = Ticks(chain)
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    assert [r["order_id"] for r in chain.live("paid")] == [1, 2, 3, 4]
    assert ticks.carried_out() == []
    assert ticks.told == "2 stale, asked for before, or waiting for what they read"
    assert [ticks.carried_out() for _ in range(2)] == [[], []]
    chain.edit("models/sales/orders.strata", "enum {ES, MX}", "enum {ES, FR, MX}")
    assert ticks.carried_out() == [["known", "by_country"]]
    assert [r["country"] for r in chain.live("by_country")] == ["ES", "FR", "MX"]
    assert ticks.carried_out() == []


def test_what_a_violation_held_back_is_asked_for_again_beside_what_mends_it(chain, bad_orders) -> None:
    chain.write("data/orders.csv", bad_orders)
    ticks = Ticks(chain)
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    assert [ticks.carried_out() for _ in range(2)] == [[], []]
    chain.edit("models/sales/orders.strata", "enum {ES, MX}", "enum {ES, FR, MX}")
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    assert [r["country"] for r in chain.live("by_country")] == ["ES", "FR", "MX"]
    assert ticks.carried_out() == []


def test_an_edit_that_is_taken_back_is_asked_for_again(chain) -> None:
    ticks = Ticks(chain)
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    plain, other = "total = sum(amount)", "total = max(amount)"
    chain.edit("models/sales/orders.strata", plain, other)
    assert ticks.carried_out() == [["by_country"]]
    chain.edit("models/sales/orders.strata", other, plain)
    assert ticks.carried_out() == [["by_country"]]
    assert [str(r["total"]) for r in chain.live("by_country")] == ["15.75", "20.00"]


def test_a_model_that_is_new_is_asked_for_once_the_code_location_knows_it(chain, capsys) -> None:
    ticks = Ticks(chain)
    assert ticks.carried_out() == [["paid", "known", "by_country"]]
    before = ticks.loaded()
    chain.edit("models/sales/orders.strata", "model by_country", "model per_country")
    assert ticks.asked(before) == []
    reload = "reload the code location, which knows other models (new: `per_country`; gone: `by_country`)"
    assert ticks.told == f"nothing is stale; {reload}"
    assert capsys.readouterr().err.count(reload) == 1
    assert ticks.asked(before) == []
    assert ticks.told == "nothing has changed since what is stale was asked for"
    assert reload not in capsys.readouterr().err
    assert ticks.carried_out() == [["per_country"]]
    assert (ticks.carried_out(), ticks.told) == ([], "nothing is stale")


CONTRACT = """\
apiVersion: strata/v0
kind: DataProductContract
id: shop.paid
name: Paid
version: 0.1.0
status: draft
layer: bronze
domain: shop
owner: {team: orders}
assets:
  - {id: paid, kind: strata_model, columns: [{name: order_id, type: int64}]}
  - {id: lands, kind: strata_model}
tests:
  - {id: few, kind: sql, severity: blocking, sql: select count(*) from paid having count(*) > 3}
  - {id: there, kind: sql, severity: blocking, sql: from paid where country not in (select country from lands)}
"""
LANDS = """
source rates(csv: "data/rates.csv") { columns: { country: string nonnull primary_key } }
model lands { from rates }
"""


@pytest.mark.parametrize("publish", ["", EACH])
def test_what_a_blocking_test_refused_is_asked_for_again_once_the_test_or_its_tables_are_others(
    chain, bad_orders, publish
) -> None:
    chain.write("strata.toml", (chain.root / "strata.toml").read_text() + publish)
    chain.write("models/rates.strata", LANDS)
    chain.edit("models/sales/orders.strata", "enum {ES, MX}", "")
    chain.write("data/rates.csv", "country\nES\nMX\n")
    chain.write("contracts/shop/paid/contract.yaml", CONTRACT)
    ticks = Ticks(chain)
    assert [sorted(names) for names in ticks.carried_out()] == [["by_country", "known", "lands", "paid"]]
    chain.write("data/orders.csv", bad_orders)
    ours = ["paid", "known", "by_country"]
    assert ticks.carried_out() == [ours]
    assert [ticks.carried_out() for _ in range(2)] == [[], []]
    assert len(chain.live("paid")) == 3
    # What is said beside the tests is no other candidate.
    chain.write("contracts/shop/paid/contract.yaml", CONTRACT.replace("name: Paid", "name: What was paid"))
    assert ticks.carried_out() == []
    chain.write("contracts/shop/paid/contract.yaml", CONTRACT.replace("> 3", "> 4"))
    assert ticks.carried_out() == [ours]
    assert len(chain.live("paid")) == 3, "France is no country yet"
    assert ticks.carried_out() == []
    chain.write("data/rates.csv", "country\nES\nMX\nFR\n")
    assert sorted(name for names in ticks.carried_out() for name in names) == ["by_country", "known", "lands", "paid"]
    ticks.carried_out()
    assert len(chain.live("paid")) == 4
    assert ticks.carried_out() == []
