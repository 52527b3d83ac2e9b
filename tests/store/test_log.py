"""The commit log: create-if-absent entries in one order, and faults that are said, never skipped."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from strata_core.diagnostics import StrataError
from strata_core.store import CommitLog, LogConflictError
from strata_core.store import instant as instants


def codes(error: pytest.ExceptionInfo[StrataError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


def test_an_empty_log_has_head_zero_and_no_entries(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log")
    assert log.head() == 0
    assert list(log.entries()) == []
    assert not (tmp_path / "log").exists()


def test_entries_are_numbered_files_in_commit_order(tmp_path: Path) -> None:
    log = CommitLog(tmp_path / "log")
    first = log.append("publish", {"a": 1}, expected=0)
    second = log.append("rollback", {"b": [None, "é"]}, expected=None)
    assert sorted(p.name for p in (tmp_path / "log").iterdir()) == [
        "00000000000000000001.json",
        "00000000000000000002.json",
    ]
    assert (first.number, first.kind, first.payload) == (1, "publish", {"a": 1})
    assert list(CommitLog(tmp_path / "log").entries()) == [first, second]
    assert list(log.entries(after=1)) == [second]
    assert log.read(2) == second
    assert first.id != second.id


def test_instants_strictly_increase_even_when_the_clock_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CommitLog(tmp_path)
    clock = iter([1_700_000_000_000_000_000, 1_600_000_000_000_000_000, 1_700_000_000_000_000_500])
    monkeypatch.setattr(instants.time, "time_ns", lambda: next(clock))
    assert [log.append("k", {}).at for _ in range(3)] == [
        1_700_000_000_000_000_000,
        1_700_000_000_000_000_001,
        1_700_000_000_000_000_500,
    ]
    text = json.loads((tmp_path / "00000000000000000002.json").read_text())
    assert text["at"] == "2023-11-14T22:13:20.000000001Z"


def test_a_stale_writer_gets_a_conflict_and_writes_nothing(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {"n": 1}, expected=0)
    log.append("k", {"n": 2}, expected=1)
    with pytest.raises(LogConflictError) as error:
        log.append("k", {"n": 3}, expected=1)
    assert codes(error) == ["E093"]
    assert (error.value.expected, error.value.head) == (1, 2)
    assert [e.payload for e in log.entries()] == [{"n": 1}, {"n": 2}]


def test_without_an_expected_head_the_next_free_number_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, other = CommitLog(tmp_path), CommitLog(tmp_path)
    real, raced = os.link, []

    def link(source: str, target: str) -> None:
        if not raced:
            raced.append(True)
            other.append("theirs", {})
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    assert log.append("ours", {}).number == 2
    assert [e.kind for e in log.entries()] == ["theirs", "ours"]


def test_a_lost_answer_to_our_own_link_is_no_conflict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.link

    def link(source: str, target: str) -> None:
        real(source, target)
        raise FileExistsError(errno.EEXIST, "the first answer was lost and the call was repeated")

    monkeypatch.setattr(os, "link", link)
    assert CommitLog(tmp_path).append("k", {}, expected=0).number == 1


def test_temporary_files_of_killed_writers_are_passed_by(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {})
    (tmp_path / ".tmp-0123").write_text('{"half')
    (tmp_path / "_checkpoint.json").write_text("{}")
    (tmp_path / "7.json").write_text("{}")
    assert log.head() == 1
    assert log.append("k", {}).number == 2


def test_the_head_is_found_without_reading_entries(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {})
    (tmp_path / "00000000000000000001.json").write_text("damaged")
    assert log.head() == 1


def test_a_gap_is_an_error_that_names_the_entry(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    for _ in range(3):
        log.append("k", {})
    (tmp_path / "00000000000000000002.json").unlink()
    for read in (log.head, lambda: list(log.entries()), lambda: log.read(2)):
        with pytest.raises(StrataError) as error:
            read()
        assert codes(error) == ["E094"]
        assert "entry 2 of the log" in error.value.diagnostics[0].message


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: "",
        lambda text: "[1]",
        lambda text: text.replace('"n":1', '"n":2'),
        lambda text: text.replace('"number":1', '"number":2'),
        lambda text: text.replace('"n":1', '"n":1,"n":1'),
        lambda text: text.replace('"n":1', '"n":NaN'),
    ],
)
def test_a_damaged_entry_is_an_error_that_names_the_file(tmp_path: Path, damage: object) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {"n": 1})
    path = tmp_path / "00000000000000000001.json"
    path.write_text(damage(path.read_text()))
    with pytest.raises(StrataError) as error:
        log.read(1)
    assert codes(error) == ["E094"]
    assert str(path) in error.value.diagnostics[0].message


def test_an_entry_copied_under_another_number_is_damage(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {})
    (tmp_path / "00000000000000000002.json").write_bytes((tmp_path / "00000000000000000001.json").read_bytes())
    with pytest.raises(StrataError, match="it says that it is entry 1"):
        log.read(2)


def test_an_entry_of_a_later_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    log = CommitLog(tmp_path)
    log.append("k", {})
    path = tmp_path / "00000000000000000001.json"
    path.write_text(path.read_text().replace('"format":1', '"format":2'))
    with pytest.raises(StrataError) as error:
        log.read(1)
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, diagnostic.fix) == ("E092", "use the release of Strata that wrote it, or a later one")


def test_an_unconfirmed_commit_says_that_it_is_visible(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = CommitLog(tmp_path)
    real = os.fsync

    def fsync(handle: int) -> None:
        if (tmp_path / "00000000000000000001.json").exists():  # the sync of the folder, after the link
            raise OSError(errno.EIO, "Input/output error")
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(StrataError) as error:
        log.append("k", {}, expected=0)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "E092"
    assert diagnostic.notes == ("entry 1 is visible all the same; the disk has not confirmed that it will stay",)
    assert log.head() == 1
