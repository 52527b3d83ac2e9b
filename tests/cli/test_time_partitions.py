"""`--partition` of plan and apply (docs/cli.md)."""

from __future__ import annotations

import pytest

MODELS = """\
source sales(csv: "sales.csv") { columns: { id: int64 primary_key, day: date nonnull, kind: string, n: int64 } }
contract Sale { id: int64 primary_key  day: date nonnull  kind: string enum {a, b} n: int64 }
model daily -> contract Sale { from sales partition_by: [day] partition_start: "2024-01-01" }
model by_day {
  from daily
  group { day } ( aggregate { total = sum(n) } )
  partition_by: [day]
  partition_start: "2024-01-01"
}
model total { from by_day aggregate { total = sum(total) } }
"""
ROWS = "id,day,kind,n\n1,2024-01-01,a,1\n2,2024-01-02,b,2\n3,2024-01-03,a,3\n"


@pytest.fixture
def parts(empty):
    empty.write("strata.toml", '[project]\nname = "parts"\n[engine]\nname = "reference"\n')
    empty.write("models/m.strata", MODELS)
    empty.write("sales.csv", ROWS)
    return empty


def test_apply_of_a_partition_and_of_a_range(parts) -> None:
    one = parts("apply", "daily", "--partition", "2024-01-02")
    assert (one.code, one.out) == (0, "prod: version 1 is live (1 computed)\n")
    assert "1 partition (1 computed)" in one.err
    many = parts("apply", "--partition", "2024-01-01..2024-01-03", "--format", "json")
    told = {m["name"]: {key: p["status"] for key, p in m["partitions"].items()} for m in many.document["models"]}
    assert told == {
        "daily": {"2024-01-01": "computed", "2024-01-03": "computed"},
        "by_day": {"2024-01-01": "computed", "2024-01-02": "computed", "2024-01-03": "computed"},
    }
    assert parts("show", "daily", "--format", "csv").out == ROWS


def test_plan_of_partitions(parts) -> None:
    parts("apply", "--partition", "2024-01-01")
    parts.write("sales.csv", ROWS.replace("2,2024-01-02,b,2", "2,2024-01-02,b,20"))
    planned = parts("plan", "daily", "by_day", "--partition", "2024-01-01..2024-01-02", "--format", "json")
    assert {m["name"]: m["partitions"] for m in planned.document["models"]} == {
        "daily": {"2024-01-01": ["data change: sales"], "2024-01-02": ["missing"]},
        "by_day": {"2024-01-01": ["upstream change: daily"], "2024-01-02": ["upstream change: daily"]},
    }
    text = parts("plan", "daily", "--partition", "2024-01-01..2024-01-02")
    assert "data change: sales; missing (2 of 2 partitions)" in text.out


def test_models_without_partitions_beside_those_that_have_some(parts) -> None:
    ran = parts("apply", "daily", "by_day", "total", "--partition", "2024-01-01..2024-01-03")
    assert (ran.code, parts("show", "total", "--format", "csv").out) == (0, "total\n6\n")


def test_a_violating_partition(parts) -> None:
    parts("apply")
    parts.write("sales.csv", ROWS.replace("2,2024-01-02,b", "2,2024-01-02,x"))
    ran = parts("apply", "daily", "--partition", "2024-01-02..2024-01-03")
    assert (ran.code, ran.clean) == (3, True)
    assert "2 partitions (1 violated, 1 computed): 2024-01-02" in ran.err
    assert ran.out == "prod: nothing was published, version 1 stays live (1 violated)\n"
    parts.edit("strata.toml", 'name = "parts"\n', 'name = "parts"\n[environments.prod]\npublish = "each"\n')
    each = parts("apply", "daily", "--partition", "2024-01-02..2024-01-03")
    assert (each.code, each.out) == (3, "prod: version 2 is live (1 violated)\n")
    assert parts("show", "daily", "--format", "csv").out == ROWS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("daily", "--partition", "2024-02-30"), "`2024-02-30` is no partition of `daily`"),
        (("daily", "--partition", ""), "`` is no partition of `daily`"),
        (("daily", "--partition", "2024-01-01...2024-01-02"), "`.2024-01-02` is no partition of `daily`"),
        (("total", "--partition", "2024-01-01"), "`total` has no partitions of time"),
        (("--partition", "1999-01-01"), "`1999-01-01` is no partition of `by_day`"),
    ],
)
def test_e037_bad_partitions(parts, arguments, said) -> None:
    for verb in ("plan", "apply"):
        ran = parts(verb, *arguments)
        assert (ran.code, ran.clean) == (2, True)
        assert said in ran.err


def test_rollback_and_history_know_partitions(parts) -> None:
    parts("apply")
    parts.write("sales.csv", ROWS.replace("b,2", "b,20"))
    parts("apply", "daily", "--partition", "2024-01-02")
    assert parts("show", "daily", "--format", "csv").out == ROWS.replace("b,2", "b,20")
    assert parts("rollback", "1").code == 0
    assert parts("show", "daily", "--format", "csv").out == ROWS
    assert parts("plan", "daily").code == 0


def test_an_apply_of_all_makes_a_table_whole_that_was_made_before_it_had_partitions(parts) -> None:
    parts.edit("models/m.strata", 'from sales partition_by: [day] partition_start: "2024-01-01" }', "from sales }")
    parts("apply", "daily")
    parts.write("models/m.strata", MODELS)
    refused = parts("apply", "daily", "--partition", "2024-01-01")
    assert "is live with other partitions of time, or none" in refused.err
    assert parts("apply", "daily").code == 0
    assert parts("apply", "daily", "--partition", "2024-01-01").out == "prod: nothing to do (1 fresh)\n"


def test_a_partition_beside_a_table_that_is_damaged_is_refused_and_says_what_to_do(parts) -> None:
    parts("apply", "daily")
    for manifest in parts.root.glob(".strata/store/tables/daily/data/artifacts/*/_manifest.json"):
        manifest.write_bytes(b"{")
    ran = parts("apply", "daily", "--partition", "2024-01-02")
    assert (ran.code, ran.out) == (4, "prod: nothing was published, version 1 stays live (1 failed)\n")
    assert "error[E037]: what is live of `daily` is lost or damaged: one of these cannot stand beside it" in ran.err
    assert " --> models/m.strata:3:7" in ran.err
    assert parts("apply", "daily").out == "prod: version 2 is live (1 computed)\n"
    assert parts("show", "daily", "--format", "csv").out == ROWS
