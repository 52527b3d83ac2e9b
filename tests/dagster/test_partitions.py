"""Partitions of time as Dagster's: runs of one, of a range, backfills, and the sensor of what is stale."""

# Without postponed annotations: Dagster compares those of an op with types.

import json
import os
import subprocess
import sys
import threading

import dagster as dg
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.store import Store
from strata_dagster import DagsterStrataTranslator, StrataProject, strata_promotion_job, strata_stale_sensor

from .sales import DAYS, DEFINITIONS, MODELS, ROWS, Sales, made, verdicts

LAYOUT = 'partition_by: [day] partition_start: "2024-01-01" partition_end: "2024-01-05"'


def test_models_with_partitions_of_time_are_partitioned_assets(sales) -> None:
    (models,) = sales.assets()
    specs = {s.key.to_user_string(): s for s in models.specs}
    assert {name: spec.partitions_def and spec.partitions_def.get_partition_keys() for name, spec in specs.items()} == {
        "daily": DAYS,
        "by_day": DAYS,
        "total": None,
    }
    (dep,) = specs["by_day"].deps
    assert isinstance(dep.partition_mapping, dg.TimeWindowPartitionMapping)
    sales.edit(
        "models/sales.strata", "aggregate { total = sum(n) } )", "aggregate { total = sum(n) } ) sort { -total } take 2"
    )
    (dep,) = {s.key.to_user_string(): s for s in sales.assets()[0].specs}["by_day"].deps
    assert isinstance(dep.partition_mapping, dg.AllPartitionMapping)


def test_models_of_one_op_read_a_table_by_time_and_as_a_whole(sales) -> None:
    sales.edit(
        "models/sales.strata", "model total", "model best { from daily sort { -n } take 2 " + LAYOUT + "}\nmodel total"
    )
    graph = dg.Definitions(assets=sales.assets(), resources={"strata": sales.resource}).resolve_asset_graph()
    read = {name: graph.get_partition_mapping(dg.AssetKey(name), dg.AssetKey("daily")) for name in ("by_day", "best")}
    assert {name: type(mapping).__name__ for name, mapping in read.items()} == {
        "by_day": "TimeWindowPartitionMapping",
        "best": "AllPartitionMapping",
    }


@pytest.mark.parametrize(
    ("every", "start", "keys"),
    [
        ("week", "2024-01-01", ["2024-01-01", "2024-01-08"]),
        ("month", "2024-01-01", ["2024-01-01", "2024-02-01"]),
        ("hour", "2024-01-01T05:00", ["2024-01-01-05:00", "2024-01-01-06:00"]),
    ],
)
def test_each_length_has_the_keys_of_dagster(every, start, keys) -> None:
    from strata_core.periods import Periods
    from strata_dagster.partitions import time_windows

    periods = Periods("at", every, start, None, False)
    assert list(time_windows(periods).get_partition_keys())[:2] == keys
    assert [periods.key(periods.read(key)) for key in keys] == keys


def test_a_run_of_one_partition_publishes_it_alone(sales) -> None:
    result = sales.run("daily", "by_day", key="2024-01-02")
    assert result.success
    assert made(result) == [("daily", "2024-01-02"), ("by_day", "2024-01-02")]
    assert verdicts(result) == {"daily": True, "by_day": True}
    assert [r["id"] for r in sales.rows("daily")] == [2]
    metadata = sales.latest("daily")["2024-01-02"].metadata
    assert metadata["dagster/partition_row_count"].value == 1
    assert (metadata["partition"].value, metadata["reason"].value) == ("2024-01-02", "missing")
    assert "| 2024-01-02 | 1 | fresh |" in metadata["partitions_summary"].value
    late = sales.run("daily", "by_day", "total", key="2024-01-01")
    assert made(late) == [("daily", "2024-01-01"), ("by_day", "2024-01-01"), ("total", None)]
    assert sales.rows("total") == [{"total": 6}]


def test_a_run_of_a_range_tells_each_partition_with_its_own_version(sales) -> None:
    result = sales.run("daily", "by_day", key="2024-01-01...2024-01-03")
    assert result.success
    assert made(result) == [(name, day) for name in ("daily", "by_day") for day in DAYS[:3]]
    versions = sales.versions("daily")
    assert len({*versions.values()}) == 3
    assert sales.stale("by_day") == {"2024-01-04": "MISSING"}
    single = sales.run("daily", key="2024-01-02")
    assert made(single) == [("daily", "2024-01-02")]
    assert sales.versions("daily") == versions
    assert sales.latest("daily")["2024-01-02"].metadata["reused"].value is True


def test_a_partition_that_changed_upstream_makes_that_one_stale_downstream_and_no_other(sales) -> None:
    sales.run("daily", "by_day", key="2024-01-01...2024-01-04")
    assert sales.stale("by_day") == {}
    sales.write("sales.csv", ROWS.replace("5", "50"))
    sales.run("daily", key="2024-01-01...2024-01-04")
    assert sales.stale("by_day") == {"2024-01-02": "STALE"}
    sales.run("by_day", key="2024-01-02")
    assert sales.stale("by_day") == {}


def test_a_range_knows_the_versions_of_what_another_run_has_made(sales) -> None:
    sales.edit("models/sales.strata", "  from daily\n", "  from wide\n")
    sales.edit("models/sales.strata", "model total", "model wide { from sales }\nmodel total")
    sales.run("wide")
    assert sales.run("by_day", key="2024-01-01...2024-01-04").success
    assert sales.stale("by_day") == {}
    tags = sales.latest("by_day")["2024-01-01"].tags
    assert tags["dagster/input_data_version/wide"] == sales.versions("wide")[""]
    sales.write("models/sales.strata", MODELS)
    sales.run("daily", key="2024-01-01...2024-01-04")
    sales.run("by_day", key="2024-01-01...2024-01-04")
    assert sales.stale("by_day") == {}


def test_an_op_of_another_asset_runs_after_a_range(sales) -> None:
    daily = sales.assets()[0].specs_by_key[dg.AssetKey("daily")].partitions_def

    @dg.asset(deps=["by_day"], partitions_def=daily, backfill_policy=dg.BackfillPolicy.single_run())
    def report() -> None: ...

    result = sales.run("daily", "by_day", "report", key="2024-01-01...2024-01-02", extra=[report])
    assert result.success
    assert [pair for pair in made(result) if pair[0] == "report"] == [("report", day) for day in DAYS[:2]]
    assert len({*sales.versions("by_day").values()}) == 2


def test_a_violating_partition_leaves_its_previous_version_live_and_fails_the_run(sales) -> None:
    sales.run("daily", "by_day", key="2024-01-01...2024-01-04")
    before = sales.versions("daily")
    sales.write("sales.csv", ROWS.replace("2,2024-01-02,b,5", "2,2024-01-02,x,5").replace("7", "70"))
    alone = sales.run("daily", "by_day", key="2024-01-02")
    assert (alone.success, made(alone), verdicts(alone)) == (False, [], {"daily": False, "by_day": False})
    other = sales.run("daily", "by_day", key="2024-01-03")
    assert (other.success, made(other)) == (True, [("daily", "2024-01-03"), ("by_day", "2024-01-03")])
    after = sales.versions("daily")
    assert [day for day in DAYS if after[day] != before[day]] == ["2024-01-03"]
    assert [(r["kind"], r["n"]) for r in sales.rows("daily")] == [("a", 1), ("b", 5), ("a", 70)]


def test_each_publishes_the_sound_partitions_of_a_range(sales) -> None:
    sales.edit("strata.toml", 'name = "sales"\n', 'name = "sales"\n[environments.prod]\npublish = "each"\n')
    sales.write("sales.csv", ROWS.replace("2,2024-01-02,b,5", "2,2024-01-02,x,5"))
    result = sales.run("daily", key="2024-01-01...2024-01-03")
    assert (result.success, verdicts(result)) == (False, {"daily": False})
    assert made(result) == [("daily", "2024-01-01"), ("daily", "2024-01-03")]
    (check,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "write_pin"]
    assert "| 2024-01-02 | violated |" in check.metadata["partitions"].value
    assert [r["id"] for r in sales.rows("daily")] == [1, 3]


def test_a_run_without_a_partition_says_what_to_choose(sales) -> None:
    result = sales.run("daily")
    assert not result.success
    (failure,) = [e.step_failure_data.error.to_string() for e in result.all_events if e.is_step_failure]
    assert "these assets are materialized by their partitions, and the run names none: daily" in failure
    assert sales.run("total", "by_day", key="2024-01-01").success is False  # by_day's upstream is not there


def test_partitions_of_the_decorator_and_of_a_translator(sales) -> None:
    narrow = dg.DailyPartitionsDefinition("2024-01-02", end_date="2024-01-04")
    sales.options = {"partitions_def": narrow}
    specs = {s.key.to_user_string(): s.partitions_def for s in sales.assets()[0].specs}
    assert specs == {"daily": narrow, "by_day": narrow, "total": None}
    assert made(sales.run("daily", key="2024-01-02")) == [("daily", "2024-01-02")]

    class Whole(DagsterStrataTranslator):
        def get_partitions_def(self, project, model):
            return None

    sales.options = {"translator": Whole()}
    result = sales.run()
    assert made(result) == [("daily", None), ("by_day", None), ("total", None)]
    assert sales.rows("total") == [{"total": 13}]


def test_keys_that_are_no_partition_of_the_model_fail_its_pin(sales) -> None:
    sales.options = {"partitions_def": dg.DailyPartitionsDefinition("2023-12-01", end_date="2024-03-01")}
    result = sales.run("daily", key="2023-12-01")
    assert (result.success, verdicts(result)) == (False, {"daily": False})
    (check,) = [c for c in result.get_asset_check_evaluations() if c.check_name == "write_pin"]
    assert "`2023-12-01` is no partition of `daily`" in check.metadata["findings"].value


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (dg.MonthlyPartitionsDefinition("2024-01-01"), "Monthly, starting 2024-01-01 UTC."),
        (dg.HourlyPartitionsDefinition("2024-01-01-00:00"), "Hourly, starting 2024-01-01-00:00 UTC."),
        (dg.WeeklyPartitionsDefinition("2024-01-01"), "Weekly, starting 2024-01-01 UTC."),
        (dg.DailyPartitionsDefinition("01/01/2024", fmt="%d/%m/%Y"), "Daily, starting 01/01/2024 UTC."),
    ],
)
def test_partitions_of_another_length_are_told_when_the_code_location_loads(sales, given, told) -> None:
    """One of a month would be the rows of its first day alone."""
    sales.options = {"partitions_def": given}
    expected = (
        "E037: a partition of model `daily` (models/sales.strata:6:1) is one day, written as `2024-01-01`, "
        f"and those given are others: {told} Give `partitions_def` the same length, or let `get_partitions_def` of the "
        "translator decide for each"
    )
    for load in (
        sales.assets,
        lambda: strata_stale_sensor(project=sales.project, resource=sales.resource, partitions_def=given),
    ):
        with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
            load()
        assert str(refused.value) == expected


@pytest.mark.parametrize(
    "given",
    [
        dg.DailyPartitionsDefinition("2024-01-02", end_offset=1),
        dg.DailyPartitionsDefinition("2024-01-02", timezone="Asia/Tokyo"),
        dg.DailyPartitionsDefinition("2024-03-31", timezone="Europe/Madrid"),
        dg.DailyPartitionsDefinition("2024-01-01", hour_offset=6, minute_offset=30),
        dg.DailyPartitionsDefinition("2099-01-01"),
    ],
    ids=str,
)
def test_partitions_of_the_same_length_are_taken_wherever_they_begin(sales, given) -> None:
    sales.options = {"partitions_def": given}
    assert {spec.partitions_def for spec in sales.assets()[0].specs} == {given, None}


def test_a_model_without_partitions_of_time_is_given_none(sales) -> None:
    class Days(DagsterStrataTranslator):
        def get_partitions_def(self, project, model):
            return dg.DailyPartitionsDefinition("2024-01-01")

    sales.options = {"translator": Days()}
    with pytest.raises(dg.DagsterInvalidDefinitionError) as refused:
        sales.assets()
    assert str(refused.value) == (
        "E037: model `total` (models/sales.strata:19:1) has no partitions of time, and its asset is given some: let "
        "`get_partitions_def` of the translator give None, or give the model a `partition_start`"
    )


def test_backfills_are_single_runs_unless_the_decorator_says_otherwise(sales) -> None:
    assert sales.assets()[0].backfill_policy == dg.BackfillPolicy.single_run()
    sales.options = {"backfill_policy": dg.BackfillPolicy.multi_run(1)}
    assert sales.assets()[0].backfill_policy == dg.BackfillPolicy.multi_run(1)


def test_an_op_of_each_model(sales) -> None:
    sales.options = {"op_per_model": True}
    result = sales.run("daily", "by_day", key="2024-01-01...2024-01-02")
    assert result.success
    assert {name for name, _ in made(result)} == {"daily", "by_day"}
    assert {*sales.versions("by_day")} == {"2024-01-01", "2024-01-02"}
    assert sales.stale("by_day") == {"2024-01-03": "MISSING", "2024-01-04": "MISSING"}


def test_the_compiled_manifest_keeps_partitions(sales) -> None:
    from strata_core.planning.kept.compiled_manifest import write_manifest
    from strata_core.planning.kept.outline import outline
    from strata_core.planning.project import open_project

    before = sales.assets()[0].specs
    opened = open_project(project=sales.root)
    write_manifest(opened, outline(opened))
    after = sales.assets()[0].specs
    assert [s.partitions_def for s in after] == [s.partitions_def for s in before]
    assert [[d.partition_mapping for d in s.deps] for s in after] == [
        [d.partition_mapping for d in s.deps] for s in before
    ]


def test_dagster_asset_materialize_with_a_partition_and_a_range(sales) -> None:
    def materialize(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dagster", "asset", "materialize", "-f", "sales_definitions.py", *options]
        env = {**os.environ, "DAGSTER_HOME": str(sales.root.parent / "home")}
        return subprocess.run(command, cwd=sales.root, env=env, capture_output=True, text=True, check=False)

    one = materialize("--select", "daily,by_day", "--partition", "2024-01-02")
    assert one.returncode == 0, one.stderr
    many = materialize("--select", "daily,by_day", "--partition-range", "2024-01-01...2024-01-04")
    assert many.returncode == 0, many.stderr
    assert [*sales.versions("by_day")] == ["2024-01-04", "2024-01-03", "2024-01-02", "2024-01-01"]
    assert [r["id"] for r in sales.rows("daily")] == [1, 2, 3]


HELD = """

from time import monotonic, sleep

from strata_core.store.environments import Environment

original = Environment.publish


def held(self, *arguments, **options):  # until another has published
    (project.root / "held").touch()
    until = monotonic() + 600
    while not (project.root / "go").exists() and monotonic() < until:
        sleep(0.05)
    return original(self, *arguments, **options)


Environment.publish = held
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "text", "code", "amounts"),
    [
        ("2024-01-02", ROWS, 0, [5]),
        ("2024-01-02", ROWS.replace("b,5", "b,50"), 1, [50]),
        ("2024-01-03", ROWS, 0, [5, 7]),
    ],
    ids=["the same rows", "newer rows", "another partition"],
)
def test_the_command_line_and_dagster_apply_a_partition_at_the_same_moment(sales, key, text, code, amounts) -> None:
    """What is published later is laid beside what was published meanwhile, or says E093 where that has other rows."""
    sales.write("held_definitions.py", DEFINITIONS + HELD)
    command = ["asset", "materialize", "-f", "held_definitions.py", "--select", "daily,by_day"]
    run = subprocess.Popen(
        [sys.executable, "-m", "dagster", *command, "--partition", "2024-01-02"],
        cwd=sales.root,
        env={**os.environ, "DAGSTER_HOME": str(sales.root.parent / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    pause = threading.Event()
    while not (sales.root / "held").exists():
        assert run.poll() is None, run.communicate()[0]
        pause.wait(0.1)
    sales.write("sales.csv", text)
    ours = ["apply", "daily", "by_day", "--partition", key, "--project", str(sales.root)]
    assert CliRunner().invoke(strata, ours, standalone_mode=False).return_value == 0
    before = Store.open(sales.root / ".strata/store").environment("prod").head()
    sales.write("go", "")
    said, _ = run.communicate(timeout=120)
    assert run.returncode == code, said
    assert ("E093" in said) is (code == 1)
    assert [row["n"] for row in sales.rows("daily")] == amounts
    assert [row["total"] for row in sales.rows("by_day")] == amounts
    made = sales.versions("daily")
    assert [*made] == ([] if code else ["2024-01-02"])
    if code:
        assert Store.open(sales.root / ".strata/store").environment("prod").head() == before
        assert sales.run("daily", "by_day", key="2024-01-02").success
    assert sales.run("daily", "by_day", key="2024-01-02").success
    assert [row["n"] for row in sales.rows("daily")] == amounts


class Ticks:
    """Ticks of the sensor, whose runs are carried out."""

    def __init__(self, sales: Sales) -> None:
        self.sales = sales
        self.cursor: str | None = None

    def tick(self) -> list[tuple[list[str], str | None]]:
        """What is asked for: assets, and the partition or the range of them."""
        sensor = strata_stale_sensor(project=self.sales.project, resource=self.sales.resource)
        data = self.sales.evaluated(sensor, self.cursor)
        self.cursor, found = data.cursor, []
        for request in data.run_requests or ():
            names = [key.to_user_string() for key in request.asset_selection or ()]
            ends = [
                request.tags[f"dagster/asset_partition_range_{end}"]
                for end in ("start", "end")
                if f"dagster/asset_partition_range_{end}" in request.tags
            ]
            key = "...".join(ends) or request.partition_key
            found.append((names, key))
            self.sales.run(*names, key=key)
        return found


def test_the_sensor_materializes_exactly_the_stale_set_once(sales) -> None:
    ticks = Ticks(sales)
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert ticks.tick() == [(["total"], None)]
    assert ticks.tick() == []
    sales.write("sales.csv", ROWS.replace("7", "70"))
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert ticks.tick() == [(["total"], None)]
    assert (ticks.tick(), sales.rows("total")) == ([], [{"total": 76}])
    sales.edit(
        "models/sales.strata",
        "model total { from by_day aggregate",
        "model total { from by_day filter total > 5 aggregate",
    )
    assert ticks.tick() == [(["total"], None)]
    assert ticks.tick() == []


def test_the_sensor_does_not_try_a_failing_candidate_again(sales) -> None:
    ticks = Ticks(sales)
    sales.write("sales.csv", ROWS.replace("2,2024-01-02,b", "2,2024-01-02,x"))
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert [ticks.tick() for _ in range(3)] == [[], [], []]
    assert len(json.loads(ticks.cursor or "{}")["asked"]) == 8
    sales.write("sales.csv", ROWS)
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert ticks.tick() == [(["total"], None)]
    assert (ticks.tick(), json.loads(ticks.cursor or "{}")["asked"]) == ([], {})


def test_a_tick_plans_nothing_while_nothing_has_changed(sales, monkeypatch) -> None:
    from strata_core.planning.workspace import Workspace

    ticks = Ticks(sales)
    while ticks.tick():
        pass
    planned: list[object] = []
    plan = Workspace.plan
    monkeypatch.setattr(Workspace, "plan", lambda self, *a, **k: planned.append(a) or plan(self, *a, **k))
    assert (ticks.tick(), planned) == ([], [])
    sales.write("sales.csv", ROWS.replace("7", "70"))
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]


def test_the_sensor_of_a_project_that_does_not_compile_skips(sales) -> None:
    sensor = strata_stale_sensor(project=sales.project, resource=sales.resource)
    before = sales.assets()
    sales.edit("models/sales.strata", "from by_day aggregate", "from nowhere aggregate")
    data = sales.evaluated(sensor, None, before)
    assert "E020" in (data.skip_message or "")


def test_the_stale_set_is_that_of_the_plan(sales) -> None:
    from strata_core.planning.project import compile_, open_project
    from strata_core.planning.workspace import open_workspace

    sales.run("daily", "by_day", key="2024-01-01...2024-01-04")
    sales.write("sales.csv", ROWS.replace("7", "70"))
    sales.run("daily", key="2024-01-03")
    opened = open_project(project=sales.root)
    from strata_core.planning.partitions.asked_periods import Asked

    plan = open_workspace(opened, "prod", compile_(opened)).plan(
        ["by_day"], with_upstream=False, asked=Asked(DAYS[0], DAYS[-1])
    )
    told = {p.key for planned in plan.stale for p in planned.periods or () if p.causes}
    assert told == {*sales.stale("by_day")} == {"2024-01-03"}


def test_the_sensor_asks_for_the_models_that_compile_of_a_project_with_errors(sales) -> None:
    sales.run("daily", "by_day", key="2024-01-01...2024-01-04")
    sales.edit("models/sales.strata", "group { day }", "group { dya }")
    sales.write("sales.csv", ROWS.replace("7", "70"))
    tolerant = StrataProject(sales.root, on_error="check")
    sensor = strata_stale_sensor(project=tolerant, resource=sales.resource)
    data = sales.evaluated(sensor, None, [dg.AssetSpec(name) for name in ("daily", "by_day", "total")])
    (request,) = data.run_requests
    assert [key.to_user_string() for key in request.asset_selection] == ["daily"]


def test_a_model_that_has_got_partitions_is_made_by_a_range_of_all(sales) -> None:
    layout = '  partition_by: [day]\n  partition_start: "2024-01-01"\n  partition_end: "2024-01-05"\n'
    sales.write("models/sales.strata", MODELS.replace(f"from sales\n{layout}", "from sales\n"))
    assert made(sales.run("daily")) == [("daily", None)]
    sales.write("models/sales.strata", MODELS)
    assert (sales.run("daily", key="2024-01-02").success, len(sales.rows("daily"))) == (False, 3)
    ticks = Ticks(sales)
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert [r["id"] for r in sales.rows("daily")] == [1, 2, 3]
    assert ticks.tick() == [(["total"], None)]
    assert ticks.tick() == []


@pytest.mark.parametrize("cursor", ["garbage", "null", "[]", '{"seen": 3}', '{"seen": "", "asked": [1]}'])
def test_a_cursor_that_is_none_of_the_sensor_is_as_none(sales, cursor) -> None:
    ticks = Ticks(sales)
    ticks.cursor = cursor
    assert ticks.tick() == [(["daily", "by_day"], "2024-01-01...2024-01-04")]
    assert ticks.tick() == [(["total"], None)]


def test_a_promotion_tells_each_partition_that_is_other_than_before(sales) -> None:
    job = strata_promotion_job(sales.assets(), source="dev")
    tables = ["apply", "--project", str(sales.root), "--env", "dev"]
    assert CliRunner().invoke(strata, tables, standalone_mode=False).return_value == 0
    assert sales.run("daily", "by_day", key="2024-01-01").success

    def promoted():
        defs = dg.Definitions(assets=sales.assets(), resources={"strata": sales.resource}, jobs=[job])
        done = defs.resolve_job_def("promote").execute_in_process(
            instance=sales.instance, raise_on_error=False, partition_key="2024-01-01"
        )
        events = done.get_asset_materialization_events()
        return done.success, sorted((e.asset_key.to_user_string(), e.partition or "") for e in events)

    assert promoted() == (
        True,
        [*((name, day) for name in ("by_day", "daily") for day in DAYS[:3]), ("total", "")],
    )
    assert sales.rows("total") == [{"total": 13}]
    assert sales.stale("by_day") == {DAYS[3]: "MISSING"}
    assert sales.latest("daily")["2024-01-02"].metadata["reason"].value == "promoted: dev"
    assert promoted() == (True, [("by_day", DAYS[0]), ("daily", DAYS[0]), ("total", "")])
