"""`strata apply` against the same queries written by hand in the same engine, with the same memory limit.

By hand: one script with a `COPY (SELECT … ORDER BY …) TO … (COMPRESSION zstd)` per model: the same columns in the same
order of rows. Strata does that and checks the source, computes a content digest, pins the candidate, syncs the files
to the disk and commits. Also: the same at twice the rows, to
see whether memory stays flat.

usage: python benchmarks/apply.py [ROWS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from generate import customers, orders
from measure import Usage, compare, line, run

MEMORY_LIMIT = "1GiB"

CONFIG = f"""
[project]
name = "benchmark"
[engine]
memory_limit = "{MEMORY_LIMIT}"
"""

MODELS = """
source orders(parquet: "orders.parquet") {
  columns: {
    order_id: int64 primary_key, customer_id: int64 nonnull, country: string nonnull, item: string nonnull,
    amount: money(USD) nonnull, quantity: int64 nonnull, weight: float64 nonnull, placed_on: date nonnull,
    placed_at: timestamp nonnull, gift: bool,
  }
}
source customers(parquet: "customers.parquet") {
  columns: { customer_id: int64 nonnull primary_key, name: string nonnull, tier: string nonnull enum {basic, gold} }
}
contract ByDay {
  country: string primary_key  placed_on: date primary_key  orders: int64 nonnull  amount: money(USD) nonnull
}
model by_day -> contract ByDay {
  from orders
  group { country, placed_on } ( aggregate { orders = count(), amount = sum(amount), heaviest = max(weight) } )
}
contract Named { order_id: int64 primary_key  tier: string enum {basic, gold} }
model named -> contract Named {
  from orders
  join_left customers on orders.customer_id == customers.customer_id
  select { order_id, country, amount, placed_at, name = customers.name, tier = customers.tier }
  sort { order_id }
}
"""

BY_HAND = {
    "by_day": """
        SELECT country, placed_on, count(*) AS orders, CAST(sum(amount) AS DECIMAL(38, 2)) AS amount,
               max(weight) AS heaviest
        FROM 'orders.parquet' GROUP BY country, placed_on ORDER BY country, placed_on
    """,
    "named": """
        SELECT order_id, country, amount, placed_at, c.name, c.tier
        FROM 'orders.parquet' AS o LEFT JOIN 'customers.parquet' AS c USING (customer_id) ORDER BY order_id
    """,
}

SCRIPT = """
import duckdb
for number, query in enumerate({queries!r}):
    with duckdb.connect(config={{"memory_limit": "{limit}", "temp_directory": "spill"}}) as connection:
        connection.execute(f"COPY ({{query}}) TO 'by_hand_{{number}}.parquet' (FORMAT parquet, COMPRESSION zstd)")
"""


def project(folder: Path, rows: int) -> None:
    """Lay a benchmark project into `folder`."""
    (folder / "models").mkdir(parents=True)
    (folder / "strata.toml").write_text(CONFIG)
    (folder / "models" / "benchmark.strata").write_text(MODELS)
    orders(folder / "orders.parquet", rows)
    customers(folder / "customers.parquet")


def main(rows: int) -> None:
    """Print one row of the results table per model, and the memory at `rows` and twice as many."""
    strata = str(Path(sys.executable).parent / "strata")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "once"
        project(folder, rows)

        def clean() -> None:
            shutil.rmtree(folder / ".strata", ignore_errors=True)

        for models in (tuple(BY_HAND), *((m,) for m in BY_HAND)):
            script = SCRIPT.format(limit=MEMORY_LIMIT, queries=[BY_HAND[m] for m in models])
            compared = compare([strata, "apply", *models], [sys.executable, "-c", script], cwd=folder, before=clean)
            what = f"`strata apply {' '.join(models)}`, {rows:,} rows, against the same SQL by hand"
            print(line(what, compared, "≤ 1.25"), flush=True)
        twice = Path(name) / "twice"
        project(twice, 2 * rows)
        for model in BY_HAND:
            clean()
            one, two = run([strata, "apply", model], folder), run([strata, "apply", model], twice)
            print(memory(model, rows, one, two))


def memory(model: str, rows: int, one: Usage, two: Usage) -> str:
    """A row of the results table about peak memory."""
    return (
        f"| peak memory of `strata apply {model}`, {2 * rows:,} against {rows:,} rows | {two.peak_mib:.0f} MiB | "
        f"{one.peak_mib:.0f} MiB | {two.peak_mib / one.peak_mib:.2f} | flat |"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000)
