"""Where the store's files lie: the few durable steps that it is built from, and the local filesystem's way of them.

A bucket is another `Files` (`bucket.py`). Each method is atomic and durable when it returns; a fault is E092 with the
path and what to do. Paths are the store's own: absolute on a filesystem, `s3://bucket/key` in a bucket.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar

from ..diagnostics import StrataError
from . import disk, manifest

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa

    from .manifest import Manifest, Part


T = TypeVar("T")
V = TypeVar("V")
_READ_BYTES = 1 << 20


class UnclearError(StrataError):
    """E092: whether a file was created is not known, and may change yet. What it names must not be removed."""


class Files(Protocol):
    """A place for files, strongly consistent: what one call has written, every later call sees.

    `part_source` says that parts are fetched from elsewhere, so that an absent one is no sign of a collection (Seed 1
    *collected-snapshot*), and `at_once` how many calls are worth making side by side.
    """

    @property
    def part_source(self) -> bool:
        """See the class."""
        ...

    @property
    def at_once(self) -> int:
        """See the class."""
        ...

    def names(self, folder: PurePath, after: str = "") -> tuple[str, ...]:
        """The names directly inside `folder` that sort after `after`, sorted; none where there is no folder."""
        ...

    def below(self, folder: PurePath) -> Iterator[PurePath]:
        """Every file below `folder`, at any depth."""
        ...

    def read(self, path: PurePath) -> bytes | None:
        """The whole file, None when there is none."""
        ...

    def size(self, path: PurePath) -> int | None:
        """Bytes of the file, None when there is none."""
        ...

    def exists(self, path: PurePath) -> bool:
        """Whether the file is there."""
        ...

    def create(self, path: PurePath, content: bytes) -> bool:
        """Publishes a file in one step, or returns False because `path` exists: THE commit. Never overwrites.

        False may be said of our own file, whose first answer was lost: who has to know reads it back.
        `UnclearError` where not even that can be told.
        """
        ...

    def put(self, path: PurePath, content: bytes) -> None:
        """Writes a file that no reader knows yet; its name is durable after `settle` of its folder."""
        ...

    def writing(self, path: PurePath) -> AbstractContextManager[BinaryIO]:
        """The same, in pieces that the block writes."""
        ...

    def prepare(self, folder: PurePath, durable: PurePath | None = None) -> None:
        """Makes `folder` able to hold files, durably. `durable` is a folder above it of which that is known."""
        ...

    def settle(self, folder: PurePath) -> None:
        """Makes the names inside `folder` durable."""
        ...

    def open(self, path: PurePath, part: Part | None = None) -> pa.NativeFile:
        """The file for reading at any place; `FileNotFoundError` when there is none.

        Where `part` says what the file holds, a copy of it that is at hand may be read in its place.
        """
        ...

    def fetch(self, path: PurePath, part: Part) -> Path:
        """A file of the local filesystem that holds the part: for engines, which read from there.

        `FileNotFoundError` when there is none; E094 when it does not hold what `part` says and had to be copied.
        """
        ...

    def publish(self, staged: Path, target: PurePath, described: Manifest) -> Manifest | None:
        """Puts the parts in the local folder `staged`, which `described` lists, and their manifest at `target` in one
        step, and returns the manifest that stands there; None because one was there before. `staged` is used up when
        a manifest is returned. The name `target` is durable after `settle` of the folder around it."""
        ...

    def touch(self, target: PurePath) -> bool:
        """Whether `publish` has put a manifest at `target`; where artifacts are collected, it counts as used now."""
        ...

    def clear(self, target: PurePath, grave: Path) -> None:
        """Takes away what `publish` finds in its way; `grave` is a path of the staging folder that is free."""
        ...

    def remove(self, path: PurePath) -> None:
        """Removes a file; what is already gone is no fault."""
        ...


class LocalFiles:
    """A local filesystem with hard links and atomic renames."""

    part_source = False
    at_once = 1

    def names(self, folder: PurePath, after: str = "") -> tuple[str, ...]:
        """See `Files`."""
        names = disk.names_in(folder)
        return tuple(name for name in names if name > after) if after else names

    def below(self, folder: PurePath) -> Iterator[PurePath]:
        """See `Files`."""
        with disk.at(folder, "list the folder"):
            for parent, _, names in os.walk(folder):
                yield from (Path(parent) / name for name in sorted(names))

    def read(self, path: PurePath) -> bytes | None:
        """See `Files`."""
        with disk.at(path, "read"):
            try:
                with open(path, "rb") as file:
                    return file.read()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def size(self, path: PurePath) -> int | None:
        """See `Files`."""
        with disk.at(path, "look at"):
            try:
                return os.stat(path).st_size
            except (FileNotFoundError, NotADirectoryError):
                return None

    def exists(self, path: PurePath) -> bool:
        """See `Files`."""
        return os.path.exists(path)

    def create(self, path: PurePath, content: bytes) -> bool:
        """See `Files`."""
        return disk.create_if_absent(path, content)

    def put(self, path: PurePath, content: bytes) -> None:
        """See `Files`."""
        disk.write_file(path, content)

    def writing(self, path: PurePath) -> AbstractContextManager[BinaryIO]:
        """See `Files`."""
        return disk.writing(path)

    def prepare(self, folder: PurePath, durable: PurePath | None = None) -> None:
        """See `Files`."""
        disk.make_directory(folder, durable)

    def settle(self, folder: PurePath) -> None:
        """See `Files`."""
        disk.sync_directory(folder)

    def open(self, path: PurePath, part: Part | None = None) -> pa.NativeFile:
        """See `Files`."""
        import pyarrow as pa

        return pa.OSFile(str(path), "rb")

    def fetch(self, path: PurePath, part: Part) -> Path:
        """See `Files`."""
        return Path(path)

    def publish(self, staged: Path, target: PurePath, described: Manifest) -> Manifest | None:
        """See `Files`. The folder is renamed."""
        disk.write_file(staged / manifest.NAME, manifest.encode(described))
        disk.sync_directory(staged)
        return described if disk.move_directory(staged, Path(target), settled=False) else None

    def touch(self, target: PurePath) -> bool:
        """See `Files`."""
        with disk.at(target, "touch"):
            try:
                os.utime(target / manifest.NAME)
            except FileNotFoundError:
                return False
        return True

    def clear(self, target: PurePath, grave: Path) -> None:
        """See `Files`."""
        if disk.move_directory(Path(target), grave):
            disk.remove_directory(grave)

    def remove(self, path: PurePath) -> None:
        """See `Files`."""
        disk.remove_file(path)


LOCAL: Files = LocalFiles()
"""The local filesystem: it has no state."""


def side_by_side(files: Files, call: Callable[[T], V], items: Iterable[T]) -> Iterator[V]:
    """`call` of each item, in their order, as many at once as the place of `files` is worth; no more are begun than
    are asked for soon."""
    if files.at_once == 1:
        yield from map(call, items)
        return
    with ThreadPoolExecutor(files.at_once, thread_name_prefix="strata-files") as pool:
        waiting: deque[Future[V]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(call, item))
                if len(waiting) > files.at_once:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def sha256_of(files: Files, path: PurePath) -> str:
    """The SHA-256 of a file that is there, as it lies there now, hex. Errors: E092."""
    total = hashlib.sha256()
    if isinstance(path, Path):
        with disk.at(path, "read"), open(path, "rb") as file:  # without pyarrow: a plan verifies too
            while chunk := file.read(_READ_BYTES):
                total.update(chunk)
    else:
        total.update(files.read(path) or b"")
    return total.hexdigest()


def mismatch(files: Files, path: PurePath, part: Part, contents: bool) -> str | None:
    """How the file at `path` differs from what its manifest says of `part`, None where it does not. Without `contents`
    only presence and size are looked at, which costs one call. Errors: E092."""
    size = files.size(path)
    if size is None:
        return "is missing"
    if size != part.bytes:
        return f"has {size} bytes, its manifest says {part.bytes}"
    if contents and (found := sha256_of(files, path)) != part.sha256:
        return f"has the SHA-256 {found}, its manifest says {part.sha256}"
    return None
