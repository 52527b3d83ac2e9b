"""Trees of files that contracts are discovered in: a folder on disk, and nothing outside of it.

A tree names its files relative to its root, with `/`, and reads them. What git ignores is not in it, unless it is named
itself; symbolic links that leave the tree, or lead in circles, are findings.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..diagnostics import Diagnostic, Report, Severity, Span
from ..diagnostics.render import printable
from ..frozen import dataclass, field
from ..regular_files import read_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NEVER = frozenset({".git", ".venv", ".strata", ".dagster", ".generated", "node_modules", "__pycache__", "dbt_packages"})
"""Folders that hold nothing that a person wrote here."""
_BLOCK = 1 << 20


class Left(Enum):
    """Why what lies at a path is not among the files."""

    IGNORED_FILE = "git ignores it"
    IGNORED_FOLDER = "git ignores all of it"
    FOLDER = "it is a folder"
    SPECIAL = "it is neither a file nor a folder"


LeftOut = Callable[[str, Left], None]
"""What is told of a path that is left out; of a folder too whose files are not."""


class Tree(Protocol):
    """Files by their paths."""

    def below(self, folder: str, report: Report, left_out: LeftOut | None = None) -> Iterator[str]:
        """The paths of the files in `folder`, in order; none where there is no such folder. `left_out` is told what is
        not among them."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at `path`."""
        ...

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`."""
        ...

    def read(self, path: str) -> bytes:
        """The content of a file; raises `OSError`."""
        ...

    def digest(self, path: str) -> str:
        """What tells a file's content from any other: SHA-256 in hexadecimal digits; raises `OSError`."""
        ...

    def measured(self, path: str) -> tuple[str, int]:
        """The digest of a file and its number of bytes, in one look; raises `OSError`."""
        ...

    def local(self, path: str) -> Path | None:
        """Where the file lies on disk, for what is too large to be read at once; None where it does not."""
        ...


@dataclass(frozen=True, slots=True)
class FolderTree:
    """The tree of a folder. Where `visited` is given, the folders that are looked into are noted in it."""

    root: Path
    visited: list[str] | None = field(default=None, compare=False, repr=False)

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at `path`."""
        return (self.root / path).exists()

    def is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`."""
        return (self.root / path).is_dir()

    def read(self, path: str) -> bytes:
        """The content of a file."""
        return read_regular(self.root / path)

    def digest(self, path: str) -> str:
        """SHA-256 of a file, read in blocks."""
        return self.measured(path)[0]

    def measured(self, path: str) -> tuple[str, int]:
        """SHA-256 of a file and its number of bytes. Thousands are looked at each time: one call opens, one reads."""
        # Who opens a pipe waits for somebody to write into it, unless it says that it does not.
        file = os.open(self._place(path), os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(Left.FOLDER.value if stat.S_ISDIR(status.st_mode) else Left.SPECIAL.value)
            size, count = status.st_size, 0
            sha = hashlib.sha256()
            while count < size and (block := os.read(file, min(size - count, _BLOCK))):
                sha.update(block)
                count += len(block)
        finally:
            os.close(file)
        return sha.hexdigest(), count

    def local(self, path: str) -> Path | None:
        """Where the file lies."""
        return self.root / path

    def _place(self, path: str) -> str:
        # A `Path` costs as much as to read a small file.
        return f"{self.root}/{path}"

    def below(self, folder: str, report: Report, left_out: LeftOut | None = None) -> Iterator[str]:
        """The files in `folder`, sorted, without what git ignores. E109 for links that are not followed."""
        start = self.root / folder
        if not start.is_dir():
            return
        ignores = list(_ignores_above(self.root, folder))
        yield from self._walk(folder.rstrip("/") if folder != "." else "", ignores, report, left_out)

    def _walk(self, folder: str, ignores: list[_Ignores], report: Report, left_out: LeftOut | None) -> Iterator[str]:
        here = self._place(folder)
        if self.visited is not None:
            self.visited.append(folder)
        try:
            with os.scandir(here) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            report(_unreadable(folder, error))
            return
        found = _ignores_of(here, folder) if any(entry.name == ".gitignore" for entry in listed) else None
        inside = [*ignores, found] if found else ignores
        for entry in listed:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if not _is_text(entry.name):
                message = f"the name `{printable(entry.name)}` is no UTF-8: it is not looked at"
                place = Span(folder or ".", 1, 1, 1, 1)
                report(Diagnostic("E100", message, place, Severity.WARNING, fix="give it another name"))
                continue
            if entry.is_symlink() and not _stays(entry, self.root, path, report, left_out):
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name in NEVER:
                    continue
                ignored = _ignored(f"{path}/", inside)
                if left_out is not None:
                    left_out(path, Left.IGNORED_FOLDER if ignored else Left.FOLDER)
                if not ignored:
                    yield from self._walk(path, inside, report, left_out)
            elif not _ignored(path, inside):
                if entry.is_file():
                    yield path
                elif left_out is not None:
                    left_out(path, Left.SPECIAL)
            elif left_out is not None:
                left_out(path, Left.IGNORED_FILE)


def _is_text(name: str) -> bool:
    """Whether a name of the file system is text: what is none can be told in no format."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stays(entry: os.DirEntry[str], root: Path, path: str, report: Report, left_out: LeftOut | None) -> bool:
    """Whether a symbolic link is one to what is no folder inside the tree."""
    try:
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError):
        report(_link(path, "leads nowhere or in a circle"))
        return False
    if not target.is_relative_to(root.resolve()):
        report(_link(path, "leaves the project"))
        return False
    if target.is_dir():
        if Path(entry.path).parent.resolve().is_relative_to(target):
            report(_link(path, "leads in a circle"))
        elif left_out is not None:
            left_out(path, Left.FOLDER)
        return False
    return True


def _link(path: str, what: str) -> Diagnostic:
    fix = "put a copy there, or name the folder that is meant in `[contract_engine] scan`"
    message = f"the symbolic link {what}: it is not followed"
    return Diagnostic("E109", message, Span(path, 1, 1, 1, 1), Severity.WARNING, fix=fix)


def _unreadable(path: str, error: OSError) -> Diagnostic:
    message = f"the folder cannot be read: {error.strerror}"
    return Diagnostic("E100", message, Span(path, 1, 1, 1, 1), fix="give leave to read it, or leave it out of `scan`")


@dataclass(frozen=True, slots=True)
class _Ignores:
    """A `.gitignore` of a folder of the tree, or of one around it: then `above` leads from there to the tree's root."""

    folder: str
    above: str
    spec: GitIgnoreSpec


def _ignores_of(folder: Path | str, path: str) -> _Ignores | None:
    try:
        text = read_regular(Path(f"{folder}/.gitignore")).decode("utf-8", errors="replace")
    except OSError:
        return None
    from pathspec import GitIgnoreSpec  # where nothing is ignored it is not needed

    return _Ignores(f"{path}/" if path else "", "", GitIgnoreSpec.from_lines(text.splitlines()))


def _ignores_above(root: Path, folder: str) -> Iterator[_Ignores]:
    """The `.gitignore` files of the folders that lead to `folder`, from the repository's root on."""
    parts = [] if folder == "." else folder.strip("/").split("/")
    above = []
    for parent in root.resolve().parents if not (root / ".git").exists() else ():
        above.append(parent)
        if (parent / ".git").exists():
            break
    else:
        above = []
    for parent in reversed(above):
        found = _ignores_of(parent, "")
        if found:
            yield _Ignores("", f"{root.resolve().relative_to(parent).as_posix()}/", found.spec)
    for depth in range(len(parts)):
        found = _ignores_of(root.joinpath(*parts[:depth]), "/".join(parts[:depth]))
        if found:
            yield found


def _ignored(path: str, ignores: list[_Ignores]) -> bool:
    """Whether git ignores `path`: the deepest file that says anything of it counts."""
    for one in reversed(ignores):
        said = one.spec.check_file(one.above + path[len(one.folder) :]).include
        if said is not None:
            return said
    return False
