"""What newcomers write, from SQL, Python and elsewhere, is told in one message with what is written instead."""

# ruff: noqa: E501  (tables of literal expectations, one row a case)

from __future__ import annotations

import itertools
import re

import pytest

from strata_core.language.clauses import FORMS, form_of
from strata_core.language.parser import parse_module

IN_A_MODEL = [
    ("group_by a", "write `group { a, b } ( aggregate { rows = count() } )`", "group { a } ( aggregate { n = count() } )"),
    ("group by { a } ( aggregate { n = count() } )", "write `group { a, b } ( aggregate { rows = count() } )`", "group { a } ( aggregate { n = count() } )"),
    ("aggregate { n = count() } by a", "write `group { a, b } ( aggregate { rows = count() } )`", "group { a } ( aggregate { n = count() } )"),
    ("group { a } ( select { n = count() } )", "in a group stand `filter`, `aggregate`, `sort` and `take`; write it behind the group", "group { a } ( aggregate { n = count() } )"),
    ("order_by { a }", "write `sort { a, b desc }`, `desc` behind a key for the largest first", "sort { a }"),
    ("sort { desc a }", "it stands behind the key: `sort { a desc }`", "sort { a desc }"),
    ("take 1-10", "write both ends: `take 1..10`", "take 1..10"),
    ("take 10 rows", "leave it out: `take 10` takes ten rows", "take 10"),
    ("left_join u on u.a == a", "write `join_left u on condition`: the kind is part of the word", "join_left u on u.a == a"),
    ("outer_join u on u.a == a", "write `join_full u on condition`: the kind is part of the word", "join_full u on u.a == a"),
    ("right_join u on u.a == a", "begin with `from u` and write `join_left` with the other table", "join_left u on u.a == a"),
    ("cross_join u", "write `join_cross u`", "join_cross u"),
    ("asof_join u on u.a == a", "write `join_asof u on condition at u.column <= instant`", "join_asof u on u.a == a at u.b <= b"),
    ("join_left u where u.a == a", "write `on` before the condition", "join_left u on u.a == a"),
    ("drop { a }", "columns are left out behind a star: `select { * except { a } }`", "select { * except { a } }"),
    ("drop a", "columns are left out behind a star: `select { * except { a } }`", "select { * except { a } }"),
    ("select { * exclude a }", "write `* except { a }`", "select { * except { a } }"),
    ("select { * except a }", "names stand in braces: `* except { a }`", "select { * except { a } }"),
    ("select { *, -a }", "columns are left out behind a star: `select { * except { a } }`", "select { * except { a } }"),
    ("rename { c = a }", "write `derive { new = old }`, and leave the other out: `select { * except { old } }`", "derive { c = a } select { * except { a } }"),
    ("mutate x = 1", "write `derive { name = expression }`: the other columns stay", "derive { x = 1 }"),
    ("unnest xs", "write `expand xs as element`: a row for each element of an array", "expand xs as x"),
    ("qualify row_number() over (sort: [a]) == 1", "compute it in `derive { n = … over (…) }`, and write `filter n == 1` behind it", "derive { n = row_number() over (sort: [a]) } filter n == 1"),
    ("dedup { a }", "name the columns behind `by`: `dedup by a, b`", "dedup by a"),
    ("dedup a", "name the columns behind `by`: `dedup by a, b`", "dedup by a"),
    ("dedup by (a, b)", "name the columns alone: `dedup by a, b`", "dedup by a, b"),
    ("union_all u", "write `union all u`", "union all u"),
    ("union distinct u", "write `union u`, which keeps one of equal rows", "union u"),
    ("minus u", "write `except u`", "except u"),
    ("filter a in (select b from u)", "write `join_semi table on condition`; in a test, `expect a in table.b`", "join_semi u on u.b == a"),
    ("filter a in {1, 2}", "a list stands in brackets: `in [1, 2]`", "filter a in [1, 2]"),
    ("filter { a > 1 }", "leave the braces out: `filter a > 1`", "filter a > 1"),
    ("filter: a > 1", "leave it out", "filter a > 1"),
    ("filter {{ cond }}", "leave the template out: a model names the tables that it reads, as in `from orders`", "filter a > 1"),
    ("filter NOT a", "words of the language are written in small letters: `not`, `in`, `and`", "filter not a"),
    ("filter a isnull", "write `x is none`", "filter a is none"),
    ("filter a notnull", "write `x is not none`", "filter a is not none"),
    ("filter a is true", "`is` asks for `none` alone, `x is none` or `x is not none`; `==` compares two values", "filter a == true"),
    ("x = 1", "a value that is computed stands in a statement: `derive { name = … }`, or hidden, `let name = …`", "derive { x = 1 }"),
    ('owner = "me"', "`:` stands between a name and its value", 'owner: "me"'),
    ('owner "me"', 'a colon follows the word: `owner: "finance"`', 'owner: "me"'),
    ("select { a; b }", "separate two entries by a comma", "select { a, b }"),
    ("derive { x = a,, y = b }", "leave it out: one comma stands between two", "derive { x = a, y = b }"),
    ("derive { x = +a }", "leave it out: a number without a sign is positive", "derive { x = a }"),
    ("derive { x = a ^ 2 }", "write `power(a, b)`", "derive { x = power(a, 2) }"),
    ("derive { x = a ?? 0 }", "write `if(condition, a, b)`, or `coalesce(a, b)`; a column may be null unless it is `nonnull`", "derive { x = coalesce(a, 0) }"),
    ("derive { x = (1, 2) }", "a list stands in brackets: `[a, b]`", "derive { x = [1, 2] }"),
    ("derive { x = {a: 1} }", 'a struct is made by `struct("a", 1)`, a map by `map("a", 1)`, a list is written `[1, 2]`', 'derive { x = struct("a", 1) }'),
    ("derive { x = t.s.f }", 'a column is `name` or `table.name`; a field of a struct is `struct_get(x, "field")`', 'derive { x = struct_get(t.s, "f") }'),
    ("derive { x = day + 1 day }", "move an instant by a call: `date_add(x, days: 7)`, also `hours:`, `weeks:`, `months:`", "derive { x = date_add(day, days: 1) }"),
    ("derive { r = rank() over (order_by: [a]) }", "write `sort: [a]`", "derive { r = rank() over (sort: [a]) }"),
    ("incremental { strategy = append }", "`:` stands between a name and its value", "incremental { strategy: append }"),
    ("incremental { unique_key: a }", "write `incremental { strategy: upsert, key: [id], cursor: changed }`", "incremental { strategy: upsert, key: [a] }"),
    ("partition_by a", "columns stand in brackets: `partition_by [day]`", "partition_by [a]"),
    ("contract: C", "it stands behind the model's name: `model name -> contract Paid { … }`", ""),
]  # fmt: skip
"""What is written in a model, what is told, and what follows it."""

IN_A_FILE = [
    ("source s { id: int64 primary_key }", "columns and what holds of them stand in `columns: { id: int64 nonnull }`", "source s { columns: { id: int64 primary_key } }"),
    ("source s { columns { id: int64 } }", "a colon stands before the brace: `columns: {`", "source s { columns: { id: int64 } }"),
    ("source s { columns: id: int64 }", "columns stand in braces: `columns: { id: int64 nonnull }`", "source s { columns: { id: int64 } }"),
    ("source s { fields: { id: int64 } }", "columns and what holds of them stand in `columns: { id: int64 nonnull }`", "source s { columns: { id: int64 } }"),
    ("source s { columns: { id } }", "behind the name stands a type: `id: int64`, also `decimal(10,2)`, `string`, `date`, `array(string)`", "source s { columns: { id: int64 } }"),
    ("source s { columns: { id = int64 } }", "`:` stands between a name and its value", "source s { columns: { id: int64 } }"),
    ('source s { columns: { "id": int64 } }', "leave the quotes out", "source s { columns: { id: int64 } }"),
    ('source s { columns: { id: "int64" } }', "leave the quotes out: `id: int64`", "source s { columns: { id: int64 } }"),
    ("source s { columns: { first-name: string } }", "put the name in backquotes", "source s { columns: { `first-name`: string } }"),
    ("source s { columns: { id: int64 } where id > 0 }", "write `filter: condition`", "source s { columns: { id: int64 } filter: id > 0 }"),
    ("source s { columns: { id: int64 } filter id > 0 }", "a colon follows the word: `filter: id > 0`", "source s { columns: { id: int64 } filter: id > 0 }"),
    ("source s { columns: { id: int64 } freshness: < 1d }", "write `<=`", "source s { columns: { id: int64 } freshness: <= 1d }"),
    ("source s { select { id } }", "here columns are declared; what is done with rows stands in a model: `model name { from table … }`", "source s model m { from s select { id } }"),
    ('source s("s.csv")', 'say what it is: `(csv: "orders.csv")`, or `parquet:`, `duckdb:`, `dbt:`', 'source s(csv: "s.csv")'),
    ('source s(csv = "s.csv")', "`:` stands between a name and its value", 'source s(csv: "s.csv")'),
    ("source s(csv: s.csv)", 'a path is written in quotes: `csv: "orders.csv"`', 'source s(csv: "s.csv")'),
    ('source s = csv("s.csv")', 'a source is written `source orders(csv: "orders.csv") { columns: { id: int64 nonnull } }`', 'source s(csv: "s.csv")'),
    ("contract C ( a: int64 )", "a contract is written `contract Orders { id: int64 nonnull }`", "contract C { a: int64 }"),
    ("contract C { columns: { a: int64 } }", "columns stand in the braces of the contract: `contract Orders { id: int64 }`", "contract C { a: int64 }"),
    ("contract C { a: int64 NOT NULL }", "write `nonnull`", "contract C { a: int64 nonnull }"),
    ("contract C { a: int64 primary key }", "write `primary_key`", "contract C { a: int64 primary_key }"),
    ("contract C { a: int64 nullable }", "leave it out: a column may be null unless it is `nonnull`", "contract C { a: int64 }"),
    ("contract C { a: optional int64 }", "leave it out: a column may be null unless it is `nonnull`", "contract C { a: int64 }"),
    ("contract C { a: int64 | none }", "leave it out: a column may be null unless it is `nonnull`", "contract C { a: int64 }"),
    ("contract C { a: int64? }", "write `if(condition, a, b)`, or `coalesce(a, b)`; a column may be null unless it is `nonnull`", "contract C { a: int64 }"),
    ("contract C { a: int64 default 0 }", "a column has no default; a model gives one: `derive { a = coalesce(a, 0) }`", "contract C { a: int64 }"),
    ("contract C { a: int64 = 0 }", "a column has no default; a model gives one: `derive { a = coalesce(a, 0) }`", "contract C { a: int64 }"),
    ("contract C { a: nonnull int64 }", "the type stands first: `a: string nonnull`", "contract C { a: int64 nonnull }"),
    ("contract C { nonnull a: int64 }", "it stands behind the type: `a: string nonnull`", "contract C { a: int64 nonnull }"),
    ("contract C { a: int64, primary_key(a) }", "it stands behind each column that it is about: `id: int64 primary_key`", "contract C { a: int64 primary_key }"),
    ("contract C { a: int64 references t.a }", "a test says that a key is there: `test model { expect customer_id in customers.id }`", "contract C { a: int64 }"),
    ("contract C { a: int64 check(a > 0) }", "a test says what holds of rows: `test model { expect amount > 0 }`", "test C { expect a > 0 }"),
    ('contract C { a: int64 "what it is" }', "what is said about a column stands in a comment, `// …`; a model and a source have `description:`", "contract C { a: int64 /* what it is */ }"),
    ('contract C { a: int64 description: "what it is" }', "what is said about a column stands in a comment, `// …`; a model and a source have `description:`", "contract C { a: int64 /* what it is */ }"),
    ("contract C { a: array[int64] }", "what a type is of stands in parentheses: `array(int64)`, `map(string, int64)`, `decimal(10,2)`", "contract C { a: array(int64) }"),
    ("contract C { a: decimal 10 }", "what a type is of stands in parentheses: `array(int64)`, `map(string, int64)`, `decimal(10,2)`", "contract C { a: decimal(10,2) }"),
    ("contract C { a: string enum (b, c) }", "values stand in braces: `enum { a, b }`", "contract C { a: string enum { b, c } }"),
    ("contract C { a: string enum { b | c } }", "separate two entries by a comma", "contract C { a: string enum { b, c } }"),
    ("contract C { a: string classification pii mask hash }", "a colon follows the word: `classification: pii mask: hash`", "contract C { a: string classification: pii mask: hash }"),
    ("contract C { a: string mask: hash() }", "leave the parentheses out", "contract C { a: string mask: hash }"),
    ("contract C { from t }", "here columns are declared; what is done with rows stands in a model: `model name { from table … }`", "contract C { a: int64 } model m -> contract C { from t }"),
    ("enum Color { red, green }", "an enum stands behind the column that it is about: `contract C { a: string enum { b, c } }`", "contract C { color: string enum { red, green } }"),
    ("type amount = decimal(18,2)", "another name of a type is a domain: `domain amount = decimal(18,2)`", "domain amount = decimal(18,2)"),
    ("domain d { string }", "write `=` between the name and its value", "domain d = string"),
    ("view v { from t }", "a model is the table that it publishes, `model name { from table … }`; one that is there is a `source`", "model v { from t }"),
    ("include other", "a module is imported by its name: `import finance.revenue`", "import other"),
    ("x = 1", "a declaration begins with its kind and its name: `model name { … }`", "model m { from t let x = 1 }"),
    ("assert a > 0", "what is to hold stands in a test: `test model { expect a > 0 }`", "test m { expect a > 0 }"),
    ("model m { from t },", "leave it out: nothing stands between two declarations", "model m { from t }"),
    ("model m", "a model is written `model paid { from orders … }`, with a contract `model paid -> contract Paid { … }`", "model m { from t }"),
    ('model m { from "t" }', "leave the quotes out: `from orders`; a name of other signs stands in backquotes", "model m { from t }"),
    ("model m { from a.t }", "a table goes by one name: declare it, `source orders(…) { … }`, and write `from orders`", "model m { from t }"),
    ("model a-b { from t }", "a name of such signs stands in backquotes", "model `a-b` { from t }"),
    ("model m { from t -> filter a }", "leave it out: nothing stands between two statements", "model m { from t filter a }"),
    ("fn f(x: Str) { x }", "a compile-time function is written `fn name(x: Str) -> List<Model> { … }`", "fn f(x: Str) -> Str { x }"),
    ("fn f(x) -> Str { x }", "say of which type it is: `x: Str`, also `Int`, `Bool`, `List<Str>`; of an `extern fn`, `x: int64`", "fn f(x: Str) -> Str { x }"),
    ("fn f(x: Str) -> Str { return x }", "leave it out: the body of a function is the value that it gives", "fn f(x: Str) -> Str { x }"),
    ('fn f(x: Str = "a") -> Str { x }', "leave it out: a parameter has no default, a body stands in braces", "fn f(x: Str) -> Str { x }"),
    ("fn f(x: Str) -> List[Model] { [] }", "what a type is of stands in angle brackets: `List<Model>`", "fn f(x: Str) -> List<Model> { [] }"),
    ("fn f(x: str) -> list<model> { [] }", "write `Model` with a capital", "fn f(x: Str) -> List<Model> { [] }"),
    ("fn f(xs: List<Str>) -> List<Str> { for x in xs { x } }", "a list stands in brackets: `[value for x in list]`", "fn f(xs: List<Str>) -> List<Str> { [x for x in xs] }"),
    ("extern fn f(x: int64) -> int64 { duckdb: f }", 'give the expression of each engine as text: `duckdb: "f($x)"`', 'extern fn f(x: int64) -> int64 { duckdb: "f($x)" }'),
    ('fn f(x: Str) -> Str { if (x == "a") { "b" } else { "c" } }', "write `if(condition, value, otherwise)`", 'fn f(x: Str) -> Str { if(x == "a", "b", "c") }'),
    ("extern f(x: int64) -> int64", 'a declared function is written `extern fn f(x: int64) -> int64 deterministic { duckdb: "f($x)" }`', 'extern fn f(x: int64) -> int64 { duckdb: "f($x)" }'),
    ("pipeline p { m }", 'in a pipeline stand `env: prod`, `models: [paid]` and `sources: { orders: from(csv: "…") }`', "pipeline p { models: [m] }"),
    ("pipeline p { models [m] }", "a colon stands before it", "pipeline p { models: [m] }"),
    ("pipeline p { env = prod }", "`:` stands between a name and its value", "pipeline p { env: prod }"),
    ("test { expect a > 0 }", "a test names a model and says what holds of it: `test paid { expect row_count > 0 }`", "test m { expect a > 0 }"),
    ("test m { unique(id) }", "write `expect count(distinct id) == row_count`", "test m { expect count(distinct id) == row_count }"),
    ("test m { expect id unique }", "write `expect count(distinct id) == row_count`", "test m { expect count(distinct id) == row_count }"),
    ("test m { not_null(id) }", "write `expect id is not none`", "test m { expect id is not none }"),
    ("test m { assert id > 0 }", "write what is to hold: `expect row_count > 0`", "test m { expect id > 0 }"),
    ("test m { expect: id > 0 }", "leave it out", "test m { expect id > 0 }"),
    ("test m { expect m { | a | } }", "leave the name out: `expect { | id | … }`", "test m { expect { | a | } }"),
    ("test m { given { | a | } }", "give the rows of a table that the model reads: `given orders { | id | … }`", "test m { given t { | a | } }"),
]  # fmt: skip
"""The same of whole declarations."""


@pytest.mark.parametrize(("written", "told", "right"), IN_A_MODEL)
def test_a_slip_in_a_model(written: str, told: str, right: str) -> None:
    (error,) = parse_module(f"model m {{ from t {written} }}", "f").diagnostics
    assert (error.code, error.fix) == ("E001", told)
    assert parse_module(f"model m {{ from t {right} }}", "f").diagnostics == ()


@pytest.mark.parametrize(("written", "told", "right"), IN_A_FILE)
def test_a_slip_in_a_declaration(written: str, told: str, right: str) -> None:
    (error,) = parse_module(written, "f").diagnostics
    assert (error.code, error.fix) == ("E001", told)
    assert parse_module(right, "f").diagnostics == ()


@pytest.mark.parametrize(
    "body",
    [
        "derive {{ {} = 1 }}",
        "select {{ a, {} }}",
        "filter {} > 1",
        "filter t.{} in [1]",
        "sort {{ {} desc }}",
        "expand {} as x",
        "join_left {} on a == b",
        "join_left u on {}.a == a",
    ],
)
@pytest.mark.parametrize("word", ["filter", "where", "from", "group", "source"])
def test_a_word_of_the_language_that_is_meant_as_a_name(body: str, word: str) -> None:
    error = parse_module(f"model m {{ from t {body.format(word)} }}", "f").diagnostics[0]
    assert error.fix == f"`{word}` is a reserved word; as a name it is written in backquotes"
    assert parse_module(f"model m {{ from t {body.format(f'`{word}`')} }}", "f").diagnostics == ()


def test_an_arrow_stands_before_a_contract() -> None:
    (error, _) = parse_module("model m contract C { from t }", "f").diagnostics
    assert (error.code, error.fix) == ("E001", "an arrow stands before it: `-> contract …`")


AROUND = {
    "source (": "source s{}",
    "source {": "source s {{ {} }}",
    "columns": "source s {{ {} }}",
    "columns {": "contract C {{ {} }}",
    "contract {": "contract C {{ {} }}",
    "enum": "contract C {{ a: string {} }}",
    "enum {": "contract C {{ a: string {} }}",
    "pipeline {": "pipeline p {{ {} }}",
    "test {": "test m {{ {} }}",
    "given": "test m {{ {} }}",
    "given {": "test m {{ expect {} }}",
    "expect": "test m {{ expect {} }}",
    "expect {": "test m {{ expect {} }}",
    "fn {": "fn f(xs: List<Str>) -> List<Model> {{ {} }}",
    "extern {": "extern fn f(x: int64) -> int64 {{ {} }}",
    **dict.fromkeys(("filter", "where"), "model m {{ filter {} }}"),
    "over": "model m {{ derive {{ n = sum(x) {} }} }}",
    **dict.fromkeys(("import", "source", "contract", "domain", "model", "pipeline", "test", "fn", "extern"), "{}"),
}
"""Where the form of a clause may stand, if not in a model."""


@pytest.mark.parametrize("clause", FORMS)
def test_the_form_of_a_clause_parses(clause: str) -> None:
    form = form_of(clause)
    assert form is not None
    for written in re.findall("`([^`]+)`", form):
        if re.fullmatch(r"\w+:", written):
            continue  # a word among others
        whole = re.sub(r"(-> List<Model> {) …", r"\1 []", written)
        whole = re.sub(r",? …", "", whole)
        whole = re.sub(r"(, |^)(\w+) → ", "", whole)
        assert parse_module(AROUND.get(clause, "model m {{ {} }}").format(whole), "f").diagnostics == (), written


PROGRAMS = (
    'source s(csv: "s.csv") { columns: { id: int64 nonnull, b: string enum { x, y } } filter: id > 0 freshness: <= 1d }',
    "contract C { id: int64 nonnull, b: decimal(10,2) classification: pii mask: hash }",
    "domain d = decimal(10,2)",
    'model m -> contract C { owner: "me" from s as t join_left m on m.id == id filter b == "x" derive { c = f(id, 1) } }',
    "model m { from s group { b } ( aggregate { n = count() } ) sort { n desc } take 1..2 dedup by n }",
    "test m { given s { | id | | 1 | } expect { | n | | 1 | } expect id in m.id }",
    'fn by(x: Str) -> List<Model> { [model "m_${x}" { from s } for x in [x]] }',
    'extern fn g(x: int64) -> int64 { duckdb: "g($x)" }',
    'pipeline p { env: prod, models: [m], sources: { s: from(csv: "t.csv") } }',
    "import a.b",
)
OTHERS = ("select", "x", "=", ":", "{", "|", "1", '"a"', ",", ")")


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_syntax_error_says_what_to_write(program: str) -> None:
    """With any word of a program left out, or another in its place."""
    words = re.findall(r'"[^"]*"|\w+|[^\w\s]', program)
    for place, other in enumerate(itertools.islice(itertools.cycle(OTHERS), len(words))):
        for instead in ((), (other,)):
            text = " ".join((*words[:place], *instead, *words[place + 1 :]))
            for error in parse_module(text, "f").diagnostics:
                assert error.fix, (error, text)
