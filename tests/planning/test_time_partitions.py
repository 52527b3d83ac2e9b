"""Partitions of time: made, pinned, published and reused each by itself (language.md, "Partitions of time")."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import PurePath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata_core.diagnostics import StrataError
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.planning.applying.apply import apply_plan
from strata_core.planning.applying.results import ModelResult, Outcome
from strata_core.planning.partitions.asked_periods import Asked
from strata_core.planning.partitions.pieces import pieces_of
from strata_core.store import Artifact
from strata_core.store.manifest import read as manifest_read
from strata_core.store.orphans import collect
from tests.buckets import make_bucket

from .conftest import Shop

SOURCE = """\
source sales(csv: "sales.csv") {
  columns: { id: int64 primary_key, day: date nonnull, kind: string, n: int64 nonnull }
}
"""
DAILY = """\
contract Sale { id: int64 primary_key  day: date nonnull  kind: string enum {a, b, c}  n: int64 nonnull }
model daily -> contract Sale { from sales partition_by: [day] partition_start: "2024-01-01" }
"""
BY_DAY = """\
model by_day {
  from daily
  group { day } ( aggregate { total = sum(n), sales = count() } )
  partition_by: [day]
  partition_start: "2024-01-01"
}
"""
BY_MONTH = """\
model by_month {
  from daily
  group { month = date_trunc(day, month) } ( aggregate { total = sum(n) } )
  partition_by: [month]
  partition_start: "2024-01-01"
  partition_every: month
}
"""
TO_MARCH = 'partition_start: "2024-01-01" partition_end: "2024-03-01"'
TOTAL = "model total { from by_day aggregate { total = sum(total) } }\n"
ROWS = "id,day,kind,n\n1,2024-01-01,a,1\n2,2024-01-01,b,5\n3,2024-01-02,a,7\n4,2024-02-03,c,9\n"


@pytest.fixture
def sales(tmp_path) -> Shop:
    return filled(Shop(tmp_path / "sales"))


def filled(made: Shop) -> Shop:
    made.write("strata.toml", '[project]\nname = "sales"\n[engine]\nname = "reference"\n')
    made.write("models/sales.strata", SOURCE + DAILY + BY_DAY + BY_MONTH + TOTAL)
    made.write("sales.csv", ROWS)
    return made


def apply(shop: Shop, key: str, *models: str, publish: str = "together", alone: bool = False) -> Outcome:
    first, _, last = key.partition("..")
    workspace = shop.workspace()
    plan = workspace.plan(models or None, asked=Asked(first, last or first), with_upstream=not alone)
    *_, outcome = apply_plan(workspace, plan, ReferenceEngine(), publish=publish)
    assert isinstance(outcome, Outcome)
    return outcome


def reasons(shop: Shop, key: str, *models: str) -> dict[str, dict[str, list[str]]]:
    first, _, last = key.partition("..")
    plan = shop.workspace().plan(models or None, asked=Asked(first, last or first))
    return {m.name: {p.key: [str(c) for c in p.causes] for p in m.periods or () if p.causes} for m in plan.stale}


def live(shop: Shop, model: str) -> Artifact:
    store = shop.workspace().store
    return store.artifact(model, store.environment("prod").head().models[model])


def digests(shop: Shop, model: str) -> dict[str, str]:
    pieces = pieces_of(live(shop, model))
    assert pieces is not None
    return {key: piece.digest for key, piece in pieces.by_key.items() if piece.rows}


def pieces(result: ModelResult) -> dict[str, str]:
    return {key: str(piece.status) for key, piece in result.pieces.items()}


def ids(shop: Shop, model: str = "daily") -> list[object]:
    return [row["id"] for row in shop.rows(model)]


def test_an_apply_of_all_makes_each_partition_and_the_same_again_is_fresh(sales) -> None:
    outcome = sales.apply()
    assert pieces(outcome.results["daily"]) == dict.fromkeys(("2024-01-01", "2024-01-02", "2024-02-03"), "computed")
    assert pieces(outcome.results["by_month"]) == {"2024-01-01": "computed", "2024-02-01": "computed"}
    assert sales.reasons() == {}
    assert [p.artifact for p in live(sales, "daily").manifest.parts] == [
        p.address for p in pieces_of(live(sales, "daily")).by_key.values()
    ]


def test_a_partition_is_published_alone(sales) -> None:
    outcome = apply(sales, "2024-01-02", "daily")
    assert pieces(outcome.results["daily"]) == {"2024-01-02": "computed"}
    assert ids(sales) == [3]
    apply(sales, "2024-01-01", "daily")
    assert ids(sales) == [1, 2, 3]
    assert sales.reasons("daily") == {"daily": ["only some partitions"]}


def test_a_partition_is_computed_with_what_it_reads_upstream_and_no_more(sales) -> None:
    outcome = apply(sales, "2024-02-01", "by_month")
    assert pieces(outcome.results["daily"]) == {
        (date(2024, 2, 1) + timedelta(days=i)).isoformat(): "computed" for i in range(29)
    }
    assert [row["total"] for row in sales.rows("by_month")] == [9]
    assert ids(sales) == [4]


def test_a_late_partition_leaves_the_others_fresh_and_what_reads_all_reads_it(sales) -> None:
    sales.apply()
    sales.write("sales.csv", ROWS + "5,2024-01-02,a,100\n")
    # of a file it cannot be told which days changed before it is read
    assert reasons(sales, "2024-01-01..2024-01-02", "daily") == {
        "daily": {"2024-01-01": ["data change: sales"], "2024-01-02": ["data change: sales"]}
    }
    before = digests(sales, "daily")
    apply(sales, "2024-01-02", "daily")
    after = digests(sales, "daily")
    assert {key for key in after if after[key] != before[key]} == {"2024-01-02"}
    # downstream it can
    plan = reasons(sales, "2024-01-01..2024-01-02", "by_day")
    assert plan["by_day"] == {day: ["upstream change: daily"] for day in ("2024-01-01", "2024-01-02")}
    alone = apply(sales, "2024-01-01..2024-01-02", "by_day", alone=True)
    assert pieces(alone.results["by_day"]) == {"2024-01-02": "computed"}
    assert sales.apply("total").results["total"].status == "computed"
    assert sales.rows("total") == [{"total": 122}]


def test_a_partition_whose_input_did_not_change_is_not_stale(sales) -> None:
    sales.apply()
    sales.write("sales.csv", ROWS + "5,2024-01-02,a,100\n")
    sales.apply("daily")
    workspace = sales.workspace()
    plan = workspace.plan(["by_day"], asked=Asked("2024-01-01", "2024-01-02"), with_upstream=False)
    assert [(p.key, [str(c) for c in p.causes]) for p in plan.models[0].periods or ()] == [
        ("2024-01-01", []),
        ("2024-01-02", ["upstream change: daily"]),
    ]
    assert pieces(sales.apply("by_day").results["by_day"]) == {
        "2024-01-01": "reused",
        "2024-01-02": "computed",
        "2024-02-03": "reused",
    }


def test_an_edit_makes_each_partition_stale_and_each_can_be_made_by_itself(sales) -> None:
    sales.apply()
    sales.edit("models/sales.strata", "from sales partition_by", "from sales filter n > 1 partition_by")
    assert reasons(sales, "2024-01-01", "daily") == {"daily": {"2024-01-01": ["own change"]}}
    apply(sales, "2024-01-01", "daily")
    assert ids(sales) == [2, 3, 4]
    assert reasons(sales, "2024-01-01", "daily") == {}
    assert sales.reasons("daily") == {"daily": ["own change", "only some partitions"]}
    sales.apply()
    assert sales.reasons() == {}


def test_the_last_partition_that_was_missing_makes_the_table_whole(sales) -> None:
    sales.apply("daily")
    for day in ("2024-01-01", "2024-01-02"):
        apply(sales, day, "by_day", alone=True)
        assert sales.reasons("by_day") == {"by_day": ["only some partitions"]}
    apply(sales, "2024-02-03", "by_day", alone=True)
    assert sales.reasons("by_day") == {}
    sales.apply()
    assert sales.statuses("by_day") == {"by_day": "fresh"}


def test_a_violating_partition_leaves_its_previous_version_live_and_the_others_untouched(sales) -> None:
    sales.apply()
    before, version = digests(sales, "daily"), sales.head()
    sales.write("sales.csv", ROWS.replace("3,2024-01-02,a,7", "3,2024-01-02,x,7").replace("9", "10"))
    together = apply(sales, "2024-01-01..2024-02-03", "daily").results["daily"]
    assert (str(together.status), [d.code for d in together.violations]) == ("violated", ["E082"])
    assert (sales.head(), digests(sales, "daily")) == (version, before)
    each = apply(sales, "2024-01-01..2024-02-03", "daily", publish="each").results["daily"]
    assert {k: s for k, s in pieces(each).items() if s == "violated"} == {"2024-01-02": "violated"}
    after = digests(sales, "daily")
    assert {key for key in after if after[key] != before[key]} == {"2024-02-03"}
    assert [(r["id"], r["kind"], r["n"]) for r in sales.rows("daily")] == [
        (1, "a", 1),
        (2, "b", 5),
        (3, "a", 7),
        (4, "c", 10),
    ]
    assert sales.reasons("daily") == {"daily": ["data change: sales", "only some partitions"]}


def test_seed0_s5c_a_key_without_the_column_of_time_is_asked_of_the_whole_table(sales) -> None:
    sales.apply()
    version = sales.head()
    # 3 moves to another day, and only that day is applied: the table would have it twice
    sales.write("sales.csv", ROWS.replace("3,2024-01-02", "3,2024-01-01"))
    result = apply(sales, "2024-01-01", "daily").results["daily"]
    (found,) = result.violations
    assert (found.code, sales.head()) == ("E083", version)
    both = apply(sales, "2024-01-01..2024-01-02", "daily").results["daily"]
    assert str(both.status) == "computed"
    assert ids(sales) == [1, 2, 3, 4]


def test_a_key_that_is_proven_of_rows_computed_at_once_is_asked_of_pieces_too(sales) -> None:
    newest = "model newest { from daily group { kind } ( aggregate { day = max(day) } ) "
    sales.write(
        "models/newest.strata",
        newest + 'filter day is not none partition_by: [day] partition_start: "2024-01-01" }\n',
    )
    sales.apply()
    assert [(r["kind"], r["day"].isoformat()) for r in sales.rows("newest")] == [
        ("b", "2024-01-01"),
        ("a", "2024-01-02"),
        ("c", "2024-02-03"),
    ]
    sales.write("sales.csv", ROWS + "5,2024-01-05,a,1\n")
    sales.apply("daily")
    result = apply(sales, "2024-01-05", "newest", alone=True).results["newest"]
    assert [(d.code, d.message) for d in result.violations] == [
        ("E083", "1 row repeats a value of `kind`, which contract `newest` promises unique, as the model makes it")
    ]


def test_a_table_without_partitions_is_not_replaced_by_one_of_them(sales) -> None:
    sales.edit(
        "models/sales.strata", 'partition_by: [day] partition_start: "2024-01-01" }\nmodel by_day', "}\nmodel by_day"
    )
    sales.apply("daily")
    filled(sales)
    result = apply(sales, "2024-01-01", "daily").results["daily"]
    fix = "apply all of it once (`strata apply daily`), or a range of partitions with all rows that are live"
    assert [(d.code, d.fix) for d in result.violations] == [("E037", fix)]
    assert ids(sales) == [1, 2, 3, 4]
    short = apply(sales, "2024-01-01..2024-02-02", "daily").results["daily"]
    assert ([d.code for d in short.violations], ids(sales)) == (["E037"], [1, 2, 3, 4])
    sales.apply("daily")
    assert sales.reasons("daily") == {}


def lost_manifest(table: Artifact) -> None:
    (table.directory / "_manifest.json").unlink()


def damaged_manifest(table: Artifact) -> None:
    (table.directory / "_manifest.json").write_bytes(b"{")


def lost_part(table: Artifact) -> None:
    table.paths[0].unlink()


@pytest.mark.parametrize("damage", [lost_manifest, damaged_manifest, lost_part])
def test_a_table_that_is_damaged_is_not_replaced_by_one_of_its_partitions(sales, damage) -> None:
    sales.edit("models/sales.strata", 'partition_start: "2024-01-01" }\nmodel by_day', f"{TO_MARCH} }}\nmodel by_day")
    sales.apply("daily")
    damage(live(sales, "daily"))
    before = sales.head()
    for key in ("2024-01-02", "2024-01-01..2024-02-28", "2024-01-02..2024-02-29"):
        result = apply(sales, key, "daily").results["daily"]
        assert [(d.code, d.message, str(d.span), d.fix) for d in result.violations] == [
            (
                "E037",
                "what is live of `daily` is lost or damaged: one of these cannot stand beside it",
                "models/sales.strata:5:7",
                "apply all of it once (`strata apply daily`), or a range of all its partitions",
            )
        ]
    assert sales.head() == before
    apply(sales, "2024-01-01..2024-02-29", "daily")
    assert ids(sales) == [1, 2, 3, 4]
    assert sales.reasons("daily") == {}


def test_of_a_table_without_an_end_all_partitions_are_those_that_are_over(sales) -> None:
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    start = yesterday - timedelta(days=3)
    sales.edit("models/sales.strata", '"2024-01-01" }\nmodel by_day', f'"{start}" }}\nmodel by_day')
    sales.write("sales.csv", f"id,day,kind,n\n1,{start},a,1\n2,{yesterday},b,5\n")
    sales.apply("daily")
    lost_manifest(live(sales, "daily"))
    few = apply(sales, f"{start}..{yesterday - timedelta(days=1)}", "daily").results["daily"]
    assert [d.code for d in few.violations] == ["E037"]
    apply(sales, f"{start}..{yesterday}", "daily")
    assert ids(sales) == [1, 2]


@pytest.mark.parametrize("before", ["}", 'partition_by: [day] partition_every: month partition_start: "2024-01-01" }'])
@pytest.mark.parametrize("publish", ["together", "each"])
def test_a_range_with_all_rows_that_are_live_takes_the_place_of_a_table_in_other_partitions(
    sales, before, publish
) -> None:
    now = 'partition_by: [day] partition_start: "2024-01-01" }'
    sales.edit("models/sales.strata", f"{now}\nmodel by_day", f"{before}\nmodel by_day")
    sales.apply("daily")
    filled(sales)
    sales.write("sales.csv", ROWS.replace("3,2024-01-02,a", "3,2024-01-02,x"))
    for refused in (
        apply(sales, "2024-01-01..2024-02-03", "daily", publish=publish).results["daily"],
        sales.apply("daily", publish=publish).results["daily"],
    ):
        assert ([d.code for d in refused.violations], ids(sales)) == (["E082"], [1, 2, 3, 4])
    filled(sales)
    apply(sales, "2024-01-01..2024-02-03", "daily", publish=publish)
    assert (ids(sales), set(digests(sales, "daily"))) == ([1, 2, 3, 4], {"2024-01-01", "2024-01-02", "2024-02-03"})


@pytest.mark.parametrize("publish", ["together", "each"])
def test_a_violation_is_told_though_the_piece_that_stays_has_other_columns(sales, publish) -> None:
    sales.apply("daily")
    sales.edit("models/sales.strata", "n: int64 nonnull }\nmodel", "n: int64 nonnull  twice: int64 nonnull }\nmodel")
    sales.edit("models/sales.strata", "from sales partition_by", "from sales derive { twice = n * 2 } partition_by")
    sales.write("sales.csv", ROWS.replace("3,2024-01-02,a", "3,2024-01-02,x"))
    refused = sales.apply("daily", publish=publish).results["daily"]
    assert ([d.code for d in refused.violations], ids(sales)) == (["E082"], [1, 2, 3, 4])


def test_a_partition_of_other_columns_is_told_as_that_where_a_key_is_asked_of_all_of_them(sales) -> None:
    sales.apply("daily")
    sales.edit("models/sales.strata", "n: int64 nonnull }\nmodel", "n: int64 nonnull  twice: int64 nonnull }\nmodel")
    sales.edit("models/sales.strata", "from sales partition_by", "from sales derive { twice = n * 2 } partition_by")
    result = apply(sales, "2024-01-01", "daily").results["daily"]
    assert [(d.code, d.message) for d in result.violations] == [
        ("E037", "model `daily`: the partition 2024-01-02 has the columns of before the model changed")
    ]


def test_partitions_of_other_columns_do_not_stand_side_by_side(sales) -> None:
    sales.apply()
    sales.edit("models/sales.strata", "total = sum(n), sales = count()", "total = sum(n)")
    result = apply(sales, "2024-01-01", "by_day", alone=True).results["by_day"]
    assert [(d.code, d.message) for d in result.violations] == [
        (
            "E037",
            "model `by_day`: the partition 2024-01-02 has the columns of before the model changed",
        )
    ]


def test_rows_outside_of_the_partitions_are_an_error_of_the_whole(sales) -> None:
    sales.write("sales.csv", ROWS + "9,2023-12-31,a,1\n")
    result = sales.result("daily")
    assert [d.code for d in result.violations] == ["E086"]
    assert "`day` lies in its partitions of time, from 2024-01-01 to 9999-01-01" in result.violations[0].message
    assert pieces(apply(sales, "2024-01-01", "daily").results["daily"]) == {"2024-01-01": "reused"}


def test_a_table_without_rows_and_a_partition_without_rows(sales) -> None:
    sales.write("sales.csv", "id,day,kind,n\n")
    sales.apply()
    assert (ids(sales), sales.rows("total"), sales.reasons()) == ([], [{"total": None}], {})
    sales.write("sales.csv", ROWS)
    assert pieces(apply(sales, "2024-01-07", "daily").results["daily"]) == {"2024-01-07": "computed"}
    assert ids(sales) == []


@pytest.mark.parametrize(
    ("key", "models", "message", "fix"),
    [
        (
            "2023-12-31",
            ["daily"],
            "`2023-12-31` is no partition of `daily`",
            "they are those from 2024-01-01 up to, and without, 9999-01-01",
        ),
        ("soon", ["daily"], "`soon` is no partition of `daily`", "partitions are written as `2024-01-01`"),
        ("2024-01", ["daily"], "`2024-01` is no partition of `daily`", "partitions are written as `2024-01-01`"),
        (
            "2024-01-15",
            ["by_month"],
            "`2024-01-15` is no partition of `by_month`",
            "the partition of that time is written as `2024-01-01`",
        ),
        (
            "2024-01-02..2024-01-01",
            ["daily"],
            "the partition 2024-01-01 of `daily` is before 2024-01-02",
            "name the earlier one first",
        ),
        (
            "2024-01-01",
            ["total"],
            "`total` has no partitions of time",
            'add `partition_by: [day]` and `partition_start: "2024-01-01"`, or leave `--partition` out',
        ),
        ("2024-01-01..9998-12-31", ["daily"], "these are too many partitions", "ask for 100,000 at most"),
    ],
)
def test_e037_what_is_no_partition(sales, key, models, message, fix) -> None:
    with pytest.raises(StrataError) as error:
        apply(sales, key, *models)
    assert [(d.code, d.message, d.fix) for d in error.value.diagnostics] == [("E037", message, fix)]


def test_what_a_live_table_is_made_of_is_not_collected(sales) -> None:
    sales.apply("daily")
    sales.write("sales.csv", ROWS.replace("7", "70") + "5,2024-01-05,a,1\n")
    apply(sales, "2024-01-02..2024-01-05", "daily")  # three of which have no rows
    sales.write("sales.csv", ROWS.replace("7", "71"))
    apply(sales, "2024-01-02", "daily")
    none = timedelta(0)
    gone = {orphan.address for orphan in collect(sales.workspace().store, keep=none, grace=none)}
    there = {p.address for p in pieces_of(live(sales, "daily")).by_key.values()}
    assert gone
    assert not gone & there
    assert ids(sales) == [1, 2, 3, 5, 4]
    assert pieces(apply(sales, "2024-01-01", "daily").results["daily"]) == {"2024-01-01": "computed"}


def test_e085_how_old_the_newest_row_is_is_asked_of_the_whole_and_not_of_a_partition(sales) -> None:
    sales.edit(
        "models/sales.strata",
        "day: date nonnull  kind: string enum",
        "day: date nonnull freshness: <= 1d  kind: string enum",
    )
    assert pieces(apply(sales, "2024-01-02", "daily").results["daily"]) == {"2024-01-02": "computed"}
    result = sales.result("daily")
    assert (str(result.status), [d.code for d in result.violations]) == ("violated", ["E085"])
    assert ids(sales) == [3]


def test_a_plan_of_partitions_reads_the_pieces_of_the_same_time_alone(sales) -> None:
    sales.apply()
    artifact = live(sales, "daily")
    for part in artifact.manifest.parts:
        if part.partition != {"day": "2024-01-02"}:
            artifact.path_of(part).write_bytes(b"no Parquet")
    sales.edit("models/sales.strata", "sales = count()", "sales = count() + 0 * sum(n)")
    assert pieces(apply(sales, "2024-01-02", "by_day", alone=True).results["by_day"]) == {"2024-01-02": "computed"}


@pytest.mark.parametrize("days", [3, 30])
def test_an_apply_of_a_partition_reads_as_many_manifests_however_many_are_live(sales, monkeypatch, days) -> None:
    header, *_ = ROWS.splitlines()
    rows = [f"{n},{date(2024, 1, 1) + timedelta(days=n)},a,{n}" for n in range(days)]
    sales.write("sales.csv", "\n".join((header, *rows, "")))
    sales.apply("daily", "by_day")
    sales.write("sales.csv", "\n".join((header, *rows, "99,2024-01-02,a,1", "")))
    apply(sales, "2024-01-02", "daily")
    read: list[PurePath] = []
    monkeypatch.setattr("strata_core.store.manifest.read", lambda *a: read.append(a[0]) or manifest_read(*a))
    assert pieces(apply(sales, "2024-01-02", "by_day", alone=True).results["by_day"]) == {"2024-01-02": "computed"}
    assert len(read) == 9


def test_a_table_of_many_partitions_is_the_same_however_these_were_made(sales, tmp_path) -> None:
    header, *_ = ROWS.splitlines()
    rows = [f"{n},{date(2024, 1, 1) + timedelta(days=n)},a,{n}" for n in range(40)]
    sales.write("sales.csv", "\n".join((header, *rows, "")))
    sales.apply("daily", "by_day")
    sales.write("sales.csv", "\n".join((header, *rows, "99,2024-01-02,a,1", "")))
    apply(sales, "2024-01-02", "daily", "by_day")
    groups = live(sales, "daily").manifest.groups
    assert groups is not None
    assert {*groups.addresses} <= {*live(sales, "daily").manifest.pieces}
    other = filled(Shop(tmp_path / "other"))
    other.write("sales.csv", "\n".join((header, *rows, "99,2024-01-02,a,1", "")))
    other.apply("daily", "by_day")
    for name in ("daily", "by_day"):
        assert live(sales, name).manifest.digest == live(other, name).manifest.digest
        assert digests(sales, name) == digests(other, name)
    none = timedelta(0)
    gone = {orphan.address for orphan in collect(sales.workspace().store, keep=none, grace=none)}
    assert gone
    assert not gone & {*live(sales, "daily").manifest.pieces}


def test_partitions_in_a_bucket(sales, monkeypatch, tmp_path) -> None:
    url = make_bucket(monkeypatch, tmp_path / "cache") + "/strata"
    sales.edit("strata.toml", "[engine]", f'[store]\nroot = "{url}"\n[engine]')
    sales.apply()
    sales.write("sales.csv", ROWS + "5,2024-01-02,a,100\n")
    before = digests(sales, "daily")
    apply(sales, "2024-01-02", "daily")
    after = digests(sales, "daily")
    assert {key for key in after if after[key] != before[key]} == {"2024-01-02"}
    assert ids(sales) == [1, 2, 3, 5, 4]
    alone = apply(sales, "2024-01-01..2024-01-02", "by_day", alone=True)
    assert pieces(alone.results["by_day"]) == {"2024-01-02": "computed"}
    assert live(sales, "by_day").verify() == ()


def test_both_engines_make_the_same_partitions(sales, tmp_path) -> None:
    sales.apply()
    other = filled(Shop(tmp_path / "other"))
    workspace = other.workspace()
    for key in ("2024-02-03", "2024-01-01..2024-01-02"):
        first, _, last = key.partition("..")
        plan = workspace.plan(["daily", "by_day"], asked=Asked(first, last or first))
        list(apply_plan(workspace, plan, DuckDBEngine(EngineSettings("256MiB", 1))))
    for model in ("daily", "by_day"):
        assert digests(other, model) == digests(sales, model)
        assert live(other, model).manifest.digest == live(sales, model).manifest.digest


def _publish(root: str, day: int, start: object) -> None:
    from pathlib import Path

    start.wait()  # type: ignore[attr-defined]
    apply(Shop(Path(root)), f"2024-03-{day:02}", "daily", "by_day")


def test_partitions_published_at_once_by_many_processes_are_all_there(sales) -> None:
    days = range(1, 7)
    sales.write("sales.csv", "id,day,kind,n\n" + "".join(f"{d},2024-03-{d:02},a,{d}\n" for d in days))
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(len(days))
    workers = [context.Process(target=_publish, args=(str(sales.root), day, start)) for day in days]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * len(days)
    assert ids(sales) == [*days]
    assert [row["total"] for row in sales.rows("by_day")] == [*days]
    sales.apply()
    assert sales.reasons() == {}


def test_e093_the_same_partition_published_by_another_is_a_conflict(sales) -> None:
    sales.apply("daily")
    workspace = sales.workspace()
    sales.write("sales.csv", ROWS.replace("5", "50"))
    ours = sales.workspace()
    plan = ours.plan(["daily"], asked=Asked("2024-01-01", "2024-01-01"))
    sales.write("sales.csv", ROWS.replace("5", "60"))
    apply(sales, "2024-01-01", "daily")
    sales.write("sales.csv", ROWS.replace("5", "50"))
    with pytest.raises(StrataError) as error:
        list(apply_plan(ours, plan, ReferenceEngine()))
    assert [d.code for d in error.value.diagnostics] == ["E093"]
    assert [row["n"] for row in sales.rows("daily")] == [1, 60, 7, 9]
    assert workspace.store.environment("prod").head().number == 2


def test_a_partition_is_laid_on_what_another_has_published_since(sales) -> None:
    sales.apply("daily")
    sales.write("sales.csv", ROWS.replace("5", "50").replace("7", "70"))
    ours = sales.workspace()
    plan = ours.plan(["daily"], asked=Asked("2024-01-01", "2024-01-01"))
    apply(sales, "2024-01-02", "daily")
    list(apply_plan(ours, plan, ReferenceEngine()))
    assert [row["n"] for row in sales.rows("daily")] == [1, 50, 70, 9]


def test_e083_two_disjoint_partitions_that_share_a_key_do_not_both_win(sales) -> None:
    sales.apply("daily")
    sales.write("sales.csv", ROWS + "7,2024-01-01,a,1\n")
    ours = sales.workspace()
    plan = ours.plan(["daily"], asked=Asked("2024-01-01", "2024-01-01"))
    staged = apply_plan(ours, plan, ReferenceEngine())
    next(staged)
    next(staged)  # computed with 7 in the first of January
    sales.write("sales.csv", ROWS + "7,2024-01-02,a,1\n")
    apply(sales, "2024-01-02", "daily")
    with pytest.raises(StrataError) as error:
        list(staged)
    assert [d.code for d in error.value.diagnostics] == ["E083"]
    assert ids(sales) == [1, 2, 3, 7, 4]


days = st.dates(date(2024, 1, 1), date(2024, 1, 9))
rows = st.lists(st.tuples(days, st.sampled_from("abc"), st.integers(-5, 5)), max_size=12)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, rows, st.randoms(use_true_random=False))
def test_partitions_applied_in_any_order_are_those_of_the_whole(tmp_path_factory, before, after, random) -> None:
    """Same digests, partition by partition and of the table, whatever was live before."""
    whole, parts = (filled(Shop(tmp_path_factory.mktemp(name))) for name in ("whole", "parts"))
    for shop in (whole, parts):
        shop.write("models/sales.strata", SOURCE + DAILY + BY_DAY)
    parts.write("sales.csv", _csv(before))
    parts.apply()
    for shop in (whole, parts):
        shop.write("sales.csv", _csv(after))
    whole.apply()
    cuts = sorted({0, 9, *random.sample(range(1, 9), 3)})
    ranges = [f"2024-01-{a + 1:02}..2024-01-{b:02}" for a, b in pairwise(cuts)]
    random.shuffle(ranges)
    for key in ranges:
        apply(parts, key, "by_day")
    for model in ("daily", "by_day"):
        assert digests(parts, model) == digests(whole, model)
        assert live(parts, model).manifest.digest == live(whole, model).manifest.digest
        assert parts.rows(model) == whole.rows(model)


def _csv(rows: list[tuple[date, str, int]]) -> str:
    # an id tells its day, so that a row that is there before and after lies in the same partition
    ids = [f"{day:%d}{i:02}" for i, (day, _, _) in enumerate(rows)]
    lines = (f"{id_},{day},{kind},{n}\n" for id_, (day, kind, n) in zip(ids, rows, strict=True))
    return "id,day,kind,n\n" + "".join(lines)


def test_a_partition_without_rows_is_not_missing_once_the_whole_was_made(sales) -> None:
    sales.apply()
    assert reasons(sales, "2024-01-01..2024-02-04") == {}
    sales.write("sales.csv", ROWS + "5,2024-01-03,a,100\n")
    # The file may have rows of any day now, and readers have none where it has not: that is for the apply to say.
    assert reasons(sales, "2024-01-03", "daily") == {"daily": {"2024-01-03": ["data change: sales"]}}
    apply(sales, "2024-01-03", "daily")
    day = ["data change: sales"], ["upstream change: daily"]
    assert reasons(sales, "2024-01-03..2024-01-04", "by_day") == {
        "daily": {"2024-01-04": day[0]},
        "by_day": {"2024-01-03": day[1], "2024-01-04": day[1]},
    }
    assert pieces(apply(sales, "2024-01-03..2024-01-05", "by_day", alone=True).results["by_day"]) == {
        "2024-01-03": "computed"
    }


def test_a_partition_that_was_never_made_is_missing(sales) -> None:
    apply(sales, "2024-01-01", "daily")
    assert reasons(sales, "2024-01-01..2024-01-02", "daily") == {"daily": {"2024-01-02": ["missing"]}}
    assert reasons(sales, "2024-01-01..2024-01-02", "by_day")["by_day"] == {
        "2024-01-01": ["missing"],
        "2024-01-02": ["upstream change: daily"],
    }
