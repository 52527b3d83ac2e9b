"""Seed 1 *adjustment-factors* against its definition, row by row in plain Python."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.store.tables import Tables
from strata_core.store.tables.declaration import read_declarations

from .conftest import START, Clock, rows
from .memory import MemoryFiles
from .test_available_time import SPLITS

DAY = dt.timedelta(days=1)
BEGIN = dt.datetime(2020, 1, 1)
CLOSE = {
    "ticker": pa.string(),
    "day": pa.timestamp("us"),
    "published": pa.timestamp("us", "UTC"),
    "close": pa.float64(),
    "h": pa.int64(),
}
FACTOR = {
    "ticker": pa.string(),
    "effective": pa.timestamp("ms"),
    "published": pa.timestamp("us", "UTC"),
    "factor": pa.float64(),
    "h": pa.int64(),
}
days = st.integers(0, 5)
closes = st.lists(
    st.tuples(st.sampled_from("AB"), days, days, st.none() | st.sampled_from([1.0, 8.0, -3.0])), max_size=6
)
factors = st.lists(
    st.tuples(st.sampled_from("AB"), days, days, st.none() | st.sampled_from([0.5, 2.0, 0.25])), max_size=6
)


def latest(vintages: list[tuple[str, int, int, Any]], bound: int) -> dict[tuple[str, int], Any]:
    """The latest value of each key and valid time that was published by the bound; later rows win ties."""
    best: dict[tuple[str, int], tuple[int, Any]] = {}
    for ticker, valid, published, value in vintages:
        if published <= bound and published >= best.get((ticker, valid), (published, None))[0]:
            best[ticker, valid] = (published, value)
    return {key: value for key, (_, value) in best.items()}


@settings(max_examples=60)
@given(closes, factors, days, st.booleans())
def test_each_row_is_multiplied_by_the_later_factors_that_were_known(
    given_closes: list[Any], given_factors: list[Any], bound: int, folded: bool
) -> None:
    tables = Tables(Path("store"), MemoryFiles(), Clock(START))
    for declared in read_declarations(SPLITS):
        tables.declare(declared)
    utc = BEGIN.replace(tzinfo=dt.UTC)
    for name, types, data in (("closes", CLOSE, given_closes), ("splits", FACTOR, given_factors)):
        made = [(t, BEGIN + v * DAY, utc + p * DAY, value, i) for i, (t, v, p, value) in enumerate(data)]
        tables.table(name).land(rows(types, *made))
        if folded:
            tables.table(name).fold()
    known = latest(given_factors, bound)
    expected = {
        (ticker, valid): None
        if value is None
        else value * math.prod(f for (t, v), f in known.items() if t == ticker and v > valid and f is not None)
        for (ticker, valid), value in latest(given_closes, bound).items()
    }
    read = tables.table("closes").read(available_as_of=utc + bound * DAY).arrow().to_pylist()
    assert {(r["ticker"], (r["day"] - BEGIN).days): r["close"] for r in read} == expected
