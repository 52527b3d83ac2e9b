"""Files that are written whole: a reader finds all of one, or what was there before, also while others write it."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

from .regular_files import other_kind


def write_whole(path: Path, *parts: bytes, mode: int = 0o666) -> None:
    """Write `path` in one step, in a folder that is there. The mode of a file that is there stays; a new one has
    `mode`, less what the user's mask takes. Where a link is there, what it leads to is written. Raises `OSError`, also
    of what is no regular file: it would be replaced by one; then nothing is left behind."""
    path = Path(os.path.realpath(path))
    if (kind := other_kind(path)) is not None:
        raise OSError(errno.EINVAL, kind, str(path))
    temporary = path.with_name(f".new-{os.getpid()}-{os.urandom(8).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
