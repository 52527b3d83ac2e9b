"""`strata test` on literal tables: rows compared as multisets, or in the order of the model; what a failure shows."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.language.parser import parse_module
from strata_core.planning.unit_tests import run_unit_tests

MODELS = """
source orders(csv: "nowhere.csv") {
  columns: { id: int64 primary_key, who: int64, amount: decimal(8,2) nonnull, at: timestamp, tags: array(string) }
  filter: id != 9
}
source people(csv: "nowhere.csv") { columns: { id: int64 primary_key, name: string } }
model paid { from orders filter amount > 0.00 select { id, who, amount, at, tags } }
model totals { from paid group { who } ( aggregate { total = sum(amount), n = count() } ) }
model ranked { from totals sort { -n } }
model named { from orders join_left people on who == people.id expect many_to_one select { id, people.name } }
source labels(csv: "nowhere.csv") { columns: { id: int64, label: string } }
model pairs { from orders join_inner labels on who == labels.id expect many_to_one select { id, labels.label } }
model loud { from orders select { id, n = 1000000000000 * id } }
"""
ENGINES = [ReferenceEngine(), DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))]
GIVEN = """given orders {
  | id | who  | amount |
  | 1  | 10   | 1.00   |
  | 2  | 10   | 2      |
  | 3  | none | 0.5    |
  | 4  | 10   | 0      |
  | 9  | 9    | 9      |
}"""


@pytest.fixture(params=ENGINES, ids=lambda e: e.name)
def violations(request):
    """The violations of the unit tests in a text, on each engine."""

    def run(text: str) -> list[Diagnostic]:
        parsed = parse_module(MODELS + text, "m.strata")
        assert parsed.diagnostics == ()
        compiled = compile_project([parsed.module])
        assert not [d for d in compiled.diagnostics if d.blocks]
        return [d for ran in run_unit_tests(compiled, request.param) for d in ran.violations]

    return run


HOLDS = {
    "rows in any order": f'test paid "t" {{ {GIVEN} expect {{ | id | amount | | 3 | 0.50 | | 1 | 1 | | 2 | 2 | }} }}',
    "columns that are left out are not compared": f'test paid "t" {{ {GIVEN} expect {{ | id | | 1 | | 2 | | 3 | }} }}',
    "nulls are equal": f'test totals "t" {{ {GIVEN} expect {{ | who | total | | none | 0.5 | | 10 | 3 | }} }}',
    "rows count as often as they stand": f'test paid "t" {{ {GIVEN} expect {{ | who | | 10 | | none | | 10 | }} }}',
    "no rows": 'test paid "t" { given orders { | id | } expect { | id | } }',
    "in the order of the model": f'test ranked "t" {{ {GIVEN} expect {{ | n | | 2 | | 1 | }} }}',
    "rows that the sort does not tell apart": """test ranked "t" {
      given totals { | who | n | total | | 1 | 5 | 0 | | 2 | 5 | 1 | | 3 | 7 | 2 | }
      expect { | who | n | | 3 | 7 | | 2 | 5 | | 1 | 5 | }
    }""",
    "a model given for its readers": """test totals "t" {
      given paid { | who | amount | | 1 | 2 | }
      expect { | n | | 1 | }
    }""",
    "conditions": f'test totals "t" {{ {GIVEN} expect row_count == 2; expect total > 0.00; expect who in totals.who }}',
    "values with parts": """test paid "t" {
      given orders { | id | amount | tags | at | | 1 | 1 | ["a|b", none] | 2024-01-31 10:00:00.25 | }
      expect { | tags | at | | ["a|b", none] | 2024-01-31 10:00:00.25 | }
    }""",
    "a join": """test named "t" {
      given orders { | id | who | amount | | 1 | 10 | 1 | | 2 | 11 | 1 | }
      given people { | id | name | | 10 | "ann" | }
      expect { | id | name | | 1 | "ann" | | 2 | none | }
    }""",
}


@pytest.mark.parametrize("case", HOLDS)
def test_a_test_that_holds(case, violations):
    assert violations(HOLDS[case]) == []


def test_a_failure_shows_the_rows_that_one_side_lacks(violations):
    (found,) = violations(
        f'test totals "sums up" {{ {GIVEN} expect {{ | who | n | | 10 | 3 | | none | 1 | | 11 | 1 | }} }}'
    )
    assert (found.code, found.message) == (
        "E089",
        "`totals` fails 'sums up': 2 rows are missing and 1 row is not expected",
    )
    assert found.notes == ("  | who | n |", "- | 10  | 3 |", "- | 11  | 1 |", "+ | 10  | 2 |")
    assert found.span is not None
    assert found.span.line == (MODELS + GIVEN).count("\n") + 1


def test_a_row_that_stands_once_too_often(violations):
    (found,) = violations(f'test paid "t" {{ {GIVEN} expect {{ | who | | 10 | | 10 | | 10 | | none | }} }}')
    assert found.message == "`paid` fails 't': 1 row is missing"


def test_another_order(violations):
    (found,) = violations(f'test ranked "t" {{ {GIVEN} expect {{ | n | | 1 | | 2 | }} }}')
    assert found.message == "`ranked` fails 't': the rows are as expected, but row 1 stands elsewhere"
    assert found.notes == ("the model sorts, and makes here n = 2",)


def test_a_join_that_matches_more_rows_than_it_says(violations):
    found = violations("""test pairs "t" {
      given orders { | id | who | amount | | -1 | 10 | 1 | }
      given labels { | id | label | | 10 | a | | 10 | b | }
      expect row_count == 2
    }""")
    assert [d.code for d in found] == ["E087"]


def test_a_computation_that_fails(violations):
    found = violations('test loud "t" { given orders { | id | | 9000000000000000000 | } expect row_count == 1 }')
    assert [d.code for d in found] == ["E090"]
    assert found[0].span is not None


def test_long_differences_are_cut(violations):
    rows = " ".join(f"| {i} |" for i in range(30))
    (found,) = violations(f'test paid "t" {{ given orders {{ | id | }} expect {{ | id | {rows} }} }}')
    assert found.message == "`paid` fails 't': 30 rows are missing"
    assert len(found.notes) == 22
    assert found.notes[-1] == "and 10 more"


def test_a_long_cell_is_cut(violations):
    given = f'given orders {{ | id | amount | tags | | 1 | 1 | ["{"x" * 5000}"] | }}'
    (found,) = violations(f'test paid "t" {{ {given} expect {{ | tags | | [] | }} }}')
    assert max(map(len, found.notes)) == 106


def test_a_model_that_is_not_there():
    compiled = compile_project([parse_module(MODELS, "m.strata").module])
    with pytest.raises(StrataError) as error:
        run_unit_tests(compiled, ReferenceEngine(), ["nix"])
    assert [d.code for d in error.value.diagnostics] == ["E027"]
