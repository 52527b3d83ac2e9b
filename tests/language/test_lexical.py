"""language.md, "Lexical", and language-reference.md §1: one test a rule."""

# ruff: noqa: SIM905  (tables of literal expectations, one row a case)
from __future__ import annotations

import pytest

from strata_core.language import ast
from strata_core.language.parser import parse_module
from strata_core.language.scanner import Lines
from strata_core.language.tables import load_tables

SOFT = (
    "columns env models sources as on expect except over rows asc desc like rlike if case freshness "
    "one_to_one many_to_one one_to_many nonnull unique primary_key protected enum classification mask "
    "partition_by freshness_column date timestamp string int64 money row_count map struct test "
    "union intersect all dedup by expand"
    "union intersect all dedup by expand"
).split()


def test_newlines_mean_nothing(declaration):
    one = declaration("model m { from t filter a == 1 select { a } }")
    many = declaration("model\nm\n{\r\nfrom\n\tt\nfilter\na\n==\n1\nselect\n{\na\n}\n}\n")
    assert one == many


@pytest.mark.parametrize("comment", ["// c\n", "# c\n", "/* c */", "/* a\n * b **/", "// }\n", '/* " */', "/**/"])
def test_comments_separate_tokens(statements, comment):
    assert statements(f"from{comment}t{comment}take 1") == "From(table=t); Take(first=1 last=1)"


def test_a_comment_may_end_the_file():
    assert parse_module("// nothing else", "a").module.declarations == ()


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("0", "0"),
        ("007", "7"),
        ("1_000", "1000"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1.5", "1.5"),
        (".5", ".5"),
        ("1_0.2_5", "10.25"),
        ("1e9", "1e9"),
        ("1.50E-3", "1.50E-3"),
        ("-1.50", "-1.50"),
        ("1.2345678901234567890123456789012345678", "1.2345678901234567890123456789012345678"),
        ("true", "True"),
        ("false", "False"),
        ("none", "None"),
        ("null", "None"),
        (r'"a\n\t\"\\"', "'a\\n\\t\"\\\\'"),
        (r'"\q\$\{"', "'q${'"),
        ('"a\nb"', r"'a\nb'"),
        ('"// no comment"', "'// no comment'"),
    ],
)
def test_literals(expression, text, spelled):
    assert expression(text) == spelled


def test_a_float_keeps_its_digits():
    (model,) = parse_module("model m { filter -1_0.50 }", "a").module.declarations
    assert isinstance(model, ast.Model)
    assert isinstance(model.statements[0], ast.Filter)
    literal = model.statements[0].condition
    assert isinstance(literal, ast.Literal)
    assert (literal.value, literal.text) == (-10.5, "-10.50")


@pytest.mark.parametrize("text", ["take 5..10", "take 5 .. 10", "take 5.. 10", "take 5 ..10"])
def test_a_range_lexes_without_spaces(statements, text):
    assert statements(text) == "Take(first=5 last=10)"


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("5min", 300), ("12h", 43200), ("1d", 86400), ("2w", 1209600)]
)
def test_durations(statements, text, seconds):
    assert statements(f"freshness <= {text}") == f"Freshness(limits=[{seconds}s])"


@pytest.mark.parametrize("word", SOFT)
def test_contextual_words_are_names(word, statements, declaration):
    assert statements(f"filter {word} == t.{word}") == f"Filter(condition=({word} == t.{word}))"
    assert statements(f"select {{ {word}, {word} = {word} + 1 }}") == f"Select(items=[{word}, {word} = ({word} + 1)])"
    assert declaration(f"contract C {{ a: int64, {word}: string }}").endswith(
        f"FieldDecl(name={word} type=TypeExpr(name=string))])"
    )


def test_contextual_words_stay_keywords_where_no_name_can_stand(statements):
    assert statements("join_left as as on on on == expect expect one_to_one") == (
        "Join(kind=left table=as alias=on on=(on == expect) expect=one_to_one)"
    )
    assert statements("sort { asc asc, desc desc }") == (
        "Sort(keys=[SortKey(expr=asc), SortKey(expr=desc descending=True)])"
    )
    assert statements("filter like like like freshness 1d") == (
        "Filter(condition=Like(operand=like pattern=like)); Freshness(limits=[86400s])"
    )


def test_a_test_is_a_declaration_and_may_be_a_name():
    text = """
domain d = test test all {}
import a.test test test { expect test }
pipeline p env: test {} test unique {} contract test {} model test -> contract test { from test filter
test
}
import test test m {}
"""
    parsed = parse_module(text, "a")
    assert parsed.diagnostics == ()
    assert [type(d).__name__ for d in parsed.module.declarations] == (
        "Domain Test Import Test Pipeline Test Contract Model Import Test".split()
    )


def test_a_test_below_an_open_bracket_is_whole():
    parsed = parse_module("model m { from a filter (x\ntest m { expect a }\ntest", "a")
    assert [type(d).__name__ for d in parsed.module.declarations] == ["Broken", "Test"]
    assert len(parsed.diagnostics) == 2


def test_reserved_words_are_names_in_backquotes(statements):
    assert statements("select { `model` = t.`group`, `a b` }") == "Select(items=[model = t.group, a b])"


@pytest.mark.parametrize("word", ["model", "select", "group", "sort", "source", "and", "in", "true", "distinct"])
def test_a_reserved_word_as_a_name_is_an_error_that_offers_backquotes(errors, word):
    (error,) = errors(f"contract C {{ {word}: int64 }}")
    assert error == (
        f"1:14 E001 expected `}}` or a name, found `{word}` "
        f"| `{word}` is a reserved word; as a name it is written in backquotes"
    )


def test_keywords_are_not_prefixes(statements):
    assert statements("from fromage filter selected") == "From(table=fromage); Filter(condition=selected)"


def test_spans_count_code_points_from_one():
    text = 'model m { filter "日本" == naïve }'.replace("naïve", "x")
    (model,) = parse_module(text, "a").module.declarations
    assert isinstance(model, ast.Model)
    (statement,) = model.statements
    assert isinstance(statement, ast.Filter)
    condition = statement.condition
    assert isinstance(condition, ast.Binary)
    assert str(condition.right.span) == "a:1:26"
    assert (condition.span.column, condition.span.end_column) == (18, 27)


def test_lines_and_columns():
    span = Lines("f", "ab\ncd\n").span(1, 5)
    assert (span.line, span.column, span.end_line, span.end_column) == (1, 2, 2, 3)


def test_reserved_words():
    tables = load_tables()
    reserved = {w for w in tables.keywords if parse_module(f"domain {w} = string", "a").diagnostics}
    assert reserved == set(
        "source contract model pipeline import domain fn from join_inner join_left join_full join_semi join_anti "
        "join_cross join_asof join_asof_inner "
        "filter where let derive select group aggregate sort take and or not in is true false none "
        "null distinct extern".split()
    )
