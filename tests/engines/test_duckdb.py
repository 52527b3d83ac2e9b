"""The DuckDB engine as such: one query, streamed; what fails, fails where the relation says; nothing is left behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from strata_core.diagnostics import Diagnostic, StrataError
from strata_core.engines.duckdb import engine as engine_module
from strata_core.engines.duckdb.aggregates import AGGREGATES, SPREADS
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.duckdb.functions import BUILDERS, TOTAL
from strata_core.engines.duckdb.windows import RANKINGS
from strata_core.engines.protocol import ArrowTable, EngineSettings, ParquetTable, TableInput
from strata_core.relation.build import aggregate_rows, filter_rows, join, project, ref, scan, sort_rows
from strata_core.relation.expressions import (
    Expr,
    SortKey,
    aggregate,
    call,
    cast,
    literal,
)
from strata_core.relation.nodes import AggregateItem, Item, JoinKind, Relation
from strata_core.relation.schema import Column
from strata_core.types import DATE, INT64, Inferred, parse_type
from strata_core.types.functions import CATALOG, Kind
from strata_core.types.physical import arrow_field

ENGINE = DuckDBEngine()


def columns(**types: str) -> tuple[Column, ...]:
    return tuple(Column(name, Inferred(parse_type(t), nullable=True)) for name, t in types.items())


def table(data: dict[str, list[object]], **types: str) -> ArrowTable:
    from strata_core.types.physical import arrow_type

    declared = columns(**types)
    arrays = [pa.array(data[c.name], arrow_type(c.inferred.type)) for c in declared]
    return ArrowTable(pa.table(arrays, names=[c.name for c in declared]), declared)


def rows(relation: Relation, **tables: TableInput) -> list[tuple[object, ...]]:
    data = ENGINE.execute(relation, tables).read_all()
    return list(zip(*(c.to_pylist() for c in data.columns), strict=True))


def failure(relation: Relation, tables: dict[str, TableInput], engine: DuckDBEngine = ENGINE) -> Diagnostic:
    with pytest.raises(StrataError) as error:
        engine.execute(relation, tables).read_all()
    return error.value.diagnostics[0]


def computed(expr: Expr) -> Relation:
    return project(scan("one", columns(n="int64")), [Item("y", expr)])


ONE = table({"n": [1]}, n="int64")


def test_every_function_of_the_catalog_has_a_translation() -> None:
    scalar = {f.name for f in CATALOG.values() if f.kind is Kind.SCALAR}
    assert scalar == BUILDERS.keys()
    assert {f.name for f in CATALOG.values() if f.kind is Kind.AGGREGATE} == {*AGGREGATES, *SPREADS}
    assert {f.name for f in CATALOG.values() if f.kind is Kind.WINDOW} == RANKINGS
    assert BUILDERS.keys() >= TOTAL


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (call("add", literal(2**63 - 1), literal(1)), "overflows"),
        (call("multiply", literal(2**62), literal(2)), "overflows"),
        (call("negate", literal(-(2**63))), "does not fit int64"),
        (cast(literal("12x"), INT64), "`cast` failed on `12x`: the value is no int64, which is written as digits"),
        (cast(literal("2024-02-30"), DATE), "2024-02-30"),
        (cast(literal(1e300), INT64), "`1e+300` does not fit int64"),
        (cast(literal(Decimal("123.45")), parse_type("decimal(4,2)")), "does not fit decimal(4,2)"),
        (call("date_add", cast(literal("9999-12-31"), DATE), literal(1), literal("day")), "years 1 to 9999"),
    ],
)
def test_a_value_that_does_not_fit_aborts_and_is_named(expr: Expr, message: str) -> None:
    found = failure(computed(expr), {"one": ONE})
    assert found.code == "E090"
    assert message in found.message
    assert "SELECT" not in found.message
    assert found.fix is not None


def test_sums_abort_where_they_do_not_fit() -> None:
    data = table({"n": [2**63 - 1, 1]}, n="int64")
    base = scan("t", data.columns)
    total = aggregate_rows(base, [], [AggregateItem("s", aggregate("sum", ref(base, "n"), grouped=False))])
    assert failure(total, {"t": data}).code == "E090"


# The optimizer may move a filter below joins and other filters: what a filter removes must not raise.
TEXTS = table({"n": [1, 2, 3, 4], "s": ["1", "x", "3", None]}, n="int64", s="string")


def as_number(relation: Relation) -> Expr:
    return call("gt", cast(ref(relation, "s"), INT64), literal(0))


def test_a_filter_guards_the_filter_after_it() -> None:
    base = scan("t", TEXTS.columns)
    guarded = filter_rows(base, call("ne", ref(base, "s"), literal("x")))
    assert [r[0] for r in rows(filter_rows(guarded, as_number(guarded)), t=TEXTS)] == [1, 3]
    assert failure(filter_rows(base, as_number(base)), {"t": TEXTS}).code == "E090"


def test_a_filter_guards_a_filter_on_a_computed_column() -> None:
    base = scan("t", TEXTS.columns)
    guarded = filter_rows(base, call("ne", ref(base, "s"), literal("x")))
    computed = project(guarded, [Item("m", cast(ref(guarded, "s"), INT64)), Item("n", ref(guarded, "n"))])
    kept = filter_rows(computed, call("gt", ref(computed, "m"), literal(1)))
    assert rows(kept, t=TEXTS) == [(3, 3)]


def test_a_join_guards_the_filter_after_it() -> None:
    base = scan("t", TEXTS.columns)
    keys = table({"k": [1, 3, 4]}, k="int64")
    other = scan("u", keys.columns)
    joined = join(JoinKind.INNER, base, other, call("eq", ref(base, "n"), ref(other, "k")))
    assert sorted(rows(filter_rows(joined, as_number(joined)), t=TEXTS, u=keys)) == [(1, "1", 1), (3, "3", 3)]
    computed = project(joined, [Item("m", cast(ref(joined, "s"), INT64))])
    kept = filter_rows(computed, call("gt", ref(computed, "m"), literal(0)))
    assert sorted(rows(kept, t=TEXTS, u=keys)) == [(1,), (3,)]


def test_branches_are_evaluated_where_they_are_taken() -> None:
    base = scan("t", TEXTS.columns)
    number = call("if", call("eq", ref(base, "s"), literal("x")), literal(-1), cast(ref(base, "s"), INT64))
    assert [r[0] for r in rows(project(base, [Item("y", number)]), t=TEXTS)] == [1, -1, 3, None]


def test_a_sort_holds_through_what_follows_it() -> None:
    data = table({"a": [3, 1, 2, None], "b": ["c", "a", "b", "z"]}, a="int64", b="string")
    base = scan("t", data.columns)
    ordered = sort_rows(base, [SortKey(ref(base, "a"), descending=True)])
    # The column that ordered is gone, and another one bears its name.
    renamed = project(ordered, [Item("a", ref(ordered, "b"))])
    assert rows(renamed, t=data) == [("c",), ("b",), ("a",), ("z",)]
    assert rows(filter_rows(renamed, call("ne", ref(renamed, "a"), literal("b"))), t=data) == [("c",), ("a",), ("z",)]


def test_swapped_names_are_not_confused() -> None:
    data = table({"a": [1, 2], "b": [20, 10]}, a="int64", b="int64")
    base = scan("t", data.columns)
    kept = filter_rows(base, call("gt", ref(base, "a"), literal(0)))
    swapped = project(kept, [Item("a", ref(kept, "b")), Item("b", ref(kept, "a"))])
    ordered = sort_rows(swapped, [SortKey(ref(swapped, "a"))])
    assert rows(ordered, t=data) == [(10, 2), (20, 1)]
    grouped = aggregate_rows(
        base,
        [Item("b", ref(base, "a"))],
        [AggregateItem("a", aggregate("max", ref(base, "b"), grouped=True))],
    )
    assert sorted(rows(grouped, t=data)) == [(1, 20), (2, 10)]


def test_deep_relations_and_expressions_are_translated_and_run() -> None:
    relation: Relation = scan("t", columns(n="int64"))
    data = table({"n": [0]}, n="int64")
    for _ in range(300):
        relation = project(relation, [Item("n", call("add", ref(relation, "n"), literal(1)))])
        relation = filter_rows(relation, call("ge", ref(relation, "n"), literal(0)))
    assert rows(relation, t=data) == [(300,)]
    base = scan("t", columns(n="int64"))
    expr: Expr = ref(base, "n")
    for _ in range(150):
        expr = call("add", expr, literal(1))
    assert rows(project(base, [Item("n", expr)]), t=data) == [(150,)]


def test_nested_calls_do_not_multiply() -> None:
    base = scan("t", columns(d="date"))
    expr: Expr = ref(base, "d")
    for _ in range(40):
        expr = call("date_add", expr, literal(1), literal("month"))
    text = ENGINE.explain(project(base, [Item("d", expr)]), {"t": table({"d": [None]}, d="date")})
    assert len(text) < 100_000


def test_rows_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": pa.array(range(1_000_000))}), path)
    data = ParquetTable((path,), columns(n="int64"))
    base = scan("t", data.columns)
    # The last row fails; the first ones arrive all the same.
    number = call("add", ref(base, "n"), literal(2**63 - 999_999))
    reader = ENGINE.execute(project(base, [Item("m", number)]), {"t": data})
    first = reader.read_next_batch()
    assert 0 < first.num_rows <= 122_880
    with pytest.raises(StrataError) as error:
        reader.read_all()
    assert error.value.diagnostics[0].code == "E090"


def test_a_reader_that_is_closed_ends_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    original = engine_module.open_session

    def recording(settings: EngineSettings, *, alone: bool = False) -> object:
        opened.append(original(settings, alone=alone))
        return opened[-1]

    monkeypatch.setattr(engine_module, "open_session", recording)
    data = table({"n": list(range(200_000))}, n="int64")
    reader = ENGINE.execute(scan("t", data.columns), {"t": data})
    reader.read_next_batch()
    reader.close()
    del reader
    gc.collect()
    with pytest.raises(Exception, match="closed"):
        opened[0].execute("select 1")


def test_threads_share_an_engine() -> None:
    data = table({"n": list(range(1000))}, n="int64")
    base = scan("t", data.columns)
    total = aggregate_rows(base, [], [AggregateItem("s", aggregate("sum", ref(base, "n"), grouped=False))])
    barrier = threading.Barrier(4)

    def run(_: int) -> object:
        barrier.wait()
        return rows(total, t=data)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [[(499_500,)]] * 4


def test_a_sort_beyond_memory_spills_and_leaves_nothing(tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    engine = DuckDBEngine(EngineSettings(memory_limit="64MiB", threads=1, spill_directory=spill))
    data = table({"n": list(range(400_000)), "s": ["x" * 200] * 400_000}, n="int64", s="string")
    base = scan("t", data.columns)
    reader = engine.execute(sort_rows(base, [SortKey(ref(base, "n"), descending=True)]), {"t": data})
    assert reader.read_next_batch()["n"][0].as_py() == 399_999
    assert any(spill.iterdir())
    assert sum(batch.num_rows for batch in reader) > 250_000
    assert sum(path.stat().st_size for path in spill.rglob("*")) == 0


def test_no_room_to_spill_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = DuckDBEngine(EngineSettings(memory_limit="64MiB", threads=1, spill_directory=tmp_path / "file" / "spill"))
    data = table({"n": list(range(400_000)), "s": ["x" * 200] * 400_000}, n="int64", s="string")
    base = scan("t", data.columns)
    found = failure(sort_rows(base, [SortKey(ref(base, "n"))]), {"t": data}, engine)
    assert found.code == "E091"


def test_settings_that_are_no_settings_are_refused() -> None:
    data = table({"n": [1]}, n="int64")
    found = failure(scan("t", data.columns), {"t": data}, DuckDBEngine(EngineSettings(memory_limit="much")))
    assert found.code in ("E090", "E091")


def test_the_result_has_the_promised_types() -> None:
    types = ["int64", "float64", "decimal(5,2)", "string", "bool", "date", "timestamp", "uuid", "json", "money(EUR)"]
    types += ["array(int64 nonnull)", "map(string, string)", "struct<a: int64, b: array(string)>"]
    names = {f"c{i}": t for i, t in enumerate(types)}
    data = table({n: [None] for n in names}, **names)
    reader = ENGINE.execute(scan("t", data.columns), {"t": data})
    assert [f.metadata for f in reader.schema] == [{b"strata.type": t.encode()} for t in types]
    assert reader.read_all().to_pylist() == [dict.fromkeys(names)]


def test_explain_is_the_query_for_people() -> None:
    base = scan("t", TEXTS.columns)
    kept = filter_rows(base, call("gt", ref(base, "n"), literal(1)))
    total = aggregate_rows(kept, [Item("s", ref(kept, "s"))], [AggregateItem("c", aggregate("count", grouped=True))])
    assert ENGINE.explain(sort_rows(total, [SortKey(ref(total, "s"))]), {"t": TEXTS}) == EXPLAINED


EXPLAINED = """\
WITH "t" AS NOT MATERIALIZED (
  SELECT
    "n",
    "s"
  FROM "__strata_source_1"
), "step_1" AS (
  SELECT
    "s",
    COUNT(*) AS "c"
  FROM "t"
  WHERE
    "n" > 1
  GROUP BY
    1
)
SELECT
  "s",
  "c"
FROM "step_1"
ORDER BY
  "s" ASC"""


def test_a_null_struct_with_a_field_that_is_never_null() -> None:
    typed = columns(id="int64", one="struct<a: int64 nonnull, b: string>", many="array(struct<a: int64 nonnull>)")
    rows = [
        {"id": 1, "one": None, "many": None},
        {"id": 2, "one": {"a": 1, "b": None}, "many": [{"a": 1}, None]},
        {"id": 3, "one": None, "many": []},
    ]
    for some in (rows, rows[:1], rows[1:2]):
        data = pa.Table.from_pylist(some, pa.schema([arrow_field(c.name, c.inferred) for c in typed]))
        ordered = sort_rows(scan("t", typed), [SortKey(ref(scan("t", typed), "id"))])
        found = ENGINE.execute(ordered, {"t": ArrowTable(data, typed)}).read_all()
        assert found.to_pylist() == some
        found.validate(full=True)
        assert found.schema == data.schema


@pytest.mark.parametrize("comparison", ["eq", "ne", "lt", "le", "gt", "ge"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("function", "value", "other"),
    [("add", 2**63 - 1, 1), ("subtract", -(2**63), 1), ("multiply", 2**62, 2), ("negate", -(2**63), None)],
)
def test_what_overflows_in_a_comparison_with_a_constant_aborts(
    comparison: str, side: str, function: str, value: int, other: int | None
) -> None:
    # DuckDB solves such a comparison for the column, and then nothing overflows.
    data = table({"n": [value]}, n="int64")
    base = scan("t", data.columns)
    number = call(function, ref(base, "n"), *([] if other is None else [literal(other)]))
    condition = call(comparison, number, literal(6)) if side == "left" else call(comparison, literal(6), number)
    assert failure(filter_rows(base, condition), {"t": data}).code == "E090"
    assert failure(project(base, [Item("y", condition)]), {"t": data}).code == "E090"


def test_a_forked_process_computes_and_ends() -> None:
    script = """
import os, sys
import pyarrow as pa
from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import ArrowTable
from strata_core.relation.build import scan
from strata_core.relation.schema import Column
from strata_core.types import INT64, Inferred

table = ArrowTable(pa.table({"n": [1, 2, 3]}), (Column("n", Inferred(INT64, nullable=True)),))
engine = DuckDBEngine()

def rows():
    return engine.execute(scan("t", table.columns), {"t": table}).read_all().num_rows

print(rows(), flush=True)
child = os.fork()
if not child:
    print(rows(), flush=True)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), rows())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("3\n3\n7 3\n", 0)
