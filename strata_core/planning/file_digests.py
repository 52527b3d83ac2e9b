"""Digests of files' bytes, kept by path, size and time, so that unchanged files are not read again."""

from __future__ import annotations

import errno
import hashlib
import time
from pathlib import Path

from ..caches import cache_directory, keep, kept
from ..diagnostics import Diagnostic, StrataError
from ..digests import hexdigest
from ..regular_files import open_regular, regular_status

_CHUNK = 1 << 20
_RACY_SECONDS = 2.0
"""A file changed this recently may change again without its size or time changing: its digest is not kept."""


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes; raises `StrataError` E033 where it cannot be read."""
    try:
        before = stamp(path)
        note = cache_directory() / "files" / hexdigest(str(path), before)
        noted = kept(note)
        if noted is not None:
            return noted.decode()
        hashed = hashlib.sha256()
        with open_regular(path) as file:
            while chunk := file.read(_CHUNK):
                hashed.update(chunk)
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from None
    settled = time.time() - max(status.st_mtime, status.st_ctime) > _RACY_SECONDS
    if settled and stamp(path) == before:
        keep(note, hashed.hexdigest().encode())
    return hashed.hexdigest()


def stamp(path: Path) -> str:
    """What changes when a file is written, whatever time the writer gives it; raises `StrataError` E033."""
    try:
        status = regular_status(path)
    except OSError as error:
        raise _unreadable(path, error) from None
    return f"{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"


def _unreadable(path: Path, error: OSError) -> StrataError:
    message = f"`{path.name}` cannot be read: {error.strerror}"
    fix = "write a regular file in its place" if error.errno == errno.EINVAL else "check the file's permissions"
    return StrataError(Diagnostic("E033", message, fix=fix))
