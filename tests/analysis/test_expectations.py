"""`test model { expect … }` (language.md, "Declarations"): what is asked, of what, and what is not valid."""

from __future__ import annotations

import pytest

from strata_core.analysis import CompiledProject
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.nodes import tables as tables_of

from ..engines.conformance import check_conformance, table_of
from .programs import marked, project

SOURCES = """
source raw(csv: "r.csv") { columns: { id: int64 nonnull, who: int64, kind: string } }
source people(csv: "p.csv") { columns: { id: int64, name: string } }
model m { from raw }
"""
RAW: list[list[object]] = [[1, 10, "a"], [2, 11, "b"], [3, None, None]]
PEOPLE: list[list[object]] = [[10, "x"], [None, "y"]]
DUCKDB = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))


def compiled(text: str) -> CompiledProject:
    return project(text, sources=SOURCES)


BROKEN: dict[str, tuple[str, list[int]]] = {
    "every row": ("expect id > 0", []),
    "a row that breaks it": ("expect id < 3", [3]),
    "null breaks nothing": ("expect who > 10", [1]),
    "null can be asked for": ("expect who is not none", [3]),
    "by the table's name": ('expect m.kind == "a"', [2]),
    "a list": ('expect kind in ["a", "c"]', [2]),
    "a value in another table": ("expect who in people.id", [2]),
    "a value that is computed": ("expect who - 1 in people.id", [1]),
    "a value of another table of the same": ("expect who in raw.who", []),
}


def broken_rows(text: str, rows: list[list[object]]) -> list[list[object]]:
    """The rows that break the one expectation, on the reference; DuckDB agrees."""
    found = compiled(text)
    assert not [d for d in found.diagnostics if d.blocks]
    (one,) = found.expectations
    data = {"m": rows, "raw": rows, "people": PEOPLE}
    columns = {n: s.columns for n, s in found.sources.items()} | {"m": found.models["m"].relation.schema.columns}
    inputs = {n: table_of(columns[n], data[n]) for n in tables_of(one.broken)}
    check_conformance(DUCKDB, one.broken, inputs)
    return [list(r.values()) for r in ReferenceEngine().execute(one.broken, inputs).read_all().to_pylist()]


@pytest.mark.parametrize("case", BROKEN)
def test_rows_that_break_an_expectation(case: str) -> None:
    text, expected = BROKEN[case]
    assert [row[0] for row in broken_rows(f"test m {{ {text} }}", RAW)] == expected


WHOLE = {
    "rows": ("expect row_count == 3", False),
    "too many rows": ("expect row_count < 3", True),
    "rows in arithmetic": ("expect not row_count * 2 == 6", True),
    "an aggregate": ("expect max(who) - min(who) == 1", False),
    "an aggregate that is null": ("expect sum(who - who) > 0", True),
    "distinct values": ("expect count(distinct kind) == 2 and count() == 3", False),
}


@pytest.mark.parametrize("case", WHOLE)
def test_expectations_of_the_whole_table(case: str) -> None:
    text, broken = WHOLE[case]
    assert len(broken_rows(f"test m {{ {text} }}", RAW)) == broken
    (one,) = compiled(f"test m {{ {text} }}").expectations
    assert one.whole


def test_an_empty_table_has_a_row_count() -> None:
    assert len(broken_rows("test m { expect row_count > 0 }", [])) == 1
    assert broken_rows("test m { expect max(id) > 0 }", []) == []


def test_a_column_called_row_count_is_that_column() -> None:
    text = "model n { from raw select { row_count = id } } test n { expect row_count > 1 }"
    (one,) = compiled(text).expectations
    assert not one.whole


def test_expectations_stand_in_the_order_of_their_tests_and_several_tests_of_a_model_add_up() -> None:
    found = compiled("test m { expect id > 0; expect id > 1 } test m { expect row_count > 0 }").expectations
    assert [(e.model, e.whole, e.span.column) for e in found] == [("m", False, 10), ("m", False, 25), ("m", True, 50)]


def test_tests_change_no_model() -> None:
    with_test, without = compiled("test m { expect id > 0 }"), compiled("")
    assert with_test.models["m"].relation == without.models["m"].relation
    assert without.expectations == ()


ERRORS = {
    "an unknown model": ("test mm { expect x > 0 }", "E027", "mm", "no model `mm`", "there is `m`"),
    "a source": (
        "test raw { expect id > 0 }",
        "E027",
        "raw",
        "`raw` is a source, and this asks for a model",
        "make a model of it: `model checked_raw { from raw }`",
    ),
    "an unknown column": ("test m { expect idd > 0 }", "E021", "idd", "no column `idd`", "write `id`"),
    "no condition": (
        "test m { expect id }",
        "E053",
        "id",
        "an expectation needs a condition, but this is int64",
        "compare it, as in `x > 0` or `x is not none`",
    ),
    "no condition of the whole": (
        "test m { expect row_count }",
        "E053",
        "row_count",
        "an expectation needs a condition, but this is int64",
        "compare it, as in `x > 0` or `x is not none`",
    ),
    "an unknown table": (
        "test m { expect who in peple.id }",
        "E020",
        "peple",
        "no source or model `peple`",
        "write `people`",
    ),
    "an unknown column of another table": (
        "test m { expect who in people.nam }",
        "E021",
        "nam",
        "`people` has no column `nam`",
        "write `name`",
    ),
    "a table, and none of its columns": (
        "test m { expect who in people }",
        "E021",
        "people",
        "`people` is a table, and values stand in one of its columns",
        "name the column too, such as `people.who`",
    ),
    "a table, called": (
        "test m { expect who in people(id) }",
        "E021",
        "people(id)",
        "`people` is a table, and values stand in one of its columns",
        "name the column too, such as `people.who`",
    ),
    "a test of another tool": (
        "test m { expect unique(id) }",
        "E025",
        "unique",
        "no function `unique`",
        "write `count(distinct x) == row_count`",
    ),
    "values that cannot be compared": (
        "test m { expect kind in people.id }",
        "E051",
        "people.id",
        "`==` cannot compare string and int64",
        None,
    ),
    "rows and the whole": (
        "test m { expect id < row_count }",
        "E062",
        "id",
        "`id` is neither a key of the group nor aggregated",
        None,
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    text, code, place, message, fix = ERRORS[case]
    found = compiled(text)
    (one,) = [d for d in found.diagnostics if d.blocks]
    assert (one.code, marked(text, one), one.message) == (code, place, message)
    assert one.fix == fix if fix is not None else one.fix
    assert found.expectations == ()
    assert "m" in found.models


def test_a_broken_model_raises_no_second_error() -> None:
    found = compiled("model b { from nowhere } test b { expect x > 0; expect row_count > 0 }")
    assert [d.code for d in found.diagnostics if d.blocks] == ["E020"]
    assert found.expectations == ()
