"""The write pin's questions, answered by DuckDB as by the reference, on Parquet, CSV and Arrow."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.contract.assertions import Assertion, Holds, NotNull, NotOlder, Unique, Within
from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable, CsvTable, ParquetTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.relation.build import ref, scan
from strata_core.relation.expressions import call, literal
from strata_core.relation.schema import Column
from strata_core.types import Inferred, parse_type

from .test_reference_tables import ASSERTIONS, ASSESSED

ENGINE = DuckDBEngine()


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(Column(name, Inferred(parse_type(t), nullable=True)) for name, t in types.items())


def test_seed0_s5c_offenders_are_counted_and_shown() -> None:
    assessment = ENGINE.assess(ASSESSED, [a for a, _ in ASSERTIONS], key=["id"])
    assert assessment.rows == 5
    assert [m.offenders for m in assessment.measurements] == [count for _, count in ASSERTIONS]
    samples = [m.samples for m in assessment.measurements]
    assert samples[0] == ({"id": None}, {"id": None})
    assert samples[1] == ({"id": 2, "xs": [None]}, {"id": None, "xs": [2, None]})
    assert samples[2] == ({"id": 2, "s": "x"},)
    assert samples[3] == ({"id": 2},)
    assert samples[5] == ({"id": None, "d": datetime.date(2024, 1, 3)},)
    assert samples[7] == ({"id": 1},)


def test_more_questions_than_one_query_counts_are_answered_each_in_its_place() -> None:
    names = [f"c{i}" for i in range(600)]
    data = pa.table({n: pa.array([None] * (i % 3) + [i] * (3 - i % 3), pa.int64()) for i, n in enumerate(names)})
    assessment = ENGINE.assess(ArrowTable(data, columns(**dict.fromkeys(names, "int64"))), [NotNull(n) for n in names])
    assert assessment.rows == 3
    assert [m.offenders for m in assessment.measurements] == [i % 3 for i in range(600)]


def test_nested_values_are_looked_into() -> None:
    type_ = pa.struct([("a", pa.map_(pa.string(), pa.list_(pa.int64())))])
    rows = [{"a": [("k", None)]}, {"a": [("k", [1, None])]}, {"a": [("k", [1])]}, {"a": None}, None]
    table = ArrowTable(pa.table({"r": pa.array(rows, type_)}), columns(r="struct<a: map(string, array(int64))>"))
    paths: list[tuple[str, ...]] = [(), ("a",), ("a", "value"), ("a", "value", "element")]
    questions = [NotNull("r", p) for p in paths]
    expected = [1, 1, 1, 1]
    for engine in (ENGINE, ReferenceEngine()):
        assert [m.offenders for m in engine.assess(table, questions).measurements] == expected


ROWS = st.lists(
    st.tuples(
        st.none() | st.integers(0, 4),
        st.none() | st.sampled_from(["a", "b", "c"]),
        st.none() | st.sampled_from([0.0, -0.0, 1.5, float("nan")]),
        st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2),
    ),
    max_size=12,
)
TYPES = {"n": "int64", "s": "string", "x": "float64", "xs": "array(int64)"}
N = ref(scan("t", columns(**TYPES)), "n")
QUESTIONS: list[Assertion] = [
    NotNull("n"),
    NotNull("xs", ("element",)),
    Within("s", ("a", "b")),
    Within("s", ()),
    Unique(("n",)),
    Unique(("s", "n")),
    Unique(("x",)),
    Holds(call("lt", N, literal(3)), "n < 3"),
]


@settings(max_examples=60, deadline=None)
@given(ROWS, st.booleans())
def test_answers_agree_with_the_reference(rows: list[tuple[object, ...]], in_order: bool) -> None:
    if in_order:
        rows = sorted(rows, key=lambda r: (r[0] is None, r[0] or 0, r[1] is None, r[1] or ""))
    types = {"n": pa.int64(), "s": pa.string(), "x": pa.float64(), "xs": pa.list_(pa.int64())}
    data = pa.table({name: pa.array([r[i] for r in rows], t) for i, (name, t) in enumerate(types.items())})
    table = ArrowTable(data, columns(**TYPES))
    given_, expected = (e.assess(table, QUESTIONS, ["n"]) for e in (ENGINE, ReferenceEngine()))
    assert given_.rows == expected.rows
    assert [m.offenders for m in given_.measurements] == [m.offenders for m in expected.measurements]
    assert [len(m.samples) for m in given_.measurements] == [len(m.samples) for m in expected.measurements]


def test_keys_are_counted_sorted_or_not(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    ids = [*range(1000), 999, 999]
    for order in (ids, ids[::-1], [*ids[500:], *ids[:500]]):
        pq.write_table(pa.table({"id": order, "s": ["x"] * 1002}), path, row_group_size=100)
        table = ParquetTable((path,), columns(id="int64", s="string"))
        (id_, s, both) = ENGINE.assess(table, [Unique(("id",)), Unique(("s",)), Unique(("s", "id"))]).measurements
        assert (id_.offenders, s.offenders, both.offenders) == (2, 1001, 2)
        assert id_.samples == ({"id": 999}, {"id": 999})
        assert len(s.samples) == 5


def test_csv_is_assessed_in_its_declared_types(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,at\n1,2024-01-01\n1,\n,2024-01-03\n")
    table = CsvTable(path, columns(id="int64", at="date"))
    questions = [NotNull("at"), Unique(("id",)), NotOlder("at", datetime.datetime(2024, 1, 4, tzinfo=datetime.UTC))]
    assert [m.offenders for m in ENGINE.assess(table, questions).measurements] == [1, 1, 1]
    path.write_text("id,at\n1,2024-01-01\nx,\n")
    with pytest.raises(StrataError) as error:
        ENGINE.assess(table, [NotNull("id")])
    assert error.value.diagnostics[0].code == "E080"
    assert "line 3" in error.value.diagnostics[0].message


def test_no_question_and_no_rows() -> None:
    table = ArrowTable(pa.table({"n": pa.array([], pa.date32())}), columns(n="date"))
    assert ENGINE.assess(table, []).rows == 0
    at = NotOlder("n", datetime.datetime(2024, 1, 1))
    answers = ENGINE.assess(table, [NotNull("n"), Unique(("n",)), at]).measurements
    assert [m.offenders for m in answers] == [0, 0, 0]
