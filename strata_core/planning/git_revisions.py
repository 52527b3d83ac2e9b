"""Projects as they stood at Git revisions, read without a checkout: of a bare clone, and beside a dirty tree.

Raises `StrataError` E034 for what is no revision or holds no project, and E073 for a `strata.toml` that is not valid.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..diagnostics import Diagnostic, StrataError
from .config import CONFIG_NAME, ProjectConfig, find_project, parse_config
from .git import Repository, Tree, commit_of, contents, merge_base, open_repository, tree_of
from .project import IGNORED_FOLDERS, SUFFIX, Project, open_project, project_of
from .texts import SourceText

WORKING_TREE = "the working tree"
_RANGE = re.compile(r"(?P<base>.*?)(?P<dots>\.\.\.?)(?P<head>.*)")


@dataclass(frozen=True, slots=True)
class GitRevision:
    """A project at a revision; `name` is what people call it, `commit` is empty for the working tree."""

    name: str
    commit: str
    project: Project


@dataclass(frozen=True, slots=True)
class Range:
    """Two sides of a comparison: a revision's name and its commit, `after` None for the working tree. `prefix` is the
    project's folder inside the trees, None where each tree must tell (a bare repository)."""

    repository: Repository
    prefix: str | None
    before: tuple[str, str]
    after: tuple[str, str] | None


def read_range(written: str, folder: Path) -> Range:
    """The two sides of `base..head`. `base...head` starts where head branched off; without a head, or with `base`
    alone, the other side is the working tree."""
    match = _RANGE.fullmatch(written)
    base, dots, head = (match["base"], match["dots"], match["head"]) if match else (written, "..", "")
    if not folder.is_dir():
        folder = folder.parent
    repository = open_repository(folder)
    prefix = _prefix(repository, folder)
    first = commit_of(repository, base or "HEAD")
    second = commit_of(repository, head) if head else None
    if second is None and repository.bare:
        fix = f"name both sides: `{base or 'HEAD'}..BRANCH`"
        raise StrataError(Diagnostic("E034", "a bare repository has no working tree", fix=fix))
    if dots == "...":
        first = merge_base(repository, first, second or commit_of(repository, "HEAD"))
    return Range(repository, prefix, (base or "HEAD", first), (head, second) if second else None)


def open_range(written: str, folder: Path) -> tuple[GitRevision, GitRevision]:
    """The projects on both sides of a range, written as in `read_range`."""
    sides = read_range(written, folder)
    if sides.after is not None:
        after = _at(sides.repository, sides.prefix, *sides.after)
    else:
        after = GitRevision(WORKING_TREE, "", open_project(project=folder if folder.is_dir() else folder.parent))
    return _at(sides.repository, sides.prefix, *sides.before), after


def _prefix(repository: Repository, folder: Path) -> str | None:
    """The project's folder inside the tree, empty or ending with `/`; `None` where the tree itself must tell."""
    if repository.bare:
        return None
    root = find_project(folder)
    if root is None or not folder.resolve().is_relative_to(root):
        return repository.prefix
    above = len(folder.resolve().relative_to(root).parts)
    parts = repository.prefix.rstrip("/").split("/") if repository.prefix else []
    if above > len(parts):
        return ""
    kept = parts[: len(parts) - above]
    return "".join(f"{part}/" for part in kept)


def _at(repository: Repository, prefix: str | None, name: str, commit: str) -> GitRevision:
    tree = tree_of(repository, commit)
    if prefix is None:
        prefix = _only_project(tree, name)
    config = _config(repository, tree, prefix, name)
    return GitRevision(name, commit, project_of(repository.folder, config, TreeFiles(repository, tree, prefix)))


def _only_project(tree: Tree, name: str) -> str:
    """The folder of the one `strata.toml` in the tree, or the top where there are models and none."""
    found = [path.removesuffix(CONFIG_NAME) for path in tree.files if posixpath.basename(path) == CONFIG_NAME]
    if "" in found or not found:
        return ""
    if len(found) > 1:
        message = f"`{name}` holds several projects: {', '.join(sorted(found))}"
        raise StrataError(Diagnostic("E034", message, fix="compare in a clone with files, inside one of them"))
    return found[0]


def _config(repository: Repository, tree: Tree, prefix: str, name: str) -> ProjectConfig:
    path = prefix + CONFIG_NAME
    if path in tree.files:
        text = contents(repository, tree, [path]).get(path, b"").decode("utf-8", errors="replace")
        return parse_config(text, repository.folder)
    if any(p.startswith(prefix) and p.endswith(SUFFIX) for p in tree.files):
        return ProjectConfig(name=repository.folder.resolve().name or "strata", models=(".",))
    where = f"`{prefix.rstrip('/')}` of `{name}`" if prefix else f"`{name}`"
    message = f"there is no project at {where}: neither a `{CONFIG_NAME}` nor a `{SUFFIX}` file"
    raise StrataError(Diagnostic("E034", message, fix="compare with a revision that has the project"))


@dataclass(frozen=True, slots=True)
class TreeFiles:
    """The files of a project whose folder is `prefix` in the tree of a revision."""

    repository: Repository
    tree: Tree
    prefix: str

    def modules(self, entry: str) -> Sequence[SourceText] | None:
        """As `project.Files`."""
        place = posixpath.normpath(posixpath.join("/", self.prefix, entry)).lstrip("/")
        files = self.tree.files
        if place in files:
            paths = [place]
        else:
            below = f"{place}/" if place else ""
            inside = [path for path in files if path.startswith(below)]
            if not inside:
                return None
            modules = (p for p in inside if p.endswith(SUFFIX) and not _ignored(p[len(below) :]))
            paths = sorted(modules, key=PurePosixPath)
        read = contents(self.repository, self.tree, paths)
        return [SourceText(posixpath.relpath(p, self.prefix or "."), read[p]) for p in paths if p in read]


def _ignored(path: str) -> bool:
    return not IGNORED_FOLDERS.isdisjoint(path.split("/")[:-1])
