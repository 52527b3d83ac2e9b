"""What statements and functions mean (language-reference.md §4 to §6, language.md), as unit tests of the language
itself, on both engines."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.language.parser import parse_module
from strata_core.planning.unit_tests import run_unit_tests

ENGINES = [ReferenceEngine(), DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))]
SOURCES = """
source t(csv: "t.csv") {
  columns: { id: int64 primary_key, k: string, n: int64, d: date, tags: array(string), f: bool }
}
source u(csv: "u.csv") { columns: { id: int64, name: string } }
"""
T = """given t {
  | id | k    | n    | d          | tags         | f     |
  | 1  | a    | 10   | 2024-01-31 | ["x", "y"]   | true  |
  | 2  | b    | 20   | 2024-02-29 | []           | false |
  | 3  | a    | none | 2024-03-03 | none         | none  |
  | 4  | none | 40   | none       | ["x", none]  | true  |
}"""
U = """given u {
  | id | name |
  | 1  | ann  |
  | 1  | bob  |
  | 9  | eve  |
}"""
CLAUSES = {
    "a filter keeps what is true, not what is null": ("filter f", "| id | | 1 | | 4 |"),
    "not binds looser than comparison": ("filter not n == 10", "| id | | 2 | | 4 |"),
    "take counts from one, both ends included": ("sort { id } take 2..3", "| id | | 2 | | 3 |"),
    "take before group limits before grouping": (
        "sort { id } take 2 group { k } ( aggregate { c = count() } )",
        "| k | c | | a | 1 | | b | 1 |",
    ),
    "a filter after a group is on the groups": (
        "group { k } ( aggregate { c = count() } filter c > 1 )",
        "| k | c | | a | 2 |",
    ),
    "a filter after a window is on its result": (
        "derive { r = row_number() over (partition_by: [k], sort: [id]) } filter r == 2",
        "| id | | 3 |",
    ),
    "nulls are one group": (
        "group { f } ( aggregate { c = count() } )",
        "| f | c | | true | 2 | | false | 1 | | none | 1 |",
    ),
    "an aggregate of no rows is one row": (
        "filter id > 9 aggregate { c = count(), s = sum(n) }",
        "| c | s | | 0 | none |",
    ),
    "count of a value leaves nulls out": (
        "aggregate { a = count(), b = count(n), c = count(distinct k) }",
        "| a | b | c | | 4 | 3 | 2 |",
    ),
    "derive keeps all others and replaces in place": (
        "derive { n = id }",
        "| id | n | k | | 1 | 1 | a | | 2 | 2 | b | | 3 | 3 | a | | 4 | 4 | none |",
    ),
    "let is hidden and seen by what follows": ("let m = id * 2 filter m > 6 select { id, m }", "| m | | 8 |"),
    "nulls stand last in both directions": ("sort { -n } take 3 select { id }", "| id | | 4 | | 2 | | 1 |"),
    "dedup": ("select { k } dedup", "| k | | a | | b | | none |"),
    "dedup by takes the first in order": ("dedup by k sort { -id }", "| id | k | | 4 | none | | 3 | a | | 2 | b |"),
    "expand gives no row for an empty or null array": (
        "expand tags as tag",
        '| id | tag | | 1 | "x" | | 1 | "y" | | 4 | "x" | | 4 | none |',
    ),
    "expand without a name keeps the one of the column": (
        "expand tags",
        "| id | tags | | 1 | x | | 1 | y | | 4 | x | | 4 | none |",
    ),
    "a left join keeps rows without a partner": (
        "join_left u on t.id == u.id select { t.id, u.name }",
        "| id | name | | 1 | ann | | 1 | bob | | 2 | none | | 3 | none | | 4 | none |",
    ),
    "an inner join": ("join_inner u on t.id == u.id select { t.id, u.name }", "| id | name | | 1 | ann | | 1 | bob |"),
    "a full join": (
        "join_full u on t.id == u.id select { a = t.id, u.name }",
        "| a | name | | 1 | ann | | 1 | bob | | 2 | none | | 3 | none | | 4 | none | | none | eve |",
    ),
    "a semi join does not multiply": ("join_semi u on t.id == u.id", "| id | | 1 |"),
    "an anti join": ("join_anti u on t.id == u.id", "| id | | 2 | | 3 | | 4 |"),
    "a divisor of zero gives null": (
        "filter id < 3 select { id, q = n / (id - 1), r = n % (id - 1) }",
        "| id | q | r | | 1 | none | none | | 2 | 20 | 0 |",
    ),
    "division is float64": ("filter id == 1 select { q = id / 4 }", "| q | | 0.25 |"),
    "concat of a null is null": (
        'select { id, x = concat("-", k) }',
        '| id | x | | 1 | "-a" | | 2 | "-b" | | 3 | "-a" | | 4 | none |',
    ),
    "positions": (
        'filter id == 1 select { a = substring("abc", 2, 1), b = array_get(tags, 0), c = array_index_of(tags, "y") }',
        "| a | b | c | | b | x | 1 |",
    ),
    "months clamp, weeks begin on Monday": (
        "filter id == 1 select { a = date_add(d, months: 1), b = date_trunc(d, week), c = date_diff(d, d, month) }",
        "| a | b | c | | 2024-02-29 | 2024-01-29 | 0 |",
    ),
    "date_diff counts boundaries": (
        'filter id == 1 select { a = date_diff(d, cast("2024-02-01", "date"), month) }',
        "| a | | 1 |",
    ),
    "a list is an array": (
        'filter id == 1 select { xs = [id, 2], ys = ["a", k] }',
        '| xs | ys | | [1, 2] | ["a", "a"] |',
    ),
    "in looks into an array": (
        'select { id, has = "x" in tags }',
        "| id | has | | 1 | true | | 2 | false | | 3 | none | | 4 | true |",
    ),
    "in a list is three-valued": (
        'select { id, x = k in ["a"] }',
        "| id | x | | 1 | true | | 2 | false | | 3 | true | | 4 | none |",
    ),
    "a frame": (
        "derive { s = sum(n) over (sort: [id], rows: -1..0), all = sum(n) over (sort: [id], rows: ..) }"
        " derive { c = count() over (sort: [id], rows: 1..2) }",
        "| id | s | all | c | | 1 | 10 | 70 | 2 | | 2 | 30 | 70 | 2 | | 3 | 20 | 70 | 1 | | 4 | 40 | 70 | 0 |",
    ),
    "lag and lead": (
        "derive { a = lag(id) over (sort: [id]), b = lead(id, 2, 0) over (sort: [id]) }",
        "| id | a | b | | 1 | none | 3 | | 2 | 1 | 4 | | 3 | 2 | 0 | | 4 | 3 | 0 |",
    ),
    "case without otherwise": (
        'select { id, x = case(n > 15, "big") }',
        "| id | x | | 1 | none | | 2 | big | | 3 | none | | 4 | big |",
    ),
    "if of a null condition": ("select { id, x = if(f, 1, 2) }", "| id | x | | 1 | 1 | | 2 | 2 | | 3 | 2 | | 4 | 1 |"),
}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize("clause", CLAUSES)
def test_what_a_clause_means(clause, engine):
    body, expected = CLAUSES[clause]
    given = f"{T} {U}" if "join" in body else T
    text = f'{SOURCES} model m {{ from t {body} }} test m "t" {{ {given} expect {{ {expected} }} }}'
    parsed = parse_module(text, "m.strata")
    compiled = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *compiled.diagnostics) if d.blocks] == []
    (ran,) = run_unit_tests(compiled, engine)
    assert [(d.message, d.notes) for d in ran.violations] == []


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("union all", "| k | n | | a | 1 | | a | 1 | | b | 2 | | a | 1 | | c | 3 |"),
        ("union", "| k | n | | a | 1 | | b | 2 | | c | 3 |"),
        ("intersect", "| k | n | | a | 1 |"),
        ("except", "| k | n | | b | 2 |"),
    ],
)
def test_set_operations_match_columns_by_name(engine, operation, expected):
    text = f"""
    source x(csv: "x") {{ columns: {{ k: string, n: int64 }} }}
    source y(csv: "y") {{ columns: {{ n: int64, k: string }} }}
    model m {{ from x {operation} y }}
    test m "t" {{
      given x {{ | k | n | | a | 1 | | a | 1 | | b | 2 | }}
      given y {{ | n | k | | 1 | a | | 3 | c | }}
      expect {{ {expected} }}
    }}
    """
    compiled = compile_project([parse_module(text, "m.strata").module])
    (ran,) = run_unit_tests(compiled, engine)
    assert [(d.message, d.notes) for d in ran.violations] == []
