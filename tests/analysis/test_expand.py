"""`expand tags as tag` (language.md, "Statements"), from rows to fingerprints."""

from __future__ import annotations

import pytest

from strata_core.relation.form import fingerprint_form
from strata_core.relation.schema import Origin, Role, RowEdge, Transform

from .programs import finding, model
from .statement_rows import computed_rows

SOURCES = """
source posts(csv: "p.csv") {
  columns: { id: int64 primary_key, tags: array(string), n: array(int64 nonnull) nonnull, text: string }
}
source colours(csv: "c.csv") { columns: { tag: string primary_key, colour: string } }
"""
DATA: dict[str, list[list[object]]] = {
    "posts": [[1, ["a", "b"], [3, 3], "1"], [2, [], [], "x"], [3, None, [4], "3"], [4, [None, "b"], [1, 2], "4"]],
    "colours": [["a", "red"], ["b", "blue"]],
}
ROWS: dict[str, tuple[str, list[list[object]]]] = {
    "a row for each element, none for null and empty arrays": (
        "from posts expand tags as tag select { id, tag } sort { id, tag }",
        [[1, "a"], [1, "b"], [4, "b"], [4, None]],
    ),
    "equal elements are rows of their own": (
        "from posts expand n as one select { id, one } sort { id, one }",
        [[1, 3], [1, 3], [3, 4], [4, 1], [4, 2]],
    ),
    "the array stays": (
        "from posts filter id == 4 expand n as one select { n, one } sort { one }",
        [[[1, 2], 1], [[1, 2], 2]],
    ),
    "the element in the place of the array": (
        "from posts expand n as n select { n, id } sort { n, id }",
        [[1, 4], [2, 4], [3, 1], [3, 1], [4, 3]],
    ),
    "an array that is computed": (
        "from posts expand array_append(tags, text) as t select { id, t } filter id < 4 sort { id, t }",
        [[1, "1"], [1, "a"], [1, "b"], [2, "x"]],
    ),
    "two arrays": (
        "from posts expand tags as t expand n as i select { id, t, i } sort { id, t, i }",
        [[1, "a", 3], [1, "a", 3], [1, "b", 3], [1, "b", 3], [4, "b", 1], [4, "b", 2], [4, None, 1], [4, None, 2]],
    ),
    "an array twice": (
        "from posts filter id == 1 expand tags as a expand tags as b select { a, b } sort { a, b }",
        [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]],
    ),
    "a join and a group after it": (
        "from posts expand tags as tag join_inner colours on tag == colours.tag "
        "group { colours.colour } ( aggregate { posts = count(distinct id) } ) sort { colour }",
        [["blue", 2], ["red", 1]],
    ),
    "a cast that fails on rows that it drops": (
        'from posts expand tags as tag filter cast(text, "int64") > 3 select { id, tag } sort { tag }',
        [[4, "b"], [4, None]],
    ),
    "an order before it": (
        'from posts sort { -id } expand tags as tag select { id, tag } filter tag != "a"',
        [[4, "b"], [1, "b"]],
    ),
    "a first of the elements": (
        "from posts expand n as one sort { one, -id } take 2 select { id, one }",
        [[4, 1], [4, 2]],
    ),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows(case: str) -> None:
    body, expected = ROWS[case]
    assert computed_rows(body, SOURCES, DATA) == expected


def test_the_element_has_the_type_and_the_nullability_of_elements() -> None:
    schema = model("from posts expand tags as tag expand n as one", sources=SOURCES).relation.schema
    assert (str(schema["tag"].inferred), str(schema["one"].inferred)) == ("string", "int64 nonnull")
    assert schema.names == ("id", "tags", "n", "text", "tag", "one")


def test_no_key_is_left() -> None:
    assert model("from posts expand tags as tag", sources=SOURCES).relation.schema.keys == frozenset()


def test_seed0_s4_an_element_derives_from_its_array_which_shapes_the_rows() -> None:
    schema = model("from posts expand tags as tag select { id, tag }", sources=SOURCES).relation.schema
    assert schema["tag"].origins == (Origin("posts", "tags", Transform.DERIVED),)
    assert schema["id"].origins == (Origin("posts", "id"),)
    assert schema.edges == {RowEdge("posts", "tags", Role.EXPAND)}


ERRORS = {
    "no array": (
        "from orders expand note as part",
        "E050",
        "note",
        "`expand` needs an array, but this is string",
        "name a column of type `array(…)`",
    ),
    "an unknown column": ("from orders expand tgs as tag", "E021", "tgs", "no column `tgs`", "write `tags`"),
    "none": (
        "from orders expand none as tag",
        "E055",
        "none",
        "`none` alone gives the column no type",
        'write `cast(none, "int64")`',
    ),
    "an error breaks its column alone": (
        "from orders expand tgs as tag filter tag == 1 select { tag, paid }",
        "E021",
        "tgs",
        "no column `tgs`",
        "write `tags`",
    ),
    "the array's column after its replacement": (
        "from orders expand tags as tags filter orders.tags is none",
        "E021",
        "tags",
        "`orders` has no column `tags`",
        "there is `amount`, `at`, `country`, `customer_id`, `note`, `order_id`, `paid`, `placed`, …",
    ),
    "nothing before it": (
        "expand tags as tag",
        "E071",
        "expand tags as tag",
        "a model begins with `from`",
        "write `from table` before this",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    body, *expected = ERRORS[case]
    assert finding(body) == tuple(expected)


def form(body: str) -> bytes:
    return fingerprint_form(model(body, sources=SOURCES).relation)


SAME = {
    "a name on the way": (
        "from posts expand tags as x select { id, tag = x }",
        "from posts as p let y = p.tags expand y as tag select { id, tag }",
    ),
    "a filter before it and after it": (
        "from posts filter id > 1 expand tags as tag",
        "from posts expand tags as tag filter id > 1",
    ),
}
OTHER = {
    "another array": (
        "from posts expand tags as t select { id }",
        "from posts expand n as t select { id }",
    ),
    "no expand": ("from posts expand tags as t select { id }", "from posts select { id }"),
    "twice": (
        "from posts expand tags as t select { id }",
        "from posts expand tags as t expand tags as u select { id }",
    ),
    "elements of two": (
        "from posts expand tags as t expand tags as u select { a = t, b = t }",
        "from posts expand tags as t expand tags as u select { a = t, b = u }",
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
