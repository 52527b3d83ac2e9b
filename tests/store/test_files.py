"""What the store asks of a place for its files, of every place alike."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePath

import pytest

from strata_core.store import Store
from strata_core.store.bucket import BucketPath
from strata_core.store.files import LOCAL, Files
from tests.buckets import folder_as_bucket, make_bucket

from .tables.memory import MemoryFiles


@dataclass(frozen=True)
class Somewhere:
    """A place for files, and the path of it that a test may write below."""

    files: Files
    root: PurePath


@pytest.fixture(params=["local", "memory", "bucket", "folder as bucket"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Somewhere:
    match request.param:
        case "local":
            return Somewhere(LOCAL, tmp_path)
        case "memory":
            return Somewhere(MemoryFiles(), tmp_path)
        case "bucket":
            store = Store.at(make_bucket(monkeypatch, tmp_path / "cache") + "/some/where")
            return Somewhere(store.files, store.root)
        case _:
            return Somewhere(folder_as_bucket(tmp_path / "bucket", tmp_path / "cache"), BucketPath("s3://lake/x"))


def test_a_file_is_created_once_and_never_overwritten(place: Somewhere) -> None:
    files, root = place.files, place.root
    files.prepare(root / "log")
    path = root / "log" / "1.json"
    assert files.create(path, b"first")
    assert not files.create(path, b"second")
    assert files.read(path) == b"first"


def test_of_many_creations_at_once_one_wins(place: Somewhere) -> None:
    files, root = place.files, place.root
    files.prepare(root / "log")
    path = root / "log" / "1.json"
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: files.create(path, str(n).encode()), range(32)))
    assert won.count(True) == 1
    assert files.read(path) == str(won.index(True)).encode()


def test_names_are_sorted_and_start_after_the_one_given(place: Somewhere) -> None:
    files, root = place.files, place.root
    folder = root / "log"
    assert files.names(folder) == ()
    files.prepare(folder)
    for name in ("2", "10", "1", "3"):
        files.create(folder / name, b"")
    files.prepare(folder / "runs")
    files.put(folder / "runs" / "part", b"x")
    assert files.names(folder) == ("1", "10", "2", "3", "runs")
    assert files.names(folder, "10") == ("2", "3", "runs")
    assert files.names(folder, "runs") == ()


def test_a_part_is_written_read_at_any_place_and_removed(place: Somewhere) -> None:
    files, root = place.files, place.root
    folder = root / "runs" / "r"
    files.prepare(folder)
    with files.writing(folder / "part") as file:
        file.write(b"01234")
        file.write(b"56789")
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
