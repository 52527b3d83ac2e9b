"""The projects of an editor: which file belongs to which, read from disk under the texts that are open."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pygls.uris import from_fs_path, to_fs_path

from ..analysis.editing.index import Index
from ..diagnostics import Diagnostic, StrataError
from ..planning.config import CONFIG_NAME, ProjectConfig, find_project, read_config
from ..planning.kept.revisions import Revision, first_revision, revised
from ..planning.project import IGNORED_FOLDERS, SUFFIX, Project, module_paths, read_project
from ..planning.texts import SourceText
from ..regular_files import read_regular
from .state import State, relative
from .text import Text

MOST_FOLDERS = 2000
"""A workspace folder without `strata.toml` that holds more folders than this is taken for no project."""


@dataclass(frozen=True, slots=True)
class Home:
    """Which project a document belongs to: that of a folder, or one of its own (`alone`)."""

    root: Path
    alone: str | None = None


def path_of(uri: str) -> Path | None:
    """The file behind a URI; None where it is none on this machine (`untitled:…`)."""
    if urlsplit(uri).scheme != "file":
        return None
    found = to_fs_path(uri)
    return Path(found) if found and "\0" not in found else None


def home_of(uri: str, folders: Iterable[Path]) -> Home:
    """The project of a document: that of the `strata.toml` above it, if the file is among its modules; else the
    workspace folder that it lies in, as `strata check` takes a folder; else one of its own."""
    path = path_of(uri)
    if path is None:
        return Home(Path.cwd(), uri)
    path = Path(os.path.abspath(path))
    root = find_project(path.parent) if path.parent.is_dir() else None
    if root is not None:
        root = root.resolve()
        return Home(root) if _belongs(path, root) else Home(path.parent, uri)
    inside = [folder for folder in folders if path.is_relative_to(folder)]
    innermost = max(inside, key=lambda folder: len(folder.parts), default=None)
    if innermost is not None and _is_small(innermost):
        return Home(innermost)
    return Home(path.parent, uri)


def _belongs(path: Path, root: Path) -> bool:
    try:
        models = read_config(root).models
    except StrataError:
        return True
    resolved = path.resolve()
    return any(resolved.is_relative_to((root / entry).resolve()) for entry in models)


@lru_cache(maxsize=64)
def _is_small(folder: Path) -> bool:
    for count, (_, folders, _) in enumerate(os.walk(folder)):
        folders[:] = [f for f in folders if f not in IGNORED_FOLDERS]
        if count > MOST_FOLDERS:
            return False
    return True


@dataclass(slots=True)
class EditedProject:
    """A project with the texts that are open in it. `open_` has them by path, `uris` what the editor calls them."""

    home: Home
    encoding: str
    open_: dict[str, Text] = field(default_factory=dict)
    uris: dict[str, str] = field(default_factory=dict)
    pending: dict[str, Text | None] = field(default_factory=dict)
    faults: tuple[Diagnostic, ...] = ()
    """What is wrong with the configuration, whose text it was found in is `config`."""
    lacking: tuple[Diagnostic, ...] = ()
    """What says that there is no module: it holds as long as none is open."""
    config: bytes = b""
    state: State | None = None
    stale: bool = True
    failed: bool = False
    published: frozenset[str] = frozenset()
    read: dict[str, tuple[bytes, Text]] = field(default_factory=dict)

    def path(self, uri: str) -> str:
        """The path of a document as spans name it."""
        if self.home.alone is not None:
            file = path_of(uri)
            return file.name if file is not None else uri
        file = path_of(uri)
        assert file is not None
        file = Path(os.path.abspath(file))
        # The editor may know the folder by another name, through a link.
        return relative(file if file.is_relative_to(self.home.root) else file.resolve(), self.home.root)

    def uri(self, path: str) -> str:
        """What the editor calls a file."""
        known = self.uris.get(path)
        if known is not None:
            return known
        return from_fs_path(str(self.home.root / path)) or path

    @property
    def config_uri(self) -> str:
        """The `strata.toml` of the project."""
        return self.uri(CONFIG_NAME)

    def written(self, uri: str, text: Text) -> None:
        """A document was opened or changed."""
        path = self.path(uri)
        self.uris[path] = uri
        self.open_[path] = self.pending[path] = text

    def closed(self, uri: str) -> None:
        """A document was closed: what is on disk counts."""
        path = self.path(uri)
        self.open_.pop(path, None)
        self.uris.pop(path, None)
        self.pending[path] = self._on_disk(path)

    def moved(self, path: str) -> None:
        """A file was changed, made or deleted on disk. What is open counts more."""
        if path not in self.open_:
            self.pending[path] = self._on_disk(path)

    def look(self) -> None:
        """Look for files that are gone: who deletes a folder need not tell of what was in it."""
        files = self.state.revision.project.files if self.state is not None and self.home.alone is None else ()
        for file in files:
            if not (self.home.root / file.path).is_file():
                self.moved(file.path)

    def reread(self) -> None:
        """The configuration changed, or files may have."""
        self.stale = True

    def forget(self) -> None:
        """Start afresh with the next edit: something went wrong. What is known so far still answers."""
        self.failed = True

    @property
    def unsettled(self) -> bool:
        """Whether something happened since `state`."""
        return self.stale or bool(self.pending)

    def job(self) -> Callable[[], State]:
        """What makes the state for the texts as they are now; it may run in a thread of its own. The only step that
        takes time. Nothing is unsettled after this call, unless it is said so again."""
        before, pending, opened = self.state, self.pending, dict(self.open_)
        self.pending = {}
        if self.stale or self.failed or before is None:
            self.stale = self.failed = False
            return lambda: self._anew(before, opened)
        edits = {path: None if text is None else text.data for path, text in pending.items()}
        return lambda: self._after(revised(before.revision, edits), before, opened)

    def _anew(self, before: State | None, opened: Mapping[str, Text]) -> State:
        project = self._project(opened)
        revision = first_revision(project)
        # A large project is many objects that stay; the garbage collector need not look at them again and again.
        gc.freeze()
        return self._after(revision, before, opened)

    def _after(self, revision: Revision, before: State | None, opened: Mapping[str, Text]) -> State:
        files = {file.path: file for file in revision.project.files}
        faults = self.faults if files else (*self.faults, *self.lacking)
        if faults:
            files[CONFIG_NAME] = SourceText(CONFIG_NAME, self.config)
        texts = _Texts(files, opened, self.encoding, self.read)
        if before is None:
            return State(revision, texts, self.uri, faults=faults)
        index: Index | None = before.__dict__.get("index", before.before)
        return State(revision, texts, self.uri, index, before.recovered, faults)

    def _on_disk(self, path: str) -> Text | None:
        if self.home.alone is not None and path_of(self.home.alone) is None:
            return None
        file = self.home.root / path
        try:
            return Text.of(read_regular(file), self.encoding) if self._counts(file) else None
        except OSError:
            return None

    def _counts(self, file: Path) -> bool:
        """Whether a file on disk is one of the project's modules."""
        return file.suffix == SUFFIX and not IGNORED_FOLDERS & {*file.relative_to(self.home.root).parts}

    def _project(self, opened: Mapping[str, Text]) -> Project:
        """The project on disk, under what is open."""
        project = self._read()
        files = {file.path: file for file in project.files}
        for path, text in opened.items():
            files[path] = SourceText(path, text.data)
        return Project(project.root, project.config, tuple(files.values()))

    def _read(self) -> Project:
        """The project on disk; sets what is wrong with it."""
        root = self.home.root
        self.faults = self.lacking = ()
        if self.home.alone is not None:
            return Project(root, ProjectConfig(name="file"), ())
        if not (root / CONFIG_NAME).is_file():
            return Project(root, ProjectConfig(name=root.name, models=(".",)), _readable(root, (root,)))
        try:
            return read_project(root)
        except StrataError as error:
            found = error.diagnostics
        self.config = _content(root / CONFIG_NAME)
        try:
            config = read_config(root)
        except StrataError:
            self.faults = found
            config = ProjectConfig(name=root.name)
        project = Project(root, config, _readable(root, [root / entry for entry in config.models]))
        if not self.faults:
            self.faults, self.lacking = (found, ()) if project.files else ((), found)
        return project


def _readable(root: Path, entries: Iterable[Path]) -> tuple[SourceText, ...]:
    """The modules that can be read."""
    found: dict[str, SourceText] = {}
    for entry in entries:
        for path in module_paths(entry) if entry.is_dir() else [entry]:
            try:
                shown = relative(path, root)
                found.setdefault(shown, SourceText(shown, read_regular(path)))
            except OSError:
                continue
    return tuple(found.values())


def _content(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


class _Texts(Mapping[str, Text]):
    """The texts of a revision by path, made when they are asked for."""

    def __init__(
        self,
        files: Mapping[str, SourceText],
        open_: Mapping[str, Text],
        encoding: str,
        read: dict[str, tuple[bytes, Text]],
    ) -> None:
        self._files, self._open, self._encoding, self._read = files, open_, encoding, read

    def __getitem__(self, path: str) -> Text:
        if path in self._open:
            return self._open[path]
        content = self._files[path].content
        kept = self._read.get(path)
        if kept is None or kept[0] is not content:
            kept = self._read[path] = (content, Text.of(content, self._encoding))
        return kept[1]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)
