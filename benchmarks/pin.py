"""The write pin on five million rows of ten columns with every kind of rule, against writing that Parquet.

Both inside one process each: A assesses the staged file against the contract; B writes the same rows with the
store's writer (`write_parts`), read from an Arrow table in memory.

usage: python benchmarks/pin.py [ROWS]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from generate import orders

from strata_core.contract.model import ContractField, Freshness, TableContract
from strata_core.contract.write_pin import pin
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings, ParquetTable
from strata_core.relation.schema import Column
from strata_core.store.writer import write_parts
from strata_core.types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, Inferred, Money
from strata_core.types.physical import arrow_field

TYPES = {
    "order_id": INT64,
    "customer_id": INT64,
    "country": STRING,
    "item": STRING,
    "amount": Money("USD"),
    "quantity": INT64,
    "weight": FLOAT64,
    "placed_on": DATE,
    "placed_at": TIMESTAMP,
    "gift": BOOL,
}
RUNS = 5


def contract() -> TableContract:
    """Nonnull everywhere but one, an enum, a primary key, freshness."""
    fields = tuple(
        ContractField(
            name,
            type_,
            nullable=name == "gift",
            primary_key=name == "order_id",
            enum=("ES", "MX", "CO", "DE", "FR") if name == "country" else None,
        )
        for name, type_ in TYPES.items()
    )
    return TableContract("Orders", fields, Freshness(timedelta(days=36500), "placed_at"))


def main(rows: int) -> None:
    """Print one row of the results table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        orders(folder / "raw.parquet", rows)
        schema_columns = tuple(Column(n, Inferred(t, nullable=n == "gift")) for n, t in TYPES.items())
        table = pq.read_table(folder / "raw.parquet")
        fields = [arrow_field(c.name, c.inferred) for c in schema_columns]
        table = table.cast(pa.schema(fields))
        ratios, pins, writes = [], [], []
        engine = DuckDBEngine(EngineSettings(memory_limit="1GiB"))
        for run in range(RUNS + 1):
            (folder / f"run{run}").mkdir()
            started = time.perf_counter()
            written = write_parts(folder / f"run{run}", table.schema, table.to_batches())
            wrote = time.perf_counter() - started
            paths = tuple(folder / f"run{run}" / part.path for part in written.parts)
            started = time.perf_counter()
            report = pin(engine, ParquetTable(paths, schema_columns, ours=True), contract(), now=datetime.now(UTC))
            pinned = time.perf_counter() - started
            assert report.passed, report.markdown()
            if run:
                ratios.append(pinned / wrote)
                pins.append(pinned)
                writes.append(wrote)
    pinned, wrote, ratio = map(statistics.median, (pins, writes, ratios))
    what = f"write pin, {rows:,} rows × {len(TYPES)} columns, against writing that Parquet"
    print(f"| {what} | {pinned:.2f} s | {wrote:.2f} s | {ratio:.2f} | ≤ 0.20 |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
