"""The Parquet parts of a frontier in row order, and their columns as the table's schema has them today.

Snapshot first, then runs in commit order, each in the order in which its rows came: for two rows of one key the
later one has the larger (`_ingested_at`, `_run_id`, `_row_seq`), so that a row's position stands for the three.
Parts of runs do not hold what their place in the log says (instant, run, commit number, row number): it is added
here. Parts of older schemas are widened, and columns that they do not have are null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...diagnostics import Diagnostic, StrataError
from .. import disk
from ..digest import BLOCK_ROWS
from ..files import side_by_side
from ..instant import Instant
from ..manifest import Part
from ..part_cache import FETCH_ANEW, copies, drop_damaged
from ..reader import UNREADABLE
from .declaration import BOOKKEEPING, COMMIT_SEQ, INGESTED_AT, ROW_SEQ, RUN_ID
from .errors import StoreError
from .frontier import Frontier
from .history import History

INSTANT = pa.timestamp("ns", "UTC")
FEW_ROWS = 32_768
"""Rows of a row group up to which handing columns to threads costs more than decoding them."""
BOOKKEEPING_SCHEMA = pa.schema(
    [(INGESTED_AT, INSTANT), (RUN_ID, pa.string()), (ROW_SEQ, pa.int64()), (COMMIT_SEQ, pa.int64())]
)


@dataclass(frozen=True, slots=True)
class Origin:
    """The run that a part belongs to."""

    ingested_at: Instant
    run_id: str
    commit_seq: int
    first_row: int


@dataclass(slots=True)
class _Once:
    """What was read of a part. Threads may both read it: a lock would be held while a bucket is waited for."""

    footer: pq.FileMetaData | None = None
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Piece:
    """One part. `origin` is None for a part of a snapshot, which holds the columns itself."""

    history: History
    path: PurePath
    part: Part
    origin: Origin | None
    _once: _Once = field(default_factory=_Once, repr=False, compare=False)

    @property
    def rows(self) -> int:
        """Rows of the part."""
        return self.part.rows

    @property
    def footer(self) -> pq.FileMetaData:
        """The part's footer, read once. Errors: StorePartDamaged."""
        if self._once.footer is not None:
            return self._once.footer
        with self.whole(), self.reading() as source:
            footer = pq.read_metadata(source)
            self._once.names = frozenset(footer.schema.to_arrow_schema().names)
        if footer.num_rows != self.rows:
            raise self._damaged(f"it holds {footer.num_rows:,} rows, its manifest says {self.rows:,}")
        self._once.footer = footer
        return footer

    @property
    def names(self) -> frozenset[str]:
        """The columns that the part holds itself."""
        _ = self.footer
        return self._once.names

    def reading(self) -> pa.NativeFile:
        """The part opened; StoreAsOfUnretained when a collection took it away while it was being read."""
        try:
            return self.history.files.open(self.path, self.part)
        except FileNotFoundError:
            table = self.history.name
            message = f"table {table}: a part of this read was collected meanwhile ({self.path.name})"
            fix = "read again; a longer grace period of `collect` keeps parts for readers that take long"
            raise StoreError("StoreAsOfUnretained", table, message, fix) from None
        except OSError as cause:
            raise disk.unusable(self.path, "read", cause) from cause

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Turns what a reader of Parquet raises about damaged bytes into StorePartDamaged."""
        try:
            yield
        except UNREADABLE as cause:
            raise self._damaged(type(cause).__name__) from cause

    def _damaged(self, why: str) -> StoreError:
        table = self.history.name
        if not isinstance(self.path, Path) and drop_damaged(copies().path(self.part)):
            message = f"table {table}: the copy of part {self.path} was damaged, and is removed ({why})"
            return StoreError("StorePartDamaged", table, message, FETCH_ANEW)
        message = f"table {table}: part {self.path} is not the Parquet that was written ({why})"
        fix = f"restore the part from a backup; `strata store verify {table}` lists all damage"
        return StoreError("StorePartDamaged", table, message, fix)

    def batches(
        self,
        names: Sequence[str],
        schema: pa.Schema,
        kept: np.ndarray | None = None,
        groups: Sequence[int] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The columns `names` (of `schema` or bookkeeping) of the rows that `kept` marks, in order.

        Row groups without a row that is kept are not decoded, and only `groups` where they are given.
        """
        target = pa.schema([_field(schema, name) for name in names])
        with self.whole():
            every = range(self.footer.num_row_groups)
            offsets = np.cumsum([0, *(self.footer.row_group(g).num_rows for g in every)])
            wanted = [
                g
                for g in (every if groups is None else groups)
                if kept is None or kept[offsets[g] : offsets[g + 1]].any()
            ]
            if not wanted:
                return
            stored = [name for name in names if name in self.names]
            with self.reading() as source, pq.ParquetFile(source, metadata=self.footer) as file:
                for group in wanted:
                    at = int(offsets[group])
                    for batch in self._decoded(file, group, stored):
                        end = at + batch.num_rows
                        complete = self._complete(batch, at, target)
                        yield complete if kept is None else _kept(complete, kept[at:end])
                        at = end

    def _decoded(self, file: pq.ParquetFile, group: int, stored: Sequence[str]) -> Iterator[pa.RecordBatch]:
        rows = self.footer.row_group(group).num_rows
        if stored:
            yield from file.iter_batches(BLOCK_ROWS, [group], columns=stored, use_threads=rows > FEW_ROWS)
        else:  # only what the log says is asked for
            yield pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))

    def _complete(self, batch: pa.RecordBatch, at: int, target: pa.Schema) -> pa.RecordBatch:
        rows = batch.num_rows
        columns = [self._column(batch, field, at, rows) for field in target]
        return pa.RecordBatch.from_arrays(columns, schema=target)

    def _column(self, batch: pa.RecordBatch, field: pa.Field, at: int, rows: int) -> pa.Array:
        if field.name in self.names:
            column = batch.column(field.name)
            return column if column.type == field.type else column.cast(field.type, safe=False)
        if self.origin is None or field.name not in BOOKKEEPING:
            return pa.nulls(rows, field.type)
        match field.name:
            case "_ingested_at":
                return pa.repeat(pa.scalar(self.origin.ingested_at, pa.int64()), rows).cast(INSTANT)
            case "_run_id":
                return pa.repeat(pa.scalar(self.origin.run_id), rows)
            case "_commit_seq":
                return pa.repeat(pa.scalar(self.origin.commit_seq, pa.int64()), rows)
            case _:
                first = self.origin.first_row + at
                return pa.array(np.arange(first, first + rows, dtype=np.int64))


def _field(schema: pa.Schema, name: str) -> pa.Field:
    return (BOOKKEEPING_SCHEMA if name in BOOKKEEPING else schema).field(name)


def _kept(batch: pa.RecordBatch, kept: np.ndarray) -> pa.RecordBatch:
    return batch if kept.all() else batch.filter(pa.array(kept))


def pieces_of(history: History, frontier: Frontier) -> tuple[Piece, ...]:
    """The parts of a frontier that hold rows, in row order. E094 when a manifest that the log names is gone."""
    found: list[Piece] = []
    if frontier.snapshot:
        folder = history.folder(history.snapshot(frontier.snapshot))
        found += [Piece(history, folder / part.path, part, None) for part in _parts(history, folder) if part.rows]
    runs = [(number, run) for number in frontier.runs if (run := history.run(number)).rows]
    folders = [history.folder(run) for _, run in runs]
    listed = side_by_side(history.files, lambda folder: _parts(history, folder), folders)
    for (number, run), folder, parts in zip(runs, folders, listed, strict=True):
        first = 0
        for part in parts:
            origin = Origin(history.entry(number).at, run.run_id, number, first)
            found.append(Piece(history, folder / part.path, part, origin))
            first += part.rows
    return tuple(found)


def ahead(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces in order; those that have to be fetched are, a few ahead of the reader."""
    if not pieces or not pieces[0].history.files.part_source:
        yield from pieces
        return

    def fetched(piece: Piece) -> Piece:
        piece.reading().close()
        return piece

    yield from side_by_side(pieces[0].history.files, fetched, pieces)


def _parts(history: History, folder: PurePath) -> tuple[Part, ...]:
    manifest = history.manifest(folder)
    if manifest is None:
        message = f"the manifest of {folder} is missing, and the log of {history.name} names it"
        raise StrataError(Diagnostic("E094", message, fix="restore the folder from a backup"))
    return manifest.parts
