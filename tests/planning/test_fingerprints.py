"""Fingerprints hash what a model means, not how it is written (Seed 0 §6)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from strata_core.planning.fingerprints import address

ENRICHED = "models/enriched.strata"
BY_COUNTRY = "models/by_country.strata"
BY_DAY = "models/by_day.strata"
SOURCES = "models/sources.strata"

SAME_MEANING = {
    "a comment": (BY_COUNTRY, "  from enriched\n", "  // all of them\n  from enriched\n"),
    "white space": (BY_COUNTRY, "  from enriched\n", "\n\n      from     enriched\n\n"),
    "on one line": (BY_COUNTRY, "  from enriched\n  group", "  from enriched group"),
    "order of outputs": (
        ENRICHED,
        "select { order_id, country, email = customers.email, amount, placed }",
        "select { placed, amount, email = customers.email, country, order_id }",
    ),
    "order of aggregates": (
        BY_COUNTRY,
        "orders = count(), total = sum(amount)",
        "total = sum(amount), orders = count()",
    ),
    "order of the contract's fields": (
        BY_COUNTRY,
        "  orders: int64 nonnull\n  total: decimal(38,2) nonnull\n",
        "  total: decimal(38,2) nonnull\n  orders: int64 nonnull\n",
    ),
    "an alias": (
        ENRICHED,
        "join_left customers on orders.customer_id == customers.customer_id expect many_to_one\n"
        "  select { order_id, country, email = customers.email,",
        "join_left customers on orders.customer_id == c.customer_id as c expect many_to_one\n"
        "  select { order_id, country, email = c.email,",
    ),
    "sides of an equality": (
        ENRICHED,
        "orders.customer_id == customers.customer_id",
        "customers.customer_id == orders.customer_id",
    ),
    "a hidden name that is not used": (BY_COUNTRY, "  from enriched\n", "  from enriched\n  let doubled = amount\n"),
    "a qualified name": (BY_COUNTRY, "sum(amount)", "sum(enriched.amount)"),
    "description and owner": (BY_COUNTRY, "  from enriched\n", '  owner: "sales" description: "x"\n  from enriched\n'),
}


@pytest.mark.parametrize("edit", SAME_MEANING.values(), ids=SAME_MEANING)
def test_seed0_s6_the_same_meaning_has_the_same_fingerprint(shop, edit):
    before = {m: shop.fingerprint(m) for m in ("enriched", "by_country", "top")}
    shop.edit(*edit)
    assert {m: shop.fingerprint(m) for m in ("enriched", "by_country", "top")} == before


TWO_SPELLINGS = {
    "where for filter": ("filter amount > 5.00", "where amount > 5.00"),
    "two filters or one": ('filter amount > 5.00 filter country == "ES"', 'filter amount > 5.00 and country == "ES"'),
    "order of conjuncts": ('filter amount > 5.00 and country == "ES"', 'filter country == "ES" and amount > 5.00'),
    "a let or its value": ("let twice = amount + amount filter twice > 5.00", "filter amount + amount > 5.00"),
    "the name of a let": (
        "let twice = amount + amount filter twice > 5.00",
        "let double = amount + amount filter double > 5.00",
    ),
    "sides of a comparison": ("filter amount > 5.00", "filter 5.00 < amount"),
    "parentheses": ("filter amount > 5.00", "filter ((amount) > (5.00))"),
    "in or or": ('filter country in ["ES"]', 'filter country in ["ES",]'),
}


@pytest.mark.parametrize(("one", "other"), TWO_SPELLINGS.values(), ids=TWO_SPELLINGS)
def test_seed0_s6_equivalent_spellings_have_one_fingerprint(shop, one, other):
    shop.edit(BY_COUNTRY, "  from enriched\n", f"  from enriched\n  {one}\n")
    first = shop.fingerprint("by_country")
    shop.edit(BY_COUNTRY, one, other)
    assert shop.fingerprint("by_country") == first


def test_seed0_s6_where_a_declaration_stands_means_nothing(shop):
    before = {m: shop.fingerprint(m) for m in ("enriched", "by_country", "by_day", "top")}
    moved = (shop.root / "models/top.strata").read_text() + (shop.root / BY_COUNTRY).read_text()
    for name in ("top", "by_country"):
        (shop.root / f"models/{name}.strata").unlink()
    shop.write("models/deep/marts.strata", moved)
    assert {m: shop.fingerprint(m) for m in ("enriched", "by_country", "by_day", "top")} == before


def test_seed0_s6_where_a_source_lies_means_nothing(shop):
    before = shop.fingerprint("enriched")
    shop.edit(SOURCES, '"orders.csv"', '"elsewhere/orders.csv"')
    assert shop.fingerprint("enriched") == before


OTHER_MEANING = {
    "a filter": (BY_COUNTRY, "  from enriched\n", "  from enriched\n  filter amount > 5.00\n", "own"),
    "another function": (BY_COUNTRY, "sum(amount)", "max(amount)", "own"),
    "another key": (BY_COUNTRY, "total = sum(amount) }", "total = sum(amount) + 1.00 }", "own"),
    "a join's kind": (ENRICHED, "join_left", "join_inner", "own"),
    "a promised type": (BY_DAY, "orders: int64 nonnull", "orders: decimal(19,0) nonnull", "contract"),
    "a promised nonnull": (BY_COUNTRY, "total: decimal(38,2) nonnull", "total: decimal(38,2)", "contract"),
    "a promised enum": (
        BY_COUNTRY,
        "country: string primary_key",
        "country: string primary_key enum {ES, MX, CO}",
        "contract",
    ),
    "a promised key": (BY_COUNTRY, "country: string primary_key", "country: string nonnull", "contract"),
    "a mask": (ENRICHED, "mask: hash", "mask: drop", "contract"),
    "a protection": (BY_COUNTRY, "country: string primary_key", "country: string primary_key protected", "contract"),
}


@pytest.mark.parametrize("edit", OTHER_MEANING.values(), ids=OTHER_MEANING)
def test_seed0_s6_another_meaning_has_another_fingerprint(shop, edit):
    path, old, new, part = edit
    model = Path(path).stem
    before = shop.fingerprint(model)
    shop.edit(path, old, new)
    after = shop.fingerprint(model)
    assert after.merkle != before.merkle
    assert after.local != before.local
    assert getattr(after, part) != getattr(before, part)


def test_seed0_s6_an_expectation_counts_where_the_keys_do_not_prove_it(shop):
    with_key = shop.fingerprint("enriched")
    shop.edit(ENRICHED, " expect many_to_one", "")
    assert shop.fingerprint("enriched") == with_key
    shop.edit(SOURCES, "customer_id: int64 nonnull primary_key", "customer_id: int64 nonnull")
    shop.edit(ENRICHED, "order_id: int64 primary_key", "order_id: int64 nonnull")
    without = shop.fingerprint("enriched")
    shop.edit(ENRICHED, "== customers.customer_id", "== customers.customer_id expect many_to_one")
    assert shop.fingerprint("enriched").own != without.own


def test_seed0_s6_a_literal_is_part_of_the_meaning(shop):
    shop.edit(BY_COUNTRY, "  from enriched\n", "  from enriched\n  filter amount > 5.00\n")
    five = shop.fingerprint("by_country")
    shop.edit(BY_COUNTRY, "5.00", "5.01")
    assert shop.fingerprint("by_country").own != five.own


def test_seed0_s6_the_order_of_rows_is_part_of_the_meaning(shop):
    shop.edit(BY_COUNTRY, "= sum(amount) } )\n", "= sum(amount) } )\n  sort { total }\n")
    ascending = shop.fingerprint("by_country")
    shop.edit(BY_COUNTRY, "sort { total }", "sort { -total }")
    assert shop.fingerprint("by_country").own != ascending.own


def test_seed0_s6_a_change_upstream_reaches_everything_downstream_and_nothing_else(shop):
    before = {m: shop.fingerprint(m) for m in ("enriched", "by_country", "by_day", "top")}
    shop.edit(BY_COUNTRY, "  from enriched\n", "  from enriched\n  filter amount > 5.00\n")
    after = {m: shop.fingerprint(m) for m in before}
    assert {m for m in before if after[m].merkle != before[m].merkle} == {"by_country", "top"}
    assert {m for m in before if after[m].local != before[m].local} == {"by_country"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("country: string nonnull enum {ES, MX, CO},", "country: string nonnull enum {ES, MX},"),
        ("    placed: date nonnull,\n  }", "    placed: date nonnull,\n  }\n  filter: amount > 1.00"),
        ("amount: decimal(10,2) nonnull,", "amount: decimal(10,2) nonnull primary_key,"),
    ],
    ids=["an annotation", "a filter", "a key"],
)
def test_seed0_s6_what_a_source_is_declared_to_be_is_part_of_the_meaning(shop, old, new):
    before = {m: shop.fingerprint(m).merkle for m in ("enriched", "top")}
    shop.edit(SOURCES, old, new)
    assert {m for m in before if shop.fingerprint(m).merkle != before[m]} == {"enriched", "top"}


def test_seed0_s6_a_column_of_a_source_that_is_not_read_means_nothing(shop):
    before = {m: shop.fingerprint(m) for m in ("enriched", "top")}
    shop.edit(SOURCES, "    placed: date nonnull,\n", "    placed: date nonnull,\n    note: string,\n")
    assert {m: shop.fingerprint(m) for m in before} == before


def test_seed0_s6_fingerprints_are_the_same_in_every_process(shop):
    program = (
        "import sys; from pathlib import Path\n"
        "from strata_core.planning.fingerprints import fingerprints\n"
        "from strata_core.planning.project import compile_, open_project\n"
        "print([f.merkle for f in fingerprints(compile_(open_project(project=Path(sys.argv[1])))).values()])"
    )

    def printed(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "STRATA_CACHE_DIR": str(shop.root / f"cache{seed}")}
        arguments = [sys.executable, "-c", program, str(shop.root)]
        return subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout

    assert printed("1") == printed("2")


def test_an_address_depends_on_each_input_by_name():
    assert address("f", {"a": "1", "b": "2"}) == address("f", {"b": "2", "a": "1"})
    assert address("f", {"a": "1", "b": "2"}) != address("f", {"a": "2", "b": "1"})
    assert address("f", {"a": "1"}) != address("g", {"a": "1"})
