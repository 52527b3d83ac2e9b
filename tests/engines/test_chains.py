"""Conditions, sums and texts of thousands of flat operands, from their text to the rows, on every engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.engines.protocol import Engine
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.frozen import replace
from strata_core.language.parser import parse_module
from strata_core.planning.artifact_relation import artifact_relation
from strata_core.relation.build import project
from strata_core.relation.canonical import canonical
from strata_core.relation.derivation import derivation
from strata_core.relation.expressions import Call, Cast, Chain, Expr
from strata_core.relation.form import fingerprint_form
from strata_core.relation.nodes import Item, Relation
from strata_core.relation.schema import Column
from strata_core.types import FLOAT64, INT64, STRING, Inferred

from .conformance import outcome_of, table_of
from .engines import ENGINES
from .strategies import CHAINED, chains, databases, expressions

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
        (f"select {{ n, sum = n{' + n' * (LONG - 1)} }} sort {{ n }}", [(3, 3 * LONG), (LONG, LONG**2), (None, None)]),
        (f"select {{ n, back = n{' + n - n' * (LONG // 2)} }} sort {{ n }}", [(3, 3), (LONG, LONG), (None, None)]),
        (f"aggregate {{ total = sum(n){' + count()' * LONG} }}", [(3 + LONG + 3 * LONG,)]),
        (
            f"select {{ n, which = case({', '.join(f'n == {i}, -{i}' for i in range(LONG))}) }} sort {{ n }}",
            [(3, -3), (LONG, None), (None, None)],
        ),
    ],
    ids=["or", "and", "three values", "text", "sum", "plus and minus", "aggregates", "case"],
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


def compiled(body: str) -> Relation:
    parsed = parse_module(f"source t() {{ columns: {{ n: int64, f: float64 }} }}\nmodel m {{ from t {body} }}", "f")
    result = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *result.diagnostics) if d.blocks] == []
    return artifact_relation(result.models["m"])


NUMBERS = (Column("n", Inferred(INT64, nullable=True)), Column("f", Inferred(FLOAT64, nullable=True)))


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("body", "rows"),
    [
        # From the left: half of an ulp is lost each time it is added to one, and not when the halves come first.
        (f"select {{ x = f + 1.0{' + f' * 50} }}", [(1.0,)]),
        (f"select {{ x = f{' + f' * 50} + 1.0 }}", [(1.0000000000000058,)]),
        # The sum passes the largest int64 on its way only where the large number comes first.
        (f"select {{ x = n{' - n' * 40} + 9223372036854775807 }}", [(9223372036854775768,)]),
        (f"select {{ x = 9223372036854775807 + n{' - n' * 40} }}", "E090"),
        # Division makes floats of what follows.
        (f"select {{ x = n{' + n' * 40} / 2 - 0.25 }}", [(40.25,)]),
        (f"select {{ x = (n{' + n' * 40}) % 7 * 2 }}", [(12,)]),
        # What is not chosen does not fail.
        (f"select {{ x = if(n == 2, n{' * 9' * 40}, 0) }}", [(0,)]),
        (f"select {{ x = if(n == 1, n{' * 9' * 40}, 0) }}", "E090"),
    ],
)
def test_long_arithmetic_is_grouped_from_the_left(engine: Engine, body: str, rows: list[tuple[object]] | str) -> None:
    outcome = outcome_of(engine, compiled(body), {"t": table_of(NUMBERS, [[1, 2.0**-53]])})
    assert (outcome.codes or list(outcome.rows)) == ((rows,) if isinstance(rows, str) else rows)


def nested(expr: Expr) -> Expr:
    """`expr` with nested calls for its chains."""
    match expr:
        case Chain():
            value = nested(expr.first)
            for one in expr.links:
                value = replace(one, operand=nested(one.operand)).after(value)
            return value
        case Call():
            return replace(expr, args=tuple(map(nested, expr.args)))
        case Cast():
            return replace(expr, operand=nested(expr.operand))
        case _:
            return expr


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_chain_means_what_nested_calls_mean(data: st.DataObject) -> None:
    database = data.draw(databases())
    source = data.draw(st.sampled_from(database.scans))
    type_ = data.draw(st.sampled_from([*CHAINED]))
    chain = data.draw(chains(data.draw(expressions(source.schema, type_).filter(is_computed)), source.schema, type_))
    as_links, as_calls = (project(source, [Item("x", expr)]) for expr in (chain, nested(chain)))
    assert as_links.schema == as_calls.schema
    assert fingerprint_form(as_links) == fingerprint_form(as_calls)
    assert derivation(as_links) == derivation(as_calls)
    assert fingerprint_form(canonical(as_links)) == fingerprint_form(as_links)
    for engine in (ReferenceEngine(), ReferenceEngine(eager=True)):
        expected, found = (outcome_of(engine, r, database.tables) for r in (as_calls, as_links))
        assert (repr(found.rows), found.codes) == (repr(expected.rows), expected.codes)


def is_computed(expr: Expr) -> bool:
    return isinstance(expr, Call)
