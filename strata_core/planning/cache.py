"""Results kept by the content they were computed from, so that an unchanged file is not parsed or checked again.

A cache lies in the user's cache folder, never in the project: its entries are pickles, and a folder that came
with a clone is not trusted to hold them. Entries are written whole or not at all; one that cannot be read is a
miss. The program's own files are part of every key, so that a new version starts afresh.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

MAX_ENTRIES = 4000


def cache_folder() -> Path:
    """Where entries lie: `STRATA_CACHE_DIR`, else `strata` under the user's cache folder."""
    if chosen := os.environ.get("STRATA_CACHE_DIR"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "strata"


@cache
def program_stamp() -> bytes:
    """A digest of this installation: the names, sizes and times of the modules that decide about results."""
    package = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256(sys.version.encode())
    for folder in ("diagnostics", "types", "language", "relation", "contract", "analysis", "planning"):
        for directory, _, names in sorted(os.walk(package / folder)):
            for name in sorted(names):
                if name.endswith((".py", ".lark")):
                    status = os.stat(os.path.join(directory, name))
                    digest.update(f"{folder}/{name}:{status.st_size}:{status.st_mtime_ns};".encode())
    return digest.digest()


def content_key(kind: str, *parts: bytes) -> str:
    """The key of a result of `kind` computed from `parts` by this program."""
    digest = hashlib.sha256(program_stamp())
    for part in (kind.encode(), *parts):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def load(key: str) -> Any | None:
    """The entry under `key`, or `None`."""
    collecting = gc.isenabled()
    gc.disable()  # a large pickle is many objects and no garbage
    try:
        with open(_path(key), "rb") as file:
            return pickle.load(file)
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, TypeError, ValueError):
        return None
    finally:
        if collecting:
            gc.enable()


def save(key: str, value: object) -> None:
    """Keep `value` under `key`. A cache that cannot be written is no fault."""
    path = _path(key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _evict(path.parent)


def _path(key: str) -> Path:
    return cache_folder() / "compiled" / f"{key}.pickle"


def _evict(folder: Path) -> None:
    with os.scandir(folder) as entries:
        found = [(e.stat().st_mtime_ns, e.path) for e in entries if e.name.endswith(".pickle")]
    if len(found) > MAX_ENTRIES:
        for _, path in sorted(found)[: len(found) // 4]:
            with contextlib.suppress(OSError):
                os.unlink(path)
