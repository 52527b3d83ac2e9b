"""A project: its configuration and the text of its modules; and its compilation, kept by content.

Paths inside a `Project` are relative to its root and written with `/`, as they stand in diagnostics.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnostics import Diagnostic, StrataError, in_order
from ..digests import checksum
from ..frozen import dataclass, replace
from ..regular_files import read_regular
from . import cache
from .config import CONFIG_NAME, CONTRACT_FILE, ProjectConfig, config_fault, find_project, read_config
from .imported import with_imported
from .lints import ruled
from .texts import Files, SourceText

if TYPE_CHECKING:  # the compiler, which an unchanged project does not need
    from ..analysis.compiled import CompiledProject
    from ..language.ast import Module
    from ..store.store import Store

SUFFIX = ".strata"
IGNORED_FOLDERS = frozenset({".git", ".venv", ".strata", "node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Project:
    """What a compilation reads. `root` is the folder that paths and the store are relative to."""

    root: Path
    config: ProjectConfig
    files: tuple[SourceText, ...]

    def line_source(self, path: str) -> str | None:
        """The text of a module, of `strata.toml` or of a contract for showing it, bytes that are no UTF-8 replaced."""
        found = [file.content for file in self.files if file.path == path]
        if not found and (self.root / path).is_file():
            found = [_read(self.root, self.root / path).content]
        return found[0].decode("utf-8", errors="replace") if found else None

    @property
    def store(self) -> Store:
        """The project's store, not looked at yet; raises `StrataError` E092 for a URL that names none."""
        from .stores import store_of

        return store_of(self.root, self.config)


def open_project(path: Path | None = None, *, project: Path | None = None) -> Project:
    """The project that a command means.

    `project` is what was given with `--project`: a folder, or a file as `path`. `path` is a `.strata` file or folder
    given to the command: one below no `strata.toml` is a project of its own. Raises `StrataError` E073 or E002.
    """
    if project is not None and not project.is_file():
        if not project.is_dir():
            raise StrataError(Diagnostic("E073", f"there is no folder `{project}`", fix="give the project's folder"))
        return read_project(project) if (project / CONFIG_NAME).is_file() else _folder(project)
    start = project or path or Path.cwd()
    if not start.exists():
        raise StrataError(Diagnostic("E002", f"there is no file or folder `{start}`"))
    if start.is_file() and start.suffix != SUFFIX:
        fix = f"give its folder, `{start.parent}`" if start.name == CONFIG_NAME else "give a module or a folder"
        raise StrataError(Diagnostic("E073", f"`{start}` is no `{SUFFIX}` file", fix=fix))
    root = find_project(start if start.is_dir() else start.parent)
    if start.is_file() and (root is None or not _belongs(start, root)):
        return _single(start)
    return read_project(root) if root is not None else _folder(start)


def read_project(root: Path) -> Project:
    """The project of the `strata.toml` in `root`; raises `StrataError`. One of contracts alone has no model."""
    root = root.resolve()
    config = read_config(root)
    if _has_contracts(root, config) and not _has_modules(root, config):
        return Project(root, config, ())
    return project_of(root, config, DiskFiles(root))


def _has_contracts(root: Path, config: ProjectConfig) -> bool:
    return any(next((root / folder).rglob(CONTRACT_FILE), None) for folder in config.contracts)


def _has_modules(root: Path, config: ProjectConfig) -> bool:
    return any((root / entry).is_file() or module_paths(root / entry) for entry in config.models)


@dataclass(frozen=True, slots=True)
class DiskFiles:
    """The files of a project's folder."""

    root: Path

    def modules(self, entry: str) -> Sequence[SourceText] | None:
        """As `Files`; raises `StrataError` E002 where a file cannot be read."""
        location = self.root / entry
        if location.is_file():
            return [_read(self.root, location)]
        return [_read(self.root, path) for path in module_paths(location)] if location.is_dir() else None


def project_of(root: Path, config: ProjectConfig, files: Files) -> Project:
    """The project of `config` whose modules are read from `files`; raises `StrataError` E073."""
    found: dict[str, SourceText] = {}
    for entry in config.models:
        modules = files.modules(entry)
        if modules is None:
            message = f"`{entry}` is neither a file nor a folder"
            fix = 'create it, or list files and folders: `models = ["."]` in `[project]` is this folder'
            raise StrataError(config_fault(root, "project.models", message, fix))
        found.update((module.path, module) for module in modules)
    if not found:
        message = f"the project `{config.name}` has no model: no `{SUFFIX}` file lies in {', '.join(config.models)}"
        raise StrataError(config_fault(root, "project.models", message, "write one, or set `[project] models`"))
    return Project(root, config, with_imported(tuple(found.values()), config.models, files))


def compile_(project: Project) -> CompiledProject:
    """The compiled project. Unchanged text is neither parsed nor checked again (`planning/cache.py`)."""
    if (kept := kept_compilation(project)) is not None:
        return kept
    from ..analysis.project import compile_project  # its passes load only where something is to be compiled

    modules: list[Module] = []
    problems: list[Diagnostic] = []
    with cache.uncollected():
        for file in project.files:
            module, diagnostics = _parse(file)
            modules.append(module)
            problems += diagnostics
        compiled = compile_project(modules)
        found = in_order((*problems, *compiled.diagnostics))
        compiled = replace(compiled, diagnostics=ruled(found, project.files, project.config.lint))
        cache.save(_key(project), compiled)
    return compiled


def kept_compilation(project: Project) -> CompiledProject | None:
    """What `compile_` kept of a project with the same text."""
    from ..analysis.compiled import CompiledProject

    kept = cache.load(_key(project))
    return kept if isinstance(kept, CompiledProject) else None


def _key(project: Project) -> str:
    return cache.content_key("project", *content_parts(project))


def compile_sound(project: Project) -> CompiledProject:
    """The compiled project; raises `StrataError` with every error that it has."""
    compiled = compile_(project)
    if errors := [d for d in compiled.diagnostics if d.blocks]:
        raise StrataError(*errors)
    return compiled


def content_parts(project: Project) -> tuple[bytes, ...]:
    """What identifies a compilation: the path and the digest of each file, and what is said about lints."""
    lint = repr(sorted(project.config.lint.items())).encode()
    return (lint, *(part for file in project.files for part in _parts(file)))


def _parts(file: SourceText) -> tuple[bytes, bytes]:
    return file.path.encode(), checksum(file.content, 32)


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
    """A folder without `strata.toml`; E073 where it holds no module and no contract."""
    root = folder.resolve()
    files = tuple(_read(root, path) for path in module_paths(root))
    config = ProjectConfig(name=root.name or "strata", models=(".",))
    if not files and not _has_contracts(root, config):
        message = f"`{folder}` holds no `{CONFIG_NAME}` and no `{SUFFIX}` file"
        raise StrataError(Diagnostic("E073", message, fix="run inside a project, or give `--project DIR` or a file"))
    return Project(root, config, files)


def _single(file: Path) -> Project:
    folder = file.resolve().parent
    config = ProjectConfig(name=file.stem, models=(file.name,))
    return Project(folder, config, with_imported((_read(folder, file.resolve()),), (".",), DiskFiles(folder)))


def _belongs(file: Path, root: Path) -> bool:
    resolved = file.resolve()
    return any(resolved == (root / m).resolve() or (root / m).resolve() in resolved.parents for m in _roots(root))


def _roots(root: Path) -> tuple[str, ...]:
    return read_config(root).models


def module_paths(folder: Path) -> list[Path]:
    """The modules below a folder, in order of their paths; links that leave it are not followed."""
    found = []
    for directory, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in IGNORED_FOLDERS)
        found += [Path(directory) / n for n in names if n.endswith(SUFFIX)]
    return sorted(found)


def _read(root: Path, path: Path) -> SourceText:
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
    try:
        return SourceText(shown, read_regular(path))
    except OSError as error:
        raise StrataError(Diagnostic("E002", f"`{shown}` cannot be read: {error.strerror}")) from None
