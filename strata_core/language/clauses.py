"""How each clause is written: the help of a syntax error in it of which nothing nearer is known.

A clause is a declaration, its body, or a statement; it is found by its word and by the bracket that is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .scanner import CLOSING

_JOINS = ("join_inner", "join_left", "join_full", "join_semi", "join_anti")
_COLUMN = "a column is written by its name, its type and what holds of it: `id: int64 nonnull unique`"
_TABLE = "a table is written between bars, the header first and a line for each row: `{ | id | name | … }`"

FORMS: Mapping[str, str] = {
    "import": "a module is imported by its name, with dots for folders: `import finance.revenue`",
    "source": 'a source is written `source orders(csv: "orders.csv") { columns: { id: int64 nonnull } }`',
    "source (": 'say where the rows are: `(csv: "orders.csv")`, or `parquet:`, `duckdb:`, `dbt:`, `table:`',
    "source {": "in a source stand `columns: { id: int64 nonnull }`, `filter: id > 0`, `freshness: <= 1d`, or an entry "
    'such as `description: "…"`',
    "columns": "columns stand in braces: `columns: { id: int64 nonnull }`",
    "columns {": _COLUMN,
    "contract": "a contract is written `contract Orders { id: int64 nonnull }`",
    "contract {": _COLUMN,
    **dict.fromkeys(("enum", "enum {"), "values stand in braces: `enum { a, b }`"),
    "domain": "a domain is another name of a type: `domain amount = decimal(18,2)`",
    "model": "a model is written `model paid { from orders … }`, with a contract `model paid -> contract Paid { … }`",
    "model {": 'in a model stand statements such as `filter a > 0`, and entries such as `owner: "finance"`',
    "pipeline": "a pipeline is written `pipeline daily { env: prod, models: [paid] }`",
    "pipeline {": 'in a pipeline stand `env: prod`, `models: [paid]` and `sources: { orders: from(csv: "…") }`',
    "test": "a test names a model and says what holds of it: `test paid { expect row_count > 0 }`",
    "test {": "write what is to hold: `expect row_count > 0`",
    "given": "give the rows of a table that the model reads: `given orders { | id | … }`",
    "given {": _TABLE,
    "expect": "write a condition, `id > 0` or `row_count > 0`, or the rows: `{ | id | … }`",
    "expect {": _TABLE,
    "fn": "a compile-time function is written `fn name(x: Str) -> List<Model> { … }`",
    "fn {": 'the body of a function is one value, such as `[model "m_${x}" { from orders } for x in xs]`',
    "extern": 'a declared function is written `extern fn f(x: int64) -> int64 deterministic { duckdb: "f($x)" }`',
    "extern {": 'give the expression of each engine as text: `duckdb: "f($x)"`',
    "from": "a model reads a table by its name: `from orders`, or `from orders as o`",
    **dict.fromkeys(_JOINS, "a join is written `{0} customers on customers.id == customer_id`"),
    "join_cross": "write `join_cross days`: all rows meet all",
    **dict.fromkeys(("join_asof", "join_asof_inner"), "write `{0} rates on rates.code == code at rates.since <= day`"),
    **dict.fromkeys(("filter", "where"), 'a condition is written `amount > 0 and country == "ES"`'),
    "let": "write `let net = amount - tax`",
    "derive": "a column is written with its name, and a comma behind it: `derive { net = amount - tax, … }`",
    "select": "columns are written `select { id, net = amount - tax }`",
    "aggregate": "a column is written with its name: `aggregate { total = sum(amount) }`",
    "group": "write `group { country } ( aggregate { total = sum(amount) } )`",
    "sort": "keys stand in braces: `sort { amount desc, id }`",
    "take": "write `take 10` for the first ten rows, `take 11..20` for the next ten",
    "union": "a union is with one table: `union all other`, or `union other` for rows that are all different",
    **dict.fromkeys(("intersect", "except"), "name the other table: `{0} other`"),
    "dedup": "write `dedup` for rows that are all different, `dedup by a, b` for one row of each pair",
    "expand": "name an array, and its elements: `expand tags as tag`",
    "partition_by": "columns stand in brackets: `partition_by [day]`",
    "freshness": "write how old the rows may be: `freshness <= 1d`",
    "incremental": "write `incremental { strategy: upsert, key: [id], cursor: changed }`",
    "over": "write `over (partition_by: [a], sort: [b desc], rows: -2..0)`, each part where it is needed",
}
"""By the word of the clause, and the bracket in it that is open, where that makes a difference; `{0}` is the word."""

_FIRST = frozenset({"import", "source", "contract", "domain", "model", "pipeline", "test", "fn", "extern"})
_FIELDS = frozenset({"columns {", "contract {", "enum {", "given {", "expect {"})
"""Where names stand that may be words of clauses."""
_OPERANDS = frozenset({".", "=", ":", ",", "(", "[", "+", "-", "*", "/", "==", "and", "or", "not"})
"""Behind these a soft word is a name."""


def clause_at(texts: Sequence[str]) -> str:
    """The clause in which what follows `texts` stands, the first tokens of a declaration; a row of `FORMS`, or empty.

    >>> clause_at(["model", "m", "{", "from", "t", "take"])
    'take'
    >>> clause_at(["source", "s", "{", "columns", ":", "{", "a", ":", "int64", "}"])
    'source {'
    """
    around: list[tuple[str, str]] = []
    base = clause = before = ""
    for place, text in enumerate(texts):
        if text in CLOSING:
            around.append((base, clause))
            body = f"{clause} {text}"
            base = clause = body if body in FORMS else clause
        elif text in CLOSING.values():
            if around:
                base, clause = around.pop()
                if (text == "}") != (clause == "group"):  # the bracket with which a statement ends
                    clause = base or clause
        elif text in FORMS and (place == 0 or _begins(text, before, base)):
            clause = text
        before = text
    return clause


def _begins(word: str, before: str, base: str) -> bool:
    """Whether `word` begins a clause behind the token `before`, in the body `base`."""
    if base in _FIELDS:
        return word == "enum"
    return word not in _FIRST and before not in _OPERANDS


def form_of(clause: str) -> str | None:
    """How `clause` is written.

    >>> form_of("join_left")
    'a join is written `join_left customers on customers.id == customer_id`'
    """
    form = FORMS.get(clause)
    return None if form is None else form.replace("{0}", clause)
