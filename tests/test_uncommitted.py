"""What Strata makes in a project never gets into a commit by `git add -A`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from strata_core.store import Store
from strata_core.uncommitted import uncommitted


def made(folder: Path, itself: bool = False) -> None:
    with uncommitted(folder, itself):
        folder.mkdir(parents=True, exist_ok=True)
    (folder / "x").write_text("x")


def added(root: Path) -> list[str]:
    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", "-A")
    return git("ls-files").splitlines()


@pytest.mark.parametrize(
    ("folder", "itself", "committed"),
    [
        (".strata/store", True, []),
        (".generated/contracts", False, []),
        ("build/.hidden/a/.b", False, []),
        ("site", False, ["site/x"]),  # somebody's own choice, say for a host of pages
        ("data/store", True, []),
    ],
)
def test_what_is_made_anew(tmp_path: Path, folder: str, itself: bool, committed: list[str]) -> None:
    made(tmp_path / folder, itself)
    assert added(tmp_path) == committed
    made(tmp_path / folder, itself)
    assert added(tmp_path) == committed


def test_what_was_there_before_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / ".strata").mkdir()
    made(tmp_path / ".strata" / "out")
    assert added(tmp_path) == [".strata/out/x"]
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".gitignore").write_text("y\n")
    made(tmp_path / "own", itself=True)
    assert added(tmp_path) == [".strata/out/x", "own/.gitignore", "own/x"]


def test_a_store_is_in_no_commit_wherever_it_lies(tmp_path: Path) -> None:
    Store.open(tmp_path / "lake")
    (tmp_path / "lake" / "rows").write_text("1")
    assert added(tmp_path) == []
