"""Files that end: nothing that is no regular file is opened, and what it is is said."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from strata_core.regular_files import open_regular, other_kind, read_regular


def test_a_regular_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"rows")
    (tmp_path / "b").symlink_to("a")
    assert [read_regular(tmp_path / name) for name in ("a", "b")] == [b"rows", b"rows"]
    assert [other_kind(tmp_path / name) for name in ("a", "b", "absent")] == [None, None, None]


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device"])
def test_of_what_is_no_regular_file_it_is_said_what_it_is_and_nobody_waits(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "p"
    match kind:
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "socket":
            with socket.socket(socket.AF_UNIX) as bound:
                here = os.getcwd()
                os.chdir(tmp_path)  # the name of a socket may only be short
                bound.bind("p")
                os.chdir(here)
        case _:
            place = Path(os.devnull)
    told = {
        "folder": "it is a folder",
        "pipe": "it is a pipe, and no regular file",
        "socket": "it is a socket, and no regular file",
        "device": "it is a device, and no regular file",
    }[kind]
    assert other_kind(place) == told
    with pytest.raises(OSError, match=told):
        read_regular(place)


def test_a_pipe_that_takes_the_place_of_a_file_meanwhile_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "p"
    place.write_bytes(b"rows")
    as_it_was = os.stat(place)
    place.unlink()
    os.mkfifo(place)
    monkeypatch.setattr(os, "stat", lambda _: as_it_was)
    with pytest.raises(OSError, match="it is a pipe"):
        open_regular(place)
