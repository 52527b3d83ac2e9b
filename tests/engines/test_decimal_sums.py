"""Sums of decimals near 38 digits: the exact sum where it fits, in any order and frame, and else one clear failure."""

from __future__ import annotations

from decimal import Decimal

import pytest

from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.relation.build import aggregate_rows, ref
from strata_core.relation.expressions import aggregate
from strata_core.relation.nodes import AggregateItem

from ..analysis.programs import project
from .conformance import check_conformance, table_of

DUCKDB = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))
SOURCES = 'source s(csv: "s") {{ columns: {{ id: int64 nonnull primary_key, g: int64 nonnull, x: {} }} }}'
M = "9" * 38
LARGEST = {
    "decimal(38,0)": Decimal(M),
    "decimal(38,10)": Decimal(f"{M[:28]}.{M[:10]}"),
    "decimal(38,38)": Decimal(f"0.{M}"),
    "decimal(29,1)": Decimal(f"{M[:28]}.9"),
    "money(EUR)": Decimal(f"{M[:36]}.99"),
}


def rows_of(type_: str, statement: str, values: list[Decimal | None]) -> list[dict[str, object]]:
    """The rows of `statement` over `values` on DuckDB, which agrees with the reference."""
    found = project(f"model m {{ from s {statement} }}", sources=SOURCES.format(type_))
    relation, columns = found.models["m"].relation, found.sources["s"].columns
    tables = {"s": table_of(columns, [[i, i % 2, value] for i, value in enumerate(values)])}
    check_conformance(DUCKDB, relation, tables)
    return DUCKDB.execute(relation, tables).read_all().to_pylist()


@pytest.mark.parametrize("type_", LARGEST)
def test_a_sum_that_fits_is_exact_though_a_part_of_it_does_not(type_: str) -> None:
    top = LARGEST[type_]
    values = [top, top, top.copy_negate(), top.copy_negate(), None, top]
    assert rows_of(type_, "aggregate { r = sum(x) }", values) == [{"r": top}]


def test_beside_sums_of_floats_and_in_averages() -> None:
    top = LARGEST["money(EUR)"]
    values = [top, top, top.copy_negate(), Decimal("-0.01")]
    both = "aggregate { r = sum(x), f = sum(g * 0.5) }"
    assert rows_of("money(EUR)", both, values) == [{"r": Decimal(f"{M[:36]}.98"), "f": 1.0}]
    assert rows_of("money(EUR)", "aggregate { r = avg(x) }", [top, top.copy_negate(), top, top.copy_negate()]) == [
        {"r": Decimal("0.00")}
    ]


def test_a_frame_holds_no_other_rows() -> None:
    top = LARGEST["decimal(38,0)"]
    values = [top, Decimal(0), Decimal(0), top]
    found = rows_of("decimal(38,0)", "derive { r = sum(x) over (sort: [id], rows: -1..0) }", values)
    assert [row["r"] for row in found] == [top, top, Decimal(0), top]


@pytest.mark.parametrize("function", ["sum", "avg"])
def test_of_different_values_each_counts_once(function: str) -> None:
    found = project("model m { from s }", sources=SOURCES.format("money(EUR)"))
    rows, columns = found.models["m"].relation, found.sources["s"].columns
    call = aggregate(function, ref(rows, "x"), grouped=False, distinct=True)
    top = LARGEST["money(EUR)"]
    values = [top, top, top.copy_negate(), Decimal("-0.02"), Decimal("-0.02"), None]
    tables = {"s": table_of(columns, [[i, 0, value] for i, value in enumerate(values)])}
    relation = aggregate_rows(rows, [], [AggregateItem("r", call)])
    check_conformance(DUCKDB, relation, tables)
    expected = Decimal("-0.02") if function == "sum" else Decimal("-0.01")
    assert DUCKDB.execute(relation, tables).read_all().to_pylist() == [{"r": expected}]


@pytest.mark.parametrize("values", [[None, None], []])
def test_no_value_has_no_sum(values: list[Decimal | None]) -> None:
    assert rows_of("money(EUR)", "aggregate { r = sum(x), a = avg(x) }", values) == [{"r": None, "a": None}]


@pytest.mark.parametrize("statement", ["aggregate { r = sum(x) }", "derive { r = avg(x) over (partition_by: [g]) }"])
@pytest.mark.parametrize("count", [3, 20])
def test_a_sum_of_more_than_38_digits_fails(statement: str, count: int) -> None:
    with pytest.raises(StrataError) as failed:
        rows_of("money(EUR)", statement, [LARGEST["money(EUR)"]] * count)
    assert [(d.code, d.message) for d in failed.value.diagnostics] == [
        ("E090", "the computation failed: a sum has more than 38 digits")
    ]
