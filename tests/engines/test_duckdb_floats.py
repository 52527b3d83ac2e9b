"""Sums of float64 are the same to the bit over runs and threads, and are those of `engines/float_sum.py`."""

from __future__ import annotations

import math
import random
import struct
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.float_sum import float_sum
from strata_core.engines.protocol import ArrowTable, EngineSettings, ParquetTable
from strata_core.relation.build import aggregate_rows, ref, scan
from strata_core.relation.expressions import aggregate
from strata_core.relation.nodes import AggregateItem, Item, Relation
from strata_core.relation.schema import Column
from strata_core.types import FLOAT64, INT64, Inferred

COLUMNS = (Column("k", Inferred(INT64, nullable=False)), Column("x", Inferred(FLOAT64, nullable=True)))


def totals(*functions: str) -> Relation:
    base = scan("t", COLUMNS)
    calls = [AggregateItem(f, aggregate(f, ref(base, "x"), grouped=True)) for f in functions]
    counted = AggregateItem("rows", aggregate("count", grouped=True))
    return aggregate_rows(base, [Item("k", ref(base, "k"))], [*calls, counted])


def bits(value: float | None) -> bytes | None:
    return None if value is None else struct.pack("<d", math.nan if math.isnan(value) else value)


def results(relation: Relation, table: ArrowTable | ParquetTable, threads: int = 2) -> dict[object, list[object]]:
    engine = DuckDBEngine(EngineSettings(threads=threads))
    rows = engine.execute(relation, {"t": table}).read_all().to_pylist()
    return {r["k"]: [bits(v) if isinstance(v, float) else v for n, v in r.items() if n != "k"] for r in rows}


EDGES = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    2.0**32,
    math.nextafter(2.0**32, 0),
]
EDGES += [2.0**-32, math.nextafter(2.0**-32, 0), 2.0**64, math.nextafter(2.0**64, 0), 2.0**-64, 2.0**-1000, 2.0**992]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.none() | st.sampled_from(EDGES) | st.floats(), max_size=30))
def test_a_sum_is_the_defined_one(values: list[float | None]) -> None:
    data = pa.table({"k": pa.array([1] * len(values), pa.int64()), "x": pa.array(values, pa.float64())})
    present = [v for v in values if v is not None]
    found = results(totals("sum", "avg"), ArrowTable(data, COLUMNS))
    total = float_sum(present) if present else None
    mean = None if total is None else total / len(present)
    assert found == ({1: [bits(total), bits(mean), len(values)]} if values else {})


@pytest.mark.slow
def test_sums_of_three_million_values_are_the_same_over_runs_and_threads(tmp_path: Path) -> None:
    """Values over sixteen orders of magnitude in 100 groups (issue 2, "What to build")."""
    dice = random.Random(7)
    count, groups = 3_000_000, 100
    values = [dice.gauss(0, 1) * 10.0 ** dice.randint(-8, 8) for _ in range(count)]
    keys = [i * 7919 % groups for i in range(count)]
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": keys, "x": values}), path, row_group_size=100_000)
    table = ParquetTable((path,), COLUMNS)
    relation = totals("sum", "avg", "variance")
    first = results(relation, table, threads=1)
    for threads in (1, 2, 4, 4):
        assert results(relation, table, threads) == first
    of_group: dict[int, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        of_group.setdefault(key, []).append(value)
    sums = {key: float_sum(members) for key, members in of_group.items()}
    assert {k: r[0] for k, r in first.items()} == {k: bits(s) for k, s in sums.items()}
    worst = max(abs(s - math.fsum(of_group[k])) / abs(s) for k, s in sums.items())
    assert worst <= 2.3e-16
