"""A table of 365 partitions of time: made whole beside the same table in one piece, one day of it beside all, planned.

Whole processes, A and B in turn (`measure`).

usage: python benchmarks/partitions.py
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measure import compare, line, run

DAYS, ROWS_A_DAY = 365, 3_000
FIRST = 19_723  # 2024-01-01
PROJECT = """
source sales(parquet: "sales.parquet") {
  columns: { id: int64 nonnull primary_key, day: date nonnull, kind: string nonnull, n: int64 nonnull }
}
contract Sale { id: int64 primary_key  day: date nonnull  kind: string enum {a, b, c}  n: int64 nonnull }
model in_one -> contract Sale { from sales partition_by: [day] }
model daily -> contract Sale { from sales partition_by: [day] partition_start: "2024-01-01" }
model by_kind {
  from daily
  group { day, kind } ( aggregate { total = sum(n), sales = count() } )
  partition_by: [day]
  partition_start: "2024-01-01"
}
"""


def main() -> None:
    """Print a row of the results for each comparison."""
    strata = str(Path(sys.executable).parent / "strata")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root)
        store, kept = root / ".strata", root / "kept"

        def empty() -> None:
            shutil.rmtree(store, ignore_errors=True)

        def with_upstream() -> None:
            empty()
            shutil.copytree(kept, store)

        whole = compare([strata, "apply", "daily"], [strata, "apply", "in_one"], cwd=root, before=empty)
        print(line(f"`strata apply`, {DAYS} partitions of time, against it in one piece", whole, "≤ 1.6 CPU"))
        empty()
        run([strata, "apply", "daily"], root)
        store.rename(kept)
        one = [strata, "apply", "by_kind", "--partition", "2024-03-01"]
        day = compare(one, [strata, "apply", "by_kind"], cwd=root, before=with_upstream)
        print(line(f"`strata apply --partition`, one of {DAYS}, against all of them", day, "≤ 0.5 CPU"))
        run([strata, "apply", "by_kind"], root)
        shutil.rmtree(kept)
        shutil.copytree(store, kept)
        whole_again = compare(
            [*one, "--force"], [strata, "apply", "by_kind", "--force"], cwd=root, before=with_upstream
        )
        print(
            line(f"`strata apply --partition`, one of {DAYS} that are live, against all anew", whole_again, "≤ 0.5 CPU")
        )
        every = [strata, "plan", "by_kind", "--partition", "2024-01-01..2024-12-30"]
        with_upstream()
        planned = compare(every, [strata, "plan", "by_kind"], cwd=root)
        print(line(f"`strata plan --partition`, {DAYS} of them, against the plan of the whole", planned, "≤ 3 CPU"))


def write(root: Path) -> None:
    """The project and its rows."""
    (root / "models").mkdir()
    (root / "models/sales.strata").write_text(PROJECT)
    (root / "strata.toml").write_text('[project]\nname = "sales"\n')
    count = DAYS * ROWS_A_DAY
    days = pa.array(np.repeat(np.arange(DAYS, dtype=np.int32), ROWS_A_DAY) + np.int32(FIRST)).cast(pa.date32())
    kinds = pa.array(np.array(["a", "b", "c"])[np.arange(count) % 3])
    table = pa.table({"id": np.arange(count), "day": days, "kind": kinds, "n": np.arange(count) % 97})
    pq.write_table(table, root / "sales.parquet")


if __name__ == "__main__":
    main()
