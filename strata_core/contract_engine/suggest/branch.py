"""A commit on a branch of its own, made in a Git worktree: what is checked out is never touched.

The same suggestions make the same branch: where it holds them already, on the same base, nothing is written. A branch
that people committed to is left alone. Code: E180.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from ...diagnostics import Diagnostic, StrataError
from ...frozen import dataclass
from ...planning.git import commit_of, open_repository, run_git

TRAILER = "Suggested-By: contract-engine"
"""What marks a commit as one of this program."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The branch of suggestions. `fresh` is False where it held them already."""

    name: str
    commit: str
    fresh: bool


def require_unprotected(name: str, protected: Sequence[str]) -> None:
    """Raises `StrataError` E180 where `name` is a branch that is not to be written to."""
    rule = next((p for p in protected if fnmatchcase(name.casefold(), p.casefold())), None)
    if rule is not None:
        message = f"`{name}` is a protected branch (`{rule}`)"
        raise StrataError(Diagnostic("E180", message, fix="suggestions go to a branch of their own: `--branch`"))


def require_name(root: Path, name: str) -> None:
    """Raises `StrataError` E180 where no branch can be called `name`."""
    # Git would take `refs/heads/main` for a name that begins so, and people for the branch `main`.
    if name.startswith("refs/") or run_git(root, "check-ref-format", "--branch", name).returncode != 0:
        fix = "write letters, digits, `-`, `_`, `.` and `/`, such as `suggestions/orders`"
        raise StrataError(Diagnostic("E180", f"`{name}` cannot be the name of a branch", fix=fix))


def require_committed(root: Path, files: Sequence[str]) -> None:
    """Raises `StrataError` E180 where `files` differ from what is committed: a suggestion would carry that along."""
    dirty = _git(root, "status", "--porcelain", "--", *files).strip()
    if dirty:
        fix = "commit them first; suggestions are made on what is committed"
        raise StrataError(Diagnostic("E180", f"{', '.join(files)}: not as committed", fix=fix))


def suggest_on(
    root: Path, name: str, base: str, changes: Mapping[str, str], title: str, body: Callable[[Path], str]
) -> tuple[Branch, str]:
    """The branch `name` with one commit on `base` that gives the files of the project in `root` the texts `changes`,
    by their paths below it; and what the commit says below its `title`. `body` is asked with the project's folder in
    the worktree, once the files are changed. Raises `StrataError` E180, E034 where there is no commit `base`."""
    top = Path(_git(root, "rev-parse", "--show-toplevel").strip())
    start = commit_of(open_repository(root), base)
    require_name(root, name)
    before = _ref(root, name)
    with _worktree(root, start) as folder:
        inside = folder / root.resolve().relative_to(top.resolve())
        for path, text in changes.items():
            (inside / path).parent.mkdir(parents=True, exist_ok=True)
            (inside / path).write_bytes(text.encode())
        text = f"{body(inside).rstrip()}\n\n{TRAILER}\n"
        said = f"{title}\n\n{text}"
        _git(inside, "add", "--", *changes)
        tree = _git(inside, "write-tree").strip()
        if before is not None and _same(root, before, tree, start, said):
            return Branch(name, before, False), text
        if before is not None:
            _require_ours(root, name, start, before)
        commit = _git(inside, *_identity(root), "commit-tree", tree, "-p", start, "-F", "-", given=said).strip()
    # Created where it was not there, moved only from where it was seen: nothing that came in between is lost.
    fix = "name another branch with `--branch`: one in its way is there, or was just written"
    _git(root, "update-ref", f"refs/heads/{name}", commit, before or "0" * 40, fix=fix)
    return Branch(name, commit, True), text


def push(root: Path, remote: str, branch: str) -> None:
    """Push the branch; it replaces an older one there that nobody else pushed to. Raises `StrataError` E180."""
    fix = "name a remote that takes it: `git remote -v` lists them; the branch itself is written"
    _git(root, "push", "--force-with-lease", remote, f"refs/heads/{branch}:refs/heads/{branch}", fix=fix)


def _identity(root: Path) -> tuple[str, ...]:
    """Who commits: whom Git knows, else, as on a machine that builds, this program."""
    if run_git(root, "config", "user.email").stdout.strip():
        return ()
    return ("-c", "user.name=contract-engine", "-c", "user.email=contract-engine@localhost")


def _same(root: Path, commit: str, tree: str, parent: str, message: str) -> bool:
    held = _git(root, "log", "-1", "--format=%T %P%n%B", commit)
    head, _, body = held.partition("\n")
    return head == f"{tree} {parent}" and body.strip() == message.strip()


def _ref(root: Path, name: str) -> str | None:
    done = run_git(root, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}")
    return done.stdout.decode().strip() or None


def _require_ours(root: Path, name: str, start: str, tip: str) -> None:
    """All that the branch has besides the base's history is of this program, and it is checked out nowhere."""
    bodies = _git(root, "log", "--format=%B%x00", tip, f"^{start}").split("\0")
    if any(body.strip() and TRAILER not in body for body in bodies):
        fix = "merge it or name another branch with `--branch`"
        raise StrataError(Diagnostic("E180", f"people have committed to `{name}`, which would be lost", fix=fix))
    if f"branch refs/heads/{name}\n" in _git(root, "worktree", "list", "--porcelain"):
        message = f"`{name}` is checked out: it would change under those who work there"
        raise StrataError(Diagnostic("E180", message, fix="check another branch out, or name another with `--branch`"))


@contextmanager
def _worktree(root: Path, commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="contract-engine-") as folder:
        place = Path(folder) / "tree"
        _git(root, "worktree", "add", "--quiet", "--detach", str(place), commit)
        try:
            yield place.resolve()
        finally:
            run_git(root, "worktree", "remove", "--force", str(place))


_IN_A_CLONE = "suggestions are made inside a clone of the repository"


def _git(root: Path, *arguments: str, given: str = "", fix: str = _IN_A_CLONE) -> str:
    done = run_git(root, *arguments, given=given.encode())
    if done.returncode != 0:
        told = done.stderr.decode(errors="replace").strip()
        said = next(iter(told.splitlines()), "it says nothing").removeprefix("fatal: ")
        verb = next(a for n, a in enumerate(arguments) if a != "-c" and (n == 0 or arguments[n - 1] != "-c"))
        message = f"`git {verb}` failed: {said}"
        raise StrataError(Diagnostic("E180", message, fix=fix))
    return done.stdout.decode(errors="replace")
