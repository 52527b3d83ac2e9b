"""The semantic diff (Seed 0 §5 B): what each edit is told as, whom it reaches, and what is no change at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.language.parser import parse_module
from strata_core.lineage.diff import Finding, LineageDiff, Side, State, diff_projects
from strata_core.lineage.diff_shown import text_lines
from strata_core.lineage.diff_shown import told as worded
from strata_core.planning.config import ProjectConfig
from strata_core.planning.fingerprints import fingerprints
from strata_core.planning.kept.revisions import first_revision, revised
from strata_core.planning.project import Project
from strata_core.planning.texts import SourceText

from .projects import ORDERS, loose

Told = tuple[str, str | None, str, str | None, str | None]


def diff(before: str, after: str) -> LineageDiff:
    return diff_projects(*(Side(loose(text), {}) for text in (before, after)), "shop")


def edited(*edits: tuple[str, str], text: str = ORDERS) -> LineageDiff:
    """The diff that replacing each text, which stands once, makes."""
    after = text
    for old, new in edits:
        assert after.count(old) == 1, (old, after.count(old))
        after = after.replace(old, new)
    return diff(text, after)


def told(finding: Finding) -> Told:
    change = finding.change
    return finding.table, change.column, change.rule.id, change.before, change.after


def changes(found: LineageDiff) -> list[Told]:
    return [told(f) for f in found.findings]


def ids(found: LineageDiff) -> list[tuple[str, str | None, str]]:
    return [t[:3] for t in changes(found)]


SOURCES = ORDERS[: ORDERS.index("model paid")]
PROMISED = """
source raw(csv: "r.csv") { columns: { id: int64 primary_key, kind: string nonnull enum {a, b}, size: int64 nonnull } }
contract Item {
  id: int64 primary_key
  kind: string nonnull enum {a, b} protected
  size: int64 nonnull
}
model items -> contract Item { from raw }
model big { from items filter size > 10 select { id, kind } }
"""

REFACTORINGS: dict[str, list[tuple[str, str]]] = {
    "columns in another order": [
        ("select { order_id, customer_id, country, euros = amount, placed }",
         "select { placed, euros = amount, country, order_id, customer_id }"),
    ],
    "a let": [("select { country, mean }", "let m = mean select { country, mean = m }")],
    "a step apart": [("filter amount > 0.00", "let counts = amount > 0.00 filter counts")],
    "a mirrored comparison": [("amount > 0.00", "0.00 < amount")],
    "a condition that is always true": [("filter amount > 0.00", "filter amount > 0.00 and true")],
    "a comment and a line": [("model named {", "// who\n\nmodel named {")],
    "an alias": [
        ("join_left customers on paid.customer_id == customers.customer_id",
         "join_left customers as c on c.customer_id == paid.customer_id"),
        ("upper(customers.email)", "upper(c.email)"),
    ],
    "a derived step in the select": [
        ("derive { mean = total / n } select { country, mean }", "select { country, mean = total / n }"),
    ],
    "aggregates in another order": [("total = sum(euros), n = count()", "n = count(), total = sum(euros)")],
}  # fmt: skip


@pytest.mark.parametrize("edits", REFACTORINGS.values(), ids=REFACTORINGS)
def test_a_pure_refactoring_is_no_change(edits: list[tuple[str, str]]) -> None:
    found = edited(*edits)
    assert (changes(found), found.breaks) == ([], False)


def test_a_renamed_source_is_told_and_changes_nothing_downstream() -> None:
    found = diff(ORDERS, ORDERS.replace("orders", "sales").replace("sales.csv", "orders.csv"))
    assert changes(found) == [("orders", None, "source-renamed", "orders", "sales")]
    assert not found.breaks


def test_declarations_in_another_order_and_file_are_no_change() -> None:
    start = ORDERS.index("model shares")
    before = loose(ORDERS)
    after = loose(ORDERS[start:], ORDERS[:start])
    assert changes(diff_projects(Side(before, {}), Side(after, {}), "shop")) == []


EDITS: dict[str, tuple[list[tuple[str, str]], list[Told]]] = {
    "a column added": (
        [("total = sum(euros), n", "total = sum(euros), top = max(euros), n")],
        [("by_country", "top", "column-added", None, "decimal(10,2) nonnull")],
    ),
    "a column that nobody reads removed": (
        [("euros = amount, placed }", "euros = amount }")],
        [("paid", "placed", "column-removed", "date", None)],
    ),
    "a column renamed, and its reader with it": (
        [("select { country, mean }", "select { country, average = mean }")],
        [("shares", "mean", "column-renamed", "mean", "average")],
    ),
    "a column renamed upstream": (
        [("total = sum(euros), n", "sum_ = sum(euros), n"), ("mean = total / n", "mean = sum_ / n")],
        [("by_country", "total", "column-renamed", "total", "sum_")],
    ),
    "a value computed otherwise": (
        [("upper(customers.email)", "lower(customers.email)")],
        [("named", "mail", "value-changed", "upper(customers.email)", "lower(customers.email)")],
    ),
    "a value from elsewhere": (
        [("total = sum(euros), n = count()", "total = sum(euros), n = sum(order_id)")],
        [
            ("by_country", "n", "origin-changed", "count()", "sum(order_id)"),
            ("shares", "mean", "nonnull-dropped", "nonnull", "nullable"),
        ],
    ),
    "a literal changed": (
        [("mean = total / n", "mean = total / n * 2")],
        [("shares", "mean", "value-changed", "total / n", "(total / n) * 2.0")],
    ),
    "a filter changed": (
        [("amount > 0.0", "amount > 1.0")],
        [("paid", None, "filter-changed", "amount > 0.0", "amount > 1.0")],
    ),
    "a filter added": (
        [("  group { country }", "  filter euros > 5.00\n  group { country }")],
        [("by_country", None, "filter-changed", None, "euros > 5.0")],
    ),
    "another key of the group": (
        [("group { country } (", "group { customer_id } (")],
        [
            ("by_country", "country", "column-removed", "string nonnull", None),
            ("by_country", "customer_id", "column-added", None, "int64"),
            ("by_country", None, "group-changed", "country", "customer_id"),
            ("by_country", None, "proven-key-lost", "country", None),
            ("by_country", None, "proven-key-gained", None, "customer_id"),
        ],
    ),
    "a join that drops rows": (
        [("join_left customers", "join_inner customers")],
        [
            (
                "named",
                None,
                "join-changed",
                "left on customer_id == customers.customer_id",
                "inner on customer_id == customers.customer_id",
            ),
        ],
    ),
    "an owner": (
        [('owner: "finance"', 'owner: "controlling"')],
        [("by_country", None, "owner-changed", "finance", "controlling")],
    ),
    "a model added": (
        [("model shares", "model copied { from paid }\nmodel shares")],
        [("copied", None, "model-added", None, "copied")],
    ),
    "a source read elsewhere": (
        [('customers(csv: "customers.csv")', 'customers(csv: "people.csv")')],
        [("customers", None, "source-moved", "csv customers.csv", "csv people.csv")],
    ),
    "an order": (
        [("select { country, mean }", "select { country, mean } sort { country }")],
        [("shares", None, "order-changed", None, None)],
    ),
}


@pytest.mark.parametrize(("edits", "expected"), EDITS.values(), ids=EDITS)
def test_each_edit_is_told_as_what_it_means(edits: list[tuple[str, str]], expected: list[Told]) -> None:
    found = edited(*edits)
    assert [(t, c, r, b, a) for t, c, r, b, a in changes(found)] == expected


CONTRACTS: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str | None, str, bool]]]] = {
    "a widened source": (
        [("size: int64 nonnull }", "size: float64 nonnull }"), ("  size: int64 nonnull", "  size: float64 nonnull")],
        [("raw", "size", "type-widened", False), ("items", "size", "type-widened", False)],
    ),
    "an enum that grows": (
        [("kind: string nonnull enum {a, b},", "kind: string nonnull enum {a, b, c},"),
         ("enum {a, b} protected", "enum {a, b, c} protected")],
        [("raw", "kind", "enum-widened", False), ("items", "kind", "enum-widened", True),
         ("big", "kind", "values-widened", False)],
    ),
    "a protected column that is computed otherwise": (
        [("{ from raw }", "{ from raw select { id, kind = lower(kind), size } }")],
        [("items", "kind", "value-changed", True)],
    ),
    "a classification": (
        [("size: int64 nonnull\n", 'size: int64 nonnull classification: "pii" mask: hash\n')],
        [("items", "size", "classification-added", False), ("items", "size", "mask-strengthened", False)],
    ),
    "no key any more": (
        [("  id: int64 primary_key\n", "  id: int64 nonnull\n")],
        [("items", "id", "unique-dropped", True), ("items", None, "key-dropped", True)],
    ),
    "without a contract": (
        [("items -> contract Item", "items")],
        [("items", "id", "unique-dropped", True), ("items", "kind", "enum-widened", True),
         ("items", "kind", "protection-dropped", True), ("items", None, "key-dropped", True)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("edits", "expected"), CONTRACTS.values(), ids=CONTRACTS)
def test_each_change_of_a_promise(
    edits: list[tuple[str, str]], expected: list[tuple[str, str | None, str, bool]]
) -> None:
    found = edited(*edits, text=PROMISED)
    assert [(f.table, f.change.column, f.change.rule.id, f.breaks) for f in found.findings] == expected


def test_what_only_follows_says_from_what() -> None:
    found = edited(("size: int64 nonnull } }", "size: int64 } }"), ("  size: int64 nonnull\n", ""), text=PROMISED)
    follows = {(f.table, f.change.column, f.change.rule.id): f.follows for f in found.findings}
    assert follows == {
        ("raw", "size", "nonnull-dropped"): (),
        ("items", "size", "nonnull-dropped"): (("raw", "size"),),
    }


def test_seed0_s5b_lineage_diff_names_everyone_whom_a_removed_column_reaches() -> None:
    """Seed 0 §5 B: the diff yields exactly Down named per column."""
    found = edited(
        ("country, euros = amount, placed }", "country, placed }"),
        ("mail = upper(customers.email), euros }", "mail = upper(customers.email) }"),
        ("total = sum(euros), n", "n"),
        ("derive { mean = total / n } select { country, mean }", "select { country }"),
    )
    removed = {(f.table, f.change.column): f for f in found.findings if f.change.rule.id == "column-removed"}
    assert set(removed) == {("paid", "euros"), ("named", "euros"), ("by_country", "total"), ("shares", "mean")}
    assert removed["named", "euros"].follows == (("paid", "euros"),)
    assert [(c.table.name, c.column, c.how, c.direct, c.owner) for c in removed["paid", "euros"].consumers] == [
        ("named", "euros", "passthrough", True, None),
        ("by_country", "total", "aggregated", True, "finance"),
        ("shares", "mean", "derived", False, None),
    ]
    assert {c.state for c in removed["paid", "euros"].consumers} == {State.CHANGED}
    assert found.breaks


def test_a_changed_filter_names_the_tables_whose_rows_it_reaches() -> None:
    (finding,) = edited(("amount > 0.00", "amount > 1.00")).findings
    assert [(c.table.name, c.column, c.how, c.state) for c in finding.consumers] == [
        ("named", None, "reads paid", State.UNTOUCHED),
        ("by_country", None, "reads paid", State.UNTOUCHED),
        ("shares", None, "reads by_country", State.UNTOUCHED),
    ]


def test_two_columns_swapped_are_told_and_break() -> None:
    text = 'source s(csv: "s.csv") { columns: { a: int64, b: int64 } } model m { from s select { x = a, y = b } }'
    found = edited(("{ x = a, y = b }", "{ x = b, y = a }"), text=text)
    assert changes(found) == [
        ("m", "x", "values-moved", "`x`", "what `y` held"),
        ("m", "y", "values-moved", "`y`", "what `x` held"),
    ]
    assert found.breaks


def test_a_column_that_holds_what_another_still_holds_comes_from_elsewhere() -> None:
    text = 'source s(csv: "s.csv") { columns: { a: int64, b: int64 } } model m { from s select { x = a, y = b } }'
    found = edited(("{ x = a, y = b }", "{ x = b, y = b }"), text=text)
    assert changes(found) == [("m", "x", "origin-changed", "s.a", "s.b")]


def test_how_a_table_is_laid_out_and_added_to_is_told() -> None:
    text = """
    source s(csv: "s.csv") { columns: { id: int64 nonnull, day: date nonnull } }
    model m { from s }
    """
    assert changes(edited(("{ from s }", "{ from s partition_by [day] }"), text=text)) == [
        ("m", None, "partitioning-changed", None, "day")
    ]
    added = "{ from s incremental { strategy: append, cursor: day } }"
    assert changes(edited(("{ from s }", added), text=text)) == [
        ("m", None, "incremental-changed", None, "append after day")
    ]


def test_renamed_and_retyped_at_once_is_both() -> None:
    text = 'source s(csv: "s.csv") { columns: { a: int64 } } model m { from s select { x = a } } model r { from m }'
    after = (
        text.replace("a: int64", "a: float64")
        .replace("x = a", "z = a")
        .replace("{ from m }", "{ from m select { x = z } }")
    )
    assert ids(diff(text, after)) == [
        ("s", "a", "type-widened"),
        ("m", "x", "column-renamed"),
        ("m", "x", "type-widened"),
        ("r", "x", "type-widened"),
    ]


def test_renamed_and_computed_otherwise_loses_nothing() -> None:
    assert ids(edited(("select { country, mean }", "select { country, average = mean * 2 }"))) == [
        ("shares", "mean", "column-removed"),
        ("shares", "average", "column-added"),
    ]


def test_a_renamed_model_changes_nothing_of_its_readers() -> None:
    found = diff(ORDERS, ORDERS.replace("by_country", "per_country"))
    assert changes(found) == [("by_country", None, "model-renamed", "by_country", "per_country")]
    assert [(c.table.name, c.column, c.state) for c in found.findings[0].consumers] == [
        ("shares", "country", State.UNTOUCHED),
        ("shares", "mean", State.UNTOUCHED),
        ("shares", None, State.UNTOUCHED),
    ]


def test_a_model_renamed_and_changed_at_once_is_both() -> None:
    after = ORDERS.replace("by_country", "per_country").replace("sum(euros)", "max(euros)")
    assert ids(diff(ORDERS, after)) == [
        ("by_country", None, "model-renamed"),
        ("by_country", "total", "value-changed"),
    ]


def test_a_model_of_other_columns_is_another_model() -> None:
    after = (
        ORDERS[: ORDERS.index("model shares")]
        + "model counts { from named group { mail } ( aggregate { n = count() } ) }"
    )
    assert ids(diff(ORDERS, after)) == [("shares", None, "model-removed"), ("counts", None, "model-added")]


def test_a_model_that_became_a_source_is_compared_by_its_columns() -> None:
    start, end = ORDERS.index("model by_country"), ORDERS.index("model shares")
    source = (
        'source by_country(csv: "b.csv") { columns: { country: string nonnull, total: decimal(10,2), n: int64 } }\n'
    )
    found = ids(diff(ORDERS, ORDERS[:start] + source + ORDERS[end:]))
    assert ("by_country", None, "kind-changed") in found
    assert ("by_country", "n", "nonnull-dropped") in found


def test_what_compiles_is_compared_and_the_rest_is_named() -> None:
    found = edited(("sum(euros)", "sum(euro)"), ("amount > 0.00", "amount > 1.00"))
    assert ids(found) == [("paid", None, "filter-changed")]
    assert found.uncompared == {"by_country": "after", "shares": "after"}
    assert [(c.table.name, c.state) for c in found.findings[0].consumers] == [
        ("named", State.UNTOUCHED),
        ("by_country", State.BROKEN),
        ("shares", State.BROKEN),
    ]


def test_models_that_read_each_other_are_named_on_their_side() -> None:
    knot = "model a { from b } model b { from a }"
    found = diff(ORDERS + "model a { from paid } model b { from a }", ORDERS + knot)
    assert found.uncompared == {"a": "after", "b": "after"}
    assert changes(found) == []


def test_a_source_with_errors_is_no_removed_source() -> None:
    found = edited(("placed: date,", "placed: dat,"))
    assert "orders" in found.uncompared
    assert changes(found) == []


def test_a_self_join_tells_its_sides_apart() -> None:
    text = (
        'source s(csv: "s.csv") { columns: { id: int64, up: int64, name: string } }'
        " model m { from s as a join_inner s as b on a.up == b.id select { x = a.name } }"
    )
    assert ids(edited(("x = a.name", "x = b.name"), text=text)) == [("m", "x", "value-changed")]


def test_nothing_differs_from_itself() -> None:
    assert changes(diff(ORDERS + PROMISED, ORDERS + PROMISED)) == []


def test_models_that_a_function_generates_instead_are_no_change() -> None:
    source = 'source s(csv: "s.csv") { columns: { a: int64, c: string nonnull } }\n'
    written = "".join(f'model only_{c} {{ from s filter c == "{c}" select {{ a }} }}\n' for c in ("x", "y"))
    generated = """
    fn only(names: List<Str>) -> List<Model> {
      [ model "only_${n}" { from s filter c == n select { a } } for n in names ]
    }
    only(["x", "y"])
    """
    assert changes(diff(source + written, source + generated)) == []


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (
            "select { order_id } sort { order_id } take 3..5",
            "select { order_id } sort { -order_id } take 3..5",
            "3..5 by order_id",
            "3..5 by -order_id",
        ),
        (
            "select { n = sum(order_id) over (sort: [order_id], rows: -1..0) }",
            "select { n = sum(order_id) over (sort: [order_id], rows: ..0) }",
            "sum(order_id) over (sort: [order_id], rows: -1..0)",
            "sum(order_id) over (sort: [order_id], rows: ..0)",
        ),
        (
            "sort { order_id } aggregate { all_ids = array_agg(order_id) }",
            "sort { -order_id } aggregate { all_ids = array_agg(order_id) }",
            "array_agg(order_id, sort: [order_id])",
            "array_agg(order_id, sort: [-order_id])",
        ),
    ],
)
def test_what_differs_stands_in_what_is_told(old: str, new: str, before: str, after: str) -> None:
    sides = [loose(f"{SOURCES}\nmodel m {{ from orders {body} }}") for body in (old, new)]
    found = diff_projects(Side(sides[0], {}), Side(sides[1], {}), "shop")
    assert (before, after) in [(t[3], t[4]) for t in changes(found)]


def test_what_is_spelled_alike_is_told_once() -> None:
    text = f"{SOURCES}\nmodel m {{ from orders select {{ x = f(order_id) }} }}\nextern fn f(a: int64) -> int64 "
    sides = [loose(f'{text}deterministic {{ duckdb: "$a + {n}" }}') for n in (1, 2)]
    found = diff_projects(Side(sides[0], {}), Side(sides[1], {}), "shop")
    assert [worded(f) for f in found.findings] == ["computed otherwise: extern f(order_id)"]


PARTS: list[list[str]] = [
    ["", "filter amount > 0.00", "filter 0.00 < amount", "filter amount > 1.00",
     'filter country == "ES" and amount > 0.00'],
    ["", "let k = amount * 2", "let k = amount + amount", "let unused = upper(country)"],
    ["", "join_left customers on orders.customer_id == customers.customer_id",
     "join_inner customers on customers.customer_id == orders.customer_id",
     "join_left customers as customers on customers.customer_id == orders.customer_id"],
    ["", 'filter country == "ES"', "filter amount > 0.00", 'filter not (country != "ES")'],
    ["", "sort { order_id } take 3", "sort { -order_id } take 3"],
    ["select { order_id, a = amount * 2 }", "select { a = amount + amount, order_id }",
     "select { a = 2 * amount, order_id }", "select { order_id, b = amount * 2 }",
     "select { order_id, a = amount * 3 }",
     "group { country } ( aggregate { a = sum(amount), n = count() } )",
     "group { country } ( aggregate { n = count(), a = sum(amount) } )",
     "group { placed } ( aggregate { a = sum(amount), n = count() } )"],
]  # fmt: skip
"""Parts of a model's body, of which some mean the same."""

BODIES = st.tuples(*(st.sampled_from(options) for options in PARTS)).map(" ".join)


@settings(max_examples=50)
@given(BODIES, BODIES, st.booleans())
def test_law_nothing_is_told_exactly_where_fingerprints_agree(one: str, other: str, alike: bool) -> None:
    """The oracle is the fingerprint: it hashes all that a model means, and knows nothing of this diff."""
    other = other if not alike else " ".join(one.split())
    sides = [loose(f"{SOURCES}\nmodel m {{ {body} }}") for body in (f"from orders {one}", f"from orders {other}")]
    prints = [fingerprints(side)["m"].own for side in sides]
    found = diff_projects(Side(sides[0], {}), Side(sides[1], {}), "shop")
    assert (changes(found) == []) == (prints[0] == prints[1])


@settings(max_examples=25)
@given(BODIES, BODIES)
def test_law_what_was_compiled_once_for_both_is_told_as_what_was_compiled_twice(one: str, other: str) -> None:
    """Models that are the same object on both sides are not looked at: that must hide nothing."""
    texts = [f"{SOURCES}\nmodel m {{ from orders {body} }}\nmodel r {{ from m }}" for body in (one, other)]
    kept = SourceText("kept.strata", b"model kept { from orders }")
    first = first_revision(Project(Path("."), ProjectConfig(), (SourceText("m.strata", texts[0].encode()), kept)))
    second = revised(first, {"m.strata": texts[1].encode()})
    assert first.compiled.models["kept"] is second.compiled.models["kept"]
    found = diff_projects(Side(first.compiled, {}), Side(second.compiled, {}), "shop")
    assert changes(found) == changes(diff(*texts))


WORDS = (ORDERS + PROMISED).split()
DAMAGE = st.lists(
    st.tuples(st.integers(0, len(WORDS) - 1), st.none() | st.sampled_from(sorted(set(WORDS)))), min_size=1, max_size=4
)


@settings(max_examples=40)
@given(DAMAGE)
def test_law_no_damage_of_a_text_loses_a_model(damage: list[tuple[int, str | None]]) -> None:
    """Each model of one side is on the other, or is told as removed or renamed, or is named as not compared."""
    words = list(WORDS)
    for place, word in damage:
        words[place] = word or ""
    parsed = [parse_module(" ".join(text), "m.strata") for text in (WORDS, words)]
    sides = [compile_project([p.module]) for p in parsed]
    for before, after in (sides, reversed(sides)):
        found = diff_projects(Side(before, {}), Side(after, {}), "shop")
        told = {f.table for f in found.findings} | found.uncompared.keys()
        assert before.models.keys() - after.models.keys() - after.sources.keys() <= told
        assert [*text_lines(found)]
