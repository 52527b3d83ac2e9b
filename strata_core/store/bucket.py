"""The store's files in an S3-compatible bucket.

A commit is a conditional put (`If-None-Match: *`): of two writers of one key one wins. An answer may be lost, come
late, or be a 409; then the key is read back, and what stands there says whose it is. Parts are written under names
that nobody else writes; reads of parts go through copies (`part_cache.py`), which cost one request each and are
checked against their digest, while log entries and manifests are read where they lie.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Protocol

from ..diagnostics import StrataError
from . import bucket_faults, disk, manifest
from .files import UnclearError
from .manifest import Manifest, Part
from .part_cache import PartCache

if TYPE_CHECKING:  # pyarrow takes 0.2 s to import, and plan, history and rollback touch no rows
    import pyarrow as pa

SCHEME = "s3:"
CREATE_TRIES = 4
"""How often a conditional put is tried whose answer does not come."""


class BucketPath(PurePosixPath):
    """A place in a bucket, shown as `s3://bucket/key`.

    >>> root = BucketPath("s3://lake/strata")
    >>> str(root / "tables"), (root / "tables").bucket, (root / "tables").key
    ('s3://lake/strata/tables', 'lake', 'strata/tables')
    """

    __slots__ = ()

    def __str__(self) -> str:
        text = super().__str__()
        return f"{SCHEME}//{text[len(SCHEME) + 1 :]}" if text.startswith(f"{SCHEME}/") else text

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return self.parts[1]

    @property
    def key(self) -> str:
        """The key in the bucket."""
        return "/".join(self.parts[2:])


class Objects(Protocol):
    """The requests to an object store, strongly consistent. What it refuses is raised as `obstore` does."""

    def put(self, key: str, content: bytes | memoryview) -> None:
        """Writes an object whole, or not at all."""
        ...

    def create(self, key: str, content: bytes) -> None:
        """Writes an object under the condition that there is none; `AlreadyExistsError`."""
        ...

    def upload(self, key: str, source: Path) -> None:
        """Writes a local file, in pieces where it is large."""
        ...

    def get(self, key: str) -> Iterable[bytes | memoryview]:
        """The content of an object, in pieces; `FileNotFoundError`."""
        ...

    def size(self, key: str) -> int:
        """Bytes of an object; `FileNotFoundError`."""
        ...

    def keys(self, prefix: str, after: str) -> Iterator[str]:
        """The keys below the folder `prefix` that sort after the key `after`, in their order."""
        ...

    def names(self, prefix: str) -> Iterable[str]:
        """The keys, and the folders, directly inside the folder `prefix`."""
        ...

    def delete(self, key: str) -> None:
        """Removes an object, if it is there."""
        ...


@dataclass(frozen=True, slots=True)
class BucketFiles:
    """A bucket as a place for the store's files; `place` names it in messages."""

    objects: Objects
    copies: PartCache
    place: str = "the bucket"
    part_source: bool = True
    at_once: int = 16

    def names(self, folder: PurePath, after: str = "") -> tuple[str, ...]:
        """See `Files`."""
        prefix = _key(folder)
        with self._at(folder, "list"):
            if not after:
                return tuple(sorted({key.rpartition("/")[2] for key in self.objects.names(prefix)}))
            keys = self.objects.keys(prefix, f"{prefix}/{after}")
            found = {key[len(prefix) + 1 :].partition("/")[0] for key in keys}
            return tuple(sorted(name for name in found if name > after))

    def below(self, folder: PurePath) -> Iterator[PurePath]:
        """See `Files`."""
        prefix = _key(folder)
        with self._at(folder, "list"):
            yield from (folder / key[len(prefix) + 1 :] for key in self.objects.keys(prefix, ""))

    def read(self, path: PurePath) -> bytes | None:
        """See `Files`."""
        with self._at(path, "read"):
            try:
                return b"".join(self.objects.get(_key(path)))
            except FileNotFoundError as cause:
                bucket_faults.require_bucket(cause, path)
                return None

    def size(self, path: PurePath) -> int | None:
        """See `Files`."""
        with self._at(path, "look at"):
            try:
                return self.objects.size(_key(path))
            except FileNotFoundError as cause:
                bucket_faults.require_bucket(cause, path)
                return None

    def exists(self, path: PurePath) -> bool:
        """See `Files`."""
        return self.size(path) is not None

    def create(self, path: PurePath, content: bytes) -> bool:
        """See `Files`. What was tried before may still arrive, so the same content is tried again: it is ours then."""
        from obstore.exceptions import AlreadyExistsError, BaseError

        key, pause = _key(path), 0.05
        for _ in range(CREATE_TRIES):
            try:
                self.objects.create(key, content)
                return True
            except AlreadyExistsError:
                return False
            except (BaseError, OSError) as cause:
                if not bucket_faults.is_unclear(cause):
                    raise bucket_faults.unusable(path, "create", cause, self.place) from None
                last = cause
            with suppress(StrataError):
                if (found := self.read(path)) is not None:
                    return found == content
            time.sleep(pause)
            pause *= 2
        raise UnclearError(*bucket_faults.unclear(path, last, self.place).diagnostics) from None

    def put(self, path: PurePath, content: bytes | memoryview) -> None:
        """See `Files`."""
        with self._at(path, "write"):
            self.objects.put(_key(path), content)

    @contextmanager
    def writing(self, path: PurePath) -> Iterator[BinaryIO]:
        """See `Files`. It is held in memory: parts are small, and what is sent whole is there whole or not at all."""
        held = io.BytesIO()
        yield held
        self.put(path, held.getbuffer())

    def prepare(self, folder: PurePath, durable: PurePath | None = None) -> None:
        """See `Files`. A bucket has no folders."""

    def settle(self, folder: PurePath) -> None:
        """See `Files`. What a bucket has acknowledged is durable."""

    def open(self, path: PurePath, part: Part | None = None) -> pa.NativeFile:
        """See `Files`."""
        import pyarrow as pa

        if part is not None:
            return pa.OSFile(str(self.fetch(path, part)), "rb")
        content = self.read(path)
        if content is None:
            raise FileNotFoundError(str(path))
        return pa.BufferReader(content)

    def fetch(self, path: PurePath, part: Part) -> Path:
        """See `Files`."""
        if (found := self.copies.find(part)) is not None:
            return found
        with self._at(path, "read"):
            return self.copies.keep(path, part, self.objects.get(_key(path)))

    def remove(self, path: PurePath) -> None:
        """See `Files`."""
        with self._at(path, "remove"):
            self.objects.delete(_key(path))

    def publish(self, staged: Path, target: PurePath, described: Manifest) -> Manifest | None:
        """See `Files`. The manifest is created last. Two who publish the same rows may have encoded them otherwise:
        a part's name tells its content, so that neither writes over what the other's manifest lists."""
        own = [part for part in described.parts if part.artifact is None]
        for part in own:
            with self._at(target / _named(part), "write"):
                self.objects.upload(_key(target / _named(part)), staged / part.path)
        parts = (part if part.artifact is not None else replace(part, path=_named(part)) for part in described.parts)
        renamed = replace(described, parts=tuple(parts))
        if not self.create(target / manifest.NAME, manifest.encode(renamed)):
            return None
        for part in own:
            self.copies.take(part, staged / part.path)
        disk.remove_directory(staged)
        return renamed

    def touch(self, target: PurePath) -> bool:
        """See `Files`."""
        return self.exists(target / manifest.NAME)

    def clear(self, target: PurePath, grave: Path) -> None:
        """See `Files`. Parts are written anew under their names."""
        self.remove(target / manifest.NAME)

    @contextmanager
    def _at(self, path: PurePath, doing: str) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except FileNotFoundError as cause:
            bucket_faults.require_bucket(cause, path)
            raise
        except (BaseError, OSError) as cause:
            raise bucket_faults.unusable(path, doing, cause, self.place) from None


def _key(path: PurePath) -> str:
    assert isinstance(path, BucketPath)
    return path.key


def _named(part: Part) -> str:
    stem, dot, ending = part.path.rpartition(".")
    return f"{stem}-{part.sha256[:16]}{dot}{ending}"
