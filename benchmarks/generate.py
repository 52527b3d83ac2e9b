"""Generated tables for the benchmarks: `orders` (10 columns) and `customers`, the same bytes on every run."""

from __future__ import annotations

from pathlib import Path

import duckdb

CUSTOMERS = 100_000


def orders(path: Path, rows: int) -> None:
    """Write `rows` orders as Parquet: a key, a foreign key, an enum, text, money, numbers, a date, a timestamp."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (
                SELECT
                    i AS order_id,
                    CAST(hash(i) % {CUSTOMERS} AS BIGINT) AS customer_id,
                    ['ES', 'MX', 'CO', 'DE', 'FR'][CAST(1 + hash(i + 1) % 5 AS BIGINT)] AS country,
                    'item ' || (hash(i + 2) % 5000) AS item,
                    CAST((hash(i + 3) % 100000) / 100.0 AS DECIMAL(38, 2)) AS amount,
                    CAST(1 + hash(i + 4) % 20 AS BIGINT) AS quantity,
                    CAST(hash(i + 5) % 1000000 AS DOUBLE) / 7 AS weight,
                    DATE '2020-01-01' + CAST(hash(i + 6) % 1500 AS INTEGER) AS placed_on,
                    TIMESTAMP '2020-01-01' + to_seconds(CAST(hash(i + 7) % 100000000 AS BIGINT)) AS placed_at,
                    CASE WHEN hash(i + 8) % 10 = 0 THEN NULL ELSE hash(i + 9) % 2 = 0 END AS gift
                FROM range({rows}) AS t(i)
            ) TO '{path}' (FORMAT parquet)
            """
        )


def customers(path: Path) -> None:
    """Write the customers that orders refer to."""
    with duckdb.connect() as connection:
        connection.execute(
            f"""
            COPY (
                SELECT i AS customer_id, 'customer ' || i AS name, ['basic', 'gold'][1 + i % 2] AS tier
                FROM range({CUSTOMERS}) AS t(i)
            ) TO '{path}' (FORMAT parquet)
            """
        )
