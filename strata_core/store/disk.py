"""Durable steps on a local filesystem. Every one syncs before it returns; a fault is E092 with path and remedy.

The order of a publication is built from these: files, manifest, directory, rename, parent, log entry.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import BinaryIO

from ..caches import cache_directory
from ..diagnostics import Diagnostic, StrataError

_TEMPORARY = ".tmp-"
"""Prefix of files that are being written; a killed writer leaves them and readers pass them by."""

_REMEDIES = {
    errno.ENOSPC: "free space on that disk, or set {place} to another one, then run again",
    errno.EDQUOT: "raise the quota or free space, or set {place} elsewhere, then run again",
    errno.EACCES: "give this user read and write permission on the path, or set {place} elsewhere",
    errno.EPERM: "use a filesystem that allows hard links and renames, and give this user permission on the path",
    errno.EOPNOTSUPP: "use a filesystem that allows hard links and renames",
    errno.EROFS: "the filesystem is mounted read-only: mount it writable, or set {place} elsewhere",
    errno.ENOTDIR: "a file stands where a folder is needed: move it away, or set {place} elsewhere",
    errno.EEXIST: "a file stands where a folder is needed: move it away, or set {place} elsewhere",
    errno.ENOENT: "restore the missing file or folder, or run the apply again",
    errno.ENAMETOOLONG: "use a shorter {place} or shorter names",
    errno.EIO: "the disk reported a fault: check it before you go on",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}
"""What to do; `{place}` is what says where the path lies."""


def unusable(path: PurePath, doing: str, cause: OSError) -> StrataError:
    """E092: `doing` ("write the part") failed at `path` because of `cause`."""
    reason = cause.strerror or str(cause)
    fix = _REMEDIES.get(cause.errno or 0, "check the disk and the permissions of that path, then run again")
    fix = fix.format(place="STRATA_CACHE_DIR" if cache_directory() in (path, *path.parents) else "[store] root")
    return StrataError(Diagnostic("E092", f"cannot {doing} {path}: {reason}", fix=fix))


@contextmanager
def at(path: PurePath, doing: str) -> Iterator[None]:
    """Turns an `OSError` of the block into E092 for `path`."""
    try:
        yield
    except OSError as cause:
        raise unusable(path, doing, cause) from cause


@contextmanager
def writing(path: PurePath) -> Iterator[BinaryIO]:
    """A file that no reader knows yet, to be written by the block, and synced then; the directory that names it is not
    synced yet."""
    with at(path, "write"), open(path, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_file(path: PurePath, content: bytes) -> None:
    """Writes and syncs a file, as `writing` does."""
    with writing(path) as file:
        file.write(content)


def sync_directory(path: PurePath) -> None:
    """Makes the names inside `path` durable."""
    with at(path, "sync the folder"):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


_durable: set[tuple[str, int]] = set()
"""Folders, by path and inode, whose name is known to be durable: a process asks once."""


def make_directory(path: PurePath, durable: PurePath | None = None) -> None:
    """Creates `path` and its missing parents, each durable in its own parent before anything is put into it.

    `durable` is a folder above it of which that is known: nothing further up is synced again.
    """
    if path == durable:
        return
    if os.path.isdir(path):
        # Who created it may have been killed before its name was durable.
        if _known(path) not in _durable and os.access(path.parent, os.R_OK):
            sync_directory(path.parent)
            _durable.add(_known(path))
        return
    make_directory(path.parent, durable)
    with at(path, "create the folder"):
        Path(path).mkdir(exist_ok=True)
    sync_directory(path.parent)
    _durable.add(_known(path))


def _known(path: PurePath) -> tuple[str, int]:
    with at(path, "look at"):
        return str(path), os.stat(path).st_ino


def make_scratch(path: PurePath) -> None:
    """Creates `path`, whose name need not survive: what is put into it moves elsewhere, or is swept. The folder around
    it is durable."""
    with at(path, "create the folder"):
        try:
            os.mkdir(path)
        except FileNotFoundError:
            make_directory(path.parent)
            os.mkdir(path)


def create_if_absent(path: PurePath, content: bytes) -> bool:
    """Publishes `content` under `path` in one step, or returns False because `path` exists: never overwrites.

    When this raises, the file is either absent or whole: the caller reads it back to know which.
    """
    temporary = path.with_name(f"{_TEMPORARY}{secrets.token_hex(8)}")
    try:
        write_file(temporary, content)
        with at(path, "create"):
            try:
                os.link(temporary, path)
            except FileExistsError:
                return False
    finally:
        with suppress(OSError):  # a leftover is harmless: readers pass it by
            os.unlink(temporary)
    sync_directory(path.parent)
    return True


def move_directory(source: PurePath, target: PurePath, *, settled: bool = True) -> bool:
    """Renames a synced folder to `target` in one step, or returns False because `target` exists and is not empty. Where
    it is not to be `settled`, its new name is durable after a sync of the folder around it."""
    make_directory(target.parent)
    with at(target, "publish the folder"):
        try:
            os.rename(source, target)
        except OSError as cause:
            if cause.errno in (errno.ENOTEMPTY, errno.EEXIST):
                return False
            raise
    if settled:
        sync_directory(target.parent)
    return True


def remove_directory(path: PurePath) -> None:
    """Removes `path` with all that it holds; what is already gone is no fault."""
    with at(path, "remove the folder"):
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            return


def remove_file(path: PurePath) -> None:
    """Removes a file; what is already gone is no fault."""
    with at(path, "remove"), suppress(FileNotFoundError):
        os.unlink(path)


def names_in(path: PurePath) -> tuple[str, ...]:
    """The names inside a folder, sorted; a folder that does not exist has none."""
    with at(path, "list the folder"):
        try:
            return tuple(sorted(os.listdir(path)))
        except FileNotFoundError:
            return ()
