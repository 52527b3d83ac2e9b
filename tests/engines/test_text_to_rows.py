"""Statements from their text, on every engine, with literal rows: what random expressions over all types have found."""

from __future__ import annotations

from decimal import Decimal

import pytest

from strata_core.analysis import compile_project
from strata_core.engines.protocol import Engine
from strata_core.language.parser import parse_module
from strata_core.planning.artifact_relation import artifact_relation
from strata_core.relation.schema import Column
from strata_core.types import Inferred, parse_type

from .conformance import outcome_of, table_of
from .engines import ENGINES

INF = float("inf")
ROWS: list[tuple[str, str, list[object], list[tuple[object, ...]] | str]] = [
    # A decimal without whole digits has a 0 before its point, in text and in JSON.
    (
        "decimal(3,3)",
        'select { id, y = cast(x, "string"), z = json_build("a", x) }',
        [Decimal("0.000"), Decimal("-0.125"), None],
        [(1, "0.000", '{"a":0.000}'), (2, "-0.125", '{"a":-0.125}'), (3, None, '{"a":null}')],
    ),
    # DuckDB reads no exponent where a decimal has no whole digits.
    (
        "float64",
        'select { id, y = cast(x, "decimal(6,6)"), z = try_cast(x, "decimal(38,38)") }',
        [1.5e-5, -9.5e-7, 4.9e-7, 5e-324, 0.25, -5e-39],
        [
            (1, Decimal("0.000015"), Decimal("0.00001500000000000000000000000000000000")),
            (2, Decimal("-0.000001"), Decimal("-0.00000095000000000000000000000000000000")),
            (3, Decimal("0.000000"), Decimal("0.00000049000000000000000000000000000000")),
            (4, Decimal("0.000000"), Decimal("0E-38")),
            (5, Decimal("0.250000"), Decimal("0.25000000000000000000000000000000000000")),
            (6, Decimal("0.000000"), Decimal("-1E-38")),
        ],
    ),
    ("float64", 'select { id, y = cast(x, "decimal(3,3)") }', [0.9995], "E090"),
    # An array of which one element does not fit does not fit.
    (
        "array(string)",
        'select { id, y = try_cast(x, "array(int64)"), z = try_cast(list(x), "array(array(int64))") }',
        [["1", None], ["2", "x"], [], None],
        [(1, [1, None], [[1, None]]), (2, None, None), (3, [], [[]]), (4, None, [None])],
    ),
    # Halfway between two values is the sum of their halves: rounded once, of the largest ones too, and of infinity.
    *(
        ("float64", "aggregate { id = 0, y = median(x) }", values, [(0, middle)])
        for values, middle in [
            ([0.025, None, 2.525], 1.275),
            ([1.7e308, 1.7e308], 1.7e308),
            ([1.0, -INF], -INF),
            ([INF, -INF, 3.0], 3.0),
            ([-1.0, 2.0**53], 4503599627370495.5),
            ([1e-5, -0.0, -1.0, 3.0], 5e-06),
            ([None, None], None),
        ]
    ),
    # A separator, or the key of a member, may be a column, and a key may be anything.
    (
        "string",
        'select { id, y = split("a-b", x), z = array_join(list("a", none, "b"), x) }',
        ["-", "", None, "--"],
        [(1, ["a", "b"], "a-b"), (2, ["a-b"], "ab"), (3, None, None), (4, ["a-b"], "a--b")],
    ),
    (
        "string",
        'let doc = cast("{\\"a\\\\\\"b\\": 1, \\"\\": [2], \\"~/\\": \\"c\\", \\"0\\": null}", "json") '
        'select { id, y = json_get(doc, x), z = json_value(doc, x), z2 = json_value(cast("[5]", "json"), x) }',
        ['a"b', "", "~/", "0", None],
        [(1, "1", "1", None), (2, "[2]", None, None), (3, '"c"', "c", None), (4, "null", None, None), (5, *[None] * 3)],
    ),
    (
        "json",
        'select { id, y = json_get(x, ""), z = json_value(x, "a\\"b") }',
        ['{"": [1, 2], "a\\"b": true}', "[3]", None],
        [(1, "[1,2]", "true"), (2, None, None), (3, None, None)],
    ),
    # Keys of windows may be what can abort.
    (
        "string",
        'select { id, y = rank() over (partition_by: [cast(x, "int64") % 2], sort: [cast(x, "int64")]) }',
        ["3", "1", "4", "3", None],
        [(1, 2), (2, 1), (3, 1), (4, 2), (5, 1)],
    ),
    (
        "string",
        'select { id, y = sum(0.5) over (partition_by: [cast(x, "int64")]), '
        'z = lag(cast(x, "int64")) over (partition_by: [cast(x, "int64") > 1], sort: [-cast(x, "int64")]) }',
        ["3", "1", "3", "5"],
        [(1, 1.0, 5), (2, 0.5, None), (3, 1.0, 3), (4, 0.5, None)],
    ),
    (
        "string",
        'select { id, y = rank() over (sort: [cast(x, "int64")]) }',
        ["3", "x"],
        "E090",
    ),
]


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(("type_", "body", "values", "rows"), ROWS)
def test_rows(
    engine: Engine, type_: str, body: str, values: list[object], rows: list[tuple[object, ...]] | str
) -> None:
    source = f"source t() {{ columns: {{ id: int64 nonnull primary_key, x: {type_} }} }}"
    parsed = parse_module(f"{source}\nmodel m {{ from t {body} }}", "f.strata")
    compiled = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *compiled.diagnostics) if d.blocks] == []
    columns = (
        Column("id", Inferred(parse_type("int64"), nullable=False)),
        Column("x", Inferred(parse_type(type_), True)),
    )
    table = table_of(columns, [[n, x] for n, x in enumerate(values, start=1)])
    outcome = outcome_of(engine, artifact_relation(compiled.models["m"]), {"t": table})
    assert (outcome.codes or list(outcome.rows)) == ((rows,) if isinstance(rows, str) else rows)
