"""The catalog's examples, from their text through grammar and analysis, on every engine."""

from __future__ import annotations

import pytest

from strata_core.analysis import compile_project
from strata_core.engines.protocol import Engine
from strata_core.language.parser import parse_module
from strata_core.relation.schema import Column
from strata_core.types import BOOL, FLOAT64, INT64, STRING, Decimal, Inferred, Money, ValueType
from strata_core.types.functions import CATALOG, Example, Kind

from .conformance import outcome_of, table_of
from .engines import ENGINES

CASES = [
    pytest.param(engine, example, id=f"{engine.name}-{function.name}-{n}")
    for engine in ENGINES
    for function in CATALOG.values()
    for n, example in enumerate(function.examples)
]
TYPES: dict[type, ValueType] = {bool: BOOL, int: INT64, float: FLOAT64, str: STRING}


@pytest.mark.parametrize(("engine", "example"), CASES)
def test_example_of_the_catalog(engine: Engine, example: Example) -> None:
    assert run(engine, example) == example.value


@pytest.mark.parametrize("function", CATALOG.values(), ids=lambda f: f.name)
def test_every_function_is_documented_by_two_examples(function: object) -> None:
    row = CATALOG[function.name]
    assert len(row.examples) == 2
    assert row.doc.endswith(".")
    assert all(row.kind is Kind.SCALAR or e.rows for e in row.examples)


def run(engine: Engine, example: Example) -> object:
    """The value of an example; money as text."""
    type_ = next((TYPES[type(v)] for v in example.rows if v is not None), INT64)
    columns = (Column("i", Inferred(INT64, nullable=False)), Column("x", Inferred(type_, nullable=True)))
    rows = [[i, x] for i, x in enumerate(example.rows or (None,))]
    whole = bool(example.rows) and " over " not in example.call
    statement = "aggregate { y = %s }" if whole else "select { i, y = %s } sort { i }"
    source = f"source t() {{ columns: {{ i: int64 nonnull, x: {type_} }} }}"
    parsed = parse_module(f"{source}\nmodel m {{ from t {statement % example.call} }}", "example.strata")
    compiled = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *compiled.diagnostics) if d.blocks] == []
    outcome = outcome_of(engine, compiled.models["m"].relation, {"t": table_of(columns, rows)})
    assert outcome.codes == ()
    type_of_y = compiled.models["m"].relation.schema["y"].inferred.type
    found = [plain(row[-1], type_of_y) for row in sorted(outcome.rows, key=lambda row: str(row[0]))]
    return found if example.rows and not whole else found[0]


def plain(value: object, type_: ValueType) -> object:
    """A value as an example writes it."""
    return str(value) if isinstance(type_, Decimal | Money) and value is not None else value
