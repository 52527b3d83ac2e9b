"""Guarded tables in partitions: each is judged and published alone, and the whole keeps its contract (Seed 0 §5 C)."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from strata_core.cli.verbs import strata
from strata_core.contract_engine.pin import partitions
from strata_core.contract_engine.pin.guard import Guard, open_guard, promise_of
from strata_core.contract_engine.pin.judging import Verdict, judge
from strata_core.contract_engine.pin.partitions import Made, judge_partitions
from strata_core.contract_engine.pin.promoting import promote
from strata_core.diagnostics import StrataError
from strata_core.engines.protocol import ArrowTable
from strata_core.planning.environments import published_environment
from strata_core.planning.live.published import published_rows
from strata_core.planning.project import compile_, open_project
from strata_core.store.files import LocalFiles

from .projects import HEAD, PLACE, write

CONTRACT = (
    HEAD
    + """\
assets:
  - id: orders
    kind: dagster_asset
    columns:
      - {name: id, type: int64, primary_key: true}
      - {name: country, type: string, nullable: false, enum: [ES, MX]}
tests:
  - {id: few, kind: expectation, severity: blocking, asset: orders, expectation: {type: row_count, max: 4}}
"""
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {"strata.toml": '[project]\nname = "shop"\n', PLACE: CONTRACT})
    return tmp_path


def judged(guard: Guard, key: str, ids: list[int], country: str = "ES", **more: list[Any]) -> Verdict:
    rows = pa.table({"id": pa.array(ids, pa.int64()), "country": pa.array([country] * len(ids), pa.string()), **more})
    return judge(guard, promise_of(guard, "orders"), ArrowTable(rows, ()), "memory", partition=key)


def made(root: Path, key: str, ids: list[int], country: str = "ES", **more: list[Any]) -> list[str]:
    guard = open_guard(root, "prod")
    verdict = judged(guard, key, ids, country, **more)
    promote(guard, [verdict])
    return [d.code for d in verdict.violations]


def live(root: Path) -> list[int]:
    project = open_project(project=root)
    rows = published_rows(project, compile_(project), "orders", "prod").reader.read_all()
    return sorted(rows.column("id").to_pylist())


def version(root: Path) -> int:
    return published_environment(open_project(project=root), "prod").head().number


def test_seed0_s5c_a_partition_goes_live_alone_and_replaces_itself(root: Path) -> None:
    assert made(root, "2026-01-01", [1, 2]) == []
    assert made(root, "2026-01-02", [3]) == []
    assert live(root) == [1, 2, 3]
    assert made(root, "2026-01-01", [4]) == []
    assert live(root) == [3, 4]
    assert made(root, "2026-01-02", []) == []
    assert made(root, "2026-01-03", [5]) == []
    assert live(root) == [4, 5]


def test_seed0_s5c_a_partition_that_breaks_its_contract_leaves_all_as_it_was(root: Path) -> None:
    made(root, "a", [1, 2])
    assert made(root, "b", [3], "FR") == ["E082"]
    assert made(root, "b", [3, 3]) == ["E083"]
    assert (live(root), version(root)) == ([1, 2], 1)


def test_seed0_s5c_keys_and_tests_are_asked_of_the_whole(root: Path) -> None:
    made(root, "a", [1, 2])
    assert made(root, "b", [2, 3]) == ["E083"]
    assert made(root, "b", [3, 4, 5]) == ["E144"]
    assert made(root, "b", [3, 4]) == []
    assert live(root) == [1, 2, 3, 4]


def test_partitions_that_are_made_at_once_go_live_beside_each_other(root: Path) -> None:
    first, second, third = (open_guard(root, "prod") for _ in range(3))
    one, two, twice = judged(first, "a", [1]), judged(second, "b", [2]), judged(third, "c", [1])
    promote(first, [one])
    promote(second, [two])
    assert live(root) == [1, 2]
    with pytest.raises(StrataError) as broken:
        promote(third, [twice])
    assert [d.code for d in broken.value.diagnostics] == ["E083"]
    again, other = open_guard(root, "prod"), open_guard(root, "prod")
    mine, theirs = judged(again, "a", [5]), judged(other, "a", [6])
    promote(other, [theirs])
    with pytest.raises(StrataError, match="other rows of orders"):
        promote(again, [mine])
    assert live(root) == [2, 6]


def test_partitions_of_a_contract_that_changed_are_held_to_the_new_one(root: Path) -> None:
    made(root, "a", [1], "MX")
    write(root, {PLACE: CONTRACT.replace("[ES, MX]", "[ES]")})
    assert made(root, "b", [2]) == ["E082"]
    assert made(root, "a", [1]) == []
    assert made(root, "b", [2]) == []
    assert live(root) == [1, 2]


def test_other_columns_and_a_table_that_is_whole_are_told(root: Path) -> None:
    made(root, "a", [1])
    assert made(root, "b", [2], note=["x"]) == ["E037"]
    guard = open_guard(root, "dev")
    rows = ArrowTable(pa.table({"id": [1], "country": ["ES"]}), ())
    promote(guard, [judge(guard, promise_of(guard, "orders"), rows, "memory")])
    assert [d.code for d in judged(open_guard(root, "dev"), "b", [2]).violations] == ["E037"]
    assert live(root) == [1]


def range_of(root: Path, **ids: list[int]) -> Verdict:
    """The verdict on several partitions that are made at once; what is sound is live then."""
    guard = open_guard(root, "prod")
    schema = pa.schema({"id": pa.int64(), "country": pa.string()})
    tables = {
        key: ArrowTable(pa.table({"id": own, "country": ["ES"] * len(own)}, schema), ()) for key, own in ids.items()
    }
    verdict = judge_partitions(guard, promise_of(guard, "orders"), Made(tables), "memory")
    promote(guard, [verdict])
    return verdict


def test_seed0_s5c_of_partitions_made_at_once_those_that_break_the_whole_are_found_and_left_out(root: Path) -> None:
    write(root, {PLACE: CONTRACT.replace("max: 4", "max: 40")})
    verdict = range_of(root, a=[1, 2], b=[2], c=[3, 3], d=[4], e=[5])
    assert (verdict.refused, verdict.going_live) == (("b", "c"), ("a", "d", "e"))
    assert [d.message.split(":")[0] for d in verdict.violations] == ["partition b", "partition c"]
    assert (live(root), version(root)) == ([1, 2, 4, 5], 1)
    again = range_of(root, a=[2], b=[1], c=[])
    assert (again.refused, live(root)) == ((), [1, 2, 4, 5])


def test_the_partitions_that_break_a_whole_are_found_in_few_questions(root: Path, monkeypatch) -> None:
    write(root, {PLACE: CONTRACT.replace("max: 4", "max: 400")})
    asked: list[int] = []
    whole = partitions.beside

    def counted(guard: Guard, verdict: Verdict, parts: Any, seen: Any) -> Verdict:
        asked.append(len(parts))
        return whole(guard, verdict, parts, seen)

    monkeypatch.setattr(partitions, "beside", counted)
    found = range_of(root, **{f"p{i:02d}": [i if i != 21 else 3] for i in range(32)})
    assert found.refused == ("p21",)
    assert len(asked) == 11  # all, and of 32 in halves two at each of five steps


def test_a_blocking_test_that_a_table_breaks_leaves_out_as_few_as_it_can(root: Path) -> None:
    verdict = range_of(root, a=[1], b=[2], c=[3, 4, 5], d=[6])
    assert [d.code for d in verdict.violations] == ["E144"]
    assert (verdict.refused, live(root)) == (("c",), [1, 2, 6])


def test_however_many_partitions_are_live_no_manifest_of_theirs_is_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {PLACE: CONTRACT.partition("tests:")[0]})
    read: list[str] = []
    original = LocalFiles.read

    def counted(files: LocalFiles, path: PurePath) -> bytes | None:
        read.append(path.parts[-3]) if path.name == "_manifest.json" else None
        return original(files, path)

    def manifests(key: str, ids: list[int]) -> int:
        read.clear()
        assert made(root, key, ids) == []
        return read.count("artifacts")

    monkeypatch.setattr(LocalFiles, "read", counted)
    made(root, "day 0", [0])
    counts = [manifests(f"day {n}", [n]) for n in range(1, 9)]
    assert counts == [counts[0]] * 8 != [0] * 8


def test_the_command_judges_partitions_each_alone_from_one_table_or_from_files(root: Path) -> None:
    def run(*arguments: str) -> tuple[int, str, str]:
        command = ["guard", "orders", *arguments, "--project", str(root)]
        result = CliRunner().invoke(strata, command, standalone_mode=False)
        code = result.return_value if isinstance(result.return_value, int) else 2
        return code, result.stdout, re.sub(r"\(\d+\.\d\d s\)", "(_)", result.stderr)

    by_country = CONTRACT.replace("name: country, ", "name: country, partition_by: true, ")
    write(root, {PLACE: by_country.replace("dagster_asset", "table\n    location: orders.parquet")})
    pq.write_table(pa.table({"id": [1, 2, 3], "country": ["ES", "MX", "FR"]}), root / "orders.parquet")
    code, out, err = run("--partition", "ES", "--partition", "FR")
    assert (code, out, live(root)) == (3, "prod: version 1 is live (orders)\n", [1])
    assert err.startswith(
        "kept      orders  1 row, orders.parquet (partition ES) (_)\n"
        "violated  orders  1 row, orders.parquet (partition FR) (_)\n"
        "error[E082]: partition FR: 1 row has a value of `country` outside"
    )
    code, out, err = run("--partition", "ES", "--partition", "ESP")
    assert (code, out, live(root)) == (2, "prod: version 2 is live (orders)\n", [1])
    assert "error[E037]: partition ESP: no row has this `country`\n" in err
    pq.write_table(pa.table({"id": [4], "country": ["MX"]}), root / "mx.parquet")
    code, out, _ = run("--rows", "{partition}.parquet", "--partition", "mx", "--format", "json")
    assert (code, live(root)) == (0, [1, 4])
    assert json.loads(out)["tables"][0]["partitions"] == {"mx": True}
    code, _, err = run("--rows", "{partition}.parquet", "--partition", "nowhere")
    assert (code, "E030" in err, live(root)) == (4, True, [1, 4])
    pq.write_table(pa.table({"id": [3], "country": ["FR"]}), root / "orders.parquet")
    assert (run("--partition", "ES")[0], live(root)) == (0, [4])
    write(root, {PLACE: CONTRACT})
    code, _, err = run("--rows", "orders.parquet", "--partition", "ES")
    assert (code, "no column is marked with `partition_by`" in err) == (2, True)
