"""A project: its configuration and the text of its modules; and its compilation, kept by content.

Paths inside a `Project` are relative to its root and written with `/`, as they stand in diagnostics.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from ..analysis import CompiledProject, compile_project
from ..diagnostics import Diagnostic, StrataError, in_order
from ..language.ast import Module
from . import cache
from .config import ProjectConfig, find_project, read_config

SUFFIX = ".strata"
IGNORED_FOLDERS = frozenset({".git", ".venv", ".strata", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SourceText:
    """One module's text as bytes, under the path shown to people."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Project:
    """What a compilation reads. `root` is the folder that paths and the store are relative to."""

    root: Path
    config: ProjectConfig
    files: tuple[SourceText, ...]

    def line_source(self, path: str) -> str | None:
        """The text of a module for showing it, bytes that are no UTF-8 replaced."""
        for file in self.files:
            if file.path == path:
                return file.content.decode("utf-8", errors="replace")
        return None

    @property
    def store_root(self) -> Path:
        """Where the store lies."""
        return self.root / self.config.store_root


def open_project(path: Path | None = None, *, project: Path | None = None) -> Project:
    """The project that a command means.

    `project` is the folder given with `--project`; `path` a `.strata` file or folder given to the command: one
    below no `strata.toml` is a project of its own. Raises `StrataError` E073 or E002.
    """
    if project is not None:
        if not project.is_dir():
            raise StrataError(Diagnostic("E073", f"there is no folder `{project}`", fix="give the project's folder"))
        return read_project(project)
    start = path if path is not None else Path.cwd()
    if not start.exists():
        raise StrataError(Diagnostic("E002", f"there is no file or folder `{start}`"))
    root = find_project(start if start.is_dir() else start.parent)
    if start.is_file() and (root is None or not _belongs(start, root)):
        folder = start.resolve().parent
        config = ProjectConfig(name=start.stem, models=(start.name,))
        return Project(folder, config, (_read(folder, start.resolve()),))
    if root is None and not any(_modules(start)):
        raise StrataError(
            Diagnostic(
                "E073",
                f"`{start}` holds no `strata.toml` and no `{SUFFIX}` file",
                fix="run inside a project, or give `--project DIR` or a file",
            )
        )
    return read_project(root) if root is not None else _folder(start)


def read_project(root: Path) -> Project:
    """The project in `root`; raises `StrataError`."""
    root = root.resolve()
    config = read_config(root)
    files: dict[Path, SourceText] = {}
    for entry in config.models:
        location = root / entry
        if location.is_file():
            files[location] = _read(root, location)
        elif location.is_dir():
            files.update((path, _read(root, path)) for path in _modules(location))
        elif entry != "models":
            raise StrataError(
                Diagnostic("E073", f"`{entry}` is neither a file nor a folder", field_path="project.models")
            )
    return Project(root, config, tuple(files.values()))


def compile_(project: Project) -> CompiledProject:
    """The compiled project. Unchanged text is neither parsed nor checked again (`planning.cache`)."""
    key = cache.content_key("project", *content_parts(project))
    compiled = cache.load(key)
    if isinstance(compiled, CompiledProject):
        return compiled
    modules: list[Module] = []
    problems: list[Diagnostic] = []
    for file in project.files:
        module, diagnostics = _parse(file)
        modules.append(module)
        problems += diagnostics
    compiled = compile_project(modules)
    compiled = replace(compiled, diagnostics=in_order((*problems, *compiled.diagnostics)))
    cache.save(key, compiled)
    return compiled


def content_parts(project: Project) -> tuple[bytes, ...]:
    """What identifies the project's text: the path and the digest of each file."""
    return tuple(part for file in project.files for part in _parts(file))


def _parts(file: SourceText) -> tuple[bytes, bytes]:
    return file.path.encode(), hashlib.sha256(file.content).digest()


def _parse(file: SourceText) -> tuple[Module, tuple[Diagnostic, ...]]:
    key = cache.content_key("module", *_parts(file))
    parsed = cache.load(key)
    if not isinstance(parsed, tuple):
        from ..language.parser import parse_bytes  # loads the parser only where something is to be parsed

        result = parse_bytes(file.content, file.path)
        parsed = (result.module, result.diagnostics)
        cache.save(key, parsed)
    return parsed


def _folder(folder: Path) -> Project:
    root = folder.resolve()
    config = ProjectConfig(name=root.name or "strata", models=(".",))
    return Project(root, config, tuple(_read(root, path) for path in _modules(root)))


def _belongs(file: Path, root: Path) -> bool:
    resolved = file.resolve()
    return any(resolved == (root / m).resolve() or (root / m).resolve() in resolved.parents for m in _roots(root))


def _roots(root: Path) -> tuple[str, ...]:
    return read_config(root).models


def _modules(folder: Path) -> list[Path]:
    """The modules below a folder, in order of their paths; links that leave it are not followed."""
    found = []
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in IGNORED_FOLDERS)
        found += [Path(directory) / n for n in names if n.endswith(SUFFIX)]
    return sorted(found)


def _read(root: Path, path: Path) -> SourceText:
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    try:
        return SourceText(shown, path.read_bytes())
    except OSError as error:
        raise StrataError(Diagnostic("E002", f"`{shown}` cannot be read: {error.strerror}")) from None
