"""Results of reads, kept while they are of use: keyed by statement, frontier and bounds, bounded in bytes.

What it holds has passed enforcement, and its key names the principal. Reads under `retain_rows` have no key: their
answer changes with the wall clock (Seed 1 *row-age-cutoff*).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

LIMIT_BYTES = 64 * 1024 * 1024
"""Bytes of all results in the cache of a store at most; a result over a quarter of it is not kept."""


@dataclass(slots=True)
class ResultCache:
    """The results used last. Threads may share it."""

    limit: int = LIMIT_BYTES
    _held: OrderedDict[object, pa.Table] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def find(self, key: object | None) -> pa.Table | None:
        """The result kept under `key`."""
        if key is None:
            return None
        with self._lock:
            if (found := self._held.get(key)) is not None:
                self._held.move_to_end(key)
            return found

    def keep(self, key: object | None, result: pa.Table) -> None:
        """Keeps `result` under `key`, in the place of what was used longest ago."""
        size = result.nbytes
        if key is None or size > self.limit // 4:
            return
        with self._lock:
            if key in self._held:
                return
            self._held[key] = result
            self._bytes += size
            while self._bytes > self.limit:
                _, dropped = self._held.popitem(last=False)
                self._bytes -= dropped.nbytes

    def __len__(self) -> int:
        return len(self._held)
