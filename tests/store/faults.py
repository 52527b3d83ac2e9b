"""Faults put into the few calls by which the store changes a disk: failing, fatal, torn, or undone by a power cut.

A *fault* makes one call raise (before or after it took effect) and lets the program react. A *kill* lets no later call
take effect, so that nothing cleans up; a *torn* write is a kill in the middle of one. A *power cut* keeps only what
was synced: files whose content was, names whose folder was.
"""

from __future__ import annotations

import builtins
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from strata_core.store import disk

CALLS = ("link", "rename", "fsync", "unlink", "rmdir", "mkdir")


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def intercepted(around: Callable[[str, Any, Callable[[], Any]], Any]) -> Iterator[None]:
    """Every call that changes the disk goes through `around(name, first argument, call)`."""

    def through(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **options: around(name, arguments[0], lambda: real(*arguments, **options))

    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, through(name, getattr(os, name)))
        patch.setattr(disk, "open", through("open", getattr(disk, "open", builtins.open)), raising=False)
        yield


@dataclass
class Failure:
    """Raises `error` at the `at`-th call, before it takes effect or after; a kill then stops all later calls."""

    at: int
    after: bool
    error: BaseException
    seen: int = 0

    def __call__(self, name: str, what: Any, call: Callable[[], Any]) -> Any:
        self.seen += 1
        if self.seen > self.at and isinstance(self.error, Killed):
            raise self.error
        if self.seen != self.at:
            return call()
        if self.after:
            call()
        raise self.error


@dataclass
class Torn:
    """Kills in the middle of the `at`-th write: half of the content is in the file."""

    at: int
    seen: int = 0

    def __call__(self, name: str, what: Any, call: Callable[[], Any]) -> Any:
        if self.seen >= self.at:
            raise Killed
        made = call()
        return TornFile(made, self) if name == "open" else made


@dataclass
class TornFile:
    """A file that is being written."""

    file: Any
    torn: Torn

    def __enter__(self) -> TornFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def write(self, content: Any) -> int:
        self.torn.seen += 1
        if self.torn.seen < self.torn.at:
            return int(self.file.write(content))
        self.file.write(bytes(content)[: len(bytes(content)) // 2])
        self.file.flush()
        raise Killed


@dataclass
class Disk:
    """What a power cut would leave of the folder `root`: the contents and names that were synced, by inode."""

    root: Path
    paths: dict[int, Path] = field(default_factory=dict)
    contents: dict[int, bytes] = field(default_factory=dict)
    names: dict[int, dict[str, int]] = field(default_factory=dict)
    cuts: list[tuple[dict[int, bytes], dict[int, dict[str, int]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names[os.stat(self.root).st_ino] = {}

    def __call__(self, name: str, what: Any, call: Callable[[], Any]) -> Any:
        result = call()
        if name in ("open", "mkdir"):
            inode = os.stat(what).st_ino
            self.paths[inode] = Path(what)
            self.contents.pop(inode, None)
            self.names.pop(inode, None)
            if name == "mkdir":
                self.names[inode] = {}
        elif name == "fsync":
            self._sync(what)
        self.cuts.append((dict(self.contents), dict(self.names)))
        return result

    def _sync(self, handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            self.names[status.st_ino] = {
                name: os.stat(name, dir_fd=handle, follow_symlinks=False).st_ino for name in os.listdir(handle)
            }
        else:
            self.contents[status.st_ino] = self.paths[status.st_ino].read_bytes()

    def restore(self, cut: int, target: Path) -> None:
        """Builds at `target` what is found after a power cut that follows the call of that number."""
        contents, names = self.cuts[cut]

        def build(inode: int, path: Path) -> None:
            if inode in names:
                path.mkdir()
                for name, child in names[inode].items():
                    build(child, path / name)
            else:
                path.write_bytes(contents.get(inode, b""))

        build(os.stat(self.root).st_ino, target)
