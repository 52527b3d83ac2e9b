"""Files that are written whole, whoever else writes them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from strata_core.cli.contracts.shared import write
from strata_core.whole_files import write_whole


@pytest.mark.parametrize("writing", [write_whole, write])
def test_two_that_write_one_file_at_once_do_not_write_into_each_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writing: Callable[[Path, bytes], None]
) -> None:
    path, moved = tmp_path / "page.html", os.replace

    def beside(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", moved)
        writing(path, b"the other's")  # between the writing of the first and its move
        assert path.read_bytes() == b"the other's"
        moved(source, target)

    monkeypatch.setattr(os, "replace", beside)
    writing(path, b"mine")
    assert path.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["page.html"]


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    write_whole(path, b"before")

    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"after")
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"before", ["a"])


def test_the_mode_of_a_file_that_is_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, b"one", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    write_whole(path, b"two", b" parts", mode=0o600)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (0o640, b"two parts")


def test_where_a_link_is_there_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")
    (tmp_path / "b").symlink_to("a")
    write_whole(tmp_path / "b", b"after")
    assert ((tmp_path / "b").is_symlink(), (tmp_path / "a").read_bytes()) == (True, b"after")


@pytest.mark.parametrize(("make", "told"), [(os.mkfifo, "it is a pipe, and no regular file"), (os.mkdir, "a folder")])
def test_what_is_no_regular_file_is_not_replaced_by_one(
    tmp_path: Path, make: Callable[[Path], None], told: str
) -> None:
    """Of a device (`--out /dev/stdout`) root would leave a file to all who use it."""
    make(tmp_path / "a")
    before = os.stat(tmp_path / "a")
    with pytest.raises(OSError, match=told):
        write_whole(tmp_path / "a", b"after")
    assert (os.stat(tmp_path / "a"), os.listdir(tmp_path)) == (before, ["a"])
