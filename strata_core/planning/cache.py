"""Results kept by the content they were computed from, so that an unchanged file is not parsed or checked again.

A cache lies in the user's cache folder, never in the project: its entries are pickles, and a folder that came
with a clone is not trusted to hold them. Entries are written whole or not at all; one that cannot be read is a
miss. The program's own files, and the releases of the libraries that it asks, are part of every key, so
that a new version starts afresh.
"""

from __future__ import annotations

import contextlib
import gc
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..caches import cache_directory, keep, kept, program_stamp
from ..digests import local_key


def content_key(kind: str, *parts: bytes) -> str:
    """The key of a result of `kind` computed from `parts` by this program."""
    return local_key(program_stamp(), kind, *parts)


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """Without the garbage collector: compiling, as loading what was compiled, makes many values that live on, and no
    garbage to speak of."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def load(key: str) -> Any | None:
    """The entry under `key`, or `None`."""
    content = kept(_path(key))
    if content is None:
        return None
    try:
        with uncollected():
            return pickle.loads(content)
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, TypeError, ValueError):
        return None


def save(key: str, value: object) -> None:
    """Keep `value` under `key`."""
    keep(_path(key), pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))


def _path(key: str) -> Path:
    return cache_directory() / "compiled" / f"{key}.pickle"
