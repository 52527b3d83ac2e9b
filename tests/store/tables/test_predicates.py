"""Conditions over rows mean what the reference interpreter says (the semantics of the language)."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.protocol import ArrowTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import filter_rows, scan
from strata_core.relation.schema import Column
from strata_core.store.tables.predicates import Condition
from strata_core.types import BOOL, FLOAT64, INT64, STRING, Inferred
from strata_core.types import Decimal as DecimalType

TYPES = {
    "i": (pa.int64(), INT64, st.integers(-3, 3) | st.sampled_from([2**53 + 1, -(2**63), 2**63 - 1])),
    "f": (pa.float64(), FLOAT64, st.sampled_from([0.0, -0.0, 1.5, -2.0, math.nan, math.inf, -math.inf, 2.0**53])),
    "s": (pa.string(), STRING, st.sampled_from(["", "a", "B", "é", "漢", "a\u0000"])),
    "b": (pa.bool_(), BOOL, st.booleans()),
    "d": (
        pa.decimal128(6, 2),
        DecimalType(6, 2),
        st.sampled_from([Decimal("1.50"), Decimal("-2.00"), Decimal("0.01")]),
    ),
}
LITERALS = {
    "i": ["0", "1", "-2", "9007199254740993"],
    "f": ["0.0", "1.5", "-2.0"],
    "s": ['"a"', '""', '"é"'],
    "b": ["true", "false"],
    "d": ["1.5", "0.01", "-2"],
}
MATES = {"i": "ifd", "f": "if", "s": "s", "b": "b", "d": "id"}


@st.composite
def condition(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.sampled_from(["compare", "compare", "in", "null", "and", "or", "not", "bool"]))
    if depth == 0 and kind in ("and", "or", "not"):
        kind = "compare"
    name = draw(st.sampled_from("ifsbd"))
    match kind:
        case "compare":
            other = draw(st.sampled_from([*MATES[name], *LITERALS[name]]))
            op = draw(st.sampled_from(["==", "!="] if name == "b" else ["==", "!=", "<", "<=", ">", ">="]))
            return f"{name} {op} {other}"
        case "in":
            return f"{name} in [{', '.join(draw(st.lists(st.sampled_from(LITERALS[name]), min_size=1, max_size=3)))}]"
        case "null":
            return f"{name} is {draw(st.sampled_from(['', 'not ']))}none"
        case "bool":
            return "b"
        case "not":
            return f"not ({draw(condition(depth - 1))})"
        case _:
            return f"({draw(condition(depth - 1))}) {kind} ({draw(condition(depth - 1))})"


row = st.fixed_dictionaries({name: st.none() | values for name, (_, _, values) in TYPES.items()})


@settings(max_examples=300)
@given(condition(), st.lists(row, min_size=1, max_size=8))
def test_a_condition_keeps_the_rows_that_the_reference_interpreter_keeps(text: str, rows: list[dict[str, Any]]) -> None:
    schema = pa.schema([(name, type_) for name, (type_, _, _) in TYPES.items()])
    data = pa.Table.from_pylist(rows, schema).append_column("n", pa.array(range(len(rows)), pa.int64()))
    made = Condition.of("t", text, schema)
    got = [i for i, kept in enumerate(made.holds(data.to_batches()[0]).to_pylist()) if kept]
    columns = (*(Column(n, Inferred(t, True)) for n, (_, t, _) in TYPES.items()), Column("n", Inferred(INT64, False)))
    relation = filter_rows(scan("t", columns), made.expr)
    expected = ReferenceEngine().execute(relation, {"t": ArrowTable(data, columns)}).read_all().column("n").to_pylist()
    assert got == sorted(expected)


def test_times_are_compared_to_the_nanosecond_in_any_unit_and_zone() -> None:
    schema = pa.schema([("t", pa.timestamp("ns", "Asia/Tokyo")), ("m", pa.timestamp("ms")), ("day", pa.date32())])
    noon = 1_400_000_000 * 1_000_000_000
    batch = pa.record_batch(
        [
            pa.array([noon, noon + 1, None], pa.int64()).cast(schema.field(0).type),
            pa.array([noon // 10**6, 10**17, None], pa.int64()).cast(schema.field(1).type),
            pa.array([dt.date(2014, 5, 13), dt.date(2014, 5, 14), None]),
        ],
        schema=schema,
    )

    def kept(text: str) -> list[int]:
        return [i for i, k in enumerate(Condition.of("t", text, schema).holds(batch).to_pylist()) if k]

    at = 'cast("2014-05-13T16:53:20", "timestamp")'
    assert kept(f"t == {at}") == [0]
    assert kept(f"t > {at}") == [1]
    assert kept(f"m >= {at}") == [0, 1]
    assert kept("t == m") == [0]
    assert kept('day == cast("2014-05-14", "date")') == [1]
    assert kept("t is none") == [2]
