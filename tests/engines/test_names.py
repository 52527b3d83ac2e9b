"""Names mean nothing to an engine: keywords of SQL, quotes, spaces, signs, any script. Each statement, with columns,
tables, aliases and `let`s that bear such names, comes to the same on every engine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.analysis import compile_project
from strata_core.language.names import spelled
from strata_core.language.parser import parse_module

from .conformance import check_conformance, table_of
from .engines import ENGINES

HOSTILE = (
    *("select", "from", "order", "group by", "where", "null", "true", "index", "user", "current_date", "count", "*"),
    *('a"b', '"', '""', "'", "'; drop table t; --", "--", "/*", "*/", "a.b", ".", "a b", " ", "\\", "\\n", "%s", "{0}"),
    *(
        "$1",
        "?",
        ":x",
        "@",
        "#",
        "let x",
        "t.c",
        "rowid",
        "_",
        "_1",
        "1",
        "0x1F",
        "\u017f",
        "ß",
        "ẞ",
        "İ",
        "\u202ea",
        "\u043erders",
    ),
    *("x" * 300, "X", "x", "__proto__", "__strata", "NaN", "interval '1' day", "\t", "\u200b", "🦆"),
)
"""Some differ in the case of letters alone, which an engine may take for one name."""
STATEMENTS = (
    "filter {a} > 1 derive {{ {c} = {a} + 1 }} sort {{ {c} desc }} take 2",
    "let {c} = {a} * 2 select {{ {b}, {d} = {c} + {t}.{a} }}",
    "group {{ {b} }} ( aggregate {{ {c} = sum({a}), {d} = count() }} filter {c} > 1 )",
    "group {{ {c} = {b} || \"x\" }} ( aggregate {{ {d} = max({a}) }} )",
    "derive {{ {c} = row_number() over (partition_by: [{b}], sort: [{a} desc]) }}",
    "join_left {u} as {e} on {t}.{a} == {e}.{a} expect many_to_one select {{ {t}.{b}, {c} = {e}.{b} }}",
    "join_semi {u} on {t}.{a} == {u}.{a}",
    "union all {u}",
    "dedup by {b} sort {{ {a} desc }}",
    "select {{ {c} = case({b} == \"p\", {a}, 0 - {a}), {t}.* except {{ {b} }} }}",
    "derive {{ {c} = [{a}, {a} + 1] }} expand {c} as {d} select {{ {b}, {d} }}",
    "take 2",
)  # fmt: skip


@given(st.lists(st.sampled_from(HOSTILE), min_size=7, max_size=7, unique=True), st.sampled_from(STATEMENTS))
def test_whatever_its_names_a_model_comes_to_the_same(names, statements):
    words = dict(zip("abcdetu", map(spelled, names), strict=True))
    fields = "{a}: int64 nonnull primary_key, {b}: string".format(**words)
    text = (
        f"source {words['t']} {{ columns: {{ {fields} }} }}\nsource {words['u']} {{ columns: {{ {fields} }} }}\n"
        f"model m {{ from {words['t']} {statements.format(**words)} }}"
    )
    parsed = parse_module(text, "names")
    compiled = compile_project([parsed.module])
    assert [d for d in (*parsed.diagnostics, *compiled.diagnostics) if d.blocks] == []
    tables = {
        names[place]: table_of(compiled.sources[names[place]].columns, rows)
        for place, rows in ((5, [[1, "p"], [2, "q"], [3, None]]), (6, [[2, "q"], [4, "p"]]))
    }
    for engine in ENGINES:
        check_conformance(engine, compiled.models["m"].relation, tables)


@pytest.mark.parametrize("name", HOSTILE)
def test_each_of_the_names_is_written_so_that_it_is_read_again(name):
    (declared,) = parse_module(f"domain {spelled(name)} = string", "names").module.declarations
    assert declared.name.text == name
