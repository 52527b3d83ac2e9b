"""Where the store's files lie: the few durable steps that it is built from, and the local filesystem's way of them.

Another place (an object store) is another `Files`. Each method is atomic and durable when it returns; a fault is
E092 with the path and what to do. Paths are the store's own: absolute on a filesystem, keys in a bucket.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from . import disk

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa


class Files(Protocol):
    """A place for files, strongly consistent: what one call has written, every later call sees."""

    def names(self, folder: Path, after: str = "") -> tuple[str, ...]:
        """The names directly inside `folder` that sort after `after`, sorted; none where there is no folder."""
        ...

    def read(self, path: Path) -> bytes | None:
        """The whole file, None when there is none."""
        ...

    def size(self, path: Path) -> int | None:
        """Bytes of the file, None when there is none."""
        ...

    def exists(self, path: Path) -> bool:
        """Whether the file is there."""
        ...

    def create(self, path: Path, content: bytes) -> bool:
        """Publishes a file in one step, or returns False because `path` exists: THE commit. Never overwrites."""
        ...

    def put(self, path: Path, *contents: bytes | memoryview) -> None:
        """Writes a file that no reader knows yet; its name is durable after `settle` of its folder."""
        ...

    def prepare(self, folder: Path, durable: Path | None = None) -> None:
        """Makes `folder` able to hold files, durably. `durable` is a folder above it of which that is known."""
        ...

    def settle(self, folder: Path) -> None:
        """Makes the names inside `folder` durable."""
        ...

    def open(self, path: Path) -> pa.NativeFile:
        """The file for reading at any place; `FileNotFoundError` when there is none."""
        ...

    def remove(self, path: Path) -> None:
        """Removes a file; what is already gone is no fault."""
        ...


class LocalFiles:
    """A local filesystem with hard links and atomic renames."""

    def names(self, folder: Path, after: str = "") -> tuple[str, ...]:
        """See `Files`."""
        names = disk.names_in(folder)
        return tuple(name for name in names if name > after) if after else names

    def read(self, path: Path) -> bytes | None:
        """See `Files`."""
        with disk.at(path, "read"):
            try:
                return path.read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def size(self, path: Path) -> int | None:
        """See `Files`."""
        with disk.at(path, "look at"):
            try:
                return os.stat(path).st_size
            except (FileNotFoundError, NotADirectoryError):
                return None

    def exists(self, path: Path) -> bool:
        """See `Files`."""
        return os.path.exists(path)

    def create(self, path: Path, content: bytes) -> bool:
        """See `Files`."""
        return disk.create_if_absent(path, content)

    def put(self, path: Path, *contents: bytes | memoryview) -> None:
        """See `Files`."""
        disk.write_file(path, *contents)

    def prepare(self, folder: Path, durable: Path | None = None) -> None:
        """See `Files`."""
        disk.make_directory(folder, durable)

    def settle(self, folder: Path) -> None:
        """See `Files`."""
        disk.sync_directory(folder)

    def open(self, path: Path) -> pa.NativeFile:
        """See `Files`."""
        import pyarrow as pa

        return pa.OSFile(str(path), "rb")

    def remove(self, path: Path) -> None:
        """See `Files`."""
        disk.remove_file(path)


LOCAL: Files = LocalFiles()
"""The local filesystem: it has no state."""
