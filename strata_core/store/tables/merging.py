"""Sorted streams of rows become one, a stretch at a time: what is held does not grow with the longest of them.

A stretch ends at the earliest of the last rows that wait of each stream: what comes later of any stream belongs
behind it. Rows that agree in the columns of the order stay as they came, those of an earlier stream first, so that
every row has one place and each stretch takes all that waits of one stream at least. Polars compares (nulls first),
Arrow holds the rows: it keeps their types.

Memory: a batch or two of each stream. Rows that are in no order are cut into chunks that are sorted in memory; all
but the last chunk wait in temporary files without a name, which the system removes with the process.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import polars as pl
import pyarrow as pa

from ...diagnostics import Diagnostic, StrataError

BATCH_ROWS = 16_384
"""Rows that wait of a stream at least, while it has more: few beside a block of a snapshot, which is sorted anew with
them."""
CHUNK_BYTES = 128 * 1024 * 1024
"""Bytes of rows that are sorted in memory at once."""
_STREAM = "_stream"


@dataclass(frozen=True, slots=True)
class Order:
    """Rows are sorted by `by`. Where they are `unique`, of those that agree in it only the last one in the order of
    `latest` (nulls first), then of their places, is left."""

    by: tuple[str, ...]
    unique: bool
    latest: tuple[str, ...] = ()


def sorted_streams(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], by: Sequence[str]
) -> list[Iterator[pa.RecordBatch]]:
    """`batches` of `schema`, in no order, as streams for `merged`. Errors: E092 a temporary file cannot be written."""
    streams: list[Iterator[pa.RecordBatch]] = []
    held: list[pa.RecordBatch] = []
    room = CHUNK_BYTES
    for batch in batches:
        if held and batch.nbytes > room:
            streams.append(_spilled(schema, _sorted(schema, held, by)))
            held, room = [], CHUNK_BYTES
        held.append(batch)
        room -= batch.nbytes
    if held:
        streams.append(_sorted(schema, held, by))
    return streams


def _sorted(schema: pa.Schema, held: list[pa.RecordBatch], by: Sequence[str]) -> Iterator[pa.RecordBatch]:
    chunk = pa.Table.from_batches(held, schema).combine_chunks()
    held.clear()
    order = _places(_frame(chunk, by), by)
    for start in range(0, len(order), BATCH_ROWS):
        yield from chunk.take(pa.array(order[start : start + BATCH_ROWS])).to_batches()


def _spilled(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    try:
        file = tempfile.TemporaryFile(prefix="strata-sort-")  # noqa: SIM115  # closed by whoever has read it
        with pa.ipc.new_stream(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.seek(0)
    except OSError as cause:
        message = f"cannot sort rows in {tempfile.gettempdir()}: {cause.strerror or cause}"
        fix = "free space there, or set TMPDIR to a folder that can be written to, then run again"
        raise StrataError(Diagnostic("E092", message, fix=fix)) from cause
    return _read(file)


def _read(file: IO[bytes]) -> Iterator[pa.RecordBatch]:
    with file, pa.ipc.open_stream(file) as reader:
        yield from reader


def merged(schema: pa.Schema, streams: Sequence[Iterator[pa.RecordBatch]], order: Order) -> Iterator[pa.RecordBatch]:
    """The rows of `streams`, each sorted by `order.by`, in that order; rows of an earlier stream came earlier."""
    waiting = [_Waiting(stream, schema.empty_table()) for stream in streams]
    last = schema.empty_table()  # of unique rows, the one that stands until another key comes
    while waiting := [one for one in waiting if one.filled()]:
        taken, cut = _next(waiting, order.by)
        rows = pa.concat_tables([last, *(one.rows for one in taken)])
        ends = np.cumsum([last.num_rows, *(one.rows.num_rows for one in taken)])
        frame = _frame(rows, (*order.by, *order.latest))
        places = np.arange(rows.num_rows)
        if len(taken) > 1:
            places = _places(frame, order.by)
            if cut is not None:
                places = places[: np.flatnonzero(places == ends[cut + 1] - 1)[0] + 1]
        for one, count in zip(taken, np.histogram(places, [*ends[:-1], ends[-1] + 1])[0], strict=True):
            one.rows = one.rows.slice(int(count))
        if order.unique:
            places = _last_of_each(frame, places, order)
            last, places = rows.take(pa.array(places[-1:])), places[:-1]  # a slice would keep the whole stretch
        yield from _at(rows, places).to_batches()
    yield from last.to_batches()


@dataclass(slots=True)
class _Waiting:
    """A stream, and the rows of it that were read and not yet placed."""

    stream: Iterator[pa.RecordBatch]
    rows: pa.Table
    ended: bool = False

    def filled(self) -> bool:
        """Reads until enough wait; whether any do."""
        read: list[pa.RecordBatch] = []
        missing = BATCH_ROWS - self.rows.num_rows
        while missing > 0 and not self.ended:
            batch = next(self.stream, None)
            if batch is None:
                self.ended = True
            else:
                read.append(batch)
                missing -= batch.num_rows
        if read:
            self.rows = pa.concat_tables([self.rows, pa.Table.from_batches(read, self.rows.schema)])
        return bool(self.rows.num_rows)


def _next(waiting: list[_Waiting], by: Sequence[str]) -> tuple[list[_Waiting], int | None]:
    """The streams that have rows in the next stretch, and which of them has its end; None where all take part whole."""
    if len(waiting) == 1:
        return waiting, None
    ends = [one.rows.slice(0, 1) for one in waiting] + [one.rows.slice(one.rows.num_rows - 1) for one in waiting]
    streams = pl.Series(_STREAM, 2 * list(range(len(waiting))))
    frame = _frame(pa.concat_tables(ends), by).with_columns(streams)
    ranks = np.argsort(_places(frame, (*by, _STREAM)))
    firsts, lasts = ranks[: len(waiting)], ranks[len(waiting) :]
    going = [i for i, one in enumerate(waiting) if not one.ended]
    if not going:
        return waiting, None
    cut = min(going, key=lambda i: int(lasts[i]))
    taken = [i for i in range(len(waiting)) if firsts[i] <= lasts[cut]]
    return [waiting[i] for i in taken], taken.index(cut)


def _last_of_each(frame: pl.DataFrame, places: np.ndarray, order: Order) -> np.ndarray:
    """Of sorted rows at `places`, the one that stands for each value of `order.by`."""
    sorted_ = frame[places]
    if order.latest:
        again = _places(sorted_, (*order.by, *order.latest))
        sorted_, places = sorted_[again], places[again]
    differs = [pl.col(name).ne_missing(pl.col(name).shift(-1)) for name in order.by]
    stands = sorted_.select(pl.any_horizontal(differs)).to_series().to_numpy().copy()
    stands[-1] = True
    left: np.ndarray = places[stands]
    return left


def _at(rows: pa.Table, places: np.ndarray) -> pa.Table:
    if len(places) and np.all(np.diff(places) == 1):
        return rows.slice(int(places[0]), len(places))
    return rows.take(pa.array(places))


def _places(frame: pl.DataFrame, by: Sequence[str]) -> np.ndarray:
    """The places of the rows in sorted order; rows that `by` does not tell apart stay as they came."""
    places: np.ndarray = frame.select(pl.arg_sort_by(by, maintain_order=True)).to_series().to_numpy()
    return places.astype(np.int64)


def _frame(rows: pa.Table, names: Sequence[str]) -> pl.DataFrame:
    frame = pl.from_arrow(rows.select(list(dict.fromkeys(names))))
    assert isinstance(frame, pl.DataFrame)
    return frame
