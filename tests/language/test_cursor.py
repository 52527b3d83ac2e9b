"""What can be written at an offset of a text that is half typed: words, and the place that a name would take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.language import ast
from strata_core.language.cursor import cursor_at, path_to
from strata_core.language.parser import parse_module
from strata_core.language.recovery import CURSOR, recover_module

STATEMENTS = {
    "aggregate", "dedup", "derive", "except", "expand", "filter", "from", "group", "intersect", "join_anti",
    "join_cross", "join_full", "join_inner", "join_left", "join_semi", "let", "partition_by", "select", "sort",
    "take", "union", "where",
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
