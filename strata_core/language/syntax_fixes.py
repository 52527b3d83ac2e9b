"""The fixes that are told of syntax errors: what was found where, and what is likely meant by it. A row each.

What other languages write is in `habits.py`, before this table; what is a word misspelled or a comma left out, behind
it in `syntax_errors.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from ..frozen import dataclass

_ANNOTATIONS = frozenset({"nonnull", "unique", "primary_key", "protected", "enum", "classification", "mask"})
_STATEMENTS = frozenset({"join", "filter", "where", "let", "select", "derive", "group", "aggregate", "sort", "}"})
_DECLARATIONS = frozenset({"model", "source", "contract", "test", "pipeline", "fn", "domain", "import"})
_OPERATORS = frozenset({*("+", "-", "*", "/", "%", "||", ".", "("), *("==", "!=", "<", "<=", ">", ">=")})
_OPERATORS |= {"and", "or", "like", "rlike", "in", "is"}


@dataclass(frozen=True, slots=True)
class Found:
    """The token found, the texts before and after it, what was expected, the word of the declaration, and the three
    texts before it, where there are as many."""

    before: str
    text: str
    after: str
    expected: set[str]
    within: str
    run: tuple[str, ...]


# What calls for which fix, and the text in place of the token where that is all; the first that applies is given.
_FIXES: tuple[tuple[Callable[[Found], bool], str, str | None], ...] = (
    (lambda f: f.text == "=" and "==" in f.expected, "`==` compares two values", "=="),
    (lambda f: f.text == "==" and "=" in f.expected, "`=` gives a name its value", "="),
    (lambda f: (f.before, f.text) == ("<", ">"), "write `!=` for unequal", None),
    (
        lambda f: f.text == "||" and "|" in f.expected,
        "write `none` for an empty cell, and a space between two rows",
        None,
    ),
    (lambda f: f.text == "not" and "in" in f.expected, "write `not` before the comparison: `not x in [1, 2]`", None),
    (lambda f: f.before == "->" and "contract" in f.expected, "write `-> contract` and the contract's name", None),
    (
        lambda f: {"=", "}"} <= f.expected and f.text in _OPERATORS,
        "give the output a name: `name = expression`",
        None,
    ),
    (lambda f: f.text == "as" and {"=", "}"} <= f.expected, "the name stands first: `name = expression`", None),
    (
        lambda f: f.text.isidentifier() and {"=", "}", ","} <= f.expected,
        "separate columns by commas; a new name stands first: `name = expression`",
        None,
    ),
    (
        lambda f: f.text.isidentifier() and f.after == "=" and "," in f.expected,
        "separate two entries by a comma",
        None,
    ),
    (lambda f: "on" in f.expected and f.after in (".", "=="), "write `on` before the condition", None),
    (
        lambda f: f.text.isdigit() and {"STRING", "}"} <= f.expected and not {"INT", "|"} & f.expected,
        "an enum lists texts, for a string: `enum { a, b }`",
        None,
    ),
    (lambda f: f.before == "if", "write `if(condition, value, otherwise)`", None),
    (lambda f: f.before == "take" and f.text not in "{}", "write the number out: rows are taken as in `take 10`", None),
    (lambda f: f.text == "for", "a list stands in brackets: `[value for x in list]`", None),
    (
        lambda f: f.expected == {"from"} and f.within == "pipeline",
        'say where it is in this environment: `from(csv: "…")`',
        None,
    ),
    (
        lambda f: f.within == "domain" and f.text in _ANNOTATIONS,
        "a domain is a type alone: annotations stand behind each field that has it",
        None,
    ),
    (
        lambda f: "DURATION" in f.expected and f.text.isdigit(),
        "write a duration as one word: `30s`, `5min`, `12h`, `1d` or `2w`",
        None,
    ),
    (
        lambda f: "upsert" in f.expected and "IDENT" not in f.expected,
        "write `upsert` to replace rows by their key, `append` to keep them all",
        None,
    ),
    (
        lambda f: "at" in f.expected and "IDENT" not in f.expected,
        "say which instants meet: `at table.since <= instant`",
        None,
    ),
    (
        lambda f: {"expect", "given"} <= f.expected and "IDENT" not in f.expected and f.text.isidentifier(),
        "write what is to hold: `expect row_count > 0`",
        None,
    ),
    (lambda f: f.text in ("}", "]") and ")" in f.expected, "close the bracket before it: `)`", None),
    (lambda f: f.text == ":" and "=" in f.expected, "`=` gives a name its value", "="),
    (lambda f: f.expected == {"="}, "write `=` between the name and its value", None),
    (
        lambda f: f.before == "}" and f.expected == {"("},
        "say what is computed for each group: `( aggregate { rows = count() } )`; `dedup by` keeps a row of each",
        None,
    ),
    (lambda f: f.text == f.after == "-" and "filter" in f.expected, "write comments as `// …` or `# …`", None),
    (lambda f: f.text == "|" and "filter" in f.expected, "leave it out: nothing stands between two statements", ""),
    (
        lambda f: f.text in _DECLARATIONS and f.after != ":" and {"filter", "}"} <= f.expected,
        "declarations stand beside one another: close the one before it with `}`",
        None,
    ),
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
    (
        lambda f: f.before == "import" and f.text.startswith('"'),
        "name the module, with dots for folders: `import finance.revenue`",
        None,
    ),
    (lambda f: f.text == "not" and f.after == "null" and "nonnull" in f.expected, "write `nonnull`", None),
    (lambda f: f.text == ":" and f.expected == {"->", "{"}, "a contract stands behind an arrow: `-> contract …`", "->"),
    (
        lambda f: f.text.isidentifier() and f.expected == {":"} and f.within in ("contract", "source"),
        "a column is written `name: type`",
        None,
    ),
    (
        lambda f: f.text.isidentifier() and f.after == "=" and {"aggregate", ")"} <= f.expected,
        "what is computed stands in an `aggregate`: `( aggregate { name = … } )`",
        None,
    ),
    (
        lambda f: f.text == "," and {"as", "filter"} <= f.expected,
        "read a further table with a join: `join_left table on condition`",
        None,
    ),
    (
        lambda f: f.text == "," and {"filter", "}"} <= f.expected and "," not in f.expected,
        "statements stand beside one another without commas: write each with its own word",
        None,
    ),
    (
        lambda f: f.before in ("+", "-") and f.text[:1].isdigit() and f.text[-1:] in "smhdwn",
        "move an instant by a call: `date_add(x, days: 7)`, also `hours:`, `weeks:`, `months:`",
        None,
    ),
    (lambda f: f.expected == {"["} and f.before == ":", "write a list, also of one: `[a]`", None),
    (lambda f: f.before == "by" and f.text in ("{", "["), "name the columns alone: `dedup by a, b`", None),
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
    (lambda f: f.text == "=" and f.expected == {"->", "{"}, "leave it out: `model name { … }`", ""),
    (
        lambda f: f.text == "(" and f.expected == {"->", "{"},
        "a model takes no arguments; a compile-time function makes models: `fn name(x: Str) -> List<Model> { … }`",
        None,
    ),
    (lambda f: f.text == ";", "leave it out: nothing stands between two statements", ""),
    (
        lambda f: f.expected == {":"} and f.run[:1] == ("from",) and f.text.partition("_")[0] in _STATEMENTS,
        "another name for a table is written with `as`: `from orders as o`",
        None,
    ),
    (
        lambda f: f.within == "model" and f.expected == {":"} and f.before.isidentifier(),
        "the word before it begins no statement (those are `filter`, `derive`, `select`, …); an entry is `name: value`",
        None,
    ),
)


def fix_of(found: Found) -> tuple[str, str | None] | None:
    """What helps, in words, and the text that stands right in the place of the token, where that is all; `None` where
    no row applies."""
    return next(((fix, text) for applies, fix, text in _FIXES if applies(found)), None)
