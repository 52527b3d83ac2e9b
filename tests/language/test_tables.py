"""The tables: no conflicts, the same trees as lark's own parser, and a cache that survives damage."""

from __future__ import annotations

import marshal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from lark import Lark, Token, Tree
from lark.common import ParserConf
from lark.parsers.lalr_analysis import LALR_Analyzer

from strata_core.caches import kept
from strata_core.language import ast, lark_tables, tables
from strata_core.language.build import ACTIONS
from strata_core.language.parser import parse_module
from strata_core.language.scanner import Lines, scan

PROGRAM = """
import finance.revenue
domain code = string
source orders(ns: "crm") { columns: { id: int64 nonnull primary_key, tags: array(string nonnull) } freshness: <= 1d filter: a > 1 }
contract C { a: decimal(10,2) nonnull; b: string enum {X, "y"} classification: "pii" mask: partial(4) }
model m -> contract C {
  owner: "x"
  from orders as o
  join_left t as r on o.id == r.id and not r.x is none expect many_to_one
  join_cross u
  where a in [1, 2.5, -3] or b like "x%" and c rlike `d e`
  let x = if(a, 1, none)
  derive { y = count(distinct a), z = sum(b) over (partition_by: [a], sort: [b desc, -c], rows: -1..) }
  group { a, k = b % 2 } ( aggregate { n = count(*) } filter n > 1 take 3 )
  select { *, t.* except {a, b}, n = date_add(d, days: 1) }
  sort { a, -b, c desc }
  take 5..10
  partition_by [a] freshness 1d, daily freshness_column: d
}
pipeline p { env: prod, models: [m], sources: { orders: from(ns: "eu"), } }
"""  # noqa: E501


def lark_parser(start: str) -> Lark:
    return Lark(tables.GRAMMAR.read_text(), parser="lalr", lexer="basic", start=start, maybe_placeholders=False)


def test_the_grammar_has_no_conflicts():
    made = lark_parser("module")
    LALR_Analyzer(ParserConf(made.rules, {}, ["module", "declaration"]), strict=True).compute_lalr()


def test_each_rule_has_an_action_and_each_action_a_rule():
    loaded = tables.load_tables()
    named = {rule.action for rule in loaded.rules if rule.action}
    only_handed_on = {"literal", "primary", "expr", "signed", "product", "sum", "comparison"}
    only_handed_on |= {"negation", "conjunction", "disjunction", "declaration"}
    assert named - only_handed_on == set(ACTIONS)


def build(node: Any, lines: Lines) -> Any:
    """The tree that lark made, through the same actions. Lists of helper rules are spliced as lark does."""
    if isinstance(node, Token):
        return str(node)
    children: list[Any] = []
    for child in node.children:
        made = build(child, lines)
        children += made if isinstance(child, Tree) and child.data.startswith("_") else [made]
    if node.data.startswith("_"):
        return children
    return ACTIONS[node.data](children, lines.span(0, 0), lambda diagnostic: None)


def test_lark_s_own_lexer_and_parser_make_the_same_trees(spell):
    lines = Lines("f", PROGRAM)
    tree = lark_parser("module").parse(PROGRAM)
    ours = parse_module(PROGRAM, "f")
    assert ours.diagnostics == ()
    assert [spell(build(child, lines)) for child in tree.children] == [spell(d) for d in ours.module.declarations]


def test_lark_s_own_lexer_makes_the_same_tokens():
    loaded = tables.load_tables()
    ours = [(loaded.kinds[t.kind], t.text, t.start) for t in scan(PROGRAM, loaded)[:-1]]
    assert ours == [(t.type, str(t), t.start_pos) for t in lark_parser("module").lex(PROGRAM)]


def test_the_shipped_tables_are_those_of_the_grammar():
    remedy = "run `python -m strata_core.language.lark_tables`"
    assert tables.SHIPPED.read_bytes() == lark_tables.shipped_tables(), remedy


@pytest.fixture
def cache_file(tmp_path, monkeypatch):
    """The cache file in a fresh directory, just written: nothing of use is shipped."""
    monkeypatch.setenv("STRATA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(tables, "SHIPPED", tmp_path / "none")
    tables.load_tables.cache_clear()
    tables.load_tables()
    yield next((tmp_path / "cache" / "grammars").iterdir())
    tables.load_tables.cache_clear()


def content_of(file: Path) -> Any:
    content = kept(file)
    assert content is not None
    return marshal.loads(content)


@pytest.mark.parametrize("damage", [b"", b"{}", b"4-0 00000000\n{}", b"\xff\xfe\x00"])
def test_a_damaged_cache_file_is_made_anew(cache_file, damage):
    whole = content_of(cache_file)
    cache_file.write_bytes(damage)
    tables.load_tables.cache_clear()
    assert tables.load_tables().start == whole["start"]
    assert content_of(cache_file) == whole


def test_a_truncated_cache_file_is_made_anew(cache_file):
    whole = content_of(cache_file)
    written = cache_file.read_bytes()
    cache_file.write_bytes(written[: len(written) // 2])
    tables.load_tables.cache_clear()
    tables.load_tables()
    assert content_of(cache_file) == whole


def test_no_cache_directory_is_no_obstacle(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("STRATA_CACHE_DIR", str(blocked))
    monkeypatch.setattr(tables, "SHIPPED", tmp_path / "none")
    tables.load_tables.cache_clear()
    assert tables.load_tables().kinds[-1] == "$END"
    tables.load_tables.cache_clear()


def write_tables(directory: str) -> int:
    """In a process of its own: make the tables and write them to `directory`."""
    import os

    os.environ["STRATA_CACHE_DIR"] = directory
    tables.SHIPPED = Path(directory) / "none"
    return tables.load_tables().start


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path):
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:  # a `Pool` may hang as it ends
        assert len(set(pool.map(write_tables, [str(tmp_path)] * 3))) == 1
    (file,) = (tmp_path / "grammars").iterdir()
    assert content_of(file)["kinds"][-1] == "$END"


def test_with_a_warm_cache_parsing_needs_the_standard_library_only(cache_file):
    code = (
        "import sys; from strata_core.language.parser import parse_module;"
        "parse_module('model m { from t }', 'f');"
        "print([m for m in ('lark', 'duckdb', 'pyarrow', 'polars', 'rich', 'sqlglot') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_node_has_a_span():
    kinds = [kind for kind in vars(ast).values() if isinstance(kind, type) and kind.__module__.startswith(ast.__name__)]
    assert len(kinds) > 40
    assert all("span" in {field.name for field in fields(kind)} for kind in kinds)
