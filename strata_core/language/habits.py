"""What people write who come from SQL, Python and others, and what says the same here: wordings that do not parse.

A habit is a run of words around the place where parsing failed. `…` stands for any token but a
bracket or a separator, and `{1}` in the
advice for the first of them. Only text that is in error anyway is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ..frozen import dataclass

ANY = "…"


@dataclass(frozen=True, slots=True)
class Habit:
    """`words` in lower case, one a token, and what to write instead, where the token `needs` was accepted as well."""

    words: tuple[str, ...]
    advice: str
    needs: str | None = None


def _habit(words: str, advice: str, needs: str | None = None) -> Habit:
    return Habit(tuple(words.split()), advice, needs)


_JOIN = "write `join_{kind} {{1}} on condition`: the kind is part of the word"

_TABLE = "a model is the table that it publishes, `model name { from table … }`; one that is there is a `source`"
_QUERY = "a query stands in a model: `model name { from table … }`"
BEGINNING = "a declaration begins with its kind and its name: `model name { … }`"
BEGINNINGS: Mapping[str, str] = {
    **dict.fromkeys(("select", "from", "filter", "where", "derive", "group", "aggregate", "join", "sort"), _QUERY),
    "create": "a model is the table that it publishes: `model name { from table … }`",
    "def": "a compile-time function is written `fn name(x: Str) -> List<Model> { … }`",
    "enum": "an enum stands behind the column that it is about: `contract C { a: string enum { b, c } }`",
    "type": "another name of a type is a domain: `domain amount = decimal(18,2)`",
    **dict.fromkeys(("function", "macro"), "a compile-time function is written `fn name(x: Str) -> List<Model> { … }`"),
    **dict.fromkeys(("view", "table", "class"), _TABLE),
    **dict.fromkeys(
        ("include", "use", "using", "require"), "a module is imported by its name: `import finance.revenue`"
    ),
    **dict.fromkeys(("assert", "check", "expect"), "what is to hold stands in a test: `test model { expect a > 0 }`"),
    **dict.fromkeys(
        ("let", "set", "var", "const"), "values are named in a model: `model name { from table let x = a + 1 … }`"
    ),
    "seed": 'a file is declared as a source: `source orders(csv: "orders.csv") { columns: { id: int64 } }`',
    "schedule": "when a model is made is said by whom runs it; how old its rows may be, by `freshness: <= 1d`",
    **dict.fromkeys((",", ";"), "leave it out: nothing stands between two declarations"),
    "{": BEGINNING,
    "}": "leave it out: each `{` is closed before it",
    "-": "write comments as `// …` or `# …`",
    "--": "write comments as `// …` or `# …`",
}
"""What to write instead of a first token that begins no declaration."""

JINJA = "leave the template out: a model names the tables that it reads, as in `from orders`"

HABITS: tuple[Habit, ...] = (
    _habit("from … . … (", "name the table alone: `from {1}`; what is done with its rows follows as statements"),
    _habit("from … (", "name the table alone, as in `from orders`: sources and models go by their names"),
    _habit("… using ( …", "write the condition: `on {1}.{2} == table.{2}`"),
    _habit("union all select", "the other side is a table: give it a name as a model of its own"),
    _habit("union select", "the other side is a table: give it a name as a model of its own"),
    _habit("} except {", "write it behind the star: `select {{ * except {{ a }} }}`"),
    _habit("… * * …", "write `power({1}, {2})`"),
    _habit("… if … else", "write `if(condition, {1}, otherwise)`"),
    _habit("… if … … … else", "write `if(condition, {1}, otherwise)`"),
    _habit("interval … …", "move an instant by a call: `date_add(x, days: 1)`, also `hours:`, `weeks:`, `months:`"),
    _habit("… . … (", "functions take what they work on: `{2}({1})`"),
    _habit("select distinct", "write `dedup` behind the `select`, which stands in braces: `select {{ a, b }}`"),
    _habit("select *", "leave it out: a model keeps every column; or write `select {{ * }}`"),
    _habit("select …", "columns stand in braces: `select {{ {1}, … }}`"),
    _habit("derive …", "columns stand in braces: `derive {{ {1} = … }}`"),
    _habit("aggregate …", "columns stand in braces: `aggregate {{ {1} = … }}`"),
    _habit("sort by …", "write `sort {{ {1} }}`, and `desc` behind a key for the largest first"),
    _habit("order by …", "write `sort {{ {1} }}`, and `desc` behind a key for the largest first"),
    *(
        _habit(words, "write `sort {{ a, b desc }}`, `desc` behind a key for the largest first")
        for words in ("sort by {", "sort_by {", "sort_by …", "order by {", "order_by {", "order_by …")
    ),
    _habit("sort …", "keys stand in braces: `sort {{ {1} }}`"),
    _habit("group by …", "write `group {{ {1} }} ( aggregate {{ rows = count() }} )`"),
    *(
        _habit(words, "write `group {{ a, b }} ( aggregate {{ rows = count() }} )`")
        for words in ("group by {", "group_by {", "group_by …", "groupby {", "groupby …", "} by …")
    ),
    _habit("group …", "keys stand in braces: `group {{ {1} }} ( aggregate {{ rows = count() }} )`"),
    _habit("having …", "write `filter` behind the `group`: it sees what was aggregated"),
    _habit("limit …", "write `take {1}`"),
    _habit("offset …", "write `take 11..20` for ten rows behind the first ten"),
    _habit("fetch first …", "write `take {1}`"),
    _habit("union distinct …", "write `union {1}`, which keeps one of equal rows"),
    _habit("distinct", "write `dedup` for rows that are all different, `dedup by a` for one row for each `a`"),
    *(
        _habit(f"{sql} join …", _JOIN.format(kind=kind))
        for sql, kind in (
            *(("left", "left"), ("left outer", "left"), ("full", "full"), ("full outer", "full")),
            *(("inner", "inner"), ("semi", "semi"), ("anti", "anti")),
        )
    ),
    *(_habit(f"{kind}_join …", _JOIN.format(kind=kind)) for kind in ("left", "full", "inner", "semi", "anti")),
    _habit("outer_join …", "write `join_full {1} on condition`: the kind is part of the word"),
    _habit("right_join …", "begin with `from {1}` and write `join_left` with the other table"),
    _habit("cross_join …", "write `join_cross {1}`"),
    _habit("asof_join …", "write `join_asof {1} on condition at {1}.column <= instant`"),
    _habit("join_right … on", "begin with `from {1}` and write `join_left` with the other table"),
    _habit("join_outer … on", "write `join_full {1} on condition`"),
    _habit("join_cross … on", "a cross join pairs all rows: with a condition write `join_inner {1} on condition`"),
    _habit("right join …", "begin with `from {1}` and write `join_left` with the other table"),
    _habit("right outer join …", "begin with `from {1}` and write `join_left` with the other table"),
    _habit("cross join …", "write `join_cross {1}`"),
    _habit("asof join …", "write `join_asof {1} on condition at {1}.column <= instant`"),
    _habit("asof left join …", "write `join_asof {1} on condition at {1}.column <= instant`"),
    _habit("join …", "say which rows stay: `join_inner {1} on condition`, `join_left`, `join_full`, `join_semi`, …"),
    _habit("union_all …", "write `union all {1}`"),
    _habit("minus …", "write `except {1}`"),
    _habit("union (", "the other side is a table: give it a name as a model of its own"),
    _habit("insert into …", "a model is the table that it publishes: `model {1} {{ … }}`"),
    _habit("with …", "a query with a name is a model of its own: `model {1} {{ … }}`"),
    *(
        _habit(f"{word} {sign}", "columns are left out behind a star: `select {{ * except {{ a }} }}`")
        for word in ("drop", "drop_columns")
        for sign in ("…", "{")
    ),
    *(
        _habit(
            f"{word} {sign}",
            "write `derive {{ new = old }}`, and leave the other out: `select {{ * except {{ old }} }}`",
        )
        for word in ("rename", "rename_columns")
        for sign in ("…", "{")
    ),
    *(
        _habit(f"{word} {sign}", "write `derive {{ name = expression }}`: the other columns stay")
        for word in ("with_column", "withcolumn", "with_columns", "mutate", "assign", "extend")
        for sign in ("…", "{")
    ),
    *(
        _habit(f"{word} …", "write `expand {1} as element`: a row for each element of an array")
        for word in ("unnest", "explode", "flatten")
    ),
    _habit("qualify …", "compute it in `derive {{ n = … over (…) }}`, and write `filter n == 1` behind it"),
    _habit("dedup {", "name the columns behind `by`: `dedup by a, b`"),
    _habit("in ( select", "write `join_semi table on condition`; in a test, `expect a in table.b`"),
    _habit("unique ( … )", "write `expect count(distinct {1}) == row_count`", needs="expect"),
    _habit("… unique", "write `expect count(distinct {1}) == row_count`", needs="expect"),
    *(
        _habit(f"{word} ( … )", "write `expect {1} is not none`", needs="expect")
        for word in ("not_null", "nonnull", "notnull")
    ),
    _habit("between … and …", "write both bounds: `a >= {1} and a <= {2}`"),
    _habit("case when", "write `case(condition, value, …, otherwise)`, or `if(condition, a, b)`"),
    _habit("ilike …", "write `lower(a) like {1}` with a pattern in lower case"),
    _habit("… : : …", 'write `cast({1}, "{2}")`'),
    _habit("cast ( … as …", 'write `cast({1}, "{2}")`'),
    _habit("in ( … ,", "a list stands in brackets: `in [{1}, …]`"),
    _habit("exists ( select", "write `join_semi table on condition`, or `join_anti` for `not exists`"),
    _habit("count ( distinct … ,", 'count one value: `count(distinct concat({1}, "|", …))`'),
    _habit(".. current", "bounds count rows, and the current one is 0: `rows: -2..0`"),
    _habit("rows : current", "bounds count rows, and the current one is 0: `rows: 0..2`"),
    _habit("rows : unbounded", "leave the bound out: `rows: ..0`"),
    _habit(".. unbounded", "leave the bound out: `rows: 0..`"),
    _habit("rows between", "write the bounds as numbers of rows: `rows: -2..0`, `rows: ..0`"),
    _habit("by … … }", "separate keys by commas: `dedup by {1}, {2}`"),
    _habit("enum [ …", "values stand in braces: `enum {{ {1}, … }}`"),
    _habit("… [ …", "write `array_get({1}, {2})`, which counts from 0", needs="*"),
    _habit("… nulls first", "nulls come last both ways; for the first place sort by `a is not none, a`"),
    _habit("… nulls last", "leave it out: nulls come last both ways"),
    *(
        _habit(f"{word}{sign}", f"write `x {test}`", needs)
        for word, test in (("isnull", "is none"), ("notnull", "is not none"))
        for sign, needs in (("", "*"), (" …", ":"), (" }", ":"))
    ),
    _habit("== =", "`==` compares two values"),
)
"""The first that fits is the one that is told: longer ones stand above those that they begin with."""


def beginning(text: str) -> str | None:
    """What to write instead of `text` at the beginning of a declaration; `None` where nothing is known."""
    return BEGINNINGS.get(text.lower())


def advice(texts: Sequence[str], at: int, expected: Set[str]) -> str | None:
    """What to write instead of the habit that failed at the token `at` of `texts`, in place of one of `expected`;
    `None` where none is known.

    A parser fails behind the first word of a habit, which might have begun something else; or at it, where another
    token is needed.
    """
    words = [text.lower() for text in texts]
    for habit in HABITS:
        if habit.needs is not None and habit.needs not in expected:
            continue
        length = len(habit.words)
        last = at if length == 1 or habit.needs else max(at - 1, 0)
        for start in range(max(0, at - length + 1), last + 1):
            window = words[start : start + length]
            if len(window) == length and all(map(_fits, habit.words, window)):
                free = [texts[start + i] for i, word in enumerate(habit.words) if word == ANY]
                return habit.advice.format("", *free)
    return None


def _fits(expected: str, word: str) -> bool:
    return word not in _SIGNS if expected == ANY else word == expected


_SIGNS = frozenset("{}[]():,=;")
