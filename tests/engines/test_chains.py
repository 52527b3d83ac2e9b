"""Conditions and texts of thousands of flat operands, from their text to the rows, on every engine."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.engines.protocol import Engine
from strata_core.language.parser import parse_module
from strata_core.planning.artifact_relation import artifact_relation
from strata_core.relation.schema import Column
from strata_core.types import INT64, STRING, Inferred

from .conformance import outcome_of, table_of
from .engines import ENGINES

LONG = 5_000
COLUMNS = (Column("n", Inferred(INT64, nullable=True)), Column("s", Inferred(STRING, nullable=True)))
ROWS = [[3, "a"], [None, "b"], [LONG, None]]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (f"filter {' or '.join(f'n == {i}' for i in range(LONG))} select {{ n }}", [(3,)]),
        (f"filter {' and '.join(f'n != {i}' for i in range(LONG))} select {{ n }}", [(LONG,)]),
        (
            f"select {{ n, one = {' or '.join(f'n == {i}' for i in range(LONG))} }} sort {{ n }}",
            [(3, True), (LONG, False), (None, None)],
        ),
        (
            f"select {{ n, long = length({' || '.join(['s'] * LONG)}) }} sort {{ n }}",
            [(3, LONG), (LONG, None), (None, LONG)],
        ),
    ],
    ids=["or", "and", "three values", "text"],
)
def test_a_chain_of_thousands(engine: Engine, body: str, rows: list[tuple[object, ...]]) -> None:
    source = "source t() { columns: { n: int64, s: string } }"
    parsed = parse_module(f"{source}\nmodel m {{ from t {body} }}", "f.strata")
    compiled = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *compiled.diagnostics) if d.blocks] == []
    outcome = outcome_of(engine, artifact_relation(compiled.models["m"]), {"t": table_of(COLUMNS, ROWS)})
    assert outcome.codes == ()
    if "long" in body:  # columns by name
        rows = [row[::-1] for row in rows]
    assert list(outcome.rows) == rows
