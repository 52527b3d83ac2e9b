"""Peak memory of streaming operators does not grow with the rows (issue 2, "Speed and memory")."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

MEASURE = """
import resource, sys
from pathlib import Path
from strata_core.contract.assertions import NotNull, Unique
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings, ParquetTable
from strata_core.relation.build import aggregate_rows, filter_rows, project, ref, scan
from strata_core.relation.expressions import aggregate, call, literal
from strata_core.relation.nodes import AggregateItem, Item
from strata_core.relation.schema import Column
from strata_core.types import FLOAT64, INT64, STRING, Inferred

columns = tuple(Column(n, Inferred(t, nullable=True)) for n, t in (("id", INT64), ("x", FLOAT64), ("s", STRING)))
tables = {"t": ParquetTable((Path(sys.argv[1]),), columns)}
engine = DuckDBEngine(EngineSettings(threads=2))
base = scan("t", columns)
kept = filter_rows(base, call("gt", ref(base, "id"), literal(10)))
relation = project(kept, [Item("y", call("multiply", ref(kept, "x"), literal(2.0))), Item("s", ref(kept, "s"))])
rows = sum(batch.num_rows for batch in engine.execute(relation, tables))
total = AggregateItem("total", aggregate("sum", ref(base, "x"), grouped=False))
engine.execute(aggregate_rows(base, [], [total]), tables).read_all()
engine.assess(tables["t"], [NotNull("s"), Unique(("id",))], ["id"])
print(rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_of(path: Path, rows: int) -> int:
    """Peak memory in KiB of a process that streams, sums and assesses `rows` rows."""
    block = 250_000
    names = pa.array([f"name {i}" for i in range(block)])
    schema = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, block):
            ids = pa.array(range(start, start + block))
            writer.write_table(pa.table([ids, ids.cast(pa.float64()), names], schema=schema), row_group_size=50_000)
    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)
    counted, peak = done.stdout.split()
    assert int(counted) == rows - 11
    return int(peak)


@pytest.mark.slow
def test_peak_memory_stays_flat_when_the_rows_double(tmp_path: Path) -> None:
    once = peak_of(tmp_path / "once.parquet", 1_500_000)
    twice = peak_of(tmp_path / "twice.parquet", 3_000_000)
    assert twice <= once * 1.15
