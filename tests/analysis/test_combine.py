"""`union [all]`, `intersect`, `except` (language.md, "Statements"), from rows to fingerprints."""

from __future__ import annotations

from decimal import Decimal

import pytest

from strata_core.diagnostics import Severity
from strata_core.relation.form import fingerprint_form
from strata_core.relation.schema import Origin, Role, RowEdge

from . import programs
from .programs import marked, model, project
from .statement_rows import computed_rows

SOURCES = """
source shops(csv: "s.csv") { columns: { shop: string, city: string } }
source closed(csv: "c.csv") { columns: { city: string, shop: string } }
source ids(csv: "i.csv") { columns: { n: int64 nonnull primary_key, kind: string nonnull enum {a, b} } }
source sums(csv: "u.csv") { columns: { n: decimal(4,2), kind: string enum {b, c} } }
source lists(csv: "l.csv") { columns: { n: int64 nonnull, tags: array(string) } }
source weightless(csv: "k.csv") { columns: { shop: string, city: string } }
source ones(csv: "o.csv") { columns: { n: int64 nonnull } }
source weights(csv: "w.csv") { columns: { w: float64 } }
"""
DATA: dict[str, list[list[object]]] = {
    "shops": [["x", "Rome"], ["x", "Rome"], ["y", None], [None, "Oslo"], [None, None], ["z", "Oslo"]],
    "closed": [["Rome", "x"], [None, "y"], [None, "y"], [None, None], ["Bonn", "w"]],
    "ids": [[1, "a"], [2, "b"], [3, "b"]],
    "sums": [[Decimal("1.00"), "b"], [Decimal("2.50"), "c"], [None, None]],
    "lists": [[1, ["a", None]], [1, ["a", None]], [2, None]],
    "weightless": [],
    "ones": [[1]],
    "weights": [[0.0], [-0.0], [float("inf")], [None]],
}
ROWS: dict[str, tuple[str, list[list[object]]]] = {
    "a union of all rows": (
        "from shops union all closed group { shop } ( aggregate { n = count() } ) sort { shop }",
        [["w", 1], ["x", 3], ["y", 3], ["z", 1], [None, 3]],
    ),
    "a union leaves each row once, nulls equal": (
        "from shops union closed sort { shop, city }",
        [["w", "Bonn"], ["x", "Rome"], ["y", None], ["z", "Oslo"], [None, "Oslo"], [None, None]],
    ),
    "an intersection, columns by name": (
        "from shops intersect closed sort { shop }",
        [["x", "Rome"], ["y", None], [None, None]],
    ),
    "a difference": ("from shops except closed sort { shop }", [["z", "Oslo"], [None, "Oslo"]]),
    "a difference leaves each row once": (
        'from shops filter shop == "x" except weightless sort { shop }',
        [["x", "Rome"]],
    ),
    "the type that holds both": (
        "from ids union all sums sort { n, kind }",
        [
            [Decimal("1.00"), "a"],
            [Decimal("1.00"), "b"],
            [Decimal("2.00"), "b"],
            [Decimal("2.50"), "c"],
            [Decimal("3.00"), "b"],
            [None, None],
        ],
    ),
    "rows with lists": ("from lists union all lists select { n } sort { n }", [[1], [1], [1], [1], [2], [2]]),
    "both zeros are one": ("from weights union weights sort { w }", [[0.0], [float("inf")], [None]]),
    "both zeros are one of an intersection": ("from weights intersect weights filter w < 1", [[0.0]]),
    "a filter after it": (
        'from shops union closed filter shop == "y" or city == "Bonn" sort { shop }',
        [["w", "Bonn"], ["y", None]],
    ),
    "a cast that fails on rows that a difference drops": (
        'from ids select { n } except ones select { m = cast(concat("1", if(n == 1, "x", "")), "int64") }',
        [[1], [1]],
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows(case: str) -> None:
    body, expected = ROWS[case]
    assert computed_rows(body, SOURCES, DATA) == expected


def schema(body: str) -> dict[str, tuple[str, frozenset[str] | None]]:
    columns = model(body, sources=SOURCES).relation.schema.columns
    return {c.name: (str(c.inferred), c.inferred.values) for c in columns}


def test_types_widen_and_nullability_and_value_sets_unite() -> None:
    assert schema("from ids union all sums") == {
        "n": ("decimal(21,2)", None),
        "kind": ("string", frozenset("abc")),
    }


def test_an_intersection_knows_what_either_side_knows() -> None:
    assert schema("from ids intersect sums") == {
        "n": ("decimal(21,2) nonnull", None),
        "kind": ("string nonnull", frozenset("b")),
    }


def test_a_difference_knows_what_its_first_side_knows() -> None:
    assert schema("from sums except ids") == {"n": ("decimal(21,2)", None), "kind": ("string", frozenset("bc"))}


def test_keys() -> None:
    def keys(body: str) -> set[frozenset[str]]:
        return set(model(body, sources=SOURCES).relation.schema.keys)

    assert keys("from ids union all ids") == set()
    assert keys("from ids union ids") == {frozenset({"n", "kind"})}
    assert keys("from ids except ids") == {frozenset({"n"})}
    assert keys("from shops intersect closed") == {frozenset({"shop", "city"})}


def test_seed0_s4_a_union_merges_origins() -> None:
    found = model("from shops union closed select { where_ = city }", sources=SOURCES).relation.schema
    assert found["where_"].origins == (Origin("closed", "city"), Origin("shops", "city"))


def test_seed0_s4_a_difference_keeps_its_origins_and_leaves_edges_of_both() -> None:
    found = model("from shops except closed", sources=SOURCES).relation.schema
    assert found["city"].origins == (Origin("shops", "city"),)
    assert found.edges == {
        RowEdge(node, column, Role.JOIN) for node in ("shops", "closed") for column in ("shop", "city")
    }


ERRORS = {
    "an unknown table": ("from visits union vists", "E020", "vists", "no source or model `vists`", "write `visits`"),
    "a column that the other lacks": (
        "from visits union residents",
        "E021",
        "residents",
        "`residents` has no column `page`, and `union` matches columns by name",
        "leave it out here with `select { … }`, or combine with a model that has it",
    ),
    "a column that only the other has": (
        "from visits select { customer_id, country } union all visits",
        "E021",
        "visits",
        "the rows before this `union all` have no column `page`, which `visits` has",
        "add it with `derive { … }`, or combine with a model that does not have it",
    ),
    "types without a common one": (
        "from visits derive { page = 1 } except visits",
        "E054",
        "visits",
        "`page` is int64 here and string in `visits`",
        "cast it on one side: `derive { page = cast(page, …) }`",
    ),
    "a keyword that is a column": (
        "from visits select { `from` = 1 } union quoted",
        "E054",
        "quoted",
        "`from` is int64 here and string in `quoted`",
        "cast it on one side: `derive { `from` = cast(`from`, …) }`",
    ),
    "rows that cannot be told apart": (
        "from orders union orders",
        "E051",
        "union orders",
        "`union` tells rows apart, and array(string) can be neither ordered nor grouped",
        "leave the column out with `select { … }`, or keep equal rows with `union all`",
    ),
    "a table after it": (
        'from visits union visits filter visits.page == "a"',
        "E020",
        "visits",
        "`visits` cannot be read here: after `union` rows belong to no table",
        "write the column's name alone",
    ),
    "a let after it": (
        'from visits let x = page union visits filter x == "a"',
        "E021",
        "x",
        "no column `x` after `union`",
        "there is `country`, `customer_id`, `page`",
    ),
    "nothing before it": (
        "union visits",
        "E071",
        "union visits",
        "a model begins with `from`",
        "write `from table` before this",
    ),
}


MORE = (
    programs.SOURCES
    + """
source residents(csv: "r.csv") { columns: { customer_id: int64, country: string } }
source dollars(csv: "d.csv") { columns: { total: money(USD) } }
source quoted(csv: "q.csv") { columns: { `from`: string } }
"""
)


def errors(body: str) -> list[tuple[str, str, str, str]]:
    text = f"model m {{ {body} }}"
    found = [d for d in project(text, sources=MORE).diagnostics if d.severity is Severity.ERROR]
    return [(d.code, marked(text, d), d.message, d.fix or "") for d in found]


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    body, *expected = ERRORS[case]
    assert errors(body) == [tuple(expected)]


def test_two_currencies_have_no_common_type() -> None:
    ((code, _, message, _),) = errors("from orders select { total } union all dollars")
    assert (code, message) == ("E054", "`total` is money(EUR) here and money(USD) in `dollars`")


def test_a_broken_table_raises_no_second_error() -> None:
    found = project("model a { from nowhere } model b { from visits union all a filter anything == 1 }").diagnostics
    assert [d.code for d in found if d.severity is Severity.ERROR] == ["E020"]


def form(body: str) -> bytes:
    return fingerprint_form(model(body, sources=SOURCES).relation)


SAME = {
    "the sides of a union": ("from shops union all closed", "from closed union all shops"),
    "the sides of an intersection": ("from shops intersect closed", "from closed intersect shops"),
    "an alias and a let": ("from shops as s let x = upper(s.city) union closed", "from shops union closed"),
    "a union written out": (
        "from shops union closed",
        "from shops union all closed group { shop, city } ()",
    ),
    "columns that nothing reads": (
        "from shops union all closed select { city }",
        "from shops derive { shop = upper(shop) } union all closed select { city }",
    ),
}
OTHER = {
    "the sides of a difference": ("from shops except closed", "from closed except shops"),
    "all rows": ("from shops union closed", "from shops union all closed"),
    "the operator": ("from shops intersect closed", "from shops except closed"),
    "another table": ("from shops union all closed", "from shops union all shops"),
    "columns that tell rows apart": (
        "from shops except closed select { city }",
        "from shops derive { shop = upper(shop) } except closed select { city }",
    ),
    "a filter before": (
        "from shops filter city is none union all closed",
        "from shops union all closed filter city is none",
    ),
    "columns that change places": (
        "from shops union all closed",
        "from shops select { shop = city, city = shop } union all closed",
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_refactorings_keep_the_form(case: str) -> None:
    one, other = SAME[case]
    assert form(one) == form(other)


@pytest.mark.parametrize("case", OTHER)
def test_another_meaning_has_another_form(case: str) -> None:
    one, other = OTHER[case]
    assert form(one) != form(other)
