"""Files in memory: a second `Files`, so that nothing in the store depends on a filesystem, and quick."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from strata_core.store.manifest import Manifest, Part


@dataclass
class MemoryFiles:
    """Every step is atomic; nothing needs to be settled."""

    part_source = False
    at_once = 1

    contents: dict[Path, bytes] = field(default_factory=dict)
    folders: dict[Path, set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def names(self, folder: Path, after: str = "") -> tuple[str, ...]:
        with self.lock:
            return tuple(sorted(name for name in self.folders.get(folder, ()) if name > after))

    def below(self, folder: Path) -> Iterator[Path]:
        return iter(sorted(path for path in self.contents if path.is_relative_to(folder)))

    def read(self, path: Path) -> bytes | None:
        return self.contents.get(path)

    def size(self, path: Path) -> int | None:
        content = self.contents.get(path)
        return None if content is None else len(content)

    def exists(self, path: Path) -> bool:
        return path in self.contents

    def create(self, path: Path, content: bytes) -> bool:
        with self.lock:
            if path in self.contents:
                return False
            self._keep(path, content)
            return True

    def put(self, path: Path, content: bytes) -> None:
        with self.lock:
            self._keep(path, content)

    @contextmanager
    def writing(self, path: Path) -> Iterator[BinaryIO]:
        held = io.BytesIO()
        yield held
        self.put(path, held.getvalue())

    def prepare(self, folder: Path, durable: Path | None = None) -> None:
        pass

    def settle(self, folder: Path) -> None:
        pass

    def open(self, path: Path, part: Part | None = None) -> pa.NativeFile:
        if path not in self.contents:
            raise FileNotFoundError(path)
        return pa.BufferReader(self.contents[path])

    def fetch(self, path: Path, part: Part) -> Path:
        raise NotImplementedError("engines read no memory")

    def publish(self, staged: Path, target: Path, described: Manifest) -> Manifest | None:
        raise NotImplementedError("tables only")

    def touch(self, target: Path) -> bool:
        raise NotImplementedError("tables only")

    def clear(self, target: Path, grave: Path) -> None:
        raise NotImplementedError("tables only")

    def remove(self, path: Path) -> None:
        with self.lock:
            if self.contents.pop(path, None) is not None:
                self.folders[path.parent].discard(path.name)

    def _keep(self, path: Path, content: bytes) -> None:
        self.contents[path] = content
        while path.name not in self.folders.setdefault(path.parent, set()):
            self.folders[path.parent].add(path.name)
            path = path.parent
            if path == path.parent:
                return
