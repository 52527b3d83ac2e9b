"""What can be written at an offset of a text that is half typed: words, and the place that a name would take."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.language import ast
from strata_core.language.cursor import cursor_at, path_to
from strata_core.language.parser import parse_module
from strata_core.language.recovery import CURSOR, recover_module

STATEMENTS = {
    "aggregate", "dedup", "derive", "except", "expand", "filter", "from", "group", "intersect", "join_anti",
    "join_asof", "join_asof_inner", "join_cross", "join_full", "join_inner", "join_left", "join_semi", "let",
    "partition_by", "select", "sort", "take", "union", "where",
}  # fmt: skip
VALUES = {"false", "none", "null", "true"}
DECLARATIONS = {"contract", "domain", "import", "model", "pipeline", "source", "test", "fn"}

# The text with `‸` at the cursor: the words that fit at least, and the fields from the declaration down to the name.
PLACES = {
    "‸": (DECLARATIONS, "Generator.call Call.function"),
    "mo‸": (DECLARATIONS, "Generator.call Call.function"),
    "fn f(a: ‸": (set(), None),
    'fn f(a: Str) -> List<Model> { [model "m" { from ‸': (
        set(),
        "Fn.body ListExpr.items ModelLiteral.model Model.statements From.table",
    ),
    "domain d = string\nmo‸\nmodel n { from t }": (DECLARATIONS, None),
    "model m { from ‸": (set(), "Model.statements From.table"),
    "model m { from t ‸ }": (STATEMENTS | {"as"}, "Model.attributes Entry.key"),
    "model m { from t fil‸": (STATEMENTS, "Model.attributes Entry.key"),
    "model m { from t filter ‸": (VALUES | {"not"}, "Model.statements Filter.condition ColumnRef.name"),
    "model m { from t filter a > ‸ select { a }": (
        VALUES,
        "Model.statements Filter.condition Binary.right ColumnRef.name",
    ),
    "model m { from t filter a.‸": (set(), "Model.statements Filter.condition ColumnRef.name"),
    "model m { from t select { a, ‸ b } }": (set(), "Model.statements Select.items ColumnRef.name"),
    "model m { from t select { a, x = if(‸, 1": (
        VALUES,
        "Model.statements Select.items Assign.expr Call.arguments ColumnRef.name",
    ),
    "model m { from t join_left u on ‸": (VALUES, "Model.statements Join.on ColumnRef.name"),
    "model m { from t join_left u on c.‸ as c }": (set(), "Model.statements Join.on ColumnRef.name"),
    "model m { from t group { a } ( aggregate { n = sum(‸": (
        {"distinct"},
        "Model.statements Group.body Aggregate.items Assign.expr Call.arguments ColumnRef.name",
    ),
    "model m -> ‸": ({"contract"}, None),
    "model m { from t select { a } ‸": (STATEMENTS, "Model.attributes Entry.key"),
    "model m -> contract ‸": (set(), "Model.contract"),
    "contract C { a: ‸": (set(), "Contract.fields FieldDecl.type TypeExpr.name"),
    "contract C { a: int64 ‸": (
        {"nonnull", "primary_key", "unique", "protected", "enum", "classification", "mask", "freshness"},
        "Contract.fields FieldDecl.name",
    ),
    "source s(‸": (set(), "Source.resource Entry.key"),
    "pipeline p { models: [a, ‸": (set(), "Pipeline.models"),
    "test ‸": (set(), "Test.name"),
    "domain d = ‸": (set(), "Domain.type TypeExpr.name"),
    'model m { from t derive { x = cast(a, "dec‸")': (
        set(),
        "Model.statements Derive.items Assign.expr Call.arguments ColumnRef.name",
    ),
}


@pytest.mark.parametrize("marked", PLACES)
def test_a_half_typed_text_tells_what_fits_at_the_cursor(marked: str) -> None:
    words, place = PLACES[marked]
    found = cursor_at(marked.replace("‸", ""), marked.index("‸"))
    assert found is not None
    assert words <= found.words
    path = path_to(found.declaration, CURSOR) if found.declaration is not None else ()
    shown = " ".join(f"{type(node).__name__}.{field}" for node, field in path[:-1])
    assert shown == (place or "")


def test_a_word_that_would_only_be_a_name_is_not_offered_as_one_of_the_language() -> None:
    statement = cursor_at("model m { from t ", 17)
    assert statement is not None
    assert STATEMENTS | {"as", "expand", "freshness", "incremental"} == statement.words - {"append"}
    expression = cursor_at("model m { from t filter ", 24)
    assert expression is not None
    assert expression.words == VALUES | {"not"}


def test_of_every_beginning_of_a_program_something_is_made() -> None:
    """Each text that a person has on the screen while typing has a tree from the first name on."""
    lost = []
    for end in range(len(WHOLE)):
        declarations = recover_module(WHOLE[:end], "m.strata").declarations
        heads = [line for line in WHOLE[:end].split("\n") if re.match(r"(source|contract|model|test) \w", line)]
        kinds = [type(d).__name__ for d in declarations if not isinstance(d, ast.Broken)]
        if len(kinds) < len(heads):
            lost.append((WHOLE[:end][-30:], kinds))
    assert lost == []


WHOLE = """\
source s(csv: "s.csv") {
  columns: { a: int64 primary_key, b: decimal(10, 2) nonnull, c: string enum {X, "Y"}, d: map(string, array(int64)) }
  freshness: <= 1d
  filter: b > 0
}
contract C { a: int64 primary_key  b: decimal(10, 2) classification: "pii" mask: partial(4) }
model m -> contract C {
  owner: "me"
  from s as t
  join_left s as u on t.a == u.a and (t.b > 1 or not u.c is none) expect many_to_one
  let x = round(b * 2, 2, half_even)
  derive { y = case(b > 1, "a", c like "x%", "b", c), z = lag(b) over (partition_by: [c], sort: [-a], rows: -1..0) }
  group { c, k = upper(y) } ( aggregate { a = max(a), b = sum(b), n = count(distinct a) }  filter n > 1  sort { -n } )
  select { a, * except { c }, b = cast(b, "decimal(10,2)") }
  union all m
  dedup by a sort { b desc }
  take 5..10
  incremental { strategy: upsert, key: [a], cursor: b }
}
test m { expect a > 0  given s { | a | b | | 1 | 2.5 | }  expect { | a | | 1 | } }
"""
COMMENTS = ("model m { // fr‸", "/* ‸ */ domain d = string", "# ‸", "/* ‸", "model m { from t /* x‸")


@pytest.mark.parametrize("marked", COMMENTS)
def test_nothing_is_offered_within_a_comment(marked: str) -> None:
    assert cursor_at(marked.replace("‸", ""), marked.index("‸")) is None


# A broken declaration, and what of it is kept.
REPAIRED = {
    "model m { from t filter a > select { a } }": ["From", "Filter", "Select"],
    "model m { from t select { a filter b > 0 }": ["From", "Select", "Filter"],
    "model m { from t derive { x = * } sort { a } }": ["From", "Derive", "Sort"],
    "model m { from t join_left u select { a } }": ["From", "Join", "Select"],
    "model m { from t group { a } ( aggregate { n = sum(x } ) select { n": ["From", "Group", "Select"],
    "model m { from filter a > 0": ["From", "Filter"],
}


@pytest.mark.parametrize("text", REPAIRED)
def test_a_broken_model_keeps_its_statements(text: str) -> None:
    assert parse_module(text, "m.strata").diagnostics
    (model,) = recover_module(text, "m.strata").declarations
    assert isinstance(model, ast.Model)
    assert [type(s).__name__ for s in model.statements] == REPAIRED[text]


def test_what_is_whole_stays_as_the_parser_reads_it() -> None:
    text = "model m { from t filter }\nmodel n { from m }\n"
    strict, kept = parse_module(text, "m.strata").module, recover_module(text, "m.strata")
    assert kept.declarations[1] is not strict.declarations[0]
    assert kept.declarations[1] == strict.declarations[1]


PIECES = st.sampled_from(
    [*"{}()[],.:=<>-*\"`|‸é\0", "model ", "m ", "from ", "select ", "filter ", "contract ", "source ", " and ", "1 ",
     "group ", "aggregate ", "\n", "//", "/*", "*/", "->", "==", "join_left ", " on ", "expand ", " as "]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(0, 200))
def test_no_text_is_too_broken(text: str, offset: int) -> None:
    cursor_at(text, min(offset, len(text)))
    recover_module(text, "m.strata")
