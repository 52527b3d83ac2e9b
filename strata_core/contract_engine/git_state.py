"""Where the files of a project come from: the commit that is checked out, and which files differ from it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..diagnostics import StrataError
from ..planning.git import run_git


def checked_out(root: Path) -> str | None:
    """The commit of the working tree around `root`; None where there is none."""
    done = _git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return done or None


def changed(root: Path, files: Iterable[str]) -> tuple[str, ...]:
    """Those of `files` that are not as the commit has them: changed, or not in it."""
    listed = list(files)
    if not listed:  # to Git, no path is every path
        return ()
    told = _git(root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignored=no", "--", *listed)
    return tuple(sorted(entry[3:] for entry in (told or "").split("\0") if len(entry) > 3))


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = run_git(root, *arguments)
    except StrataError:  # without Git, nothing is known of commits
        return None
    return done.stdout.decode(errors="surrogateescape").strip("\n") if done.returncode == 0 else None
