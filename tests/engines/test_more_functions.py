"""Functions of nested values, of texts and of spread, on random values: both engines say the same."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strata_core.engines.duckdb.engine import DuckDBEngine
from strata_core.engines.protocol import EngineSettings
from strata_core.relation.build import aggregate_rows, project, ref, scan, window_rows
from strata_core.relation.expressions import Expr, Frame, SortKey, aggregate, call, cast, literal, window
from strata_core.relation.nodes import AggregateItem, Item, Relation, WindowItem
from strata_core.relation.schema import Column
from strata_core.types import JSON, STRING, Inferred, parse_type

from .conformance import check_conformance, outcome_of, table_of
from .engines import ENGINES

ENGINE = DuckDBEngine(EngineSettings(memory_limit="256MiB", threads=1))
TEXT = st.text(st.sampled_from('ab,é🐈\\"\n\t\x1f\x7f/ß'), max_size=6)
NUMBERS = st.floats(allow_nan=True, allow_infinity=True, width=32)


def column(type_: str) -> Column:
    return Column("c", Inferred(parse_type(type_), nullable=True))


def check(type_: str, values: list[object], *exprs: Expr) -> None:
    base = scan("t", (column(type_),))
    relation = project(base, [Item(f"y{n}", e) for n, e in enumerate(exprs)])
    check_conformance(ENGINE, relation, {"t": table_of((column(type_),), [[v] for v in values])})


def c(type_: str) -> Expr:
    return ref(scan("t", (column(type_),)), "c")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | TEXT, min_size=1, max_size=8), TEXT)
def test_texts(values, part):
    x = c("string")
    calls = [call("split", x, literal(part)), call("split", x, literal("")), call("position", x, literal(part))]
    calls += [call(f, x) for f in ("reverse", "codepoint", "sha1")]
    calls += [call(f, x, literal("[ab]+|é")) for f in ("regexp_extract_all", "regexp_count")]
    calls += [call("array_join", call("split", x, literal(",")), literal("-"))]
    check("string", values, *calls)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | st.lists(st.none() | TEXT, max_size=4), min_size=1, max_size=8), st.integers(-3, 5), TEXT)
def test_arrays_of_texts(values, number, text):
    x = c("array(string)")
    calls = [call(f, x) for f in ("array_reverse", "array_distinct", "array_min", "array_max")]
    calls += [call(f, x, literal(text)) for f in ("array_remove", "array_index_of", "array_join")]
    calls += [call("array_slice", x, literal(number), literal(2)), call("array_slice", x, literal(0), literal(number))]
    calls += [call("array_remove", x, cast(literal(None), STRING)), call("concat", x)]
    calls += [call("concat", call("array_construct", x, x)), call("concat", literal(text), literal(text))]
    check("array(string)", values, *calls)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: e.name)
@pytest.mark.parametrize(
    ("elements", "text", "both"),
    [
        (["a", "b", "a"], "aba", ["a", "b", "a", "x"]),
        ([""], "", ["", "x"]),
        ([], None, ["x"]),
        (["a", None], None, ["a", None, "x"]),
        ([None], None, [None, "x"]),
        (None, None, None),
    ],
)
def test_seed0_s2_concat_of_an_array_is_its_elements_joined_and_null_of_none(engine, elements, text, both):
    base = scan("t", (column("array(string)"),))
    pair = call("array_construct", ref(base, "c"), call("array_construct", literal("x")))
    relation = project(base, [Item("text", call("concat", ref(base, "c"))), Item("both", call("concat", pair))])
    outcome = outcome_of(engine, relation, {"t": table_of((column("array(string)"),), [[elements]])})
    assert [*outcome.rows] == [(text, both)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | st.lists(st.none() | NUMBERS, max_size=5), min_size=1, max_size=8), NUMBERS)
def test_arrays_of_numbers(values, number):
    x = c("array(float64)")
    calls = [call(f, x) for f in ("array_distinct", "array_min", "array_max")]
    calls += [call("array_remove", x, literal(number)), call("array_index_of", x, literal(number))]
    check("array(float64)", values, *calls)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.none() | st.dictionaries(TEXT, st.none() | st.integers(-3, 3), max_size=4), min_size=1, max_size=8),
    TEXT,
)
def test_maps(values, key):
    x = c("map(string, int64)")
    check("map(string, int64)", values, call("map_keys", x), call("map_size", x), call("map_contains", x, literal(key)))


LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | TEXT
TREES = st.recursive(LEAVES, lambda t: st.lists(t, max_size=3) | st.dictionaries(st.sampled_from(["a", "b c", "é"]), t))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.none() | TREES.map(lambda t: json.dumps(t, ensure_ascii=False)), min_size=1, max_size=6))
def test_documents(values):
    x = c("json")
    paths = ["$", "$.a", "$[0]", "$[1][0]", '$."b c".a', "$.a[0].é"[:6], '$."é"[1]']
    calls = [call("json_path", x, literal(p)) for p in paths]
    calls += [call(f, x) for f in ("json_type", "json_keys", "json_array_length")]
    calls += [call("json_build", literal("k"), x, literal('"q'), literal(1))]
    check("json", values, *calls)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.none() | TEXT, min_size=1, max_size=6))
def test_documents_that_are_made_of_texts(values):
    x = c("string")
    made = call("json_build", literal("a"), x, literal("b c"), call("is_null", x), literal("é"), call("length", x))
    check("string", values, made, call("json_get", made, literal("a")), cast(made, STRING))


def test_documents_that_are_made_of_other_values():
    for type_, values in {
        "decimal(20,4)": ["1.5000", "-0.0001", None],
        "date": ["2024-02-29", None],
        "timestamp": ["2024-02-29 10:00:00.5", None],
        "uuid": ["6f9619ff-8b86-d011-b42d-00cf4fc964ff"],
        "money(EUR)": ["-1.50"],
        "bool": ["true", None],
    }.items():
        x = cast(c("string"), parse_type(type_))
        check("string", values, cast(call("json_build", literal("a"), x), STRING))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.none() | NUMBERS, min_size=1, max_size=9),
    st.sampled_from([0, 0.0, 0.1, 0.25, 0.333, 0.5, 0.9, 1]),
)
def test_quantiles(values, share):
    base = scan("t", (column("float64"),))
    x = ref(base, "c")
    calls = [
        AggregateItem("q", aggregate("quantile", x, literal(share), grouped=False)),
        AggregateItem("d", aggregate("quantile", x, literal(share), grouped=False, distinct=True)),
    ]
    data = {"t": table_of((column("float64"),), [[v] for v in values])}
    check_conformance(ENGINE, aggregate_rows(base, (), calls), data)
    order = (SortKey(x),)
    windows = [
        WindowItem("w", window("quantile", x, literal(share), order=order, frame=Frame(-2, 0))),
        WindowItem("n", window("nth_value", x, literal(2), order=order, frame=Frame(-1, 1))),
        WindowItem("p", window("percent_rank", order=order)),
        WindowItem("s", window("cume_dist", order=order)),
    ]
    check_conformance(ENGINE, window_rows(base, windows), data)


def test_random_depends_on_seed_and_key_alone():
    rows: list[object] = [f"key {n}" for n in range(2000)]
    base = scan("t", (column("string"),))
    relation: Relation = project(
        base, [Item("c", ref(base, "c")), *(Item(f"r{s}", call("random", literal(s), ref(base, "c"))) for s in (1, 2))]
    )
    found = ENGINE.execute(relation, {"t": table_of((column("string"),), [[r] for r in rows])}).read_all().to_pylist()
    again = ENGINE.execute(relation, {"t": table_of((column("string"),), [[r] for r in reversed(rows)])}).read_all()
    assert {r["c"]: r["r1"] for r in found} == {r["c"]: r["r1"] for r in again.to_pylist()}
    assert all(0 <= r["r1"] < 1 and r["r1"] != r["r2"] for r in found)
    assert len({r["r1"] for r in found}) == 2000
    # Of 2000 uniform draws the mean is within 5 standard deviations of a half.
    assert abs(math.fsum(r["r1"] for r in found) / 2000 - 0.5) < 5 * math.sqrt(1 / 12 / 2000)


@pytest.mark.parametrize("text", ["$.a-b", "a", "$[-1]", "$[01]", "$..a", "$.", '$."a', ""])
def test_what_is_no_path(text):
    from strata_core.types.functions.documents import steps

    assert steps(text) is None


def test_json_is_the_type_of_what_is_built():
    assert call("json_build", literal("a"), literal(1)).inferred == Inferred(JSON, nullable=False)
