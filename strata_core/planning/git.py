"""What is read of a Git repository: revisions, trees and the content of files. Nothing is checked out or written.
Whoever asks Git for more asks it here: `run_git`.

Raises `StrataError` E034 where there is no repository, no such revision, or a history that does not reach it.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..diagnostics import Diagnostic, StrataError

_LINK, _FOLDERLIKE = "120000", "160000"
_MOST_LINKS = 8


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, asked from `folder`; `prefix` is that folder's path inside the tree, empty or ending with `/`.

    A `bare` one has no files besides its trees.
    """

    folder: Path
    prefix: str
    bare: bool
    shallow: bool


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of a commit by their paths from the top of the tree: mode and object."""

    commit: str
    files: Mapping[str, tuple[str, str]]


def open_repository(folder: Path) -> Repository:
    """The repository that `folder` is in."""
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository", "--show-prefix")
    done = run_git(folder, "rev-parse", *asked)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        fix = "run inside a clone of the project's repository"
        if "dubious ownership" in said:
            fix = "the folder belongs to another user: `git config --global --add safe.directory FOLDER` trusts it"
        raise StrataError(Diagnostic("E034", f"`{folder}` is in no Git repository", fix=fix, notes=(said,)))
    told = done.stdout.decode(errors="surrogateescape").splitlines()
    bare, inside, shallow, prefix = (*told, "")[:4]  # outside of the files there is no prefix
    return Repository(folder, prefix, bare == "true" or inside == "false", shallow == "true")


def commit_of(repository: Repository, revision: str) -> str:
    """The commit that `revision` (a branch, tag, `HEAD~2`, a commit) names."""
    done = run_git(repository.folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    commit = done.stdout.decode().strip()
    if done.returncode == 0 and commit:
        return commit
    if repository.shallow:
        fix = "this clone is shallow: `git fetch --unshallow` (in CI: fetch-depth 0) brings the rest of the history"
    else:
        fix = "`git branch --all` and `git tag` list what there is; `git fetch` brings what others pushed"
    raise StrataError(Diagnostic("E034", f"there is no revision `{revision}`", fix=fix))


def merge_base(repository: Repository, one: str, other: str) -> str:
    """The commit that two commits branched off from."""
    done = run_git(repository.folder, "merge-base", one, other)
    if done.returncode != 0:
        fix = "compare them directly, with two dots"
        if repository.shallow:
            fix = "this clone is shallow: `git fetch --unshallow` brings the history that they share"
        raise StrataError(Diagnostic("E034", f"`{one[:12]}` and `{other[:12]}` share no commit", fix=fix))
    return done.stdout.decode().strip()


def tree_of(repository: Repository, commit: str) -> Tree:
    """The files of `commit`. Raises `StrataError` E034 where its tree is not in this clone."""
    done = run_git(repository.folder, "ls-tree", "-r", "-z", "--full-tree", commit)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        fix = "`git fetch --refetch` brings what is missing"
        raise StrataError(Diagnostic("E034", f"the tree of `{commit[:12]}` cannot be read", fix=fix, notes=(said,)))
    files: dict[str, tuple[str, str]] = {}
    for entry in done.stdout.decode(errors="surrogateescape").split("\0"):
        if entry:
            told, _, path = entry.partition("\t")
            mode, _, oid = told.split(" ")
            if mode != _FOLDERLIKE:
                files[path] = (mode, oid)
    return Tree(commit, files)


def contents(repository: Repository, tree: Tree, paths: Iterable[str]) -> dict[str, bytes]:
    """The content of files of `tree`. Links are followed inside it; one that leads out of it has no content."""
    found: dict[str, bytes] = {}
    asked = {path: path for path in paths}
    for _ in range(_MOST_LINKS):
        read = _blobs(repository, {tree.files[at][1] for at in asked.values()})
        links: dict[str, str] = {}
        for path, at in asked.items():
            mode, oid = tree.files[at]
            if mode != _LINK:
                found[path] = read[oid]
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(at), os.fsdecode(read[oid])))
            if target in tree.files:
                links[path] = target
        if not links:
            return found
        asked = links
    return found


def _blobs(repository: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    oids = sorted(oids)
    done = run_git(repository.folder, "cat-file", "--batch", given="".join(f"{oid}\n" for oid in oids).encode())
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise StrataError(Diagnostic("E034", "files of a revision cannot be read", notes=(said,)))
    return dict(_parts(done.stdout, oids))


def _parts(output: bytes, oids: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    at = 0
    for oid in oids:
        line_end = output.index(b"\n", at)
        told = output[at:line_end].split(b" ")
        if len(told) != 3:
            fix = "this clone leaves files out: `git fetch --refetch` without a filter brings them"
            raise StrataError(Diagnostic("E034", f"the object `{oid[:12]}` is not in this clone", fix=fix))
        size = int(told[2])
        yield oid, output[line_end + 1 : line_end + 1 + size]
        at = line_end + 1 + size + 1


def run_git(folder: Path, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `git` in `folder`: it asks nobody anything, takes no lock that it can do without, and speaks English.

    Raises `StrataError` E034 where it cannot be run.
    """
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=folder,
            input=given,
            capture_output=True,
            env=environment,
            check=False,
        )
    except OSError as error:
        message, fix = f"`git` cannot be run in `{folder}`: {error.strerror}", "give leave to run it there"
        if isinstance(error, FileNotFoundError) and folder.is_dir():
            message, fix = "there is no `git` on this machine", "install it"
        raise StrataError(Diagnostic("E034", message, fix=fix)) from None
