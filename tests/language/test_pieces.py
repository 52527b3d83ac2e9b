"""A module parsed in pieces is the module parsed as a whole, and an edited one the edited text parsed afresh."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata_core.language import pieces
from strata_core.language.parser import parse_module

LINES = (
    "model a { from t }",
    "model a { from t",
    "model b -> contract C {",
    "  filter x > 1",
    "}",
    "contract C { a: int64 }",
    "contract C {",
    "  a: int64, model: string",
    "source s { columns: {",
    "import a.b",
    "import",
    "model",
    "model filter { from t }",
    "model b ->",
    "domain d = string",
    "domain d =",
    "pipeline p { env: prod }",
    "test a { expect x > 1 }",
    "test",
    "test a {",
    "stray words",
    "  model c { from t }",
    'model "quoted" { owner: "x" from t }',
    "model `b c` { from t }",
    'owner: "no end',
    'no beginning" }',
    "/* no end",
    "no beginning */",
    "// comment",
    "# model d { from t }",
    "`",
    "'",
    "größe",
    "\0",
    "",
)


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_parsing_in_pieces_is_parsing_the_whole(lines):
    text = "\n".join(lines)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_stretches", lambda text, tables, start: iter([(0, len(text), "")]))
        whole = parse_module(text, "f")
    cut = parse_module(text, "f")
    assert "".join(piece.text for piece in cut.pieces) == text
    assert (cut.module, cut.diagnostics) == (whole.module, whole.diagnostics)


@given(st.lists(st.sampled_from(LINES), max_size=8), st.lists(st.sampled_from(LINES), max_size=8))
def test_an_edited_text_is_parsed_as_it_would_be_afresh(before, after):
    old = parse_module("\n".join(before), "f")
    assert parse_module("\n".join(after), "f", before=old.pieces) == parse_module("\n".join(after), "f")


@given(st.lists(st.sampled_from(LINES), max_size=12), st.data())
def test_a_text_that_is_edited_again_and_again_is_parsed_as_it_would_be_afresh(lines, data):
    text = "\n".join(lines)
    known = parse_module(text, "f")
    for _ in range(4):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        typed = data.draw(
            st.sampled_from((*LINES, "x", "\n", " ", '"', "}", "\nmodel z { from t }\n", text[start:end]))
        )
        text = text[:start] + typed + text[end:]
        known = parse_module(text, "f", before=known.pieces)
        assert known == parse_module(text, "f")


def test_pieces_that_did_not_change_or_move_are_the_same():
    text = "domain a = string\nmodel m { from t }\nmodel n { from t filter x > }\n"
    before = parse_module(text, "f")
    after = parse_module(text.replace("from t }", "from u }", 1), "f", before=before.pieces)
    assert [a is b for a, b in zip(before.pieces, after.pieces, strict=True)] == [True, False, True]
