"""Where caches lie, and how their files are written; what is kept in them: tests/planning/test_cache.py."""

from __future__ import annotations

import sys

import pytest

from strata_core.caches import cache_directory, keep, kept


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


def test_what_a_disk_has_changed_since_is_not_believed(tmp_path):
    path = tmp_path / "strata" / "kept"
    keep(path, b"content")
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole + b"!", whole.replace(b"content", b"consent"), b""):
        path.write_bytes(damaged)
        assert kept(path) is None
    assert kept(tmp_path / "nothing") is None
