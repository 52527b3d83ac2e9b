"""SQL that does not parse gets the Strata that says the same; every row of the table is shown, its advice parses."""

from __future__ import annotations

import pytest

from strata_core.language.habits import ANY, HABITS, advice
from strata_core.language.parser import parse_module

from .test_slips import IN_A_FILE, IN_A_MODEL

SAID = {
    # what is written in a model: what is said, and the text that follows the advice
    "select distinct a": (
        "write `dedup` behind the `select`, which stands in braces: `select { a, b }`",
        "select { a } dedup",
    ),
    "select *": ("leave it out: a model keeps every column; or write `select { * }`", "select { * }"),
    "SELECT a, b": ("columns stand in braces: `select { a, … }`", "select { a, b }"),
    "derive x = a + 1": ("columns stand in braces: `derive { x = … }`", "derive { x = a + 1 }"),
    "aggregate n = count()": ("columns stand in braces: `aggregate { n = … }`", "aggregate { n = count() }"),
    "sort by a": ("write `sort { a }`, and `desc` behind a key for the largest first", "sort { a desc }"),
    "ORDER BY a": ("write `sort { a }`, and `desc` behind a key for the largest first", "sort { a }"),
    "sort a": ("keys stand in braces: `sort { a }`", "sort { a }"),
    "group by a": (
        "write `group { a } ( aggregate { rows = count() } )`",
        "group { a } ( aggregate { rows = count() } )",
    ),
    "group a ( aggregate { n = count() } )": (
        "keys stand in braces: `group { a } ( aggregate { rows = count() } )`",
        "group { a } ( aggregate { n = count() } )",
    ),
    "having n > 1": ("write `filter` behind the `group`: it sees what was aggregated", "filter n > 1"),
    "limit 10": ("write `take 10`", "take 10"),
    "offset 10": ("write `take 11..20` for ten rows behind the first ten", "take 11..20"),
    "fetch first 3": ("write `take 3`", "take 3"),
    "distinct": (
        "write `dedup` for rows that are all different, `dedup by a` for one row for each `a`",
        "dedup by a",
    ),
    "left join u on u.a == a": (
        "write `join_left u on condition`: the kind is part of the word",
        "join_left u on u.a == a",
    ),
    "left outer join u": ("write `join_left u on condition`: the kind is part of the word", "join_left u on u.a == a"),
    "full join u": ("write `join_full u on condition`: the kind is part of the word", "join_full u on u.a == a"),
    "full outer join u": ("write `join_full u on condition`: the kind is part of the word", "join_full u on u.a == a"),
    "inner join u": ("write `join_inner u on condition`: the kind is part of the word", "join_inner u on u.a == a"),
    "semi join u": ("write `join_semi u on condition`: the kind is part of the word", "join_semi u on u.a == a"),
    "anti join u": ("write `join_anti u on condition`: the kind is part of the word", "join_anti u on u.a == a"),
    "right join u": ("begin with `from u` and write `join_left` with the other table", "join_left t on u.a == t.a"),
    "right outer join u": ("begin with `from u` and write `join_left` with the other table", "join_left t on u.a == a"),
    "cross join u": ("write `join_cross u`", "join_cross u"),
    "asof join u": ("write `join_asof u on condition at u.column <= instant`", "join_asof u on u.a == a at u.b <= b"),
    "asof left join u": (
        "write `join_asof u on condition at u.column <= instant`",
        "join_asof u on u.a == a at u.b <= b",
    ),
    "join u on u.a == a": (
        "say which rows stay: `join_inner u on condition`, `join_left`, `join_full`, `join_semi`, …",
        "join_inner u on u.a == a",
    ),
    "union (select a)": ("the other side is a table: give it a name as a model of its own", "union u"),
    "insert into u": ("a model is the table that it publishes: `model u { … }`", ""),
    "with u as (select a)": ("a query with a name is a model of its own: `model u { … }`", ""),
    "filter a between 1 and 2": ("write both bounds: `a >= 1 and a <= 2`", "filter a >= 1 and a <= 2"),
    "derive { x = case when a then 1 else 2 end }": (
        "write `case(condition, value, …, otherwise)`, or `if(condition, a, b)`",
        "derive { x = case(a, 1, 2) }",
    ),
    'filter a ilike "x%"': (
        'write `lower(a) like "x%"` with a pattern in lower case',
        'filter lower(a) like "x%"',
    ),
    "derive { x = a::int64 }": ('write `cast(a, "int64")`', 'derive { x = cast(a, "int64") }'),
    "derive { x = cast(a as int64) }": ('write `cast(a, "int64")`', 'derive { x = cast(a, "int64") }'),
    "filter a in (1, 2)": ("a list stands in brackets: `in [1, …]`", "filter a in [1, 2]"),
    "filter exists (select 1)": (
        "write `join_semi table on condition`, or `join_anti` for `not exists`",
        "join_semi u on u.a == a",
    ),
    "sort { a desc nulls first }": (
        "nulls come last both ways; for the first place sort by `a is not none, a`",
        "sort { a is not none, a desc }",
    ),
    "sort { a nulls last }": ("leave it out: nulls come last both ways", "sort { a }"),
    'from u.groupby("a")': (
        "name the table alone: `from u`; what is done with its rows follows as statements",
        "from u",
    ),
    'from ref("u")': ("name the table alone, as in `from orders`: sources and models go by their names", "from u"),
    "join_left u using (a)": ("write the condition: `on u.a == table.a`", "join_left u on u.a == t.a"),
    "union all select * from u": (
        "the other side is a table: give it a name as a model of its own",
        "union all u",
    ),
    "union select * from u": ("the other side is a table: give it a name as a model of its own", "union u"),
    "select { * } except { a }": (
        "write it behind the star: `select { * except { a } }`",
        "select { * except { a } }",
    ),
    "derive { x = a ** 2 }": ("write `power(a, 2)`", "derive { x = power(a, 2) }"),
    "derive { x = 1 if a else 0 }": ("write `if(condition, 1, otherwise)`", "derive { x = if(a, 1, 0) }"),
    "derive { x = 1 if a > 2 else 0 }": ("write `if(condition, 1, otherwise)`", "derive { x = if(a > 2, 1, 0) }"),
    "derive { x = b + interval 1 day }": (
        "move an instant by a call: `date_add(x, days: 1)`, also `hours:`, `weeks:`, `months:`",
        "derive { x = date_add(b, days: 1) }",
    ),
    "derive { x = a.upper() }": ("functions take what they work on: `upper(a)`", "derive { x = upper(a) }"),
    "filter a === 1": ("`==` compares two values", "filter a == 1"),
    "aggregate { n = count(distinct a, b) }": (
        'count one value: `count(distinct concat(a, "|", …))`',
        'aggregate { n = count(distinct concat(a, "|", b)) }',
    ),
    "derive { n = sum(a) over (sort: [b], rows: -2..current) }": (
        "bounds count rows, and the current one is 0: `rows: -2..0`",
        "derive { n = sum(a) over (sort: [b], rows: -2..0) }",
    ),
    "derive { n = sum(a) over (sort: [b], rows: current..2) }": (
        "bounds count rows, and the current one is 0: `rows: 0..2`",
        "derive { n = sum(a) over (sort: [b], rows: 0..2) }",
    ),
    "derive { n = sum(a) over (sort: [b], rows: unbounded..0) }": (
        "leave the bound out: `rows: ..0`",
        "derive { n = sum(a) over (sort: [b], rows: ..0) }",
    ),
    "derive { n = sum(a) over (sort: [b], rows: 0..unbounded) }": (
        "leave the bound out: `rows: 0..`",
        "derive { n = sum(a) over (sort: [b], rows: 0..) }",
    ),
    "derive { n = sum(a) over (sort: [b] rows between 2 preceding and current row) }": (
        "write the bounds as numbers of rows: `rows: -2..0`, `rows: ..0`",
        "derive { n = sum(a) over (sort: [b], rows: -2..0) }",
    ),
    "join_right u on u.a == a": (
        "begin with `from u` and write `join_left` with the other table",
        "join_left u on u.a == a",
    ),
    "join_outer u on u.a == a": ("write `join_full u on condition`", "join_full u on u.a == a"),
    "join_cross u on u.a == a": (
        "a cross join pairs all rows: with a condition write `join_inner u on condition`",
        "join_inner u on u.a == a",
    ),
    "dedup by a b": ("separate keys by commas: `dedup by a, b`", "dedup by a, b"),
    "derive { x = a[0] }": (
        "write `array_get(a, 0)`, which counts from 0",
        "derive { x = array_get(a, 0) }",
    ),
}
DECLARED = {
    "contract C { a: string enum [b, c] }": (
        "values stand in braces: `enum { b, … }`",
        "contract C { a: string enum { b, c } }",
    ),
}
OTHERS = {
    "filter a = 1": ("`==` compares two values", "filter a == 1"),
    "filter a <> 1": ("write `!=` for unequal", "filter a != 1"),
    "filter a == 'x'": ("write strings in double quotes", 'filter a == "x"'),
    "filter a && b": ("write `and`", "filter a and b"),
    "filter !a": ("write `not`, or `!=` for unequal", "filter not a"),
    'filter a ~ "x"': ('write `a rlike "pattern"` for a regular expression', 'filter a rlike "x"'),
    "filter a not in [1]": ("write `not` before the comparison: `not x in [1, 2]`", "filter not a in [1]"),
    "select { a as b }": ("the name stands first: `name = expression`", "select { b = a }"),
    "select { a b }": (
        "separate columns by commas; a new name stands first: `name = expression`",
        "select { b = a }",
    ),
    "derive { x = 1 y = 2 }": ("separate two entries by a comma", "derive { x = 1, y = 2 }"),
    "derive { x = upper(a }": ("close the bracket before it: `)`", "derive { x = upper(a) }"),
    "derive { x: a + 1 }": ("`=` gives a name its value", "derive { x = a + 1 }"),
    "let x a": ("write `=` between the name and its value", "let x = a"),
    "group { a }": (
        "say what is computed for each group: `( aggregate { rows = count() } )`; `dedup by` keeps a row of each",
        "group { a } ( aggregate { rows = count() } )",
    ),
    "-- all of them": ("write comments as `// …` or `# …`", "// all of them"),
    "| filter a": ("leave it out: nothing stands between two statements", "filter a"),
    'derive { x = f"{a}-{b}" }': (
        'join texts with `concat("a", b, "c")`, which takes numbers too',
        'derive { x = concat(a, "-", b) }',
    ),
    'filter a > date "2024-01-31"': ('write `cast("2024-01-31", "date")`', 'filter a > cast("2024-01-31", "date")'),
    "filter a == \u201cx\u201d": ('write strings in straight double quotes: `"…"`', 'filter a == "x"'),
    "join_left {{ ref('u') }}": (
        "leave the template out: a model names the tables that it reads, as in `from orders`",
        "join_left u on u.a == a",
    ),
    "aggregate: n is count()": ("leave it out", "aggregate { n = count() }"),
    "take 3;": ("leave it out: nothing stands between two statements", "take 3"),
    "keep a": (
        "the word before it begins no statement (those are `filter`, `derive`, `select`, …); an entry is `name: value`",
        "filter a",
    ),
}


@pytest.mark.parametrize(("written", "said", "right"), [(w, s, r) for w, (s, r) in (SAID | OTHERS).items()])
def test_a_habit_of_sql_gets_what_says_the_same(written: str, said: str, right: str) -> None:
    (error,) = parse_module(f"model m {{\n  from t\n  {written}\n}}", "f").diagnostics
    assert (error.code, error.fix) == ("E001", said)
    assert parse_module(f"model m {{\n  from t\n  {right}\n}}", "f").diagnostics == ()


@pytest.mark.parametrize(("written", "said", "right"), [(w, s, r) for w, (s, r) in DECLARED.items()])
def test_a_habit_in_a_declaration(written: str, said: str, right: str) -> None:
    (error,) = parse_module(written, "f").diagnostics
    assert (error.code, error.fix) == ("E001", said)
    assert parse_module(right, "f").diagnostics == ()


@pytest.mark.parametrize("habit", HABITS, ids=lambda h: " ".join(h.words))
def test_every_habit_is_shown(habit: object) -> None:
    shown = {said for said, _ in (SAID | DECLARED).values()} | {said for _, said, _ in (*IN_A_MODEL, *IN_A_FILE)}
    example = [word if word != ANY else "u" for word in habit.words]
    told = {advice(example, at, {habit.needs}) for at in range(len(example))}
    assert habit.advice.format("", "u", "u") in told
    assert any(said.split("`")[0] == habit.advice.split("`")[0] for said in shown)


def test_a_habit_is_seen_only_where_parsing_fails() -> None:
    text = "model m { from t filter limit == 1 and between > 2 select { distinct_ = `distinct`, offset, having } }"
    assert parse_module(text, "f").diagnostics == ()


def test_a_brace_that_is_missing_above_is_no_habit() -> None:
    (error, *_) = parse_module("model m { from t derive { x = 1  select { a } }", "f").diagnostics
    assert "braces" not in (error.fix or "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT a FROM t WHERE a > 1", "a query stands in a model: `model name { from table … }`"),
        ("from t\nfilter a > 1", "a query stands in a model: `model name { from table … }`"),
        ("create view v as select a from t", "a model is the table that it publishes: `model name { from table … }`"),
        ("def f(x): return x", "a compile-time function is written `fn name(x: Str) -> List<Model> { … }`"),
        ("from finance import revenue", "a module is imported whole: `import finance`"),
        ("from finance.eu import revenue as r", "a module is imported whole: `import finance.eu`"),
        ("import finance, sales", "write an `import` for each module"),
        ("import finance as f", "leave the other name out: in all files of a project a table goes by its own"),
        ("import finance.*", "a module is imported whole, by its name: `import finance.revenue`"),
        ("-- all orders", "write comments as `// …` or `# …`"),
        ("model m { from t } }", "leave it out: each `{` is closed before it"),
        ("model m = { from t }", "leave it out: `model name { … }`"),
        (
            "model m() { from t }",
            "a model takes no arguments; a compile-time function makes models: `fn name(x: Str) -> List<Model> { … }`",
        ),
        ('import "finance/revenue"', "name the module, with dots for folders: `import finance.revenue`"),
        (
            "model m { from t test { expect a > 1 } }",
            "declarations stand beside one another: close the one before it with `}`",
        ),
    ],
)
def test_what_begins_no_declaration_here_is_told_what_does(text: str, said: str) -> None:
    assert [(d.code, d.fix) for d in parse_module(text, "f").diagnostics] == [("E001", said)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "model m { from t group { a } ( total = sum(b) ) }",
            "what is computed stands in an `aggregate`: `( aggregate { name = … } )`",
        ),
        (
            "model m { from t o join_left u on o.a == u.a }",
            "another name for a table is written with `as`: `from orders as o`",
        ),
        ("model m { from t, u }", "read a further table with a join: `join_left table on condition`"),
        (
            "model m { from t let a = 1, b = 2 }",
            "statements stand beside one another without commas: write each with its own word",
        ),
        (
            "model m { from t derive { d = day + 7d } }",
            "move an instant by a call: `date_add(x, days: 7)`, also `hours:`, `weeks:`, `months:`",
        ),
        ("model m { from t derive { r = rank() over (partition_by: a) } }", "write a list, also of one: `[a]`"),
        ("model m { from t dedup by { a } }", "name the columns alone: `dedup by a, b`"),
        ("contract C { a: int64 not null }", "write `nonnull`"),
        ("contract C { a int64 nonnull }", "a column is written `name: type`"),
        ('source s(csv: "s") { columns: { a int64 } }', "a column is written `name: type`"),
        ("model m: contract C { from t }", "a contract stands behind an arrow: `-> contract …`"),
    ],
)
def test_a_newcomers_slip_has_one_message_that_says_what_to_write(text: str, said: str) -> None:
    parsed = parse_module(text, "f")
    assert [(d.code, d.fix) for d in parsed.diagnostics] == [("E001", said)]
    assert len(parsed.module.declarations) == 1
