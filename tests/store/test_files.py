"""What the store asks of a place for its files, of every place alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from strata_core.store.files import LOCAL, Files

from .tables.memory import MemoryFiles


@pytest.fixture(params=["local", "memory"])
def files(request: pytest.FixtureRequest) -> Files:
    return LOCAL if request.param == "local" else MemoryFiles()


def test_a_file_is_created_once_and_never_overwritten(files: Files, tmp_path: Path) -> None:
    files.prepare(tmp_path / "log")
    path = tmp_path / "log" / "1.json"
    assert files.create(path, b"first")
    assert not files.create(path, b"second")
    assert files.read(path) == b"first"


def test_of_many_creations_at_once_one_wins(files: Files, tmp_path: Path) -> None:
    files.prepare(tmp_path / "log")
    path = tmp_path / "log" / "1.json"
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: files.create(path, str(n).encode()), range(32)))
    assert won.count(True) == 1
    assert files.read(path) == str(won.index(True)).encode()


def test_names_are_sorted_and_start_after_the_one_given(files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    assert files.names(folder) == ()
    files.prepare(folder)
    for name in ("2", "10", "1", "3"):
        files.create(folder / name, b"")
    files.prepare(folder / "runs")
    files.put(folder / "runs" / "part", b"x")
    assert files.names(folder) == ("1", "10", "2", "3", "runs")
    assert files.names(folder, "10") == ("2", "3", "runs")
    assert files.names(folder, "runs") == ()


def test_a_part_is_written_read_at_any_place_and_removed(files: Files, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "r"
    files.prepare(folder)
    files.put(folder / "part", b"01234", memoryview(b"56789"))
    files.settle(folder)
    assert (files.exists(folder / "part"), files.size(folder / "part")) == (True, 10)
    with files.open(folder / "part") as opened:
        opened.seek(7)
        assert opened.read(2) == b"78"
    files.remove(folder / "part")
    files.remove(folder / "part")
    assert (files.exists(folder / "part"), files.size(folder / "part"), files.read(folder / "part")) == (
        False,
        None,
        None,
    )
    with pytest.raises(FileNotFoundError):
        files.open(folder / "part")
