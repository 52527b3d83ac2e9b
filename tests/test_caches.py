"""Where caches lie, and how their files are written; what is kept in them: tests/planning/test_cache.py."""

from __future__ import annotations

import os
import sys

import pytest

from strata_core.caches import cache_directory, keep, kept, program_stamp, releases


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {"STRATA_CACHE_DIR": "/c"}, "/c"),
        ("linux", {"XDG_CACHE_HOME": "/x", "STRATA_CACHE_DIR": ""}, "/x/strata"),
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": "", "STRATA_CACHE_DIR": ""}, "/h/.cache/strata"),
        ("win32", {"LOCALAPPDATA": "/l", "STRATA_CACHE_DIR": ""}, "/l/strata"),
    ],
)
def test_the_cache_directory_follows_the_system(monkeypatch, system, variables, expected):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", system)
    assert cache_directory().as_posix() == expected


def test_what_is_kept_is_for_its_user_alone(tmp_path):
    path = tmp_path / "strata" / "kept"
    assert keep(path, b"content")
    assert kept(path) == b"content"
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_cannot_be_kept_is_told_and_no_fault(tmp_path):
    (tmp_path / "strata").write_text("a file stands here")
    assert not keep(tmp_path / "strata" / "kept", b"content")


def test_the_oldest_files_go_when_there_are_too_many(tmp_path):
    for number in range(9):
        path = tmp_path / f"{number}"
        path.touch()
        os.utime(path, (number, number))
    keep(tmp_path / "last", b"content", most=9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3", "4", "5", "6", "7", "8", "last"]


def test_a_folder_of_many_files_is_looked_through_at_one_name_in_256(tmp_path):
    for number in range(4000):
        (tmp_path / f"{number:04x}").touch()
    keep(tmp_path / "01", b"content")
    assert len(os.listdir(tmp_path)) == 4001
    keep(tmp_path / "00", b"content")
    assert len(os.listdir(tmp_path)) == 3002


def test_what_a_disk_has_changed_since_is_not_believed(tmp_path):
    path = tmp_path / "strata" / "kept"
    keep(path, b"content")
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"!", whole.replace(b"content", b"consent"), b""):
        path.write_bytes(damaged)
        assert kept(path) is None
    assert kept(tmp_path / "nothing") is None


def test_the_releases_of_the_libraries_that_kept_results_come_from_are_found_by_the_names_of_folders(tmp_path):
    for name in ("sqlglot-30.1.0.dist-info", "PyYAML-6.0.4.egg-info", "sqlglot_extras-1.0.dist-info", "click-8.4"):
        (tmp_path / "a" / name).mkdir(parents=True)
    (tmp_path / "b" / "lark-1.3.1.dist-info").mkdir(parents=True)
    folders = [str(tmp_path / "a"), "", str(tmp_path / "nothing"), str(tmp_path / "b"), str(tmp_path / "a")]
    assert releases(folders) == ["lark-1.3.1", "pyyaml-6.0.4", "sqlglot-30.1.0"]
    assert {name.partition("-")[0] for name in releases(sys.path)} >= {"duckdb", "jsonschema_rs", "pyyaml", "sqlglot"}


@pytest.mark.parametrize("library", ["sqlglot", "PyYAML"])
def test_another_release_of_a_library_is_another_program(tmp_path, monkeypatch, library):
    stamps = []
    for version in ("1.0", "1.1"):
        (tmp_path / version / f"{library}-{version}.dist-info").mkdir(parents=True)
        monkeypatch.setattr(sys, "path", [str(tmp_path / version)])
        stamps += [program_stamp.__wrapped__(), program_stamp.__wrapped__()]
    assert stamps[0] == stamps[1] != stamps[2] == stamps[3]
