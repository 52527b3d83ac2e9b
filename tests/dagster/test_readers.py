"""Readers of what a run published that the plan calls fresh carry no badge: with partitions of time on either side."""

# Without postponed annotations: Dagster compares those of an op with types.

import asyncio

import dagster as dg
import pytest
from dagster._core.loader import LoadingContextForTest

from strata_core.planning.partitions.asked_periods import Asked
from strata_core.planning.project import open_project
from strata_core.planning.workspace import open_workspace

from .sales import Sales, made

LAYOUT = 'partition_by: [day] partition_start: "2024-01-01" partition_end: "2024-01-05"'
MONTHS = 'partition_by: [month] partition_every: month partition_start: "2024-01-01" partition_end: "2024-03-01"'
MODELS = f"""
source sales(csv: "sales.csv") {{
  columns: {{ id: int64 primary_key, day: date nonnull, kind: string, n: int64 nonnull }}
}}
model kinds {{ from sales derive {{ note = kind || "" }} }}
model daily {{ from kinds select {{ id, day, n, note }} {LAYOUT} }}
model same {{ from daily group {{ day }} ( aggregate {{ total = sum(n) }} ) {LAYOUT} }}
model months {{ from daily group {{ month = date_trunc(day, month) }} ( aggregate {{ total = sum(n) }} ) {MONTHS} }}
model every {{ from daily aggregate {{ total = sum(n) }} }}
model ranked {{ from daily sort {{ -n, id }} take 2 select {{ id, day }} {LAYOUT} }}
model of_one {{ from kinds group {{ day }} ( aggregate {{ total = sum(n) }} ) {LAYOUT} }}
"""
DAYS = ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]
ALL = f"{DAYS[0]}...{DAYS[-1]}"
PARTITIONS = {"same": DAYS, "ranked": DAYS, "of_one": DAYS, "months": ["2024-01-01"], "every": [None]}


@pytest.fixture
def read(sales: Sales) -> Sales:
    """`daily`, with readers of the same time, of another length, of all and without partitions; all live."""
    sales.write("models/sales.strata", MODELS)
    sales.run("kinds", "daily", "same", "ranked", "of_one", "every", key=ALL)
    sales.run("months", key="2024-01-01")
    assert badges(sales) == planned(sales) == {name: [] for name in PARTITIONS}
    return sales


def badges(sales: Sales) -> dict[str, list[str | None]]:
    """The partitions of each reader that carry Dagster's badge."""
    resolver = sales.resolver()
    return {
        name: [key for key in keys if resolver.get_status(dg.AssetKey(name), key).value != "FRESH"]
        for name, keys in PARTITIONS.items()
    }


def planned(sales: Sales) -> dict[str, list[str | None]]:
    """The partitions of each reader that `strata plan` calls stale."""
    workspace = open_workspace(open_project(project=sales.root), "prod", write=False)
    found = {}
    for name, keys in PARTITIONS.items():
        asked = None if keys == [None] else Asked(str(keys[0]), str(keys[-1]))
        (model,) = workspace.plan([name], with_upstream=False, asked=asked).models
        found[name] = [p.key for p in model.periods or () if p.causes] if asked else [None] * model.stale
    return found


def unread(sales: Sales) -> None:
    """The value of a column that no reader looks at changes, in each row."""
    sales.edit("models/sales.strata", 'kind || ""', 'kind || "x"')


def test_a_column_that_nobody_reads_leaves_readers_of_a_partition_without_a_badge(read) -> None:
    unread(read)
    read.run("kinds")
    run = read.run("daily", key="2024-01-02")
    assert sorted(made(run)) == [
        ("daily", "2024-01-02"),
        ("months", "2024-01-01"),
        ("same", "2024-01-02"),
    ]
    assert badges(read) == planned(read) == {name: [] for name in PARTITIONS}
    told = read.latest("same")["2024-01-02"]
    assert told.metadata["reason"].value == "fresh: what it reads of daily did not change"
    assert (told.metadata["reused"].value, told.metadata["dagster/partition_row_count"].value) == (True, 1)
    assert told.metadata["partitions_stale"].value == 0


def test_a_range_and_readers_in_partitions_of_what_has_none(read) -> None:
    unread(read)
    assert [pair for pair in made(read.run("kinds")) if pair[0] == "of_one"] == [("of_one", day) for day in DAYS]
    read.run("daily", key=ALL)
    assert badges(read) == planned(read) == {name: [] for name in PARTITIONS}
    assert made(read.run("daily", key=ALL)) == [("daily", day) for day in DAYS]  # nothing is told again


def test_an_op_of_each_model(read) -> None:
    read.options = {"op_per_model": True}
    unread(read)
    read.run("kinds")
    read.run("daily", key=ALL)
    assert badges(read) == planned(read) == {name: [] for name in PARTITIONS}


def test_rows_that_are_read_mark_the_partitions_that_read_them(read) -> None:
    read.write("sales.csv", "id,day,kind,n\n1,2024-01-01,a,1\n2,2024-01-02,b,6\n3,2024-01-03,a,7\n")
    read.run("kinds")
    read.run("daily", key=ALL)
    assert planned(read) == {
        "same": ["2024-01-02"],
        "months": ["2024-01-01"],
        "every": [None],
        "ranked": DAYS,
        "of_one": DAYS,
    }
    # Dagster does not look at partitions of time of which an asset reads all: only the plan calls these readers stale.
    assert badges(read) == {**planned(read), "ranked": [], "every": []}


def test_what_the_command_line_applied_is_told_by_the_next_run_of_what_is_read(read) -> None:
    from strata_core.planning.applying.apply import apply_plan

    unread(read)
    workspace = open_workspace(open_project(project=read.root), "prod")
    *_, _outcome = apply_plan(workspace, workspace.plan(["kinds", "daily"]), workspace.engine())
    read.run("kinds")
    read.run("daily", key=ALL)
    assert badges(read) == planned(read) == {name: [] for name in PARTITIONS}


def test_a_partition_that_dagster_saw_with_other_rows_is_left_to_a_run_of_its_own(read) -> None:
    seen = read.latest("same")["2024-01-02"]
    other = dg.AssetMaterialization("same", partition="2024-01-02", tags={**seen.tags, "dagster/data_version": "0"})
    read.instance.report_runless_asset_event(other)
    unread(read)
    read.run("kinds")
    read.run("daily", key=ALL)
    assert badges(read)["same"] == ["2024-01-02"]


def test_a_reader_without_partitions_runs_alone_beside_one_that_reads_its_own_time(sales) -> None:
    sales.write("models/sales.strata", MODELS[: MODELS.index("model ranked")])
    sales.run("kinds", "daily", "same", key=ALL)
    assert made(sales.run("every")) == [("every", None)]
    assert sales.rows("every") == [{"total": 13}]


def shown(sales: Sales, name: str) -> dict[str, tuple[bool, bool]]:
    """Of each check of an asset: whether Dagster shows its latest evaluation, as one of the latest materialization, and
    whether it passed."""
    keys = [dg.AssetCheckKey(dg.AssetKey(name), check) for check in ("write_pin", "last_known_good")]
    found = sales.instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    context = LoadingContextForTest(sales.instance)
    return {
        key.name: (asyncio.run(record.targets_latest_materialization(context)), record.evaluation.passed)
        for key, record in found.items()
        if record.evaluation is not None
    }


def test_checks_of_a_reader_that_is_told_again_are_shown(read) -> None:
    unread(read)
    read.run("kinds")
    assert [key for key, _ in made(read.run("daily", key="2024-01-02"))] == ["daily", "same", "months"]
    for name in ("of_one", "same", "months"):
        assert shown(read, name) == {"write_pin": (True, True), "last_known_good": (True, True)}


def test_a_refused_partition_is_shown_though_another_was_made_since(sales) -> None:
    sales.run("daily", key=ALL)
    sales.run("daily", key="2024-01-02")
    sales.write("sales.csv", "id,day,kind,n\n1,2024-01-01,a,1\n2,2024-01-02,b,5\n3,2024-01-03,z,7\n")
    assert not sales.run("daily", key="2024-01-03").success
    assert shown(sales, "daily") == {"write_pin": (True, False), "last_known_good": (True, True)}
