"""What of its tables a stretch of a relation reads, and that its rows are those of the whole that lie in it."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.analysis.project import compile_project
from strata_core.engines.protocol import ArrowTable
from strata_core.engines.reference.engine import ReferenceEngine
from strata_core.language.parser import parse_bytes
from strata_core.relation.nodes import Filter, Relation, Scan, walk_relation
from strata_core.relation.restrict import Stretch, restricted

SOURCES = """
source s(csv: "s.csv") { columns: { id: int64 nonnull, day: date nonnull, n: int64 nonnull } }
source t(csv: "t.csv") { columns: { id: int64 nonnull, day: date nonnull, m: int64 nonnull } }
"""
JANUARY = Stretch(datetime(2024, 1, 8), datetime(2024, 1, 15))
MODELS = {
    "passed on": ("from s filter n > 0 select { day, id }", {"s"}, {"s"}),
    "renamed and truncated": ("from s select { day = date_trunc(day, week), id }", {"s"}, {"s"}),
    "truncated to another unit": ("from s select { day = date_trunc(day, month), id }", set(), set()),
    "cast": ('from s select { day = cast(cast(day, "timestamp"), "date"), id }', {"s"}, {"s"}),
    "computed": ("from s select { day = date_add(day, days: 1), id }", set(), set()),
    "grouped by it": ("from s group { day, id } ( aggregate { n = sum(n) } )", {"s"}, {"s"}),
    "grouped by another": ("from s group { id } ( aggregate { day = max(day) } )", set(), set()),
    "joined on it": ("from s join_inner t on s.day == t.day select { day, n, m = t.m }", {"s", "t"}, {"s", "t"}),
    "joined on another": ("from s join_inner t on s.id == t.id select { day, n, m = t.m }", {"s"}, {"s"}),
    "joined left": (
        "from s join_left t on s.id == t.id and s.day == t.day select { day, n, m = t.m }",
        {"s", "t"},
        {"s"},
    ),
    "the right day of a left join": (
        "from s join_left t on s.day == t.day filter t.day is not none select { day = t.day, n, m = t.m }",
        {"s", "t"},
        {"t"},
    ),
    "joined in full": (
        "from s join_full t on s.day == t.day filter day is not none select { day, n, m = t.m }",
        {"s", "t"},
        {"s"},
    ),
    "anti": ("from s join_anti t on s.day == t.day and s.id == t.id", {"s", "t"}, {"s"}),
    "semi": ("from s join_semi t on s.day == t.day and s.id == t.id", {"s", "t"}, {"s", "t"}),
    "a window within it": (
        "from s derive { k = row_number() over (partition_by: [day], sort: [n, id]) }",
        {"s"},
        {"s"},
    ),
    "a window beyond it": ("from s derive { k = row_number() over (sort: [n, day, id]) }", set(), set()),
    "one row of each day": ("from s dedup by day sort { n, id }", {"s"}, {"s"}),
    "one row of each id": ("from s dedup by id sort { n, day }", set(), set()),
    "the first rows": ("from s sort { n, day, id } take 3", set(), set()),
    "as of its time": (
        "from s join_asof t on s.id == t.id at t.day <= s.day select { s.day, n, m = t.m }",
        {"s"},
        {"s"},
    ),
    "both tables": ("from u union all v", {"s", "t"}, set()),
    "in both tables": ("from u intersect v", {"s", "t"}, {"s", "t"}),
    "in one table alone": ("from u except v", {"s", "t"}, {"s"}),
}


def relation(body: str) -> Relation:
    text = SOURCES + f"model m {{ {body.replace('from u', 'from s select { id, day }')} }}"
    if " v" in body:
        text = SOURCES + "model v { from t select { id, day } }\n" + text.removeprefix(SOURCES)
    project = compile_project([parse_bytes(text.encode(), "m.strata").module])
    assert project.errors == ()
    made = project.models["m"].relation
    if " v" not in body:
        return made
    return _inlined(made, project.models["v"].relation)


def _inlined(node: Relation, view: Relation) -> Relation:
    from strata_core.frozen import replace

    if isinstance(node, Scan):
        return view if node.table == "v" else node
    names = ("left", "right") if hasattr(node, "left") else ("input",)
    return replace(node, **{name: _inlined(getattr(node, name), view) for name in names})


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_of_its_own_time_alone(name) -> None:
    body, bounded, driving = MODELS[name]
    found = restricted(relation(body), "day", JANUARY)
    assert (set(found.bounded), set(found.driving)) == (bounded, driving)
    filtered = {
        n.input.table for n in walk_relation(found.relation) if isinstance(n, Filter) and isinstance(n.input, Scan)
    }
    assert bounded <= filtered


days = st.integers(0, 20).map(lambda i: date(2024, 1, 1) + timedelta(days=i))
rows = st.lists(st.tuples(st.integers(0, 2), days, st.integers(0, 2)), max_size=8)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*MODELS]), rows, rows)
def test_the_rows_of_a_stretch_are_those_of_the_whole_that_lie_in_it(name, s, t) -> None:
    """Also where tables lack every row outside of the stretch that they are said not to be read for."""
    whole = relation(MODELS[name][0])
    found = restricted(whole, "day", JANUARY)

    def within(day: date) -> bool:
        return JANUARY.low.date() <= day < JANUARY.high.date()

    def table(node_name: str, rows: list[tuple[int, date, int]], only: bool) -> ArrowTable:
        kept = [r for r in rows if within(r[1]) or not only]
        scan = next(n for n in walk_relation(whole) if isinstance(n, Scan) and n.table == node_name)
        third = "n" if node_name == "s" else "m"
        data = pa.table(
            {
                "id": pa.array([r[0] for r in kept], pa.int64()),
                "day": pa.array([r[1] for r in kept], pa.date32()),
                third: pa.array([r[2] for r in kept], pa.int64()),
            }
        )
        return ArrowTable(data.select(scan.schema.names), scan.schema.columns)

    used = {n.table for n in walk_relation(whole) if isinstance(n, Scan)}
    given_rows = {"s": s, "t": t}
    engine = ReferenceEngine()
    full = engine.execute(whole, {n: table(n, given_rows[n], False) for n in used}).read_all().to_pylist()
    some = engine.execute(found.relation, {n: table(n, given_rows[n], n in found.bounded) for n in used})
    part = some.read_all().to_pylist()
    assert sorted(map(repr, part)) == sorted(repr(r) for r in full if within(r["day"]))
    if part:
        assert all(any(within(r[1]) for r in given_rows[n]) for n in found.driving)
