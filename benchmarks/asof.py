"""As-of joins beside what people write by hand: DuckDB's ASOF JOIN, polars' join_asof, and SQL over all pairs.

CPU seconds of this process, A and B in turn; the medians, and the median of the ratios pair by pair.

usage: python benchmarks/asof.py [NAME ...]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable, EngineSettings
from strata_core.relation.build import asof_join, ref, scan
from strata_core.relation.nodes import JoinKind, Moments
from strata_core.relation.schema import Column
from strata_core.store import Store, Table
from strata_core.types import FLOAT64, INT64, TIMESTAMP, Inferred

PAIRS = 5
THREADS = 2
DAY = 86_400_000_000
SYMBOLS, DAYS, EVENTS = 1_000, 1_000, 1_000_000
SERIES, PERIODS, VINTAGES, DECISIONS = 10, 40, 20, 200_000
DECLARED = """
[[pipeline.tables]]
name = "figures"
primary_key = ["series"]
content_hash_column = "h"
valid_time = { from = "starts" }
available_time = { column = "out" }
[[pipeline.tables]]
name = "prices"
primary_key = ["k"]
valid_time = { from = "day" }
"""
PAIRS_BY_HAND = """
select d.id, max_by(f.value, (f.starts, f.out)) as value
from d left join f on f.series = d.series and f.starts <= d.at and f.out <= d.known group by d.id
"""


def instants(days: np.ndarray) -> pa.Array:
    """Microseconds from the epoch on."""
    return pa.array(days.astype(np.int64), pa.timestamp("us"))


def prices() -> pa.Table:
    """A price of each symbol and day."""
    days = np.tile(np.arange(DAYS) * DAY, SYMBOLS)
    keys = np.repeat(np.arange(SYMBOLS), DAYS)
    return pa.table({"k": keys, "day": instants(days), "price": np.random.default_rng(0).random(len(keys))})


def events() -> pa.Table:
    """Events of random symbols at random seconds."""
    rng = np.random.default_rng(1)
    seconds = rng.integers(0, DAYS * 86_400, EVENTS) * 1_000_000
    return pa.table({"id": np.arange(EVENTS), "k2": rng.integers(0, SYMBOLS, EVENTS), "ts": instants(seconds)})


def figures() -> pa.Table:
    """Periods of series, each restated monthly: `VINTAGES` times."""
    series = np.repeat(np.arange(SERIES), PERIODS * VINTAGES)
    starts = np.tile(np.repeat(np.arange(PERIODS) * 90, VINTAGES), SERIES)
    out = starts + 100 + 30 * np.tile(np.arange(VINTAGES), SERIES * PERIODS)
    values = np.random.default_rng(2).random(len(series))
    hashes = pa.array([f"h{i}" for i in range(len(series))])
    return pa.table(
        {"series": series, "starts": instants(starts * DAY), "out": instants(out * DAY), "value": values, "h": hashes}
    )


def decisions() -> pa.Table:
    """Decisions about random series, each some days after the instant that it is about."""
    rng = np.random.default_rng(3)
    at = rng.integers(0, PERIODS * 90, DECISIONS)
    known = at + rng.integers(0, 400, DECISIONS)
    return pa.table(
        {
            "id": np.arange(DECISIONS),
            "series": rng.integers(0, SERIES, DECISIONS),
            "at": instants(at * DAY),
            "known": instants(known * DAY),
        }
    )


def columns(**types: object) -> list[Column]:
    """Columns without nulls."""
    return [Column(name, Inferred(type_, nullable=False)) for name, type_ in types.items()]  # type: ignore[arg-type]


Case = tuple[Callable[[], object], Callable[[], object]]


def model_beside_duckdb() -> Case:
    """`join_asof` of a model, and the ASOF JOIN written by hand."""
    left_rows, right_rows = events(), prices()
    left = scan("e", columns(id=INT64, k2=INT64, ts=TIMESTAMP), [frozenset({"id"})])
    right = scan("p", columns(k=INT64, day=TIMESTAMP, price=FLOAT64), [frozenset({"k", "day"})])
    keys, at = [(ref(left, "k2"), ref(right, "k"))], Moments(ref(left, "ts"), ref(right, "day"))
    node = asof_join(JoinKind.LEFT, left, right, keys, at)
    engine = DuckDBEngine(EngineSettings(memory_limit="4GiB", threads=THREADS))
    tables = {"e": ArrowTable(left_rows, left.schema.columns), "p": ArrowTable(right_rows, right.schema.columns)}
    query = "select e.*, p.* from e asof left join p on e.k2 = p.k and e.ts >= p.day"
    return lambda: engine.execute(node, tables).read_all(), lambda: by_hand(query, e=left_rows, p=right_rows)


def model_of_vintages_beside_sql() -> Case:
    """`join_asof … available_as_of`, and a group over all pairs written by hand."""
    left_rows, right_rows = decisions(), figures().drop_columns(["h"])
    left = scan("d", columns(id=INT64, series=INT64, at=TIMESTAMP, known=TIMESTAMP), [frozenset({"id"})])
    names = columns(series=INT64, starts=TIMESTAMP, out=TIMESTAMP, value=FLOAT64)
    right = scan(
        "f", [Column(f"f_{c.name}", c.inferred) for c in names], [frozenset({"f_series", "f_starts", "f_out"})]
    )
    right_rows = right_rows.rename_columns([f"f_{name}" for name in right_rows.column_names])
    node = asof_join(
        JoinKind.LEFT,
        left,
        right,
        [(ref(left, "series"), ref(right, "f_series"))],
        Moments(ref(left, "at"), ref(right, "f_starts")),
        available=Moments(ref(left, "known"), ref(right, "f_out")),
    )
    engine = DuckDBEngine(EngineSettings(memory_limit="4GiB", threads=THREADS))
    tables = {"d": ArrowTable(left_rows, left.schema.columns), "f": ArrowTable(right_rows, right.schema.columns)}
    plain = right_rows.rename_columns([name.removeprefix("f_") for name in right_rows.column_names])
    return lambda: engine.execute(node, tables).read_all(), lambda: by_hand(PAIRS_BY_HAND, d=left_rows, f=plain)


def by_hand(query: str, **tables: pa.Table) -> object:
    """A query in DuckDB over Arrow tables."""
    with duckdb.connect(config={"threads": THREADS}) as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        return connection.execute(query).to_arrow_table()


def stored(name: str, rows: pa.Table) -> Table:
    """A table with three clocks, folded."""
    store = Store.open(Path(tempfile.mkdtemp(prefix="strata-bench-")))
    store.declare(DECLARED)
    table = store.table(name)
    table.land(rows)
    table.fold()
    return table


def store_beside_polars() -> Case:
    """`Table.join_asof` on valid time, and polars over a read of the table."""
    table, left = stored("prices", prices()), events()

    def polars() -> object:
        frame = pl.from_arrow(left)
        assert isinstance(frame, pl.DataFrame)
        right = table.read().lazy().collect().sort("day")
        return frame.sort("ts").join_asof(right, left_on="ts", right_on="day", by_left="k2", by_right="k")

    return lambda: table.join_asof(left, by={"k2": "k"}, at="ts", columns=["price"]).arrow(), polars


def store_of_vintages_beside_sql() -> Case:
    """`Table.join_asof` with `available_as_of`, and a group over all pairs of a read of all vintages."""
    table, left = stored("figures", figures()), decisions()
    rows = ["series", "starts", "out", "value"]

    def strata() -> object:
        return table.join_asof(left, by="series", at="at", available_as_of="known", columns=["value"]).arrow()

    return strata, lambda: by_hand(PAIRS_BY_HAND, d=left, f=table.read(vintage="all", columns=rows).arrow())


CASES: dict[str, Callable[[], Case]] = {
    "model": model_beside_duckdb,
    "model-vintages": model_of_vintages_beside_sql,
    "store": store_beside_polars,
    "store-vintages": store_of_vintages_beside_sql,
}


def main(names: list[str]) -> None:
    """Prints a line for each case."""
    for name in names or [*CASES]:
        ours, theirs = CASES[name]()
        ours(), theirs()
        measured = [(_cpu(ours), _cpu(theirs)) for _ in range(PAIRS)]
        a, b = (statistics.median(side) for side in zip(*measured, strict=True))
        ratio = statistics.median(x / y for x, y in measured)
        print(f"{name:16} {a:6.2f} s beside {b:6.2f} s of CPU, ratio {ratio:.2f}")


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main(sys.argv[1:])
