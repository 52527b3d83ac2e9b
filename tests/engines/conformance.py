"""What it means that an engine agrees with the reference interpreter.

Rows agree as a multiset; under an outermost `Limit`, whose order is total, also as a sequence, and under an outermost
`Sort` in the sequence of their sort keys. Values agree exactly, floats to the bit, but -0.0 is 0.0 and NaN is NaN.
The schema's names, Arrow types, nullability and Strata types agree. All facts that the relation proves (nonnull,
value sets, nonzero, keys) hold in the rows.

Errors agree by code. The reference has two readings, which differ only where something fails: the *eager* one
computes every cell of every node, the *lazy* one only what an output, condition, key, order or aggregate needs. An
engine may choose its place between them, so that optimizers may drop what nothing uses, and it passes if
- the eager reading has rows: the engine gives those rows;
- the eager reading fails: the engine fails with the same code, or gives the rows of the lazy reading. Where the lazy
  reading fails too, what failed was needed, and the engine must fail with the same code.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import ArrowTable, Engine, TableInput
from strata_core.engines.reference.engine import ReferenceEngine, arrow_rows
from strata_core.engines.reference.evaluate import compile_expr
from strata_core.engines.reference.values import Key, Value, group_key, sort_key
from strata_core.relation.nodes import Limit, Relation, Sort
from strata_core.relation.schema import Column, Schema
from strata_core.types.physical import arrow_field


@dataclass(frozen=True)
class Outcome:
    """The rows that a computation gave, or the codes of the error that it raised."""

    rows: tuple[tuple[Value, ...], ...] = ()
    codes: tuple[str, ...] = ()
    schema: pa.Schema | None = None


def outcome_of(engine: Engine, relation: Relation, tables: Mapping[str, TableInput]) -> Outcome:
    """What `engine` makes of `relation`."""
    try:
        data = engine.execute(relation, tables).read_all()
    except StrataError as error:
        return Outcome(codes=tuple(sorted({d.code for d in error.diagnostics})))
    columns = [data.column(i).to_pylist(maps_as_pydicts="strict") for i in range(data.num_columns)]
    rows = zip(*columns, strict=True) if columns else [()] * data.num_rows
    return Outcome(rows=tuple(rows), schema=data.schema)


def check_conformance(engine: Engine, relation: Relation, tables: Mapping[str, TableInput]) -> None:
    """Assert that `engine` agrees with the reference on `relation` over `tables`."""
    given = outcome_of(engine, relation, tables)
    eager = outcome_of(ReferenceEngine(eager=True), relation, tables)
    if eager.codes and given.codes:
        assert given.codes == eager.codes, _report("error codes differ", relation, given, eager)
        return
    expected = outcome_of(ReferenceEngine(), relation, tables) if eager.codes else eager
    assert given.codes == expected.codes, _report("one fails where the other does not", relation, given, expected)
    assert Counter(map(canonical, given.rows)) == Counter(map(canonical, expected.rows)), _report(
        "rows differ", relation, given, expected
    )
    check_order(relation, given, expected)
    check_schema(relation, given)
    check_facts(relation, given)


def check_order(relation: Relation, given: Outcome, expected: Outcome) -> None:
    """Assert that the sequence of rows agrees, as far as the relation orders them."""
    match relation:
        case Limit():
            sequences = [[canonical(r) for r in outcome.rows] for outcome in (given, expected)]
        case Sort():
            positions = {name: i for i, name in enumerate(relation.schema.names)}
            keys = [compile_expr(k.expr, positions, eager=False) for k in relation.keys]
            sequences = [[canonical([k([*r]) for k in keys]) for r in outcome.rows] for outcome in (given, expected)]
        case _:
            return
    assert sequences[0] == sequences[1], _report("the order differs", relation, given, expected)


def check_schema(relation: Relation, given: Outcome) -> None:
    """Assert names, Arrow types, nullability and Strata types of the result."""
    expected = pa.schema([arrow_field(c.name, c.inferred) for c in relation.schema.columns])
    assert given.schema is not None
    assert given.schema.equals(expected, check_metadata=True), f"{given.schema}\n---\n{expected}"


def check_facts(relation: Relation, given: Outcome) -> None:
    """Assert that what the relation proves of its output holds: nonnull, value sets, nonzero, keys."""
    schema = relation.schema
    for i, column in enumerate(schema.columns):
        values = [row[i] for row in given.rows]
        present = [v for v in values if v is not None]
        known = column.inferred
        assert known.nullable or len(present) == len(values), (
            f"null in nonnull {column.name}: {ReferenceEngine().explain(relation, {})}"
        )
        assert known.values is None or set(present) <= known.values, f"{column.name} leaves its value set"
        assert not known.nonzero or all(v != 0 for v in present), f"zero in nonzero {column.name}"
    for key in schema.keys:
        at = [i for i, name in enumerate(schema.names) if name in key]
        projected = [group_key([row[i] for i in at]) for row in given.rows]
        assert len(set(projected)) == len(projected), f"{sorted(key)} is no key"


def canonical(values: object) -> Key:
    """Equal for two rows if and only if no function of the language tells them apart."""
    return tuple(sort_key(_one_zero(v)) for v in values)


def _one_zero(value: Value) -> Value:
    match value:
        case float():
            return math.nan if math.isnan(value) else value + 0.0
        case tuple():
            return list(value)
        case _:
            return value


def table_of(columns: tuple[Column, ...], rows: list[list[Value]]) -> ArrowTable:
    """A table in memory."""
    return ArrowTable(arrow_rows(rows, Schema(columns)), columns)


def _report(what: str, relation: Relation, given: Outcome, expected: Outcome) -> str:
    tree = ReferenceEngine().explain(relation, {})
    found = f"given:    {given.codes or given.rows}\nexpected: {expected.codes or expected.rows}"
    return f"{what}\n{tree}\n{relation}\n{found}"
