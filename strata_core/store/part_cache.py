"""Copies of parts that lie in a bucket, by the SHA-256 of their content, in the user's cache folder.

Parts never change, so a copy is right for ever: it is checked against its digest once, when it arrives, and from then
on engines read it as any local file. What was used longest ago goes when the copies exceed `LIMIT_BYTES`, but nothing
that was used within the last hour: an engine may still be about to open it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..caches import cache_directory
from ..diagnostics import Diagnostic, StrataError
from . import disk
from .files import LOCAL, sha256_of
from .manifest import Part

LIMIT_BYTES = 8 * 1024**3
"""Bytes of all copies at most, but for those of the last hour."""
IN_USE_SECONDS = 3600.0


FETCH_ANEW = "run the same again: the part is fetched anew"
"""What is to be done when a damaged copy was removed."""


@dataclass(frozen=True, slots=True)
class PartCache:
    """The copies in `folder`. Processes may share it."""

    folder: Path
    limit: int = LIMIT_BYTES

    def find(self, part: Part) -> Path | None:
        """The copy of a part, None when there is none or a disk cut it short."""
        path = self.path(part)
        try:
            status = os.stat(path)
            if status.st_size != part.bytes:
                return None
            os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))  # it was used now, and not changed
        except OSError:
            return None
        return path

    def keep(self, source: object, part: Part, chunks: Iterable[bytes | memoryview]) -> Path:
        """Copies a part; E094, naming its `source`, when the content is another one, E092 when the disk refuses."""
        temporary = self.folder / f".new-{secrets.token_hex(8)}"
        digest = hashlib.sha256()
        try:
            with disk.at(self.folder, "write the cache"):
                self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                with open(temporary, "xb") as file:
                    for chunk in chunks:
                        digest.update(chunk)
                        file.write(chunk)
            if (found := digest.hexdigest()) != part.sha256:
                message = f"part {source} has the SHA-256 {found}, its manifest says {part.sha256}"
                fix = "restore it from a backup, or apply its model again with --force; `strata store verify` lists all"
                raise StrataError(Diagnostic("E094", message, fix=fix))
            path = self.path(part)
            with disk.at(path, "write the cache"):
                os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        self._make_room()
        return path

    def take(self, part: Part, staged: Path) -> None:
        """Moves a part that was just written here into the cache. Where that cannot be, it is let go."""
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.move(staged, self.path(part))
            os.utime(self.path(part))
        self._make_room()

    def path(self, part: Part) -> Path:
        """Where the copy of a part is, when there is one."""
        return self.folder / f"{part.sha256}.parquet"

    def _make_room(self) -> None:
        copies = []
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process took it away
                    copies.append((entry.stat().st_atime, entry.stat().st_size, entry.path))
        total = sum(size for _, size, _ in copies)
        until = time.time() - IN_USE_SECONDS
        for used, size, path in sorted(copies):
            if total <= self.limit or used > until:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def copies() -> PartCache:
    """This user's copies."""
    return PartCache(cache_directory() / "parts")


def drop_damaged(path: Path) -> bool:
    """Removes the copy of a part at `path` where a disk has changed it since it came; says whether. What lies elsewhere
    is no copy."""
    with contextlib.suppress(StrataError, OSError):
        if path.parent == copies().folder and sha256_of(LOCAL, path) != path.stem:
            path.unlink()
            return True
    return False
