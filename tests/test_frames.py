"""Tables of Arrow, polars and pandas, and what else gives an Arrow stream: the same rows, null and NaN told apart."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from strata_core.frames import UNREADABLE, as_kind, stream_of

NAN = math.nan
TABLE = pa.table({"k": pa.array([1, None, 3]), "v": pa.array([0.5, None, NAN]), "s": pa.array(["a", None, ""])})


class Streamed:
    """Nothing but the protocol."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return TABLE.__arrow_c_stream__(requested_schema)


FORMS: dict[str, Any] = {
    "table": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "reader": TABLE.to_reader,
    "polars": lambda: pl.DataFrame(TABLE),
    "polars, lazy": lambda: pl.DataFrame(TABLE).lazy(),
    "pandas, Arrow columns": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "a stream": Streamed,
    "DuckDB": lambda: duckdb.connect().from_arrow(TABLE),
}


def told(rows: list[dict[str, Any]]) -> list[str]:
    return [repr(row) for row in rows]


@pytest.mark.parametrize("form", FORMS)
def test_whatever_the_form_the_rows_are_the_same(form: str) -> None:
    reader = stream_of(FORMS[form]())
    assert reader is not None
    assert told(reader.read_all().to_pylist()) == [
        "{'k': 1, 'v': 0.5, 's': 'a'}",
        "{'k': None, 'v': None, 's': None}",
        "{'k': 3, 'v': nan, 's': ''}",
    ]


def test_nan_in_numpy_columns_of_pandas_is_what_it_has_for_null() -> None:
    frame = pd.DataFrame({"v": [0.5, NAN], "s": ["a", None], "n": pd.array([1, pd.NA], dtype="Int64")}, index=[7, 8])
    reader = stream_of(frame)
    assert reader is not None
    assert reader.schema.names == ["v", "s", "n"]
    assert reader.read_all().to_pylist() == [{"v": 0.5, "s": "a", "n": 1}, {"v": None, "s": None, "n": None}]


@pytest.mark.parametrize(
    "value", [None, 3, "text", {"k": [1]}, [TABLE], pl.Series([1]), pd.Series([1]), pa.chunked_array([[1]])]
)
def test_what_is_no_table_is_told_apart(value: object) -> None:
    assert stream_of(value) is None


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [2**70]}),
        pd.DataFrame({"a": [1, "x"]}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pl.DataFrame({"a": [object()]}),
        pl.LazyFrame({"a": [object()]}),
    ],
)
def test_values_that_no_column_can_hold_are_refused(frame: object) -> None:
    with pytest.raises(UNREADABLE):
        stream_of(frame)


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatchReader, pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_rows_come_as_what_an_annotation_names(kind: type) -> None:
    made = as_kind(TABLE.to_reader(), kind)
    assert isinstance(made, kind)
    reader = stream_of(made)
    assert reader is not None
    assert reader.read_all().column("s").to_pylist() == ["a", None, ""]


def test_an_annotation_that_names_no_table_is_left_to_the_caller() -> None:
    assert as_kind(TABLE.to_reader(), dict) is None
    assert as_kind(TABLE.to_reader(), Any) is None
