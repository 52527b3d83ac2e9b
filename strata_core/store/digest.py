"""The content digest: what an artifact's rows are, whatever wrote them (architecture, Decisions 4).

Each column has one: SHA-256 over its name and type and, for every block of `BLOCK_ROWS` rows, its canonical streams,
each with its length in front. That of the whole is over those of the columns, in their order, so that who reads a few
columns depends on these alone. A stream never depends on batch boundaries, on the bytes under a null, on offsets into
buffers or on Parquet; nullability and metadata of the schema are descriptions, not rows.

| values | streams |
|---|---|
| any column with a null in the block | one byte a row: 1 present, 0 null |
| fixed width | little-endian values; null slots zero; -0.0 is 0.0; every NaN is one NaN |
| bool | one byte a row |
| text, binary | lengths (uint32), then the bytes; null slots have length 0 |
| list, map | lengths (uint32), then the streams of the elements |
| struct | the streams of the fields, null where the struct is null |
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

BLOCK_ROWS = 122_880
"""Rows of a block: a constant of the digest, and the writer's row group. DuckDB hands over sorted rows in groups of
as many, so that a block is mostly one of its batches as it lies in memory."""

_VERSION = b"strata-rows-3"
_EMPTY = memoryview(b"")


def combine(schema: pa.Schema, blocks: Iterable[tuple[bytes, ...]], rows: int) -> tuple[str, dict[str, str]]:
    """The digest of rows of a stored schema, and that of each column (hex), from those of the blocks, in order."""
    totals = [_hashed(_VERSION, f.name.encode(), type_key(f.type).encode(), rows.to_bytes(8, "little")) for f in schema]
    for block in blocks:
        for total, piece in zip(totals, block, strict=True):
            total.update(piece)
    columns = {field.name: total.hexdigest() for field, total in zip(schema, totals, strict=True)}
    return _hashed(*(column.encode() for column in columns.values())).hexdigest(), columns


def _hashed(*pieces: bytes | memoryview) -> hashlib._Hash:
    total = hashlib.sha256()
    for piece in pieces:
        total.update(len(piece).to_bytes(8, "little"))
        total.update(piece)
    return total


def type_key(type_: pa.DataType) -> str:
    """The spelling of a stored type that tells apart what may hold different values, and nothing else."""
    types = pa.types
    if types.is_map(type_):
        return f"map<{type_key(type_.key_type)},{type_key(type_.item_type)}>"
    if types.is_fixed_size_list(type_):
        return f"list[{type_.list_size}]<{type_key(type_.value_type)}>"
    if types.is_list(type_):
        return f"list<{type_key(type_.value_type)}>"
    if types.is_struct(type_):
        fields = (f"{len(f.name.encode())}:{f.name}:{type_key(f.type)}" for f in type_)
        return f"struct<{','.join(fields)}>"
    return str(type_)


def of_block(block: pa.RecordBatch) -> tuple[bytes, ...]:
    """The digests of the columns of one block, which have stored types."""
    return tuple(_hashed(*_streams(column)).digest() for column in block.columns)


def size(array: pa.Array) -> int:
    """Bytes of the canonical values of `array`, nulls of fixed width included: a measure of the rows alone,
    where `nbytes` also counts how they happen to lie in buffers."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    type_, types = array.type, pa.types
    if types.is_string(type_) or types.is_binary(type_):
        return 4 * len(array) + int(pc.sum(pc.binary_length(array)).as_py() or 0)
    if types.is_struct(type_):
        return sum(size(child) for child in array.flatten())
    if types.is_fixed_size_list(type_):
        return size(array.flatten())
    if types.is_list(type_) or types.is_map(type_):
        return 4 * len(array) + size(_as_list(array).flatten())
    return len(array) * max(1, int(type_.bit_width) // 8)


def _streams(array: pa.Array) -> Iterator[memoryview]:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    yield _slots(pc.cast(pc.is_valid(array), pa.uint8())) if array.null_count else _EMPTY
    type_, types = array.type, pa.types
    if types.is_boolean(type_):
        yield _slots(pc.cast(_filled(array), pa.uint8()))
    elif types.is_string(type_) or types.is_binary(type_):
        yield from _text(array)
    elif types.is_struct(type_):
        for child in array.flatten():
            yield from _streams(child)
    elif types.is_fixed_size_list(type_):
        yield from _streams(array.flatten())
    elif types.is_list(type_) or types.is_map(type_):
        yield from _nested(array)
    elif types.is_floating(type_):
        yield _slots(_filled(_normal_floats(array)))
    else:
        yield _slots(_filled(array))


def _filled(array: pa.Array) -> pa.Array:
    """`array` with the value whose bits are all zero (text: the empty one) for null."""
    return pc.fill_null(array, _constant(array.type, b"")) if array.null_count else array


def _constant(type_: pa.DataType, bits: bytes) -> pa.Scalar:
    """The value of a type whose bits are `bits`, zeros behind them.

    Made from buffers because `pa.scalar` imports pandas where that is installed: half a second of start-up.
    """
    bits = bits.ljust(32, b"\0")
    return pa.Array.from_buffers(type_, 1, [None, *[pa.py_buffer(bits)] * (type_.num_buffers - 1)])[0]


def _slots(array: pa.Array) -> memoryview:
    """The bytes of the value slots of a fixed-width array, without a copy."""
    width = array.type.bit_width // 8
    return _bytes(array.buffers()[1], array.offset * width, len(array) * width)


def _bytes(buffer: pa.Buffer | None, start: int, length: int) -> memoryview:
    return memoryview(buffer).cast("B")[start : start + length] if buffer is not None and length else _EMPTY


def _normal_floats(array: pa.Array) -> pa.Array:
    values = pc.add(array, _constant(array.type, b""))  # -0.0 + 0.0 is 0.0
    missing = pc.is_nan(values)
    if pc.any(missing).as_py():
        nan = struct.pack("<d" if array.type.bit_width == 64 else "<f", math.nan)
        values = pc.if_else(missing, _constant(array.type, nan), values)
    return values


def _text(array: pa.Array) -> Iterator[memoryview]:
    lengths = pc.binary_length(array)
    start, end = _extent(array)
    if array.null_count and (pc.sum(lengths).as_py() or 0) != end - start:
        # Some null has bytes under it, which are no content: rebuild without them.
        array = _filled(array)
        start, end = _extent(array)
    yield _slots(_filled(lengths))
    yield _bytes(array.buffers()[2], start, end - start)


def _extent(array: pa.Array) -> tuple[int, int]:
    """Where the characters of a text array start and end in its data buffer."""
    if not len(array):
        return 0, 0
    offsets = memoryview(array.buffers()[1]).cast("B").cast("i")
    return offsets[array.offset], offsets[array.offset + len(array)]


def _nested(array: pa.Array) -> Iterator[memoryview]:
    array = _as_list(array)
    yield _slots(_filled(pc.list_value_length(array)))
    yield from _streams(array.flatten())  # leaves out what stands under a null


def _as_list(array: pa.Array) -> pa.Array:
    if pa.types.is_map(array.type):
        return array.cast(pa.list_(pa.struct([array.type.key_field, array.type.item_field])))
    return array
