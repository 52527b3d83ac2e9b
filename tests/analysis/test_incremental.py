"""`incremental { … }` (language.md, "Statements"): which models can be added to, and what is said of the others."""

from __future__ import annotations

import pytest

from strata_core.analysis.compiled import Incremental

from .programs import marked, model, project

SOURCES = """
source orders(csv: "o.csv") {
  columns: {
    id: int64 nonnull, who: int64 nonnull, at: timestamp, day: date, x: float64, tags: array(string), n: int64,
  }
}
source people(csv: "p.csv") { columns: { id: int64 primary_key, at: timestamp } }
model other { from orders }
"""


def incremental(body: str) -> Incremental | None:
    return model(body, sources=SOURCES).incremental


def test_what_is_asked_for() -> None:
    found = incremental("from orders incremental { strategy: upsert, key: [id, who], cursor: at }")
    assert found is not None
    assert (found.strategy, found.keys, found.cursor) == ("upsert", ("id", "who"), "at")
    assert (found.table, found.column) == ("orders", "at")


@pytest.mark.parametrize(
    ("written", "strategy"),
    [
        ("incremental { cursor: at }", "append"),
        ("incremental { key: [id], cursor: at }", "upsert"),
        ("incremental merge_strategy: append cdc_column: at", "append"),
        ("incremental merge_strategy: upsert merge_keys: [id] cdc_column: at", "upsert"),
        ("incremental { strategy: replace }", None),
        ("incremental merge_strategy: replace", None),
    ],
)
def test_the_spellings(written: str, strategy: str | None) -> None:
    found = incremental(f"from orders {written}")
    assert (found.strategy if found is not None else None) == strategy


def test_the_cursor_may_be_renamed() -> None:
    found = incremental("from orders select { since = at, id } incremental { cursor: since }")
    assert found is not None
    assert (found.cursor, found.column) == ("since", "at")


def test_the_keys_of_an_upsert_are_a_key_of_the_model() -> None:
    assert (
        frozenset({"who"})
        in model("from orders incremental { key: [who], cursor: at }", sources=SOURCES).relation.schema.keys
    )


def test_an_upsert_proves_a_primary_key() -> None:
    made = model(
        "from orders select { who, at } incremental { key: [who], cursor: at }",
        contract="who: int64 primary_key",
        sources=SOURCES,
    )
    assert made.assertions == ()


@pytest.mark.parametrize(
    "body",
    [
        "from orders join_left people on who == people.id select { orders.at, pat = people.at }",
        "from orders join_asof people on who == people.id at people.at <= orders.at select { orders.at }",
        "from orders join_semi people on who == people.id",
        "from orders join_cross people select { orders.at }",
        "from orders expand tags as tag",
        "from orders let y = n + 1 filter y > 1 derive { z = y } sort { -z }",
    ],
)
def test_statements_that_make_each_row_from_one(body: str) -> None:
    assert incremental(f"{body} incremental {{ cursor: at }}") is not None


ERRORS = {
    "no cursor": ("incremental { strategy: append }", "E071", "incremental {", "`append` needs a cursor"),
    "an unknown cursor": ("incremental { cursor: att }", "E021", "att", "the output has no column `att`"),
    "a cursor with a NaN": ("incremental { cursor: x }", "E071", "x", "a cursor is compared, and `x` is float64"),
    "a computed cursor": (
        "derive { m = n + 1 } incremental { cursor: m }",
        "E071",
        "m",
        "the cursor `m` is not a column of `orders` as it stands there",
    ),
    "a cursor of another table": (
        "join_left people on who == people.id derive { p = people.at } incremental { cursor: p }",
        "E071",
        "p",
        "the cursor `p` is not a column of `orders` as it stands there",
    ),
    "an upsert without a key": (
        "incremental { strategy: upsert, cursor: at }",
        "E071",
        "incremental {",
        "an `upsert` replaces rows by their keys, and there are none",
    ),
    "an append with a key": (
        "incremental { strategy: append, key: [id], cursor: at }",
        "E071",
        "id",
        "an `append` replaces no rows, so that it has no key",
    ),
    "an unknown key": ("incremental { key: [idd], cursor: at }", "E021", "idd", "the output has no column `idd`"),
    "a key that may be null": (
        "incremental { key: [n], cursor: at }",
        "E071",
        "n",
        "`n` may be null, and a null is no key",
    ),
    "a key that cannot be compared": (
        "incremental { key: [tags], cursor: at }",
        "E051",
        "tags",
        "array(string) can be neither ordered nor grouped",
    ),
    "twice": (
        "incremental { cursor: at } incremental { cursor: day }",
        "E071",
        "incremental { cursor: day }",
        "a model is incremental in one way",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    body, code, place, message = ERRORS[case]
    text = f"model m {{ from orders {body} }}"
    (found,) = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    assert (found.code, found.message) == (code, message)
    assert marked(text, found).startswith(place)


SEVERAL = {
    "group { at } ( aggregate { c = count() } )": "`group`",
    "dedup": "`dedup`",
    "take 5": "`take`",
    "union other": "`union`",
    "except other": "`except`",
    "join_full people on who == people.id": "`join_full`",
    "derive { r = row_number() over (sort: [id]) }": "a window",
}


@pytest.mark.parametrize("statement", SEVERAL)
def test_statements_that_look_at_several_rows(statement: str) -> None:
    text = f"model m {{ from orders {statement} incremental {{ cursor: at }} }}"
    found = [d for d in project(text, sources=SOURCES).diagnostics if d.code == "E071"]
    assert [d.message.rpartition(", and ")[2] for d in found] == [f"{SEVERAL[statement]} looks at several"]
    assert marked(text, found[0]) == statement


def test_a_table_that_is_read_twice() -> None:
    text = "model m { from orders join_left orders as o on who == o.id incremental { cursor: at } }"
    found = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    assert [d.message.rpartition(", and ")[2] for d in found] == ["this one reads `orders` twice"]


def test_a_cursor_that_the_contract_widens() -> None:
    text = "contract C { n: float64 } model m -> contract C { from orders incremental { cursor: n } }"
    (found,) = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    assert (found.code, marked(text, found)) == ("E071", "m")


def test_settings_are_part_of_what_a_model_means() -> None:
    from strata_core.planning.fingerprints import fingerprints

    bodies = ["", "incremental { cursor: at }", "incremental { cursor: day }", "incremental { strategy: replace }"]
    bodies += ["incremental { key: [id], cursor: at }", "incremental merge_strategy: append cdc_column: at"]
    prints = [fingerprints(project(f"model m {{ from orders {body} }}", sources=SOURCES))["m"].local for body in bodies]
    assert prints[0] == prints[3]
    assert prints[1] == prints[5]
    assert len(set(prints)) == 4
