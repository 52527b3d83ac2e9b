"""Where results are kept that only save time: the user's cache folder, and how files in it are written."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from .digests import checksum, local_key
from .whole_files import write_whole


def cache_directory() -> Path:
    """Where this user's caches go: `STRATA_CACHE_DIR`, or the custom of the operating system."""
    if chosen := os.environ.get("STRATA_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")) / "strata"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "strata"


_CHECKSUM_BYTES = 16
MOST_ENTRIES = 4000
"""How many files a folder of a cache keeps; it may have a few hundred more before that is noticed."""
_SELDOM = "00"


def keep(path: Path, content: bytes, most: int = MOST_ENTRIES) -> bool:
    """Write a cache file whole or not at all; says whether. A cache that cannot be written is no fault.

    Only its user may read the folder: what lies there is believed, if it is what was written. Of more than `most` files
    the oldest quarter goes. To look for those takes long where there may be many: one name in 256 is an occasion, since
    names begin with a digest.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, checksum(content, _CHECKSUM_BYTES), content, mode=0o600)
    except OSError:
        return False
    if most < MOST_ENTRIES or path.name.startswith(_SELDOM):
        _thin(path.parent, most)
    return True


def _thin(folder: Path, most: int) -> None:
    """Remove the oldest quarter of what `folder` keeps where that is more than `most` entries."""
    with contextlib.suppress(OSError):
        if len(os.listdir(folder)) <= most:
            return
        with os.scandir(folder) as entries:
            found = [(e.stat().st_mtime_ns, e.path) for e in entries if not e.name.startswith(".new-")]
        for _, path in sorted(found)[: len(found) // 4]:
            with contextlib.suppress(OSError):
                os.unlink(path)


def kept(path: Path) -> bytes | None:
    """The content that `keep` wrote; `None` where there is none, or a disk has changed it since."""
    try:
        with open(path, "rb") as file:
            written, content = file.read(_CHECKSUM_BYTES), file.read()
    except OSError:
        return None
    return content if written == checksum(content, _CHECKSUM_BYTES) else None


LIBRARIES = ("duckdb", "jsonschema_rs", "lark", "pathspec", "pyyaml", "sqlglot", "sqlglotc", "sqlglotrs")
"""The libraries that say what kept results say: another release may read a text, or write a query, otherwise."""


@cache
def program_stamp() -> str:
    """A digest of this installation: the names, sizes and times of its files, and the releases of `LIBRARIES`."""
    return local_key(sys.version, *_stamps(os.path.dirname(os.path.realpath(__file__))), *releases(sys.path))


def releases(folders: Iterable[str]) -> list[str]:
    """The releases of `LIBRARIES` that are installed in `folders`, as `name-version`: found by the names of folders,
    since to ask `importlib.metadata` takes longer than to load what is kept."""
    found: set[str] = set()
    for folder in filter(None, folders):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            names = [e.name.lower() for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
            found.update(name.rpartition(".")[0] for name in names if name.partition("-")[0] in LIBRARIES)
    return sorted(found)


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name.endswith((".py", ".lark")):
            status = entry.stat()
            yield f"{entry.path}:{status.st_size}:{status.st_mtime_ns}"
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from _stamps(entry.path)
