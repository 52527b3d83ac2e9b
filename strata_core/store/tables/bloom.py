"""Reads the Bloom filters that pyarrow writes into Parquet: may a row group hold one of these values?

Nothing in Python reads them. The format is Parquet's split-block filter: XXH64 (seed 0) of a value's plain encoding
picks a block of 256 bits by its upper half, and eight bits in it by its lower half. A filter of another kind answers
"it may", and so does a column without one.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_SALTS = np.array(
    [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31], dtype=np.uint32
)
_BLOCK_BYTES = 32
_HEADER_TAIL = bytes.fromhex("1c1c0000 1c1c0000 1c1c0000 00")
"""Thrift for: split blocks, XXH64, uncompressed, end of the header."""
_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(p)
    for p in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
)


def hashes(values: pa.Array) -> np.ndarray | None:
    """The hashes of the distinct `values`, none null, of text or signed integers; None for other types."""
    types, type_ = pa.types, values.type
    if types.is_signed_integer(type_):
        width = 8 if type_.bit_width == 64 else 4  # Parquet keeps the narrower ones in 32 bits
        numbers = values.cast(pa.int64()).to_numpy(zero_copy_only=False).astype(f"<i{width}")
        return xxh64(numbers.view(np.uint8).reshape(len(numbers), width))
    if not types.is_string(type_):
        return None
    by_length: dict[int, list[bytes]] = {}
    for text in values.to_pylist():
        encoded = text.encode()
        by_length.setdefault(len(encoded), []).append(encoded)
    found = [
        xxh64(np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), length))
        for length, texts in by_length.items()
    ]
    return np.concatenate(found) if found else np.zeros(0, np.uint64)


def may_hold(source: pa.NativeFile, chunk: pq.ColumnChunkMetaData, hashed: np.ndarray) -> bool:
    """Whether a column chunk of the opened part may hold a value with one of the hashes."""
    offset, length = chunk.bloom_filter_offset, chunk.bloom_filter_length
    if offset is None or not length:
        return True
    source.seek(offset)
    blocks = _blocks(source.read(length))
    return blocks is None or bool(_found(blocks, hashed).any())


def _blocks(content: bytes) -> np.ndarray | None:
    """The filter's blocks, eight words each; None for a filter of another kind."""
    size, at = _varint(content, 1)
    size >>= 1  # zigzag of a number that is not negative
    body = at + len(_HEADER_TAIL)
    known = content[:1] == b"\x15" and content[at:body] == _HEADER_TAIL
    if not known or size % _BLOCK_BYTES or len(content) != body + size:
        return None
    return np.frombuffer(content, "<u4", size // 4, body).reshape(-1, 8)


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(content):
        byte = content[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            break
    return value, at


def _found(blocks: np.ndarray, hashed: np.ndarray) -> np.ndarray:
    block = ((hashed >> np.uint64(32)) * np.uint64(len(blocks))) >> np.uint64(32)
    with np.errstate(over="ignore"):
        bits = (hashed.astype(np.uint32)[:, None] * _SALTS) >> np.uint32(27)
    masks = np.left_shift(np.uint32(1), bits)
    return np.asarray(((blocks[block.astype(np.int64)] & masks) == masks).all(axis=1))


def xxh64(rows: np.ndarray) -> np.ndarray:
    """XXH64 with seed 0 of each row of a matrix of bytes.

    >>> [hex(h) for h in xxh64(np.frombuffer(b"abc", np.uint8).reshape(1, 3))]
    ['0x44bc2cf5ad770999']
    """
    count, length = rows.shape
    with np.errstate(over="ignore"):
        at = 0
        if length >= 32:
            lanes = [np.full(count, lane) for lane in (_P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1)]
            while at + 32 <= length:
                for i in range(4):
                    lanes[i] = _round(lanes[i], _words(rows, at + 8 * i, 8))
                at += 32
            total = sum((_rotated(lane, turn) for lane, turn in zip(lanes, (1, 7, 12, 18), strict=True)), np.uint64(0))
            for lane in lanes:
                total = (total ^ _round(np.zeros(count, np.uint64), lane)) * _P1 + _P4
        else:
            total = np.full(count, _P5)
        total = total + np.uint64(length)
        while at + 8 <= length:
            total = _rotated(total ^ _round(np.zeros(count, np.uint64), _words(rows, at, 8)), 27) * _P1 + _P4
            at += 8
        if at + 4 <= length:
            total = _rotated(total ^ (_words(rows, at, 4) * _P1), 23) * _P2 + _P3
            at += 4
        for i in range(at, length):
            total = _rotated(total ^ (rows[:, i].astype(np.uint64) * _P5), 11) * _P1
        for shift, prime in ((33, _P2), (29, _P3)):
            total = (total ^ (total >> np.uint64(shift))) * prime
        return np.asarray(total ^ (total >> np.uint64(32)))


def _words(rows: np.ndarray, at: int, width: int) -> np.ndarray:
    return np.ascontiguousarray(rows[:, at : at + width]).view(f"<u{width}").reshape(-1).astype(np.uint64)


def _rotated(value: np.ndarray, turn: int) -> np.ndarray:
    return (value << np.uint64(turn)) | (value >> np.uint64(64 - turn))


def _round(lane: np.ndarray, word: np.ndarray) -> np.ndarray:
    return _rotated(lane + word * _P2, 31) * _P1


def leaves(footer: pq.FileMetaData) -> Mapping[str, int]:
    """The number of each column that is no part of a nested one."""
    schema = footer.schema
    return {schema.column(i).path: i for i in range(len(schema))}
