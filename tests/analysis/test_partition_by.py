"""`partition_by` (language.md, "Statements"): which columns a table can be laid out by."""

from __future__ import annotations

import pytest

from .programs import marked, model, project

SOURCES = """
source raw(csv: "r.csv") {
  columns: { id: int64 primary_key, day: date, kind: string, x: float64, tags: array(string) }
}
contract C { id: int64 primary_key  kind: string partition_by  day: date partition_by }
contract F { id: int64 primary_key  x: float64 partition_by }
"""


@pytest.mark.parametrize(
    ("body", "columns"),
    [
        ("from raw", ()),
        ("from raw partition_by: [day, kind]", ("day", "kind")),
        ("from raw partition_by [kind]", ("kind",)),
        ("from raw select { d = day } partition_by: [d]", ("d",)),
        ("partition_by: [kind] from raw", ("kind",)),
    ],
)
def test_the_columns_of_a_layout(body: str, columns: tuple[str, ...]) -> None:
    assert model(body, sources=SOURCES).partition == columns


def test_a_contract_marks_them_too() -> None:
    for statement in ("", "partition_by: [kind, day]"):
        found = project(f"model m -> contract C {{ from raw select {{ id, day, kind }} {statement} }}", sources=SOURCES)
        assert found.models["m"].partition == ("kind", "day")


ERRORS = {
    "an unknown column": ("{ from raw partition_by: [dey] }", "E021", "dey"),
    "a column that was left out": ("{ from raw select { id } partition_by: [day] }", "E021", "day"),
    "an expression": ("{ from raw partition_by: [year(day)] }", "E071", "year(day)"),
    "a column twice": ("{ from raw partition_by: [day, day] }", "E023", "day"),
    "floats": ("{ from raw partition_by: [x] }", "E051", "x"),
    "arrays": ("{ from raw partition_by: [tags] }", "E051", "tags"),
    "twice": ("{ from raw partition_by: [day] partition_by: [kind] }", "E071", "partition_by: [kind]"),
    "other columns than the contract's": (
        "-> contract C { from raw select { id, day, kind } partition_by: [day] }",
        "E071",
        "partition_by: [day]",
    ),
    "floats by contract": ("-> contract F { from raw select { id, x } }", "E051", "m"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    body, code, place = ERRORS[case]
    text = f"model m {body}"
    (found,) = [d for d in project(text, sources=SOURCES).diagnostics if d.blocks]
    assert (found.code, marked(text, found)) == (code, place)
