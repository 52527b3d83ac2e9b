"""Files that end: what a project names is read where it is a regular file, and nothing else is opened.

Who opens a pipe waits for somebody who writes into it, and a device may never end. Of a path that is no regular file,
an `OSError` says what it is, as of one that cannot be read.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe, and no regular file",
    stat.S_IFSOCK: "it is a socket, and no regular file",
    stat.S_IFCHR: "it is a device, and no regular file",
    stat.S_IFBLK: "it is a device, and no regular file",
}


def other_kind(path: Path) -> str | None:
    """What is at `path`, where it is something else than a regular file; None where it is one, or nothing is there."""
    try:
        regular_status(path)
    except OSError as error:
        return error.strerror if error.errno == errno.EINVAL else None
    return None


def regular_status(path: Path) -> os.stat_result:
    """The status of the regular file at `path`. Raises `OSError`."""
    return _regular(path, os.stat(path))


def open_regular(path: Path) -> BinaryIO:
    """The regular file at `path`, opened to be read. Raises `OSError`."""
    regular_status(path)
    # It may be another by now: who opens a pipe waits, unless it says that it does not.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        _regular(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_regular(path: Path) -> bytes:
    """The bytes of the regular file at `path`. Raises `OSError`."""
    with open_regular(path) as file:
        return file.read()


def _regular(path: Path, status: os.stat_result) -> os.stat_result:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, _KINDS.get(stat.S_IFMT(status.st_mode), "it is no regular file"), str(path))
    return status
