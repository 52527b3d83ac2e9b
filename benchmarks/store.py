"""Tables with three clocks beside delta-rs and pyiceberg, hand-written queries, and themselves at another size.

CPU seconds of whole processes' loops, A and B in turn. The peers live in an environment of their own (deltalake,
pyiceberg[sql-sqlite], numpy, pyarrow): give its Python in STRATA_PEERS, or their rows are left out.

usage: python benchmarks/store.py [NAME ...]
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PAIRS = 5
PEERS = os.environ.get("STRATA_PEERS")
KEYED = '[[pipeline.tables]]\nname = "t"\nprimary_key = ["k"]\n'
DAILY = """
[[pipeline.tables]]
name = "t"
primary_key = ["entity"]
content_hash_column = "h"
[pipeline.tables.valid_time]
from = "day"
[pipeline.tables.available_time]
column = "published"
"""


def cpu() -> float:
    """Seconds of CPU of this process, all threads."""
    return time.process_time()


@contextmanager
def folder() -> Iterator[Path]:
    """A folder on the disk that benchmarks are run on."""
    made = Path(tempfile.mkdtemp(prefix="strata-bench-", dir=os.environ.get("STRATA_BENCH_DIR")))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def batch(rng: np.random.Generator, rows: int, keys: int) -> pa.Table:
    """Rows of eight columns: a key, floats, a text of a thousand values, an integer, a flag."""
    floats = {f"c{i}": rng.random(rows) for i in range(4)}
    text = pa.array([f"text-{x}" for x in rng.integers(0, 1000, rows)])
    integer, flag = rng.integers(0, 10**6, rows), rng.random(rows) > 0.5
    return pa.table({"k": rng.integers(0, keys, rows), **floats, "s": text, "d": integer, "b": flag})


def batches(count: int = 100, rows: int = 10_000) -> list[pa.Table]:
    """The same batches in every process."""
    rng = np.random.default_rng(0)
    return [batch(rng, rows, 1_000_000) for _ in range(count)]


def land_strata() -> float:
    """CPU milliseconds of one landing of 10,000 rows."""
    from strata_core.store import Store

    given = batches()
    with folder() as root:
        store = Store.open(root)
        store.declare(KEYED)
        table = store.table("t")
        table.land(given[0])
        started = cpu()
        for one in given[1:]:
            table.land(one)
        return (cpu() - started) / (len(given) - 1) * 1e3


def land_delta() -> float:
    """The same rows appended to a Delta table."""
    from deltalake import write_deltalake

    given = batches()
    with folder() as root:
        write_deltalake(str(root / "t"), given[0])
        started = cpu()
        for one in given[1:]:
            write_deltalake(str(root / "t"), one, mode="append")
        return (cpu() - started) / (len(given) - 1) * 1e3


def land_iceberg() -> float:
    """The same rows appended to an Iceberg table with a catalog in SQLite."""
    from pyiceberg.catalog.sql import SqlCatalog

    given = batches()
    with folder() as root:
        catalog = SqlCatalog("c", uri=f"sqlite:///{root}/c.db", warehouse=f"file://{root}/w")
        catalog.create_namespace("n")
        table = catalog.create_table("n.t", schema=given[0].schema)
        table.append(given[0])
        started = cpu()
        for one in given[1:]:
            table.append(one)
        return (cpu() - started) / (len(given) - 1) * 1e3


def process(name: str, python: str, *arguments: str) -> float:
    """What a measurement gives in a process of its own."""
    ran = subprocess.run([python, __file__, "--one", name, *arguments], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr[-2000:])
    return float(json.loads(ran.stdout))


def row(what: str, pairs: list[tuple[float, float]], unit: str, target: str) -> None:
    """A line of the results table: medians, and the median of the ratios."""
    a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(x / y for x, y in pairs)
    print(f"| {what} | {a:.2f} {unit} | {b:.2f} {unit} | {ratio:.2f} CPU | {target} |", flush=True)


def in_turn(a: Callable[[], float], b: Callable[[], float], pairs: int = PAIRS) -> list[tuple[float, float]]:
    """A and B measured in turn, after one pair to warm up."""
    a(), b()
    return [(a(), b()) for _ in range(pairs)]


def commits() -> None:
    """Per-commit cost beside the peers."""
    if PEERS is None:
        print("commits: set STRATA_PEERS to the Python that has deltalake and pyiceberg")
        return
    for peer, target in (("delta", "≤ 0.5"), ("iceberg", "≤ 0.2")):
        what = f"commit of 10,000 rows × 8 columns, against {'delta-rs' if peer == 'delta' else 'pyiceberg'}"
        pairs = in_turn(lambda: process("strata", sys.executable), lambda p=peer: process(p, str(PEERS)), 3)
        row(what, pairs, "ms", target)


def timed(call: Callable[[], object], repeats: int = 1) -> float:
    """CPU milliseconds of a call."""
    started = cpu()
    for _ in range(repeats):
        call()
    return (cpu() - started) / repeats * 1e3


def bulk(rows: int = 10_000_000) -> None:
    """Bulk landing beside pyarrow writing the same Parquet."""
    from strata_core.store import Store
    from strata_core.store.writer import _SETTINGS

    rng = np.random.default_rng(0)
    part = batch(rng, 1_000_000, rows)
    given = pa.concat_tables([part] * (rows // 1_000_000))

    def ours() -> float:
        with folder() as root:
            store = Store.open(root)
            store.declare(KEYED)
            return timed(lambda: store.table("t").land(given))

    def plain() -> float:
        with folder() as root:
            return timed(lambda: pq.write_table(given, root / "t.parquet", **_SETTINGS))

    def default() -> float:
        with folder() as root:
            return timed(lambda: pq.write_table(given, root / "t.parquet", compression="zstd"))

    for name, other in (("with the store's settings", plain), ("with its own settings, zstd", default)):
        row(
            f"landing of {rows:,} rows, against pyarrow {name}",
            in_turn(ours, other, 3),
            "ms",
            "≤ 1.43 (0.7 of its speed)",
        )


def latest() -> None:
    """Latest row of each key over 100 runs, before and after a fold."""
    import duckdb
    import polars as pl

    from strata_core.store import Store

    with folder() as root:
        store = Store.open(root)
        store.declare(KEYED)
        table = store.table("t")
        for one in batches():
            table.land(one)
        files = [
            str(p)
            for run in table.history()
            for p in root.glob(f"tables/t/data/{getattr(run.commit, 'folder', '-')}/*.parquet")
        ]
        files.reverse()
        ranked = (
            "SELECT * EXCLUDE (n, filename, file_row_number) FROM (SELECT *, row_number() OVER (PARTITION BY k "
            "ORDER BY filename DESC, file_row_number DESC) AS n "
            "FROM read_parquet($1, filename = true, file_row_number = true)) WHERE n = 1"
        )

        def ours() -> float:
            store.tables.results._held.clear()
            return timed(lambda: table.read().arrow())

        def polars() -> float:
            return timed(lambda: pl.read_parquet(files).unique("k", keep="last").to_arrow())

        def sql() -> float:
            return timed(lambda: duckdb.connect().sql(ranked, params=[files]).to_arrow_table())

        row(
            "latest row of each key, 100 runs, 1,000,000 rows, against polars by hand",
            in_turn(ours, polars),
            "ms",
            "≤ 1.2",
        )
        row("the same, against DuckDB by hand", in_turn(ours, sql), "ms", "≤ 1.2")
        table.fold()
        (folded,) = root.glob("tables/t/data/snapshots/*/part-*")
        names = table.read().schema.names
        row(
            "the same after a fold, against a plain scan",
            in_turn(ours, lambda: timed(lambda: pq.read_table(folded, columns=names))),
            "ms",
            "≤ 1.1",
        )


def history() -> None:
    """`as_of` in the middle of 1,000 runs beside the same rows at head."""
    from strata_core.store import Store

    rng = np.random.default_rng(0)
    with folder() as root:
        long, short = Store.open(root / "long"), Store.open(root / "short")
        for store in (long, short):
            store.declare(KEYED)
        middle = 0
        for number in range(1000):
            rows = pa.table({"k": rng.integers(0, 100_000, 1000), "v": rng.random(1000)})
            at = long.table("t").land(rows).ingested_at
            if number < 500:
                short.table("t").land(rows)
                middle = at

        def read(store: Store, as_of: int | None) -> float:
            store.tables.results._held.clear()
            return timed(lambda: store.table("t").read(as_of=as_of).arrow())

        pairs = in_turn(lambda: read(long, middle), lambda: read(short, None), 11)
        row("`as_of` in the middle of 1,000 runs, against the same rows at head", pairs, "ms", "≤ 1.2")


def frontier() -> None:
    """Resolving a frontier among 10,000 runs beside listing the log and reading the entries since the last fold."""
    from strata_core.store import Store

    with folder() as root:
        store = Store.open(root)
        store.declare('[[pipeline.tables]]\nname = "t"\n')
        table = store.table("t")
        for number in range(10_000):
            table.land(pa.table({"v": [number]}))
            if number == 9_900:
                table.fold()
        log = root / "tables/t/log"

        def resolve() -> float:
            fresh = Store.open(root).table("t")
            return timed(lambda: fresh.read())

        def by_hand() -> float:
            return timed(lambda: [(log / name).read_bytes() for name in sorted(os.listdir(log))[-100:]])

        pairs = in_turn(resolve, by_hand, 9)
        row(
            "resolving the frontier of 10,000 runs, against listing the log and reading what follows the fold",
            pairs,
            "ms",
            "≤ 1",
        )


def vintages() -> None:
    """A day of 1,000 entities over 1,000 stored days against the same over 100."""
    from strata_core.store import Store

    entities = pa.array([f"e{i:04d}" for i in range(1000)])

    def day(number: int) -> pa.Table:
        start = datetime(2014, 1, 1) + timedelta(days=number)
        return pa.table(
            {
                "entity": entities,
                "day": pa.array([start] * 1000, pa.timestamp("us")),
                "published": pa.array([(start + timedelta(days=1)).date()] * 1000),
                "value": np.random.default_rng(number).random(1000),
                "h": pa.array([f"{number}-{i}" for i in range(1000)]),
            }
        )

    with folder() as root:
        many, few = Store.open(root / "many"), Store.open(root / "few")
        for store, days in ((many, 1000), (few, 100)):
            store.declare(DAILY)
            for number in range(days):
                store.table("t").land(day(number))
        counters = {"many": iter(range(1000, 10**6)), "few": iter(range(100, 10**6))}

        def land(store: Store, name: str) -> float:
            data = [day(next(counters[name])) for _ in range(5)]

            def all_() -> None:
                for one in data:
                    assert store.table("t").land(one).decoded == 0

            return timed(all_) / 5

        pairs = in_turn(lambda: land(many, "many"), lambda: land(few, "few"))
        row("landing a day of 1,000 vintages over 1,000 stored days, against over 100", pairs, "ms", "≤ 1.3")


def backfill() -> None:
    """Vintages of many keys landed at once: ten times as many rows take ten times as long."""
    from strata_core.store import Store

    def landed(days: int) -> float:
        start = np.datetime64("2014-01-01", "us")
        since = np.repeat(start + np.arange(days) * np.timedelta64(1, "D"), 1000)
        rows = pa.table(
            {
                "entity": [f"e{i:04d}" for i in range(1000)] * days,
                "day": pa.array(since, pa.timestamp("us")),
                "published": pa.array(since + np.timedelta64(1, "D"), pa.timestamp("us", "UTC")),
                "h": np.arange(1000 * days),
            }
        )
        with folder() as root:
            store = Store.open(root)
            store.declare(DAILY)
            return timed(lambda: store.table("t").land(rows))

    pairs = in_turn(lambda: landed(200), lambda: landed(20), 3)
    row("landing 200,000 vintages of as many keys at once, against 20,000", pairs, "ms", "≤ 12")


def fold_memory(root: str, keys: str) -> float:
    """MiB at the peak of a fold of one more run of 100,000 rows, over what the process held before."""
    from strata_core.store import Store

    table = Store.open(Path(root)).table("t")
    table.land(batch(np.random.default_rng(time.time_ns()), 100_000, int(keys)))
    held = _kilobytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    table.fold()
    return (_kilobytes("VmHWM") - held) / 1024


def _kilobytes(name: str) -> int:
    (line,) = (text for text in Path("/proc/self/status").read_text().splitlines() if text.startswith(name))
    return int(line.split()[1])


def folds() -> None:
    """A run of 100,000 rows folded into five and ten million: memory, and CPU beside polars by hand."""
    import polars as pl

    from strata_core.store import Store

    with folder() as root:
        for millions in (5, 10):
            store = Store.open(root / str(millions))
            store.declare(KEYED)
            rng = np.random.default_rng(0)
            pieces = (batch(rng, 100_000, 1).set_column(0, "k", pa.array(_even(i))) for i in range(10 * millions))
            schema = batch(rng, 1, 1).schema
            store.table("t").land(
                pa.RecordBatchReader.from_batches(schema, (b for t in pieces for b in t.to_batches()))
            )
            store.table("t").fold()
        pairs = in_turn(
            lambda: process("fold", sys.executable, str(root / "10"), "20000000"),
            lambda: process("fold", sys.executable, str(root / "5"), "10000000"),
            3,
        )
        row("memory of a fold of 100,000 rows into 10,000,000, against into 5,000,000", pairs, "MiB", "≤ 1.1")
        table = Store.open(root / "5").table("t")
        rng = np.random.default_rng(1)

        def ours() -> float:
            table.land(batch(rng, 100_000, 10_000_000))
            return timed(table.fold)

        def by_hand() -> float:
            newest = max((root / "5/tables/t/data/snapshots").iterdir())
            run = pl.from_arrow(batch(rng, 100_000, 10_000_000))

            def fold() -> None:
                stored = pl.read_parquet(newest / "part-*.parquet")
                rows = pl.concat([stored, run], how="diagonal").unique("k", keep="last", maintain_order=True).sort("k")
                rows.write_parquet(root / "by-hand.parquet", compression="zstd", compression_level=1)

            return timed(fold)

        row("fold of 100,000 rows into 5,000,000, against polars by hand", in_turn(ours, by_hand, 3), "ms", "≤ 1.2")


def _even(piece: int) -> np.ndarray:
    return np.arange(piece * 100_000, (piece + 1) * 100_000) * 2


MEASURES = {
    "commits": commits,
    "bulk": bulk,
    "latest": latest,
    "history": history,
    "frontier": frontier,
    "vintages": vintages,
    "backfill": backfill,
    "folds": folds,
}
ONES = {"strata": land_strata, "delta": land_delta, "iceberg": land_iceberg, "fold": fold_memory}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(ONES[sys.argv[2]](*sys.argv[3:])))
    else:
        begun = time.time()
        for name in sys.argv[1:] or MEASURES:
            MEASURES[name]()
        print(f"{time.time() - begun:.0f} s", file=sys.stderr)
