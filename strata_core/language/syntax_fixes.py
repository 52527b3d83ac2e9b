"""The fixes that are told of syntax errors: what was found where, and what is likely meant by it. A row each.

What other languages write is in `habits.py`, before these rows; what is about columns that are declared, in
`field_fixes.py`; a word misspelled or a comma left out, in `syntax_errors.py`, behind them; and what is told where
no row applies, in `clauses.py`.
"""

from __future__ import annotations

from .found import Found, Row
from .habits import JINJA

_STATEMENTS = frozenset({"join", "filter", "where", "let", "select", "derive", "group", "aggregate", "sort", "}"})
_DECLARATIONS = frozenset({"model", "source", "contract", "test", "pipeline", "fn", "domain", "import"})
OPERATORS = frozenset({*("+", "-", "*", "/", "%", "||", ".", "("), *("==", "!=", "<", "<=", ">", ">=")})
OPERATORS |= {"and", "or", "like", "rlike", "in", "is"}
_ATTRIBUTES = frozenset({"owner", "reason", "description", "label", "staleness_ok"})
_COLONS = _ATTRIBUTES | {"strategy", "key", "cursor", "merge_strategy", "merge_keys", "cdc_column"}
_COLONS |= {"partition_by", "sort", "rows", "available_as_of"}
_UNITS = frozenset({"second", "minute", "hour", "day", "week", "month", "quarter", "year"})
_CAPITALS = frozenset({"NOT", "IN", "AND", "OR", "IS", "LIKE"})

_MOVE = "move an instant by a call: `date_add(x, days: 7)`, also `hours:`, `weeks:`, `months:`"
_JOIN = "read a further table with a join: `join_left table on condition`"
_EMPTY = "write `none` for an empty cell, and a space between two rows"
_COMMA = "separate two entries by a comma"


def _operand(f: Found) -> bool:
    """Whether an expression of a model is to begin here."""
    return {"INT", "(", "["} <= f.expected and f.within in ("model", "test", "source")


def _statement(f: Found) -> bool:
    """Whether a statement may begin here."""
    return {"filter", "}"} <= f.expected


SYNTAX_FIXES: tuple[Row, ...] = (
    # --- one sign in place of another
    (lambda f: f.text == "=" and "==" in f.expected, "`==` compares two values", "=="),
    (lambda f: f.text == "==" and "=" in f.expected, "`=` gives a name its value", "="),
    (
        lambda f: f.text in (":", "=") and f.before in _STATEMENTS | {"from", "take", "expect", "given"},
        "leave it out",
        "",
    ),
    (lambda f: f.text == ":" and f.expected == {"->", "{"}, "a contract stands behind an arrow: `-> contract …`", "->"),
    (lambda f: f.text == ":" and "=" in f.expected, "`=` gives a name its value", "="),
    (
        lambda f: f.text == "=" and ":" in f.expected and (f.within != "model" or f.before in _COLONS),
        "`:` stands between a name and its value",
        ":",
    ),
    (lambda f: (f.before, f.text) == ("<", ">"), "write `!=` for unequal", None),
    (lambda f: f.text == "{" == f.after, JINJA, None),
    (lambda f: f.text == ";" and "," in f.expected, _COMMA, ","),
    (lambda f: f.text == ";", "leave it out: nothing stands between two statements", ""),
    (lambda f: f.text == "," and f.before in (",", "{", "[", "("), "leave it out: one comma stands between two", ""),
    (lambda f: f.text == "+" and _operand(f), "leave it out: a number without a sign is positive", ""),
    (lambda f: f.text == f.after == "-" and _statement(f), "write comments as `// …` or `# …`", None),
    (
        lambda f: f.text in ("|", "->", "=>") and _statement(f),
        "leave it out: nothing stands between two statements",
        "",
    ),
    # --- the head of a declaration
    (lambda f: f.before == "->" and "contract" in f.expected, "write `-> contract` and the contract's name", None),
    (
        lambda f: f.text == "contract" and "->" in f.expected,
        "an arrow stands before it: `-> contract …`",
        "-> contract",
    ),
    (
        lambda f: f.text == "contract" and f.after == ":" and f.within == "model",
        "it stands behind the model's name: `model name -> contract Paid { … }`",
        None,
    ),
    (lambda f: f.text == "=" and f.expected == {"->", "{"}, "leave it out: `model name { … }`", ""),
    (
        lambda f: f.text == "(" and f.expected == {"->", "{"},
        "a model takes no arguments; a compile-time function makes models: `fn name(x: Str) -> List<Model> { … }`",
        None,
    ),
    (
        lambda f: f.text in ("-", ".") and f.expected == {"->", "{"},
        "a name of such signs stands in backquotes",
        None,
    ),
    (
        lambda f: f.text in _DECLARATIONS and f.after != ":" and _statement(f),
        "declarations stand beside one another: close the one before it with `}`",
        None,
    ),
    (
        lambda f: f.before == "import" and f.text.startswith('"'),
        "name the module, with dots for folders: `import finance.revenue`",
        None,
    ),
    (lambda f: f.within == "import" and f.text == ",", "write an `import` for each module", None),
    (
        lambda f: f.within == "import" and f.text == "as",
        "leave the other name out: in all files of a project a table goes by its own",
        None,
    ),
    (
        lambda f: f.within == "import" and f.before == ".",
        "a module is imported whole, by its name: `import finance.revenue`",
        None,
    ),
    # --- compile-time functions, declared ones, pipelines
    (lambda f: f.within == "fn" and f.before == "<" and f.text == "model", "write `Model` with a capital", "Model"),
    (
        lambda f: f.within == "fn" and f.before == "]" and f.text == "{",
        "what a type is of stands in angle brackets: `List<Model>`",
        None,
    ),
    (
        lambda f: f.within in ("fn", "extern") and f.expected == {":"},
        "say of which type it is: `x: Str`, also `Int`, `Bool`, `List<Str>`; of an `extern fn`, `x: int64`",
        None,
    ),
    (
        lambda f: f.clause == "fn" and f.text == "=",
        "leave it out: a parameter has no default, a body stands in braces",
        None,
    ),
    (
        lambda f: f.within == "fn" and (f.before == "return" or f.text == "let"),
        "leave it out: the body of a function is the value that it gives",
        None,
    ),
    (lambda f: f.within == "fn" and f.before == "for", "a list stands in brackets: `[value for x in list]`", None),
    (
        lambda f: f.within == "fn" and f.before == ")" and f.text == "{" and "->" not in f.expected,
        "write `if(condition, value, otherwise)`",
        None,
    ),
    (lambda f: f.text == "for", "a list stands in brackets: `[value for x in list]`", None),
    (
        lambda f: f.within in ("pipeline", "source") and f.expected == {":"} and f.text in ("{", "["),
        "a colon stands before it",
        None,
    ),
    (
        lambda f: f.expected == {"from"} and f.within == "pipeline",
        'say where it is in this environment: `from(csv: "…")`',
        None,
    ),
    # --- tests
    (lambda f: f.text == "||" and "|" in f.expected, _EMPTY, None),
    (lambda f: f.text == f.before == "|" and f.within == "test", _EMPTY, None),
    (
        lambda f: f.text == f.before == "-" and f.within == "test",
        "leave the line out: rows stand below the header",
        None,
    ),
    (
        lambda f: f.within == "test" and f.expected <= {"-", "|"} and f.text in ("(", "+", "*", "/"),
        'a cell is a value, not an expression: `1`, `2.50`, `"a"`, `2024-01-31`, `none`',
        None,
    ),
    (
        lambda f: f.within == "test" and f.before == "|" and "|" in f.expected,
        'behind the header each row stands between bars of its own: `| id | name | | 1 | "a" |`',
        None,
    ),
    (
        lambda f: f.clause == "expect" and f.text == "{" and "expect" in f.expected,
        "leave the name out: `expect { | id | … }`",
        None,
    ),
    # --- statements
    (
        lambda f: f.expected == {":"} and (f.before in _CAPITALS or f.second in _CAPITALS),
        "words of the language are written in small letters: `not`, `in`, `and`",
        None,
    ),
    (
        lambda f: f.before == "from" and f.text.startswith('"'),
        "leave the quotes out: `from orders`; a name of other signs stands in backquotes",
        None,
    ),
    (
        lambda f: f.second == "from" and f.text == ".",
        "a table goes by one name: declare it, `source orders(…) { … }`, and write `from orders`",
        None,
    ),
    (lambda f: f.text == "," and (f.clause == "from" or f.clause.startswith("join")), _JOIN, None),
    (
        lambda f: f.expected == {":"} and f.run[:1] == ("from",) and f.text.partition("_")[0] in _STATEMENTS,
        "another name for a table is written with `as`: `from orders as o`",
        None,
    ),
    (
        # Where a name may stand, `on` may be one.
        lambda f: (
            "on" in f.expected
            and "IDENT" not in f.expected
            and (f.after in (".", "==") or f.text in ("where", "filter", "if"))
        ),
        "write `on` before the condition",
        None,
    ),
    (
        lambda f: "at" in f.expected and "IDENT" not in f.expected,
        "say which instants meet: `at table.since <= instant`",
        None,
    ),
    (lambda f: f.second == "take" and f.text in ("-", ",", ":"), "write both ends: `take 1..10`", ".."),
    (lambda f: f.second == "take" and f.text in ("rows", "row"), "leave it out: `take 10` takes ten rows", ""),
    (
        lambda f: f.before == "take" and f.text not in "{}(",
        "write the number out: rows are taken as in `take 10`",
        None,
    ),
    (
        lambda f: f.before == "}" and f.expected == {"("},
        "say what is computed for each group: `( aggregate { rows = count() } )`; `dedup by` keeps a row of each",
        None,
    ),
    (
        lambda f: f.text.isidentifier() and f.after == "=" and {"aggregate", ")"} <= f.expected,
        "what is computed stands in an `aggregate`: `( aggregate { name = … } )`",
        None,
    ),
    (
        lambda f: {"aggregate", ")"} <= f.expected and (f.text in _STATEMENTS or f.text.startswith("join")),
        "in a group stand `filter`, `aggregate`, `sort` and `take`; write it behind the group",
        None,
    ),
    (lambda f: f.before in ("asc", "desc") and f.clause == "sort", "it stands behind the key: `sort { a desc }`", None),
    (lambda f: f.before == "by" and f.text in ("{", "[", "("), "name the columns alone: `dedup by a, b`", None),
    (
        lambda f: "upsert" in f.expected and "IDENT" not in f.expected,
        "write `upsert` to replace rows by their key, `append` to keep them all",
        None,
    ),
    (
        lambda f: "DURATION" in f.expected and f.text.isdigit(),
        "write a duration as one word: `30s`, `5min`, `12h`, `1d` or `2w`",
        None,
    ),
    (
        lambda f: f.text == "," and _statement(f) and "," not in f.expected,
        "statements stand beside one another without commas: write each with its own word",
        None,
    ),
    # --- outputs
    (lambda f: f.text in ("exclude", "without") and "except" in f.expected, "write `* except { a }`", "except"),
    (
        lambda f: f.text in _STATEMENTS and f.text != "}" and {",", "}", "*"} <= f.expected,
        "close what stands before it with `}`",
        None,
    ),
    (lambda f: f.before == "except" and f.expected == {"{"}, "names stand in braces: `* except { a }`", None),
    (
        lambda f: f.text == "-" and {"*", "}"} <= f.expected,
        "columns are left out behind a star: `select { * except { a } }`",
        None,
    ),
    (
        lambda f: {"=", "}"} <= f.expected and f.text in OPERATORS,
        "give the output a name: `name = expression`",
        None,
    ),
    (lambda f: f.text == "as" and {"=", "}"} <= f.expected, "the name stands first: `name = expression`", None),
    (
        lambda f: f.text.isidentifier() and {"=", "}", ","} <= f.expected,
        "separate columns by commas; a new name stands first: `name = expression`",
        None,
    ),
    (lambda f: f.expected == {"="}, "write `=` between the name and its value", None),
    # --- expressions
    (lambda f: f.text == "not" and "in" in f.expected, "write `not` before the comparison: `not x in [1, 2]`", None),
    (
        lambda f: f.before == "is" and "none" in f.expected and f.text.lower() not in ("none", "null"),
        "`is` asks for `none` alone, `x is none` or `x is not none`; `==` compares two values",
        None,
    ),
    (lambda f: f.text == "{" and f.before == "in", "a list stands in brackets: `in [1, 2]`", None),
    (
        lambda f: f.text == "{" and f.before in ("filter", "where", "on") and _operand(f),
        "leave the braces out: `filter a > 1`",
        None,
    ),
    (
        lambda f: f.text == "{" and _operand(f) and f.clause in ("derive", "select", "aggregate", "let"),
        'a struct is made by `struct("a", 1)`, a map by `map("a", 1)`, a list is written `[1, 2]`',
        None,
    ),
    (
        lambda f: f.text == "," and {"*", ")"} <= f.expected and "," not in f.expected,
        "a list stands in brackets: `[a, b]`",
        None,
    ),
    (
        lambda f: f.text == "." == f.second,
        'a column is `name` or `table.name`; a field of a struct is `struct_get(x, "field")`',
        None,
    ),
    (lambda f: f.before == "if", "write `if(condition, value, otherwise)`", None),
    (lambda f: f.before.isdigit() and f.text.lower().removesuffix("s") in _UNITS and "*" in f.expected, _MOVE, None),
    (lambda f: f.before in ("+", "-") and f.text[:1].isdigit() and f.text[-1:] in "smhdwn", _MOVE, None),
    (
        lambda f: f.before == "f" and f.text.startswith('"'),
        'join texts with `concat("a", b, "c")`, which takes numbers too',
        None,
    ),
    (
        lambda f: f.before.lower() in ("date", "timestamp") and f.text.startswith('"'),
        'write `cast("2024-01-31", "date")`',
        None,
    ),
    (lambda f: f.text.lower().startswith("order") and f.clause == "over", "write `sort: [a]`", None),
    (lambda f: f.text in ("}", "]") and ")" in f.expected, "close the bracket before it: `)`", None),
    (lambda f: f.expected == {"["} and f.before == ":", "write a list, also of one: `[a]`", None),
    # --- what could be many things
    (lambda f: f.text.isidentifier() and f.after == "=" and "," in f.expected, _COMMA, None),
    (
        lambda f: f.within == "model" and f.expected == {":"} and f.text == "=",
        "a value that is computed stands in a statement: `derive { name = … }`, or hidden, `let name = …`",
        None,
    ),
    (lambda f: f.before in _ATTRIBUTES and f.expected == {":"}, 'a colon follows the word: `owner: "finance"`', None),
    (lambda f: f.second == "dedup" and f.expected == {":"}, "name the columns behind `by`: `dedup by a, b`", None),
    (
        lambda f: f.within == "model" and f.expected == {":"} and f.before.isidentifier(),
        "the word before it begins no statement (those are `filter`, `derive`, `select`, …); an entry is `name: value`",
        None,
    ),
)
