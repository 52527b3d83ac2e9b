"""The fixes that are told of syntax errors where columns are declared: in contracts, sources and domains."""

from __future__ import annotations

from .found import Found, Row

ANNOTATIONS = frozenset({"nonnull", "unique", "primary_key", "protected", "enum", "classification", "mask"})
_DECLARES = frozenset({"contract", "source"})
_FIELDS = frozenset({"contract {", "columns {"})
_STATEMENTS = frozenset({"from", "select", "where", "filter", "let", "derive", "group", "aggregate", "sort", "take"})
_ABOUT = frozenset({"description", "owner", "label", "comment", "doc"})

_COLUMNS = "columns and what holds of them stand in `columns: { id: int64 nonnull }`"
_NULLABLE = "leave it out: a column may be null unless it is `nonnull`"
_NO_DEFAULT = "a column has no default; a model gives one: `derive { a = coalesce(a, 0) }`"
_OF = "what a type is of stands in parentheses: `array(int64)`, `map(string, int64)`, `decimal(10,2)`"
_COMMENT = "what is said about a column stands in a comment, `// …`; a model and a source have `description:`"
_PRESENT = "a test says that a key is there: `test model { expect customer_id in customers.id }`"


def _ended(f: Found) -> bool:
    """Whether a type stands before, so that annotations may follow."""
    return f.clause in _FIELDS and "nonnull" in f.expected and "," in f.expected


def _typed(f: Found) -> bool:
    """Whether a type is to stand here."""
    return f.clause in _FIELDS and f.before == ":"


def _unnamed(f: Found) -> bool:
    """Whether the word before was taken for the name of a column, behind which its type stands."""
    return f.clause in _FIELDS and f.expected == {":"}


def _before(f: Found, *words: str) -> bool:
    return f.before.lower() in words


FIELD_FIXES: tuple[Row, ...] = (
    # --- a source, beside its columns
    (lambda f: f.clause == "source {" and (f.text in ANNOTATIONS or f.before in ANNOTATIONS), _COLUMNS, None),
    (lambda f: f.clause == "source {" and f.text == "{" and "STRING" in f.expected, _COLUMNS, None),
    (lambda f: f.clause == "source {" and f.text == "where", "write `filter: condition`", "filter:"),
    (
        lambda f: f.within == "source" and f.before == "filter" and f.expected == {":"},
        "a colon follows the word: `filter: id > 0`",
        None,
    ),
    (lambda f: f.before == "columns" and f.text == "{", "a colon stands before the brace: `columns: {`", ": {"),
    (lambda f: f.text == "<" and "<=" in f.expected, "write `<=`", "<="),
    # --- the place of a source
    (
        lambda f: f.clause == "source (" and f.before == "(" and f.text.startswith('"'),
        'say what it is: `(csv: "orders.csv")`, or `parquet:`, `duckdb:`, `dbt:`',
        None,
    ),
    (
        lambda f: f.clause == "source (" and f.text in (".", "/"),
        'a path is written in quotes: `csv: "orders.csv"`',
        None,
    ),
    # --- what belongs elsewhere
    (
        lambda f: f.text in _STATEMENTS and f.after != ":" and f.clause in ("contract {", "columns {", "source {"),
        "here columns are declared; what is done with rows stands in a model: `model name { from table … }`",
        None,
    ),
    (
        lambda f: f.clause == "contract {" and f.before == ":" and f.text == "{",
        "columns stand in the braces of the contract: `contract Orders { id: int64 }`",
        None,
    ),
    (
        lambda f: _unnamed(f) and f.before in ANNOTATIONS and f.text == "(",
        "it stands behind each column that it is about: `id: int64 primary_key`",
        None,
    ),
    (lambda f: _unnamed(f) and _before(f, "references", "foreign_key", "relationships"), _PRESENT, None),
    (
        lambda f: _unnamed(f) and _before(f, "check"),
        "a test says what holds of rows: `test model { expect amount > 0 }`",
        None,
    ),
    (lambda f: _unnamed(f) and _before(f, "default"), _NO_DEFAULT, None),
    (lambda f: _ended(f) and f.text == "=", _NO_DEFAULT, None),
    (lambda f: _typed(f) and f.text.startswith('"') and f.second in _ABOUT, _COMMENT, None),
    (lambda f: _ended(f) and f.text.startswith('"'), _COMMENT, None),
    # --- annotations
    (lambda f: _ended(f) and f.text == "not" and f.after == "null", "write `nonnull`", None),
    (lambda f: _unnamed(f) and _before(f, "not") and f.text.lower() == "null", "write `nonnull`", None),
    (lambda f: _unnamed(f) and _before(f, "primary") and f.text.lower() == "key", "write `primary_key`", None),
    (lambda f: _unnamed(f) and "nullable" in (f.before.lower(), f.second.lower()), _NULLABLE, None),
    (lambda f: _unnamed(f) and "optional" in (f.before.lower(), f.second.lower()), _NULLABLE, None),
    (lambda f: _ended(f) and f.text == "|", _NULLABLE, None),
    (
        lambda f: _unnamed(f) and f.before in ("classification", "mask"),
        "a colon follows the word: `classification: pii mask: hash`",
        None,
    ),
    (lambda f: f.within in _DECLARES and f.before == "(" and f.text == ")", "leave the parentheses out", None),
    (lambda f: _unnamed(f) and f.before in ANNOTATIONS, "it stands behind the type: `a: string nonnull`", None),
    (lambda f: _typed(f) and f.text in ANNOTATIONS, "the type stands first: `a: string nonnull`", None),
    (
        lambda f: f.text.isdigit() and f.clause == "enum {" and "STRING" in f.expected,
        "an enum lists texts, for a string: `enum { a, b }`",
        None,
    ),
    (lambda f: f.clause == "enum {" and f.text in ("|", ";"), "separate two entries by a comma", ","),
    # --- names and types
    (
        lambda f: (_unnamed(f) or _typed(f)) and f.text in ("}", ",", ""),
        "behind the name stands a type: `id: int64`, also `decimal(10,2)`, `string`, `date`, `array(string)`",
        None,
    ),
    (lambda f: f.clause in _FIELDS and f.after == ":" and f.text.startswith('"'), "leave the quotes out", None),
    (lambda f: _typed(f) and f.text.startswith('"'), "leave the quotes out: `id: int64`", None),
    (lambda f: _unnamed(f) and f.text in ("-", ".", "/"), "put the name in backquotes", None),
    (lambda f: _ended(f) and f.text == "[", _OF, None),
    (lambda f: _ended(f) and f.text.isdigit(), _OF, None),
    (lambda f: _unnamed(f) and f.text.isidentifier(), "a column is written `name: type`", None),
    (
        lambda f: f.within == "domain" and f.text in ANNOTATIONS,
        "a domain is a type alone: annotations stand behind each field that has it",
        None,
    ),
)
