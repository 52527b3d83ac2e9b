"""Writes record batches as Parquet parts: one pass, bounded memory, the same bytes for the same rows.

Batches of any size are cut into blocks of `BLOCK_ROWS` rows (a row group each) and blocks into parts; both cuts
depend on the rows alone. Each part is encoded by one thread and digested by another while the next one arrives,
so the engine, the encoder and the hashes share the cores.

The files' bytes are pinned to one release of pyarrow; the content digest is not (`digest.py`).
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..diagnostics import Diagnostic, StrataError
from . import digest
from .arrow_schema import stored_schema
from .digest import BLOCK_ROWS
from .document import JSON, spelled
from .files import LOCAL, Files
from .manifest import Part
from .statistics import of_columns
from .written import Written

PART_BLOCKS = 8
"""Blocks of a part at most: 1,048,576 rows."""
PART_BYTES = 128 * 1024 * 1024
"""A part ends with the block that brings it to this size in memory."""
MOST_PARTITIONS = 10_000
"""Values of the columns that a table is laid out by: each is a file at least."""
_WAITING_PARTS = 2
"""Parts that may wait for the disk while another one arrives: the bound on memory."""
_SETTINGS = MappingProxyType(
    {
        "version": "2.6",
        "data_page_version": "1.0",
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": True,
        # Columns with few values fit; all others give up soon, which halves the time of encoding numbers.
        "dictionary_pagesize_limit": 64 * 1024,
        "write_statistics": True,
        "store_schema": True,
        "store_decimal_as_integer": True,
    }
)
"""The pinned Parquet settings."""
_NULL_FIX = "stage it with a nullable schema, or remove the nulls in the model"
_THREADS = min(4, max(2, os.cpu_count() or 2))


@dataclass(frozen=True, slots=True)
class _Encoded:
    part: Part
    footer: pq.FileMetaData


@dataclass(frozen=True, slots=True)
class _Digested:
    blocks: tuple[tuple[bytes, ...], ...]
    null_counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """How parts are laid out for those who search in them: rows of a row group, the columns that get a Bloom
    filter (one a row group) that is wrong about an absent value in one of a hundred cases, and the columns whose
    values no part mixes; rows come ordered by those. `dictionaries` names the columns whose values are worth a
    dictionary, None tries it with all."""

    group_rows: int = BLOCK_ROWS
    bloom_columns: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    dictionaries: tuple[str, ...] | None = None

    def settings(self, rows: int) -> dict[str, object]:
        """Settings of the Parquet writer for a part of `rows` rows."""
        made: dict[str, object] = {**_SETTINGS}
        if self.dictionaries is not None:
            made["use_dictionary"] = list(self.dictionaries)
        if self.bloom_columns:
            filter_ = {"ndv": max(1, min(rows, self.group_rows)), "fpp": 0.01}
            made["bloom_filter_options"] = dict.fromkeys(self.bloom_columns, filter_)
        return made


PLAIN = Layout()
"""Parts that are read whole."""


def write_parts(
    directory: PurePath,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    layout: Layout = PLAIN,
    files: Files = LOCAL,
    *,
    digested: bool = True,
) -> Written:
    """Writes `batches` into the existing `directory`, each part synced; the caller settles the directory, once all is
    in it that belongs there. No rows make one part that bears the schema. Rows whose digest nobody will compare need
    not be `digested`: theirs is empty, and so are those of the columns.

    Errors: E080 a batch has other columns or types than `schema`, or a type that is not kept; E081 a null in a
    column that `schema` says has none; E092 the disk refused. What `batches` raises passes through.
    """
    stored = stored_schema(schema)
    cuts = _cut(_blocks(stored, batches), stored, layout.partition_by)
    first = [next(cuts)]
    few = sum(block.num_rows for block in first[0].digested) < BLOCK_ROWS  # then these are all
    first += islice(cuts, 2) if few else ()
    if few and len(first) < 3:
        # the only part: threads would cost more than they save
        written = [_encode(directory, 0, stored, cut, layout, files) for cut in first if cut.blocks]
        contents = [_digest(stored, cut.digested, digested) for cut in first if cut.digested]
    else:
        written, contents = _in_threads(directory, stored, chain(first, cuts), layout, files, digested)
    parts = tuple(file.part for file in written)
    digests = (block for content in contents for block in content.blocks)
    return Written(
        stored,
        parts,
        *(digest.combine(stored, digests, sum(part.rows for part in parts)) if digested else ("", {})),
        of_columns(stored, [file.footer for file in written], [content.null_counts for content in contents]),
    )


def _in_threads(
    directory: PurePath, stored: pa.Schema, cuts: Iterable[_Cut], layout: Layout, files: Files, hashes: bool
) -> tuple[list[_Encoded], list[_Digested]]:
    encoded: list[Future[_Encoded]] = []
    digested: list[Future[_Digested]] = []
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="strata-write") as pool:
        try:
            for cut in cuts:
                if cut.blocks:
                    encoded.append(pool.submit(_encode, directory, len(encoded), stored, cut, layout, files))
                if cut.digested:
                    digested.append(pool.submit(_digest, stored, cut.digested, hashes))
                del cut  # the futures hold it now, and only until they are done
                for waiting in (encoded, digested):
                    if len(waiting) > _WAITING_PARTS:
                        waiting[-1 - _WAITING_PARTS].result()
            return [future.result() for future in encoded], [future.result() for future in digested]
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def digest_of(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """The content digest that `write_parts` would give these rows."""
    told: list[str] = []
    for _ in digesting(schema, batches, told):
        pass
    return told[0]


def digesting(schema: pa.Schema, batches: Iterable[pa.RecordBatch], told: list[str]) -> Iterator[pa.RecordBatch]:
    """`batches` with the types kept, on their way; at their end their content digest is put into `told`."""
    stored = stored_schema(schema)
    rows = 0
    blocks: list[tuple[bytes, ...]] = []
    for block in _blocks(stored, batches):
        rows += block.num_rows
        blocks.extend(_digest(stored, [block], True).blocks)
        yield block
    told.append(digest.combine(stored, blocks, rows)[0])


def _blocks(stored: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in blocks of `BLOCK_ROWS`, the last one shorter. A block that is one batch is not copied."""
    pieces: list[pa.RecordBatch] = []
    missing = BLOCK_ROWS
    for batch in batches:
        kept = _kept(stored, batch)
        while kept.num_rows >= missing:
            yield _joined(stored, [*pieces, kept.slice(0, missing)])
            kept = kept.slice(missing)
            pieces, missing = [], BLOCK_ROWS
        if kept.num_rows:
            pieces.append(kept)
            missing -= kept.num_rows
    if pieces:
        yield _joined(stored, pieces)


def _parts(blocks: Iterator[pa.RecordBatch], stored: pa.Schema) -> Iterator[list[pa.RecordBatch]]:
    part: list[pa.RecordBatch] = []
    room = PART_BYTES
    empty = True
    for block in blocks:
        part.append(block)
        room -= sum(digest.size(column) for column in block.columns)
        if len(part) == PART_BLOCKS or room <= 0:
            yield part
            part, room, empty = [], PART_BYTES, False
    if part or empty:
        yield part or [pa.RecordBatch.from_pylist([], stored)]


@dataclass(frozen=True, slots=True)
class _Cut:
    """What goes to the threads at once: the rows of one part, and blocks to digest. Where parts end at the values of
    `partition`, blocks go on over their ends, so that the digest is one of rows and not of files."""

    blocks: Sequence[pa.RecordBatch]
    digested: Sequence[pa.RecordBatch]
    partition: Mapping[str, JSON] | None = None


def _cut(blocks: Iterator[pa.RecordBatch], stored: pa.Schema, by: tuple[str, ...]) -> Iterator[_Cut]:
    if not by:
        yield from (_Cut(part, part) for part in _parts(blocks, stored))
        return
    partitions = 0
    held: list[pa.RecordBatch] = []
    current: tuple[object, ...] | None = None
    room = PART_BYTES
    for block in blocks:
        yield _Cut((), (block,))
        for piece, values in _runs(block, by):
            if held and (values != current or room <= 0):
                yield _Cut(held, (), _named(by, current))
                held, room = [], PART_BYTES
            if values != current:
                partitions += 1
                if partitions > MOST_PARTITIONS:
                    raise _too_many(by)
            current = values
            held.append(piece)
            room -= sum(digest.size(column) for column in piece.columns)
    if current is None:
        empty = [pa.RecordBatch.from_pylist([], stored)]
        yield _Cut(empty, empty)
    else:
        yield _Cut(held, (), _named(by, current))


def _runs(block: pa.RecordBatch, by: tuple[str, ...]) -> Iterator[tuple[pa.RecordBatch, tuple[object, ...]]]:
    """The stretches of a block in which the columns `by` stay the same, with their values."""
    ends = [tuple(block.column(name)[i].as_py() for name in by) for i in (0, block.num_rows - 1)]
    if ends[0] == ends[1]:  # in order, they stay the same in between
        yield block, ends[0]
        return
    changes = None
    for name in by:
        column = block.column(name)
        left, right = column.slice(0, len(column) - 1), column.slice(1)
        differs = pc.or_(pc.fill_null(pc.not_equal(left, right), False), pc.xor(left.is_null(), right.is_null()))
        changes = differs if changes is None else pc.or_(changes, differs)
    start = 0
    for end in [*(i + 1 for i in pc.indices_nonzero(changes).to_pylist()), block.num_rows]:
        yield block.slice(start, end - start), tuple(block.column(name)[start].as_py() for name in by)
        start = end


def _named(by: tuple[str, ...], values: tuple[object, ...] | None) -> Mapping[str, JSON]:
    assert values is not None
    return MappingProxyType(dict(zip(by, map(spelled, values), strict=True)))


def _too_many(by: tuple[str, ...]) -> StrataError:
    message = f"the columns {', '.join(by)} have more than {MOST_PARTITIONS:,} values, each of which would be a file"
    fix = "lay the table out by a coarser column, such as a month instead of an instant"
    return StrataError(Diagnostic("E090", message, fix=fix))


def _joined(stored: pa.Schema, pieces: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The pieces' rows as one block: encoder and digest must not see where the batches ended."""
    if len(pieces) == 1:
        return pieces[0]
    columns = []
    for position, field in enumerate(stored):
        try:
            columns.append(pa.concat_arrays([piece.column(position) for piece in pieces]))
        except pa.ArrowInvalid as cause:  # offsets of 32 bits end at 2 GiB
            rows = sum(piece.num_rows for piece in pieces)
            message = f"{rows} rows of column {field.name} hold more than 2 GiB"
            fix = "keep such values in files and their paths in the table"
            raise StrataError(Diagnostic("E080", message, fix=fix, field_path=field.name)) from cause
    return pa.RecordBatch.from_arrays(columns, schema=stored)


def _kept(stored: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """`batch` with the stored types; nulls are held against the schema, whatever the batch's own says."""
    if batch.schema.names != stored.names:
        expected, found = ", ".join(stored.names), ", ".join(batch.schema.names)
        raise StrataError(Diagnostic("E080", f"a batch has the columns {found}; expected {expected}"))
    columns = []
    for field, column in zip(stored, batch.columns, strict=True):
        if column.type != field.type:
            column = _cast(field, column)
        if column.null_count and not field.nullable:
            message = f"column {field.name} holds a null and its schema says that it has none"
            raise StrataError(Diagnostic("E081", message, fix=_NULL_FIX, field_path=field.name))
        columns.append(column)
    return pa.RecordBatch.from_arrays(columns, schema=stored)


def _cast(field: pa.Field, column: pa.Array) -> pa.Array:
    own = stored_schema(pa.schema([pa.field(field.name, column.type)])).field(0).type
    if not own.equals(field.type) and digest.type_key(own) != digest.type_key(field.type):
        message = f"column {field.name} arrives as {column.type}; its schema says {field.type}"
        fix = "cast the column to the type of the schema"
        raise StrataError(Diagnostic("E080", message, fix=fix, field_path=field.name))
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as cause:
        raise _nested_null(cause, field.name) from cause


def _nested_null(cause: pa.ArrowInvalid, column: str | None = None) -> StrataError:
    message = f"a value inside a column is null where the schema says that none is: {cause}"
    return StrataError(Diagnostic("E081", message, fix=_NULL_FIX, field_path=column))


@dataclass(slots=True)
class _Hashing:
    """A file that is being written, with the digest and the number of the bytes that went through it."""

    file: Any
    total: Any = dataclasses.field(default_factory=hashlib.sha256)
    written: int = 0
    closed: bool = False

    def write(self, content: bytes) -> int:
        self.total.update(content)
        self.file.write(content)
        self.written += len(content)
        return len(content)

    def flush(self) -> None:
        pass

    def tell(self) -> int:
        return self.written

    def close(self) -> None:
        self.closed = True  # the file is its owner's to close


def _encode(directory: PurePath, number: int, stored: pa.Schema, cut: _Cut, layout: Layout, files: Files) -> _Encoded:
    """Encodes a part on its way to the file: its bytes are hashed as they pass, and never held as a whole."""
    name = f"part-{number:05d}.parquet"
    rows = sum(block.num_rows for block in cut.blocks)
    with files.writing(directory / name) as file:
        sink = _Hashing(file)
        try:
            with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), stored, **layout.settings(rows)) as writer:
                for block in cut.blocks:
                    # as a table: a batch would be encoded into buffers first, for the whole row group
                    writer.write_table(pa.Table.from_batches([block]), row_group_size=layout.group_rows)
        except pa.ArrowInvalid as cause:
            raise _nested_null(cause) from cause
    return _Encoded(Part(name, rows, sink.written, sink.total.hexdigest(), cut.partition), writer.writer.metadata)


def _digest(stored: pa.Schema, blocks: Sequence[pa.RecordBatch], hashes: bool) -> _Digested:
    nulls = tuple(sum(block.column(i).null_count for block in blocks) for i in range(len(stored)))
    return _Digested(tuple(digest.of_block(block) for block in blocks if block.num_rows) if hashes else (), nulls)
