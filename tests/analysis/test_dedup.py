"""`dedup` and `dedup by … sort …` (language.md, "Statements"), from rows to fingerprints."""

from __future__ import annotations

import pytest

from strata_core.relation.form import fingerprint_form
from strata_core.relation.schema import Origin, Role, RowEdge

from .programs import finding, model
from .statement_rows import computed_rows

SOURCES = """
source visits(csv: "v.csv") { columns: { who: string, page: string, n: int64 } }
source people(csv: "p.csv") { columns: { id: string primary_key, city: string } }
source lists(csv: "l.csv") { columns: { n: int64 nonnull, tags: array(string) } }
"""
DATA: dict[str, list[list[object]]] = {
    "visits": [
        ["a", "x", 1],
        ["a", "x", 1],
        ["a", "y", 2],
        [None, "x", 3],
        [None, "x", None],
        ["b", None, None],
        ["b", None, None],
    ],
    "people": [["a", "Rome"], ["b", "Oslo"]],
    "lists": [[1, ["p"]], [1, ["q", None]], [2, None]],
}
ROWS: dict[str, tuple[str, list[list[object]]]] = {
    "each row once, nulls equal": (
        "from visits dedup sort { who, n }",
        [["a", "x", 1], ["a", "y", 2], ["b", None, None], [None, "x", 3], [None, "x", None]],
    ),
    "the outputs alone are compared": (
        "from visits let secret = n select { page } dedup sort { page }",
        [["x"], ["y"], [None]],
    ),
    "the first by a sort after it": (
        "from visits dedup by who sort { -n }",
        [[None, "x", 3], ["a", "y", 2], ["b", None, None]],
    ),
    "the first by the sort before it": (
        "from visits sort { n } dedup by page",
        [["a", "x", 1], ["a", "y", 2], ["b", None, None]],
    ),
    "a sort of its own comes before that of the rows": (
        "from visits sort { n } dedup by who sort { -n } select { who, n }",
        [[None, 3], ["a", 2], ["b", None]],
    ),
    "two keys": (
        "from visits dedup by who, page sort { who, page, n }",
        [["a", "x", 1], ["a", "y", 2], ["b", None, None], [None, "x", 3]],
    ),
    "without an order the first of all columns": (
        "from visits dedup by who select { who, page, n } sort { who }",
        [["a", "x", 1], ["b", None, None], [None, "x", 3]],
    ),
    "by a column of a joined table": (
        "from visits join_inner people on who == people.id "
        "dedup by people.city sort { -n } select { people.city, n } sort { n }",
        [["Rome", 2], ["Oslo", None]],
    ),
    "by a let": ("from visits let k = n is none dedup by k sort { n, page } select { n } sort { n }", [[1], [None]]),
    "statements after it see what it leaves": (
        "from visits dedup by who sort { n } filter n > 1",
        [[None, "x", 3]],
    ),
    "rows with lists": ("from lists dedup by n select { n } sort { n }", [[1], [2]]),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows(case: str) -> None:
    body, expected = ROWS[case]
    assert computed_rows(body, SOURCES, DATA) == expected


def keys(body: str) -> set[frozenset[str]]:
    return set(model(body, sources=SOURCES).relation.schema.keys)


def test_the_keys_are_a_key_of_the_output() -> None:
    assert keys("from visits") == set()
    assert keys("from visits dedup by who, page") == {frozenset({"who", "page"})}
    assert keys("from visits dedup by who select { x = who, n }") == {frozenset({"x"})}
    assert keys("from visits dedup") == {frozenset({"who", "page", "n"})}


def test_the_keys_prove_the_contract_and_the_cardinality_of_a_join() -> None:
    proven = model(
        "from visits filter who is not none dedup by who", contract="who: string primary_key", sources=SOURCES
    )
    assert proven.assertions == ()
    joined = model("from visits dedup by who join_left people on who == people.id expect one_to_one", sources=SOURCES)
    assert joined.expectations == ()


def test_a_row_number_that_is_one_by_hand_is_a_key_too() -> None:
    body = "from visits derive { nth = row_number() over (partition_by: [who], sort: [n]) } filter nth == 1"
    assert keys(body + " select { who, n }") == {frozenset({"who"})}


def test_seed0_s4_values_keep_their_origins_and_the_choice_leaves_edges() -> None:
    schema = model("from visits dedup by who sort { -n } select { page }", sources=SOURCES).relation.schema
    assert schema["page"].origins == (Origin("visits", "page"),)
    assert {RowEdge("visits", "who", Role.WINDOW), RowEdge("visits", "n", Role.WINDOW)} <= schema.edges
    schema = model("from visits select { who, page } dedup", sources=SOURCES).relation.schema
    assert schema["page"].origins == (Origin("visits", "page"),)
    assert schema.edges == {RowEdge("visits", "who", Role.GROUP), RowEdge("visits", "page", Role.GROUP)}


ERRORS = {
    "an unknown key": ("from visits dedup by pge", "E021", "pge", "no column `pge`", "write `page`"),
    "an unknown column of the sort": (
        "from visits dedup by page sort { contry }",
        "E021",
        "contry",
        "no column `contry`",
        "write `country`",
    ),
    "a key that cannot be told apart": (
        "from orders dedup by tags",
        "E051",
        "tags",
        "array(string) can be neither ordered nor grouped",
        "take a part of it that is a simple value",
    ),
    "rows that cannot be told apart": (
        "from orders dedup",
        "E051",
        "dedup",
        "`dedup` tells rows apart, and array(string) can be neither ordered nor grouped",
        "say by which columns: `dedup by a, b`, or leave the column out with `select { … }`",
    ),
    "a let after it": (
        'from visits let x = page dedup filter x == "a"',
        "E021",
        "x",
        "no column `x` after `dedup`",
        "there is `country`, `customer_id`, `page`",
    ),
    "nothing before it": ("dedup", "E071", "dedup", "a model begins with `from`", "write `from table` before this"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    body, *expected = ERRORS[case]
    assert finding(body) == tuple(expected)


def form(body: str) -> bytes:
    return fingerprint_form(model(body, sources=SOURCES).relation)


SAME = {
    "a dedup written out": (
        "from visits dedup by who sort { -n } select { page }",
        "from visits derive { i = row_number() over (partition_by: [who], sort: [n desc]) } "
        "filter i == 1 select { page }",
    ),
    "the keys in another order": ("from visits dedup by who, page", "from visits dedup by page, who"),
    "an alias": ("from visits as v dedup by v.who", "from visits dedup by who"),
    "each row once, written out": ("from visits dedup", "from visits group { n, page, who } ()"),
}
OTHER = {
    "another key": ("from visits dedup by who", "from visits dedup by page"),
    "another order": ("from visits dedup by who sort { n }", "from visits dedup by who sort { -n }"),
    "a filter before": (
        "from visits filter n > 1 dedup by who",
        "from visits dedup by who filter n > 1",
    ),
    "fewer columns": ("from visits dedup select { who }", "from visits select { who } dedup"),
}


@pytest.mark.parametrize("case", SAME)
def test_refactorings_keep_the_form(case: str) -> None:
    one, other = SAME[case]
    assert form(one) == form(other)


@pytest.mark.parametrize("case", OTHER)
def test_another_meaning_has_another_form(case: str) -> None:
    one, other = OTHER[case]
    assert form(one) != form(other)
