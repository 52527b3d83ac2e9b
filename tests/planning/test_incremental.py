"""`incremental { … }` (language.md, "Statements"): what is added to live rows is what a full computation would have
made, and where that is not certain the model is computed in full."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.results import ModelResult

from .conftest import Shop

SOURCES = """\
source events(csv: "events.csv") {
  columns: { id: int64 nonnull, who: int64 nonnull, at: timestamp, amount: decimal(8,2) }
}
source people(csv: "people.csv") { columns: { id: int64 primary_key, name: string } }
"""
APPEND = """\
model log {
  from events
  join_left people on events.who == people.id
  filter amount > 0.00
  derive { cents = cast(amount * 100, "int64") }
  select { events.id, who, name = people.name, cents, at }
  incremental { strategy: append, cursor: at }
}
model per_day { from log group { who } ( aggregate { n = count(), cents = sum(cents) } ) }
"""
UPSERT = """\
contract State { who: int64 primary_key  amount: decimal(8,2)  at: timestamp }
model state -> contract State {
  from events
  select { who, amount, at }
  incremental { strategy: upsert, key: [who], cursor: at }
}
"""
HEADER = "id,who,at,amount\n"
FIRST = "1,10,2024-01-01 10:00,1.50\n2,11,2024-01-01 11:00,2.00\n3,10,2024-01-01 12:00,0.00\n"
MORE = "4,10,2024-01-02 10:00,3.00\n5,12,2024-01-02 10:30,4.00\n"


@pytest.fixture
def new_log(tmp_path: Path) -> Callable[..., Shop]:
    def make(name: str = "log", rows: str = FIRST, models: str = APPEND) -> Shop:
        made = Shop(tmp_path / name)
        made.write("strata.toml", '[engine]\nname = "reference"\n')
        made.write("models/sources.strata", SOURCES)
        made.write("models/models.strata", models)
        made.write("people.csv", "id,name\n10,ann\n11,bob\n")
        made.write("events.csv", HEADER + rows)
        return made

    return make


@pytest.fixture
def log(new_log: Callable[..., Shop]) -> Shop:
    return new_log()


def way(result: ModelResult) -> str:
    return str(result.way)


def full(new_log: Callable[..., Shop], name: str, rows: str, models: str = APPEND, model: str = "log") -> bytes:
    """The bytes of the artifact of a full computation over `rows`."""
    other = new_log(name, rows, models)
    other.apply()
    return other.artifact_bytes(model)


def test_the_first_run_is_full_and_the_next_adds_what_lies_beyond(log, new_log) -> None:
    assert way(log.result("log")) == "full: there are no live rows yet"
    log.write("events.csv", HEADER + FIRST + MORE)
    (planned,) = [m for m in log.plan().stale if m.name == "log"]
    assert str(planned.way) == "incremental: rows of `events` with `at` beyond 2024-01-01 12:00:00"
    assert way(log.result("log")) == str(planned.way)
    assert [(r["id"], r["cents"]) for r in log.rows("log")] == [(1, 150), (2, 200), (4, 300), (5, 400)]
    assert log.artifact_bytes("log") == full(new_log, "other", FIRST + MORE)
    assert log.rows("per_day") == [
        {"cents": 450, "n": 2, "who": 10},
        {"cents": 200, "n": 1, "who": 11},
        {"cents": 400, "n": 1, "who": 12},
    ]


def test_nothing_is_left_to_do_after_an_apply(log) -> None:
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    log.apply()
    assert log.plan().stale == ()
    head = log.head()
    assert log.statuses() == {"log": "fresh", "per_day": "fresh"}
    assert log.head() == head


def test_an_apply_that_was_done_before_is_taken_from_where_it_lies(log) -> None:
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    log.apply()
    log.workspace().store.environment("prod")
    log.apply(environment="dev")
    assert log.rows("log", "dev") == log.rows("log")
    log.write("events.csv", HEADER + FIRST)
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    assert log.statuses()["log"] == "reused"


def test_a_row_that_comes_late_is_not_left_out(log, new_log) -> None:
    log.apply()
    late = FIRST + "9,11,2024-01-01 09:00,7.00\n" + MORE
    log.write("events.csv", HEADER + late)
    assert way(log.result("log")) == "full: `events` has other rows up to 2024-01-01 12:00:00 than it had"
    assert log.artifact_bytes("log") == full(new_log, "other", late)


def test_a_row_without_a_cursor_is_not_left_out(log) -> None:
    log.apply()
    log.write("events.csv", HEADER + FIRST + "9,11,,7.00\n")
    assert way(log.result("log")).startswith("full: `events` has other rows")
    assert 9 in [r["id"] for r in log.rows("log")]


def test_a_row_that_is_gone_is_gone(log) -> None:
    log.apply()
    log.write("events.csv", HEADER + FIRST.split("\n", 1)[1] + MORE)
    log.apply()
    assert [r["id"] for r in log.rows("log")] == [2, 4, 5]


def test_another_table_that_changed_computes_it_in_full(log) -> None:
    log.apply()
    log.write("people.csv", "id,name\n10,anna\n11,bob\n")
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("log")) == "full: `people` changed, not only `events`"
    assert {r["name"] for r in log.rows("log")} == {"anna", "bob", None}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("amount > 0.00", "amount > 1.99"),
        ("cursor: at }", "cursor: at }\n  sort { -at }"),
        ("amount * 100", "amount * 10"),
    ],
)
def test_what_means_something_else_is_computed_in_full(log, new_log, old, new) -> None:
    log.apply()
    log.edit("models/models.strata", old, new)
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("log")) == "full: it means something else now"
    assert log.artifact_bytes("log") == full(new_log, "other", FIRST + MORE, APPEND.replace(old, new))


def test_rows_that_are_read_otherwise_are_computed_in_full(new_log) -> None:
    rows = "a,2024-01-01 10:00\nnone,2024-01-01 11:00\n"
    models = """
source words(csv: "words.csv") { columns: { word: string, at: timestamp } }
model log { from words select { word, at } incremental { strategy: append, cursor: at } }
"""
    log = new_log(models=models)
    log.write("words.csv", "word,at\n" + rows)
    log.apply()
    assert [r["word"] for r in log.rows("log")] == ["a", "none"]
    log.edit("models/models.strata", 'csv: "words.csv"', 'csv: "words.csv", null_text: "none"')
    log.write("words.csv", "word,at\n" + rows + "b,2024-01-02 10:00\n")
    assert way(log.result("log")) == "full: `words` is read otherwise than it was"
    assert [r["word"] for r in log.rows("log")] == ["a", None, "b"]


def test_what_means_the_same_is_added_to(log) -> None:
    log.apply()
    log.edit("models/models.strata", "select { events.id, who,", "select { who, id = events.id,")
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("log")).startswith("incremental")


def test_an_upsert_keeps_the_latest_row_of_each_key(new_log) -> None:
    log = new_log(models=UPSERT)
    log.apply()
    assert [(r["who"], str(r["amount"])) for r in log.rows("state")] == [(10, "0.00"), (11, "2.00")]
    twice = FIRST + MORE + "6,10,2024-01-02 11:00,9.00\n"
    log.write("events.csv", HEADER + twice)
    assert way(log.result("state")).startswith("incremental")
    assert [(r["who"], str(r["amount"])) for r in log.rows("state")] == [(10, "9.00"), (11, "2.00"), (12, "4.00")]
    assert log.artifact_bytes("state") == full(new_log, "other", twice, UPSERT, "state")


def test_a_promise_that_old_and_new_rows_break_together_leaves_the_last_known_good(new_log) -> None:
    """`id` was unique in each file; of the rows of both it is not, and nothing has proven that."""
    models = APPEND.replace("model log {", "contract Log { id: int64 primary_key }\nmodel log -> contract Log {")
    log = new_log(models=models)
    log.apply()
    before, head = log.rows("log"), log.head()
    log.write("events.csv", HEADER + FIRST + "1,10,2024-01-02 10:00,3.00\n")
    result = log.result("log")
    assert (str(result.status), [d.code for d in result.violations]) == ("violated", ["E083"])
    assert way(result).startswith("incremental")
    assert (log.rows("log"), log.head()) == (before, head)
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("log")).startswith("incremental")
    assert log.artifact_bytes("log") == full(new_log, "other", FIRST + MORE, models)


def test_a_full_refresh_is_a_full_computation(log) -> None:
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    plan = log.workspace().plan(full_refresh=True)
    assert {m.name: [str(c) for c in m.causes] for m in plan.stale} == {
        "log": ["data change: events", "full refresh"],
        "per_day": ["upstream change: log"],
    }
    assert [str(m.way) for m in plan.stale if m.way] == ["full: asked for"]


def test_replace_computes_all_rows_each_time(new_log) -> None:
    log = new_log(models=APPEND.replace("strategy: append", "strategy: replace"))
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    assert log.result("log").way is None


def test_an_incremental_model_reads_another(new_log) -> None:
    models = APPEND + "model big { from log filter cents > 150 incremental { cursor: at } }\n"
    log = new_log(models=models)
    log.apply()
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("big")).startswith("incremental: rows of `log`")
    assert [r["id"] for r in log.rows("big")] == [2, 4, 5]


def test_an_empty_table_has_no_watermark(new_log) -> None:
    log = new_log(rows="")
    log.apply()
    log.write("events.csv", HEADER + FIRST)
    assert way(log.result("log")) == "full: there are no live rows yet"
    assert len(log.rows("log")) == 2


def test_a_live_artifact_that_is_damaged_is_not_added_to(log) -> None:
    log.apply()
    store = log.workspace().store
    artifact = store.artifact("log", store.environment("prod").head().models["log"])
    artifact.paths[0].unlink()
    log.write("events.csv", HEADER + FIRST + MORE)
    assert way(log.result("log")) == "full: there are no live rows yet"
    assert len(log.rows("log")) == 4


CURSORS = {
    "int64": lambda n: str(n),
    "decimal(10,2)": lambda n: f"{n}.50",
    "date": lambda n: (datetime(2024, 1, 1) + timedelta(days=n)).date().isoformat(),
    "timestamp": lambda n: (datetime(2024, 1, 1) + timedelta(seconds=n, microseconds=n)).isoformat(),
    "string": lambda n: f"{n:05d}é",
}


@pytest.mark.parametrize("engine", ["reference", "duckdb"])
@pytest.mark.parametrize("kind", CURSORS)
def test_each_type_of_cursor(new_log, kind, engine) -> None:
    made = {"reference": ReferenceEngine(), "duckdb": DuckDBEngine(EngineSettings("256MiB", 1))}[engine]
    spelled = CURSORS[kind]
    models = "model log { from events incremental { cursor: at } }"
    lines = [f"{n},10,{spelled(n)},1.00\n" for n in range(6)]
    log = new_log(rows="".join(lines[:3]), models=models)
    log.edit("models/sources.strata", "at: timestamp", f"at: {kind}")
    log.apply(engine=made)
    log.write("events.csv", HEADER + "".join(lines))
    assert way(log.result("log", engine=made)).startswith("incremental")
    assert [r["id"] for r in log.rows("log")] == [0, 1, 2, 3, 4, 5]


ROWS = st.lists(st.tuples(st.integers(1, 4), st.integers(-2, 5)), min_size=1, max_size=12)


@settings(max_examples=25)
@given(
    rows=ROWS, cuts=st.lists(st.integers(1, 12), max_size=3), sort=st.sampled_from(["", "sort { -at }", "sort { who }"])
)
@pytest.mark.parametrize("models", [APPEND, UPSERT], ids=["append", "upsert"])
def test_law_of_rows_that_are_appended_what_is_added_is_what_a_full_computation_makes(
    tmp_path_factory, models, rows, cuts, sort
) -> None:
    name = "log" if models is APPEND else "state"
    text = models.replace("incremental {", f"{sort} incremental {{", 1)
    lines = [
        f"{n},{who},2024-01-{n // 24 + 1:02d} {n % 24:02d}:00,{amount}.00\n" for n, (who, amount) in enumerate(rows)
    ]
    stops = sorted({*(c for c in cuts if c < len(rows)), len(rows)})

    def shop(known: str) -> Shop:
        made = Shop(tmp_path_factory.mktemp(known))
        made.write("strata.toml", '[engine]\nname = "reference"\n')
        made.write("models/sources.strata", SOURCES)
        made.write("models/models.strata", text)
        made.write("people.csv", "id,name\n1,ann\n3,bob\n")
        return made

    grown, once = shop("grown"), shop("once")
    for number, stop in enumerate(stops):
        grown.write("events.csv", HEADER + "".join(lines[:stop]))
        assert grown.result(name).way.incremental == (number > 0)
    once.write("events.csv", HEADER + "".join(lines))
    once.apply()
    assert grown.artifact_bytes(name) == once.artifact_bytes(name)


def test_an_unknown_model_cannot_be_refreshed(log) -> None:
    with pytest.raises(StrataError):
        log.workspace().plan(["nix"], full_refresh=True)
