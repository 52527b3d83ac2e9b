"""Reading the event log from marks: each event once, also one that is committed after later ones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.schema import SqlEventLogStorageTable

from strata_dagster.contracts import event_pages
from strata_dagster.contracts.event_pages import KINDS, EventReader, Marks, behind_everything


class Log:
    """Readings of an instance's log, at a time that the test sets."""

    def __init__(self, instance: dg.DagsterInstance) -> None:
        self.instance, self.reader, self.now = instance, EventReader(), 1000.0
        self.marks = behind_everything(instance, self.now)
        self.more = False

    def told(self, after: float = 1.0) -> list[str]:
        found: list[str] = []
        self.now += after
        reading = self.reader.read(self.instance, self.marks, self.now, lambda key, *_: found.append(key.path[-1]))
        self.marks, self.more = reading.marks, reading.more
        return found

    def made(self, *names: str) -> None:
        for name in names:
            self.instance.report_runless_asset_event(dg.AssetMaterialization(name))

    @contextmanager
    def uncommitted(self, name: str) -> Iterator[None]:
        """An event that has its number, and is seen by nobody before the end of the block."""
        self.made(name)
        storage, table = self.instance.event_log_storage, SqlEventLogStorageTable
        with storage.index_connection() as connection:
            rows = connection.execute(table.select().where(table.c.asset_key == f'["{name}"]')).mappings().all()
            late = dict(rows[-1])
            connection.execute(table.delete().where(table.c.id == late["id"]))
            # As a sequence would, the next event has a higher number, not that of the one that was taken out.
            other = {"id": late["id"] + 1, "event": "{}", "dagster_event_type": "STEP_START", "asset_key": None}
            connection.execute(table.insert().values(late | other))
        yield
        with storage.index_connection() as connection:
            connection.execute(table.insert().values(late))


@pytest.fixture
def log(instance_on_disk: dg.DagsterInstance) -> Log:
    return Log(instance_on_disk)


def test_what_happened_is_told_once(log: Log) -> None:
    log.made("a", "b")
    assert log.told() == ["a", "b"]
    log.made("c")
    assert [log.told(), log.told(), log.told(31), log.told(31)] == [["c"], [], [], []]


@pytest.mark.parametrize("ticks", [[1.0], [1.0, 1.0, 1.0], [29.0], [31.0]])
def test_an_event_that_is_committed_after_later_ones_is_told_once(log: Log, ticks: list[float]) -> None:
    with log.uncommitted("late"):
        log.made("early")
        assert log.told() == ["early"]
        for after in ticks[:-1]:
            assert log.told(after) == []
    assert log.told(ticks[-1]) == ["late"]
    assert [log.told(), log.told(31), log.told(31)] == [[], [], []]


def test_marks_that_were_not_kept_tell_again_what_they_lost(log: Log) -> None:
    log.made("a")
    before = log.marks
    assert log.told() == ["a"]
    log.marks = before
    assert log.told() == ["a"]


def test_a_late_event_that_was_lost_with_its_marks_is_told_again(log: Log) -> None:
    """As where Dagster could not launch what a tick asked for: the cursor is that of the tick before."""
    with log.uncommitted("late"):
        log.made("early")
        assert log.told() == ["early"]
    before = log.marks
    assert log.told() == ["late"]
    log.marks = before
    assert [log.told(), log.told()] == [["late", "early"], []]


@pytest.mark.parametrize("failing", range(len(KINDS)))
def test_a_reading_that_fails_halfway_loses_nothing(log: Log, monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    log.made("a")
    assert log.told() == ["a"]
    log.made("b")
    page, asked = event_pages._page, []

    def broken(*arguments: Any) -> Any:
        asked.append(arguments)
        if len(asked) == failing + 1:
            raise ConnectionError
        return page(*arguments)

    monkeypatch.setattr(event_pages, "_page", broken)
    with pytest.raises(ConnectionError):
        log.told()
    assert [log.told(), log.told()] == [["b"], []]


def test_a_process_that_begins_anew_tells_the_last_seconds_again_and_nothing_older(log: Log) -> None:
    log.made("old")
    assert [log.told(), log.told(31), log.told(31)] == [["old"], [], []]
    log.made("a")
    assert log.told() == ["a"]
    log.reader = EventReader()
    assert log.told() == ["a"]
    log.reader = EventReader()
    assert [log.told(31), log.told(31)] == [["a"], []]


def test_a_log_without_anything_new_is_asked_one_question(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    log.made("a")
    assert [log.told(), log.told(31), log.told(31)] == [["a"], [], []]
    asked: list[str] = []
    storage = type(log.instance.event_log_storage)
    for name in ("get_maximum_record_id", "get_logs_for_all_runs_by_log_id", "get_event_records"):
        monkeypatch.setattr(storage, name, _noted(asked, name, getattr(storage, name)))
    assert log.told() == []
    assert asked == ["get_maximum_record_id"]
    log.made("b")
    assert log.told() == ["b"]
    assert asked == ["get_maximum_record_id"] * 2 + ["get_logs_for_all_runs_by_log_id"] * len(KINDS)


def _noted(asked: list[str], name: str, act: Callable[..., object]) -> Callable[..., object]:
    def noted(*args: object, **options: object) -> object:
        asked.append(name)
        return act(*args, **options)

    return noted


def test_numbers_that_sqlite_gives_again_after_a_run_is_deleted_are_other_events(log: Log) -> None:
    made = dg.materialize([_asset("a")], instance=log.instance)
    assert log.told() == ["a"]
    log.instance.delete_run(made.run_id)
    log.made("b")
    assert log.told() == ["b"]
    made = dg.materialize([_asset("c")], instance=log.instance)
    assert log.told(31) == ["c"]
    assert log.told(31) == []
    log.instance.delete_run(made.run_id)
    assert log.told(31) == []
    log.made("d")
    assert log.told(31) == ["d"]


def _asset(name: str) -> dg.AssetsDefinition:
    @dg.asset(name=name)
    def made() -> None: ...

    return made


def test_what_is_read_again_does_not_keep_a_long_log_from_being_read_on(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_pages, "PAGE", 2)
    monkeypatch.setattr(event_pages, "MOST_PAGES", 2)
    log.made(*"abcdefghij")
    told = []
    for _ in range(4):
        told += log.told()
    assert ("".join(told), log.more) == ("abcdefghij", False)


@pytest.mark.parametrize("storage", ["", "storage: {sqlite: {base_dir: HOME/db}}\n"], ids=["folder", "one storage"])
def test_all_kinds_are_read_of_each_way_to_configure_sqlite(tmp_path: Path, storage: str) -> None:
    text = "telemetry: {enabled: false}\n" + storage.replace("HOME", str(tmp_path))
    (tmp_path / "dagster.yaml").write_text(text)
    with dg.DagsterInstance.from_config(str(tmp_path)) as instance:
        assert _kinds(Log(instance)) == ["made", "observed", "checked", "failed", "checked"]


def test_a_storage_that_knows_events_by_record_alone_is_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_here(*_: object) -> None:
        raise NotImplementedError

    with dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setattr(type(instance.event_log_storage), "get_logs_for_all_runs_by_log_id", not_here)
        assert _kinds(Log(instance)) == ["made", "observed", "checked", "failed", "checked"]


def _kinds(log: Log) -> list[str]:
    """What is told of an event of each kind; a run that fails is told of what it was to make."""

    @dg.asset
    def failed() -> None:
        raise ValueError

    checked = dg.AssetKey("checked")
    log.made("made")
    log.instance.report_runless_asset_event(dg.AssetObservation("observed"))
    log.instance.report_runless_asset_event(dg.AssetCheckEvaluation(asset_key=checked, check_name="c", passed=False))
    dg.materialize([failed], instance=log.instance, raise_on_error=False)
    told = log.told()
    log.instance.report_runless_asset_event(dg.AssetCheckEvaluation(asset_key=checked, check_name="c", passed=True))
    return told + log.told()


def test_a_clock_that_is_set_back_loses_nothing(log: Log) -> None:
    with log.uncommitted("late"):
        log.made("a")
        assert log.told() == ["a"]
        log.made("b")
        assert log.told(-500.0) == ["b"]
    assert [log.told(), log.told(31), log.told(31)] == [["late"], [], []]


def test_marks_have_a_fixed_size() -> None:
    marks = Marks(dict.fromkeys(KINDS, 7), dict.fromkeys(KINDS, 6), dict.fromkeys(KINDS, 5), 10.0)
    assert marks.at(50.0, 9) == Marks(marks.read, marks.read, marks.recent, 50.0)
    assert marks.at(20.0, 9) == marks
    assert marks.at(20.0, 5) == Marks(marks.settled, marks.settled, marks.settled, 10.0)
