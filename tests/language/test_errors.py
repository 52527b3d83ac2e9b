"""Syntax errors: the exact place, what would be accepted, a fix; and recovery at the next declaration."""

# ruff: noqa: E501, SIM905  (tables of literal expectations, one row a case)
from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from strata_core.language import ast
from strata_core.language.parser import MAX_ERRORS, MAX_NESTING, ParseResult, parse_module, read_module

STATEMENT = "a statement (`from`, `filter`, `select`, …)"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("fitler a", "1:11 E001 unknown word `fitler` | did you mean `filter`?"),
        ("join_lft t on a", "1:11 E001 unknown word `join_lft` | did you mean `join_left`?"),
        ("select a", "1:18 E001 expected `{`, found `a` | columns stand in braces: `select { a, … }`"),
        ("select { upper(x) }", "1:25 E001 expected `,`, `.`, `=` or `}`, found `(` | give the output a name: `name = expression`"),
        ("filter a = 1", f"1:20 E001 expected `}}`, an operator, {STATEMENT} or a name, found `=` | `==` compares two values"),
        ("filter a <> 1", "1:21 E001 expected an expression, found `>` | write `!=` for unequal"),
        ("filter a not in [1]", f"1:20 E001 expected `}}`, an operator, {STATEMENT} or a name, found `not` | write `not` before the comparison: `not x in [1, 2]`"),
        ("let a == 1", "1:17 E001 expected `=`, found `==` | `=` gives a name its value"),
        ("filter", '1:18 E001 expected an expression, found `}` | a condition is written `amount > 0 and country == "ES"`'),
        ("join_left t", "1:23 E001 expected `as` or a join condition (`on …`), found `}` | a join is written `join_left customers on customers.id == customer_id`"),
        ("take 1 2", f"1:18 E001 expected `..`, `}}`, {STATEMENT} or a name, found `2` | write `take 10` for the first ten rows, `take 11..20` for the next ten"),
        ("take x", "1:16 E001 expected a whole number, found `x` | write the number out: rows are taken as in `take 10`"),
        ("join_left u t.a == u.a", "1:23 E001 expected `as` or a join condition (`on …`), found `t` | write `on` before the condition"),
        ("sort { a b }", "1:20 E001 expected `,`, `asc`, `desc`, `}` or an operator, found `b` | separate two entries by a comma"),
        ("filter a in [1 2]", "1:26 E001 expected `,`, `]`, `for` or an operator, found `2` | separate two entries by a comma"),
        ("derive { x = if a == 1 then 2 else 3 }", "1:27 E001 expected `,`, `}` or an operator, found `a` | write `if(condition, value, otherwise)`"),
        ("freshness <= 1 day", "1:24 E001 expected a duration such as `1d`, a string or a name, found `1` | write a duration as one word: `30s`, `5min`, `12h`, `1d` or `2w`"),
        ("incremental { strategy: merge }", "1:35 E001 expected `append`, `replace` or `upsert`, found `merge` | write `upsert` to replace rows by their key, `append` to keep them all"),
        ("join_asof u on t.a == u.a select { a }", "1:37 E001 expected `at` or an operator, found `select` | say which instants meet: `at table.since <= instant`"),
        ("filter a \u2014 1 > 0", "1:20 E001 unexpected character `\u2014` | write `-`"),
        ("filter a == 'x'", "1:23 E001 unexpected character `'` | write strings in double quotes"),
        ("filter a && b", "1:20 E001 unexpected character `&` | write `and`"),
        ("filter 1abc", "1:18 E001 `1abc` is no number | write numbers as `1_000`, `1.5`, `1e9`, durations as `1d`; a name does not begin with a digit"),
        ("freshness <= 90minutes", "1:24 E001 `90minutes` is no duration | write `90min`"),
        ("freshness <= 2hrs", "1:24 E001 `2hrs` is no duration | write `2h`"),
        ("freshness <= 500ms", "1:24 E001 `500ms` is no duration | durations are of whole seconds here, such as `1s`"),
        ("filter größe", "1:18 E001 `größe` cannot stand in a bare name | put the name in backquotes"),
        ('select { a = "${x}" }', "1:24 E043 `${…}` is only allowed within a compile-time function | write `\\$` for a dollar sign before a brace"),
        ("derive { a = f() over (sort: [a], sort: [b]) }", "1:45 E001 `sort` is given twice | keep one of the two"),
        ('owner: "a" owner: "b"', "1:22 E023 `owner` is given twice | keep one of the two"),
        ("filter a == 9223372036854775808", '1:23 E003 the integer does not fit into int64 | write it as a decimal: cast("…", "decimal(38,0)")'),
        ("filter a == -9223372036854775809", '1:24 E003 the integer does not fit into int64 | write it as a decimal: cast("…", "decimal(38,0)")'),
        ("freshness <= 9223372036854775808s", "1:24 E003 a duration of so many seconds does not fit into int64 | write 9_223_372_036_854_775_807s at most"),
        (f"freshness <= {'9' * 5000}w", "1:24 E003 a duration of so many seconds does not fit into int64 | write 15_250_284_452_471w at most"),
        ("filter a == 1e999", "1:23 E003 the number does not fit into float64 | write a number within ±1.8e308"),
        ("filter a == 1e-999", "1:23 E003 the number does not fit into float64 | write a number within ±1.8e308"),
        (f"filter a == 1.{'3' * 38}", "1:23 E003 the number has more than 38 digits | write at most 38 digits"),
        ("take 10..5", "1:11 E003 `take 10..5` takes no rows | rows count from 1, both ends included: `take 5..10`"),
        ("take 0..5", "1:11 E003 `take 0..5` takes no rows | rows count from 1, both ends included: `take 5..10`"),
        ("derive { a = f() over (rows: 1..0) }", "1:34 E003 the frame ends before it begins | write `rows: 0..1`"),
        ("from ``", "1:16 E001 quoted name without an end | close the name with a backquote"),
        ('model: "a"', "1:11 E001 expected `}`, a statement (`from`, `filter`, `select`, …) or a name, found `model` | `model` is a reserved word; as a name it is written in backquotes"),
    ],
)  # fmt: skip
def test_error_in_a_model(errors, body, error):
    assert errors(f"model m {{ {body} }}") == [error]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("contract C { a: int64 enum {1, 2} }", "1:29 E001 expected a string, `}` or a name, found `1` | an enum lists texts, for a string: `enum { a, b }`"),
        ("domain d = string nonnull", "1:19 E001 expected the end of the file, `(` or `<`, found `nonnull` | a domain is a type alone: annotations stand behind each field that has it"),
        ('pipeline p { env: a, models: [m], sources: { s: csv("x") } }', '1:49 E001 expected `from`, found `csv` | say where it is in this environment: `from(csv: "…")`'),
        ("test m { select a }", "1:10 E001 expected `expect`, `given` or `}`, found `select` | write what is to hold: `expect row_count > 0`"),
        ("fn f(n: Int) -> List<Model> { n for n in [1] }", "1:33 E001 expected `}` or an operator, found `for` | a list stands in brackets: `[value for x in list]`"),
        ("domain d = decimal(10 2)", "1:23 E001 expected `)` or `,`, found `2` | separate two entries by a comma"),
        ("fn by(n: Int) -> List<Model> { [] }\nby(1)", "2:1 E001 expected a declaration (`source`, `contract`, `model`, …), found `by` | `by` is a reserved word; as a name it is written in backquotes"),
        ("modle m { from t }", "1:1 E001 expected a declaration (`source`, `contract`, `model`, …), found `modle` | did you mean `model`?"),
        ("hello", "1:1 E001 expected a declaration (`source`, `contract`, `model`, …), found `hello` | a declaration begins with its kind and its name: `model name { … }`"),
        ("model m -> C { }", "1:12 E001 expected `contract`, found `C` | write `-> contract` and the contract's name"),
        ("contract C { a: int64 nonnul }", "1:23 E001 unknown word `nonnul` | did you mean `nonnull`?"),
        ("contract C { a int64 }", "1:16 E001 expected `:`, found `int64` | a column is written `name: type`"),
        ("contract C { a: }", "1:17 E001 expected a name, found `}` | behind the name stands a type: `id: int64`, also `decimal(10,2)`, `string`, `date`, `array(string)`"),
        ("contract C { a: int64", "1:22 E001 expected `,`, `;`, `}`, an annotation (`nonnull`, `primary_key`, …) or a name, found the end of the file | add `}`"),
        ("domain d = array(string>", "1:24 E001 expected `(`, `)`, `,`, `:`, `<` or …, found `>` | a domain is another name of a type: `domain amount = decimal(18,2)`"),
        ("import", "1:7 E001 expected a name, found the end of the file | a module is imported by its name, with dots for folders: `import finance.revenue`"),
        ("source s { columns: { } columns: { } }", "1:25 E001 `columns` is given twice | keep one of the two"),
        ('source s(a: 1, a: 2)', "1:16 E023 `a` is given twice | keep one of the two"),
        ('model "" { }', "1:7 E001 a name is empty | write at least one character"),
        ("/* no end", "1:1 E001 comment without an end | close the comment with `*/`"),
        ('model m { owner: "no end }', '1:18 E001 string without an end | close the string with `"`'),
        ("model m { from t }\0", "1:19 E001 unexpected character U+0000 | None"),
        ('model m { owner: "a\0" }', "1:18 E001 unexpected character U+0000 in a string or name | None"),
    ],
)  # fmt: skip
def test_error_in_a_declaration(errors, text, error):
    assert errors(text) == [error]


CELL = 'a cell is a value, not an expression: `1`, `2.50`, `"a"`, `2024-01-31`, `none`'
TABLE = "a table is written between bars, the header first and a line for each row: `{ | id | name | … }`"


@pytest.mark.parametrize(
    ("rows", "place", "fix"),
    [
        ("| a || b |", "||", "write `none` for an empty cell, and a space between two rows"),
        ("| a | | f(1) |", "(", CELL),
        ("| a | | 1 + 1 |", "+", CELL),
        ("| |", "|", "write `none` for an empty cell, and a space between two rows"),
        ("", "}", TABLE),
        ("a: 1", "a", TABLE),
        ("| a | |---| | 1 |", "-", "leave the line out: rows stand below the header"),
        (
            "| a | 1 |",
            "1",
            'behind the header each row stands between bars of its own: `| id | name | | 1 | "a" |`',
        ),
    ],
)
def test_a_literal_table_that_is_none(rows, place, fix):
    text = f'test m "t" {{ expect {{ {rows} }} }}'
    (found,) = parse_module(text, "a").diagnostics
    assert (found.code, found.fix) == ("E001", fix)
    assert text[found.span.column - 1 : found.span.end_column - 1] == place


def test_a_test_with_a_title_begins_a_declaration_where_a_bracket_is_missing():
    result = parse_module('model m { from a filter (x\ntest m "t" { expect a }', "f")
    assert kinds(result) == ["Broken m", "Test m"]


def kinds(result: ParseResult) -> list[str]:
    return [f"{type(d).__name__} {getattr(d, 'name', '')}".strip() for d in result.module.declarations]


@pytest.mark.parametrize(
    "broken",
    [
        "model b { fitler x }",
        "model b { from t select { a = 1 }",
        "model b { from t )",
        "model b -> contract { from t }",
        'model b { owner: "no end\n}',
        "model b { filter 'x' }",
        "modle b { from t }",
        "model b { from t filter a == 99999999999999999999 }",
    ],
)
def test_a_broken_declaration_leaves_the_others_whole(spell, broken):
    result = parse_module(f"model a {{ from t }}\n{broken}\nmodel c {{ from b }}\n", "a")
    assert len(result.diagnostics) == 1
    assert kinds(result) == ["Model a", "Broken b", "Model c"]


def test_a_missing_brace_points_at_the_open_one():
    (error,) = parse_module("model a {\n  select {\n    x = 1\nmodel b { from t }", "f").diagnostics
    assert (str(error.span), error.fix) == ("f:4:1", "add `}`")
    assert [(str(r.span), r.message) for r in error.related] == [("f:2:10", "this `{` is not closed")]


def test_a_string_over_several_lines_is_named_as_the_likely_cause():
    (error,) = parse_module('model a {\n  owner: "x\n  label: "y"\n}', "f").diagnostics
    assert [(str(r.span), r.message) for r in error.related] == [
        ("f:2:10", "this string goes over several lines; is a quote missing here?")
    ]


def test_stray_text_is_one_error():
    result = parse_module("} ] what ever } }\nmodel a { from t }", "f")
    assert (len(result.diagnostics), kinds(result)) == (1, ["Model a"])


def test_calls_of_functions_are_one_error():
    result = parse_module("test a { expect row_count > 0; }\nmodel a { from t }\nby_country([1]", "f")
    assert (len(result.diagnostics), kinds(result)) == (1, ["Test a", "Model a"])


def test_errors_are_bounded():
    assert len(parse_module("model " * 5000, "f").diagnostics) == MAX_ERRORS


DEEP = 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"model m {{ filter {'(' * DEEP}",
        f"model m {{ filter {'(' * DEEP}a{')' * DEEP} }}",
        f"model m {{ filter {'[' * DEEP}a{']' * DEEP} }}",
        f"model m {{ filter {'not ' * DEEP}a }}",
        f"model m {{ filter {'- ' * DEEP}a }}",
        f"model m {{ filter a{' == a' * DEEP} }}",
        f"model m {{ filter {'(a + ' * DEEP}a{')' * DEEP} }}",
        f"model m {{ filter {'(a or ' * DEEP}a{')' * DEEP} }}",
        f"model m {{ filter {'f(' * DEEP}a{')' * DEEP} }}",
        f"domain d = {'array(' * DEEP}int64{')' * DEEP}",
    ],
)
def test_depth_is_bounded(text):
    (error,) = parse_module(text, "f").diagnostics
    assert error.code == "E001"
    assert error.message.endswith(f"nested more than {MAX_NESTING} deep")


@pytest.mark.parametrize(
    "text",
    [
        f"model m {{ filter {'f(' * (MAX_NESTING - 5)}a{')' * (MAX_NESTING - 5)} }}",
        f"model m {{ filter a{' == a' * (MAX_NESTING - 5)} }}",
        f"model m {{ filter a{' + a' * DEEP} }}",
        f"model m {{ filter a{' or a' * DEEP} }}",
        f"domain d = {'array(' * (MAX_NESTING - 2)}int64{')' * (MAX_NESTING - 2)}",
    ],
)
def test_what_is_accepted_is_shallow_enough_for_recursive_passes(text):
    result = parse_module(text, "f")
    assert result.diagnostics == ()
    assert pickle.loads(pickle.dumps(result)) == result
    assert repr(result.module)
    assert hash(result.module) == hash(parse_module(text, "f").module)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (f'model m {{ owner: "{"x" * 2_000_000}" }}', []),
        (f'model m {{ owner: "{chr(92) * 1_000_000}" }}', []),
        (f"model m {{ filter a == {'9' * 1_000_000} }}", ["E003"]),
        (f"model m {{ filter a == 1.{'0' * 1_000_000} }}", ["E003"]),
        (f"model {'m' * 1_000_000} {{ }}", []),
        ('"\\"\n' * 50_000, ["E001"]),
        ("/*" * 100_000, ["E001"]),
        ("`" * 100_000, ["E001"]),
        ("ä" * 100_000, ["E001"]),
    ],
)
def test_megabytes_are_read_without_a_hang(text, codes):
    begun = time.process_time()
    assert [d.code for d in parse_module(text, "f").diagnostics] == codes
    assert time.process_time() - begun < 10


def test_a_file_that_is_missing(tmp_path):
    result = read_module(tmp_path / "no.strata", "no.strata")
    (error,) = result.diagnostics
    assert (error.code, error.message) == ("E002", "`no.strata` cannot be read: No such file or directory")
    assert result.module.declarations == ()


def test_a_file_that_is_not_utf8(tmp_path):
    path = tmp_path / "latin.strata"
    path.write_bytes('model m {\n  owner: "é"\n}'.encode("latin-1"))
    (error,) = read_module(path, "latin.strata").diagnostics
    assert (error.code, str(error.span)) == ("E002", "latin.strata:2:11")
    assert error.message == "the file is not UTF-8: byte 0xe9 at offset 20"


def test_a_byte_order_mark_is_no_text(tmp_path):
    path = tmp_path / "bom.strata"
    path.write_bytes(b"\xef\xbb\xbfmodel m { from t }")
    result = read_module(path, "bom.strata")
    assert result.diagnostics == ()
    assert str(result.module.declarations[0].span) == "bom.strata:1:1"


WORDS = (
    "model contract source pipeline domain import from filter select group aggregate sort take join_left on as "
    'expect freshness a b t int64 money EUR 1 2.5 1d "s" `q` { } ( ) [ ] , : ; = == < > <= -> .. . * - + not '
    "and in is none over rows partition_by distinct except ' \" ` /* // \n \0 ä \\ $"
).split(" ")


@settings(max_examples=150, deadline=None)
@example("\ufeff")
@example("model m { from t as }")
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)))
def test_parse_module_never_raises_and_says_the_same_twice(text):
    result = parse_module(text, "f")
    assert parse_module(text, "f") == result
    lines = text.split("\n")
    for diagnostic in result.diagnostics:
        assert diagnostic.span is not None
        assert 1 <= diagnostic.span.line <= diagnostic.span.end_line <= len(lines)
        assert diagnostic.span.end_column <= len(lines[diagnostic.span.end_line - 1]) + 1
    if not result.diagnostics:
        assert not any(isinstance(d, ast.Broken) for d in result.module.declarations)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=40))
def test_read_module_never_raises(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "x.strata"
    path.write_bytes(data)
    read_module(path, "x.strata")
