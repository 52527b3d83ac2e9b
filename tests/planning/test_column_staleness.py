"""A change upstream reaches those who read what changed, and no others (Seed 0 §6).

The sixteen edits are those on which other tools are compared: each with the models that it makes stale, held against
an oracle that knows no fingerprints, the artifacts computed from nothing before and after.
"""

from __future__ import annotations

import pytest

ENRICHED = "models/enriched.strata"
SIX = {
    "models/sources.strata": """\
source orders(csv: "orders.csv") {
  columns: {
    order_id: int64 nonnull primary_key,
    customer_id: int64,
    country: string nonnull,
    amount: decimal(10,2) nonnull,
    placed: date nonnull,
    note: string,
  }
}
source customers(csv: "customers.csv") {
  columns: { customer_id: int64 nonnull primary_key, email: string }
}
""",
    "models/cleaned.strata": """\
model cleaned {
  from orders
  let worth = amount * 1.5
  filter worth > 1.0
  select { order_id, customer_id, country, amount, placed, note }
}
""",
    ENRICHED: """\
model enriched {
  from cleaned
  join_left customers on cleaned.customer_id == customers.customer_id
  select { order_id, country, email = customers.email, amount, placed, note }
}
""",
    "models/by_country.strata": """\
model by_country {
  from enriched
  group { country } ( aggregate { orders = count(), total = sum(amount) } )
}
""",
    "models/by_day.strata": """\
model by_day {
  from enriched
  group { placed } ( aggregate { orders = count() } )
}
""",
    "models/top.strata": """\
model top {
  from by_country
  sort { -total, country }
  take 1
  select { country, total }
}
""",
    "models/contacts.strata": """\
model contacts {
  from enriched
  filter email is not none
  select { email, country }
}
""",
    "orders.csv": """\
order_id,customer_id,country,amount,placed,note
1,10,ES,12.50,2026-01-01,x
2,10,ES,7.25,2026-01-02,
3,11,MX,3.00,2026-01-02,y
4,,CO,18.75,2026-01-03,x
5,11,CO,0.80,2026-01-03,z
""",
    "customers.csv": "customer_id,email\n10,a@x.es\n11,b@x.mx\n12,c@x.co\n",
    "strata.toml": '[project]\nname = "six"\n[engine]\nname = "reference"\n',
}
CLEANED, BY_COUNTRY = "models/cleaned.strata", "models/by_country.strata"
BELOW_ENRICHED = {"by_country", "by_day", "top", "contacts"}

EDITS = {
    "rename a let": ([(CLEANED, "worth = amount", "w = amount"), (CLEANED, "worth > 1.0", "w > 1.0")], set()),
    "alias a join": (
        [
            (ENRICHED, "== customers.customer_id", "== c.customer_id as c"),
            (ENRICHED, "customers.email", "c.email"),
        ],
        set(),
    ),
    "wrap a step": (
        [(BY_COUNTRY, "sum(amount)", "sum(a)"), (BY_COUNTRY, "  group", "  let a = amount\n  group")],
        set(),
    ),
    "reorder columns": ([(ENRICHED, "order_id, country", "country, order_id")], set()),
    "add a column": ([(ENRICHED, "placed, note }", "placed, note, doubled = amount + amount }")], {"enriched"}),
    "drop an unused column": ([(ENRICHED, "placed, note }", "placed }")], {"enriched"}),
    "change an unused column": ([(ENRICHED, "placed, note }", "placed, note = upper(note) }")], {"enriched"}),
    "drop a column that is used": (
        [(ENRICHED, "email = customers.email, ", ""), ("models/contacts.strata", "email", "note")],
        {"enriched", "contacts"},
    ),
    "change a column that is used": (
        [(ENRICHED, "email = customers.email", "email = upper(customers.email)")],
        {"enriched", "contacts"},
    ),
    "move a file": ([("models/top.strata", None, "models/marts/best.strata")], set()),
    "comment": ([(BY_COUNTRY, "  from enriched", "  // all of them\n  from enriched")], set()),
    "white space": ([(BY_COUNTRY, "  from enriched\n  group", "from   enriched group")], set()),
    "change a literal": (
        [(BY_COUNTRY, "sum(amount)", "sum(amount) + 1.0")],
        {"by_country", "top"},
    ),
    "change a limit": ([("models/top.strata", "take 1", "take 2")], {"top"}),
    "change a filter": ([(CLEANED, "worth > 1.0", "worth > 11.0")], {"cleaned", "enriched", *BELOW_ENRICHED}),
    "change a type": (
        [(ENRICHED, "placed, note }", 'placed = cast(placed, "timestamp"), note }')],
        {"enriched", "by_day"},
    ),
}


@pytest.fixture
def six(new_shop):
    made = new_shop("six")
    for path in ("models/top.strata", "models/by_day.strata"):
        (made.root / path).unlink()
    for path, text in SIX.items():
        made.write(path, text)
    return made


def edit(shop, path, old, new):
    """`old` becomes `new` everywhere in a file; without `old` the file moves to `new`."""
    text = (shop.root / path).read_text()
    if old is None:
        (shop.root / path).unlink()
        shop.write(new, text)
    else:
        assert old in text
        shop.write(path, text.replace(old, new))


def from_nothing(shop, environment):
    """Every artifact, computed without looking at any that exists."""
    shop.apply(environment=environment, force=True)
    store = shop.workspace(environment).store
    live = store.environment(environment).head().models
    return {name: store.artifact(name, pointer).manifest.columns for name, pointer in live.items()}


@pytest.mark.parametrize(("edits", "stale"), EDITS.values(), ids=EDITS)
def test_seed0_s6_an_edit_makes_stale_what_comes_out_otherwise(six, edits, stale):
    before = from_nothing(six, "prod")
    for one in edits:
        edit(six, *one)
    assert set(six.reasons()) == stale
    six.apply()
    assert six.reasons() == {}
    after = from_nothing(six, "oracle")
    assert stale == {name for name in after if after[name] != before[name]}


def test_seed0_s6_the_sixteen_edits_together_make_as_few_stale_as_can_be():
    assert (len(EDITS), sum(len(stale) for _, stale in EDITS.values())) == (16, 18)


def test_seed0_s6_a_contract_upstream_is_no_change_of_the_rows(shop):
    shop.apply()
    shop.edit("models/by_country.strata", "total: decimal(38,2) nonnull", "total: decimal(38,2)")
    shop.edit("models/top.strata", "total: decimal(38,2) nonnull", "total: decimal(38,2)")
    assert shop.reasons() == {"by_country": ["contract change"], "top": ["contract change"]}
    shop.apply()
    shop.edit("models/by_country.strata", "orders: int64 nonnull", "orders: int64 nonnull protected")
    assert shop.reasons() == {"by_country": ["contract change"]}


def test_seed0_s6_rows_that_come_in_another_order_are_the_same_rows(six):
    # Without a key, rows are ordered by all columns; a new first column brings them into another order.
    six.apply()
    rows = [r["order_id"] for r in six.rows("enriched")]
    edit(six, ENRICHED, "placed, note }", "placed, note, a_first = 0 - order_id }")
    edit(six, "models/sources.strata", "order_id: int64 nonnull primary_key", "order_id: int64 nonnull")
    six.apply()
    assert [r["order_id"] for r in six.rows("enriched")] == rows[::-1]
    edit(six, ENRICHED, ", a_first = 0 - order_id", "")
    assert set(six.reasons()) == {"enriched"}
    six.apply()
    assert six.reasons() == {}


def test_seed0_s6_other_data_reaches_everything_and_stops_where_rows_are_the_same(six):
    six.apply()
    edit(six, "orders.csv", "2026-01-02,y", "2026-01-02,n")
    assert set(six.reasons()) == {"cleaned", "enriched", *BELOW_ENRICHED}
    reused = dict.fromkeys(BELOW_ENRICHED, "reused")
    assert six.statuses() == {"cleaned": "computed", "enriched": "computed", **reused}
    assert six.reasons() == {}


def test_a_column_that_was_not_read_when_the_model_was_applied(six):
    six.apply()
    edit(six, "models/by_day.strata", "orders = count()", "orders = count(), last = max(note)")
    assert six.reasons() == {"by_day": ["own change"]}
    six.apply()
    edit(six, ENRICHED, "placed, note }", "placed, note = upper(note) }")
    assert six.reasons() == {"enriched": ["own change"], "by_day": ["upstream change: enriched"]}


def test_what_was_published_apart_is_a_change_of_those_who_read_it(six):
    six.apply()
    edit(six, "customers.csv", "a@x.es", "z@x.es")
    six.apply("enriched")
    assert six.reasons() == {"contacts": ["upstream change: enriched"]}


def test_after_an_apply_nothing_is_stale_also_where_rows_that_came_in_another_order_are_sorted_otherwise(empty_shop):
    shop = empty_shop("shop")
    shop.write("strata.toml", '[engine]\nname = "reference"\n')
    shop.write("orders.csv", "id,country,note\n1,ES,a\n2,MX,b\n")
    models = """\
source orders(csv: "orders.csv") { columns: { id: int64 nonnull, country: string, note: string } }
model sold { from orders select { id, country } sort { id } }
model ids { from sold select { id } }
"""
    shop.write("models/m.strata", models)
    shop.apply()
    shop.write("orders.csv", "id,country,note\n1,ES,c\n2,MX,b\n")
    assert shop.statuses() == {"sold": "computed", "ids": "reused"}  # on other data, with the same rows
    shop.edit("models/m.strata", "country } sort { id }", "country = lower(country) } sort { -id }")
    assert shop.statuses() == {"sold": "computed", "ids": "computed"}
    assert shop.plan().stale == ()
    assert [r["id"] for r in shop.rows("ids")] == [1, 2]
